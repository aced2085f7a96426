"""Depth and complexity cost: the path of optimal trees, and cross-validation."""
