"""Frequent strings that nobody has named, found from reports of windows of prefixes.

The candidates of the first level are all strings of its length over the characters. Of each level the prefixes with
the greatest estimated shares are kept, and their extensions are the candidates of the next level. A candidate that does
not end with the mark is a whole string: it is a candidate of every later level too, and its estimates of these levels,
which are of different users, are combined.

**False finds.** The candidates of a level are determined by the reports of earlier levels alone, and those of this
level and later ones are of other users. So the estimate of a candidate from its first level on is normal about its
share, up to the approximation of `string_estimates`, whatever led to it. Let T be the number of all candidates that
could be told, whether or not they were looked at closely. Those that nobody has, and whose estimate is over z standard
errors, are at most ``T (1 - Phi(z))`` on average; z is chosen so that this is the number that is allowed. Intervals
with a level of ``a / T`` each hold for all found strings at once with probability ``1 - a``, although the strings are
chosen by the same reports.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import accumulate, chain, product

import numpy as np
from numpy.typing import NDArray

from mechdesign.data.checks import check_kind, whole_number
from mechdesign.errors import InputError, shorten
from mechdesign.numerics.arrays import Floats
from mechdesign.windows.decoder import Decoder
from mechdesign.windows.layout import Integers
from mechdesign.windows.prefix_windows import MARK, PrefixWindows, prefix_sums
from mechdesign.windows.string_estimates import estimate_counts, quantile, rough_shares

MOST_CANDIDATES = 5_000_000
KEPT = 250
_LOOKED_AT = 20  # times the prefixes that are kept: candidates of a level that are estimated with care
_SMALL = 1e-12


@dataclass(frozen=True, eq=False)
class HeavyHitters:
    """Frequent strings, the most frequent first.

    Attributes
    ----------
    strings : tuple of str
        The strings that were found; one that ends with the mark "…" is the prefix of longer ones.
    shares : ndarray
        Estimated shares of the population that reported.
    standard_errors : ndarray
        Of the shares.
    sample_shares : ndarray
        Shares among the samples that prove; 0 for strings that these lack, and without a reference.
    candidates : int
        How many strings could have been found.
    false : float
        How many of the found strings nobody has, on average at most.
    reports : int
        The number of reports of all levels.
    seeds : int
        The number of seeds of a level; intervals are those of Student's t with one degree of freedom less.
    by_lengths : bool
        Whether there was no reference, so that shares come from the lengths of windows.
    """

    strings: tuple[str, ...]
    shares: Floats
    standard_errors: Floats
    sample_shares: Floats
    candidates: int
    false: float
    reports: int
    seeds: int
    by_lengths: bool = False

    def intervals(self, confidence: float = 0.95) -> NDArray[np.float64]:
        """Return an interval for each share, shape (strings, 2); all hold at once, although they were searched for.

        Parameters
        ----------
        confidence : float
            The probability with which all intervals hold their shares, in (0, 1).

        Raises
        ------
        InputError
            For a confidence that is not in (0, 1).
        """
        if not 0 < confidence < 1:
            raise InputError.out_of_range(f"confidence is {shorten(confidence)}; accepted: a number in (0, 1)")
        margin = quantile((1 - confidence) / (2 * self.candidates), self.seeds) * self.standard_errors
        return np.stack([self.shares - margin, self.shares + margin], axis=1)


def heavy_hitters(
    reports: Integers,
    mechanism: PrefixWindows,
    reference: Mapping[str, float] | None = None,
    *,
    characters: str | None = None,
    kept: int = KEPT,
    false: float = 1,
) -> HeavyHitters:
    """Return the frequent strings of the people who reported, without a list of candidates.

    Parameters
    ----------
    reports : ndarray of int, shape (n,)
        As of `PrefixWindows.privatize`.
    mechanism : PrefixWindows
        The mechanism that made them, with its evidence.
    reference : mapping of str to float, optional
        Shares of all strings among the samples that prove. Without them shares are estimated from the lengths of
        windows alone, with greater errors, the more so the fewer seeds there are.
    characters : str, optional
        The characters that strings may have; by default those of the reference, and needed without one. Strings of the
        reference, and heavy ones, are candidates in any case.
    kept : int
        How many prefixes of a level are extended.
    false : float
        How many found strings may be such as nobody has, on average at most.

    Raises
    ------
    InputError
        For reports of another mechanism, a level without reports, numbers outside of their ranges, neither characters
        nor a reference, the reference of other samples, or more than five million candidates of a level.

    Examples
    --------
    >>> import numpy as np
    >>> from mechdesign.windows import design_prefix_windows, split_sample
    >>> words = {f"{a}{b}{c}": 900 for a in "abcdef" for b in "abcdef" for c in "abcdef"}
    >>> split = split_sample(words, rng=np.random.default_rng(1))
    >>> design = design_prefix_windows(split.evidence, 1, (1, 2, 3), delta="1e-9", heavy=split.heavy, seeds=50)
    >>> people = [*words, *["fad"] * 20, *["ofx"] * 60] * 200
    >>> reports = design.mechanism.privatize(people, np.random.default_rng(2))
    >>> total = sum(split.evidence.values())
    >>> shares = {word: count / total for word, count in split.evidence.items()}
    >>> heavy_hitters(reports, design.mechanism, shares, characters="abcdefox").strings[:2]
    ('ofx', 'fad')
    """
    counted = np.bincount(mechanism.numbers(reports), minlength=mechanism.size)
    shares = mechanism.checked_reference(reference)
    return heavy_hitters_of_counts(counted, mechanism, shares, characters=characters, kept=kept, false=false)


def heavy_hitters_of_counts(
    counted: Integers,
    mechanism: PrefixWindows,
    reference: Mapping[str, float] | None = None,
    *,
    characters: str | None = None,
    kept: int = KEPT,
    false: float = 1,
) -> HeavyHitters:
    """Return `heavy_hitters` of reports that are counted by window."""
    if characters is None and reference is None:
        raise InputError.missing_argument(
            "neither characters nor a reference are given; give the characters that strings may have"
        )
    if characters is None:
        characters = "".join(sorted(set().union(*(reference or {}))))
    check_kind(characters, str, "characters", "a text of the characters that strings may have")
    if not 0 < false < np.inf:
        raise InputError.out_of_range(f"false is {shorten(false)}; accepted: a number above 0")
    search = _Levels(mechanism, counted, reference, "".join(dict.fromkeys(characters)), whole_number(kept, "kept", 1))
    return search.found(false)


class _Levels:
    """The search, level by level."""

    def __init__(
        self,
        mechanism: PrefixWindows,
        counted: Integers,
        reference: Mapping[str, float] | None,
        characters: str,
        kept: int,
    ) -> None:
        self._mechanism, self._counts = mechanism, mechanism.counts_of_levels(counted)
        self._by_lengths, self._reference = reference is None, reference or {}
        self._characters, self._kept = characters, kept
        self._weights: dict[str, float] = {}  # sums of 1/variance, and of share/variance, of strings that may be told
        self._sums: dict[str, float] = {}
        self._candidates = 0

    def found(self, false: float) -> HeavyHitters:
        """Return the strings whose estimates from all levels are over so many standard errors."""
        prefixes: list[str] = [""]
        for number, length in enumerate(self._mechanism.lengths):
            prefixes = self._level(number, length, prefixes)
        names = list(self._weights)
        weights = np.array([self._weights[name] for name in names])
        shares, errors = np.array([self._sums[name] for name in names]) / weights, weights**-0.5
        seeds = self._mechanism.levels[0].layout.seeds.count
        allowed = min(false, self._candidates / 2)
        chosen = np.flatnonzero(shares > quantile(allowed / self._candidates, seeds) * errors)
        chosen = chosen[np.argsort(-shares[chosen], kind="stable")]
        found = [names[at] for at in chosen.tolist()]
        own = prefix_sums(self._reference, self._mechanism.lengths[-1])
        known = np.array([own.get(name, 0.0) for name in found])
        reports = int(sum(counts.sum() for counts in self._counts))
        return HeavyHitters(
            tuple(found),
            shares[chosen],
            errors[chosen],
            known,
            self._candidates,
            allowed,
            reports,
            seeds,
            self._by_lengths,
        )

    def _level(self, number: int, length: int, prefixes: list[str]) -> list[str]:
        """Estimate the candidates of a level, and return the prefixes that are extended, without their mark."""
        level, counts = self._mechanism.levels[number], self._counts[number]
        if not counts.sum():
            raise InputError.nothing_given(
                f"there is no report about prefixes of {length} characters; give more reports, some hundred thousand"
            )
        decoder = Decoder(level, by_lengths=self._by_lengths)
        own = decoder.prior(prefix_sums(self._reference, length))
        new = self._extended(prefixes, length, own)
        is_last = number == len(self._counts) - 1
        self._candidates += len(new) if is_last else sum(len(name) <= length for name in new)
        rough = rough_shares(counts, decoder, new, own)
        order = np.argsort(-rough, kind="stable")[: _LOOKED_AT * self._kept]
        # Rough shares of heavy strings are not comparable with those of light ones where the population has changed.
        candidates = set(new)
        heavy = (name for one in level.heavy for name in one.strings if name in candidates)
        names = list(dict.fromkeys([*self._weights, *heavy, *(new[at] for at in order.tolist())]))
        found = estimate_counts(counts, decoder, names, own)
        open_ones = []
        for name, share, error in zip(names, found.shares.tolist(), found.standard_errors.tolist(), strict=True):
            if len(name) > length and not is_last:  # a string itself may end with the mark
                open_ones.append((-share, name[: -len(MARK)]))
                continue
            weight = 1 / max(error, _SMALL) ** 2
            self._weights[name] = self._weights.get(name, 0.0) + weight
            self._sums[name] = self._sums.get(name, 0.0) + weight * share
        return [name for _, name in sorted(open_ones)[: self._kept]]

    def _extended(self, prefixes: list[str], length: int, own: Mapping[str, float]) -> list[str]:
        """Return the candidates of a level: extensions by characters, and prefixes of the reference."""
        before = len(prefixes[0]) if prefixes else 0
        steps = length - before
        size = len(self._characters)
        numbers = accumulate(len(prefixes) * size**step for step in (*range(1, steps + 1), steps))
        number = next((number for number in numbers if number > MOST_CANDIDATES), None)
        if number is not None:
            raise InputError.too_many_given(
                f"there are {number:,} or more candidates of {length} characters: {len(prefixes)} prefixes, extended "
                f"by up to {steps} of {size} characters; accepted: at most {MOST_CANDIDATES:,}; give "
                "fewer characters, keep fewer prefixes, or design shorter steps"
            )
        endings = list(_endings(self._characters, steps)) if prefixes else []
        kept = set(prefixes)
        known = (name for name in own if len(name) > before and name[:before] in kept)
        made = (prefix + ending for prefix in prefixes for ending in endings)
        both = dict.fromkeys(chain(made, known))
        return [name for name in both if name == name.strip() and unicodedata.is_normalized("NFC", name)]


def _endings(characters: str, steps: int) -> Iterator[str]:
    """Yield what strings may go on with: up to so many characters, and as many with the mark after them."""
    for step in range(1, steps + 1):
        for chosen in product(characters, repeat=step):
            yield "".join(chosen)
    for chosen in product(characters, repeat=steps):
        yield "".join(chosen) + MARK
