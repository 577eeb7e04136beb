"""A mechanism beside others: rivals under the same promise, the optimum of its leakage, reports for a precision."""

from mechdesign.comparison.analysis import Analysis
from mechdesign.comparison.analyzer import analyze
from mechdesign.comparison.cap_prices import CapPrices, price_caps
from mechdesign.comparison.comparison import Comparison, compare
from mechdesign.comparison.equal_epsilon import equal_local_epsilon
from mechdesign.comparison.group_prices import GroupPrices, price_groups
from mechdesign.comparison.hypotheses import Contraction, ReportsToTell, largest_contraction, reports_to_tell
from mechdesign.comparison.report_plan import ReportPlan, plan_reports
from mechdesign.comparison.row import Compared

__all__ = [
    "Analysis",
    "CapPrices",
    "Compared",
    "Comparison",
    "Contraction",
    "GroupPrices",
    "ReportPlan",
    "ReportsToTell",
    "analyze",
    "compare",
    "equal_local_epsilon",
    "largest_contraction",
    "plan_reports",
    "price_caps",
    "price_groups",
    "reports_to_tell",
]


def __dir__() -> list[str]:
    return __all__
