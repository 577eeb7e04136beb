"""Any mechanism beside the optimum."""

from mechdesign.analysis.analysis import Analysis
from mechdesign.analysis.analyzer import analyze

__all__ = ["Analysis", "analyze"]


def __dir__() -> list[str]:
    return __all__
