"""What a repaired matrix is returned as."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from mechdesign.mechanism.mechanism import Mechanism


@dataclass(frozen=True, eq=False)
class Repair:
    """A mechanism near a matrix that does not keep the guarantee; `moved` is the greatest change of any probability."""

    mechanism: Mechanism
    moved: float
