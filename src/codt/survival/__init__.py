"""Times until an event, some of them censored: targets, curves, and how well risks order them."""
