"""Benchmarks: the comparison with other solvers (``python -m benchmarks``) and the kernels alone."""
