"""What `mechdesign.design` returns."""

from __future__ import annotations

from dataclasses import dataclass

from mechdesign.mechanism import Mechanism
from mechdesign.numerics.tolerances import VALUE_FLOOR
from mechdesign.optimize.certificate import Certificate
from mechdesign.problem import DesignProblem


@dataclass(frozen=True)
class ClosedFormCheck:
    """A theorem's mechanism beside the one found.

    Attributes
    ----------
    theorem : str
        Its name and source.
    value : float
        Utility of the theorem's mechanism.
    difference : float
        Utility found minus that.
    optimal : bool
        Whether the theorem claims that its mechanism is optimal for this problem.
    """

    theorem: str
    value: float
    difference: float
    optimal: bool


def within(gap: float, value: float, tol: float) -> bool:
    """Return whether a gap counts as closed: ``gap <= tol * max(|value|, 1e-3)``."""
    return bool(gap <= tol * max(abs(value), VALUE_FLOOR))


@dataclass(frozen=True, eq=False)
class Design:
    """An exported mechanism with what is known of its utility.

    Attributes
    ----------
    problem : DesignProblem
        What was asked.
    mechanism : Mechanism
        Integers whose guarantee is proved.
    value : float
        Utility of those integers at the reference prior, in its unit.
    upper_bound : float or None
        No mechanism with the guarantee has more; rounded outward. None when pricing was not exact.
    tol : float
        Relative gap at which the design counts as certified.
    certificate : Certificate or None
        The dual vector that proves the bound.
    closed_form : ClosedFormCheck or None
        The best theorem that applies, where one does.
    method, iterations, columns, seconds
        The solver's story.
    stopped : str
        Why the search ended early: ``"time limit"``, ``"interrupted"``, ``"solver failed"``, or ``"stalled"``
        where no column was found that improves the value, though the bound is above it; empty where it did not.
    """

    problem: DesignProblem
    mechanism: Mechanism
    value: float
    upper_bound: float | None
    tol: float
    certificate: Certificate | None
    closed_form: ClosedFormCheck | None
    method: str
    iterations: int
    columns: int
    seconds: float
    stopped: str = ""

    def __repr__(self) -> str:
        verdict = "certified" if self.certified else "not certified"
        gap = "unknown" if self.gap is None else f"{self.gap:.1e}"
        return f"Design({self.problem.utility.name} {self.value:.9g}, gap {gap}, {verdict}, {self.mechanism!r})"

    @property
    def gap(self) -> float | None:
        """``upper_bound - value``, absolute, in the utility's unit."""
        return None if self.upper_bound is None else self.upper_bound - self.value

    @property
    def certified(self) -> bool:
        """Whether the bound came from exact pricing and the gap is at most ``tol * max(|value|, 1e-3)``."""
        return self.gap is not None and within(self.gap, self.value, self.tol)

    @property
    def unit(self) -> str:
        """Unit of value, bound and gap."""
        return self.problem.utility.unit

    @property
    def leakage(self) -> float:
        """The greatest leakage over the exact set of priors, in nats, proved and rounded up."""
        return self.mechanism.leakage
