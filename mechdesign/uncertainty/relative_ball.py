"""Sets that bound the probability of every event from below by a convex function of its estimated mass."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from typing import Any, ClassVar

from mechdesign.display.numbers import text_near
from mechdesign.errors import InputError, shorten
from mechdesign.numerics.arrays import entries
from mechdesign.numerics.epsilon import Epsilon
from mechdesign.numerics.exact import rational
from mechdesign.uncertainty.ball import Ball
from mechdesign.uncertainty.event_limits import EventLimits
from mechdesign.uncertainty.evidence import Evidence, counted
from mechdesign.uncertainty.l1_ball import L1Ball
from mechdesign.uncertainty.limits import evidence_level
from mechdesign.uncertainty.pieces import Piece, PieceSet
from mechdesign.uncertainty.prior_set import Numbers, labelled_center

_LARGEST = 10**6  # alpha and gamma; from gamma = alpha on every prior is in the set
_MOST_MASSES = 100_000  # of all pieces of an event set


@dataclass(frozen=True)
class RelativeBall(Ball, PieceSet):
    """All priors Q with ``sum_i (alpha P_i - Q_i)^+ <= gamma`` around an estimate P.

    ``f(S) = max(0, alpha P(S) - gamma)`` for every S but the set of all categories. alpha = 1 is the l1 ball of radius
    ``2 gamma``; gamma = 0 contamination, ``Q >= alpha P``; gamma = alpha - 1 is ``Q <= alpha P``.

    Parameters
    ----------
    center : sequence of numbers, pandas Series, or mapping from label to number
        The estimated prior P.
    alpha : number or str
        The factor of the estimate, above 0.
    gamma : number or str
        The mass that may be missing: at least 0, and at least alpha - 1.
    labels : sequence of str or int, optional
        One for each category. By default those of the center, or else ``x1`` to ``xN``.

    Raises
    ------
    InputError
        For other values, and a category that has probability 0 under every prior.

    Examples
    --------
    >>> ball = RelativeBall(["0.5", "0.3", "0.2"], "0.9", "0.05")
    >>> ball.exact_worst_mean([3, 0, 1])
    (Fraction(69, 50), (Fraction(2, 5), Fraction(21, 50), Fraction(9, 50)))
    """

    kind: ClassVar[str] = "relative-ball"
    parameters: ClassVar[dict[str, str]] = {"alpha": "number", "gamma": "number"}
    chosen: ClassVar[tuple[str, ...]] = ("alpha",)
    alpha: Fraction
    gamma: Fraction
    center: tuple[Fraction, ...]
    labels: tuple[str, ...]
    evidence: Evidence | None = field(default=None, init=False)

    def __init__(self, center: Numbers, alpha: object, gamma: object, labels: Iterable[object] | None = None) -> None:
        prior, names = labelled_center(center, labels)
        factor, missing = _checked(alpha, gamma)
        self._hold(prior, names, alpha=factor, gamma=missing)

    @classmethod
    def from_counts(
        cls,
        counts: Mapping[Any, Any] | Sequence[object],
        delta: object,
        *,
        samples: object = None,
        alpha: object = None,
        epsilon: object = 1,
    ) -> RelativeBall:
        """Return the ball that holds the true prior with probability 1 - delta, for any number of categories.

        ``gamma = max over k of alpha k/n - g(k)``, where g(k) is the lower limit of Clopper and Pearson of an event
        that was seen k times, all events at once. It holds for every alpha with the same delta, so that alpha may be
        chosen after looking at the data: the best design wins. The design for the best alpha is nearly that for the
        `EventSet`, except at a small epsilon with one heavy category, where alpha = 1, the l1 ball, may be better.

        Parameters
        ----------
        counts, delta, samples
            As for `EventSet.from_counts`.
        alpha : number or str, optional
            The factor of the estimate; by default the one that suits epsilon.
        epsilon : number or str
            That of the design: alpha is then the slope of g where g is exp(-epsilon).

        Raises
        ------
        InputError
            For values that are not accepted, or more than 200,000 samples of more than 16 categories.

        Examples
        --------
        >>> ball = RelativeBall.from_counts({"a": 40, "b": 30, "c": 20, "d": 10}, delta=1e-3, alpha="0.9")
        >>> ball.alpha, round(float(ball.gamma), 9)
        (Fraction(9, 10), 0.137569977)
        """
        labels, evidence = counted(counts, delta, samples)
        return cls.of_evidence(labels, evidence, alpha=alpha, epsilon=epsilon)

    @classmethod
    def _derived(cls, evidence: Evidence, alpha: object = None, epsilon: object = 1) -> dict[str, Any]:
        """Return alpha, by default the one that suits epsilon, and the least gamma for it."""
        level = 1 / float(Epsilon.of(epsilon).exp_down)
        factor = None if alpha is None else _checked_alpha(alpha)
        limits = EventLimits.of(evidence.counts, evidence.samples, evidence_level(evidence))
        if factor is None:
            factor = limits.slope_at(level)
        return {"alpha": factor, "gamma": limits.least_gamma(factor)}

    def excess_over(self, evidence: Evidence) -> str:
        """Return in words that the line is not below the limits of all events; empty if it is."""
        limits = EventLimits.of(evidence.counts, evidence.samples, evidence_level(evidence))
        if limits.allows(self.line):
            return ""
        return f"gamma {float(self.gamma):.12g} is below {float(limits.least_gamma(self.alpha)):.12g}"

    def __repr__(self) -> str:
        return f"RelativeBall({self.size} categories, alpha={float(self.alpha):.6g}, gamma={float(self.gamma):.6g})"

    @property
    def line(self) -> tuple[Fraction, Fraction]:
        """The numbers alpha and gamma."""
        return self.alpha, self.gamma

    def around(self, center: Sequence[Fraction]) -> RelativeBall:
        """Return the ball of the same alpha and gamma around another estimate."""
        return RelativeBall(center, self.alpha, self.gamma)

    @property
    def l1_ball(self) -> L1Ball | None:
        """The l1 ball that it is where alpha is 1, or every prior is in it."""
        if self.alpha != 1:
            return super().l1_ball
        return L1Ball(self.center, 2 * min(self.gamma, Fraction(1)), self.labels)

    @cached_property
    def pieces(self) -> tuple[Piece, ...]:
        """The only piece."""
        return (_piece(self.center, self.alpha, self.gamma),)

    def in_words(self) -> str:
        """Return the priors of the set in words."""
        return f"every prior {self._measure_in_words()}"

    def one_in_words(self) -> str:
        """Return one prior of the set in words."""
        return f"a prior {self._measure_in_words()}"

    def _measure_in_words(self) -> str:
        alpha, gamma = float(self.alpha), float(self.gamma)
        return f"that gives each event at least {alpha:.6g} times its estimate less {gamma:.6g}"


@dataclass(frozen=True)
class EventSet(PieceSet):
    """All priors that give every event a mass that is at least a convex function of its estimate.

    ``f(S) = max(0, max_j (alpha_j P(S) - gamma_j))`` for every S but the set of all categories: the intersection of
    relative balls around one estimate. `from_counts` takes as many as make the limit of every event that of Clopper and
    Pearson, or nearly so. Beyond 16 categories designs for several pieces are rarely certified: use
    `RelativeBall.from_counts`, whose one piece is close to all of them.

    Parameters
    ----------
    center : sequence of numbers, pandas Series, or mapping from label to number
        The estimated prior P.
    alphas, gammas : sequences of k numbers
        As alpha and gamma of `RelativeBall`.
    labels : sequence of str or int, optional
        One for each category. By default those of the center, or else ``x1`` to ``xN``.

    Raises
    ------
    InputError
        For values that `RelativeBall` refuses, or lists that are empty or differ in length.

    Examples
    --------
    >>> events = EventSet(["0.5", "0.3", "0.2"], ["1", "0.8"], ["0.08", "0.02"])
    >>> events.exact_worst_mean([3, 0, 1])
    (Fraction(73, 50), (Fraction(21, 50), Fraction(19, 50), Fraction(1, 5)))
    """

    kind: ClassVar[str] = "event-set"
    parameters: ClassVar[dict[str, str]] = {"alphas": "vector", "gammas": "vector"}
    alphas: tuple[Fraction, ...]
    gammas: tuple[Fraction, ...]
    center: tuple[Fraction, ...]
    labels: tuple[str, ...]
    evidence: Evidence | None = field(default=None, init=False)

    def __init__(
        self,
        center: Numbers,
        alphas: Sequence[object],
        gammas: Sequence[object],
        labels: Iterable[object] | None = None,
    ) -> None:
        prior, names = labelled_center(center, labels)
        factors = entries(alphas, "the list of alphas", "a list of numbers")
        missing = entries(gammas, "the list of gammas", "a list of numbers")
        if len(factors) != len(missing) or not len(factors):
            raise InputError.wrong_size(
                f"there are {len(factors)} alphas and {len(missing)} gammas; give as many of each, 1 or more"
            )
        if len(factors) * len(prior) > _MOST_MASSES:
            raise InputError.too_many_given(
                f"{len(factors)} alphas for {len(prior)} categories make {len(factors) * len(prior)} masses; "
                f"accepted: at most {_MOST_MASSES}"
            )
        pairs = [_checked(alpha, gamma) for alpha, gamma in zip(factors, missing, strict=True)]
        self._hold(prior, names, alphas=tuple(alpha for alpha, _ in pairs), gammas=tuple(gamma for _, gamma in pairs))

    @classmethod
    def _derived(cls, evidence: Evidence) -> dict[str, Any]:
        """Return the lines below the limits of Clopper and Pearson of all events."""
        lines = EventLimits.of(evidence.counts, evidence.samples, evidence_level(evidence)).lines()
        # Without any line, as at delta = 0, the set holds every prior.
        lines = lines or [(Fraction(1), Fraction(1))]
        return {"alphas": [alpha for alpha, _ in lines], "gammas": [gamma for _, gamma in lines]}

    def excess_over(self, evidence: Evidence) -> str:
        """Return in words which line is not below the limits of all events; empty if all are."""
        limits = EventLimits.of(evidence.counts, evidence.samples, evidence_level(evidence))
        lines = list(zip(self.alphas, self.gammas, strict=True))
        for alpha, gamma in [] if limits.allows(*lines) else lines:
            if not limits.allows((alpha, gamma)):
                return (
                    f"gamma {float(gamma):.12g} of alpha {float(alpha):.6g} is below "
                    f"{float(limits.least_gamma(alpha)):.12g}"
                )
        return ""

    def __repr__(self) -> str:
        return f"EventSet({self.size} categories, {len(self.alphas)} pieces)"

    @property
    def ball(self) -> Ball | None:
        """The relative ball that it is where there is one piece, and the l1 ball where every prior is in it."""
        if len(self.alphas) > 1:
            return super().ball
        return RelativeBall(self.center, self.alphas[0], self.gammas[0], self.labels).ball

    @cached_property
    def pieces(self) -> tuple[Piece, ...]:
        """A piece for each alpha."""
        pairs = zip(self.alphas, self.gammas, strict=True)
        return tuple(_piece(self.center, alpha, gamma) for alpha, gamma in pairs)

    def in_words(self) -> str:
        """Return the priors of the set in words."""
        return f"every prior that gives each event on {self.size} categories at least its lower limit"

    def one_in_words(self) -> str:
        """Return one prior of the set in words."""
        return f"a prior that gives each event on {self.size} categories at least its lower limit"


def _piece(center: tuple[Fraction, ...], alpha: Fraction, gamma: Fraction) -> Piece:
    return Piece(tuple(alpha * p for p in center), gamma)


def _checked_alpha(alpha: object) -> Fraction:
    factor = rational(alpha, "alpha")
    if not 0 < factor <= _LARGEST:
        raise InputError.out_of_range(f"alpha is {shorten(alpha)}; accepted: above 0, at most {_LARGEST}")
    return factor


def _checked(alpha: object, gamma: object) -> tuple[Fraction, Fraction]:
    """Return alpha and gamma as fractions, after checking that the estimate itself satisfies their condition."""
    factor, missing = _checked_alpha(alpha), rational(gamma, "gamma")
    least = max(Fraction(0), factor - 1)
    if missing > _LARGEST:
        raise InputError.out_of_range(f"gamma is {shorten(gamma)}; accepted: at most {_LARGEST}")
    if missing < least:
        raise InputError.out_of_range(
            f"gamma is {shorten(gamma)} for alpha {shorten(alpha)}; accepted: at least {text_near(least)}"
        )
    return factor, missing
