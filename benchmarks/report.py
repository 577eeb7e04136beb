"""The sections as Markdown, and their place in a README."""

from __future__ import annotations

import datetime
import os
import platform
import textwrap
from importlib.metadata import PackageNotFoundError, version
from itertools import groupby
from pathlib import Path
from typing import Any

from benchmarks.measure import KNOWN, TOTAL, Row, Sizes

BEGIN, END = "<!-- table: begin -->\n", "<!-- table: end -->\n"
PACKAGES = ("numpy", "scipy", "cvxpy", "highspy", "clarabel", "python-flint", "qif")
TITLES = {
    "listing": "Column generation beside listing every ray",
    "growth": "Growth with the number of symbols",
    "samples": "Growth with the number of samples",
    "polyhedral": "Probability of a right guess beside the literal Proposition 2",
    "linear_loss": "Linear loss under LDP beside qif",
    "reaches": "What was to be reached",
}


_OUTCOMES = f"time limit {Sizes.time_limit:g} s; seconds and gap in nats; bold: not certified"


def number(value: float | None) -> str:
    """Return two significant digits, without an exponent where that is short.

    Examples
    --------
    >>> [number(x) for x in (0.00372, 4.5123, 123.4, 7.6e-07, None)]
    ['0.0037', '4.5', '120', '7.6e-7', '-']
    """
    return "-" if value is None else f"{float(f'{value:.1e}'):g}".replace("e-0", "e-")


def table(header: list[str], rows: list[list[Any]]) -> str:
    """Return a Markdown table."""
    lines = [header, ["---"] * len(header), *rows]
    return "".join(f"| {' | '.join(map(str, line))} |\n" for line in lines)


def outcome(row: Row) -> str:
    """Return seconds and gap of a design, in bold where the gap is above the tolerance."""
    text = f"{number(row['seconds'])} s, {number(row['gap'])}"
    return text if row["certified"] else f"**{text}** ({row['stopped'] or 'no column left'})"


def _listing(rows: list[Row]) -> str:
    header = ["counts", "N", "prior", "columns held", "rays listed", "tables, s", "listing, s", "ratio", "difference"]
    keys = ("held", "rays")
    numbers = ("tables", "listing", "ratio", "difference")
    return ("From the problem to the proved design, both certified at tol 1e-6 and of equal value.\n\n") + table(
        header,
        [
            [row["counts"], row["N"], row["known"], *(f"{row[k]:,}" for k in keys), *(number(row[k]) for k in numbers)]
            for row in rows
        ],
    )


def _growth(rows: list[Row]) -> str:
    lines = [
        [family, N, number(tol), *(outcome(row) for row in several)]
        for (tol, N, family), several in groupby(rows, lambda row: (row["tol"], row["N"], row["counts"]))
    ]
    return f"{TOTAL:,} samples, {_OUTCOMES}.\n\n" + table(["counts", "N", "tol", *_sets()], lines)


def _samples(rows: list[Row]) -> str:
    lines = [[f"{row['total']:,}", row["known"], outcome(row), row["method"].split("priced by ")[-1]] for row in rows]
    return f"Smooth counts, N = {rows[0]['N']}, tol 1e-6, {_OUTCOMES}.\n\n" + table(
        ["samples", "prior", "outcome", "priced by"], lines
    )


def _polyhedral(rows: list[Row]) -> str:
    keys = ("seconds", "verify", "literal", "ratio", "difference")
    return (
        "Zipf counts, delta = 1e-9, ball as printed. Ours includes proof and bound, the literal program neither.\n\n"
    ) + table(
        ["N", "ours, s", "verify, s", "literal, s", "ratio", "difference"],
        [[row["N"], *(number(row.get(k)) for k in keys)] for row in rows],
    )


def _linear_loss(rows: list[Row]) -> str:
    keys = ("seconds", "qif", "ratio", "difference")
    timed = [row for row in rows if "skipped" not in row]
    reasons = [f"\nLeft out: {row['skipped']}.\n" for row in rows if "skipped" in row]
    return (
        "Least expected |i - j|, smooth counts, epsilon = 1; `min_loss_given_d` of the package qif.\n\n"
        + table(
            ["N", "ours, s", "qif, s", "ratio", "difference"], [[r["N"], *(number(r[k]) for k in keys)] for r in timed]
        )
        + "".join(reasons)
    )


def reached(row: Row) -> bool:
    """Return whether a measurement is on the right side of what was set out to be reached."""
    enough = row["ratio"] >= row["reach"] if "ratio" in row else row["seconds"] <= row["reach"]
    return bool(enough and row.get("ok", True))


def _reaches(rows: list[Row]) -> str:
    lines = []
    for row in rows:
        asked, got = ("at least {}", row["ratio"]) if "ratio" in row else ("at most {} s", row["seconds"])
        verdict = "yes" if reached(row) else "**no**"
        lines.append([row["work"], asked.format(row["reach"]), number(got), verdict])
    return "Designs are certified.\n\n" + table(["work", "to be reached", "measured", "reached"], lines)


def _sets() -> list[str]:
    return [{"known": "known prior", "1e-9": "delta 1e-9", "LDP": "any prior (LDP)"}[known] for known in KNOWN]


def machine() -> str:
    """Return when, where and with what was measured, in one paragraph."""
    found = []
    for package in PACKAGES:
        try:
            found.append(f"{package} {version(package)}")
        except PackageNotFoundError:
            found.append(f"no {package}")
    when = datetime.datetime.now(tz=datetime.UTC).date()
    text = (
        f"{when}; {os.cpu_count()} cores ({_processor()}), load {os.getloadavg()[0]:.1f} at the end; "
        f"Python {platform.python_version()}, {', '.join(found)}. Seconds are the least of three runs, or one run of "
        "a second or more. epsilon = 1; mutual information where nothing else is said."
    )
    return textwrap.fill(text, 120) + "\n"


def _processor() -> str:
    info = Path("/proc/cpuinfo")
    names = [line for line in info.read_text().splitlines() if line.startswith("model name")] if info.exists() else []
    return names[0].split(":")[1].strip() if names else platform.machine()


WRITERS = {
    "listing": _listing,
    "growth": _growth,
    "samples": _samples,
    "polyhedral": _polyhedral,
    "linear_loss": _linear_loss,
    "reaches": _reaches,
}


def report(measured: dict[str, list[Row]]) -> str:
    """Return all sections as Markdown."""
    parts = [f"### {title}\n\n{WRITERS[name](measured[name])}" for name, title in TITLES.items()]
    return "\n".join([machine(), *parts])


def insert(path: Path, text: str) -> None:
    """Replace what a file holds between the two markers."""
    before, _, rest = path.read_text(encoding="utf-8").partition(BEGIN)
    _, _, after = rest.partition(END)
    path.write_text(before + BEGIN + text + END + after, encoding="utf-8")
