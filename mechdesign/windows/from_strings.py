"""From a sample of strings to a certified mechanism of windows."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from mechdesign.data.checks import check_kind, checked_delta, whole_number
from mechdesign.errors import InputError, LimitError, shorten
from mechdesign.numerics.arrays import Floats
from mechdesign.numerics.epsilon import Epsilon
from mechdesign.numerics.exact import rational
from mechdesign.windows.bound import error_bound
from mechdesign.windows.decoder import Decoder, StringEstimates, estimate_strings
from mechdesign.windows.hashing import Seeds
from mechdesign.windows.layout import MOST_BUCKETS, MOST_CELLS, MOST_SEEDS, Integers, Layout
from mechdesign.windows.separate_counts import KNOWN, SeparateCounts
from mechdesign.windows.strings import FORMS, Form, counted
from mechdesign.windows.walk import greedy
from mechdesign.windows.window_promise import WindowPromise
from mechdesign.windows.windows_mechanism import WindowMechanism, digest_of

SEEDS = 1_000
MASTER = "windows"
"""The default master word: fixed for all users, so before any sample."""


def default_buckets(epsilon: Epsilon) -> int:
    """Return how many buckets lose half a per cent of the error at most: a power of two, 256 at least.

    It is the least one from ``100 c^2/(c - 1)`` on, c = exp(epsilon).

    Examples
    --------
    >>> [default_buckets(Epsilon.of(epsilon)) for epsilon in ("0.1", "1", "2", "4")]
    [2048, 512, 1024, 8192]
    """
    c = float(epsilon.exp_down)
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

    @cached_property
    def _errors(self) -> dict[str, float]:
        errors = self._errors_of(list(self.shares))
        return dict(zip(self.shares, errors.tolist(), strict=True))

    def _errors_of(self, strings: list[str]) -> Floats:
        heavy = self.mechanism.layout.heavy
        own = [] if heavy is None else [self.shares.get(string, 0.0) for string in heavy.strings]
        return Decoder(self.mechanism).errors(strings, np.array(own))

    def estimate(self, reports: Integers, candidates: Sequence[str]) -> StringEstimates:
        """Return `estimate_strings` of reports, with the shares of the samples as the reference."""
        return estimate_strings(reports, self.mechanism, candidates, self.shares)

    def error_of(self, string: str) -> float:
        """Return n times the variance of the estimated share of one string from n reports, at the samples' shares."""
        return float(self._errors_of([string])[0])

    @property
    def error(self) -> float:
        """The sum of the errors of all strings of the sample."""
        return math.fsum(self._errors.values())

    @property
    def bound(self) -> float:
        """What no mechanism with this promise of leakage falls below, for the same strings (Theorem 4)."""
        return error_bound(np.array(list(self.shares.values())), self.mechanism.promise.epsilon)


def design_windows(  # noqa: PLR0913 - what a design of windows has; all but two have defaults
    sample: Mapping[Any, int] | Iterable[Any],
    epsilon: object,
    *,
    delta: object | None = None,
    known: bool = False,
    heavy: SeparateCounts | None = None,
    seeds: int = SEEDS,
    buckets: int | None = None,
    one_layer: object = "0.3",
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
        than a bucket is on average become arcs. They define what is proved, so they must not come from the sample that
        proves. By default those of a known distribution are taken from it, and otherwise there are none.
    seeds, buckets : int, optional
        How many seeds and buckets; more seeds make collisions rarer, more buckets windows finer.
    one_layer : number or str
        The share of seeds that tell how much all heavy strings have together.
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
        given = "both are given" if known else "neither is given"
        raise InputError.radius_or_delta_missing(f"give delta, or known=True if the counts are the population: {given}")
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
    layout = Layout(
        Seeds(master.encode(), number), size, strings, 0 if strings is None else _one_layer(one_layer, number)
    )
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
    if threshold is None or len(found) < layout.seeds.count:
        raise LimitError.no_method(
            f"{promise.samples} samples prove no window of epsilon = {promise.epsilon} but the whole circle; take more "
            "samples, a larger delta or a larger epsilon"
        )
    mechanism = WindowMechanism(layout, found, promise, form, evidence, digest_of(evidence))
    mechanism.prove()
    return mechanism


def _one_layer(share: object, seeds: int) -> int:
    part = rational(share, "one_layer")
    if not 0 < part <= 1:
        raise InputError.out_of_range(f"one_layer is {shorten(share)}; accepted: a share of the seeds above 0, up to 1")
    return max(1, round(part * seeds))
