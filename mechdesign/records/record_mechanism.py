"""The mechanism of whole records: it draws one view of each record, and reports it by the view's own mechanism."""

from __future__ import annotations

import hashlib
import math
import os
import struct
import sys
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cached_property
from itertools import pairwise
from typing import Any, ClassVar, NoReturn

import numpy as np

from mechdesign.data.alphabet import Codes
from mechdesign.errors import InputError, shorten
from mechdesign.mechanism import Key
from mechdesign.mechanism.equality import EqualByFile
from mechdesign.mechanism.keys import GivenKey
from mechdesign.mechanism.origin import number, text
from mechdesign.mechanism.sampler import RandomBytes
from mechdesign.numerics.arrays import entries
from mechdesign.records.drawn_views import DrawnViews, Numbers
from mechdesign.records.number_bins import NumberBins
from mechdesign.records.record_columns import (
    RecordColumns,
    RecordOrigin,
    StringView,
    ViewTable,
    alphabets_of,
    view_tables,
)
from mechdesign.records.record_parts import MOST_PARTS, MOST_WEIGHT_BITS, WEIGHT_BITS, RecordOptimality, RecordPart
from mechdesign.records.record_promise import RecordPromise
from mechdesign.records.record_secret import check_secret, check_shown_secret
from mechdesign.records.record_words import RecordWords

_FORMAT = b"mechdesign/records/fingerprint/1"


