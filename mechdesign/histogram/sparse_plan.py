"""Plans with a sparsity bound k, Gaussian noise and a threshold; parameters that are not given are computed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar, Self

from mechdesign.display.numbers import text_near
from mechdesign.errors import InputError, shorten
from mechdesign.histogram.calibration import Calibration
from mechdesign.histogram.release_plan import ONE_RELEASE, Integers, Noisy, Option, Plan
from mechdesign.numerics.arrays import Floats
from mechdesign.numerics.epsilon import Epsilon
from mechdesign.numerics.exact import float_up, rational

TIME = "how long the release took, and whether it was refused"
MOST_POSITIVE = "Most counts above 0 that any possible data set has."
CHOICE_OF_K = "the choice of k, which must not depend on the data"

_OF_ALL = (
    Option(("--epsilon",), 'In nats: a decimal, or "log(3)".', metavar="E", required=True),
    Option(("--delta",), "In (0, 1). Without --sigma, sigma and tau are chosen so that tau is least.", metavar="D"),
    Option(
        ("--sigma",),
        "Standard deviation of a counter's own noise. With --delta, the least tau is computed.",
        metavar="S",
    ),
    Option(
        ("--tau",),
        "Noisy counts above 1 + T are released. Needs --sigma, from which delta is then computed.",
        metavar="T",
    ),
)


def sparse_options(k: str, *more: Option) -> tuple[Option, ...]:
    """Return the options of a sparse mechanism: k with its meaning, those of all sparse mechanisms, and its own."""
    of_k = Option(("-k", "k"), f"{k} Fix it before you look.", metavar="K", required=True, whole=True)
    return (of_k, *_OF_ALL, *more)


def analysis_option(kind: type[Calibration]) -> Option:
    """Return the option that chooses one of the proved analyses of a mechanism."""
    names = tuple(kind.sources)
    return Option(("--analysis",), "The analysis of delta.", choices=names, default=names[0])


def calibrated(calibration: Calibration, k: int, *, delta: object, sigma: object, tau: object) -> dict[str, Any]:
    """Return the noise of a `SparsePlan` and its delta, computing what is not given: delta, tau, or sigma and tau.

    Raises
    ------
    InputError
        If too much or too little is given, and where nothing is guaranteed.
    """
    if tau is not None and sigma is None:
        raise InputError.missing_argument("tau is given without sigma; give both, or neither")
    if tau is not None and delta is not None:
        raise InputError.conflicting_arguments(
            "delta, sigma and tau are all given; delta follows from sigma and tau, so leave one out"
        )
    if tau is None and delta is None:
        raise InputError.missing_argument(
            "delta is not given; give delta, or both sigma and tau, from which it follows"
        )
    if tau is not None:
        delta = calibration.delta(k, sigma, tau)
        if delta >= 1:
            raise InputError.no_noise_enough(
                f"delta is 1 for sigma = {shorten(sigma)} and tau = {shorten(tau)}, so nothing is guaranteed; "
                "give a larger sigma and a larger tau, or delta alone"
            )
    elif sigma is None:
        sigma, tau = calibration.best(k, delta)
    else:
        tau = calibration.threshold(k, sigma, delta)
    named = {"delta": delta, "sigma": sigma, "tau": tau}
    return {"k": int(k), "analysis": calibration.analysis, **{name: rational(x, name) for name, x in named.items()}}


@dataclass(frozen=True, kw_only=True)
class SparsePlan(Plan):
    """A plan whose noise is Gaussian, and which releases the counts whose noisy value is above ``1 + tau``.

    Attributes
    ----------
    k : int
        The sparsity bound.
    sigma, tau : Fraction
        Standard deviation of a counter's own noise, and the threshold.
    """

    calibration: ClassVar[type[Calibration]]
    needed: ClassVar[tuple[str, ...]] = ("k", "sigma", "tau")
    meanings: ClassVar[Mapping[str, str]] = {
        "k": "the sparsity bound",
        "sigma": "standard deviation of each counter's own noise",
        "tau": "a noisy count is released where it is above 1 + tau",
    }

    k: int
    sigma: Fraction
    tau: Fraction

    @classmethod
    def of(
        cls,
        k: int,
        *,
        epsilon: object,
        delta: object = None,
        sigma: object = None,
        tau: object = None,
        analysis: str | None = None,
    ) -> Self:
        """Return a plan, computing what is not given: delta, tau, or sigma and tau.

        Parameters
        ----------
        k : int
            The sparsity bound; each class says what it bounds.
        epsilon : number or str
            In nats.
        delta : number or str, optional
            Without sigma, the pair of sigma and tau with the least tau is computed; with sigma, the least tau.
        sigma, tau : number or str, optional
            If both are given, delta is computed, and must not be given.
        analysis : str, optional
            One of the proved analyses of the mechanism; the first by default.

        Raises
        ------
        InputError
            For values out of range, a target that cannot be reached, and where nothing is guaranteed.
        """
        eps = Epsilon.of(epsilon)
        found = cls.calibration.of(eps, cls.calibration.stated(analysis))
        return cls(epsilon=eps, **calibrated(found, k, delta=delta, sigma=sigma, tau=tau))

    @classmethod
    def of_record(cls, record: Mapping[str, Any]) -> Self:
        """Return the plan of the noise that a record names; delta is computed from sigma and tau."""
        return cls.of(record["k"], **{name: record[name] for name in ("epsilon", "sigma", "tau", "analysis")})

    @property
    def source(self) -> str:
        """Where the analysis is shown."""
        return self.calibration.sources[self.analysis]

    @property
    def reading(self) -> str:
        """How to read the released values."""
        return f"each is a count plus noise of its own, of standard deviation {text_near(self.sigma, 4)}"

    @property
    def parameters(self) -> dict[str, Any]:
        """The parameters of the mechanism, by their names in the record."""
        return {"k": self.k, "sigma": self.sigma, "tau": self.tau}

    def above(self, support: Integers, noisy: Floats) -> Noisy:
        """Return the counts strictly above ``1 + tau``, compared with a float that is at least this number."""
        kept = noisy > float_up(1 + self.tau)
        return Noisy(support[kept], noisy[kept])


class MonotonicPlan(SparsePlan):
    """A plan for histograms with at most k counters above 0, where all counters share a common noise."""

    neighbours: ClassVar[str] = (
        "one user is added or removed, who counts at most once in each counter; no data set has more than k counters "
        "above 0"
    )
    not_protected: ClassVar[tuple[str, ...]] = (
        "data sets with more than k counters above 0",
        "a user who counts twice in one counter",
        CHOICE_OF_K,
        TIME,
        ONE_RELEASE,
    )
    meanings: ClassVar[Mapping[str, str]] = {
        **SparsePlan.meanings,
        "k": "no data set has more counters above 0",
        "sigma": f"{SparsePlan.meanings['sigma']}; a common one of sigma / k^(1/4) comes on top",
    }

    @property
    def reading(self) -> str:
        """How to read the released values: their errors are not independent."""
        return f"each is a count plus {self.shared_noise}"

    @property
    def shared_noise(self) -> str:
        """What is added to each count, in words."""
        common = text_near(self.sigma * Fraction(self.k**-0.25), 4)
        return (
            f"noise of its own (standard deviation {text_near(self.sigma, 4)}) and one noise that all of them share "
            f"({common}), by which all are too high, or too low, at once; differences of two are free of it"
        )

    def support(self, counts: Integers) -> Integers:
        """Return the indices of the counters above 0, after checking that there are at most k."""
        found: Integers = counts.nonzero()[0]
        if found.size > self.k:
            raise InputError.too_many_counters(
                f"{found.size} counters are above 0, more than k = {self.k}; give a k that holds for every data set "
                "that is possible, or release the k largest (TopKPlan, `histogram top-k`)"
            )
        return found
