"""Estimates for people and for programs: tables, files, JSON."""

from __future__ import annotations

import io
import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from mechdesign.cli.output import print_facts, print_table, say
from mechdesign.data.group_keys import as_plain, in_words
from mechdesign.deploy.dataset_counts import DatasetCounts
from mechdesign.deploy.frequency import FrequencyEstimate
from mechdesign.deploy.grouped import COLUMNS, MARKS, SIMULTANEOUS, GroupedEstimate, estimate_columns
from mechdesign.errors import printable
from mechdesign.mechanism import Guarantee
from mechdesign.mechanism.words import promise

SCHEMA = "mechdesign/estimate/1"
GROUPS_SCHEMA = "mechdesign/estimate-by-groups/1"
_SPECIAL = set('",\r\n')
_MOST_ROWS = 240  # of a table by groups that are printed


@dataclass(frozen=True, eq=False)
class EstimateOutput:
    """An estimate, with or without groups, and how it is told.

    Attributes
    ----------
    found : FrequencyEstimate or GroupedEstimate
        The estimate.
    simultaneous : bool
        Whether the intervals that hold at once are told beside the single ones.
    parts : DatasetCounts, optional
        The parts of a folder that were counted.
    """

    found: FrequencyEstimate | GroupedEstimate
    simultaneous: bool
    parts: DatasetCounts | None = None

    @property
    def schema(self) -> str:
        """The name of the JSON format."""
        return GROUPS_SCHEMA if isinstance(self.found, GroupedEstimate) else SCHEMA

    def record(self) -> dict[str, Any]:
        """Return the JSON."""
        if isinstance(self.found, GroupedEstimate):
            return _groups_record(self.found, simultaneous=self.simultaneous)
        return _record(self.found, simultaneous=self.simultaneous)

    def columns(self) -> dict[str, list[Any]]:
        """Return the table as columns."""
        grouped = isinstance(self.found, GroupedEstimate)
        table = self.found.columns() if isinstance(self.found, GroupedEstimate) else estimate_columns(self.found)
        left_out = {*(() if self.simultaneous else SIMULTANEOUS), *(() if grouped else MARKS[1:])}
        return {name: values for name, values in table.items() if name not in left_out}

    def content(self, ending: str) -> bytes:
        """Return the content of a file, of the kind that its ending says."""
        return WRITERS[ending](self)

    def parts_record(self) -> dict[str, Any]:
        """Return the JSON of the parts that were counted; empty for a file."""
        if self.parts is None:
            return {}
        return {"parts": {"counted": self.parts.parts, "planned": self.parts.planned}}

    def print(self, guarantee: Guarantee, *, err: bool) -> None:
        """Print facts, a table and what has to be known about it."""
        found = self.found
        facts = [("reports", f"{found.reports:,}")]
        if isinstance(found, GroupedEstimate):
            facts.append(("groups", f"{len(found):,} by {', '.join(found.by)}"))
        if self.parts is not None:
            facts.append(("parts", _in_words(self.parts)))
        first = found.estimates[0] if isinstance(found, GroupedEstimate) else found
        whose = "the population" if first.of == "population" else "the records reported"
        facts.append(("guarantee", promise(guarantee)))
        facts.append(("estimate", f"{first.method}, of the frequencies in {whose}"))
        print_facts(facts, err=err)
        say(err=err)
        if isinstance(found, GroupedEstimate):
            _print_groups(found, simultaneous=self.simultaneous, err=err)
        else:
            _print(found, simultaneous=self.simultaneous, err=err)


def _in_words(parts: DatasetCounts) -> str:
    if parts.parts == parts.planned:
        return f"{parts.parts:,}"
    return f"{parts.parts:,} of {parts.planned:,}: THE OTHERS ARE NOT REPORTED YET, and the estimate is without them"


def _record(found: FrequencyEstimate, *, simultaneous: bool) -> dict[str, Any]:
    joint = {"simultaneous_intervals": found.simultaneous_intervals.tolist(), "family": found.family}
    return {
        "labels": list(found.labels),
        "frequencies": found.frequencies.tolist(),
        "standard_errors": _errors(found),
        "intervals": found.intervals.tolist(),
        **(joint if simultaneous else {}),
        "identifiable": found.identifiable.tolist(),
        "identified": found.identified.tolist(),
        "groups": [list(group) for group in found.groups],
        "reports": found.reports,
        "method": found.method,
        "of": found.of,
        "confidence": found.confidence,
    }


def _groups_record(found: GroupedEstimate, *, simultaneous: bool) -> dict[str, Any]:
    first = found.estimates[0]
    groups = [
        {
            "group": [as_plain(key) for key in keys],
            "reports": estimate.reports,
            "reports_needed": estimate.reports_needed,
            "few_reports": estimate.few_reports,
            "frequencies": estimate.frequencies.tolist(),
            "standard_errors": _errors(estimate),
            "intervals": estimate.intervals.tolist(),
            **({"simultaneous_intervals": estimate.simultaneous_intervals.tolist()} if simultaneous else {}),
            "identified": estimate.identified.tolist(),
        }
        for keys, estimate in found
    ]
    return {
        "by": list(found.by),
        "labels": list(first.labels),
        "identifiable": first.identifiable.tolist(),
        "confounded": [list(group) for group in first.groups],
        "reports": found.reports,
        "method": first.method,
        "of": first.of,
        "confidence": first.confidence,
        **({"family": found.family} if simultaneous else {}),
        "groups": groups,
    }


