"""From a sample of strings to a certified mechanism of windows."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np

from mechdesign.data.checks import check_kind, checked_delta, checked_reports, checked_standard_error, whole_number
from mechdesign.errors import InputError, LimitError, shorten
from mechdesign.numerics.epsilon import Epsilon
from mechdesign.numerics.exact import rational
from mechdesign.windows.bound import error_bound
from mechdesign.windows.collisions import checked_drift, collision_factor, seeds_for
from mechdesign.windows.decoder import Decoder
from mechdesign.windows.drift import Drift, total_error
from mechdesign.windows.hashing import Seeds
from mechdesign.windows.layout import MOST_BUCKETS, MOST_CELLS, MOST_SEEDS, Integers, Layout
from mechdesign.windows.separate_counts import KNOWN, SeparateCounts
from mechdesign.windows.string_estimates import StringEstimates, counts_of, estimate_counts
from mechdesign.windows.strings import FORMS, Form, counted, normal
from mechdesign.windows.walk import greedy
from mechdesign.windows.window_promise import WindowPromise
from mechdesign.windows.windows_mechanism import WindowMechanism, digest_of

SEEDS = 1_000
MASTER = "windows"
"""The default master word: fixed for all users, so before any sample."""

_ONE_LAYER = ("0.3", "0.2", "0.15", "0.1", "0.07", "0.05")
_NEAR = 1.001  # times the least total error
_PILOTS = 24  # seeds from which errors of a share of one-layer seeds are computed
_MOST_LIGHT = 20_000  # strings from which they are
_MOST_PILOT_BUCKETS = 8192
_LEAST = 1e-9  # information of a report on a light string


def default_buckets(epsilon: Epsilon) -> int:
    """Return how many buckets lose half a per cent of the error at most: a power of two, 256 at least.

    It is the least one from ``100 c^2/(c - 1)`` on, c = exp(epsilon).

    Examples
    --------
    >>> [default_buckets(Epsilon.of(epsilon)) for epsilon in ("0.1", "1", "2", "4")]
    [2048, 512, 1024, 8192]
    """
    c = float(min(epsilon.exp_down, Fraction(1 << 64)))
    return min(MOST_BUCKETS, max(256, 1 << math.ceil(math.log2(100 * c * c / (c - 1)))))


@dataclass(frozen=True, eq=False)
class WindowDesign:
    """A mechanism of windows, and what it is worth at the distribution of the samples.

    Attributes
    ----------
    mechanism : WindowMechanism
        The mechanism, whose promise is proved.
    shares : dict of str to float
        The shares of the strings among the samples that prove.
    """

    mechanism: WindowMechanism
    shares: dict[str, float]

    @property
    def leakage(self) -> float:
        """The greatest leakage of a report at the samples' own distribution, in nats, rounded up."""
        return self.mechanism.leakage

    @property
    def reached(self) -> float:
        """The mean lift c of a report; exp(epsilon) would be reached with endless samples and buckets."""
        one = self.mechanism
        buckets = one.layout.buckets
        return float(np.mean([len(windows.ends) / windows.rounds(buckets) for windows in one.windows]))

    @property
    def seeds(self) -> int:
        """The number of seeds; `seeds_needed` says whether they are enough."""
        return self.mechanism.layout.seeds.count

    @cached_property
    def _decoder(self) -> Decoder:
        return Decoder(self.mechanism)

    @cached_property
    def _drift(self) -> Drift | None:
        if (heavy := self.mechanism.layout.heavy) is None:
            return None
        own = np.array([self.shares.get(string, 0.0) for string in heavy.strings])
        return Drift(self._decoder, heavy.prints, own, self._decoder.chances)

    def estimate(self, reports: Integers, candidates: Sequence[str]) -> StringEstimates:
        """Return `estimate_strings` of reports, with the shares of the samples as the reference."""
        return estimate_counts(counts_of(reports, self.mechanism), self._decoder, candidates, self.shares)

    def error_of(self, string: str | float) -> float:
        """Return n times the variance of the estimated share of one string from n reports, at the samples' shares.

        Parameters
        ----------
        string : str or float
            A string; or a share, 0 to 1, which stands for the string among the samples whose share is nearest to it,
            or for one that they lack if 0 is nearer. Of the latter the hash is not known: the mean over all buckets.

        Raises
        ------
        InputError
            For neither a text nor a number from 0 to 1.
        """
        if isinstance(string, str):
            name = normal(string, self.mechanism.form)
        elif isinstance(string, bool) or not isinstance(string, int | float) or not 0 <= string <= 1:
            raise InputError.out_of_range(f"the string is {shorten(string)}; give a text, or a share from 0 to 1")
        else:
            name = min(self.shares, key=lambda one: abs(self.shares[one] - string))
            if string < abs(self.shares[name] - string):
                return 1 / (self._decoder.square_anywhere - 1)
        heavy = self.mechanism.layout.heavy
        if heavy is not None and self._drift is not None and name in heavy.strings:
            at = heavy.strings.index(name)
            return float(self._drift.covariance[at, at])
        return float(1 / (self._decoder.squares([name])[0] - 1))

    @cached_property
    def error(self) -> float:
        """The sum of n times the variances of all shares, estimated without bias near the samples' shares.

        It is `total_error`, and what `bound` bounds. Estimates of single light strings are not of sum 1, and have a
        little less variance.
        """
        heavy = () if self.mechanism.layout.heavy is None else self.mechanism.layout.heavy.strings
        light = [string for string in self.shares if string not in set(heavy)]
        return total_error(self._decoder.squares(light) - 1, np.array([self.shares[x] for x in light]), self._drift)

    @property
    def bound(self) -> float:
        """What no mechanism with this promise falls below at the samples' shares, for the same strings."""
        promise = self.mechanism.promise
        return error_bound(np.array(list(self.shares.values())), promise.epsilon, promise.cap)

    def reports_needed(self, string: str | float, standard_error: float, drift: float = 0) -> int:
        """Return how many reports bring the standard error of the share of a string to a number.

        Parameters
        ----------
        string : str or float
            As for `error_of`.
        standard_error : float
            What is wanted, above 0.
        drift : float
            The length of the vector of changes of shares since the sample, of strings that are not solved for.

        Raises
        ------
        InputError
            For numbers outside these ranges.
        LimitError
            If collisions alone are above the standard error, whatever the number of reports.
        """
        wanted = checked_standard_error(standard_error)
        lost = checked_drift(drift) ** 2 * collision_factor(self.reached)
        if (left := wanted**2 - lost / self.seeds) <= 0:
            raise LimitError.no_method(
                f"no number of reports brings the standard error to {wanted:g} with {self.seeds} seeds and a "
                f"drift of {drift:g}: take more than {math.floor(lost / wanted**2)} seeds"
            )
        return math.ceil(self.error_of(string) / left)

    def seeds_needed(self, reports: int, drift: float) -> int:
        """Return how many seeds keep collisions below a tenth of the variance of a light string.

        Parameters
        ----------
        reports : int
            The number of reports, at least 1.
        drift : float
            The length of the vector of changes of shares since the sample, of strings that are not solved for.

        Raises
        ------
        InputError
            For numbers outside these ranges.
        """
        return seeds_for(self.reached, checked_reports(reports), drift)


