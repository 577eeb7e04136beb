"""A lower probability of one's own: any function of sets of categories."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import compress
from typing import ClassVar

import numpy as np

from mechdesign.display.numbers import text_near
from mechdesign.errors import InputError, LimitError, shorten
from mechdesign.numerics.exact import check_common_denominator, over_common_denominator, rational
from mechdesign.uncertainty.lower_probability import LowerProbability
from mechdesign.uncertainty.prior_set import Numbers, SupportRows, labelled_center

_MOST_SYMBOLS = 12  # f is computed for every set of categories


@dataclass(frozen=True)
class LowerFunction(LowerProbability):
    """All priors Q with ``Q(S) >= f(S)`` for every set S of categories, for any function f.

    Guarantees are proved with the sum of f along a column, which is never above h(v). If f is supermodular,
    ``f(S) + f(T) <= f(S or T) + f(S and T)``, the sum is h(v), and mechanisms are designed and certified; otherwise
    mechanisms can be proved and their leakage bounded, and design is refused.

    Files do not hold functions: for a mechanism file write a class, and make it known by
    `mechdesign.uncertainty.register`.

    Parameters
    ----------
    f : callable
        Takes a tuple of labels, in their order, and returns a number. It is asked for every set of categories but the
        empty one and that of all categories, where f is 0 and 1.
    center : sequence of numbers, pandas Series, or mapping from label to number
        The estimated prior P, at which utility is measured; it lies in the set.
    supermodular : bool
        Whether f is supermodular; this is checked.
    labels : sequence of str or int, optional
        One for each category, at most 12. By default those of the center, or else ``x1`` to ``xN``.

    Raises
    ------
    InputError
        For an f that is negative, above the mass of the estimate, or not supermodular where it is said to be.

    Examples
    --------
    >>> squared = LowerFunction(lambda S: Fraction(len(S), 3) ** 2, ["1/3", "1/3", "1/3"], supermodular=True)
    >>> squared.exact_worst_mean([3, 2, 0])
    (Fraction(1, 1), (Fraction(1, 9), Fraction(1, 3), Fraction(5, 9)))
    """

    kind: ClassVar[str] = "lower-function"
    f: Callable[[tuple[str, ...]], object]
    center: tuple[Fraction, ...]
    said_supermodular: bool
    labels: tuple[str, ...]

    def __init__(
        self,
        f: Callable[[tuple[str, ...]], object],
        center: Numbers,
        *,
        supermodular: bool,
        labels: Iterable[object] | None = None,
    ) -> None:
        if not callable(f):
            raise InputError.wrong_type(f"f is {shorten(f)}; accepted: a function of a tuple of labels")
        prior, names = labelled_center(center, labels)
        if len(prior) > _MOST_SYMBOLS:
            raise LimitError.too_much_work(
                f"f of {len(prior)} categories has 2^{len(prior)} values (at most 2^{_MOST_SYMBOLS}); merge "
                "categories, or use a Box, a RelativeBall or an EventSet"
            )
        object.__setattr__(self, "f", f)
        object.__setattr__(self, "center", prior)
        object.__setattr__(self, "said_supermodular", bool(supermodular))
        object.__setattr__(self, "labels", names)
        self._check()

    def __repr__(self) -> str:
        text = "" if self.supermodular else "not "
        return f"LowerFunction({self.size} categories, {text}supermodular)"

    @property
    def supermodular(self) -> bool:
        """Whether f is supermodular, as its author said."""
        return self.said_supermodular

    def _named(self, mask: int) -> tuple[str, ...]:
        return tuple(compress(self.labels, (mask >> i & 1 for i in range(self.size))))

    @cached_property
    def _table(self) -> tuple[list[int], int]:
        everything = (1 << self.size) - 1
        values = [Fraction(0)]
        for mask in range(1, everything):
            name = f"f of {shorten(self._named(mask))}"
            values.append(rational(self.f(self._named(mask)), name))
        values.append(Fraction(1))
        check_common_denominator((value.denominator for value in values), "f", 3_000)
        return over_common_denominator(values)

    def _check(self) -> None:
        values, common = self._table
        masses = [Fraction(0)]
        for p in self.center:
            masses += [mass + p for mass in masses]
        for mask, (value, mass) in enumerate(zip(values, masses, strict=True)):
            if not 0 <= value <= mass * common:
                raise InputError.out_of_range(
                    f"f of {shorten(self._named(mask))} is {text_near(Fraction(value, common))}; accepted: from 0 "
                    f"to the mass of the set under the estimate, {text_near(mass)}"
                )
        for i, label in enumerate(self.labels):
            if values[-1 - (1 << i)] == common:
                raise InputError.never_occurs(
                    f"the category {shorten(label)} has probability 0 under every prior of the set, where leakage is "
                    "defined on the support only; leave it out"
                )
        if self.supermodular:
            self._check_pairs(values)

    def _check_pairs(self, values: list[int]) -> None:
        """Refuse an f that is not supermodular: pairs of sets that differ by one category each decide it."""
        for mask in range(len(values)):
            free = [1 << i for i in range(self.size) if not mask >> i & 1]
            for place, one in enumerate(free):
                for other in free[:place]:
                    if values[mask | one] + values[mask | other] > values[mask | one | other] + values[mask]:
                        raise InputError.not_supermodular(
                            f"f is not supermodular: f(S) + f(T) is above f(S or T) + f(S and T) for the sets "
                            f"{shorten(self._named(mask | other))} and {shorten(self._named(mask | one))}; "
                            "say supermodular=False, or give another f"
                        )

    def along(self, order: Sequence[int]) -> tuple[list[int], int]:
        """Return f of the first k categories of an order, k = 1 to N, as integers over a denominator, and that."""
        values, common = self._table
        mask, result = 0, []
        for i in order:
            mask |= 1 << i
            result.append(values[mask])
        return result, common

    def of_every_set(self) -> tuple[list[int], int]:
        """Return f of every set of categories, by its bit mask, as integers over a common denominator, and that."""
        return self._table

    def contains(self, prior: Sequence[object]) -> bool:
        """Return whether a prior lies in the set, in rational arithmetic."""
        Q = self.as_prior(prior)
        values, common = self._table
        masses = [Fraction(0)]
        for q in Q:
            masses += [mass + q for mass in masses]
        return all(mass * common >= value for mass, value in zip(masses, values, strict=True))

    def support_rows(self) -> SupportRows:
        """Return the support function as linear rows, the dual of the least mean.

        Auxiliary variables: h, m for the set of all categories, and a weight y_S for every other set with f above 0.
        ``h <= m + sum f(S) y_S``, ``m + sum over S that hold i of y_S <= v_i``, ``y >= 0``.

        Raises
        ------
        LimitError
            If f is not supermodular.
        """
        from scipy.sparse import csr_array

        if not self.supermodular:
            raise LimitError.no_method(
                "f is not supermodular, and no method designs for it: mechanisms at hand can be proved; "
                "give a supermodular f that is not above it, whose set is larger"
            )
        values, common = self._table
        sets = np.array([mask for mask in range(1, len(values) - 1) if values[mask] > 0], dtype=np.int64)
        holds = (sets[None, :] >> np.arange(self.size)[:, None] & 1).astype(float)
        gains = np.array([values[mask] / common for mask in sets.tolist()])
        y = sets.size
        auxiliary = np.vstack(
            [
                np.r_[-1.0, 1.0, gains],
                np.hstack([np.zeros((self.size, 1)), -np.ones((self.size, 1)), -holds]),
                np.hstack([np.zeros((y, 2)), np.eye(y)]),
            ]
        )
        columns = np.vstack([np.zeros((1, self.size)), np.eye(self.size), np.zeros((y, self.size))])
        return SupportRows(csr_array(columns), csr_array(auxiliary))

    def in_words(self) -> str:
        """Return the priors of the set in words."""
        return f"every prior above a lower probability on {self.size} categories"

    def one_in_words(self) -> str:
        """Return one prior of the set in words."""
        return f"a prior above a lower probability on {self.size} categories"
