"""What a repaired matrix is returned as."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from mechdesign.display.html import facts

if TYPE_CHECKING:
    from mechdesign.mechanism.mechanism import Mechanism


@dataclass(frozen=True, eq=False)
class Repair:
    """A mechanism near a matrix that does not keep the guarantee; `moved` is the greatest change of any probability."""

    mechanism: Mechanism
    moved: float

    def _repr_html_(self) -> str:
        return facts([("greatest change of any probability", self.moved)], "Repair") + self.mechanism._repr_html_()
