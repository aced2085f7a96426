"""Fitted estimators made from JSON and from scikit-learn trees."""
