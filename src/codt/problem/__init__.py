"""The learning problem: what is minimised, what every sample counts, and exact sums."""