def design_windows(  # noqa: PLR0913 - what a design of windows has; all but two have defaults
    sample: Mapping[Any, int] | Iterable[Any],
    epsilon: object,
    *,
    delta: object | None = None,
    known: bool = False,
    heavy: SeparateCounts | None = None,
    seeds: int = SEEDS,
    buckets: int | None = None,
    one_layer: object | None = None,
    cap: object | None = None,
    any_seed: bool = False,
    master: str = MASTER,
    form: Form = "nfc",
) -> WindowDesign:
    """Return a mechanism for any strings, from a sample of them: its reports are windows of public random circles.

    A public seed hashes strings to buckets on a circle. A greedy walk cuts the circle into windows that each hold at
    least a share exp(-epsilon) of the population, which is proved from the sample; whoever has a string reports the
    window of a random seed that holds it. Strings that the sample lacks are covered like all others.

    Parameters
    ----------
    sample : mapping of str to int, or iterable of str
        Counts by string, or the strings of independent samples: one sample a person.
    epsilon : number or str
        The budget of pointwise maximal leakage, above 0.
    delta : number or str, optional
        The probability that the samples mislead, in (0, 1). Give it, or ``known=True``.
    known : bool
        Whether the counts *are* the population, so that nothing needs to be learnt.
    heavy : SeparateCounts, optional
        Counts of **another** sample or of public knowledge, as `split_sample` gives them: its strings that are heavier
        than 2.5 buckets are on average become arcs. They define what is proved, so they must not come from the sample
        that proves. By default those of a known distribution are taken from it, and otherwise there are none.
    seeds, buckets : int, optional
        How many seeds and buckets; more seeds make collisions rarer, more buckets windows finer.
    one_layer : number or str, optional
        The share of seeds that tell how much all heavy strings have together. By default 0.3, or less where the
        total error is then over 0.1 % smaller for the counts of ``heavy``.
    cap : number or str, optional
        The budget of local differential privacy that holds as well, above epsilon.
    any_seed : bool
        Prove for every 64-bit seed number, so that anybody may choose seeds after the sample.
    master : str
        The master word of the seeds, fixed before the sample is looked at.
    form : {"nfc", "nfc-casefold"}
        The normal form of strings.

    Raises
    ------
    InputError
        For arguments outside these ranges, strings that are not text, or heavy strings from the sample that proves.
    LimitError
        If the samples prove no window but the whole circle.

    Examples
    --------
    >>> from mechdesign.windows import split_sample
    >>> counts = {f"word{k}": 20_000 // k for k in range(1, 200)}
    >>> split = split_sample(counts)
    >>> design = design_windows(split.evidence, 1, delta="1e-9", heavy=split.heavy, seeds=50)
    >>> design.mechanism.privatize(["word7", "never seen"]).shape
    (2,)
    """
    budget = Epsilon.of(epsilon)
    if float(budget.exp_down) == 1.0:
        raise InputError.epsilon_out_of_range(
            f"epsilon is {budget}: no window but the whole circle is allowed; give an epsilon above 0"
        )
    if form not in FORMS:
        raise InputError.unknown_choice(f"form is {shorten(form)}; accepted: {' or '.join(map(repr, FORMS))}")
    if known == (delta is not None):
        given = f"delta is {shorten(delta)} and known is {known}"
        raise InputError.radius_or_delta_missing(f"{given}; give delta, or known for counts of the whole population")
    check_kind(master, str, "master", "a text")
    counts = counted(sample, form)
    probability = None if delta is None else checked_delta(delta)
    if probability == 0:
        raise InputError.delta_out_of_range(
            "delta is 0; samples prove nothing without doubt: give delta above 0, or known=True"
        )
    samples = sum(counts.values())
    promise = WindowPromise(budget, samples, probability, any_seed, None if cap is None else Epsilon.of(cap))
    number, size = _sizes(seeds, default_buckets(budget) if buckets is None else buckets)
    if heavy is None and known:
        heavy = SeparateCounts(counts, KNOWN)
    if heavy is not None:
        check_kind(heavy, SeparateCounts, "heavy", "SeparateCounts of other data than the sample, or split_sample(...)")
    rough = None if heavy is None else heavy.apart_from({} if known else counts, form)
    strings = None if heavy is None or rough is None else heavy.heavy_strings(rough, size)
    layout = Layout(Seeds(master.encode(), number), size, strings)
    arcs = _one_layer(default_one_layer(layout, promise, rough or {}) if one_layer is None else one_layer, number)
    layout = replace(layout, one_layer=0 if strings is None else arcs)
    return WindowDesign(_certified(layout, promise, counts, form), {name: n / samples for name, n in counts.items()})


