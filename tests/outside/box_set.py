"""A set of priors outside the package: the probability of each symbol lies between two bounds of its own."""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

import numpy as np
from scipy.sparse import csr_array

from mechdesign.data.labels import canonical_labels, default_labels
from mechdesign.errors import InputError
from mechdesign.numerics.exact import rational
from mechdesign.uncertainty import SupportRows, UncertaintySet, register


@register
@dataclass(frozen=True)
class Box(UncertaintySet):
    """All priors Q with ``lower <= Q <= upper``, entry by entry."""

    kind: ClassVar[str] = "bounds"
    parameters: ClassVar[dict[str, str]] = {"lower": "vector", "upper": "vector", "center": "vector"}
    lower: Sequence[object]
    upper: Sequence[object]
    center: Sequence[object]
    labels: Sequence[str] | None = None

    def __post_init__(self):
        for name in self.parameters:
            object.__setattr__(self, name, tuple(rational(q, f"a number of {name}") for q in getattr(self, name)))
        names = default_labels(self.size) if self.labels is None else canonical_labels(self.labels, self.size)
        object.__setattr__(self, "labels", tuple(names))
        if not len(self.lower) == len(self.upper) == self.size or min(self.lower) < 0 or not self.contains(self.center):
            raise InputError(
                "the center of a box is outside its bounds; give lower <= center <= upper for each category"
            )

    def in_words(self):
        return f"every prior between two bounds for each of {self.size} categories"

    def contains(self, prior):
        Q = [rational(q, "a probability") for q in prior]
        return sum(Q) == 1 and all(a <= q <= b for a, q, b in zip(self.lower, Q, self.upper, strict=True))

    def exact_worst_mean(self, column):
        # What the lower bounds leave goes to the symbols with the least entries first.
        worst, left = list(self.lower), 1 - sum(self.lower)
        for i in sorted(range(self.size), key=column.__getitem__):
            added = min(left, self.upper[i] - self.lower[i])
            worst[i], left = worst[i] + added, left - added
        return sum((q * int(v) for q, v in zip(worst, column, strict=True)), Fraction(0)), tuple(worst)

    def support_rows(self):
        # h(v) = max over c of c + sum_i min(a_i (v_i - c), b_i (v_i - c)); w is h, c and the N minima.
        N, bounds = self.size, np.array([[float(q) for q in self.lower], [float(q) for q in self.upper]])
        columns = np.vstack([np.zeros((1, N)), np.diag(bounds[0]), np.diag(bounds[1])])
        below = np.hstack([np.zeros((2 * N, 1)), -bounds.reshape(-1, 1), -np.vstack([np.eye(N)] * 2)])
        return SupportRows(csr_array(columns), csr_array(np.vstack([[-1.0] + [1.0] * (N + 1), below])))
