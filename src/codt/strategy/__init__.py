"""Search strategies and their heuristics."""
