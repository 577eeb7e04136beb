"""What is known about the distribution of the data."""

from mechdesign.uncertainty.base import SupportRows, UncertaintySet
from mechdesign.uncertainty.concentration import failure_probability, required_samples, weissman_radius
from mechdesign.uncertainty.convex_hull import ConvexHull
from mechdesign.uncertainty.l1_ball import Evidence, L1Ball
from mechdesign.uncertainty.product_set import ProductSet

__all__ = [
    "ConvexHull",
    "Evidence",
    "L1Ball",
    "ProductSet",
    "SupportRows",
    "UncertaintySet",
    "failure_probability",
    "required_samples",
    "weissman_radius",
]
