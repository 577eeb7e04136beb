"""Exact pricing: the greatest reduced cost of any column of the cone, for given multipliers."""

from mechdesign.optimize.pricing.choice import pricing_for
from mechdesign.optimize.pricing.gain_duals import price_by_guess
from mechdesign.optimize.pricing.listing import ListedPricing, check_listable, price_by_listing
from mechdesign.optimize.pricing.price import Price, Pricing

__all__ = ["ListedPricing", "Price", "Pricing", "check_listable", "price_by_guess", "price_by_listing", "pricing_for"]


def __dir__() -> list[str]:
    return __all__
