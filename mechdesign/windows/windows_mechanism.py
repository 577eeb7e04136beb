"""Mechanisms that report windows: private reports about any string, without a list of categories.

A report is a whole number of 16 digits: 2^52, plus the tag of the mechanism times 2^32, plus the number of the window.
The tag is the first 20 bits of the mechanism's fingerprint, SHA-256 of what reports depend on. So reports of another
mechanism are refused where they are counted, but for one mechanism in a million.
"""

from __future__ import annotations

import hashlib
import math
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from typing import Any, ClassVar, Literal

import numpy as np

from mechdesign.display.numbers import text_above
from mechdesign.errors import GuaranteeError, InputError, shorten
from mechdesign.mechanism.equality import EqualByFile
from mechdesign.mechanism.keys import Key
from mechdesign.mechanism.origin import number as eight_bytes
from mechdesign.mechanism.origin import text
from mechdesign.mechanism.sampler import RandomBytes
from mechdesign.mechanism.uniform_draws import uniform_below
from mechdesign.numerics.exact import log_up, printed_up
from mechdesign.windows.columns_of_strings import StringColumn
from mechdesign.windows.drawn_windows import Drawing, keyed
from mechdesign.windows.hashing import Words
from mechdesign.windows.layout import HeavyStrings, Integers, Layout
from mechdesign.windows.string_reporting import StringReporting
from mechdesign.windows.strings import Form, counted, normal
from mechdesign.windows.threshold import MOST_WHOLE, SHARE_BITS
from mechdesign.windows.walk import Windows
from mechdesign.windows.window_promise import WindowPromise

_FORMAT = b"mechdesign/windows/fingerprint/1"


