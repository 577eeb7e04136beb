"""Sub-convex utilities."""

from mechdesign.utility.base import Utility
from mechdesign.utility.f_information import (
    ChiSquare,
    FInformation,
    MutualInformation,
    NamedInformation,
    SquaredHellinger,
    TotalVariation,
)
from mechdesign.utility.gain import ExpectedDistortion, ExpectedGain, HammingAccuracy, PolyhedralUtility
from mechdesign.utility.registry import is_named, register, utility_by_name, utility_names
from mechdesign.utility.workload import Workload

__all__ = [
    "ChiSquare",
    "ExpectedDistortion",
    "ExpectedGain",
    "FInformation",
    "HammingAccuracy",
    "MutualInformation",
    "NamedInformation",
    "PolyhedralUtility",
    "SquaredHellinger",
    "TotalVariation",
    "Utility",
    "Workload",
    "is_named",
    "register",
    "utility_by_name",
    "utility_names",
]


def __dir__() -> list[str]:
    return __all__
