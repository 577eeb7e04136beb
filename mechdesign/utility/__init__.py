"""Objectives of designs: sub-convex utilities, and the error of estimated frequencies."""

from mechdesign.utility.distinguishing import distinguishing_gain
from mechdesign.utility.estimation_error import EstimationError
from mechdesign.utility.explained_variance import ExplainedVariance
from mechdesign.utility.f_information import (
    ChiSquare,
    FInformation,
    MutualInformation,
    NamedInformation,
    SquaredHellinger,
    TotalVariation,
)
from mechdesign.utility.gain import ExpectedDistortion, ExpectedGain, HammingAccuracy, PolyhedralUtility
from mechdesign.utility.objective import Objective, Utility
from mechdesign.utility.registry import is_named, register, utility_by_name, utility_names
from mechdesign.utility.workload import Workload
from mechdesign.utility.worst_case import WorstCaseUtility

__all__ = [
    "ChiSquare",
    "EstimationError",
    "ExpectedDistortion",
    "ExpectedGain",
    "ExplainedVariance",
    "FInformation",
    "HammingAccuracy",
    "MutualInformation",
    "NamedInformation",
    "Objective",
    "PolyhedralUtility",
    "SquaredHellinger",
    "TotalVariation",
    "Utility",
    "Workload",
    "WorstCaseUtility",
    "distinguishing_gain",
    "is_named",
    "register",
    "utility_by_name",
    "utility_names",
]


def __dir__() -> list[str]:
    return __all__
