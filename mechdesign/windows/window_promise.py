"""What windows promise, and what a window must hold for it.

**Theorem.** Let ``Q(W)`` be the share of the population in a window W. The mechanism is epsilon-PML for every Q with
``Q(W) >= exp(-epsilon)`` for all its windows: a report (s, j) has ``max_x K / <Q, K> = max_x f(W|x) / Q(W) <= 1/Q(W)``.
Seeds, hash and alphabet do not matter. Q may be known, or its windows may be proved to be heavy enough by samples.

With a *floor* a report is, with probability a, a uniform window of a uniform seed. Then the mechanism is
epsilon-PML as before if the windows hold a share of ``(1 - a)/(exp(epsilon) - a)``, and it is also E-LDP, for everybody
and whatever the population is, with ``exp(E) = exp(epsilon)/a``.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar, NoReturn

from mechdesign.errors import InputError
from mechdesign.numerics.epsilon import Epsilon
from mechdesign.windows.threshold import MOST_WHOLE, SHARE_BITS, UNITS_PER_SAMPLE, arcs, least_count, least_units

ANY_SEED = 1 << 64
_SCALE = 1 << SHARE_BITS


@dataclass(frozen=True)
class WindowPromise:
    """The promise of a mechanism of windows.

    Attributes
    ----------
    epsilon : Epsilon
        The budget of pointwise maximal leakage.
    samples : int
        m, the samples that prove, or the population's size if its distribution is known.
    delta : Fraction or None
        The probability that the samples mislead; None if the distribution is known.
    any_seed : bool
        Whether the proof covers every 64-bit seed number, so that anybody may choose seeds after the sample.
    cap : Epsilon or None
        The budget of local differential privacy that holds as well; None for none.
    """

    epsilon: Epsilon
    samples: int
    delta: Fraction | None = None
    any_seed: bool = False
    cap: Epsilon | None = None

    lower: ClassVar[None] = None
    holds_every_prior: ClassVar[bool] = False
    asserts_samples: ClassVar[bool] = False

    def __post_init__(self) -> None:
        if self.any_seed and self.delta is None:
            raise InputError.needless_argument(
                "any_seed is True, and the distribution is known; any_seed is for samples that prove"
            )
        if self.cap is not None and self.cap.exp_down <= self.epsilon.exp_down:
            raise InputError.out_of_range(
                f"the cap is {self.cap}, not above epsilon = {self.epsilon}; give a cap above epsilon, or use the best "
                "mechanism of local differential privacy"
            )

    @property
    def secret(self) -> None:
        """None: it is about the strings themselves."""

    @property
    def floor(self) -> int:
        """The probability a of a uniform window, in units of 2^-60, rounded up; 0 without a cap."""
        if self.cap is None:
            return 0
        return math.ceil(self.epsilon.exp_down / self.cap.exp_down * _SCALE)

    @property
    def least_share(self) -> Fraction:
        """What share of the population a window must hold, rounded up to 60 bits."""
        a, b = Fraction(self.floor, _SCALE), self.epsilon.exp_down
        return Fraction(math.ceil((1 - a) / (b - a) * _SCALE), _SCALE)

    @property
    def uncertainty(self) -> NoReturn:
        """No set of priors over a list of labels: windows are for strings that nobody has listed."""
        raise InputError.set_not_accepted(
            "the mechanism reports windows, and this needs priors over a list of labels; give a mechanism of a list"
        )

    def in_words(self) -> str:
        """Return the promise in words."""
        cap = "" if self.cap is None else f", and LDP with epsilon = {self.cap} for everybody"
        known = "a known population" if self.delta is None else f"the population of {self.samples:,} samples"
        return f"PML with epsilon = {self.epsilon} for any strings of {known}{cap}"

    def units(self, *, in_part: bool) -> int:
        """Return in how many units a sample is counted: 2^20 where samples may count in part and must prove."""
        return UNITS_PER_SAMPLE if in_part and self.delta is not None else 1

    def threshold(self, seeds: int, buckets: int, *, in_part: bool) -> int | None:
        """Return the least number of units that a window must hold; None if even all samples do not do.

        Parameters
        ----------
        seeds, buckets : int
            M and q, over which the union bound goes.
        in_part : bool
            Whether a sample may lie in a window in part, as those of heavy strings do.

        Raises
        ------
        InputError
            For more than 2^62 units.
        """
        if (whole := self.samples * self.units(in_part=in_part)) > MOST_WHOLE:
            raise InputError.too_many_given(
                f"{self.samples} samples that count in part have {whole} units; accepted: at most 2^62, so that there "
                "are no more than 2^42 samples beside heavy strings"
            )
        share = self.least_share
        if self.delta is None:
            found = math.ceil(self.samples * share)
            return found if found <= self.samples else None
        if share >= 1:
            return None
        level = self.delta / arcs(ANY_SEED if self.any_seed else seeds, buckets)
        return (least_units if in_part else least_count)(self.samples, share, level)
