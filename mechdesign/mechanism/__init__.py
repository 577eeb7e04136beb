"""What is exported: integer matrices with a guarantee proved in exact arithmetic."""

from mechdesign.mechanism.mechanism import Mechanism, Optimality, Provenance
from mechdesign.mechanism.proof import Guarantee, Proof, prove

__all__ = ["Guarantee", "Mechanism", "Optimality", "Proof", "Provenance", "prove"]
