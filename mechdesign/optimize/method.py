"""What a method of design is: one way from a problem to a mechanism with a bound."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from mechdesign.numerics.arrays import Floats
from mechdesign.optimize.orbits import Orbits
from mechdesign.optimize.pricing.price import Price
from mechdesign.optimize.ways import Way
from mechdesign.problem import DesignProblem

if TYPE_CHECKING:
    from mechdesign.optimize.certificate import Certificate
    from mechdesign.optimize.estimation.form_certificate import ErrorCertificate

AnyCertificate: TypeAlias = "Certificate | ErrorCertificate"


@dataclass(frozen=True, eq=False)
class Solution:
    """A mechanism and a dual vector, both up to a solver's errors.

    Attributes
    ----------
    matrix : array, shape (N, M)
        The mechanism; with bins, one row for each of them.
    multipliers : array, shape (N,)
        lambda, dual to the row sums.
    columns : int
        Rays listed, guesses, or columns held by the last linear program.
    iterations : int
        Linear programs solved.
    stopped : str
        Why the method ended early: ``"time limit"``, ``"interrupted"``, ``"solver failed"``, or ``"stalled"``
        (no column was found that improves the value, though the bound is above it). Empty if it did not end early.
    unrestricted : float or None
        The objective of the mechanism that was found before outputs were limited; None if they were not.
    of_queries : array or None
        A mechanism of few outputs with columns in the span of the queries, which rounding is to leave there.
    bins : Orbits, optional
        The symbols that get the same row; None where every symbol has its own.
    price : Price, optional
        What the pricing of the problem returned for the multipliers, where they were priced.
    """

    matrix: Floats
    multipliers: Floats
    columns: int
    iterations: int
    stopped: str = ""
    unrestricted: float | None = None
    of_queries: Floats | None = None
    bins: Orbits | None = None
    price: Price | None = None


@dataclass(frozen=True)
class DesignOptions:
    """What `design` is asked for beside the problem: how much work a method does, and what the mechanism may have.

    Attributes
    ----------
    tol : float
        The relative gap at which to stop.
    deadline : float or None
        When to stop, as a time of `time.monotonic`.
    progress : callable
        Called with one line whenever a longer step begins.
    outputs, merge
        As for `mechdesign.design`.
    """

    tol: float
    deadline: float | None
    progress: Callable[[str], None]
    outputs: int | None = None
    merge: bool | None = None


class Answer(NamedTuple):
    """What `mechdesign.design` rounds and proves.

    Attributes
    ----------
    solution : Solution
        The mechanism and the dual vector.
    words : str
        How it was found, for people.
    certified : callable
        Computes the bound that the dual vector proves.
    """

    solution: Solution
    words: str
    certified: Callable[[], AnyCertificate]


Run: TypeAlias = Callable[[DesignOptions], Answer]


@dataclass(frozen=True)
class Method(Way[DesignProblem, Run]):
    """One way from a problem to a mechanism with a bound; what it offers solves the problem.

    Attributes
    ----------
    does : str
        What it does, in one sentence without a subject.
    closes : bool
        Whether the bound comes within the tolerance of the value for every problem that it covers, if there is time.
        Otherwise the design may end with a gap, which is reported.
    """

    does: str
    closes: bool


def always(_: DesignProblem) -> bool:
    """Return True: where the method covers a problem, it is the quick one."""
    return True
