"""Windows: private reports about any string, from an alphabet that nobody has listed."""

from mechdesign.windows.from_strings import WindowDesign, design_windows
from mechdesign.windows.separate_counts import SeparateCounts, SplitSample, split_sample
from mechdesign.windows.string_estimates import StringEstimates, estimate_strings
from mechdesign.windows.window_promise import WindowPromise
from mechdesign.windows.windows_mechanism import WindowMechanism

__all__ = [
    "SeparateCounts",
    "SplitSample",
    "StringEstimates",
    "WindowDesign",
    "WindowMechanism",
    "WindowPromise",
    "design_windows",
    "estimate_strings",
    "split_sample",
]


def __dir__() -> list[str]:
    return __all__
