"""The learning problem: what is minimised, what every sample counts, and exact sums."""

from codt.problem import rows as _rows  # noqa: F401 - fills the table of objectives
