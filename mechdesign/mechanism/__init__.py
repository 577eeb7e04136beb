"""Mechanisms: integer matrices with a guarantee proved in exact arithmetic."""

from mechdesign.mechanism.claims import Optimality, Parts, Provenance
from mechdesign.mechanism.exact_matrix import ExactMatrix
from mechdesign.mechanism.from_floats import Repair
from mechdesign.mechanism.keys import Key, KeyFile
from mechdesign.mechanism.matrix_files import MatrixFile, read_matrix
from mechdesign.mechanism.mechanism import Mechanism
from mechdesign.mechanism.proof import Guarantee, Proof, prove

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
