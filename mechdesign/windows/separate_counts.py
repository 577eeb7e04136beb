"""Counts that do not come from the sample that proves, from which heavy strings are chosen.

The heavy strings define which events are proved. Were they chosen by looking at the sample that proves, the union bound
would not hold. So their counts name their source, and a sample of one's own is split: what is drawn from it at random
chooses the heavy strings, the rest proves. The records of a random part and of the rest are independent.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from mechdesign.data.checks import check_kind
from mechdesign.data.labels import canonical_label
from mechdesign.errors import InputError, shorten
from mechdesign.mechanism.sampler import random_bytes
from mechdesign.mechanism.uniform_draws import drawn_records
from mechdesign.numerics.exact import rational
from mechdesign.windows.layout import MOST_HEAVY, MOST_UNITS, HeavyStrings
from mechdesign.windows.strings import Form, counted, most_frequent

KNOWN = "the distribution itself, which is known"

_HEAVY = 2.5  # buckets; of 1, 2.5, 5 and 10 this has the least errors, or nearly, for Zipf and uniform strings


@dataclass(frozen=True, eq=False)
class SeparateCounts:
    """Counts of other data than the sample that proves.

    Attributes
    ----------
    counts : mapping of str to int
        Counts by string.
    source : str
        Where they come from, in words; the file of the mechanism tells it.
    evidence : str
        Of a split, SHA-256 of the counts of the other part, which is the one that may prove; otherwise empty.

    Raises
    ------
    InputError
        If the source is no text of 1 to 1,000 printable characters.
    """

    counts: Mapping[Any, int]
    source: str
    evidence: str = ""

    def __post_init__(self) -> None:
        check_kind(self.source, str, "source", "a text that says where the counts come from")
        canonical_label(self.source)

    def apart_from(self, sample: Mapping[str, int], form: Form) -> dict[str, int]:
        """Return the counts in the normal form, after checking that they are not those of the sample that proves.

        Raises
        ------
        InputError
            If the sample is not the other part of the split; if all counts are the same multiple of those of the
            sample, as if they were made from it.
        """
        found = counted(self.counts, form)
        if self.evidence:
            if self.evidence != digest_of_counts(sample):
                raise InputError.sample_proves_itself(
                    "heavy is a part of a split, and the sample is not the other part of it; give split.evidence as "
                    "the sample"
                )
            return found
        ratios = {Fraction(sample.get(name, 0), count) for name, count in found.items()}
        if found == sample or (len(ratios) == 1 < len(found) and 0 not in ratios):
            raise InputError.sample_proves_itself(
                f"the counts of heavy ({shorten(self.source)}) are those of the sample: heavy strings that the sample "
                "chooses make its proof void; give counts of other data, or both parts of split_sample(sample)"
            )
        return found

    def heavy_strings(self, counts: Mapping[str, int], buckets: int) -> HeavyStrings | None:
        """Return the strings that are heavier than a few buckets are on average, with their rough counts as units."""
        total = sum(counts.values())
        chosen = [name for name in most_frequent(counts, MOST_HEAVY) if counts[name] * buckets > _HEAVY * total]
        if not chosen:
            return None
        units = np.array([counts[name] for name in chosen], dtype=np.int64)
        if total > 2 * MOST_UNITS or units.max() > MOST_UNITS:
            raise InputError.too_many_given(
                f"the counts of heavy strings are of {total} samples; accepted: at most {2 * MOST_UNITS}"
            )
        return HeavyStrings(tuple(chosen), units, max(1, total - int(units.sum())), self.source)


@dataclass(frozen=True, eq=False)
class SplitSample:
    """A sample in two parts, whose records are independent.

    Attributes
    ----------
    heavy : SeparateCounts
        The part that chooses heavy strings.
    evidence : dict of str to int
        Counts of the part that proves.
    """

    heavy: SeparateCounts
    evidence: dict[str, int]


def split_sample(
    sample: Mapping[Any, int] | Iterable[Any],
    part: object = "1/10",
    rng: np.random.Generator | None = None,
    *,
    form: Form = "nfc",
) -> SplitSample:
    """Return a sample in two parts at random: one chooses the heavy strings of `design_windows`, the other proves.

    Which records are drawn is uniform among all sets of as many records, so that the counts of the first part are
    hypergeometric; the draws are integers, and exact.

    Parameters
    ----------
    sample : mapping of str to int, or iterable of str
        Counts by string, or strings, one a person.
    part : number or str
        The share of the records that chooses heavy strings, in (0, 1); at least one record is in each part.
    rng : numpy.random.Generator, optional
        For experiments that can be repeated; by default the operating system's secure randomness.
    form : {"nfc", "nfc-casefold"}
        The normal form of strings.

    Raises
    ------
    InputError
        For another part, a sample of one record, or what is no sample of strings.

    Examples
    --------
    >>> split = split_sample({"a": 60, "b": 30, "c": 10}, "1/5")
    >>> sum(split.heavy.counts.values()), sum(split.evidence.values())
    (20, 80)
    """
    share, counts, source = rational(part, "part"), counted(sample, form), random_bytes(rng)
    total = sum(counts.values())
    if not 0 < share < 1:
        raise InputError.out_of_range(f"part is {shorten(part)}; accepted: a share of the records above 0 and below 1")
    if total < 2:
        raise InputError.nothing_given("the sample has one record, and each part needs one; give more records")
    size = min(max(round(share * total), 1), total - 1)
    taken = drawn_records(np.fromiter(counts.values(), dtype=np.int64), size, source).tolist()
    chooses = {name: n for name, n in zip(counts, taken, strict=True) if n}
    proves = {name: counts[name] - n for name, n in zip(counts, taken, strict=True) if counts[name] > n}
    source_words = f"{size} of {total} records of the sample, drawn at random, which do not prove"
    return SplitSample(SeparateCounts(chooses, source_words, digest_of_counts(proves)), proves)


def digest_of_counts(counts: Mapping[str, int]) -> str:
    """Return SHA-256 of counts by string, in the order of the strings."""
    return hashlib.sha256(json.dumps(sorted(counts.items())).encode()).hexdigest()
