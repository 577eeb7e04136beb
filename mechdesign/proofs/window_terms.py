"""A file of windows as a term of Coq: the lengths of all windows, and how much of the samples each of them holds."""

from __future__ import annotations

import base64
import zlib
from collections.abc import Mapping
from itertools import accumulate, islice, pairwise
from typing import Any

from mechdesign.errors import LimitError

UNITS_PER_SAMPLE = 1 << 20
"""In which samples are counted that lie in a window in part: beside heavy strings, where samples must prove."""


def window_term(document: Mapping[str, Any], epsilon: str, cap: str) -> str:
    """Return the term ``WindowsFile ...`` of the JSON of a file of windows that loads.

    Parameters
    ----------
    document : mapping
        The JSON of the file.
    epsilon, cap : str
        The terms of both.

    Raises
    ------
    LimitError
        For a file without what its windows hold.
    """
    packed, facts, floor = document["windows"], document["evidence"], document.get("floor")
    if document.get("cap") is not None and floor is None:
        raise LimitError.not_machine_checked(
            "the file has a cap and no floor, as older files have; load it, save it, and verify what was saved"
        )
    starts = _numbers(packed["starts"], 2)
    counts = counts_of(document)
    left = iter([length + 1 for length in _numbers(packed["lengths"], 2)])
    lengths = [list(islice(left, count)) for count in counts]
    seeds = []
    for start, own, held in zip(starts, lengths, _held(document, starts, lengths), strict=True):
        windows = "; ".join(f"({length}, {units})" for length, units in zip(own, held, strict=True))
        seeds.append(f"({start}, [{windows}])")
    all_units = facts["samples"] * units_of(document)
    head = f"{document['buckets']} {epsilon} {cap} {floor or 0} {all_units} {facts['threshold']}"
    return f"WindowsFile {head} [{'; '.join(seeds)}]"


def counts_of(document: Mapping[str, Any]) -> list[int]:
    """Return how many windows each seed of the file has."""
    return [count + 1 for count in _numbers(document["windows"]["counts"], 2)]


def units_of(document: Mapping[str, Any]) -> int:
    """Return in how many units the file counts a sample."""
    in_part = document.get("heavy") is not None and document["evidence"].get("delta") is not None
    return UNITS_PER_SAMPLE if in_part else 1


def _held(document: Mapping[str, Any], starts: list[int], lengths: list[list[int]]) -> list[list[int]]:
    """Return how many units each window of each seed holds, from what the file states of windows or of buckets."""
    facts, q = document["evidence"], document["buckets"]
    if facts.get("units") is not None:
        cells = _numbers(facts["units"], 8)
        rows = [cells[first : first + q] for first in range(0, len(cells), q)]
        return [_sums(row, start, own) for row, start, own in zip(rows, starts, lengths, strict=True)]
    if facts.get("held") is None:
        raise LimitError.not_machine_checked(
            "the file has the digest of its evidence alone; the theorem needs what each window holds: save it with "
            "evidence, and verify that"
        )
    content = _inflated(facts["held"])
    total = sum(map(len, lengths))
    numbers = (int.from_bytes(content[place::total], "little") + facts["threshold"] for place in range(total))
    return [list(islice(numbers, len(own))) for own in lengths]


def _sums(row: list[int], start: int, lengths: list[int]) -> list[int]:
    """Return what windows hold that follow each other round a circle of buckets."""
    before, q = [0, *accumulate([*row[start:], *row[:start]])], len(row)
    ends = [0, *accumulate(lengths)]
    held = [end // q * before[q] + before[end % q] for end in ends]
    return [high - low for low, high in pairwise(held)]


def _numbers(packed: str, width: int) -> list[int]:
    content = _inflated(packed)
    return [int.from_bytes(content[place : place + width], "little") for place in range(0, len(content), width)]


def _inflated(packed: str) -> bytes:
    return zlib.decompress(base64.b64decode(packed))
