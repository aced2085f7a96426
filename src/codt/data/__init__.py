"""Data: tables of the user's own, and the paper's data sets."""
