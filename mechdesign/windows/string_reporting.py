"""What every mechanism for strings does with them and with reports: windows of strings, and windows of prefixes."""

from __future__ import annotations

import os
import sys
from abc import abstractmethod
from collections.abc import Callable, Iterable, Mapping
from functools import cached_property
from numbers import Real
from typing import Any, ClassVar

import numpy as np

from mechdesign.data.ids import ids_of
from mechdesign.errors import InputError, shorten
from mechdesign.mechanism.keys import GivenKey, Key, checked_key
from mechdesign.mechanism.sampler import RandomBytes, random_bytes
from mechdesign.windows.columns_of_strings import StringColumn, WindowNames, WindowOrigin
from mechdesign.windows.layout import Integers
from mechdesign.windows.strings import Form, counted, normal


class StringReporting:
    """The part of a mechanism for strings that reports: its reports are numbered from 0, and named by numbers."""

    inputs: ClassVar[range] = range(sys.maxsize)  # any string: more values than anybody has
    optimality: ClassVar[None] = None
    lower_leakage: ClassVar[None] = None
    form: Form
    fingerprint: Any
    promise: Any

    @property
    @abstractmethod
    def size(self) -> int:
        """How many different reports there are."""

    @abstractmethod
    def alphabet(self, unknown: str | None = None, missing: str | None = None) -> StringColumn:
        """Return what turns records into codes; every string has one, so that none is unknown."""

    @abstractmethod
    def drawing(self, source: RandomBytes, key: Key | None) -> Callable[[Any, Any], Integers]:
        """Return what draws windows for codes, from random bytes, or with a key for codes and ids."""

    @abstractmethod
    def is_proved_by(self, counts: Mapping[str, int]) -> bool:
        """Return whether the SHA-256 of the evidence is that of a sample, whose strings are in the normal form."""

    def reference_of(self, counts: Mapping[str, int], name: str = "the reference") -> dict[str, float]:
        """Return the shares of strings in the normal form among the sample that proves, from its counts.

        Estimates take the shares of windows from the evidence, and those of strings from the reference: with counts of
        other people these contradict each other, and the estimates are false.

        Raises
        ------
        InputError
            Beginning with the name, if the counts are not those of the sample that proves.
        """
        total, samples = sum(counts.values()), self.promise.samples
        if total != samples:
            raise InputError.wrong_sample(
                f"{name} has {total} records, and {samples} prove the mechanism; give the counts of these"
            )
        if not self.is_proved_by(counts):
            raise InputError.wrong_sample(
                f"{name} has the counts of other records than those that prove the mechanism: the SHA-256 of the "
                "evidence differs; give the counts that `design --evidence` wrote"
            )
        return {string: count / total for string, count in counts.items()}

    def checked_reference(self, shares: Mapping[str, float] | None) -> dict[str, float] | None:
        """Return the shares of a reference, if there is one, after checking them as `reference_of` does."""
        if shares is None:
            return None
        if not all(isinstance(share, Real) and 0 <= share <= 1 for share in shares.values()):
            raise InputError.not_probabilities("the reference has what is no share, 0 to 1; give WindowDesign.shares")
        counts = {string: round(share * self.promise.samples) for string, share in shares.items()}
        return self.reference_of(counted(counts, self.form))

    @abstractmethod
    def save(self, path: str | os.PathLike[str], *, evidence: Any = True) -> None:
        """Write the mechanism as JSON, with its evidence or with the digest of it alone."""

    @cached_property
    def outputs(self) -> WindowNames:
        """The reports of all windows, as text."""
        return WindowNames(self.fingerprint, self.size)

    @property
    def origin(self) -> WindowOrigin:
        """What is known of the mechanism where its reports are counted."""
        return WindowOrigin(self.outputs, self.fingerprint)

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

    def named(self, outputs: Integers) -> tuple[Any, ...]:
        """Return the reports of windows: one column, as a pyarrow array of text."""
        import pyarrow as pa

        return (pa.array(outputs + self.outputs.first).cast(pa.string()),)

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
        codes = self.alphabet().codes([normal(string, self.form) for string in given])
        names = None if chosen is None else ids_of(ids, given, len(given))
        return self.drawing(source, chosen)(codes, names) + self.outputs.first

    def save_for_reports(self, path: str | os.PathLike[str]) -> None:
        """Write the mechanism as JSON, with its evidence, from which whoever reads it proves it again."""
        self.save(path)
