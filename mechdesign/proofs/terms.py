"""A mechanism file as a term of Coq: integers alone, without labels.

The sets of the file are those of ``coq/Spec.v``. Probabilities are given as weights, whose shares are meant; numbers of
one table over a common denominator.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from fractions import Fraction
from typing import Any

from mechdesign.errors import LimitError, shorten
from mechdesign.numerics.epsilon import Epsilon
from mechdesign.numerics.exact import over_common_denominator
from mechdesign.proofs.theories import MATRIX, RECORDS, SECRET, WINDOWS, theory_of
from mechdesign.proofs.window_terms import window_term

Table = Mapping[str, Any]


def without_nulls(value: Any) -> Any:
    """Return a table of a file without the keys that are null, at any depth: a null is an absent key.

    Examples
    --------
    >>> without_nulls({"sets": [{"counts": [1, 1], "delta": None}], "cover": None})
    {'sets': [{'counts': [1, 1]}]}
    """
    if isinstance(value, dict):
        return {key: without_nulls(inner) for key, inner in value.items() if inner is not None}
    return [without_nulls(inner) for inner in value] if isinstance(value, list) else value


def has_delta(value: Any) -> bool:
    """Return whether a table of a file has a delta, at any depth.

    Examples
    --------
    >>> [has_delta(table) for table in ({"sets": [{"delta": "1e-9"}]}, {"delta": None}, {})]
    [True, False, False]
    """
    if isinstance(value, Mapping):
        return value.get("delta") is not None or any(map(has_delta, value.values()))
    return isinstance(value, list) and any(map(has_delta, value))


def file_term(document: Table) -> str:
    """Return the term of the JSON of a file that loads: ``File ...``, or of a secret ``SecretFile ...``.

    Of a file of windows it is ``WindowsFile ...``, and of one of views of records ``RecordsFile ...``.

    Raises
    ------
    LimitError
        For a set that the proofs do not cover.

    Examples
    --------
    >>> promise = {"epsilon": "log(3)", "radius": "2", "center": ["1/2", "1/2"]}
    >>> file_term({"bits": 2, "numerators": [[3, 1], [1, 3]], "guarantee": promise})
    'File 2 2 2 [[3; 1]; [1; 3]] (Log 3 1) None None None (Ball [1; 1] 2 1)'
    """
    if theory_of(document) is RECORDS:
        return _records(document)
    if theory_of(document) is WINDOWS:
        return window_term(document, _epsilon(document["epsilon"]), _option(document.get("cap")))
    rows, promise = document["numerators"], without_nulls(document["guarantee"])
    sides = [_option(promise.get(side)) for side in ("lower", "cap", "maximal_leakage")]
    lines = _list(_list(map(str, row)) for row in rows)
    kind, of_whom = ("SecretFile", _secret(promise["secret"])) if "secret" in promise else ("File", set_term(promise))
    return (
        f"{kind} {len(rows)} {len(rows[0])} {document['bits']} {lines} {_epsilon(promise['epsilon'])} "
        f"{' '.join(sides)} {of_whom}"
    )


def set_term(table: Table) -> str:
    """Return the term, in brackets, of the set of priors that a table of a file holds."""
    found = next((kind for kind in _KINDS if kind in table), None)
    if found is None:
        own = sorted(table.keys() - {"epsilon", "lower", "cap", "maximal_leakage"})
        raise LimitError.not_machine_checked(
            f"the machine-checked proofs do not cover the set with the keys {shorten(own)}; they cover l1 balls, "
            "hulls, limits of categories and events, products and unions; verify it without --machine-checked"
        )
    return _KINDS[found](table)


def _number(value: object) -> Fraction:
    return Fraction(str(value))


def _signed(number: int) -> str:
    return str(number) if number >= 0 else f"({number})"


def _list(items: Iterable[str]) -> str:
    return f"[{'; '.join(items)}]"


def _integers(numbers: Iterable[int]) -> str:
    return _list(map(_signed, numbers))


def _epsilon(text: str) -> str:
    logarithm = text.strip().removeprefix("log(").removesuffix(")").strip()
    x = _number(logarithm)
    return f"({'Log' if text.strip().startswith('log') else 'Nats'} {x.numerator} {x.denominator})"


def _option(text: str | None) -> str:
    return "None" if text is None else f"(Some {_epsilon(text)})"


def _weights(table: Table) -> list[int]:
    return list(table["counts"]) if "counts" in table else over_common_denominator(map(_number, table["center"]))[0]


def _fold(kind: str, terms: Sequence[str]) -> str:
    return terms[0] if len(terms) == 1 else f"({kind} {terms[0]} {_fold(kind, terms[1:])})"


def _ball(table: Table) -> str:
    radius = _number(table["radius"])
    return f"(Ball {_integers(_weights(table))} {radius.numerator} {radius.denominator})"


def _hull(table: Table) -> str:
    priors = [over_common_denominator(map(_number, prior))[0] for prior in table["priors"]]
    common = math.lcm(*map(sum, priors))
    return f"(Hull {_list(_integers(w * (common // sum(prior)) for w in prior) for prior in priors)})"


def _limits(lower: Sequence[Any], upper: Sequence[Any]) -> str:
    size = len(lower)
    numbers, common = over_common_denominator(map(_number, [*lower, *upper]))
    return f"(Box {_integers(numbers[:size])} {_integers(numbers[size:])} {common})"


def _box(table: Table) -> str:
    return _limits(table["box"]["lower"], table["box"]["upper"])


def _lower_limits(table: Table) -> str:
    return _limits(lower := table["lower-limits"]["lower"], [1] * len(lower))


def _l1_box(table: Table) -> str:
    inner = table["l1-box"]
    return _fold("Both", [_ball(inner), _limits(inner["lower"], inner["upper"])])


def _events(table: Table, alphas: Iterable[Any], gammas: Iterable[Any]) -> str:
    lines = [(_number(a), _number(b)) for a, b in zip(alphas, gammas, strict=True)]
    numbers, common = over_common_denominator(x for line in lines for x in line)
    pairs = _list(f"({_signed(a)}, {_signed(b)})" for a, b in zip(numbers[::2], numbers[1::2], strict=True))
    return f"(Events {_integers(_weights(table))} {pairs} {common})"


def _relative_ball(table: Table) -> str:
    inner = table["relative-ball"]
    return _events(inner, [inner["alpha"]], [inner["gamma"]])


def _event_set(table: Table) -> str:
    inner = table["event-set"]
    return _events(inner, inner["alphas"], inner["gammas"])


def _pairs(table: Table) -> str:
    first, second = table["factors"]
    m, n = (len(factor["inputs"]) for factor in (first, second))
    return f"(Pairs {m} {set_term(first)} {n} {set_term(second)})"


def _union(table: Table) -> str:
    return _fold("Either", [set_term(each) for each in ([table["cover"]] if "cover" in table else table["sets"])])


def _records(document: Table) -> str:
    """Return the term of views of records: what is promised of the whole, and each view with its weight."""
    for part in document["parts"]:
        kind = theory_of(part["mechanism"])
        if kind is not MATRIX:
            promised = "about a secret" if kind is SECRET else "of windows"
            raise LimitError.not_machine_checked(
                f"the view {shorten(part['name'])} is {promised}, and the machine-checked proofs of whole records are "
                "about views with a list of labels and without a secret; verify it without --machine-checked"
            )
    views = _list(f"({part['weight']}, {file_term(part['mechanism'])})" for part in document["parts"])
    sides = f"{_epsilon(document['epsilon'])} {_option(lower_of_records(document))}"
    return f"RecordsFile {sides} {document['weight_bits']} {views}"


def lower_of_records(document: Table) -> str | None:
    """Return the promise from below about whole records: the greatest of the views, if all have one.

    Examples
    --------
    >>> views = [{"mechanism": {"guarantee": {"lower": lower}}} for lower in ("1", "log(4)")]
    >>> lower_of_records({"parts": views})
    'log(4)'
    """
    sides = [part["mechanism"]["guarantee"].get("lower") for part in document["parts"]]
    stated = [side for side in sides if side is not None]
    return max(stated, key=lambda side: Epsilon.of(side).exp_down) if len(stated) == len(sides) else None


def _secret(table: Table) -> str:
    """Return the set of the laws of the secret, and the sets of the laws of the data given each of its values."""
    if "limits" in table:
        law, *given = map(set_term, table["limits"])
    else:
        law, *given = (
            f"(Hull [{_integers(row)}])" for row in ([sum(row) for row in table["counts"]], *table["counts"])
        )
    return f"{law} {_list(given)}"


_KINDS: dict[str, Callable[[Table], str]] = {
    "radius": _ball,
    "priors": _hull,
    "box": _box,
    "lower-limits": _lower_limits,
    "l1-box": _l1_box,
    "relative-ball": _relative_ball,
    "event-set": _event_set,
    "factors": _pairs,
    "sets": _union,
}
