"""Sub-convex utilities."""

from mechdesign.utility.base import Utility
from mechdesign.utility.f_information import (
    ChiSquare,
    FInformation,
    MutualInformation,
    SquaredHellinger,
    TotalVariation,
)
from mechdesign.utility.gain import ExpectedDistortion, ExpectedGain, HammingAccuracy, PolyhedralUtility
from mechdesign.utility.names import utility_by_name

__all__ = [
    "ChiSquare",
    "ExpectedDistortion",
    "ExpectedGain",
    "FInformation",
    "HammingAccuracy",
    "MutualInformation",
    "PolyhedralUtility",
    "SquaredHellinger",
    "TotalVariation",
    "Utility",
    "utility_by_name",
]
