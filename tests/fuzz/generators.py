"""Hostile material: numbers, texts, bytes, tables, CSV, TOML, mechanism files and Parquet files.

Everything is drawn from a `random.Random` that is given, so that a seed says it all.
"""

from __future__ import annotations

import bz2
import copy
import gzip
import json
import random
from typing import Any

import tomli_w

Random = random.Random

NUMBERS = (
    *("0", "-0", "0.0", "1", "-1", "2", "0.5", "1e-9", "1e-300", "1e-400", "1e400", "1e308", "-1e308", "1e-12", "10"),
    *("nan", "inf", "-inf", "NaN", "Infinity", "1e999999999", "1e-999999999", "9" * 400, "1" + "0" * 5000, "0x10"),
    *("1_000", "\uff11\uff12", "1/3", "9/8", "1/0", "0/0", "-1/2", "1/" + "3" * 300, "log(2)", "log(1)", "log(0)"),
    *("log(-1)", "log(9/8)", "log(1e400)", "log(log(2))", "log(1/1e300)", "log()", "log(", "", " ", " 1 ", "1,5", "+1"),
    *(
        "1.",
        ".5",
        "1e",
        "--1",
        "\u0663",
        "4e-324",
        "18446744073709551616",
        "9223372036854775808",
        "-9223372036854775809",
    ),
    *("3.141592653589793", "700", "701", "1e-19", "1e15", "1000000000000001", "0.30000000000000004", "1/1", "2/1"),
)
TEXTS = (
    *(
        "a",
        " a",
        "a ",
        "",
        " ",
        "b,c",
        'd"e',
        '"',
        '""',
        "'",
        "\\",
        "-",
        "--",
        "-1",
        "0",
        "1",
        "007",
        "NA",
        "null",
        "None",
    ),
    *("nan", "True", "=1+1", "\U0001f600", "\u00e9", "e\u0301", "\u202eabc", "\ufeff", "\ufeffa", "\u200b", "a\u00a0"),
    *("\u3000a", "a\u2028b", "a\u0085b", "a\x00b", "a\nb", "a\rb", "a\tb", "a;b", "\u0130", "\u00df", "x" * 1000),
    *("x" * 1001, "\U0001f600" * 400, "[red]a[/red]", "%s", "{0}", "a & b", "<script>", "\x1b[31m", "\x7f", "\u061c"),
)
SURROGATE = "\ud800"


def text(rng: Random) -> str:
    """Return a text of the list, or two of them joined."""
    chosen = rng.choice(TEXTS)
    return chosen if rng.random() < 0.9 else chosen + rng.choice(TEXTS)


def number(rng: Random) -> str:
    """Return a number as text, of the list or at random."""
    kind = rng.random()
    if kind < 0.6:
        return rng.choice(NUMBERS)
    if kind < 0.8:
        return repr(rng.choice([-1, 1]) * 10 ** rng.uniform(-330, 300) * rng.random())
    return str(rng.randint(-(10 ** rng.randint(0, 25)), 10 ** rng.randint(0, 25)))


def labels(rng: Random, size: int) -> list[str]:
    """Return different labels that are allowed: no control characters, no white space around them."""
    allowed = [
        label
        for label in TEXTS
        if label.strip() == label
        and label
        and len(label) <= 1000
        and not any(ord(c) < 32 or 127 <= ord(c) < 160 for c in label)
    ]
    plain = [f"v{i}" for i in range(size)]
    return rng.sample(allowed, size) if rng.random() < 0.6 else plain


# Bytes

_PIECES = (
    *(b'"', b"'", b"\x00", b"\r", b"\n", b"\r\n", b"\n\n", b"\xff", b"\xef\xbb\xbf", b",", b",,,,", b";", b"\t", b" "),
    *(
        b"\xf0\x9f\x98\x80",
        b"\xed\xa0\x80",
        b"\xe2\x80\xae",
        b"{",
        b"}",
        b"[",
        b"]",
        b"[" * 3000,
        b'{"a":' * 2000,
        b"0",
    ),
    *(
        b"-",
        b"1e999",
        b"NaN",
        b"null",
        b"true",
        b'"a"',
        b"\\u0000",
        b"\\ud800",
        b"#",
        b"=",
        b"\x1a",
        b"\xc0\x80",
        b"x" * 70_000,
    ),
)


def damaged(rng: Random, content: bytes) -> bytes:
    """Return content with one to three accidents."""
    for _ in range(rng.choice([1, 1, 2, 3])):
        at, to = sorted((rng.randint(0, len(content)), rng.randint(0, len(content))))
        to = min(to, at + rng.choice([1, 3, 20, 10**9]))
        kind = rng.randrange(9)
        if kind == 0 and content:
            at = rng.randrange(len(content))
            content = content[:at] + bytes([content[at] ^ (1 << rng.randrange(8))]) + content[at + 1 :]
        elif kind == 1:
            content = content[:at] + content[to:]
        elif kind == 2:
            content = content[:to] + content[at:to] * rng.choice([1, 2, 50]) + content[to:]
        elif kind in {3, 4, 5}:
            content = content[:at] + rng.choice(_PIECES) + content[at:]
        elif kind == 6:
            content = content[:at]
        elif kind == 7:
            content = rng.choice([b"\xef\xbb\xbf", b"\xff\xfe", b"\n", b"\x00", b"PK", b"PAR1", b"\x1f\x8b"]) + content
        else:
            content = reencoded(rng, content)
    return content


def reencoded(rng: Random, content: bytes) -> bytes:
    """Return a text in another encoding, or with other ends of lines."""
    kind = rng.randrange(4)
    if kind == 0:
        return content.decode(errors="replace").encode("utf-16")
    if kind == 1:
        return content.replace(b"\n", b"\r\n")
    if kind == 2:
        return content.replace(b"\n", b"\r")
    return content.removesuffix(b"\n")


