"""Whether the term in a certificate is the file: both as canonical JSON, which must agree.

`from_coq` reads what Coq prints of the term that it has checked; `from_file` reads the JSON of the mechanism file.
Neither shares anything with what wrote the term.
"""

from __future__ import annotations

import base64
import json
import math
import re
import struct
import zlib
from collections.abc import Iterator
from fractions import Fraction
from typing import Any

_TOKEN = re.compile(r"%[A-Za-z]+|:=|\{\||\|\}|[][();,]|-?[0-9]+|[A-Za-z_]+")

_SIDES = ("epsilon", "lower", "cap", "maximal_leakage")
_OF_FILE = ("inputs", "outputs", "bits", "rows", "eps", "lower", "cap", "average")
_OF_DATA = (
    "data_inputs",
    "data_outputs",
    "data_bits",
    "data_rows",
    "secret_eps",
    "secret_lower",
    "data_cap",
    "data_average",
)


def from_coq(printed: str) -> str:
    """Return canonical JSON of the term that Coq prints, ``{| inputs := 2; ... |}``.

    Raises
    ------
    ValueError
        If it is no such term.

    Examples
    --------
    >>> json.loads(from_coq("{| inputs := 1; outputs := 1; bits := 0; rows := [[1]]; eps := Nats 1 2; lower := None; "
    ...                     "cap := None; average := None; set := Ball [1] 0 1 |}"))["set"]
    ['ball', ['1'], '0']
    """
    left = iter(token for token in _TOKEN.findall(printed) if not token.startswith("%"))
    if "{|" not in left:
        raise ValueError("there is no record")
    return _canonical(_of_term(_record(left)))


def from_file(content: bytes) -> str:
    """Return canonical JSON of what a mechanism file promises, and of its integers."""
    return _canonical(_of_table(_parsed(content)))


def samples_of(content: bytes) -> tuple[int, Fraction, tuple[Fraction | None, ...]]:
    """Return how many samples the counts of a mechanism file are, and its delta.

    Of views of records, whose delta is the sum of theirs, also the delta of each view, None where it has none.

    Examples
    --------
    >>> samples_of(b'{"guarantee": {"counts": [3, 1], "delta": "1e-2"}}')
    (4, Fraction(1, 100), ())
    """
    table = _parsed(content)
    if "parts" not in table:
        promise = table["guarantee"]
        return sum(promise["counts"]), Fraction(str(promise["delta"])), ()
    promises = [part["mechanism"]["guarantee"] for part in table["parts"]]
    views = tuple(Fraction(str(each["delta"])) if "delta" in each else None for each in promises)
    sizes = {sum(each["counts"]) for each in promises if "delta" in each}
    return max(sizes), sum(filter(None, views), Fraction(0)), views


def _parsed(content: bytes) -> Any:
    """Return the tables of a file; a key that is null is as if it were absent."""

    def stated(table: dict[str, Any]) -> dict[str, Any]:
        return {key: value for key, value in table.items() if value is not None}

    return json.loads(content.decode("utf-8-sig"), parse_float=str, object_hook=stated)


def _canonical(value: Any) -> str:
    return json.dumps(value, sort_keys=True, separators=(",", ":"))


# What Coq prints.


def _of_term(fields: dict[str, Any]) -> dict[str, Any]:
    """Return what the term of a file says, by the names of its fields."""
    if "seeds" in fields:
        return _windows_of(fields)
    if "parts" in fields:
        views = [[weight, _of_term(view)] for weight, view in fields["parts"]]
        sides = {"epsilon": _epsilon_of(fields["record_eps"]), "lower": _epsilon_of(fields["record_lower"])}
        return {**sides, "weight_bits": fields["weight_bits"], "parts": views}
    high, wide, bits, rows, *sides_of = (fields.pop(name) for name in (_OF_DATA if "data_rows" in fields else _OF_FILE))
    if len(rows) != high or any(len(row) != wide for row in rows):
        raise ValueError("the rows are not as many or as long as the term says")
    told = {"bits": bits, "numerators": rows, **dict(zip(_SIDES, map(_epsilon_of, sides_of), strict=True))}
    if "set" in fields:
        return {**told, "set": _set_of(fields["set"])}
    return {**told, "secret": [_set_of(fields["secret_law"]), [_set_of(each) for each in fields["given"]]]}


