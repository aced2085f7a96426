"""Independent checks of a fitted tree, and CART beside it."""