def _sizes(seeds: object, buckets: object) -> tuple[int, int]:
    """Return the numbers of seeds and of buckets, checked."""
    number, size = whole_number(seeds, "seeds", 1), whole_number(buckets, "buckets", 2)
    if size > MOST_BUCKETS or number > MOST_SEEDS or size * number > MOST_CELLS:
        raise InputError.too_many_given(
            f"there are {number} seeds of {size} buckets; accepted: at most {MOST_SEEDS} seeds, {MOST_BUCKETS} "
            f"buckets, and {MOST_CELLS} buckets in all"
        )
    return number, size


def _certified(layout: Layout, promise: WindowPromise, counts: Mapping[str, int], form: Form) -> WindowMechanism:
    in_part = layout.heavy is not None
    evidence = layout.evidence(counts, promise.units(in_part=in_part))
    threshold = promise.threshold(layout.seeds.count, layout.buckets, in_part=in_part)
    windows = [] if threshold is None else [greedy(loads, threshold) for loads in evidence]
    found = tuple(one for one in windows if one is not None)
    whole = promise.samples * promise.units(in_part=in_part)
    if threshold is None or threshold >= whole or len(found) < layout.seeds.count:
        raise LimitError.no_method(
            f"{promise.samples} samples prove no window of epsilon = {promise.epsilon} but the whole circle; take more "
            "samples, a larger delta or a larger epsilon"
        )
    if all(len(one.ends) == one.rounds(layout.buckets) for one in found):
        raise LimitError.no_method(
            "every window is the whole circle, so that reports tell nothing: the most frequent string has "
            f"{max(counts.values())} of {promise.samples} samples; let heavy strings be arcs (heavy=, split_sample, "
            "--split), or take a larger epsilon"
        )
    mechanism = WindowMechanism(layout, found, promise, form, evidence, digest_of(evidence))
    mechanism.prove()
    return mechanism


