"""A decision tree: its nodes, its tests, and what it says of itself."""
