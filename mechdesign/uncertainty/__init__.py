"""What is known about the distribution of the data."""

from mechdesign.planning import (
    Plan,
    delta_min,
    design_epsilon,
    guaranteed_epsilon,
    plan,
    samples_for,
)
from mechdesign.uncertainty.balance import Kappa, kappa, phi
from mechdesign.uncertainty.base import SupportRows, UncertaintySet
from mechdesign.uncertainty.concentration import (
    failure_probability,
    refined_radius,
    required_samples,
    weissman_radius,
)
from mechdesign.uncertainty.convex_hull import ConvexHull
from mechdesign.uncertainty.l1_ball import Evidence, L1Ball
from mechdesign.uncertainty.product_set import ProductSet

__all__ = [
    "ConvexHull",
    "Evidence",
    "Kappa",
    "L1Ball",
    "Plan",
    "ProductSet",
    "SupportRows",
    "UncertaintySet",
    "delta_min",
    "design_epsilon",
    "failure_probability",
    "guaranteed_epsilon",
    "kappa",
    "phi",
    "plan",
    "refined_radius",
    "required_samples",
    "samples_for",
    "weissman_radius",
]
