"""The proof of a design that was kept: its guarantee, its value and its bound are computed again."""

from __future__ import annotations

import math
from dataclasses import dataclass

from mechdesign.errors import InputError
from mechdesign.mechanism import Mechanism
from mechdesign.mechanism.mechanism_files import from_json
from mechdesign.optimize.kept.design_keys import DesignKey, key_of
from mechdesign.optimize.verification import Verification, claimed_problem, verify


@dataclass(frozen=True)
class Stored:
    """A design that a folder holds, not proved yet.

    Attributes
    ----------
    content : bytes
        The mechanism file.
    source : str
        Its name, for messages.
    seconds : float
        What the design took.
    stopped : str
        As in `Design`.
    """

    content: bytes
    source: str
    seconds: float
    stopped: str


def proved_again(stored: Stored, key: DesignKey, tol: float) -> tuple[Verification, float]:
    """Return what was proved again of a design, and the bound that it states and that holds.

    Raises
    ------
    MechdesignError
        If the file is malformed, is about another problem than that of the key, or claims what is false or cannot be
        checked.
    """
    mechanism = Mechanism(*from_json(stored.content, stored.source))
    claim = mechanism.optimality
    about = None if claim is None else claimed_problem(mechanism.guarantee, claim)
    if about is None or claim is None or key_of(about, tol, mechanism.bits) != key:
        raise InputError.damaged_file(f"{stored.source} is not the design of this problem")
    proved = verify(mechanism)
    if proved.value is None or not math.isfinite(proved.value):
        raise InputError.damaged_file(f"{stored.source} has no finite value")
    return proved, claim.bound
