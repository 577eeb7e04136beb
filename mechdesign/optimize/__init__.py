"""Optimal mechanisms and the proofs that they are optimal."""

from mechdesign.optimize.beside import Beside
from mechdesign.optimize.certificate import Certificate, certify
from mechdesign.optimize.comparison import Comparison, compare
from mechdesign.optimize.designer import design
from mechdesign.optimize.estimation.caps import estimation_bound
from mechdesign.optimize.report_plan import ReportPlan, plan_reports
from mechdesign.optimize.result import ClosedFormCheck, Design
from mechdesign.optimize.verification import Verification, verify

__all__ = [
    "Beside",
    "Certificate",
    "ClosedFormCheck",
    "Comparison",
    "Design",
    "ReportPlan",
    "Verification",
    "certify",
    "compare",
    "design",
    "estimation_bound",
    "plan_reports",
    "verify",
]


def __dir__() -> list[str]:
    return __all__
