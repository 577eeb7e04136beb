"""Additive noise on a binary attribute (ED Section VI), on several numbers, and any noise that has a density.

The output is Y = X + noise, a real number; X is in {-1, 1}, or one of N numbers. The analysis holds for real numbers. A
program adds floats, and the gaps between floats may reveal more about X.
"""

from mechdesign.additive_noise.gaussian import (
    GaussianCurve,
    GaussianGuarantee,
    gaussian_crossings,
    gaussian_curve,
    gaussian_delta,
    gaussian_guarantee,
    gaussian_leakage,
)
from mechdesign.additive_noise.laplace import (
    laplace_epsilon,
    laplace_scale,
    laplace_threshold_information,
    laplace_threshold_matrix,
)
from mechdesign.additive_noise.ordered_gaussian import ordered_gaussian_delta
from mechdesign.additive_noise.ordered_laplace import (
    ordered_geometric_epsilon,
    ordered_geometric_ratio,
    ordered_laplace_epsilon,
    ordered_laplace_matrix,
    ordered_laplace_scale,
)
from mechdesign.additive_noise.pldp import pldp_delta, pldp_delta_exact, pldp_sigma
from mechdesign.additive_noise.quadrature import noise_epsilon_min, noise_leakage, noise_tail

__all__ = [
    "GaussianCurve",
    "GaussianGuarantee",
    "gaussian_crossings",
    "gaussian_curve",
    "gaussian_delta",
    "gaussian_guarantee",
    "gaussian_leakage",
    "laplace_epsilon",
    "laplace_scale",
    "laplace_threshold_information",
    "laplace_threshold_matrix",
    "noise_epsilon_min",
    "noise_leakage",
    "noise_tail",
    "ordered_gaussian_delta",
    "ordered_geometric_epsilon",
    "ordered_geometric_ratio",
    "ordered_laplace_epsilon",
    "ordered_laplace_matrix",
    "ordered_laplace_scale",
    "pldp_delta",
    "pldp_delta_exact",
    "pldp_sigma",
]


def __dir__() -> list[str]:
    return __all__
