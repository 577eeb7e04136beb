"""What every plan of a release has: a guarantee, noise that is drawn for it, and words for both.

A plan is made before any data are touched. A mechanism is one module with a class of plans, and one line in
`mechdesign.histogram.registry`: `release`, the record and the command line follow from what the class declares.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from mechdesign.display.numbers import text_near
from mechdesign.errors import InputError
from mechdesign.histogram.noise import LARGEST_SCALE
from mechdesign.histogram.record import Noise, ReleaseRecord, float_of_delta
from mechdesign.mechanism.sampler import RandomBytes
from mechdesign.numerics.arrays import Floats
from mechdesign.numerics.epsilon import Epsilon

Integers = NDArray[np.int64]

ONE_RELEASE = "more than one release: every release draws anew, and what several tell adds up"


@dataclass(frozen=True)
class Noisy:
    """Noisy counts, before they are put in order.

    Attributes
    ----------
    kept : int array
        The indices of the counts that are released.
    counts : float array
        Their noisy values.
    subtracted : float or None
        The noisy value of the count that was subtracted from all others, if it is released.
    """

    kept: Integers
    counts: Floats
    subtracted: float | None = None


@dataclass(frozen=True)
class Option:
    """An option of a mechanism on the command line, which gives one keyword of its plan.

    Attributes
    ----------
    names : tuple of str
        Such as ``("--sigma",)``.
    help : str
    metavar : str or None
    choices : tuple of str
        The accepted values; any text if empty.
    default : str or None
    required : bool
    whole : bool
        Whether the value is a whole number.
    """

    names: tuple[str, ...]
    help: str
    metavar: str | None = None
    choices: tuple[str, ...] = ()
    default: str | None = None
    required: bool = False
    whole: bool = False


@dataclass(frozen=True)
class Usage:
    """How a mechanism is described on the command line.

    Attributes
    ----------
    choice : str
        When to choose it, beside the other mechanisms.
    summary, title : str
        One line, in the list of commands and at the top of its own help.
    examples : tuple of str
        Lines of example commands.
    description : str
    options : tuple of Option
    draws_floats : bool
        Whether its noise may be floating point numbers, which the user must allow.
    """

    choice: str
    summary: str
    title: str
    examples: tuple[str, ...]
    description: str
    options: tuple[Option, ...]
    draws_floats: bool


@dataclass(frozen=True, kw_only=True)
class Plan(ABC):
    """The guarantee of a release and the noise behind it: the base of all plans.

    Plans are made by ``of``, such as `DiscretePlan.of`, which checks and calibrates.

    Attributes
    ----------
    epsilon : Epsilon
        In nats.
    delta : Fraction
        At least the delta that the analysis proves.
    analysis : str
        How epsilon and delta follow from the noise.
    """

    name: ClassVar[str]
    """The mechanism, as records and the command line call it."""
    drawn: ClassVar[Noise]
    """How the noise is drawn."""
    neighbours: ClassVar[str]
    """Which data sets count as neighbours."""
    not_protected: ClassVar[tuple[str, ...]]
    """What the guarantee does not cover."""
    meanings: ClassVar[Mapping[str, str]]
    """What each parameter of the noise means, by its name in `parameters`."""
    quantity: ClassVar[str] = "count"
    """What a released value is, as the column of a file is called."""
    needed: ClassVar[tuple[str, ...]]
    """The parameters without which a record does not say what noise there is."""
    usage: ClassVar[Usage]

    epsilon: Epsilon
    delta: Fraction
    analysis: str

    @classmethod
    @abstractmethod
    def of(cls, *args: Any, **keywords: Any) -> Self:
        """Return a checked and calibrated plan."""

    @classmethod
    @abstractmethod
    def of_record(cls, record: Mapping[str, Any]) -> Self:
        """Return the plan of the noise that a record names, computing again what the noise guarantees.

        Parameters
        ----------
        record : mapping
            The values of the record by their names, those of `needed` among them.
        """

    @property
    def notion(self) -> str:
        """What epsilon and delta refer to."""
        return "differential privacy"

    @property
    def noise(self) -> Noise:
        """How the noise of this plan is drawn."""
        return self.drawn

    @property
    @abstractmethod
    def source(self) -> str:
        """Where the analysis is shown."""

    @property
    @abstractmethod
    def parameters(self) -> dict[str, Any]:
        """The parameters of the mechanism, by their names in the record; None for one that is not used."""

    @property
    @abstractmethod
    def reading(self) -> str:
        """How to read the released values: what each of them is, and how far off."""

    @property
    def reduction(self) -> str:
        """What is done to the counts before noise is added, as the record says it; empty if nothing is."""
        return ""

    @property
    def bins(self) -> tuple[str, ...] | None:
        """The labels that a histogram must have; None for any."""
        return None

    @abstractmethod
    def noisy(self, counts: Integers, source: RandomBytes) -> Noisy:
        """Draw the noise of one release.

        Parameters
        ----------
        counts : int array
            Not negative.
        source : callable
            Returns as many random bytes as it is asked for, as `random_bytes` gives it.

        Raises
        ------
        InputError
            For counts that the guarantee does not cover.
        """

    def check_noise(self, *, allowed: bool) -> None:
        """Check continuous noise, which is drawn as floats: the user must allow it, and floats must hold it.

        Raises
        ------
        InputError
            If it is not allowed, or its scale is above 10^14: floats of that size miss whole numbers, or are infinite.
        """
        if self.noise != "continuous":
            return
        if not allowed:
            raise InputError.float_noise(
                f"{self.name} draws its noise as floats, whose last bits may tell more than the analysis for real "
                "numbers says; pass allow_float_noise=True (--allow-float-noise) to accept that, or take discrete "
                "noise (DiscretePlan, TopKPlan, `histogram discrete`, `histogram top-k`)"
            )
        for name in ("scale", "sigma", "value_sigma"):
            scale = self.parameters.get(name)
            if scale is not None and scale > LARGEST_SCALE:
                raise InputError.out_of_range(
                    f"the {name} of the noise is {text_near(scale)}; accepted: at most 10^14, beyond which floats "
                    "do not hold whole numbers; ask for a larger epsilon, or a smaller scale"
                )

    def record(self, *, randomness: str | None = None, post_processing: str | None = None) -> ReleaseRecord:
        """Return the guarantee as a record, which may be published.

        Parameters
        ----------
        randomness, post_processing : str, optional
            Where the noise came from, and what was done to the counts, once they are released.
        """
        return ReleaseRecord(
            mechanism=self.name,
            notion=self.notion,
            epsilon=self.epsilon,
            delta=float_of_delta(self.delta),
            neighbours=self.neighbours,
            noise=self.noise,
            analysis=self.analysis,
            source=self.source,
            not_protected=self.not_protected,
            randomness=randomness,
            post_processing=post_processing,
            reading=self.reading,
            **self.parameters,
        )
