"""Plans with a sparsity bound k, Gaussian noise and a threshold; parameters that are not given are computed."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar, Self

from mechdesign.errors import InputError, shorten
from mechdesign.histogram.plan import ONE_RELEASE, Integers, Noisy, Option, Plan
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


@dataclass(frozen=True)
class Analyses:
    """The functions of a mechanism, with the same signature for every noise, and its proved analyses.

    Attributes
    ----------
    delta, threshold, best : function
        Such as `gshm_delta`, `gshm_threshold` and `gshm_best`.
    sources : mapping from str to str
        Where each analysis is shown, the default first. A release states only what is proved.
    """

    delta: Callable[..., float]
    threshold: Callable[..., object]
    best: Callable[..., tuple[object, object]]
    sources: Mapping[str, str]

    def checked(self, analysis: object) -> str:
        """Return the name of an analysis; the default for None."""
        if analysis is None:
            return next(iter(self.sources))
        if not isinstance(analysis, str) or analysis not in self.sources:
            raise InputError(f"the analysis is {shorten(analysis)}; accepted: {', '.join(self.sources)}")
        return analysis

    def option(self) -> Option:
        """Return the option that chooses one of them."""
        names = tuple(self.sources)
        return Option(("--analysis",), "The analysis of delta.", choices=names, default=names[0])

    def calibrated(
        self, k: int, *, epsilon: object, delta: object, sigma: object, tau: object, analysis: object
    ) -> dict[str, Any]:
        """Return the fields of a `SparsePlan`, computing what is not given: delta, tau, or sigma and tau.

        Raises
        ------
        InputError
            If too much or too little is given, and where nothing is guaranteed.
        """
        eps, name = Epsilon.of(epsilon), self.checked(analysis)
        if tau is not None and sigma is None:
            raise InputError("tau is given without sigma; give both, or neither")
        if tau is not None and delta is not None:
            raise InputError("delta, sigma and tau are all given; delta follows from sigma and tau, so leave one out")
        if tau is None and delta is None:
            raise InputError("delta is not given; give delta, or both sigma and tau, from which it follows")
        if tau is not None:
            delta = self.delta(k, sigma, tau, eps, name)
            if delta >= 1:
                raise InputError(
                    f"delta is 1 for sigma = {shorten(sigma)} and tau = {shorten(tau)}, so nothing is guaranteed; "
                    "give a larger sigma and a larger tau, or delta alone"
                )
        elif sigma is None:
            sigma, tau = self.best(k, eps, delta, name)
        else:
            tau = self.threshold(k, sigma, eps, delta, name)
        return {
            "k": int(k),
            "epsilon": eps,
            "delta": rational(delta, "delta"),
            "sigma": rational(sigma, "sigma"),
            "tau": rational(tau, "tau"),
            "analysis": name,
        }


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

    analyses: ClassVar[Analyses]
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
        return cls(**cls.analyses.calibrated(k, epsilon=epsilon, delta=delta, sigma=sigma, tau=tau, analysis=analysis))

    @classmethod
    def of_record(cls, record: Mapping[str, Any]) -> Self:
        """Return the plan of the noise that a record names; delta is computed from sigma and tau."""
        return cls.of(record["k"], **{name: record[name] for name in ("epsilon", "sigma", "tau", "analysis")})

    @property
    def source(self) -> str:
        """Where the analysis is shown."""
        return self.analyses.sources[self.analysis]

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

    def support(self, counts: Integers) -> Integers:
        """Return the indices of the counters above 0, after checking that there are at most k."""
        found: Integers = counts.nonzero()[0]
        if found.size > self.k:
            raise InputError(
                f"{found.size} counters are above 0, more than k = {self.k}; give a k that holds for every data set "
                "that is possible, or release the k largest (TopKPlan, `histogram top-k`)"
            )
        return found
