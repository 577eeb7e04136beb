"""What a mechanism is made of, before it is proved."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from mechdesign.mechanism.claims import Optimality, Provenance
from mechdesign.mechanism.proof import Guarantee, Integers


class Parts(NamedTuple):
    """The arguments of `Mechanism`, in its order: ``Mechanism(*parts)`` checks them and proves the guarantee.

    Files, composition and rounding read and return parts, so that none of them needs the class `Mechanism`.

    Attributes
    ----------
    numerators, bits, guarantee, outputs, optimality, provenance
        As for `Mechanism`.

    Examples
    --------
    >>> import numpy as np
    >>> from mechdesign import Guarantee, L1Ball, Mechanism
    >>> parts = Parts(np.array([[3, 1], [1, 3]]), 2, Guarantee("log(3)", L1Ball([0.5, 0.5], radius=2)))
    >>> Mechanism(*parts).proof.holds
    True
    """

    numerators: Integers
    bits: int
    guarantee: Guarantee
    outputs: tuple[str, ...] = ()
    optimality: Optimality | None = None
    provenance: Provenance | None = None

    @property
    def inputs(self) -> tuple[str, ...]:
        """Labels of the symbols."""
        return self.guarantee.uncertainty.labels

    @property
    def matrix(self) -> NDArray[np.float64]:
        """The mechanism as floats, shape (N, M); exact, since numerators have at most 52 bits."""
        matrix: NDArray[np.float64] = self.numerators / 2.0**self.bits
        return matrix
