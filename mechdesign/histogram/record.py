"""What a release of a histogram promises: inert data, with a JSON form."""

from __future__ import annotations

import json
import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Literal

from mechdesign.numerics.epsilon import Epsilon
from mechdesign.numerics.exact import rational, short_text

Noise = Literal["continuous", "discrete", "none"]
RATIONALS = ("sigma", "tau", "value_sigma", "scale", "alpha")
"""The parameters that are rationals, in the order of the record."""
SCHEMA = "mechdesign/histogram-record/1"


@dataclass(frozen=True)
class ReleaseRecord:
    """The guarantee of a released histogram, and what it rests on.

    `Plan.record` and `release` make one. It holds nothing that depends on the data, so that it may be published beside
    the counts.

    Attributes
    ----------
    mechanism : str
        ``"laplace"``, ``"gshm"``, ``"csh"``, ``"top-k"`` or ``"discrete"``.
    notion : str
        What epsilon and delta refer to, in words.
    epsilon : Epsilon
        In nats.
    delta : float
        Not below the one that the analysis proves.
    neighbours : str
        Which data sets count as neighbours.
    noise : str
        ``"continuous"`` (floating point numbers, while the analysis is for real ones), ``"discrete"`` or ``"none"``.
    analysis, source : str
        How epsilon and delta follow from the noise, and where that is shown.
    not_protected : tuple of str
        What the guarantee does not cover.
    k : int or None
        Bound on the counters: of a user for ``"gshm"``, above 0 for ``"csh"`` and ``"discrete"``, kept for ``"top-k"``.
    sigma, tau : Fraction or None
        Standard deviation of a counter's own Gaussian noise (never the total), and the threshold: a count is released
        where its noisy value is above ``1 + tau``.
    value_sigma : Fraction or None
        Standard deviation of the noise with which the (k+1)-th largest count is released too; None where it is not.
    scale, alpha : Fraction or None
        Scale of Laplace noise, and the least probability of a bin.
    randomness, post_processing : str or None
        Where the noise came from, and what was done to the counts; None for a plan that has drawn nothing.
    reading : str or None
        How to read the released values: what each of them is, and how far off.
    """

    mechanism: str
    notion: str
    epsilon: Epsilon
    delta: float
    neighbours: str
    noise: Noise
    analysis: str
    source: str
    not_protected: tuple[str, ...]
    k: int | None = None
    sigma: Fraction | None = None
    tau: Fraction | None = None
    value_sigma: Fraction | None = None
    scale: Fraction | None = None
    alpha: Fraction | None = None
    randomness: str | None = None
    post_processing: str | None = None
    reading: str | None = None

    def as_dict(self) -> dict[str, Any]:
        """Return the record as JSON values.

        Epsilon and the parameters of the noise are text (a decimal, a ratio, or ``"log(9/8)"``), so that they stay
        exact.
        """
        given = ((name, _text(getattr(self, name))) for name in RATIONALS)
        return {
            "mechanism": self.mechanism,
            "notion": self.notion,
            "epsilon": self.epsilon.text,
            "delta": self.delta,
            "neighbours": self.neighbours,
            **({} if self.k is None else {"k": self.k}),
            **{name: text for name, text in given if text is not None},
            "noise": self.noise,
            "noise_meaning": NOISE_MEANS[self.noise],
            "randomness": self.randomness,
            "analysis": self.analysis,
            "source": self.source,
            "post_processing": self.post_processing,
            "reading": self.reading,
            "not_protected": list(self.not_protected),
        }

    def to_json(self, **released: float) -> str:
        """Return the record as a JSON object of the schema ``mechdesign/histogram-record/1``.

        Parameters
        ----------
        released : float
            Released values that stand beside the counts, by name.
        """
        shown = {"schema": SCHEMA, **self.as_dict(), **released}
        return json.dumps(shown, ensure_ascii=False, allow_nan=False, indent=1) + "\n"


NOISE_MEANS = {
    "continuous": "floating point numbers; the analysis is for real numbers, and does not cover what the last bits of "
    "a float may tell",
    "discrete": "drawn exactly from the distribution that the analysis is about",
    "none": "epsilon is so large that the exact counts keep it",
}


def float_of_delta(delta: Fraction) -> float:
    """Return a float that says at least delta: as the decimal that it prints, which is how floats are read here.

    Examples
    --------
    >>> float_of_delta(Fraction(1, 10**6)), float_of_delta(Fraction(1, 3))
    (1e-06, 0.33333333333333337)
    """
    found = float(delta)
    return found if rational(found, "delta") >= delta else math.nextafter(found, math.inf)


def _text(value: Fraction | None) -> str | None:
    return None if value is None else short_text(value) if value.denominator > 1 else str(value)
