"""Rationals, directed rounding, tolerances, subset sums."""
