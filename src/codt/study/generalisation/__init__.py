"""How well methods predict new samples: cross-validations, what they measure, and what they say together."""
