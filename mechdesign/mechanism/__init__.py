"""What is exported: integer matrices with a guarantee proved in exact arithmetic."""

from mechdesign.mechanism.claims import Optimality, Provenance
from mechdesign.mechanism.from_floats import Repair
from mechdesign.mechanism.mechanism import Mechanism
from mechdesign.mechanism.proof import Guarantee, Proof, prove

__all__ = ["Guarantee", "Mechanism", "Optimality", "Proof", "Provenance", "Repair", "prove"]
