"""Checks of what comes from outside: data, names, numbers, and the fields of files."""