@dataclass(frozen=True, eq=False, repr=False)
class RecordMechanism(RecordWords, EqualByFile):
    """A mechanism that reports one of many views of each record.

    Parameters
    ----------
    parts : sequence of RecordPart
        The views, each with a name of its own; no two show the same attributes.
    weight_bits : int
        The weights of the parts sum to 2^weight_bits.
    bins : mapping from str to NumberBins or edges
        Attributes that are numbers, which are put into bins before a view shows them.
    optimality : RecordOptimality, optional
        A claim that no mechanism of whole records has less error than a bound; `mechdesign verify` checks it.
    secret : str, optional
        The attribute that is protected, **and nothing else**, where a view promises about a secret.

    Raises
    ------
    InputError
        For no parts, names or attributes that occur twice, weights with another sum, bins whose labels no view has,
        a view with more than 10^7 combinations of labels, or a secret that is not that of the views.

    Examples
    --------
    >>> import numpy as np
    >>> from mechdesign import Guarantee, L1Ball, Mechanism
    >>> fair = Guarantee("log(3)", L1Ball([0.5, 0.5], radius=2, labels=["no", "yes"]))
    >>> warner = Mechanism(np.array([[3, 1], [1, 3]]), 2, fair)
    >>> parts = [RecordPart("smokes", ("smokes",), 3, warner), RecordPart("drinks", ("drinks",), 1, warner)]
    >>> both = RecordMechanism(parts, weight_bits=2)
    >>> str(both.guarantee.epsilon), both.attributes
    ('log(3)', ('smokes', 'drinks'))
    """

    parts: tuple[RecordPart, ...]
    weight_bits: int = WEIGHT_BITS
    bins: Mapping[str, NumberBins] = field(default_factory=dict)
    optimality: RecordOptimality | None = None
    secret: str | None = None

    kind: ClassVar[str] = "records"

    def __post_init__(self) -> None:
        parts = tuple(entries(self.parts, "the parts", "a list of RecordPart"))
        object.__setattr__(self, "parts", parts)
        bits = self.weight_bits
        if isinstance(bits, bool) or not isinstance(bits, int) or not 1 <= bits <= MOST_WEIGHT_BITS:
            raise InputError.not_a_whole_number(
                f"weight_bits is {shorten(bits)}; accepted: a whole number from 1 to {MOST_WEIGHT_BITS}"
            )
        if not 1 <= len(parts) <= MOST_PARTS:
            raise InputError.wrong_size(f"there are {len(parts)} views; accepted: 1 to {MOST_PARTS}")
        for part in parts:
            if not isinstance(part, RecordPart):
                raise InputError.wrong_type(f"a part is of type {type(part).__name__}; give a RecordPart")
        _refuse_twice([part.name for part in parts], "the name {} of a view")
        _refuse_twice([tuple(sorted(part.attributes)) for part in parts], "a view of {}")
        self._check_open()
        check_secret(
            self.secret, ((part.name, part.attributes, part.mechanism.guarantee.uncertainty) for part in self.listed)
        )
        for part in self.listed:
            check_shown_secret(part.attributes, part.mechanism.guarantee.uncertainty, part.merged)
        if self.secret is not None and self.optimality is not None:
            raise InputError.conflicting_arguments(
                f"optimality is claimed, and the promise is about {shorten(self.secret)} alone; the bound is for "
                "promises about the whole record, so leave it out"
            )
        total = sum(part.weight for part in parts)
        if total != 1 << bits:
            raise InputError.wrong_sum(
                f"the weights of the views sum to {total}; accepted: 2^{bits} = {1 << bits} exactly"
            )
        bins = {name: made if isinstance(made, NumberBins) else NumberBins(made) for name, made in self.bins.items()}
        object.__setattr__(self, "bins", bins)
        for name, made in bins.items():
            if not set(made.labels) <= set(self.alphabets.get(name, ())):
                raise InputError.labels_differ(
                    f"the bins of {shorten(name)} are {shorten(list(made.labels))}, and no view has all of these labels"
                )
        if self.guarantee.delta == 1:
            raise InputError.delta_out_of_range(
                "the deltas of the views sum to 1 or more; give each view a smaller one"
            )
        _ = self.tables  # refuses views with too many combinations

    def _check_open(self) -> None:
        """Refuse an attribute of any strings that another view shows, or that is in bins."""
        for part in self.parts:
            (name, *_) = part.attributes
            others = [other.name for other in self.parts if other is not part and name in other.attributes]
            rest = [other for other in self.parts if other is not part]
            shared = [other.name for other in rest if {*other.attributes} & {*part.attributes}]
            if part.merged is not None and shared:
                raise InputError.column_twice(
                    f"the view {part.name} merges combinations, and the view {shared[0]} shows a column of it too, of "
                    "which the merged ones say nothing; merge in views that share no column"
                )
            if part.is_open and (others or name in self.bins):
                what = f"the view {others[0]} shows" if others else "bins have"
                raise InputError.column_twice(
                    f"the view {part.name} is of windows, and {what} {shorten(name)} too; show such a column in one "
                    "view, without bins"
                )

    @property
    def listed(self) -> tuple[RecordPart, ...]:
        """The views whose values are listed: all but those of windows."""
        return tuple(part for part in self.parts if not part.is_open)

    @cached_property
    def alphabets(self) -> dict[str, tuple[str, ...]]:
        """The labels of each attribute that has a list of them, in the order in which views have them."""
        return alphabets_of(self._views())

    @cached_property
    def tables(self) -> tuple[ViewTable | StringView, ...]:
        """Where each view finds its category for a record."""
        merged = {part.name: part.merged for part in self.parts if part.merged is not None}
        listed = iter(view_tables(self._views(), self.attributes, merged))
        places = {part.name: (self.attributes.index(part.attributes[0]),) for part in self.parts}
        return tuple(StringView(part.name, places[part.name]) if part.is_open else next(listed) for part in self.parts)

    def _views(self) -> list[tuple[str, tuple[str, ...], Sequence[str]]]:
        return [(part.name, part.attributes, part.mechanism.inputs) for part in self.listed]

    @cached_property
    def attributes(self) -> tuple[str, ...]:
        """The columns of the record that views show, in the order of the views."""
        return tuple(dict.fromkeys(name for part in self.parts for name in part.attributes))

    @property
    def inputs(self) -> range:
        """As many as there are records, of all combinations of labels; none of them is named."""
        count = math.prod(map(len, self.alphabets.values())) if len(self.listed) == len(self.parts) else sys.maxsize
        return range(min(count, sys.maxsize))

    @cached_property
    def outputs(self) -> tuple[str, ...]:
        """The reports of all views in a row, each with the name of its view before it."""
        return tuple(f"{part.name}: {output}" for part in self.parts for output in part.mechanism.outputs)

    @cached_property
    def firsts(self) -> tuple[int, ...]:
        """The number of the first output of each view among the outputs of all, and the number of outputs."""
        return (0, *np.cumsum([len(part.mechanism.outputs) for part in self.parts]).tolist())

    @property
    def shares(self) -> tuple[float, ...]:
        """The probability of each view."""
        return tuple(part.weight / (1 << self.weight_bits) for part in self.parts)

    @property
    def guarantee(self) -> RecordPromise:
        """What is promised about the whole record, or about the secret alone."""
        return RecordPromise(tuple((part.name, part.mechanism.guarantee) for part in self.parts), self.secret)

    @property
    def leakage(self) -> float:
        """The greatest leakage of any report about the whole record, or the secret, in nats, proved and rounded up."""
        return max(part.leakage for part in self.parts)

    @property
    def lower_leakage(self) -> float | None:
        """The greatest leakage from below of a view, in nats, proved; None if a view promises nothing from below."""
        found = [part.mechanism.lower_leakage for part in self.parts]
        return None if None in found else max(one for one in found if one is not None)

    @property
    def level(self) -> Fraction | None:
        """The level of local differential privacy in nats, rounded up; None if an output rules a value out."""
        levels = [part.mechanism.level for part in self.parts]
        return None if None in levels else max(level for level in levels if level is not None)

    @property
    def origin(self) -> RecordOrigin:
        """What is known of the mechanism where its reports are counted."""
        of_views = tuple((part.name, part.mechanism.origin) for part in self.parts)
        return RecordOrigin(self.outputs, self.fingerprint, of_views)

    def alphabet(self, unknown: str | None = None, missing: str | None = None) -> RecordColumns:
        """Return what turns records into codes; ``unknown`` and ``missing`` are labels of the attributes they help."""
        strings = {part.attributes[0]: part.mechanism.alphabet(None, missing) for part in self.parts if part.is_open}
        return RecordColumns(
            self.alphabets, self.tables, self.bins, unknown, missing, strings=strings, attributes=self.attributes
        )

    def drawing(self, source: RandomBytes, key: Key | None) -> Callable[[Codes, Any], Numbers]:
        """Return what draws outputs for codes of records, from random bytes, or with a key for codes and ids."""
        drawn = DrawnViews(self.parts, self.weight_bits, self.tables)
        return (lambda codes, _: drawn.draw(codes, source)) if key is None else drawn.permanent(self.fingerprint, key)

    def named(self, outputs: Numbers) -> tuple[Any, ...]:
        """Return the names of views and of their outputs: the two columns of reports, as pyarrow arrays."""
        import pyarrow as pa

        places = pa.array(outputs.astype(np.int32))
        return tuple(texts.take(places) for texts in self._named_arrays)

    @cached_property
    def _named_arrays(self) -> tuple[Any, ...]:
        import pyarrow as pa

        return tuple(pa.array(texts, pa.string()) for texts in self.named_outputs)

    @cached_property
    def named_outputs(self) -> tuple[list[str], list[str]]:
        """The name of the view and the label of each output, of those of all views in a row."""
        named = [(part.name, label) for part in self.parts for label in part.mechanism.outputs]
        return [name for name, _ in named], [label for _, label in named]

    def counts_of_views(self, counts: Sequence[int]) -> dict[str, tuple[int, ...]]:
        """Return counts of the outputs of all views by the names of the views, each in the order of its outputs."""
        ends = zip(self.parts, pairwise(self.firsts), strict=True)
        return {part.name: tuple(map(int, counts[first:end])) for part, (first, end) in ends}

    @cached_property
    def fingerprint(self) -> str:
        """SHA-256, in hex, of what reports depend on: bins; names, attributes, weights and mechanisms of the views."""
        hashed = [_FORMAT, number(self.weight_bits), number(len(self.bins))]
        for name, bins in sorted(self.bins.items()):
            hashed += [text(name), number(len(bins.edges)), struct.pack(f"<{len(bins.edges)}d", *bins.edges)]
        hashed.append(number(len(self.parts)))
        for part in self.parts:
            hashed += [text(part.name), number(len(part.attributes)), *map(text, part.attributes)]
            hashed += [number(part.weight), bytes.fromhex(part.mechanism.fingerprint)]
        merged = [(place, part.merged) for place, part in enumerate(self.parts) if part.merged is not None]
        if merged:
            hashed += [number(len(merged)), *(each for place, label in merged for each in (number(place), text(label)))]
        return hashlib.sha256(b"".join(hashed)).hexdigest()

    def part(self, name: str) -> RecordPart:
        """Return the part of a name.

        Raises
        ------
        InputError
            If there is none; the message lists the names.
        """
        for one in self.parts:
            if one.name == name:
                return one
        listed = ", ".join(one.name for one in self.parts)
        raise InputError.unknown_choice(f"there is no view {shorten(name)}; accepted: {shorten(listed, 200)}")

    def privatize(
        self,
        records: Any,
        rng: np.random.Generator | None = None,
        *,
        key: GivenKey | None = None,
        ids: Any = None,
        unknown: str | None = None,
        missing: str | None = None,
        names: tuple[str, str] = ("view", "report"),
        show_values: bool = False,
    ) -> Any:
        """Return the view that is drawn of each record, and the report about it, drawn exactly from the integers.

        Parameters
        ----------
        records : frame of pandas or polars, pyarrow Table or RecordBatch, or mapping from columns to values
            With a column for each attribute; others are left alone. Integers stand for the labels that are their
            decimal text, or are numbers of an attribute with bins.
        rng, key, ids
            As in `Mechanism.privatize`. With a key the view of an id is drawn from the key, this mechanism and the id
            alone, and the report from the key, the view, its value and the id.
        unknown, missing : str, optional
            The labels that replace unknown and missing values in those attributes that have them; in others such
            values are refused. Combinations that a view does not know are always refused.
        names : tuple of str
            The names of the two columns.
        show_values : bool
            Whether a message prints what is refused; by default it names the position only.

        Returns
        -------
        the same kind of container
            With the two columns alone.

        Raises
        ------
        InputError
            For a record that some view does not know, whichever view would be drawn; and as `Mechanism.privatize`.

        Examples
        --------
        >>> from mechdesign import Guarantee, L1Ball, Mechanism
        >>> fair = Guarantee("log(3)", L1Ball([0.5, 0.5], radius=2, labels=["no", "yes"]))
        >>> warner = Mechanism(np.array([[3, 1], [1, 3]]), 2, fair, ["n", "y"])
        >>> parts = [RecordPart(name, (name,), 1, warner) for name in ("smokes", "drinks")]
        >>> reports = RecordMechanism(parts, weight_bits=1).privatize({"smokes": ["yes"], "drinks": ["no"]})
        >>> reports["view"][0] in {"smokes", "drinks"}, reports["report"][0] in {"n", "y"}
        (True, True)
        """
        from mechdesign.records.record_frames import privatize

        columns = replace(self.alphabet(unknown, missing), show_values=show_values)
        return privatize(self, records, columns, rng, key, ids, names)

    def _file(self) -> bytes:
        from mechdesign.records.record_mechanism_files import record_json

        return record_json(self)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the mechanism as JSON, each view with its mechanism as a mechanism file holds it."""
        from mechdesign.records.record_mechanism_files import save

        save(self, path)

    def save_for_reports(self, path: str | os.PathLike[str]) -> None:
        """Write the mechanism without claims of optimality; reports do not depend on them."""
        from mechdesign.records.record_mechanism_files import save

        save(self, path, claims=False)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> RecordMechanism:
        """Read a file and prove the guarantee of each view again.

        Raises
        ------
        InputError
            If the file is malformed.
        GuaranteeError
            If it is well-formed, and the guarantee of a view or of the whole is false.
        """
        from mechdesign.records.record_mechanism_files import load

        return load(path, cls)

    def product(self, *_: Any, **__: Any) -> NoReturn:
        """Refuse: reports of two views about one person have no bound from the laws of the views."""
        raise InputError.set_not_accepted(
            "product: two reports about one record have no bound from the laws of single views; design one mechanism "
            "with more views, or take the product of two mechanisms of attributes (parts[i].mechanism.product)"
        )

    def repeated(self, *_: Any, **__: Any) -> NoReturn:
        """Refuse: several views of one record have no bound from the laws of single views."""
        raise InputError.set_not_accepted(
            "repeated: reports about several views of one record have no bound from the laws of single views; report "
            "once, or give the same report again, from a key"
        )

    def then(self, *_: Any, **__: Any) -> NoReturn:
        """Refuse: a map of reports belongs to one view."""
        raise InputError.set_not_accepted(
            "then: a map of reports belongs to one view; take parts[i].mechanism.then, and make the mechanism from it"
        )


def _refuse_twice(names: Sequence[str | tuple[str, ...]], what: str) -> None:
    twice = [
        name if isinstance(name, str) else " and ".join(name) for name, times in Counter(names).items() if times > 1
    ]
    if twice:
        raise InputError.column_twice(f"{what.format(shorten(twice[0]))} occurs twice; give each view once")
