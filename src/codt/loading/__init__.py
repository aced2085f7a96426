"""Fitted estimators made of what others wrote: our JSON, and trees of scikit-learn."""
