"""What a guarantee over a set of priors bounds.

By default it is about the data themselves: the lifts of categories, at every prior of the set. A promise about a secret
(`mechdesign.uncertainty.secret`) bounds the lifts of the values of another attribute.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from mechdesign.data.checks import check_kind
from mechdesign.errors import InputError
from mechdesign.numerics.arrays import Floats
from mechdesign.uncertainty.prior_set import PriorSet

if TYPE_CHECKING:
    from scipy.sparse import csr_array

    from mechdesign.uncertainty.secret import SecretPromise


@dataclass(frozen=True, eq=False)
class Protected:
    """The values whose lifts a promise bounds, with their law at the estimate.

    Attributes
    ----------
    values : tuple of str
        The K values: the categories, or those of the secret.
    law : array, shape (K,)
        Their probabilities at the estimate.
    names : (str, str) or None
        The names of the secret and of the column that the data are; None where the data are protected.
    conditionals : array, shape (K, N), or None
        The law of the data given each value of the secret; None where the data are protected.
    """

    values: tuple[str, ...]
    law: Floats
    names: tuple[str, str] | None = None
    conditionals: Floats | None = None

    def likelihoods(self, matrix: Floats) -> Floats:
        """Return the probability of each output of a mechanism, given by a matrix, for each value, shape (K, M).

        Examples
        --------
        >>> import numpy as np
        >>> from mechdesign import SecretPromise
        >>> about = SecretPromise([[3, 1], [1, 1]], secret="sex", known=True).protected
        >>> about.values, about.likelihoods(np.eye(2)).tolist()
        (('s1', 's2'), [[0.75, 0.25], [0.5, 0.5]])
        """
        return matrix if self.conditionals is None else self.conditionals @ matrix

    @property
    def about(self) -> str:
        """The secret in words that follow a noun, " about sex"; empty where the data are protected."""
        return "" if self.names is None else f" about {self.names[0]}"

    @property
    def any_value(self) -> str:
        """Whatever is protected, in words: "any value of sex"; "anything" where the data are."""
        return "anything" if self.names is None else f"any value of {self.names[0]}"


@dataclass(frozen=True)
class PromiseRows:
    """Linear inequalities that a column v keeps, for some auxiliary w: ``columns @ v + auxiliary @ w >= 0``.

    Attributes
    ----------
    columns : sparse array, shape (R, N)
        Coefficients of the column v.
    auxiliary : sparse array, shape (R, K)
        Coefficients of the auxiliary variables w, which are free.
    """

    columns: csr_array
    auxiliary: csr_array


class Floor(NamedTuple):
    """What a promise from below asks of a column v: ``min v >= a H(v)``, H(v) its greatest mean under some priors.

    Attributes
    ----------
    least_lift : Fraction
        a, from 0, which asks for nothing, to 1.
    for_everyone : bool
        Whether the mean is the greatest under any prior, which is ``max v``, and not under those of the set alone.
    """

    least_lift: Fraction
    for_everyone: bool = False

    @property
    def of_lifts(self) -> Fraction:
        """The a that is asked of lifts over the set, exp(-lower); 0 with a cap, which asks for it of entries."""
        return Fraction(0) if self.for_everyone else self.least_lift

    @property
    def of_entries(self) -> Fraction:
        """The a that is asked of the least entry over the greatest one, exp(-cap); 0 without a cap."""
        return self.least_lift if self.for_everyone else Fraction(0)


NO_FLOOR = Floor(Fraction(0))
"""What asks for nothing."""


class UncertaintySet(PriorSet):
    """A compact convex set B of priors on N categories.

    Privacy depends on B through its support function only, ``h(v) = min over Q in B of <Q, v>``: a
    mechanism is epsilon-PML for every prior in B exactly when each of its columns v satisfies
    ``max v <= exp(epsilon) h(v)``.

    A set of your own defines `exact_worst_mean`, `contains`, `support_rows` and `in_words`; all other methods are
    computed from these, but more slowly. `mechdesign.uncertainty.register` makes it known to files and to the command
    line.

    Attributes
    ----------
    kind : str
        The name of the class in files, such as ``"l1-ball"``.
    center : tuple of Fraction
        The reference prior, at which utility is measured. It lies in the set.
    labels : tuple of str
        One for each category.
    """

    @property
    def exact_set(self) -> UncertaintySet:
        """The set of true priors that this one stands for; guarantees are proved for it."""
        return self

    @property
    def secret_promise(self) -> SecretPromise | None:
        """The set as a promise about a secret that depends on the data; None where the promise is about the data."""
        return None

    @property
    def uncertain_secret(self) -> SecretPromise | None:
        """The set as a promise about a secret within limits of the joint distribution; None where it is not one."""
        return None

    @property
    def protected(self) -> Protected:
        """What a promise over the set protects."""
        return Protected(self.labels, self.prior)

    @property
    def limits_entries(self) -> bool:
        """Whether a column keeps epsilon just where no entry is above exp(epsilon) times its least mean h(v).

        That is a promise about the data. An entry below the greatest may then rise, no entry is above exp(epsilon)
        times the mean of the column, and epsilon = 0 leaves constant columns only.
        """
        return True

    @property
    def is_one_prior(self) -> bool:
        """Whether a guarantee over the set is for one distribution: every column of one entry has the same mean."""
        units = np.eye(self.size, dtype=np.int64).tolist()
        exact = self.exact_set
        return all(exact.exact_support(unit) == p for unit, p in zip(units, exact.center, strict=True))

    @property
    def two_sided_name(self) -> str:
        """What a guarantee for the set is called that bounds lifts on both sides."""
        return "local information privacy"

    def protected_in_words(self) -> str:
        """Return what is protected, in words that follow "PML"; empty for the data themselves."""
        return ""

    def not_protected_in_words(self) -> str:
        """Return what the promise does not protect; empty for promises about the data themselves."""
        return ""

    def exact_ratio(self, column: Sequence[int]) -> Fraction | None:
        """Return the greatest lift of a column of integers over all priors of the set: ``max v / h(v)``.

        Its logarithm is the leakage of the output. None where h(v) = 0, so that the leakage is infinite.
        """
        support = self.exact_support(column)
        return max(column) / support if support > 0 else None

    def exact_worst_prior(self, column: Sequence[int]) -> tuple[Fraction, ...] | None:
        """Return a prior at which the greatest lift of an output is attained; None where no law of the data says it."""
        return self.exact_set.exact_worst_mean(column)[1]

    def exact_least_lift(self, column: Sequence[int]) -> Fraction:
        """Return the least lift of any category for any prior of the set, ``min v / H(v)``, of a column of integers.

        The lift of category i by an output is v_i over the mean of v, and is least at the *greatest* mean. It is 0
        where an entry is 0: the output then rules this category out.
        """
        least = min(column)
        return least / self.exact_greatest_mean(column) if least > 0 else Fraction(0)

    def excess(self, columns: ArrayLike, exp_epsilon: float) -> Floats:
        """Return by how much each column of an (N, M) matrix breaks epsilon, ``max v - e h(v)``, shape (M,).

        It is 0 or less where the column keeps epsilon.
        """
        V = self.as_matrix(columns)
        result: Floats = V.max(axis=0) - exp_epsilon * self.support(V)
        return result

    def lack(self, columns: ArrayLike, least_lift: float) -> Floats:
        """Return by how much each column breaks a promise from below, ``a H(v) - min v``, shape (M,)."""
        V = self.as_matrix(columns)
        greatest = V.max(axis=0)
        result: Floats = least_lift * (greatest - self.support(greatest - V)) - V.min(axis=0)
        return result

    def is_implied_by_cap(self, exp_epsilon: Fraction, least: Fraction) -> bool:
        """Return whether all columns v with ``min v >= a max v`` keep epsilon: those of a cap not above epsilon do."""
        return least * exp_epsilon >= 1

    def promise_rows(self, exp_epsilon: float, floor: Floor = NO_FLOOR) -> tuple[PromiseRows, ...]:
        """Return the columns that keep a promise as linear rows, in blocks that share their auxiliary variables.

        ``max v <= e h(v)`` is ``v_i <= e w_0`` with the rows of the support function. With a promise from below, a > 0,
        ``min v >= a H(v)`` is ``v_i >= -a z_0`` with these rows for -v; for every prior, ``-z_0 >= v_i`` are the rows.
        """
        from scipy.sparse import block_array, coo_array, csr_array, eye_array

        support = self.support_rows()
        N, K = self.size, support.auxiliary.shape[1]
        each, zeros = csr_array(eye_array(N)), np.zeros(N, dtype=int)
        first = coo_array((np.ones(N), (np.arange(N), zeros)), shape=(N, K))
        blocks = [(support.columns, support.auxiliary), (-each, csr_array(exp_epsilon * first))]
        if floor.least_lift == 0:
            return tuple(PromiseRows(*block) for block in blocks)
        means = (-each, csr_array(-first)) if floor.for_everyone else (-support.columns, support.auxiliary)
        below = [means, (each, csr_array(float(floor.least_lift) * first))]
        of_first = [(rows, csr_array(block_array([[own, coo_array(own.shape)]]))) for rows, own in blocks]
        of_second = [(rows, csr_array(block_array([[coo_array(own.shape), own]]))) for rows, own in below]
        return tuple(PromiseRows(*block) for block in (*of_first, *of_second))


def check_set(uncertainty: object) -> None:
    """Refuse what is not a set of priors, as `check_kind`."""
    check_kind(uncertainty, UncertaintySet, "the uncertainty", "a set of priors, such as an L1Ball or a ConvexHull")


def check_about_data(known: UncertaintySet, what: str) -> None:
    """Refuse a promise about a secret where something is about the data themselves."""
    if known.secret_promise is not None:
        raise InputError.set_not_accepted(
            f"{what} is about a promise for the data themselves, and the set is a promise about "
            f"{known.secret_promise.secret}; give a set of priors, such as an L1Ball"
        )
