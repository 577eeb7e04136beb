"""Mechanisms: integer matrices with a guarantee proved in exact arithmetic."""

from mechdesign.mechanism.claims import Optimality, Provenance
from mechdesign.mechanism.exact_matrix import ExactMatrix
from mechdesign.mechanism.keys import Key, KeyFile
from mechdesign.mechanism.matrix_files import MatrixFile, read_matrix
from mechdesign.mechanism.mechanism import Mechanism
from mechdesign.mechanism.parts import Parts
from mechdesign.mechanism.proof import Guarantee, Proof, prove
from mechdesign.mechanism.repair import Repair

__all__ = [
    "ExactMatrix",
    "Guarantee",
    "Key",
    "KeyFile",
    "MatrixFile",
    "Mechanism",
    "Optimality",
    "Parts",
    "Proof",
    "Provenance",
    "Repair",
    "prove",
    "read_matrix",
]


def __dir__() -> list[str]:
    return __all__
