"""The extreme rays of the column cone of a set with a cap for everyone: images of those of a list without a cap.

`capped_cone` has the map, and says that every ray is the image of a ray for b', or of a set S with ``b' h(1_S) >= 1``.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from mechdesign.numerics.arrays import Floats
from mechdesign.numerics.tolerances import RAY_EDGE
from mechdesign.optimize.rays import RayList, indicator
from mechdesign.uncertainty import UncertaintySet

_EPS = float(np.finfo(float).eps)
_CHUNK = 1 << 15


@dataclass(frozen=True)
class CappedRays(RayList):
    """All extreme rays of the column cone of a set with a cap, and some more columns of the cone.

    Columns come in chunks of shape (N, k), scaled so that ``<P, v> = 1``.

    Attributes
    ----------
    known : UncertaintySet
        The set of priors.
    raised : RayList
        The rays of the set for b'.
    power, least : float
        b' and a, as from `raised_power`.

    Examples
    --------
    >>> from mechdesign import L1Ball
    >>> from mechdesign.optimize.rays import Rays
    >>> known = L1Ball([0.5, 0.3, 0.2])
    >>> rays = CappedRays(known, Rays(known, 3.0), 3.0, 0.25)
    >>> np.hstack(list(rays.of_kinds("T"))).round(3)[:, 0]
    array([1.6, 0.4, 0.4])
    """

    known: UncertaintySet
    raised: RayList
    power: float
    least: float

    @property
    def prior(self) -> Floats:
        """The reference prior P, shape (N,)."""
        return self.known.prior

    @property
    def kinds(self) -> str:
        """Those of the list, and T: sets."""
        return self.raised.kinds + "T"

    @property
    def held_kinds(self) -> str:
        """Those of the list."""
        return self.raised.held_kinds

    def count(self, kinds: str) -> int:
        """Return how many columns are listed of some kinds, or slightly more."""
        return self.raised.count(kinds.replace("T", "")) + (1 << self.known.size if "T" in kinds else 0)

    def with_errors(self, kinds: str) -> Iterator[tuple[Floats, Floats]]:
        """Yield the columns of some kinds, each chunk with how far its entries may be from those of their rays."""
        a, N = self.least, self.known.size
        for columns, errors in self.raised.with_errors(kinds.replace("T", "")):
            yield self._images(columns, errors)
        for start in range(1, 1 << N if "T" in kinds else 0, _CHUNK):
            sets = indicator(np.arange(start, min(start + _CHUNK, 1 << N)), N)
            sets = sets[:, self.power * self.known.support(sets) >= 1 - RAY_EDGE]
            columns = a + (1 - a) * sets
            columns /= self.prior @ columns
            yield columns, 2 * (N + 8) * _EPS * columns

    def _images(self, columns: Floats, errors: Floats) -> tuple[Floats, Floats]:
        a, top, off = self.least, columns.max(axis=0), errors.max(axis=0, initial=0.0)
        scale = 1 - a + a * top
        images = ((1 - a) * columns + a * top) / scale
        return images, ((1 - a) * errors + a * off * (1 + images)) / (scale - a * off) + 8 * _EPS * images
