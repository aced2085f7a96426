"""Independent checks of a fitted tree, and comparison with CART."""
