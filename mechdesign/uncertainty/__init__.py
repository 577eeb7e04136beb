"""What is known about the distribution of the data."""

from mechdesign.uncertainty.balance import Kappa, kappa, phi
from mechdesign.uncertainty.base import SupportRows, UncertaintySet
from mechdesign.uncertainty.box import Box, L1Box, LowerLimits
from mechdesign.uncertainty.clopper_pearson import clopper_pearson_radius
from mechdesign.uncertainty.concentration import refined_radius, weissman_radius
from mechdesign.uncertainty.convex_hull import ConvexHull
from mechdesign.uncertainty.l1_ball import Evidence, L1Ball
from mechdesign.uncertainty.lower_function import LowerFunction
from mechdesign.uncertainty.lower_probability import LowerProbability
from mechdesign.uncertainty.product_set import ProductSet
from mechdesign.uncertainty.radii import failure_probability, required_samples
from mechdesign.uncertainty.registry import register
from mechdesign.uncertainty.relative_ball import EventSet, RelativeBall
from mechdesign.uncertainty.secret import SecretPromise

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
    "clopper_pearson_radius",
    "failure_probability",
    "kappa",
    "phi",
    "refined_radius",
    "register",
    "required_samples",
    "weissman_radius",
]


def __dir__() -> list[str]:
    return __all__
