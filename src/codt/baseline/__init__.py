"""What optimal trees are compared with: CART."""