def _record(left: Iterator[str]) -> dict[str, Any]:
    """Return the fields of a record, from the token after its opening."""
    fields, end = {}, ";"
    while end == ";":
        name = next(left, "")
        if next(left, "") != ":=":
            raise ValueError(f"{name} has no value")
        fields[name], end = _expression(left, ";", "|}")
    return fields


def _expression(left: Iterator[str], *ends: str) -> tuple[Any, str]:
    """Return an application, or an atom, and the token after it."""
    parts: list[Any] = []
    for token in left:
        if token in ends:
            return (parts[0] if len(parts) == 1 else parts), token
        if token == "[":  # noqa: S105 - a bracket
            parts.append(_items(left, "]", ";"))
        elif token == "(":  # noqa: S105
            inner = _items(left, ")", ",")
            parts.append(inner[0] if len(inner) == 1 else inner)
        elif token == "{|":  # noqa: S105
            parts.append(_record(left))
        else:
            parts.append(int(token) if re.fullmatch(r"-?[0-9]+", token) else token)
    raise ValueError("the term has no end")


def _items(left: Iterator[str], end: str, between: str) -> list[Any]:
    items: list[Any] = []
    token = between
    while token != end:
        item, token = _expression(left, between, end)
        if item != [] or token != end or items:
            items.append(item)
    return items


def _epsilon_of(value: Any) -> Any:
    if value == "None":
        return None
    kind, a, b = value[1] if value[0] == "Some" else value
    return [kind.lower(), str(Fraction(a, b))]


def _windows_of(fields: dict[str, Any]) -> dict[str, Any]:
    return {
        "buckets": fields["buckets"],
        "epsilon": _epsilon_of(fields["windows_eps"]),
        "cap": _epsilon_of(fields["windows_cap"]),
        "floor": fields["uniform"],
        "samples": [fields["all_samples"], fields["least_held"]],
        "seeds": fields["seeds"],
    }


def _shares_of(weights: list[int]) -> list[str]:
    return [str(Fraction(w, sum(weights))) for w in weights]


def _set_of(term: list[Any]) -> list[Any]:
    kind, *given = term
    match kind:
        case "Ball":
            return ["ball", _shares_of(given[0]), str(Fraction(given[1], given[2]))]
        case "Hull":
            return ["hull", [_shares_of(weights) for weights in given[0]]]
        case "Box":
            return ["box", *([str(Fraction(x, given[2])) for x in side] for side in given[:2])]
        case "Events":
            return ["events", _shares_of(given[0]), [[str(Fraction(x, given[2])) for x in line] for line in given[1]]]
        case "Pairs":
            return ["pairs", given[0], _set_of(given[1]), given[2], _set_of(given[3])]
    first, second = map(_set_of, given)
    return [kind.lower(), first, *(second[1:] if given[1][0] == kind else [second])]


# What the file holds.


def _side(text: str | None) -> list[str] | None:
    if text is None:
        return None
    found = re.fullmatch(r"\s*log\(([^()]*)\)\s*", text)
    return ["log", str(Fraction(found[1].strip()))] if found else ["nats", str(Fraction(text.strip()))]


def _of_table(table: dict[str, Any]) -> dict[str, Any]:
    """Return what the tables of a file say."""
    if "windows" in table:
        return _windows(table)
    if "parts" in table:
        views = [[part["weight"], _of_table(part["mechanism"])] for part in table["parts"]]
        sides = [_side(part["mechanism"]["guarantee"].get("lower")) for part in table["parts"]]
        stated = [side for side in sides if side is not None]
        lower = max(stated, key=_size) if len(stated) == len(sides) else None
        about = {"epsilon": _side(table["epsilon"]), "lower": lower, "weight_bits": table["weight_bits"]}
        return {**about, "parts": views}
    promise = table["guarantee"]
    told = {side: _side(promise.get(side)) for side in _SIDES}
    about = {"secret": _laws(promise["secret"])} if "secret" in promise else {"set": _set(promise)}
    return {"bits": table["bits"], "numerators": table["numerators"], **told, **about}


