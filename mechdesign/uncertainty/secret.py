"""A promise about a secret S that depends on the useful data X: what a report about X says about S.

The leakage of an output with column v about S is ``log max_s <A_s, v> / <P, v>``, where ``A_s`` is the law of X given
S = s, and ``P = sum_s p_s A_s`` that of X: the greatest factor by which the report makes a value of S more likely. The
promise is ``<A_s, v> <= e <P, v>`` for every s. It protects S, and whatever depends on X through S alone. Of everything
else it promises nothing: the report may tell X as far as X says nothing of S.

Where the law of S lies in a set ``B_S`` and each ``A_s`` in a set ``B_s``, whatever the others are, let h_s and H_s be
the least and the greatest mean of v over B_s. The greatest factor for s is

    H_s / h_{B_S}(u),    u_s = H_s,    u_t = h_t for every other value t,

because ``<A_s, v> / (p_s <A_s, v> + sum_t p_t <A_t, v>)`` grows with ``<A_s, v>`` and falls with every other mean. The
least factor is that with least and greatest exchanged.
"""

from __future__ import annotations

import copy
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from operator import mul
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike

from mechdesign.data.checks import check_kind, checked_delta
from mechdesign.data.joint_counts import JointCounts
from mechdesign.errors import InputError, shorten
from mechdesign.numerics.arrays import Floats, frozen
from mechdesign.uncertainty.base import NO_FLOOR, Floor, PromiseRows, Protected, UncertaintySet
from mechdesign.uncertainty.effort import Effort, effort_of
from mechdesign.uncertainty.evidence import check_one_way
from mechdesign.uncertainty.joint_limits import LIMITS, JointLimits
from mechdesign.uncertainty.prior_set import SupportRows, exact_prior

NO_NAME = ("the secret", "the data")
_LONGEST_NAME = 200
_WAYS = "delta= (the joint counts are a sample) and known=True (they are the joint distribution itself)"


