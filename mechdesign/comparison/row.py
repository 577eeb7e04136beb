"""One row of a comparison: a mechanism, what it is worth, and whether it keeps what is promised."""

from __future__ import annotations

import math
from dataclasses import dataclass

from mechdesign.display.numbers import text_above
from mechdesign.mechanism import Mechanism
from mechdesign.numerics.arrays import Floats
from mechdesign.optimize import Design


@dataclass(frozen=True, eq=False)
class Compared:
    """A mechanism beside others.

    Attributes
    ----------
    key : str
        What the mechanism is, for programs: ``"best_ldp"``; empty for the mechanisms that the user gave.
    name : str
        The mechanism in words.
    value : float or None
        Its utility or error, infinite where reports do not determine every answer; None if it is not computed.
    bound : float or None
        The certified bound, for a mechanism that is found by a search.
    certified : bool or None
        Whether value and bound are as near as was asked for; None for a mechanism that claims nothing.
    missing : str
        Why it is not computed; empty if it is.
    local : bool
        Whether it keeps the promise for every prior (local differential privacy).
    mechanism : Mechanism or None
        The mechanism; None where it is not computed or not written down, as subset selection, and for those that the
        user gave.
    design : Design or None
        What `mechdesign.design` found, for a mechanism that is found by a search.
    variances : array, shape (q,), or None
        For estimation errors: n times the variance of the estimated answer of each query, infinite where reports do not
        determine it.
    members : int or None
        Of subset selection: the categories in each set.
    leakage : float or None
        Of a mechanism that the user gave: the greatest leakage of an output over the priors of the promise, in nats,
        rounded up; infinite where a prior of the set gives an output probability 0 that another category can cause.
        None for the others, which keep the promise.
    lower_leakage : float or None
        Likewise: how far a report lowers the probability of a category, in nats, rounded up.
    keeps : bool
        Whether it keeps the promise: exactly, or a mechanism given as floats or decimals up to their errors (1e-12
        nats), as `Mechanism.from_matrix` takes a matrix.
    missed : float
        By how many nats it misses the promise, rounded up; 0 if it keeps the promise exactly, infinite where no epsilon
        would be enough.
    """

    key: str
    name: str
    value: float | None
    bound: float | None = None
    certified: bool | None = None
    missing: str = ""
    local: bool = False
    mechanism: Mechanism | None = None
    design: Design | None = None
    variances: Floats | None = None
    members: int | None = None
    leakage: float | None = None
    lower_leakage: float | None = None
    keeps: bool = True
    missed: float = 0.0

    @property
    def value_in_words(self) -> str:
        """The value to six digits, or in words."""
        if self.value is None:
            return "not computed"
        return f"{self.value:.6g}" if math.isfinite(self.value) else "infinite"

    @property
    def leakage_in_words(self) -> str:
        """What a mechanism that the user gave leaks, with a mark where it misses the promise; empty for others.

        Examples
        --------
        >>> Compared("", "theirs", 0.5, leakage=1.25, keeps=False).leakage_in_words
        '1.25 *'
        """
        if self.leakage is None:
            return ""
        mark = " *" if not self.keeps else " ~" if self.missed else ""
        return text_above(self.leakage, 6) + mark

    @property
    def error(self) -> float | None:
        """The estimation error, the sum of the variances; None where another objective is compared."""
        return None if self.variances is None else self.value

    @property
    def lower_bound(self) -> float | None:
        """For designs that are best for estimation: no mechanism with the guarantee has a lower error."""
        return None if self.variances is None else self.bound

    @property
    def at_least(self) -> float | None:
        """The certified lower bound of the error where there is one, else the error itself."""
        return self.error if self.lower_bound is None else self.lower_bound

    @property
    def largest(self) -> float | None:
        """The largest variance, of the query that is answered worst."""
        return None if self.variances is None else float(self.variances.max())

    @property
    def mean(self) -> float | None:
        """The mean of the variances, whose root is the root mean square standard error."""
        return None if self.variances is None else float(self.variances.mean())


def missed_in_words(missed: float) -> str:
    """Return what is said of a promise that counts as kept, and is missed by the errors of floats.

    Examples
    --------
    >>> missed_in_words(2.3e-16)
    'missed by at most 2.3e-16 nats, within the errors of floats'
    """
    return f"missed by at most {text_above(missed, 2)} nats, within the errors of floats"
