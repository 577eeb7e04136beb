"""Windows: private reports about any string, without a list of categories."""

from mechdesign.windows.from_strings import WindowDesign, design_windows
from mechdesign.windows.prefix_design import PrefixDesign, design_prefix_windows
from mechdesign.windows.prefix_search import HeavyHitters, heavy_hitters
from mechdesign.windows.prefix_windows import PrefixWindows
from mechdesign.windows.separate_counts import SeparateCounts, SplitSample, split_sample
from mechdesign.windows.string_comparison import StringComparison, compare_strings
from mechdesign.windows.string_estimates import StringEstimates, estimate_strings
from mechdesign.windows.string_groups import GroupedStrings, estimate_string_groups
from mechdesign.windows.window_promise import WindowPromise
from mechdesign.windows.windows_mechanism import WindowMechanism

__all__ = [
    "GroupedStrings",
    "HeavyHitters",
    "PrefixDesign",
    "PrefixWindows",
    "SeparateCounts",
    "SplitSample",
    "StringComparison",
    "StringEstimates",
    "WindowDesign",
    "WindowMechanism",
    "WindowPromise",
    "compare_strings",
    "design_prefix_windows",
    "design_windows",
    "estimate_string_groups",
    "estimate_strings",
    "heavy_hitters",
    "split_sample",
]


def __dir__() -> list[str]:
    return __all__
