"""Optimal mechanisms and the proofs that they are optimal."""

from mechdesign.optimize.certificate import Certificate, certify
from mechdesign.optimize.coverage import Coverage, MethodTable, methods
from mechdesign.optimize.designer import design
from mechdesign.optimize.estimation.caps import estimation_bound
from mechdesign.optimize.result import ClosedFormCheck, Design
from mechdesign.optimize.tables.table_design import TableDesign, design_table
from mechdesign.optimize.tables.table_problem import TableProblem
from mechdesign.optimize.tail_bound import bound_with_tail
from mechdesign.optimize.verification import Verification, verify

__all__ = [
    "Certificate",
    "ClosedFormCheck",
    "Coverage",
    "Design",
    "MethodTable",
    "TableDesign",
    "TableProblem",
    "Verification",
    "bound_with_tail",
    "certify",
    "design",
    "design_table",
    "estimation_bound",
    "methods",
    "verify",
]


def __dir__() -> list[str]:
    return __all__