def _size(side: list[str]) -> float:
    number = float(Fraction(side[1]))
    return math.log(number) if side[0] == "log" else number


def _windows(table: dict[str, Any]) -> dict[str, Any]:
    """Return what a file of windows holds: for each seed where it begins, and length and units of each window."""
    packed, facts, q = table["windows"], table["evidence"], table["buckets"]
    starts, counts, lengths = (_sixteen(packed[name]) for name in ("starts", "counts", "lengths"))
    least, above = facts["threshold"], zlib.decompress(base64.b64decode(facts.get("held", facts.get("units"))))
    cells = [cell for (cell,) in struct.iter_unpack("<q", above)] if "units" in facts else []
    seeds, place = [], 0
    for number, (start, more) in enumerate(zip(starts, counts, strict=True)):
        windows, at = [], start
        for index in range(place, place + more + 1):
            length = lengths[index] + 1
            if cells:
                held = sum(cells[number * q + (at + step) % q] for step in range(length))
            else:
                held = least + sum(byte << 8 * i for i, byte in enumerate(above[index :: len(lengths)]))
            windows.append([length, held])
            at += length
        seeds.append([start, windows])
        place += more + 1
    parts = 2**20 if "heavy" in table and "delta" in facts else 1
    sides = {side: _side(table.get(side)) for side in ("epsilon", "cap")}
    about = {"floor": int(table.get("floor", 0)), "samples": [facts["samples"] * parts, least]}
    return {"buckets": q, **sides, **about, "seeds": seeds}


def _sixteen(packed: str) -> list[int]:
    return [number for (number,) in struct.iter_unpack("<H", zlib.decompress(base64.b64decode(packed)))]


def _shares(values: list[Any]) -> list[str]:
    weights = [Fraction(x) for x in values]
    return [str(w / sum(weights)) for w in weights]


def _plain(values: list[Any]) -> list[str]:
    return [str(Fraction(x)) for x in values]


def _set(table: dict[str, Any]) -> list[Any]:
    found: list[Any]
    match table:
        case {"sets": sets}:
            each = [_set(inner) for inner in ([table["cover"]] if "cover" in table else sets)]
            found = each[0] if len(each) == 1 else ["either", *each]
        case {"factors": [first, second]}:
            found = ["pairs", len(first["inputs"]), _set(first), len(second["inputs"]), _set(second)]
        case {"priors": priors}:
            found = ["hull", [_shares(prior) for prior in priors]]
        case {"box": {"lower": lower, "upper": upper}}:
            found = ["box", _plain(lower), _plain(upper)]
        case {"lower-limits": {"lower": lower}}:
            found = ["box", _plain(lower), ["1"] * len(lower)]
        case {"l1-box": inner}:
            found = ["both", _set(inner), ["box", _plain(inner["lower"]), _plain(inner["upper"])]]
        case {"relative-ball": inner}:
            found = ["events", _estimate(inner), [_plain([inner["alpha"], inner["gamma"]])]]
        case {"event-set": inner}:
            lines = zip(inner["alphas"], inner["gammas"], strict=True)
            found = ["events", _estimate(inner), [_plain(list(line)) for line in lines]]
        case _:
            found = ["ball", _estimate(table), str(Fraction(table["radius"]))]
    return found


def _laws(table: dict[str, Any]) -> list[Any]:
    """Return the set of the laws of a secret, and those of the data given each of its values."""
    if "limits" in table:
        law, *given = map(_set, table["limits"])
        return [law, given]
    counts = table["counts"]
    return [["hull", [_shares([sum(row) for row in counts])]], [["hull", [_shares(row)]] for row in counts]]


def _estimate(table: dict[str, Any]) -> list[str]:
    return _shares(table["counts"] if "counts" in table else table["center"])
