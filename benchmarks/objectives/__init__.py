"""Objectives beside what others publish or offer: four parts, each with its own section of the report."""
