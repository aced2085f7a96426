"""Random problems, options and calls, every result compared with an exact oracle: ``python -m fuzz --help``."""
