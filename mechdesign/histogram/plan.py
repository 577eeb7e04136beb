"""From a target to the noise of a release, and back: the record of a release, before any data are touched."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import partial

from mechdesign.errors import InputError, shorten
from mechdesign.histogram.csh import csh_best, csh_delta, csh_threshold
from mechdesign.histogram.discrete import discrete_best, discrete_delta, discrete_threshold
from mechdesign.histogram.gshm import gshm_best, gshm_delta, gshm_threshold
from mechdesign.histogram.laplace import laplace_epsilon, laplace_scale, least_bin_probability
from mechdesign.histogram.record import Noise, ReleaseRecord
from mechdesign.histogram.top_k import top_k_delta, top_k_threshold
from mechdesign.numerics.epsilon import Epsilon
from mechdesign.numerics.exact import rational
from mechdesign.uncertainty.l1_ball import L1Ball

_ONCE = "more than one release: every release draws anew, and what several tell adds up"
_TIME = "how long the release took, and whether it was refused"
_K = "the choice of k, which must not depend on the data"
_LINKED = "what the records of others tell of a record, where records depend on each other"


@dataclass(frozen=True)
class _Family:
    """The functions of an analysis: they have one signature, whatever the noise is."""

    delta: Callable[..., float]
    threshold: Callable[..., object]
    best: Callable[..., tuple[object, object]]
    sources: Mapping[str, str]  # by analysis, the default first; a release states none that is not proved

    def checked(self, analysis: object) -> str:
        """Return the name of an analysis."""
        if analysis is None:
            return next(iter(self.sources))
        if not isinstance(analysis, str) or analysis not in self.sources:
            raise InputError(f"the analysis is {shorten(analysis)}; accepted: {', '.join(self.sources)}")
        return analysis


_GSHM = _Family(
    gshm_delta,
    gshm_threshold,
    gshm_best,
    {
        "exact": "CSH Lemma 7 (Wilkins, Kifer, Zhang, Karrer, JPC 14(1), 2024): no smaller delta is true",
        "add-the-deltas": "CSH Lemma 6 (Google's note on thresholding)",
    },
)
_CSH = _Family(
    csh_delta,
    csh_threshold,
    csh_best,
    {
        "proved": "a bound that is proved for every pair of neighbours, and at most that of CSH Theorem 11",
        "theorem-11": "CSH Theorem 11",
    },
)
_DISCRETE = _Family(
    discrete_delta,
    discrete_threshold,
    discrete_best,
    {
        "proved": "CSH Theorem 21, with Jensen's inequality for Lemma 20, and Canonne, Kamath, Steinke (JPC 12(1), "
        "2022), Proposition 12, for Lemma 17",
        "jensen": "CSH Theorem 21, with Jensen's inequality for Lemma 20",
        "theorem-21": "CSH Theorem 21",
    },
)


def plan_laplace(*, epsilon: object = None, alpha: object = 0, scale: object = None) -> ReleaseRecord:
    """Return the guarantee of a histogram with Laplace noise on every bin (HP Theorem 4).

    Parameters
    ----------
    epsilon : number or str, optional
        In nats: the least scale that keeps it is taken.
    alpha : number, str or L1Ball
        Lower bound on the probability of every bin, for each record. A ball from *other* records than those released
        gives its `least_bin_probability`, and the guarantee fails with the probability that the prior is outside.
        0, the default, is differential privacy.
    scale : number or str, optional
        Instead of epsilon, which then follows from it.

    Returns
    -------
    ReleaseRecord

    Raises
    ------
    InputError
        Unless just one of epsilon and scale is given, and for values out of range.

    Examples
    --------
    >>> record = plan_laplace(epsilon=1, alpha="0.1")
    >>> round(float(record.scale), 3), record.noise
    (1.65, 'continuous')
    """
    if (epsilon is None) == (scale is None):
        which = "neither epsilon nor scale is" if epsilon is None else "both epsilon and scale are"
        raise InputError(f"{which} given; give one, and the other follows")
    ball = alpha if isinstance(alpha, L1Ball) else None
    least = rational(alpha, "alpha") if ball is None else _short_below(least_bin_probability(ball))
    if scale is None:
        scale = laplace_scale(epsilon, least)
    else:
        epsilon = laplace_epsilon(scale, least)
    checked, width = Epsilon.of(epsilon), rational(scale, "the scale")
    notion = "PML of each record, for every product distribution that gives every bin at least probability alpha"
    if not least:
        notion = "differential privacy, which is PML of each record for every product distribution"
    delta = None if ball is None or not least or ball.evidence is None else ball.evidence.delta
    if delta is not None:
        notion += "; delta is the probability that the samples behind alpha misled"
    return ReleaseRecord(
        mechanism="laplace",
        notion=notion,
        epsilon=checked,
        delta=_shown(delta or Fraction(0)),
        neighbours="one record falls into another bin; the number of records is public",
        noise="continuous" if width else "none",
        analysis="theorem-4",
        source="HP Theorem 4",
        not_protected=(
            "the set of bins and the number of records, which are taken as public",
            "a person with more than one record",
            _LINKED,
            _ONCE,
        ),
        scale=width,
        alpha=least,
    )


def plan_gshm(
    k: int,
    *,
    epsilon: object,
    delta: object = None,
    sigma: object = None,
    tau: object = None,
    analysis: str | None = None,
) -> ReleaseRecord:
    """Return the guarantee of the Gaussian sparse histogram mechanism (CSH Algorithm 1).

    Every count above 0 gets its own Gaussian noise, and is released where the sum is above ``1 + tau``.

    Parameters
    ----------
    k : int
        No user contributes to more than k counters, nor more than 1 to any. How many counters are above 0 does not
        matter.
    epsilon : number or str
        In nats.
    delta : number or str, optional
        Alone it is calibrated for: the pair of sigma and tau with the least tau. With sigma: the least tau.
    sigma, tau : number or str, optional
        Both, without delta: the delta that follows.
    analysis : str, optional
        ``"exact"`` (default) or ``"add-the-deltas"``.

    Returns
    -------
    ReleaseRecord

    Raises
    ------
    InputError
        For values out of range, a target that cannot be reached, and where nothing is guaranteed.

    Examples
    --------
    >>> record = plan_gshm(10, epsilon="0.35", delta="1e-5", sigma=33)
    >>> 150 < record.tau < 160
    True
    """
    return _sparse(
        _GSHM,
        ReleaseRecord(
            mechanism="gshm",
            notion="differential privacy",
            epsilon=Epsilon.of(epsilon),
            delta=0.0,
            neighbours="one user is added or removed, who counts in at most k counters, in each at most once",
            noise="continuous",
            analysis=_GSHM.checked(analysis),
            source="",
            not_protected=("a user who counts in more than k counters, or twice in one", _K, _TIME, _ONCE),
            k=k,
        ),
        delta=delta,
        sigma=sigma,
        tau=tau,
    )


def plan_csh(
    k: int,
    *,
    epsilon: object,
    delta: object = None,
    sigma: object = None,
    tau: object = None,
    analysis: str | None = None,
) -> ReleaseRecord:
    """Return the guarantee of the correlated stability histogram (CSH Algorithm 2).

    Every count above 0 gets its own Gaussian noise and a common one of variance ``sigma^2 / sqrt(k)``, and is released
    where the sum is above ``1 + tau``.

    Parameters
    ----------
    k : int
        No data set that could have been has more than k counters above 0.
    epsilon, delta, sigma, tau
        As for `plan_gshm`.
    analysis : str, optional
        ``"proved"`` (default) or ``"theorem-11"``. The others of `csh_delta` are not proved: Theorem 12 has a term
        that is not shown for its own pairs, and ``"exact"`` estimates the error of its integrals.

    Returns
    -------
    ReleaseRecord

    Raises
    ------
    InputError
        As for `plan_gshm`.

    Examples
    --------
    >>> record = plan_csh(10, epsilon="0.35", delta="1e-5", sigma=22)
    >>> 100 < record.tau < 140
    True
    """
    return _sparse(
        _CSH,
        _monotonic("csh", "continuous", _CSH.checked(analysis), k, epsilon),
        delta=delta,
        sigma=sigma,
        tau=tau,
    )


def plan_discrete(
    k: int,
    *,
    epsilon: object,
    delta: object = None,
    sigma: object = None,
    tau: object = None,
    analysis: str | None = None,
) -> ReleaseRecord:
    """Return the guarantee of the correlated stability histogram with discrete noise (CSH Algorithm 4, Theorem 21).

    As `plan_csh`, with discrete Gaussian noise in steps of 1/2: what is drawn is what the analysis is about.

    Parameters
    ----------
    k : int
        No data set that could have been has more than k counters above 0.
    epsilon, delta, sigma, tau
        As for `plan_gshm`; sigma is taken as the rational it says.
    analysis : str, optional
        ``"proved"`` (default), ``"jensen"`` or ``"theorem-21"``.

    Returns
    -------
    ReleaseRecord

    Raises
    ------
    InputError
        As for `plan_gshm`.

    Examples
    --------
    >>> record = plan_discrete(10, epsilon=1, delta="1e-6", sigma=12)
    >>> record.noise, 2 * record.tau == int(2 * record.tau)
    ('discrete', True)
    """
    return _sparse(
        _DISCRETE,
        _monotonic("discrete", "discrete", _DISCRETE.checked(analysis), k, epsilon),
        delta=delta,
        sigma=sigma,
        tau=tau,
    )


def plan_top_k(
    k: int,
    *,
    epsilon: object,
    delta: object = None,
    sigma: object = None,
    tau: object = None,
    value_sigma: object = None,
    analysis: str | None = None,
    noise: str = "discrete",
) -> ReleaseRecord:
    """Return the guarantee of a release of the k largest counts (CSH Algorithm 3, Lemma 13).

    The (k+1)-th largest count is subtracted from every count, and what stays above 0 is released as by `plan_discrete`
    or `plan_csh`. The released values are those differences. The (k+1)-th count itself is released only where its
    noise is given: with it the differences become counts.

    Parameters
    ----------
    k : int
        How many counts are kept at most; nothing is assumed of how many are above 0, nor of how many counters a user
        counts in.
    epsilon, delta, sigma, tau
        As for `plan_gshm`.
    value_sigma : number or str, optional
        Standard deviation of the noise with which the (k+1)-th largest count is released too. Continuous noise
        then needs sigma, and its only analysis is ``"proved"``.
    analysis : str, optional
        Of `plan_discrete` or `plan_csh`, by the noise.
    noise : str
        ``"discrete"`` or ``"continuous"``.

    Returns
    -------
    ReleaseRecord

    Raises
    ------
    InputError
        As for `plan_gshm`.

    Examples
    --------
    >>> plan_top_k(10, epsilon=1, delta="1e-6", sigma=12) == plan_top_k(10, epsilon="1", delta=1e-6, sigma="12")
    True
    """
    if noise not in {"discrete", "continuous"}:
        raise InputError(f"the noise is {shorten(noise)}; accepted: 'discrete', 'continuous'")
    family = _DISCRETE if noise == "discrete" else _CSH
    drawn: Noise = "discrete" if noise == "discrete" else "continuous"
    record = _monotonic("top-k", drawn, family.checked(analysis), k, epsilon)
    if value_sigma is None:
        return _sparse(family, record, delta=delta, sigma=sigma, tau=tau)
    if noise == "continuous":
        if sigma is None:
            raise InputError("value_sigma is given without sigma; with continuous noise give both, and delta or tau")
        family = replace(family, delta=top_k_delta, threshold=top_k_threshold)
    with_value = replace(
        family,
        delta=partial(family.delta, value_sigma=value_sigma),
        threshold=partial(family.threshold, value_sigma=value_sigma),
        best=partial(family.best, value_sigma=value_sigma),
    )
    planned = _sparse(with_value, record, delta=delta, sigma=sigma, tau=tau)
    source = f"{planned.source}; the (k+1)-th count beside them: mechdesign.histogram.top_k"
    return replace(planned, source=source, value_sigma=rational(value_sigma, "value_sigma"))


def _monotonic(mechanism: str, noise: Noise, analysis: str, k: int, epsilon: object) -> ReleaseRecord:
    """Return what the mechanisms with a common noise share."""
    sparse = mechanism != "top-k"
    bound = "; no data set has more than k counters above 0" if sparse else ", of any number of counters"
    also = ("data sets with more than k counters above 0",) if sparse else ()
    return ReleaseRecord(
        mechanism=mechanism,
        notion="differential privacy",
        epsilon=Epsilon.of(epsilon),
        delta=0.0,
        neighbours=f"one user is added or removed, who counts at most once in each counter{bound}",
        noise=noise,
        analysis=analysis,
        source="",
        not_protected=(*also, "a user who counts twice in one counter", _K, _TIME, _ONCE),
        k=k,
    )


def _sparse(family: _Family, record: ReleaseRecord, *, delta: object, sigma: object, tau: object) -> ReleaseRecord:
    """Return a record with what was left out: delta, tau, or sigma and tau."""
    k, epsilon, analysis = record.k or 0, record.epsilon, record.analysis
    if tau is not None and sigma is None:
        raise InputError("tau is given without sigma; give both, or neither")
    if tau is not None and delta is not None:
        raise InputError("delta, sigma and tau are all given; delta follows from sigma and tau, so leave one out")
    if tau is None and delta is None:
        raise InputError("delta is not given; give delta, or both sigma and tau, from which it follows")
    if tau is not None:
        reached = rational(family.delta(k, sigma, tau, epsilon, analysis), "delta")
        if reached >= 1:
            raise InputError(
                f"delta is 1 for sigma = {shorten(sigma)} and tau = {shorten(tau)}, so nothing is guaranteed; give a "
                "larger sigma and a larger tau, or delta alone"
            )
    else:
        if sigma is None:
            sigma, tau = family.best(k, epsilon, delta, analysis)
        else:
            tau = family.threshold(k, sigma, epsilon, delta, analysis)
        reached = rational(delta, "delta")
    source = family.sources[analysis] + ("" if record.mechanism != "top-k" else "; CSH Lemma 13 and Corollary 14")
    return replace(
        record,
        delta=_shown(reached),
        source=source,
        k=int(k),
        sigma=rational(sigma, "sigma"),
        tau=rational(tau, "tau"),
    )


def _short_below(probability: Fraction) -> Fraction:
    """Return a probability as a decimal of 12 places that is not above it."""
    return Fraction(math.floor(probability * 10**12), 10**12)


def _shown(delta: Fraction) -> float:
    """Return a float that says at least delta: as the decimal that it prints, which is how floats are read here."""
    found = float(delta)
    return found if rational(found, "delta") >= delta else math.nextafter(found, math.inf)
