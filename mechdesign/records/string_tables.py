"""Tables of views of windows: the shares of strings that are asked for, from the reports about such a view alone.

A view of windows shares no attribute with another one, so that its reports alone tell of its strings
(`mechdesign.windows.string_estimates`). Nobody has listed the strings: whoever estimates names candidates.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from mechdesign.errors import InputError, shorten
from mechdesign.records.record_mechanism import RecordMechanism
from mechdesign.records.record_parts import RecordPart
from mechdesign.records.table_estimates import TableEstimate
from mechdesign.windows.decoder import Decoder
from mechdesign.windows.string_estimates import StringEstimates, estimate_counts
from mechdesign.windows.string_groups import reports_needed


@dataclass(frozen=True, eq=False)
class StringTables:
    """What is estimated of the views of windows.

    Attributes
    ----------
    mechanism : RecordMechanism
        The mechanism that made the reports.
    candidates : mapping from the name of a view to strings
        Those whose shares are estimated.
    references : mapping from the name of a view to shares of strings
        Among the sample that proves the view; without it shares come from the lengths of windows, with greater errors.

    Raises
    ------
    InputError
        For a view that the mechanism lacks, one that is not of windows, and a reference without candidates.
    """

    mechanism: RecordMechanism
    candidates: Mapping[str, Sequence[str]] = field(default_factory=dict)
    references: Mapping[str, Mapping[str, float]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for name in [*self.candidates, *self.references]:
            if not self.mechanism.part(name).is_open:
                raise InputError.wrong_mechanism(
                    f"candidates are given for the view {shorten(name)}, which is not of windows: its values are "
                    "listed; leave them out"
                )
        for name in self.references:
            if name not in self.candidates:
                raise InputError.missing_argument(
                    f"a reference is given for the view {shorten(name)}, and no candidates; name strings to estimate"
                )

    def checked(self) -> StringTables:
        """Return the same, after checking that the references are of the samples that prove the views."""
        parts = {name: self.mechanism.part(name).mechanism for name in self.references}
        checked = {name: one.checked_reference(self.references[name]) for name, one in parts.items()}
        return replace(self, references=checked)

    @property
    def rows(self) -> int:
        """The number of candidates of all views."""
        return sum(map(len, self.candidates.values()))

    @cached_property
    def _decoders(self) -> dict[str, Decoder]:
        parts = map(self.mechanism.part, self.candidates)
        return {part.name: Decoder(part.mechanism, by_lengths=part.name not in self.references) for part in parts}

    def of_counts(
        self, counts: Mapping[str, NDArray[np.int64]], error: float, joint_error: float, groups: int, *, plain: bool
    ) -> list[TableEstimate]:
        """Return the tables of views that have candidates and reports.

        Parameters
        ----------
        counts : mapping from the name of a view to int arrays
            How often each window was reported.
        error, joint_error : float
            How often an interval misses, and any of all at once, in any of the groups.
        groups : int
            Of how many groups these hold at once.
        plain : bool
            Whether shares are to be from 0 on, of sum 1 at most, without errors.
        """
        found = []
        for name, names in self.candidates.items():
            if counts[name].any():
                decoder, part = self._decoders[name], self.mechanism.part(name)
                strings = estimate_counts(counts[name], decoder, names, self.references.get(name, {}))
                level = joint_error * len(names) / self.rows
                limits = strings.intervals(1 - error), strings.intervals(1 - level, simultaneous=True, tables=groups)
                found.append(_table(part, strings, limits, reports_needed(decoder), plain=plain))
        return found


def _table(
    part: RecordPart,
    strings: StringEstimates,
    limits: tuple[NDArray[np.float64], NDArray[np.float64]],
    needed: float,
    *,
    plain: bool,
) -> TableEstimate:
    size = len(strings.candidates)
    return TableEstimate(
        attributes=part.attributes,
        cells=tuple((name,) for name in strings.candidates),
        frequencies=strings.on_simplex() if plain else strings.shares,
        standard_errors=None if plain else strings.standard_errors,
        intervals=None if plain else limits[0],
        simultaneous_intervals=None if plain else limits[1],
        identifiable=np.ones(size, dtype=bool),
        views=(part.name,),
        reports=strings.reports,
        reports_needed=math.ceil(needed),
        method="windows",
    )