def default_one_layer(layout: Layout, promise: WindowPromise, counts: Mapping[str, int]) -> str:
    """Return the greatest share of one-layer seeds, up to 0.3, whose total error is within 0.1 % of the least one.

    Seeds of one layer tell how much all heavy strings have together, which two layers do not; but light strings have
    greater errors in them. The information of reports on light strings and on heavy ones, from windows of a few seeds
    that have one layer and of as many that have two, is that of a mixture of both by weighted sums.

    Parameters
    ----------
    layout : Layout
        Seeds, buckets and heavy strings.
    promise : WindowPromise
        What is promised.
    counts : mapping of str to int
        Counts of other data than the sample that proves, from which the heavy strings were chosen.
    """
    known = WindowPromise(promise.epsilon, sum(counts.values()), cap=promise.cap)
    strings = () if layout.heavy is None else layout.heavy.strings
    light = [name for name in counts if name not in set(strings)]
    if layout.heavy is None or not light or layout.buckets > _MOST_PILOT_BUCKETS:
        return _ONE_LAYER[0]
    stride = math.ceil(len(light) / _MOST_LIGHT) or 1
    found, seeds = [], replace(layout.seeds, count=min(layout.seeds.count, _PILOTS))
    for one_layer in (0, seeds.count):
        try:
            pilot = _certified(replace(layout, seeds=seeds, one_layer=one_layer), known, counts, "nfc")
        except LimitError:  # told where the windows themselves are designed
            return _ONE_LAYER[0]
        decoder = Decoder(pilot)
        heavy = decoder.products(layout.heavy.prints, decoder.chances)[1] - 1
        found.append((decoder.squares(light[::stride]) - 1, heavy))
    shares, H = np.array([counts[name] for name in strings]) / known.samples, len(strings)
    back, rest = np.eye(H) - np.outer(shares, np.ones(H)), max(1 - shares.sum(), math.ulp(1.0))
    errors = []
    for part in map(float, _ONE_LAYER):
        own, heavy = ((1 - part) * two + part * one for two, one in zip(*found, strict=True))
        common = shares @ heavy @ shares / rest**2
        errors.append(
            stride * np.sum(1 / np.maximum(own - common, _LEAST)) + np.trace(back @ np.linalg.pinv(heavy) @ back.T)
        )
    return next(part for part, error in zip(_ONE_LAYER, errors, strict=True) if error <= _NEAR * min(errors))


def _one_layer(share: object, seeds: int) -> int:
    part = rational(share, "one_layer")
    if not 0 < part <= 1:
        raise InputError.out_of_range(f"one_layer is {shorten(share)}; accepted: a share of the seeds above 0, up to 1")
    return max(1, round(part * seeds))
