"""Mechanisms that report windows: private reports about any string, from an alphabet that nobody has listed.

A report is a whole number of 16 digits: 2^52, plus the tag of the mechanism times 2^32, plus the number of the window.
The tag is the first 20 bits of the mechanism's fingerprint, SHA-256 of what reports depend on. So reports of another
mechanism are refused where they are counted, but for one mechanism in a million.
"""

from __future__ import annotations

import hashlib
import os
import sys
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from mechdesign.data.ids import ids_of
from mechdesign.display.numbers import text_above
from mechdesign.errors import GuaranteeError, InputError, shorten
from mechdesign.mechanism.keys import GivenKey, Key, checked_key
from mechdesign.mechanism.origin import number as eight_bytes
from mechdesign.mechanism.origin import text
from mechdesign.mechanism.sampler import RandomBytes, random_bytes
from mechdesign.numerics.exact import log_up, printed_up
from mechdesign.windows.columns_of_strings import StringColumn, WindowNames, WindowOrigin
from mechdesign.windows.drawn_windows import Drawing, keyed, uniform_below
from mechdesign.windows.hashing import Words, fingerprints
from mechdesign.windows.layout import Integers, Layout
from mechdesign.windows.strings import Form, counted, normal
from mechdesign.windows.threshold import SHARE_BITS
from mechdesign.windows.walk import Windows
from mechdesign.windows.window_promise import WindowPromise

_FORMAT = b"mechdesign/windows/fingerprint/1"


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

    inputs: ClassVar[range] = range(sys.maxsize)  # any string: more values than anybody has
    optimality: ClassVar[None] = None

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

    @cached_property
    def outputs(self) -> WindowNames:
        """The reports of all windows, as text."""
        return WindowNames(self.fingerprint, int(self.counts.sum()))

    @property
    def origin(self) -> WindowOrigin:
        """What is known of the mechanism where its reports are counted."""
        return WindowOrigin(self.outputs, self.fingerprint)

    @property
    def guarantee(self) -> WindowPromise:
        """What is promised."""
        return self.promise

    @property
    def level(self) -> Fraction | None:
        """The level of local differential privacy in nats, rounded up; None without a cap."""
        return None if self.promise.cap is None else Fraction(log_up(self.promise.cap.exp_down))

    def numbers(self, reports: Any) -> Integers:
        """Return the numbers of the windows that reports name, from 0.

        Raises
        ------
        InputError
            Naming the first report that is not one of this mechanism, by its position.
        """
        given = np.asarray(reports)
        if given.ndim != 1 or given.dtype.kind not in "iu":
            raise InputError.wrong_type(f"reports are {shorten(reports)}; give the whole numbers of privatize")
        return self.outputs.numbers(given.astype(np.int64), "reports[{}]".format)

    def alphabet(self, unknown: str | None = None, missing: str | None = None) -> StringColumn:
        """Return what turns records into fingerprints; every string is one, so that none is unknown."""
        if unknown is not None:
            raise InputError.needless_argument(
                f"unknown is {shorten(unknown)}, and windows report about any string; leave it out"
            )
        return StringColumn(self.form, None if missing is None else normal(missing, self.form))

    def drawing(self, source: RandomBytes, key: Key | None) -> Callable[[Words, Any], Integers]:
        """Return what draws windows for fingerprints, from random bytes, or with a key for fingerprints and ids."""
        if key is None:
            return lambda prints, _: self._drawing.windows(prints, lambda _, limits: uniform_below(limits, source))
        start = keyed(key.secret, bytes.fromhex(self.fingerprint) + text(key.attribute))
        return lambda prints, ids: self._drawing.permanent(prints, ids.texts(0, len(prints)), start)

    def named(self, outputs: Integers) -> Any:
        """Return the reports of windows, as a pyarrow array of text."""
        import pyarrow as pa

        return pa.array(outputs + self.outputs.first).cast(pa.string())

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

    def privatize(
        self,
        strings: Iterable[Any],
        rng: np.random.Generator | None = None,
        *,
        key: GivenKey | None = None,
        ids: Any = None,
    ) -> Integers:
        """Return one report for each string: a whole number that names the mechanism and a window.

        Without a key each call draws new reports, and two reports about the same string leak more than one. With a key
        reports are permanent: the same id and string always get the same report.

        Parameters
        ----------
        strings : iterable of str
            Any strings, also such as the sample lacks; whole numbers stand for their decimal text.
        rng : numpy.random.Generator, optional
            For experiments that can be repeated, **not for release**; without it the operating system's secure
            randomness is used.
        key, ids
            As in `Mechanism.privatize`.

        Raises
        ------
        InputError
            For one string in place of many, what `normal` refuses, or a key without ids.
        """
        if isinstance(strings, str | bytes):
            raise InputError.wrong_type(f"strings is {shorten(strings)}, one string; give a list of strings")
        source, chosen = random_bytes(rng), checked_key(rng, key, ids)
        given = list(strings)
        prints = fingerprints([normal(string, self.form) for string in given])
        names = None if chosen is None else ids_of(ids, given, len(given))
        return self.drawing(source, chosen)(prints, names) + self.outputs.first

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

    def save(self, path: str | os.PathLike[str], *, evidence: bool = True) -> None:
        """Write the mechanism as JSON, with its evidence or with the digest of it alone."""
        from mechdesign.windows.window_files import save

        save(self, path, evidence=evidence)

    save_for_reports = save

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
            counts, samples = counted(sample, found.form), found.promise.samples
            if sum(counts.values()) != samples:
                raise GuaranteeError.guarantee_false(
                    f"the sample has {sum(counts.values())} records, and the file was made from {samples}"
                )
            units = found.promise.units(in_part=found.layout.heavy is not None)
            found = replace(found, evidence=found.layout.evidence(counts, units))
        found.prove()
        return found

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
