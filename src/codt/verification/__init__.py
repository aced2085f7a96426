"""Independent checks of a fitted tree: its loss recomputed, and the optimum by enumeration."""
