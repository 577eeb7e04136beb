"""Pointwise maximal leakage of a mechanism: at one prior, at many, and over a set of priors."""

from mechdesign.pml.capacity import WorstCase, leakage_capacity, worst_case_leakage
from mechdesign.pml.other_priors import (
    leakage_bound_elsewhere,
    lipschitz_bound,
    sensitivity_bound,
    sensitivity_bound_any_region,
    sensitivity_bound_first_region,
)
from mechdesign.pml.pointwise import epsilon_min, information_density, leakage, lower_leakage
from mechdesign.pml.post_processing import (
    TailAfterPostProcessing,
    certify_tail,
    epsilon_after_post_processing,
    tail_after_post_processing,
)
from mechdesign.pml.regions import epsilon_max, most_zeros_in_a_column, privacy_region, privacy_regions
from mechdesign.pml.sensitivity import leakage_sensitivity, output_sensitivity
from mechdesign.pml.tail import epsilon_at, leakage_tail

__all__ = [
    "TailAfterPostProcessing",
    "WorstCase",
    "certify_tail",
    "epsilon_after_post_processing",
    "epsilon_at",
    "epsilon_max",
    "epsilon_min",
    "information_density",
    "leakage",
    "leakage_bound_elsewhere",
    "leakage_capacity",
    "leakage_sensitivity",
    "leakage_tail",
    "lipschitz_bound",
    "lower_leakage",
    "most_zeros_in_a_column",
    "output_sensitivity",
    "privacy_region",
    "privacy_regions",
    "sensitivity_bound",
    "sensitivity_bound_any_region",
    "sensitivity_bound_first_region",
    "tail_after_post_processing",
    "worst_case_leakage",
]


def __dir__() -> list[str]:
    return __all__