def compressed(rng: Random, content: bytes, ending: str) -> bytes:
    """Return content compressed as an ending says, now and then cut short or doubled."""
    made = {".gz": gzip.compress, ".bz2": bz2.compress}.get(ending, bytes)(content)
    kind = rng.random()
    if ending and kind < 0.15:
        return made[: rng.randint(0, len(made))]
    if ending and kind < 0.25:
        return made + rng.choice([b"x", made, b"\x00" * 10])
    return made


# Tables: what JSON and TOML hold


def mutated(rng: Random, table: Any) -> Any:
    """Return a copy of nested dicts and lists with one to three places changed."""
    table = copy.deepcopy(table)
    for _ in range(rng.choice([1, 1, 1, 2, 3])):
        folder, key = _place(rng, table)
        if folder is not None:
            _change(rng, folder, key)
    return table


def _place(rng: Random, table: Any) -> tuple[Any, Any]:
    """Return a container within a table and one of its keys; deep places are as likely as flat ones."""
    folder, key = None, None
    while isinstance(table, dict | list) and table:
        folder, key = table, rng.choice(list(table)) if isinstance(table, dict) else rng.randrange(len(table))
        table = folder[key]
        if rng.random() < 0.25:
            break
    return folder, key


def _change(rng: Random, folder: Any, key: Any) -> None:
    old, kind = folder[key], rng.randrange(10)
    if kind == 0:
        del folder[key]
    elif kind == 1 and isinstance(folder, dict):
        folder[rng.choice(["extra", text(rng), "delta", "samples", "radius", "weights", "counts", "matrix"])] = old
    elif kind == 1:
        folder.insert(rng.randint(0, len(folder)), old)
    elif kind == 2 and isinstance(folder, list):
        rng.shuffle(folder)
    elif kind == 3 and isinstance(folder, dict):
        other = rng.choice(list(folder))
        folder[key], folder[other] = folder[other], folder[key]
    else:
        folder[key] = _value_like(rng, old)


def _value_like(rng: Random, old: Any) -> Any:
    """Return another value, mostly of the same kind."""
    if rng.random() < 0.25:
        return rng.choice(
            [None, True, False, 0, -1, 1.5, "", "a", [], {}, [[]], {"a": 1}, 2**70, 10**30, 1e300, [[[[[]]]]]]
        )
    if isinstance(old, bool):
        return not old
    if isinstance(old, int):
        return rng.choice([old + 1, old - 1, -old, 2 * old, 0, 2**53, 2**63, -(2**63), float(old), str(old), 10**25])
    if isinstance(old, float):
        return rng.choice([old * (1 + 1e-15), old * 1.001, -old, 0.0, old * 1e300, 1e-320, old + 1, str(old)])
    if isinstance(old, str):
        return rng.choice([number(rng), text(rng), old + " ", " " + old, old * 2, old.upper(), SURROGATE + old])
    if isinstance(old, list):
        return rng.choice([old[:-1], old + old[:1], old[::-1], old * 2, [old], dict(enumerate(map(str, old)))])
    return [old] if rng.random() < 0.5 else list(old or [])


def as_json(rng: Random, table: Any) -> bytes:
    """Return JSON of a table in one of its many spellings."""
    content = json.dumps(table, ensure_ascii=rng.random() < 0.5, indent=rng.choice([None, 1]))
    return content.encode(errors="surrogatepass")


def as_toml(table: dict[str, Any]) -> bytes:
    """Return TOML of a table; what TOML has no form for is left out."""
    return tomli_w.dumps(_toml_value(table)).encode(errors="replace")


def _toml_value(value: Any) -> Any:
    if isinstance(value, dict):
        return {str(key): _toml_value(inner) for key, inner in value.items() if inner is not None}
    if isinstance(value, list):
        return [_toml_value(inner) for inner in value if inner is not None]
    return value


# Problems


def problem_table(rng: Random) -> dict[str, Any]:
    """Return a problem file as a table, that holds a small problem."""
    size = rng.randint(2, 5)
    names = labels(rng, size)
    kind = rng.choice(["counts", "counts", "probabilities", "priors"])
    prior: dict[str, Any]
    if kind == "counts":
        prior = {"counts": {name: rng.choice([0, 1, 3, 50, 1000]) + 1 for name in names}}
        prior |= rng.choice([{}, {"delta": "1e-9"}, {"radius": "0.1"}, {"radius": 2}, {"known": True}])
    else:
        rows = [[f"{x}/{sum(row)}" for x in row] for row in ([rng.randint(1, 9) for _ in names] for _ in range(3))]
        prior = {"labels": names}
        prior |= (
            {"priors": rows}
            if kind == "priors"
            else {"probabilities": rows[0]}
            | rng.choice([{"radius": "0"}, {"radius": "0.3"}, {"delta": "0.01", "samples": 500}])
        )
    utility = rng.choice(
        [
            "mutual-information",
            "chi-square",
            "total-variation",
            "squared-hellinger",
            "hamming-accuracy",
            "worst-case-mutual-information",
            "worst-case-hamming-accuracy",
        ]
    )
    table = {"title": "a title", "epsilon": rng.choice(["1", "log(2)", "0.1", "3"]), "utility": utility, "prior": prior}
    if rng.random() < 0.2:
        table["lower"] = rng.choice(["1", "log(2)", "0", "700"])
    if rng.random() < 0.2:
        matrix = [[rng.choice([0, 1, -2, "1/3", 1e9]) for _ in names] for _ in range(rng.randint(1, 3))]
        table |= {"utility": "expected-gain", "gain": {"matrix": matrix}}
    return table
