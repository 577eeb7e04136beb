"""What a promise under PML lacks beside one under local differential privacy, in one sentence."""

from __future__ import annotations

from typing import Final

WEAKER_THAN_LDP: Final = (
    "The promise under PML is weaker than that under local differential privacy (LDP): it is for priors in the set, "
    "one report may exclude symbols, and fresh reports about one record add up, without a limit."
)
"""It stands wherever an error under PML stands beside one under LDP, in Python, on the command line and in files."""

TWO_SIDED_BESIDE_LDP: Final = (
    "The promise on both sides is weaker than local differential privacy (LDP) with the same epsilon: it is for priors "
    "in the set. For every prior it implies LDP with the sum of epsilon and lower, and no more."
)
"""The same for a promise on both sides, under which no report excludes a symbol."""

ONE_ATTRIBUTE_BESIDE_LDP: Final = (
    "The promise about a secret is weaker than local differential privacy (LDP), under which the whole record is "
    "protected: it is about the secret alone, for the joint distributions of the guarantee, and reports may tell all "
    "else about a record."
)
"""The same for a promise about a secret."""
