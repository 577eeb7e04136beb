"""Optimal mechanisms and the proofs that they are optimal."""

from mechdesign.optimize.certificate import Certificate, certify
from mechdesign.optimize.compare import Comparison, compare
from mechdesign.optimize.design import design
from mechdesign.optimize.result import ClosedFormCheck, Design
from mechdesign.optimize.verify import Verification, verify

__all__ = [
    "Certificate",
    "ClosedFormCheck",
    "Comparison",
    "Design",
    "Verification",
    "certify",
    "compare",
    "design",
    "verify",
]
