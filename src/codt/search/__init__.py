"""The search: running it, watching it, starting it from a tree, and what it has proven."""
