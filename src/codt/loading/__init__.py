"""Fitted estimators read back: from JSON, and from trees of scikit-learn."""
