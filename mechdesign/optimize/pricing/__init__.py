"""Exact pricing: the greatest reduced cost of any column of the cone, for given multipliers."""

from mechdesign.optimize.pricing.guesses import price_by_guess
from mechdesign.optimize.pricing.listing import check_listable, price_by_listing

__all__ = ["check_listable", "price_by_guess", "price_by_listing"]
