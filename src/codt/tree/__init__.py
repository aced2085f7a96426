"""A decision tree: its nodes and its tests."""
