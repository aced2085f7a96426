"""Checks of user input: data, names, numbers, and the fields of files."""
