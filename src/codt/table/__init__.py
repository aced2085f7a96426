"""The user's tables: what their columns hold, and how that becomes numbers."""