@dataclass(frozen=True)
class SecretPromise(UncertaintySet):
    """A promise about a secret, where reports are made from another column: leakage about the secret, not the record.

    Parameters
    ----------
    joint_counts : mapping of mappings, data frame, rows of counts or JointCounts
        How often each value of the secret (rows) was seen with each category of the useful column.
    secret, useful : str
        The names of both columns, for words.
    values, labels : sequence of str or int, optional
        The values of the secret and the categories, where the counts do not name them; by default ``s1``, ``x1`` and
        on.
    delta : number or str, optional
        Probability in [0, 1) that the true joint distribution lies outside of the limits that the counts give: one
        set for the law of the secret and one for the law of the categories given each of its values, each with an equal
        share of delta. Give it, or known.
    known : bool
        True where the counts are no sample but the joint distribution itself; so also before `within`.
    limits : str
        With delta: ``"box"``, limits of Clopper and Pearson for each probability, or ``"l1-ball"``. Boxes are smaller
        where columns hold few categories, as they do here.

    Raises
    ------
    InputError
        For joint counts with an empty row or column, a secret of one value, one name for both columns, a delta out of
        range, and unless just one of delta and known is given.

    Examples
    --------
    >>> known = SecretPromise([[20, 10, 5, 5], [10, 15, 20, 15]], secret="sex", useful="occupation", known=True)
    >>> known.exact_ratio([1, 0, 0, 0])
    Fraction(5, 3)
    >>> known.in_words()
    'the joint distribution of sex and occupation that the counts show'
    """

    kind: ClassVar[str] = "secret"
    joint: JointCounts
    secret: str
    useful: str
    center: tuple[Fraction, ...]
    labels: tuple[str, ...]
    limits: JointLimits | None

    def __init__(
        self,
        joint_counts: Any,
        *,
        secret: str = NO_NAME[0],
        useful: str = NO_NAME[1],
        values: Iterable[object] | None = None,
        labels: Iterable[object] | None = None,
        delta: object = None,
        known: bool = False,
        limits: str = "box",
    ) -> None:
        joint = joint_counts if isinstance(joint_counts, JointCounts) else JointCounts.of(joint_counts, values, labels)
        for what, name in (("secret", secret), ("useful", useful)):
            check_kind(name, str, f"the name {what}", "text, such as 'sex'")
            if not 0 < len(name) <= _LONGEST_NAME:
                raise InputError.bad_label(
                    f"the name {what} has {len(name)} characters; accepted: 1 to {_LONGEST_NAME}"
                )
        if secret == useful:
            raise InputError.column_twice(
                f"the secret and the useful column are both {shorten(secret)}; name two columns"
            )
        check_one_way({"delta": delta, "known": known}, _WAYS)
        if limits not in LIMITS:
            raise InputError.unknown_choice(f"limits are {shorten(limits)}; accepted: {', '.join(LIMITS)}")
        total = joint.total
        object.__setattr__(self, "joint", joint)
        object.__setattr__(self, "secret", secret)
        object.__setattr__(self, "useful", useful)
        object.__setattr__(self, "center", tuple(Fraction(count, total) for count in joint.of_symbols))
        object.__setattr__(self, "labels", joint.labels)
        derived = None if delta is None else JointLimits.of_counts(joint, checked_delta(delta), limits)
        object.__setattr__(self, "limits", derived)

    def within(self, limits: Sequence[UncertaintySet]) -> SecretPromise:
        """Return the promise for every joint distribution within sets of the user's own.

        Parameters
        ----------
        limits : sequence of K + 1 sets
            That of the law of the secret, and that of the law of the categories given each of its K values, each of
            which holds the law that the counts show.

        Raises
        ------
        InputError
            For another number of sets, other labels, or a set without the law that the counts show.

        Examples
        --------
        >>> from mechdesign import L1Ball
        >>> known = SecretPromise([[2, 1], [1, 2]], known=True)
        >>> balls = [L1Ball([p, 1 - p], "0.1") for p in (Fraction(1, 2), Fraction(2, 3), Fraction(1, 3))]
        >>> known.within(balls).exact_ratio([1, 0]) > known.exact_ratio([1, 0])
        True
        """
        sets = tuple(limits)
        wanted = [self.joint.of_values, *self.joint.counts]
        if len(sets) != len(wanted):
            raise InputError.wrong_size(
                f"there are {len(sets)} limits; accepted: {len(wanted)}, the secret's and one for each value"
            )
        names = [f"the law of {self.secret}", *(f"the law given {shorten(value)}" for value in self.joint.values)]
        for known, counts, name in zip(sets, wanted, names, strict=True):
            check_kind(known, UncertaintySet, f"the set for {name}", "an L1Ball or a Box")
            if known.size != len(counts):
                raise InputError.wrong_size(f"the set for {name} has {known.size} categories; accepted: {len(counts)}")
            if known.exact_set is not known or known.secret_promise is not None:
                raise InputError.ball_leaves_simplex(
                    f"the set for {name} is {shorten(known)}; give a set inside the simplex, such as a Box"
                )
            if not known.contains([Fraction(count, sum(counts)) for count in counts]):
                raise InputError.prior_outside_set(
                    f"the set for {name} does not hold what the counts show; give a set around it"
                )
        result = copy.copy(self)
        object.__setattr__(result, "limits", JointLimits(sets[0], sets[1:]))
        return result

    def __repr__(self) -> str:
        values, state = len(self.joint.values), "known" if self.limits is None else "uncertain"
        return f"SecretPromise({self.secret}: {values} values, {self.useful}: {self.size} categories, {state})"

    # What the set declares

    @property
    def secret_promise(self) -> SecretPromise:
        """The set itself."""
        return self

    @property
    def protected(self) -> Protected:
        """The values of the secret, with their law by the counts."""
        law = np.array([count / self.joint.total for count in self.joint.of_values])
        return Protected(self.joint.values, law, (self.secret, self.useful), self.conditionals)

    @property
    def limits_entries(self) -> bool:
        """False: a report may tell all of the data that does not pass through the secret."""
        return False

    @property
    def is_one_prior(self) -> bool:
        """Whether the joint distribution is known."""
        return self.limits is None

    @property
    def uncertain_secret(self) -> SecretPromise | None:
        """The set itself, where there are limits."""
        return None if self.limits is None else self

    @property
    def delta(self) -> Fraction | None:
        """The sum of the deltas of all limits; None where one of them has no delta."""
        return None if self.limits is None else self.limits.delta

    @property
    def asserts_samples(self) -> bool:
        """Whether the delta of a limit rests on samples that are asserted."""
        return self.limits is not None and any(
            known.asserts_samples for known in (self.limits.of_secret, *self.limits.given)
        )

    def delta_in_words(self) -> str:
        """Return what `delta` is the probability of."""
        return "the true joint distribution lies outside of the limits with at most this probability"

    def in_words(self) -> str:
        """Return the joint distributions in words."""
        both = f"{self.secret} and {self.useful}"
        if self.limits is None:
            return f"the joint distribution of {both} that the counts show"
        return f"every joint distribution of {both} within the limits"

    def one_in_words(self) -> str:
        """Return one joint distribution in words."""
        return self.in_words()

    @property
    def two_sided_name(self) -> str:
        """What a guarantee that bounds lifts of the secret on both sides is called."""
        return "ALIP (asymmetric local information privacy)"

    def protected_in_words(self) -> str:
        """Return what is protected, in words that follow "PML"."""
        return f" of {self.secret} alone"

    def not_protected_in_words(self) -> str:
        """Return what is not protected."""
        return (
            f"everything that does not pass through {self.secret}: reports may give away {self.useful} itself, as far "
            f"as it says nothing about {self.secret}"
        )

    def proof_effort(self) -> Effort:
        """Return what one `exact_ratio` costs: means of a column under each conditional."""
        rows = [self.joint.conditional(place) for place in range(len(self.joint.values))]
        if self.limits is None:
            return effort_of([*rows, self.center], self.size)
        return self.limits.proof_effort()

    # The promise, in rationals

    def exact_ratio(self, column: Sequence[int]) -> Fraction | None:
        """Return the greatest factor by which an output makes a value of the secret more likely.

        Joint distributions without the output do not count; it is the supremum over all others. None where that is
        infinite: some law of the secret gives probability 0 to a value that may have the output, and leaves the record
        to values that may be without it. Laws near that one give the value little probability instead, and so a lift
        without bound. A value that never has the output has lift 0, wherever the output occurs.
        """
        least, greatest = self._means(column)
        if not any(greatest):
            return None
        worst = Fraction(0)
        for place, mean in enumerate(greatest):
            if not mean:
                continue
            with_greatest = [*least[:place], mean, *least[place + 1 :]]
            of_all = self._least_of_secret(with_greatest)
            if of_all <= 0:
                return None
            worst = max(worst, mean / of_all)
        return worst

    def exact_worst_prior(self, column: Sequence[int]) -> None:
        """None: a joint distribution attains the greatest lift, of which the law of the data says too little."""

    def exact_least_lift(self, column: Sequence[int]) -> Fraction:
        """Return the least factor by which an output changes the probability of a value of the secret."""
        least, greatest = self._means(column)
        lifts = []
        for place, mean in enumerate(least):
            with_least = [*greatest[:place], mean, *greatest[place + 1 :]]
            lifts.append(mean / self._greatest_of_secret(with_least) if mean > 0 else Fraction(0))
        return min(lifts)

    def _means(self, column: Sequence[int]) -> tuple[list[Fraction], list[Fraction]]:
        """Return the least and the greatest mean of a column given each value of the secret."""
        if self.limits is None:
            sums = (sum(map(mul, row, column)) for row in self.joint.counts)
            means = [Fraction(s, n) for s, n in zip(sums, self.joint.of_values, strict=True)]
            return means, means
        return self.limits.means(column)

    def _least_of_secret(self, means: Sequence[Fraction]) -> Fraction:
        """Return the least mean of numbers, one for each value of the secret, over the laws of the secret."""
        return self._known_mean(means) if self.limits is None else self.limits.least_of_secret(means)

    def _greatest_of_secret(self, means: Sequence[Fraction]) -> Fraction:
        return self._known_mean(means) if self.limits is None else self.limits.greatest_of_secret(means)

    def _known_mean(self, means: Sequence[Fraction]) -> Fraction:
        return sum(map(mul, self.joint.of_values, means), Fraction(0)) / self.joint.total

    def rows_at(self, column: Sequence[int], e: Fraction, least_lift: Fraction) -> list[tuple[Fraction, ...]]:
        """Return rows g with ``<g, v> >= 0`` for all columns v that keep a promise, those least kept by one column.

        They are ``e P - A_s`` for every value s, and with a promise from below ``A_s - a P``, each at the joint
        distribution within the limits that is worst for the column.
        """
        values = range(len(self.joint.values))
        if self.limits is not None:
            pairs = [(e, self.limits.worst_at(column, s)) for s in values]
            if least_lift > 0:
                pairs += [(-least_lift, self.limits.best_at(column, s)) for s in values]
        else:
            laws = [(self.joint.conditional(s), self.center) for s in values]
            pairs = [(e, law) for law in laws] + [(-least_lift, law) for law in laws if least_lift > 0]
        return [
            tuple(level * p - (q if level > 0 else -q) for q, p in zip(given, law, strict=True))
            for level, (given, law) in pairs
        ]

    def is_implied_by_cap(self, exp_epsilon: Fraction, least: Fraction) -> bool:
        """Return whether all columns v with ``min v >= a max v`` keep epsilon, of a known joint distribution.

        Where ``max v = 1``, ``<e P - A_s, v>`` is least with entries 1 where the row is negative, and a elsewhere.
        """
        if super().is_implied_by_cap(exp_epsilon, least):
            return True
        rows = () if self.limits is not None else self.rows_at([1] * self.size, exp_epsilon, Fraction(0))
        return bool(rows) and all(sum(min(g, least * g) for g in row) >= 0 for row in rows)

    # The law of the useful column

    def exact_worst_mean(self, column: Sequence[int]) -> tuple[Fraction, tuple[Fraction, ...]]:
        """Return the least probability of an output, and a law of the useful column that attains it."""
        if self.limits is None:
            return sum(map(mul, self.center, column), Fraction(0)), self.center
        return self.limits.exact_worst_mean(column)

    def contains(self, prior: Sequence[object]) -> bool:
        """Return whether a law of the useful column is possible; within limits, to within 1e-9 in each probability."""
        Q = exact_prior(prior, labels=self.labels)
        return self.center == Q if self.limits is None else self.nearly_contains(Q)

    # Floats and linear rows

    @cached_property
    def conditionals(self) -> Floats:
        """The law of the useful column given each value of the secret that the counts show, shape (K, N), read-only."""
        counts = np.array(self.joint.counts, dtype=float)
        return frozen(counts / counts.sum(axis=1, keepdims=True))

    def support(self, columns: ArrayLike) -> Floats:
        """Return the least probability of each output, shape (M,)."""
        V = self.as_matrix(columns)
        if self.limits is None:
            result: Floats = self.prior @ V
            return result
        return self.limits.support(V)

    def excess(self, columns: ArrayLike, exp_epsilon: float) -> Floats:
        """Return by how much each column breaks the promise: ``H_s - e h_{B_S}(u)`` for the worst s, shape (M,)."""
        V = self.as_matrix(columns)
        if self.limits is None:
            known: Floats = (self.conditionals @ V).max(axis=0) - exp_epsilon * (self.prior @ V)
            return known
        return self.limits.excess(V, exp_epsilon)

    def support_rows(self) -> SupportRows:
        """Return the least probability of an output as linear rows."""
        from scipy.sparse import csr_array

        if self.limits is None:
            return SupportRows(csr_array(self.prior[None, :]), csr_array(-np.ones((1, 1))))
        return self.limits.support_rows()

    def lack(self, columns: ArrayLike, least_lift: float) -> Floats:
        """Return by how much each column breaks a promise from below, shape (M,)."""
        V = self.as_matrix(columns)
        if self.limits is None:
            known: Floats = least_lift * (self.prior @ V) - (self.conditionals @ V).min(axis=0)
            return known
        return self.limits.lack(V, least_lift)

    def promise_rows(self, exp_epsilon: float, floor: Floor = NO_FLOOR) -> tuple[PromiseRows, ...]:
        """Return the promise as linear rows: ``<e P - A_s, v> >= 0``, or those of `JointLimits.promise_rows`.

        With a cap there is one more auxiliary variable, the last, M: ``v_i <= M`` and ``v_i >= a M``.
        """
        from scipy.sparse import block_array, csr_array

        least_lift = float(floor.of_lifts)
        if self.limits is None:
            rows = exp_epsilon * self.prior - self.conditionals
            if least_lift > 0:
                rows = np.vstack([rows, self.conditionals - least_lift * self.prior])
            promised = PromiseRows(csr_array(rows), csr_array((len(rows), 0)))
        else:
            promised = self.limits.promise_rows(exp_epsilon, least_lift)
        if floor.of_entries == 0:
            return (promised,)
        each, ones = np.eye(self.size), np.ones((self.size, 1))
        height, width = promised.auxiliary.shape
        own = csr_array(block_array([[promised.auxiliary, csr_array((height, 1))]]))
        rest = csr_array(np.vstack([ones, -float(floor.of_entries) * ones]))
        capped = csr_array(block_array([[csr_array((2 * self.size, width)), rest]]))
        return PromiseRows(promised.columns, own), PromiseRows(csr_array(np.vstack([-each, each])), capped)
