"""Mechanisms that report windows: private reports about any string, from an alphabet that nobody has listed.

A report is a whole number of 16 digits: 2^52, plus the tag of the mechanism times 2^32, plus the number of the window.
The tag is the first 20 bits of the mechanism's fingerprint, SHA-256 of what reports depend on. So reports of another
mechanism are refused where they are counted, but for one mechanism in a million.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np

from mechdesign.errors import GuaranteeError, InputError, shorten
from mechdesign.mechanism.origin import number as eight_bytes
from mechdesign.mechanism.origin import text
from mechdesign.mechanism.sampler import random_bytes
from mechdesign.numerics.exact import log_up
from mechdesign.windows.drawn_windows import Drawing, uniform_below
from mechdesign.windows.hashing import fingerprints
from mechdesign.windows.layout import Integers, Layout
from mechdesign.windows.strings import Form, normal
from mechdesign.windows.threshold import SHARE_BITS
from mechdesign.windows.walk import Windows
from mechdesign.windows.window_promise import WindowPromise

_FORMAT = b"mechdesign/windows/fingerprint/1"
_FIRST, _PLACE, _DIGITS = 1 << 52, 1 << 32, 5  # of a report: the least one, the place of the tag, its digits in hex


class WindowNames(Sequence[str]):
    """The reports of a mechanism as text, in the order of its windows; none of them is stored."""

    def __init__(self, first: int, count: int) -> None:
        self.first, self._count = first, count

    def __len__(self) -> int:
        return self._count

    def __getitem__(self, index: Any) -> Any:
        return str(self.first + range(self._count)[index])


@dataclass(frozen=True, eq=False)
class WindowMechanism:
    """A mechanism that reports which window of a public random circle holds a string.

    Attributes
    ----------
    layout : Layout
        Where each seed puts each string.
    windows : tuple of Windows
        The windows of each seed.
    promise : WindowPromise
        What is promised.
    form : str
        The normal form in which strings are hashed.
    evidence : ndarray of int64, shape (M, q), or None
        How many units of the samples lie in each bucket of each seed; None where only its digest is known.
    digest : str
        SHA-256 of the evidence, in hex.
    """

    layout: Layout
    windows: tuple[Windows, ...]
    promise: WindowPromise
    form: Form
    evidence: Integers | None
    digest: str

    @cached_property
    def drawing(self) -> Drawing:
        """What draws windows for strings."""
        return Drawing(self.layout, self.windows)

    @cached_property
    def counts(self) -> Integers:
        """The number of windows of each seed."""
        return np.array([len(one.ends) for one in self.windows])

    @cached_property
    def fingerprint(self) -> str:
        """SHA-256, in hex, of what reports depend on: seeds, buckets, form, heavy strings, floor, windows."""
        layout, heavy = self.layout, self.layout.heavy
        facts = [layout.seeds.count, layout.buckets, self.promise.floor]
        told = [_FORMAT, text(layout.seeds.master.decode()), text(self.form), *map(eight_bytes, facts)]
        if heavy is not None:
            told += [*map(text, heavy.strings), heavy.units.astype("<u8").tobytes()]
            told += map(eight_bytes, (len(heavy.strings), heavy.light_units, layout.one_layer))
        numbers = [self.counts, *(np.append(one.ends, one.start) for one in self.windows)]
        return hashlib.sha256(b"".join([*told, np.concatenate(numbers).astype("<u8").tobytes()])).hexdigest()

    @cached_property
    def outputs(self) -> WindowNames:
        """The reports of all windows, as text."""
        return WindowNames(_FIRST + int(self.fingerprint[:_DIGITS], 16) * _PLACE, int(self.counts.sum()))

    def numbers(self, reports: Any) -> Integers:
        """Return the numbers of the windows that reports name, from 0.

        Raises
        ------
        InputError
            Naming the first report that is not one of this mechanism, by its position.
        """
        given = np.asarray(reports)
        if given.ndim != 1 or given.dtype.kind not in "iu":
            raise InputError.wrong_type(
                f"reports are {shorten(reports)}; give the whole numbers that privatize returned"
            )
        found = given.astype(np.int64) - self.outputs.first
        if (foreign := np.flatnonzero((found < 0) | (found >= len(self.outputs)))).size:
            told = self.refused(int(given[foreign[0]]))
            raise InputError.wrong_mechanism(f"reports[{foreign[0]}] {told}")
        return np.asarray(found)

    def refused(self, report: int) -> str:
        """Return why a number is no report of this mechanism, in words."""
        tag = f"{(report - _FIRST) // _PLACE:05x}" if _FIRST <= report < 2 * _FIRST else "none"
        return (
            f"is {report}, of the mechanism with the tag {tag}, and this one has {self.fingerprint[:_DIGITS]}; give "
            "the file of the mechanism that made the reports"
        )

    @property
    def threshold(self) -> int:
        """How many units of the samples each window must hold.

        Raises
        ------
        GuaranteeError
            If no number of units would prove it.
        """
        in_part = self.layout.heavy is not None
        found = self.promise.threshold(self.layout.seeds.count, self.layout.buckets, in_part=in_part)
        if found is None:
            raise GuaranteeError.guarantee_false(
                f"{self.promise.samples} samples prove no window of epsilon = {self.promise.epsilon}: even one that "
                "all samples fall into; take more samples, or a larger epsilon"
            )
        return found

    @property
    def leakage(self) -> float:
        """The greatest leakage of a report at the samples' own distribution, in nats, rounded up."""
        a, greatest = Fraction(self.promise.floor, 1 << SHARE_BITS), Fraction(1)
        for one, loads, sums in zip(self.windows, self._evidence(), self.window_units(), strict=True):
            lift = Fraction(len(one.ends), one.rounds(self.layout.buckets))
            share = Fraction(int(sums.min()), int(loads.sum()))
            greatest = max(greatest, ((1 - a) * lift + a) / ((1 - a) * lift * share + a))
        return log_up(greatest)

    @property
    def ldp_ratio(self) -> Fraction | None:
        """What the probabilities of a report for two strings, whatever they are, differ by at most as a factor.

        Without a floor (no cap) some report excludes a string: None. With the floor a, and w windows that go round R
        times, a report has a probability of at least ``a/(M w)`` and at most ``(1 - a)/(M R)`` more. No sample matters.
        """
        if not (floor := Fraction(self.promise.floor, 1 << SHARE_BITS)):
            return None
        lift = max(Fraction(len(one.ends), one.rounds(self.layout.buckets)) for one in self.windows)
        return 1 + (1 - floor) * lift / floor

    def window_units(self) -> list[Integers]:
        """Return how many units of the samples each window of each seed holds, seed by seed."""
        return [one.sums(loads) for one, loads in zip(self.windows, self._evidence(), strict=True)]

    def prove(self) -> None:
        """Prove the promise from the integers: equal cover of all buckets, and enough samples in every window.

        A cap is proved from the number of windows a round alone, for everybody.

        Raises
        ------
        GuaranteeError
            Naming the seed that breaks it.
        """
        if self.promise.cap is not None and (self.ldp_ratio or 0) > self.promise.cap.exp_down:
            raise GuaranteeError.guarantee_false(
                f"probabilities of a report differ by a factor of up to {float(self.ldp_ratio or 0):.6g}; the cap "
                f"{self.promise.cap} allows {float(self.promise.cap.exp_down):.6g}"
            )
        buckets, threshold, evidence = self.layout.buckets, self.threshold, self._evidence()
        if digest_of(evidence) != self.digest:
            raise GuaranteeError.guarantee_false("the evidence is not that of the file: its SHA-256 differs")
        whole = self.promise.samples * self.promise.units(in_part=self.layout.heavy is not None)
        for number, (one, loads) in enumerate(zip(self.windows, evidence, strict=True)):
            if loads.min() < 0 or int(loads.sum()) > whole:
                raise GuaranteeError.guarantee_false(
                    f"seed {number}: the evidence has more than {self.promise.samples} samples"
                )
            if int(one.ends[-1]) % buckets or one.lengths.min() < 1 or one.lengths.max() > buckets:
                raise GuaranteeError.guarantee_false(
                    f"seed {number}: the windows do not go round the circle a whole number of times"
                )
            least = int(one.sums(loads).min())
            if least < threshold:
                raise GuaranteeError.guarantee_false(
                    f"seed {number}: a window holds {least} units of the samples; {threshold} prove"
                )

    def privatize(self, strings: Iterable[Any], rng: np.random.Generator | None = None) -> Integers:
        """Return one report for each string: a whole number that names the mechanism and a window.

        Each call draws new reports, and two reports about the same string leak more than one.

        Parameters
        ----------
        strings : iterable of str
            Any strings, also such as the sample lacks; whole numbers stand for their decimal text.
        rng : numpy.random.Generator, optional
            For experiments that can be repeated, **not for release**; without it the operating system's secure
            randomness is used.

        Raises
        ------
        InputError
            For one string in place of many, or what `normal` refuses.
        """
        if isinstance(strings, str | bytes):
            raise InputError.wrong_type(f"strings is {shorten(strings)}, one string; give a list of strings")
        source = random_bytes(rng)
        prints = fingerprints(normal(string, self.form) for string in strings)
        found = self.drawing.windows(prints, lambda _, limits: uniform_below(limits, source))
        if self.promise.floor:
            anywhere = uniform_below(np.full(len(prints), 1 << SHARE_BITS), source) < self.promise.floor
            found[anywhere] = self._uniform(int(anywhere.sum()), source)
        return found + self.outputs.first

    def _uniform(self, number: int, source: Any) -> Integers:
        seeds = uniform_below(np.full(number, len(self.windows)), source)
        before = np.cumsum(self.counts) - self.counts
        return before[seeds] + uniform_below(self.counts[seeds], source)

    def _evidence(self) -> Integers:
        if self.evidence is None:
            raise InputError.missing_argument(
                "the file has only a digest of its evidence; give the sample (verify --data), or design with the "
                "evidence in the file"
            )
        return self.evidence


def digest_of(evidence: Integers) -> str:
    """Return SHA-256 of units in buckets, 8 bytes each, the least byte first, seed by seed."""
    return hashlib.sha256(np.ascontiguousarray(evidence, dtype="<i8").tobytes()).hexdigest()
