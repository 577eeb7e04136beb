"""Mechanisms of the literature under local differential privacy, in exact numbers, for comparison."""

from mechdesign.baselines.baseline import Baseline
from mechdesign.baselines.catalogue import by_name, every
from mechdesign.baselines.ordered import geometric, truncated_laplace
from mechdesign.baselines.set_reports import (
    block_design,
    hadamard_response,
    k_ary_randomized_response,
    optimized_unary_encoding,
    subset_selection,
    symmetric_unary_encoding,
)

__all__ = [
    "Baseline",
    "block_design",
    "by_name",
    "every",
    "geometric",
    "hadamard_response",
    "k_ary_randomized_response",
    "optimized_unary_encoding",
    "subset_selection",
    "symmetric_unary_encoding",
    "truncated_laplace",
]


def __dir__() -> list[str]:
    return __all__
