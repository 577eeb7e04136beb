"""A mixture of priors of a set, in rationals: the part of a certificate that says for which priors a bound holds."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import ArrayLike

from mechdesign.errors import GuaranteeError, InputError, shorten
from mechdesign.numerics.exact import check_common_denominator, over_common_denominator, rational
from mechdesign.uncertainty.base import UncertaintySet

_PLACES = 52  # binary, of weights that come from floats
_MOST_PRIORS = 1_000  # in a file
_MOST_DIGITS = 3_000  # of the common denominator of one prior


@dataclass(frozen=True)
class PriorMixture:
    """Priors with weights that sum to 1.

    Attributes
    ----------
    priors : tuple of tuples of Fraction
        Each sums to 1.
    weights : tuple of Fraction
        One for each prior, above 0.

    Raises
    ------
    InputError
        If these are not priors of one size, or weights.

    Examples
    --------
    >>> half = Fraction(1, 2)
    >>> PriorMixture(((half, half), (Fraction(1), Fraction(0))), (half, half)).mean
    (Fraction(3, 4), Fraction(1, 4))
    """

    priors: tuple[tuple[Fraction, ...], ...]
    weights: tuple[Fraction, ...]

    def __post_init__(self) -> None:
        if len(self.priors) != len(self.weights) or not self.priors:
            raise InputError.wrong_size(
                f"{len(self.weights)} weights stand beside {len(self.priors)} priors; give one for each"
            )
        if min(self.weights) <= 0 or _sum(self.weights, "the weights of the priors") != 1:
            raise InputError.wrong_sum(
                f"the weights of the priors are {shorten([str(w) for w in self.weights])}; accepted: numbers above 0 "
                "that sum to 1 exactly"
            )
        for k, prior in enumerate(self.priors):
            named = f"prior {k + 1} of the claim"
            if len(prior) != len(self.priors[0]) or min(prior, default=-1) < 0 or _sum(prior, named) != 1:
                raise InputError.wrong_sum(
                    f"{named} is {shorten([str(q) for q in prior])}; accepted: probabilities, one a category, that sum "
                    "to 1 exactly"
                )

    @property
    def size(self) -> int:
        """Number N of categories."""
        return len(self.priors[0])

    @classmethod
    def of_floats(cls, priors: Sequence[tuple[Fraction, ...]], weights: ArrayLike) -> PriorMixture:
        """Return the mixture with weights rounded to multiples of 2^-52 that sum to 1; others are left out."""
        shares = np.maximum(np.asarray(weights, dtype=float), 0.0)
        integers = np.floor(shares / shares.sum() * 2.0**_PLACES).astype(np.int64)
        integers[int(integers.argmax())] += 2**_PLACES - int(integers.sum())
        kept = [k for k, n in enumerate(integers.tolist()) if n > 0]
        return cls(tuple(priors[k] for k in kept), tuple(Fraction(int(integers[k]), 2**_PLACES) for k in kept))

    def count_in_words(self) -> str:
        """Return how many priors there are."""
        return f"{len(self.priors)} prior{'' if len(self.priors) == 1 else 's'} of the set"

    @property
    def mean(self) -> tuple[Fraction, ...]:
        """The prior that the mixture is."""
        return tuple(
            sum((w * q for w, q in zip(self.weights, symbol, strict=True)), Fraction(0))
            for symbol in zip(*self.priors, strict=True)
        )

    @classmethod
    def of_text(cls, priors: Sequence[Sequence[str]], weights: Sequence[str]) -> PriorMixture:
        """Return the mixture of numbers in a file.

        Raises
        ------
        InputError
            As for the class, and for more than 1,000 priors.
        """
        if len(priors) > _MOST_PRIORS:
            raise InputError.too_many_given(f"the claim has {len(priors)} priors; accepted: at most {_MOST_PRIORS}")
        exact = tuple(tuple(rational(q, "a probability of the claim") for q in prior) for prior in priors)
        return cls(exact, tuple(rational(weight, "a weight of the claim") for weight in weights))

    def check_members(self, known: UncertaintySet) -> None:
        """Refuse a prior that is not in a set; of a hull only the priors listed, and its center, are accepted.

        Other sets answer by `contains`, most of them exactly; a bound for those that answer to within 1e-9, products
        with hulls and uncertain joint distributions, holds to within that.

        Raises
        ------
        GuaranteeError
            If a prior is outside.
        """
        hull = known.convex_hull
        for k, prior in enumerate(self.priors):
            if prior == known.center:
                continue
            inside = len(prior) == known.size and (known.contains(prior) if hull is None else prior in hull.priors)
            if not inside:
                raise GuaranteeError.optimality_false(
                    f"prior {k + 1} of the claim is not in the set over which the least utility is claimed"
                )


def _sum(numbers: Sequence[Fraction], name: str) -> Fraction:
    """Return a sum, after checking that its denominator is not too long."""
    check_common_denominator((number.denominator for number in numbers), name, _MOST_DIGITS)
    integers, common = over_common_denominator(numbers)
    return Fraction(sum(integers), common)
