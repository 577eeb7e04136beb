"""From a sample of strings to certified windows for the prefixes of each length."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from mechdesign.data.checks import checked_delta
from mechdesign.errors import InputError, LimitError
from mechdesign.windows.from_strings import MASTER, WindowDesign, design_windows
from mechdesign.windows.prefix_windows import PrefixWindows, checked_lengths, prefix_sums
from mechdesign.windows.separate_counts import SeparateCounts, digest_of_counts
from mechdesign.windows.strings import Form, counted

LENGTHS = (2, 4, 6, 8, 10)


@dataclass(frozen=True, eq=False)
class PrefixDesign:
    """Windows for the prefixes of each length, and what they are worth.

    Attributes
    ----------
    mechanism : PrefixWindows
        The mechanism, whose promise is proved.
    levels : tuple of WindowDesign
        The design of each level.
    """

    mechanism: PrefixWindows
    levels: tuple[WindowDesign, ...]

    @property
    def leakage(self) -> float:
        """The greatest leakage of a report at the samples' own distribution, in nats, rounded up."""
        return self.mechanism.leakage

    @property
    def reached(self) -> float:
        """The mean lift c of a report, the least of all levels."""
        return min(level.reached for level in self.levels)


def design_prefix_windows(
    sample: Mapping[Any, int] | Iterable[Any],
    epsilon: object,
    lengths: Sequence[int] = LENGTHS,
    *,
    delta: object | None = None,
    heavy: SeparateCounts | None = None,
    master: str = MASTER,
    form: Form = "nfc",
    **options: Any,
) -> PrefixDesign:
    """Return a mechanism whose reports let `heavy_hitters` find frequent strings that nobody has named.

    Each user reports about the prefix of one length, drawn at random. The windows of each length are those of
    `design_windows` for the prefixes of the samples, with an equal part of delta.

    Parameters
    ----------
    sample : mapping of str to int, or iterable of str
        Counts by string, or the strings of independent samples: one sample a person.
    epsilon : number or str
        The budget of pointwise maximal leakage of a report, above 0.
    lengths : sequence of int
        The lengths of prefixes in characters, rising. Of longer strings than the last one the prefix alone is found.
        More lengths mean fewer users for each; longer steps mean more candidates, as many as there are characters to
        the power of the step.
    delta, heavy, master, form
        As for `design_windows`; the heavy prefixes of each length are found from the counts of ``heavy``.
    **options
        Those of `design_windows`: ``known``, ``seeds``, ``buckets``, ``one_layer``, ``cap``, ``any_seed``.

    Raises
    ------
    InputError
        For arguments outside these ranges.
    LimitError
        If the samples prove no windows for some length; it is named.

    Examples
    --------
    >>> from mechdesign.windows import split_sample
    >>> split = split_sample({f"{a}{b}{c}": 900 for a in "abcdef" for b in "abcdef" for c in "abcdef"})
    >>> design = design_prefix_windows(split.evidence, 1, (1, 2, 3), delta="1e-9", heavy=split.heavy, seeds=20)
    >>> design.mechanism.privatize(["abc", "longer than all"]).shape
    (2,)
    """
    sizes, counts = checked_lengths(lengths), counted(sample, form)
    part = None if delta is None else checked_delta(delta) / len(sizes)
    rough = None if heavy is None else heavy.apart_from({} if options.get("known") else counts, form)
    found = []
    for length in sizes:
        prefixes = prefix_sums(counts, length)
        own = None
        if heavy is not None and rough is not None:
            evidence = digest_of_counts(prefixes) if heavy.evidence else ""
            own = SeparateCounts(prefix_sums(rough, length), f"prefixes of {heavy.source}", evidence)
        try:
            word = f"{master}, {length} characters"
            found.append(design_windows(prefixes, epsilon, delta=part, heavy=own, master=word, **options))
        except LimitError as error:
            raise error.reworded(f"prefixes of {length} characters: {error}") from None
        except InputError as error:
            raise error.reworded(f"prefixes of {length} characters: {error}") from None
    mechanism = PrefixWindows(sizes, tuple(one.mechanism for one in found), form)
    return PrefixDesign(mechanism, tuple(found))