def _errors(found: FrequencyEstimate) -> list[float | None]:
    return [error if np.isfinite(error) else None for error in found.standard_errors.tolist()]


def _csv(told: EstimateOutput) -> bytes:
    table = told.columns()
    lines = [",".join(map(_field, table)), *(",".join(map(_field, row)) for row in zip(*table.values(), strict=True))]
    return ("\n".join(lines) + "\n").encode()


def _field(value: Any) -> str:
    """Return a field of a CSV file, with quotes where they are needed; a missing value is an empty one."""
    if value is None:
        return ""
    plain = value if isinstance(value, float) else as_plain(value)
    text = str(plain).lower() if isinstance(plain, bool) else str(plain)
    special = bool(_SPECIAL & set(text)) or text != text.strip()
    return '"' + text.replace('"', '""') + '"' if special else text


def _parquet(told: EstimateOutput) -> bytes:
    import pyarrow as pa
    from pyarrow import parquet

    found, table = told.found, told.columns()
    types = dict(zip(found.by, found.types, strict=True)) if isinstance(found, GroupedEstimate) else {}
    types |= {name: pa.float64() for name in (*COLUMNS[1:], *SIMULTANEOUS)}
    types |= {"label": pa.string(), "identifiable": pa.bool_(), "reports": pa.int64(), "few_reports": pa.bool_()}
    content = io.BytesIO()
    arrays = [pa.array(values, types[name]) for name, values in table.items()]
    parquet.write_table(pa.table(arrays, names=list(table)), content)
    return content.getvalue()


def _json(told: EstimateOutput) -> bytes:
    record = {"schema": told.schema, **told.record()}
    return json.dumps(record, ensure_ascii=False, allow_nan=False, indent=1).encode() + b"\n"


WRITERS: dict[str, Callable[[EstimateOutput], bytes]] = {".csv": _csv, ".parquet": _parquet, ".json": _json}


def _print(found: FrequencyEstimate, *, simultaneous: bool, err: bool) -> None:
    columns = ["category", *_number_columns(found, simultaneous=simultaneous)]
    print_table(columns, _rows(found, simultaneous=simultaneous), err=err)
    _print_confounded(found, err=err)
    if found.few_reports:
        say(
            f"Errors and intervals are doubtful: their normal approximation needs {found.reports_needed:,} reports.",
            err=err,
        )


def _print_groups(found: GroupedEstimate, *, simultaneous: bool, err: bool) -> None:
    first, few = found.estimates[0], sum(estimate.few_reports for estimate in found.estimates)
    columns = [*map(printable, found.by), "reports", "category", *_number_columns(first, simultaneous=simultaneous)]
    rows: list[list[str]] = []
    ends = set()
    shown = min(len(found), max(1, _MOST_ROWS // len(first.labels)))
    for keys, estimate in list(found)[:shown]:
        reports = f"{estimate.reports:,}{' (few)' if estimate.few_reports else ''}"
        # The group stands in its first row; the other rows are about the same one.
        names = [*map(in_words, keys), reports]
        for row in _rows(estimate, simultaneous=simultaneous):
            rows.append([*names, *row])
            names = [""] * len(names)
        ends.add(len(rows) - 1)
    print_table(columns, rows, err=err, texts=(*range(len(found.by)), len(found.by) + 1), ends=ends)
    if shown < len(found):
        say(f"{len(found) - shown:,} more groups are not shown; -o FILE writes all of them.", err=err)
    _print_confounded(first, err=err)
    if few:
        say(
            f"{few:,} of {len(found):,} groups have few reports: errors and intervals are doubtful there, since their "
            "normal approximation needs more.",
            err=err,
        )


def _number_columns(found: FrequencyEstimate, *, simultaneous: bool) -> list[str]:
    percent = f"{100 * found.confidence:g} %"
    names = ["frequency", "standard error", f"{percent} interval"]
    names += [f"{percent} for all {found.family:,} at once"] if simultaneous else []
    return names


def _rows(found: FrequencyEstimate, *, simultaneous: bool) -> list[list[str]]:
    """Return the cells of the table for each category."""
    rows: list[list[str]] = []
    for place, label in enumerate(found.labels):
        known = bool(found.identifiable[place])
        told = f"{found.standard_errors[place]:.5f}" if known else "not identifiable"
        intervals = [found.intervals[place]] + ([found.simultaneous_intervals[place]] if simultaneous else [])
        shown = [f"{lower:.5f} to {upper:.5f}" for lower, upper in intervals]
        rows.append([label, f"{found.frequencies[place]:.5f}", told, *shown])
    return rows


def _print_confounded(found: FrequencyEstimate, *, err: bool) -> None:
    for group in found.groups:
        if len(group) > 1:
            say(f"Only the total of these can be estimated: {', '.join(group)}.", err=err)
