"""Laplace noise on the counts of a histogram, under pointwise maximal leakage (HP).

A histogram counts n records in k bins, and each count gets its own Laplace noise of scale b. The secret is one record,
the leakage is what the k noisy counts together tell of it, and n is public. The records are independent (they need not
have one distribution), and each falls into every bin with a probability of at least alpha:

    epsilon(b) = 2/b - log(1 - alpha + alpha exp(2/b)),

for every k and n (HP Theorem 4). A record of the rarest bin leaks that much where its noisy count is n or more and
all others are 0 or less. alpha = 0 is bounded differential privacy (one record is replaced): 2/b.

The analysis is for real numbers: floats, which a program adds, have gaps that may tell more.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, ClassVar, Self

import numpy as np

from mechdesign.additive_noise import laplace as binary
from mechdesign.data.checks import check_kind, checked_categories, checked_scale
from mechdesign.display.numbers import text_near
from mechdesign.errors import InputError, shorten
from mechdesign.histogram.noise import laplace_noise
from mechdesign.histogram.record import Noise
from mechdesign.histogram.release_plan import ONE_RELEASE, Integers, Noisy, Option, Plan, Usage
from mechdesign.mechanism.sampler import RandomBytes
from mechdesign.numerics.epsilon import Epsilon
from mechdesign.numerics.exact import rational
from mechdesign.numerics.outward import float_above
from mechdesign.uncertainty.l1_ball import L1Ball

_HALF = Fraction(1, 2)


def least_bin_probability(ball: L1Ball) -> Fraction:
    """Return the least probability that any bin has under any prior of an l1 ball: the alpha of HP.

    ``alpha = max(0, min_j P_j - radius/2)``: half the radius is what one bin can lose, for others gain the other half.
    It is 0, and the guarantee that of differential privacy, where the rarest bin was never seen or the radius is
    too large for it.

    The ball must not come from the records that are to be released: the noise would depend on them. Use public
    counts or an earlier sample. With ``L1Ball.from_counts(counts, delta=delta)`` the guarantee holds with probability
    ``1 - delta`` over that sample.

    Parameters
    ----------
    ball : L1Ball
        The priors: distributions of a record over the bins.

    Returns
    -------
    Fraction
        In [0, 1/2].

    Raises
    ------
    InputError
        If it is not an `L1Ball`.

    Examples
    --------
    >>> least_bin_probability(L1Ball([0.5, 0.3, 0.2], radius=0.1))
    Fraction(3, 20)
    >>> ball = L1Ball.from_counts({"never": 40_000, "former": 8_000, "current": 2_000}, delta=1e-9)
    >>> round(float(least_bin_probability(ball)), 6)
    0.028593
    """
    check_kind(ball, L1Ball, "the ball", "an L1Ball, such as L1Ball.from_counts(counts, delta=...)")
    return max(Fraction(0), min(ball.center) - ball.half_radius)


def laplace_epsilon(scale: object, alpha: object) -> float:
    """Return the leakage of any record to a histogram with Laplace noise, in nats (HP Theorem 4, first bound).

    ``epsilon(b) = 2/b - log(1 - alpha + alpha exp(2/b))``. It is the supremum over all outcomes, all records and all
    product distributions that give each bin at least alpha, and attained as soon as one record has a bin of
    probability alpha.

    Parameters
    ----------
    scale : number or str
        Scale b of the noise of each count, above 0; its density is ``exp(-|t|/b) / (2 b)``.
    alpha : number or str
        Lower bound for the probability of every bin, for every record, in [0, 1/2]; k bins allow 1/k at most. 0 gives
        differential privacy. See `least_bin_probability`.

    Returns
    -------
    float
        Rounded up; infinite where it is too large for a float.

    Raises
    ------
    InputError
        For a value outside these ranges.

    Examples
    --------
    >>> round(laplace_epsilon(2, 0.1), 6), laplace_epsilon(2, 0)
    (0.841435, 1.0)
    """
    return binary.laplace_epsilon(scale, *_as_binary(alpha))


def laplace_scale(epsilon: object, alpha: object) -> float:
    """Return the least scale of Laplace noise for which a histogram leaks at most epsilon of any record (HP, solved).

    ``b = 2 / log((1 - alpha) / (exp(-epsilon) - alpha))``. From ``epsilon = log(1/alpha)`` on it is 0, no noise at
    all: not even the bin of a record itself leaks more than ``log(1/alpha)``. The exact counts are then epsilon-PML for
    every record, but not differentially private.

    Parameters
    ----------
    epsilon : number or str
        Leakage to reach, in nats: a decimal above 0, at most 700, or ``"log(9/8)"``.
    alpha : number or str
        Lower bound for the probability of every bin, for every record, in [0, 1/2]. 0 gives ``2/epsilon``.

    Returns
    -------
    float
        Rounded up, so that `laplace_epsilon` of it does not exceed epsilon; 0.0 where no noise is needed.

    Raises
    ------
    InputError
        For a value outside these ranges, and for an epsilon so small that its scale is above all floats.

    Examples
    --------
    >>> round(laplace_scale(0.5, 0.1), 6), laplace_scale(0.5, 0), laplace_scale(2.4, 0.1)
    (3.479411, 4.0, 0.0)
    """
    return binary.laplace_scale(epsilon, *_as_binary(alpha))


def _as_binary(alpha: object) -> tuple[Fraction, Fraction]:
    """Return estimate and radius of a binary attribute whose rarer value may have just the probability alpha.

    The closed form is the same: two inputs, whose noisy reports differ by a factor of exp(2/b).
    """
    return _HALF, 1 - 2 * _checked_alpha(alpha)


def _checked_alpha(value: object) -> Fraction:
    alpha = rational(value, "alpha")
    if not 0 <= alpha <= _HALF:
        raise InputError.out_of_range(
            f"alpha is {shorten(value)}; accepted: a lower bound for the probability of each bin, from 0 (any "
            "distribution) to 0.5"
        )
    return alpha


def laplace_epsilon_quadratic(scale: object, alpha: object) -> float:
    """Return the looser bound ``2 (1 - alpha) / b + 2 alpha^2 / b^2``, in nats (HP Theorem 4, second bound).

    For comparison only, and rounded up. It shows that the leakage falls by a factor of about ``1 - alpha``; for
    b < alpha it is worse than `laplace_dp_epsilon`.

    Parameters
    ----------
    scale, alpha : number or str
        As for `laplace_epsilon`.

    Raises
    ------
    InputError
        As for `laplace_epsilon`.

    Examples
    --------
    >>> laplace_epsilon_quadratic(2, 0.5), round(laplace_epsilon(2, 0.5), 6)
    (0.625, 0.379885)
    """
    b, exact = checked_scale(scale).low, _checked_alpha(alpha)
    return float_above(2 * (1 - exact) / b + 2 * (exact / b) ** 2)


def laplace_epsilon_composed(scale: object, alpha: object, bins: object) -> float:
    """Return the bound that adds up counts, ``(k - 1) ((1 - alpha)/b + alpha^2/(2 b^2))``, in nats, rounded up (HP).

    For comparison only: it grows with the number k of bins, and `laplace_epsilon` does not. It is a bound for k >= 3.
    For k = 2 it bounds the leakage of one noisy count, and both together leak more (about twice as much).

    Parameters
    ----------
    scale, alpha : number or str
        As for `laplace_epsilon`; alpha is at most 1/k.
    bins : int
        Number k of bins, at least 3.

    Raises
    ------
    InputError
        For a value outside these ranges.

    Examples
    --------
    >>> laplace_epsilon_composed(2, "1/10", 10) > 4 * laplace_epsilon(2, "1/10")
    True
    """
    b, exact, k = checked_scale(scale).low, _checked_alpha(alpha), checked_categories(bins)
    if k == 2:
        raise InputError.out_of_range(
            "bins is 2, for which the sum bounds the leakage of one count, not of both; accepted: 3 or more"
        )
    if exact * k > 1:
        raise InputError.out_of_range(
            f"alpha is {text_near(exact)}; accepted: at most 1/{k}, as {k} bins have probability 1"
        )
    return float_above((k - 1) * ((1 - exact) / b + (exact / b) ** 2 / 2))


def laplace_dp_epsilon(scale: object) -> float:
    """Return ``2/b``, the epsilon of bounded differential privacy (one record is replaced), in nats (HP Definition 3).

    It is `laplace_epsilon` for alpha = 0, rounded up.

    Parameters
    ----------
    scale : number or str
        Scale b of the noise of each count, above 0.

    Raises
    ------
    InputError
        For a scale that is not above 0.

    Examples
    --------
    >>> laplace_dp_epsilon(4)
    0.5
    """
    return laplace_epsilon(scale, 0)


@dataclass(frozen=True, kw_only=True)
class LaplacePlan(Plan):
    """A plan of a histogram with Laplace noise on every bin (HP Theorem 4).

    Attributes
    ----------
    scale, alpha : Fraction
        Scale of the noise, and the least probability of a bin.
    estimated : bool
        Whether delta is the probability that alpha, estimated from samples, is too large.
    known_bins : tuple of str or None
        The bins of the ball that alpha comes from; a histogram must have the same.

    Examples
    --------
    >>> plan = LaplacePlan.of(epsilon=1, alpha="0.1")
    >>> round(float(plan.scale), 3), plan.noise
    (1.65, 'continuous')
    """

    name: ClassVar[str] = "laplace"
    drawn: ClassVar[Noise] = "continuous"
    neighbours: ClassVar[str] = "one record falls into another bin; the number of records is public"
    not_protected: ClassVar[tuple[str, ...]] = (
        "the set of bins and the number of records, which are taken as public",
        "a person with more than one record",
        "what the records of others tell of a record, where records depend on each other",
        ONE_RELEASE,
    )
    meanings: ClassVar[Mapping[str, str]] = {
        "scale": "of the Laplace noise in each bin",
        "alpha": "least probability of a bin, for every record",
    }
    usage: ClassVar[Usage] = Usage(
        choice="few public bins, all released; float noise; PML with a prior",
        summary="All of a few public bins; Laplace noise; PML.",
        title="Release all bins of a histogram with Laplace noise.",
        examples=(
            "mechdesign histogram laplace counts.csv --epsilon 1 --alpha 0.05 \\",
            "                             --allow-float-noise --whole -o released.csv",
            "mechdesign histogram laplace --plan --epsilon 1 --delta 1e-9 \\",
            "                             --estimate last-year.csv",
        ),
        description="Bounds what the histogram tells about any one record (PML), if records are independent and each "
        "falls into every bin with a probability of at least alpha. alpha = 0 is differential privacy, where one "
        "record is replaced. The bins and the number of records count as public: list every bin, empty ones with a "
        "count of 0. With --data the bins are the values that occur in the column, so these must not be secret.",
        options=(
            Option(("--epsilon",), 'In nats: a decimal, or "log(3)".', metavar="E"),
            Option(("--scale",), "Scale of the noise, instead of --epsilon, which is then computed.", metavar="B"),
            Option(
                ("--alpha",),
                "Each record falls into every bin with at least this probability. [default: 0]",
                metavar="A",
            ),
            Option(
                ("--estimate",),
                "Instead of --alpha: CSV of counts of the same bins, from other records than those released.",
                metavar="FILE",
            ),
            Option(("--delta",), "With --estimate: probability in [0, 1) that the guarantee fails.", metavar="D"),
        ),
        draws_floats=True,
    )

    needed: ClassVar[tuple[str, ...]] = ("scale", "alpha")

    scale: Fraction
    alpha: Fraction
    estimated: bool = False
    known_bins: tuple[str, ...] | None = None

    @classmethod
    def of(cls, *, epsilon: object = None, alpha: object = 0, scale: object = None) -> Self:
        """Return the plan for an epsilon or a scale.

        Parameters
        ----------
        epsilon : number or str, optional
            In nats: the least scale that keeps it is taken.
        alpha : number, str or L1Ball
            Lower bound on the probability of every bin, for each record. A ball from *other* records than those
            released gives its `least_bin_probability`, and the guarantee fails with the probability that the prior is
            outside; the histogram must have the bins of the ball. 0, the default, is differential privacy.
        scale : number or str, optional
            Instead of epsilon, which then follows from it.

        Raises
        ------
        InputError
            Unless just one of epsilon and scale is given, and for values out of range.
        """
        if (epsilon is None) == (scale is None):
            which = "neither epsilon nor scale is" if epsilon is None else "both epsilon and scale are"
            raise InputError.conflicting_arguments(f"{which} given; give one, and the other follows")
        ball: L1Ball | None = getattr(alpha, "l1_ball", None)
        if ball is not None and ball.asserts_samples:
            raise InputError.set_not_accepted(
                f"alpha is {shorten(ball)}, whose samples are asserted, not shown, which no record says; give a ball "
                "from counts, or alpha itself"
            )
        least = rational(alpha, "alpha") if ball is None else _short_below(least_bin_probability(ball))
        if scale is None:
            scale = laplace_scale(epsilon, least)
        else:
            epsilon = laplace_epsilon(scale, least)
        delta = None if ball is None or not least or ball.evidence is None else ball.evidence.delta
        return cls(
            epsilon=Epsilon.of(epsilon),
            delta=delta or Fraction(0),
            analysis="theorem-4",
            scale=rational(scale, "the scale"),
            alpha=least,
            estimated=delta is not None,
            known_bins=None if ball is None else ball.labels,
        )

    @classmethod
    def of_record(cls, record: Mapping[str, Any]) -> Self:
        """Return the plan of the noise that a record names, with the record's epsilon if its scale keeps it.

        Delta, the probability that the samples behind alpha misled, is that of the record, which lacks the samples.
        """
        scale, delta = rational(record["scale"], "the scale"), rational(record["delta"], "delta")
        found = cls.of(epsilon=record["epsilon"], alpha=record["alpha"])
        if found.scale > scale:
            found = cls.of(scale=scale, alpha=record["alpha"])
        return replace(found, scale=scale, delta=delta, estimated=delta > 0)

    @property
    def notion(self) -> str:
        """What epsilon and delta refer to."""
        if not self.alpha:
            return "differential privacy, which is PML of each record for every product distribution"
        found = "PML of each record, for every product distribution that gives every bin at least probability alpha"
        return f"{found}; delta is the probability that the samples behind alpha misled" if self.estimated else found

    @property
    def noise(self) -> Noise:
        """How the noise is drawn: not at all where epsilon is so large that the exact counts keep it."""
        return self.drawn if self.scale else "none"

    @property
    def source(self) -> str:
        """Where the analysis is shown."""
        return "HP Theorem 4"

    @property
    def reading(self) -> str:
        """How to read the released values."""
        if self.noise == "none":
            return "each is an exact count"
        deviation = text_near(self.scale * Fraction(math.sqrt(2)), 4)
        return f"each is a count plus noise of its own, of standard deviation {deviation}"

    @property
    def parameters(self) -> dict[str, Any]:
        """The parameters of the mechanism, by their names in the record."""
        return {"scale": self.scale, "alpha": self.alpha}

    @property
    def bins(self) -> tuple[str, ...] | None:
        """The bins that a histogram must have: those of the ball that alpha comes from."""
        return self.known_bins

    def noisy(self, counts: Integers, source: RandomBytes) -> Noisy:
        """Draw the noise of one release, as `Plan.noisy`."""
        if self.alpha * counts.size > 1:
            raise InputError.out_of_range(
                f"alpha is {text_near(self.alpha)} for {counts.size} bins, whose probabilities would sum to more "
                "than 1; give at most 1 / (number of bins)"
            )
        return Noisy(np.arange(counts.size), counts + laplace_noise(float_above(self.scale), counts.size, source))


def _short_below(probability: Fraction) -> Fraction:
    """Return a probability as a decimal of 12 places that is not above it."""
    return Fraction(math.floor(probability * 10**12), 10**12)
