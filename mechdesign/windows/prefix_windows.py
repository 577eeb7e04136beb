"""Windows of prefixes: each user reports about a prefix of one length, so that frequent strings can be found.

Reports of windows tell how frequent a given string is. To find frequent strings that nobody has named, users are split
over *levels*: a level has windows of its own for the prefixes of one length. Frequent prefixes of the first level are
extended to candidates for the second one, and so on (`prefix_search.py`).

The level of a user is uniform and does not depend on the string; with a key it depends on the key and the id alone.

**Theorem.** If level l is epsilon-PML for all distributions in B_l of its prefix, then the whole is epsilon-PML for
every distribution of strings whose prefixes are distributed as B_l says, for all l. *Proof.* A report (l, y) has
``K(l, y | x) = K_l(y | prefix_l(x)) / L``. Its greatest value over x, over its mean, is that of level l: L cancels, and
the mean depends on the distribution of the prefix alone. QED. The samples mislead at some level with probability at
most the sum of the deltas. The same holds for a cap: ratios of K(l, y | x) over x are those of level l.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from mechdesign.data.ids import IdTexts
from mechdesign.errors import GuaranteeError, InputError, shorten
from mechdesign.mechanism.keys import Key
from mechdesign.mechanism.origin import number as eight_bytes
from mechdesign.mechanism.origin import text
from mechdesign.mechanism.sampler import RandomBytes
from mechdesign.mechanism.uniform_draws import below, uniform_below
from mechdesign.numerics.exact import printed_up
from mechdesign.windows.columns_of_strings import StringColumn
from mechdesign.windows.drawn_windows import keyed
from mechdesign.windows.hashing import fingerprints
from mechdesign.windows.layout import HeavyStrings, Integers
from mechdesign.windows.string_reporting import StringReporting
from mechdesign.windows.strings import Form, counted
from mechdesign.windows.window_promise import WindowPromise
from mechdesign.windows.windows_mechanism import WindowMechanism

MARK = "\u2026"
"""What a prefix ends with if the string goes on."""
MOST_LEVELS = 32
MOST_CHARACTERS = 1000
"""The greatest length of a prefix; no search reaches further."""
_FORMAT = b"mechdesign/prefix-windows/fingerprint/1"
Numbers = NDArray[Any]


def prefix(string: str, length: int) -> str:
    """Return a string, or of a longer one so many characters and the mark.

    Examples
    --------
    >>> prefix("the", 3), prefix("then", 3)
    ('the', 'the…')
    """
    return string if len(string) <= length else string[:length] + MARK


def prefix_sums(values: Mapping[str, Any], length: int) -> dict[str, Any]:
    """Return counts, or shares, of prefixes from those of strings.

    Examples
    --------
    >>> prefix_sums({"the": 2, "then": 3, "they": 4}, 3)
    {'the': 2, 'the…': 7}
    """
    found: dict[str, Any] = {}
    for string, value in values.items():
        name = prefix(string, length)
        found[name] = found.get(name, 0) + value
    return found


@dataclass(frozen=True)
class PrefixColumn(StringColumn):
    """Turns a column of strings into the fingerprints of their prefixes, one field a level."""

    lengths: tuple[int, ...] = ()

    def codes(self, texts: Sequence[str]) -> Any:
        """Return the fingerprints of the prefixes of each string, which is in the normal form."""
        found = np.empty(len(texts), dtype=[(str(length), np.uint64) for length in self.lengths])
        for length in self.lengths:
            found[str(length)] = fingerprints(prefix(string, length) for string in texts)
        return found


@dataclass(frozen=True, eq=False)
class PrefixWindows(StringReporting):
    """A mechanism that reports, for the prefix of one length, which window of a public random circle holds it.

    Attributes
    ----------
    lengths : tuple of int
        The lengths of prefixes in characters, rising; of the string in its normal form.
    levels : tuple of WindowMechanism
        The windows of the prefixes of each length.
    form : str
        The normal form of strings, before prefixes are taken.
    """

    lengths: tuple[int, ...]
    levels: tuple[WindowMechanism, ...]
    form: Form

    kind: ClassVar[str] = "prefix-windows"

    def __post_init__(self) -> None:
        checked_lengths(self.lengths)
        if len(self.levels) != len(self.lengths):
            raise InputError.wrong_size(
                f"there are {len(self.lengths)} lengths and {len(self.levels)} levels of windows; give one each"
            )
        first = self.levels[0].promise
        for length, level in zip(self.lengths, self.levels, strict=True):
            if replace(level.promise, delta=first.delta) != first or (level.promise.delta is None) != (
                first.delta is None
            ):
                raise InputError.bad_field(
                    f"the windows of {length} characters promise {level.promise.in_words()}, and those of "
                    f"{self.lengths[0]} {first.in_words()}; give levels with one promise, from the same samples"
                )
            if level.form != "nfc":
                raise InputError.bad_field(
                    f"the windows of {length} characters have the form {level.form!r}; prefixes are in the form 'nfc'"
                )

    @cached_property
    def fingerprint(self) -> str:
        """SHA-256, in hex, of what reports depend on: the form, the lengths and the windows of each."""
        parts = [_FORMAT, text(self.form), *map(eight_bytes, self.lengths)]
        return hashlib.sha256(b"".join([*parts, *(bytes.fromhex(one.fingerprint) for one in self.levels)])).hexdigest()

    @property
    def heavy(self) -> tuple[HeavyStrings, ...]:
        """The lists of heavy prefixes, of the levels that have one."""
        return tuple(heavy for level in self.levels for heavy in level.heavy)

    @property
    def size(self) -> int:
        """How many windows all levels have; those of the first level are counted first."""
        return int(self.ends[-1])

    @cached_property
    def ends(self) -> Integers:
        """How many windows the levels up to each one have."""
        return np.cumsum([level.size for level in self.levels])

    @cached_property
    def promise(self) -> WindowPromise:
        """What is promised; delta is the sum over the levels."""
        deltas = [level.promise.delta for level in self.levels]
        known = [delta for delta in deltas if delta is not None]
        return replace(self.levels[0].promise, delta=sum(known, Fraction(0)) if known else None)

    @property
    def guarantee(self) -> WindowPromise:
        """What is promised."""
        return self.promise

    @property
    def level(self) -> Fraction | None:
        """The level of local differential privacy in nats, rounded up; None without a cap."""
        return self.levels[0].level

    @property
    def leakage(self) -> float:
        """The greatest leakage of a report at the samples' own distribution, in nats, rounded up."""
        return max(level.leakage for level in self.levels)

    def prove(self) -> None:
        """Prove the promise of each level.

        Raises
        ------
        GuaranteeError
            Naming the level that breaks it.
        """
        if (self.promise.delta or 0) >= 1:
            raise GuaranteeError.guarantee_false("the deltas of the levels have a sum of 1 or more")
        for length, level in zip(self.lengths, self.levels, strict=True):
            try:
                level.prove()
            except GuaranteeError as error:
                raise error.reworded(f"prefixes of {length} characters: {error}") from None

    def alphabet(self, unknown: str | None = None, missing: str | None = None) -> PrefixColumn:
        """Return what turns records into fingerprints of prefixes; every string has them, so that none is unknown."""
        own = self.levels[0].alphabet(unknown, missing)
        return PrefixColumn(self.form, own.missing, lengths=self.lengths)

    def drawing(self, source: RandomBytes, key: Key | None) -> Callable[[Any, Any], Integers]:
        """Return what draws levels and windows, from random bytes, or with a key for fingerprints and ids."""
        draws = [level.drawing(source, key) for level in self.levels]

        def draw(codes: Numbers, ids: Any) -> Integers:
            names = None if key is None else ids.texts(0, len(codes))
            if key is None or names is None:
                chosen = uniform_below(np.full(len(codes), len(draws)), source)
            else:
                chosen = self._permanent_levels(key, names)
            found = np.empty(len(codes), dtype=np.int64)
            for number, length in enumerate(self.lengths):
                rows = np.flatnonzero(chosen == number)
                those = None if names is None else IdTexts([names[row] for row in rows.tolist()])
                first = int(self.ends[number]) - self.levels[number].size
                found[rows] = draws[number](np.ascontiguousarray(codes[str(length)][rows]), those) + first
            return found

        return draw

    def _permanent_levels(self, key: Key, ids: Sequence[bytes]) -> Integers:
        """Return the level of each id, which depends on the key and the id alone."""
        start = keyed(key.secret, bytes.fromhex(self.fingerprint) + text(key.attribute))
        found, left, counter = np.empty(len(ids), dtype=np.int64), np.arange(len(ids)), 0
        while left.size:
            digests = []
            for at in left.tolist():
                word = start.copy()
                word.update(eight_bytes(counter) + ids[at])
                digests.append(word.digest()[:8])
            words = np.frombuffer(b"".join(digests), dtype="<u8")
            found[left], kept = below(words, np.full(left.size, len(self.lengths)))
            left, counter = left[~kept], counter + 1
        return found

    def counts_of_levels(self, counts: Integers) -> list[Integers]:
        """Return how often each window of each level was reported, from the counts of all windows."""
        return np.split(counts, self.ends[:-1])

    def facts(self, *, of_report: bool = False) -> list[tuple[str, str]]:
        """Return what people read of the promise, as names and values; of a report alone, in fewer words."""
        found = dict(WindowMechanism.facts(self.levels[0], of_report=of_report))
        found["guarantee"] = self.promise.in_words()
        found["leakage"] = dict(max(self.levels, key=lambda one: one.leakage).facts(of_report=True))["leakage"]
        if of_report:
            return list(found.items())
        if self.promise.delta is not None:
            found["delta"] = f"{printed_up(self.promise.delta)}: the probability that the samples mislead"
        sizes = ", ".join(f"{length}" for length in self.lengths)
        seeds = self.levels[0].layout.seeds.count
        found["mechanism"] = f"{seeds:,} seeds for prefixes of each length, {self.size:,} windows"
        found["levels"] = f"prefixes of {sizes} characters; each user reports about one of them"
        found["heavy strings"] = ", ".join(
            str(0 if level.layout.heavy is None else len(level.layout.heavy.strings)) for level in self.levels
        )
        return list(found.items())

    def promised_keys(self) -> dict[str, Any]:
        """Return what programs read of the promise."""
        found = self.levels[0].promised_keys() | {"windows": self.size, "leakage": self.leakage}
        if self.promise.delta is not None:
            found["delta"] = printed_up(self.promise.delta)
        del found["threshold"]
        return {**found, "prefixes": self.lengths}

    def is_proved_by(self, counts: Mapping[str, int]) -> bool:
        """Return whether the SHA-256 of each level's evidence is that of a sample, whose strings are in normal form."""
        levels = zip(self.lengths, self.levels, strict=True)
        return all(level.is_proved_by(prefix_sums(counts, length)) for length, level in levels)

    def save(self, path: str | os.PathLike[str], *, evidence: Any = True) -> None:
        """Write the mechanism as JSON, with its evidence or with the digest of it alone."""
        from mechdesign.windows.prefix_files import save

        save(self, path, evidence=evidence)

    @classmethod
    def load(cls, path: str | os.PathLike[str], sample: Mapping[str, int] | None = None) -> PrefixWindows:
        """Read a file and prove its promise again: from its evidence, or from the counts of the sample.

        Raises
        ------
        InputError
            If the file is malformed, or has no evidence and no sample is given.
        GuaranteeError
            If it is well-formed and its promise is false, or the sample is another one.
        """
        from mechdesign.windows.prefix_files import load

        found = load(path, cls)
        if sample is not None:
            strings = counted(sample, found.form)
            levels = [
                level.with_sample(prefix_sums(strings, length))
                for length, level in zip(found.lengths, found.levels, strict=True)
            ]
            found = replace(found, levels=tuple(levels))
        found.prove()
        return found


def checked_lengths(lengths: Sequence[object]) -> tuple[int, ...]:
    """Return lengths of prefixes: up to 32 whole numbers from 1 to 1000, rising.

    Raises
    ------
    InputError
        For anything else.
    """
    found = [length for length in lengths if isinstance(length, int) and not isinstance(length, bool)]
    rising = all(a < b for a, b in zip([0, *found], found, strict=False))
    if not 1 <= len(found) == len(lengths) <= MOST_LEVELS or not rising or found[-1] > MOST_CHARACTERS:
        raise InputError.out_of_range(
            f"the lengths of prefixes are {shorten(list(lengths))}; accepted: 1 to {MOST_LEVELS} whole numbers from 1 "
            f"to {MOST_CHARACTERS}, rising, such as 2, 4, 6, 8"
        )
    return tuple(found)
