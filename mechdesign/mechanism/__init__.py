"""Mechanisms: integer matrices with a guarantee proved in exact arithmetic."""

from mechdesign.mechanism.claims import Optimality, Provenance
from mechdesign.mechanism.mechanism import Mechanism
from mechdesign.mechanism.parts import Parts
from mechdesign.mechanism.proof import Guarantee, Proof, prove
from mechdesign.mechanism.repair import Repair

__all__ = ["Guarantee", "Mechanism", "Optimality", "Parts", "Proof", "Provenance", "Repair", "prove"]


def __dir__() -> list[str]:
    return __all__