@dataclass(frozen=True, eq=False)
class WindowMechanism(StringReporting, EqualByFile):
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
    held : tuple of ndarray of int64, or None
        How many units of the samples lie in each window of each seed, where a file states these alone.
    """

    layout: Layout
    windows: tuple[Windows, ...]
    promise: WindowPromise
    form: Form
    evidence: Integers | None
    digest: str
    held: tuple[Integers, ...] | None = None

    kind: ClassVar[str] = "windows"

    @cached_property
    def _drawing(self) -> Drawing:
        return Drawing(self.layout, self.windows, self.promise.floor)

    @cached_property
    def counts(self) -> Integers:
        """The number of windows of each seed."""
        return np.array([len(one.ends) for one in self.windows])

    @cached_property
    def fingerprint(self) -> str:
        """SHA-256, in hex, of what reports depend on: seeds, buckets, form, heavy strings, floor, windows."""
        layout, heavy = self.layout, self.layout.heavy
        facts = [layout.seeds.count, layout.buckets, self.promise.floor]
        parts = [_FORMAT, text(layout.seeds.master.decode()), text(self.form), *map(eight_bytes, facts)]
        if heavy is not None:
            parts += [*map(text, heavy.strings), heavy.units.astype("<u8").tobytes()]
            parts += map(eight_bytes, (len(heavy.strings), heavy.light_units, layout.one_layer))
        numbers = [self.counts, *(np.append(one.ends, one.start) for one in self.windows)]
        return hashlib.sha256(b"".join([*parts, np.concatenate(numbers).astype("<u8").tobytes()])).hexdigest()

    @property
    def heavy(self) -> tuple[HeavyStrings, ...]:
        """The list of heavy strings, if there is one."""
        return () if self.layout.heavy is None else (self.layout.heavy,)

    @property
    def size(self) -> int:
        """How many windows all seeds have."""
        return int(self.counts.sum())

    @property
    def guarantee(self) -> WindowPromise:
        """What is promised."""
        return self.promise

    @property
    def level(self) -> Fraction | None:
        """The level of local differential privacy in nats, rounded up; None without a cap."""
        return None if self.promise.cap is None else Fraction(log_up(self.promise.cap.exp_down))

    def alphabet(self, unknown: str | None = None, missing: str | None = None) -> StringColumn:
        """Return what turns records into fingerprints; every string is one, so that none is unknown."""
        if unknown is not None:
            raise InputError.needless_argument(
                f"unknown is {shorten(unknown)}, and windows report about any string; leave it out"
            )
        return StringColumn(self.form, None if missing is None else normal(missing, self.form))

    def drawing(
        self, source: RandomBytes, key: Key | None, under: bytes | None = None
    ) -> Callable[[Words, Any], Integers]:
        """Return what draws windows for fingerprints, from random bytes, or with a key for fingerprints and ids.

        ``under`` is the fingerprint that permanent reports depend on; by default that of the mechanism.
        """
        if key is None:
            return lambda prints, _: self._drawing.windows(prints, lambda _, limits: uniform_below(limits, source))
        own = bytes.fromhex(self.fingerprint) if under is None else under
        start = keyed(key.secret, own + text(key.attribute))
        return lambda prints, ids: self._drawing.permanent(prints, ids.texts(0, len(prints)), start)

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
        units = zip(self.seed_units().tolist(), self.window_units(), strict=True)
        return self._leakage([Fraction(int(sums.min()), total) for total, sums in units])

    @property
    def promised_leakage(self) -> float:
        """The greatest leakage of a report over all populations of the promise, in nats, rounded up.

        These are the known one, or all whose windows hold the share that the samples prove.
        """
        if self.promise.delta is None:
            return self.leakage
        return self._leakage([self.promise.least_share] * len(self.windows))

    def leakage_at(self, counts: Mapping[str, int]) -> float:
        """Return the greatest leakage of a report at the shares of strings that counts show, in nats, rounded up.

        It is infinite where some window holds none of them; strings are in the normal form.
        """
        evidence = self._evidence_of(counts)
        least = [int(one.sums(loads).min()) for one, loads in zip(self.windows, evidence, strict=True)]
        if not self.promise.floor and not all(least):
            return math.inf
        return self._leakage([Fraction(n, int(total)) for n, total in zip(least, evidence.sum(axis=1), strict=True)])

    def _leakage(self, shares: Sequence[Fraction]) -> float:
        """Return the greatest leakage where the windows of each seed hold these shares at least."""
        a, greatest = Fraction(self.promise.floor, 1 << SHARE_BITS), Fraction(1)
        for one, share in zip(self.windows, shares, strict=True):
            lift = Fraction(len(one.ends), one.rounds(self.layout.buckets))
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
        if self.evidence is None:
            return list(self._held())
        return [one.sums(loads) for one, loads in zip(self.windows, self.evidence, strict=True)]

    def seed_units(self) -> Integers:
        """Return how many units of the samples each seed has; the windows of a seed hold them R times."""
        if self.evidence is not None:
            return np.asarray(self.evidence.sum(axis=1))
        rounds = [one.rounds(self.layout.buckets) for one in self.windows]
        return np.array([sum(sums.tolist()) // turns for sums, turns in zip(self._held(), rounds, strict=True)])

    def prove(self) -> None:
        """Prove the promise from the integers: equal cover of all buckets, and enough samples in every window.

        A cap is proved from the number of windows a round alone, for everybody.

        Raises
        ------
        GuaranteeError
            Naming the seed that breaks it.
        """
        buckets, threshold = self.layout.buckets, self.threshold
        if self.evidence is not None and digest_of(self.evidence) != self.digest:
            raise GuaranteeError.guarantee_false("the evidence is not that of the file: its SHA-256 differs")
        for number, one in enumerate(self.windows):
            if int(one.ends[-1]) % buckets or one.lengths.min() < 1 or one.lengths.max() > buckets:
                raise GuaranteeError.guarantee_false(
                    f"seed {number}: the windows do not go round the circle a whole number of times"
                )
        if self.promise.cap is not None and (self.ldp_ratio or 0) > self.promise.cap.exp_down:
            raise GuaranteeError.guarantee_false(
                f"probabilities of a report differ by a factor of up to {float(self.ldp_ratio or 0):.6g}; the cap "
                f"{self.promise.cap} allows {float(self.promise.cap.exp_down):.6g}"
            )
        self._check_samples()
        for number, sums in enumerate(self.window_units()):
            if int(sums.min()) < threshold:
                raise GuaranteeError.guarantee_false(
                    f"seed {number}: a window holds {int(sums.min())} units of the samples; {threshold} prove"
                )

    def _check_samples(self) -> None:
        """Check that no seed has more samples than there are, and that its windows hold each R times."""
        whole = self.promise.samples * self.promise.units(in_part=self.layout.heavy is not None)
        wrong = self.seed_units() > whole
        if self.evidence is not None:  # below 2^62 sums of whole numbers are exact
            wrong |= (self.evidence.min(axis=1) < 0) | (self.evidence.sum(axis=1, dtype=np.float64) > MOST_WHOLE)
        elif any(
            sum(sums.tolist()) % one.rounds(self.layout.buckets) or not one.can_hold(sums.tolist(), self.layout.buckets)
            for sums, one in zip(self._held(), self.windows, strict=True)
        ):
            raise GuaranteeError.guarantee_false("windows of a seed hold some of the samples more often than others")
        for number in np.flatnonzero(wrong)[:1].tolist():
            raise GuaranteeError.guarantee_false(
                f"seed {number}: the evidence has more than {self.promise.samples} samples"
            )

    def facts(self, *, of_report: bool = False) -> list[tuple[str, str]]:
        """Return what people read of the promise, as names and values; of a report alone, in fewer words."""
        promise, layout, heavy = self.promise, self.layout, self.layout.heavy
        facts = [("guarantee", promise.in_words())]
        leakage = text_above(self.leakage, 15)
        facts.append(("leakage", f"at most {leakage} nats a report among the samples, proved in exact arithmetic"))
        if of_report:
            return facts
        if promise.delta is not None:
            facts.append(("delta", f"{printed_up(promise.delta)}: the probability that the samples mislead"))
        one = f"{layout.seeds.count:,} seeds of {layout.buckets:,} buckets, {len(self.outputs):,} windows"
        whole = promise.units(in_part=heavy is not None)
        facts.append(("mechanism", f"{one}, each with at least {self.threshold / whole:,.6g} samples"))
        described = "none" if heavy is None else f"{len(heavy.strings)}, from {heavy.source}"
        return [*facts, ("heavy strings", described)]

    def promised_keys(self) -> dict[str, Any]:
        """Return what programs read of the promise."""
        promise = self.promise
        return {
            "epsilon": promise.epsilon,
            "delta": None if promise.delta is None else printed_up(promise.delta),
            **({} if promise.cap is None else {"cap": promise.cap}),
            "samples": promise.samples,
            "seeds": self.layout.seeds.count,
            "buckets": self.layout.buckets,
            "windows": len(self.outputs),
            "threshold": self.threshold,
            "leakage": self.leakage,
        }

    def _file(self) -> bytes:
        from mechdesign.windows.window_files import to_json

        return to_json(self)

    def save(self, path: str | os.PathLike[str], *, evidence: bool | Literal["buckets"] = True) -> None:
        """Write the mechanism as JSON, with its evidence or with the digest of it alone.

        Parameters
        ----------
        path : path
            A file whose name ends in .json.
        evidence : bool or "buckets"
            True: how many units of the samples each window holds, which is what the promise needs. "buckets": what each
            bucket holds, from which other windows could be proved; ten times as long, and it tells more of the samples.
            False: the digest of the latter alone.
        """
        from mechdesign.windows.window_files import save

        save(self, path, evidence=evidence)

    @classmethod
    def load(cls, path: str | os.PathLike[str], sample: Mapping[str, int] | None = None) -> WindowMechanism:
        """Read a file and prove its promise again: from its evidence, or from the counts of the sample.

        Raises
        ------
        InputError
            If the file is malformed, or has no evidence and no sample is given.
        GuaranteeError
            If it is well-formed and its promise is false, or the sample is another one.
        """
        from mechdesign.windows.window_files import load

        found = load(path, cls)
        if sample is not None:
            found = found.with_sample(counted(sample, found.form))
        found.prove()
        return found

    def with_sample(self, counts: Mapping[str, int]) -> WindowMechanism:
        """Return the mechanism with the evidence of a sample, whose strings are in the normal form.

        Raises
        ------
        GuaranteeError
            If the sample has another number of records.
        """
        if sum(counts.values()) != self.promise.samples:
            raise GuaranteeError.guarantee_false(
                f"the sample has {sum(counts.values())} records, and the file was made from {self.promise.samples}"
            )
        return replace(self, evidence=self._evidence_of(counts), held=None)

    def is_proved_by(self, counts: Mapping[str, int]) -> bool:
        """Return whether the SHA-256 of the evidence is that of a sample, whose strings are in the normal form."""
        return digest_of(self._evidence_of(counts)) == self.digest

    def _evidence_of(self, counts: Mapping[str, int]) -> Integers:
        return self.layout.evidence(counts, self.promise.units(in_part=self.layout.heavy is not None))

    def _held(self) -> tuple[Integers, ...]:
        if self.held is None:
            raise InputError.missing_argument(
                "the file has only a digest of its evidence; give the sample (verify --data), or design with the "
                "evidence in the file"
            )
        return self.held


def digest_of(evidence: Integers) -> str:
    """Return SHA-256 of units in buckets, 8 bytes each, the least byte first, seed by seed."""
    return hashlib.sha256(np.ascontiguousarray(evidence, dtype="<i8").tobytes()).hexdigest()
