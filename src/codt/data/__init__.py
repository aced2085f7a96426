"""Data: the user's own tables, and the paper's data sets."""
