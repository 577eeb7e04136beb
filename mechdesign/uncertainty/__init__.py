"""What is known about the distribution of the data."""

from mechdesign.uncertainty.balance import Kappa, kappa, phi
from mechdesign.uncertainty.base import UncertaintySet
from mechdesign.uncertainty.bounds_of_counts import observed_radius
from mechdesign.uncertainty.box import Box, L1Box, LowerLimits
from mechdesign.uncertainty.convex_hull import ConvexHull
from mechdesign.uncertainty.evidence import Evidence
from mechdesign.uncertainty.l1_ball import L1Ball
from mechdesign.uncertainty.lower_function import LowerFunction
from mechdesign.uncertainty.lower_probability import LowerProbability
from mechdesign.uncertainty.prior_set import SupportRows
from mechdesign.uncertainty.product_set import ProductSet
from mechdesign.uncertainty.radii import (
    clopper_pearson_radius,
    failure_probability,
    refined_radius,
    required_samples,
    weissman_radius,
)
from mechdesign.uncertainty.registry import register
from mechdesign.uncertainty.relative_ball import EventSet, RelativeBall
from mechdesign.uncertainty.secret import SecretPromise
from mechdesign.uncertainty.union import Union

__all__ = [
    "Box",
    "ConvexHull",
    "EventSet",
    "Evidence",
    "Kappa",
    "L1Ball",
    "L1Box",
    "LowerFunction",
    "LowerLimits",
    "LowerProbability",
    "ProductSet",
    "RelativeBall",
    "SecretPromise",
    "SupportRows",
    "UncertaintySet",
    "Union",
    "clopper_pearson_radius",
    "failure_probability",
    "kappa",
    "observed_radius",
    "phi",
    "refined_radius",
    "register",
    "required_samples",
    "weissman_radius",
]


def __dir__() -> list[str]:
    return __all__
