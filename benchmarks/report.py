"""The measurements as Markdown sections, and their place in a README."""

from __future__ import annotations

import datetime
import os
import platform
import textwrap
from importlib.metadata import PackageNotFoundError, version
from itertools import groupby
from pathlib import Path
from typing import Any

from benchmarks import errors, fleet, keyed, sweeps
from benchmarks.measure import KNOWN, TOTAL, Row, Sizes
from mechdesign.comparison.rivals import WEAKER_THAN_LDP

BEGIN, END = "<!-- table: begin -->\n", "<!-- table: end -->\n"
PACKAGES = (
    "numpy",
    "scipy",
    "cvxpy",
    "highspy",
    "clarabel",
    "python-flint",
    "pyarrow",
    "pandas",
    "polars",
    "distributed",
    "qif",
    "multi-freq-ldpy",
)
TITLES = {
    "listing": "Column generation beside listing every ray",
    "growth": "Growth with the number of symbols",
    "samples": "Growth with the number of samples",
    "methods": "Every method that covers a problem",
    "polyhedral": "Probability of a right guess beside the literal Proposition 2",
    "linear_loss": "Linear loss under LDP beside qif",
    "privatizing": "Records privatized",
    "files": "Files privatized and counted",
    "estimating": "Frequencies estimated",
    "estimation": "Least estimation errors",
    "fleet": "Data in parts, on a cluster",
    "sweeps": "Many designs, by one process and by two",
    "keyed": "Permanent reports",
    "reaches": "What was to be reached",
}
_ASKED = {"ratio": "at least {}", "times": "at most {} times", "seconds": "at most {} s"}
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
    """Return seconds and gap of a design, in bold if the design is not certified."""
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


def _methods(rows: list[Row]) -> str:
    lines = []
    for row in rows:
        done = f"{number(row['seconds'])} s, {number(row['relative'])}"
        name = f"`{row['name']}`{', taken' if row['taken'] else ''}"
        lines.append(
            [f"`{row['file']}`", row["N"], name, number(row["value"]), done if row["closed"] else f"**{done}**"]
        )
    return (
        "Problem files at tol 1e-6, a few seconds more than the time limit at most; seconds, and the gap as a share of "
        "the value; bold: not certified. `mechdesign methods` says which methods cover a problem.\n\n"
    ) + table(["problem", "N", "method", "value", "outcome"], lines)


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
    timed, reasons = parted(rows)
    return (
        "Least expected |i - j|, smooth counts, epsilon = 1; `min_loss_given_d` of the package qif.\n\n"
        + table(
            ["N", "ours, s", "qif, s", "ratio", "difference"], [[r["N"], *(number(r[k]) for k in keys)] for r in timed]
        )
        + reasons
    )


def parted(rows: list[Row]) -> tuple[list[Row], str]:
    """Return the rows that were measured, and the reasons why others were left out, as text."""
    reasons = dict.fromkeys(row["skipped"] for row in rows if "skipped" in row)
    return [row for row in rows if "skipped" not in row], "".join(f"\nLeft out: {reason}.\n" for reason in reasons)


def paragraph(text: str) -> str:
    """Return a paragraph in lines of 120 characters at most."""
    return textwrap.fill(text, 120) + "\n\n"


def _privatizing(rows: list[Row]) -> str:
    timed, reasons = parted(rows)
    tables = {name: list(several) for name, several in groupby(timed, lambda row: row["table"])}
    lines = [
        [row["mechanism"], row["randomness"], number(row["seconds"]), row["beside"]]
        + [number(row[key]) for key in ("alone", "times")]
        for row in tables["randomness"]
    ]
    clients = next((row["of"] for row in timed if "of" in row), None)
    return (
        f"{tables['randomness'][0]['records']:,} records. Codes in, codes out, beside drawing the randomness alone:\n\n"
        + table(["mechanism", "randomness", "ours, s", "beside", "that, s", "times"], lines)
        + "\nLabels in, labels out, in the same container, with secure randomness; seconds:\n\n"
        + _by_mechanism(tables["containers"], "container", {"seconds": ""})
        + "\n"
        + paragraph(
            "Other samplers, codes in, codes out, seeded; seconds, and times ours. Those of numpy draw from the same "
            "mechanism, with one word of 64 bits a record. `GRR_Client` is the client of multi-freq-ldpy for k-ary "
            "randomized response, and stands beside ours for that"
            + ("." if clients is None else f"; it was timed on {clients:,} records and scaled.")
        )
        + _by_mechanism(tables["samplers"], "sampler", {"seconds": "", "times": ", times"})
        + reasons
    )


def _by_mechanism(rows: list[Row], key: str, values: dict[str, str]) -> str:
    """Return a table with a line for each value of a key, and columns for each mechanism."""
    header = [key] + [
        f"{name}{what}" for name in dict.fromkeys(row["mechanism"] for row in rows) for what in values.values()
    ]
    lines: dict[str, list[Any]] = {}
    for row in rows:
        lines.setdefault(row[key], [row[key]]).extend(number(row[value]) for value in values)
    return table(header, list(lines.values()))


def _files(rows: list[Row]) -> str:
    timed, reasons = parted(rows)
    header = ["work", "MB read", "records", "s", "million records/s", "MB/s", "peak memory, MB"]
    lines = []
    for row in timed:
        speeds = (row[size] / row["seconds"] / 1e6 for size in ("records", "bytes"))
        peak = "-" if row["peak"] is None else f"{row['peak'] / 1e6:.0f}"
        sizes = (f"{row['bytes'] / 1e6:,.0f}", f"{row['records']:,}")
        lines.append([f"{row['work']}, {row['kind']}", *sizes, number(row["seconds"]), *map(number, speeds), peak])
    text = (
        "Five columns, of which one is privatized by the mechanism for education, with secure randomness, and written "
        "alone; then its reports are counted. What is read was written just before. Memory is the peak of a process of "
        "its own above what one record takes."
    )
    return paragraph(text) + table(header, lines) + reasons


def _estimating(rows: list[Row]) -> str:
    header = ["mechanism", "N x M", "from codes, s", "from a list of labels, s", "from counts, s"]
    header += ["likelihood alone, s", "EM to 0.01 nats, s", "EM to 1e-6 nats, s", "ratio"]
    lines = []
    for row in rows:
        ours = (number(row[key]) for key in ("codes", "labels", "counts", "likelihood"))
        em = (_within(row, key) for key in ("em_stated", "em"))
        lines.append([row["mechanism"], f"{row['N']} x {row['M']}", *ours, *em, number(row["ratio"])])
    text = (
        f"{rows[0]['records']:,} reports about records from a Zipf distribution. Mechanisms with epsilon = 1: designed "
        "for delta = 1e-9 at tol 1e-3, or k-ary randomized response. An estimate comes with standard errors and "
        "intervals. Maximum likelihood alone ends within 1e-6 nats of the greatest log-likelihood; beside it is plain "
        "EM (the iterative Bayesian update) from equal frequencies, time limit "
        f"{Sizes.time_limit:g} s, and the ratio of EM to 1e-6 nats over it."
    )
    return paragraph(text) + table(header, lines)


def _within(row: Row, key: str) -> str:
    """Return the seconds after which EM was within a gap, or the gap at which it was stopped."""
    return number(row[key]) if row[key] is not None else f"{number(row['em_gap'])} nats left"


def _estimation(rows: list[Row]) -> str:
    threads = list(rows[0]["seconds"])
    header = ["counts", "N", "prior", "error", "at least", "gap, %"]
    header += [f"{count} thread{'' if count == 1 else 's'}, s" for count in threads]
    header += ["outputs", "estimate, s", "without a design at least", "subset selection", "randomized response"]
    lines = []
    for row in rows:
        shown = [f"{row[key]:.5g}" for key in ("value", "bound")]
        gap, seconds = number(100 * row["relative_gap"]), [number(row["seconds"][count]) for count in threads]
        others = [f"{row[key]:.4g}" for key in ("closed", "subsets", "response")]
        estimated = [f"{row['outputs']:,}", number(row["estimating"])]
        lines.append([row["counts"], row["N"], row["known"], *shown, gap, *seconds, *estimated, *others])
    text = (
        "n times the mean squared error of all frequencies estimated from n reports, at the reference prior: of the "
        "design, and what no mechanism with the guarantee is below. Each row of counts has a process of its own for "
        f"each number of threads of linear algebra. The time limit of a design is {errors.SEARCHING:.0%} of the "
        f"seconds in which a gap was to be reached (below), and else {Sizes.error_limit:g} s; proof and bound take "
        "additional time. Value and bound are those of the first process. The bound without a design holds for every "
        "set that contains the prior. The estimate is the maximum likelihood with standard errors and intervals from "
        "the counts of 100,000 reports. Subset selection (with the best size of its sets) and randomized response keep "
        f"local differential privacy. {WEAKER_THAN_LDP}"
    )
    return paragraph(text) + table(header, lines) + _errors_reached(rows)


def _errors_reached(rows: list[Row]) -> str:
    """Return what gaps were to be reached with one thread, in how many seconds, and whether they were."""
    lines = []
    for row in rows:
        if row["reach"] is not None:
            gap, seconds = row["reach"]
            asked = f"{number(100 * gap)} % in {seconds} s"
            got = f"{number(100 * row['relative_gap'])} % in {number(next(iter(row['seconds'].values())))} s"
            lines.append([f"{row['counts']}, {row['known']}", asked, got, "yes" if errors.reached(row) else "**no**"])
    return "\n" + table(["work", "to be reached", "measured", "reached"], lines) if lines else ""


def _fleet(rows: list[Row]) -> str:
    timed, reasons = parted(rows)
    if not timed:
        return reasons
    *works, nothing = timed
    header = ["work", "by", "s", "million records/s", "times one process", "MB read", "MB written", "peak, MB"]
    header += ["messages, bytes a part"]
    lines = []
    for row in works:
        speed, megabytes = row["records"] / row["seconds"] / 1e6, [row[key] / 1e6 for key in ("read", "written")]
        peak = max((peak or 0) for peak in row["peaks"]) / 1e6
        shown = [number(speed), number(row.get("ratio")), *(f"{size:,.0f}" for size in megabytes), f"{peak:,.0f}"]
        sent = f"{row['sent'] / row['parts']:,.0f}" if "ratio" in row else "-"
        lines.append([row["work"], row["way"], number(row["seconds"]), *shown, sent])
    parts, records = works[0]["parts"], works[0]["records"]
    text = (
        f"{parts:,} Parquet parts of {records // parts:,} records and five columns, of which one is privatized by the "
        "mechanism for education, and written alone; a key needs the column of ids "
        "as well. What is read was written just before, and every part is written to the disk before it is published. "
        "One process works as it does by default, with all threads of pyarrow; a worker has one thread for tasks. The "
        "start of processes and of the cluster, and imports, are not in the seconds. The ways take turns, "
        "five rounds for fresh reports and counts: shown are the median seconds, and the median of the ratios within "
        "rounds. The settings are those that [engines](../docs/engines.md) advises. Bytes read and written are those "
        "that the processes that work ask the system for; the peak is all memory that one of them held at any time. "
        f"{nothing['tasks']:,} tasks that do nothing took {number(1e3 * nothing['seconds'] / nothing['tasks'])} ms "
        "each, one after the other through the scheduler."
    )
    return paragraph(text) + table(header, lines) + _fleet_reached(works) + _fleet_planned(rows) + reasons


def _sweeps(rows: list[Row]) -> str:
    timed, reasons = parted(rows)
    ways = [row for row in timed if "way" in row]
    small = [row for row in timed if "what" in row]
    if not ways:
        return reasons
    columns = ", ".join(ways[0]["columns"])
    text = (
        f"{ways[0]['designs']} designs: {columns} of Adult at four epsilons and two deltas, "
        f"{'all certified' if all(row['certified'] for row in ways) else '**not** all certified'}, with one thread of "
        "linear algebra each. Values, bounds and integers are the same to the bit whatever runs them. Processes have "
        "solved the same problems once before. The ways take turns in three rounds; shown are the median seconds, and "
        "the median of the ratios within rounds. The cluster has the settings that [engines](../docs/engines.md) "
        "advises. The last row is what this machine gives to processes that "
        "share nothing: each solves all problems by itself, all at the same time."
    )
    lines = [[row["way"], row["designs"], number(row["seconds"]), number(row["ratio"])] for row in ways]
    lines += [
        [
            f"{row['at_once']} processes at once, each alone with all",
            row["designs"],
            *map(number, (row["seconds"], row["ratio"])),
        ]
        for row in timed
        if "at_once" in row
    ]
    shown = paragraph(text) + table(["by", "designs", "s", "times one process"], lines)
    asked = [
        [row["way"], f"at least {sweeps.RATIO} times one process", f"{row['ratio']:.2f}", row["ratio"] >= sweeps.RATIO]
        for row in ways[1:]
    ]
    asked += [
        [
            f"{row['problems']:,} problems of two symbols, {row['what']}: beside the designs",
            f"at most {sweeps.OVERHEAD:g} ms a problem",
            f"{number(row['overhead'])} ms",
            row["overhead"] <= sweeps.OVERHEAD,
        ]
        for row in small
    ]
    reached = [[*cells, "yes" if good else "**no**"] for *cells, good in asked]
    return shown + "\n" + table(["work", "to be reached", "measured", "reached"], reached) + reasons


def _fleet_reached(rows: list[Row]) -> str:
    """Return the goals for two workers, and whether they were reached."""
    lines = []
    for row in rows:
        if "ratio" in row and row["work"] == fleet.FRESH:
            peak = max((peak or 0) for peak in row["peaks"])
            for what, asked, got, good in (
                (
                    "records a second",
                    f"at least {fleet.RATIO} times one process",
                    f"{row['ratio']:.2f}",
                    row["ratio"] >= fleet.RATIO,
                ),
                ("memory of a worker", f"under {fleet.PEAK / 1e6:,.0f} MB", f"{peak / 1e6:,.0f} MB", peak < fleet.PEAK),
            ):
                lines.append([f"{row['work']}, {row['way']}: {what}", asked, got, "yes" if good else "**no**"])
    return "\n" + table(["work", "to be reached", "measured", "reached"], lines)


def _fleet_planned(rows: list[Row]) -> str:
    """Return what the same takes on a cluster that nobody has measured."""
    header = ["work", "records a part", "parts", "core hours", "TB read", "TB written", "messages, MB"]
    header += ["scheduler, s", f"{fleet.PLANNED_WORKERS} workers, s", "workers kept busy"]
    lines = [
        [
            row["work"],
            *(f"{row[key]:,}" for key in ("part", "parts")),
            number(row["core_hours"]),
            *(number(row[key] / 1e12) for key in ("read", "written")),
            number(row["sent"] / 1e6),
            *(number(row[key]) for key in ("scheduler_seconds", "seconds")),
            f"{row['busy']:,.0f}",
        ]
        for row in fleet.plan(rows)
    ]
    text = (
        f"Not measured: {fleet.PLANNED:.0e} records".replace("e+", "e") + ", computed from the rows above as if "
        "everything grew in proportion. The scheduler's seconds are those of one process that hands out all tasks, "
        "however many workers there are: it keeps so many of them busy. What the workers take is the greater of that "
        "and of their share of the work, if the storage keeps up."
    )
    return "\n" + paragraph(text) + table(header, lines)


def _keyed(rows: list[Row]) -> str:
    timed, reasons = parted(rows)
    tables = {name: [row for row in timed if row["table"] == name] for name in ("reports", "functions")}
    header = ["mechanism", "records and ids", "fresh, s", "permanent, s", "million permanent reports/s"]
    lines = [
        [row["mechanism"], row["form"], number(row["fresh"]), number(row["seconds"]), _millions(row)]
        for row in tables["reports"]
    ]
    least = min(row["records"] / row["seconds"] for row in tables["reports"])
    asked = [
        ["permanent reports a second on one core", f"at least {keyed.REACH / 1e6:g} million", number(least / 1e6)],
    ]
    asked[0].append("yes" if least >= keyed.REACH else "**no**")
    records = f"{tables['reports'][0]['records']:,}"
    return (
        paragraph(
            f"{records} labels with ids of 16 letters, reported with secure randomness or from a key. Seconds are "
            f"those of processors, of all threads together, the least of {keyed.TIMES}. Files hold the two columns; "
            "the reports are written alone."
        )
        + table(header, lines)
        + "\n"
        + table(["work, the slowest row", "to be reached", "measured", "reached"], asked)
        + "\n"
        + paragraph(f"Keyed functions alone: {records} ids, with {keyed.PREFIX} bytes before each.")
        + table(
            ["function", "s", "million/s"],
            [[row["function"], number(row["seconds"]), _millions(row)] for row in tables["functions"]],
        )
        + reasons
    )


def _millions(row: Row) -> str:
    return number(row["records"] / row["seconds"] / 1e6)


def reached(row: Row) -> bool:
    """Return whether a measurement reaches its goal."""
    if "ratio" in row:
        enough = row["ratio"] >= row["reach"]
    else:
        enough = row["times" if "times" in row else "seconds"] <= row["reach"]
    return bool(enough and row.get("ok", True))


def _reaches(rows: list[Row]) -> str:
    lines = []
    for row in rows:
        asked, got = next((words, row[key]) for key, words in _ASKED.items() if key in row)
        verdict = "yes" if reached(row) else "**no**"
        lines.append([row["work"], asked.format(row["reach"]), number(got), verdict])
    return "Designs are certified.\n\n" + table(["work", "to be reached", "measured", "reached"], lines)


def _sets() -> list[str]:
    return [{"known": "known prior", "1e-9": "delta 1e-9", "LDP": "any prior (LDP)"}[known] for known in KNOWN]


def machine() -> str:
    """Return a paragraph on the machine and the packages of the measurements."""
    found = []
    for package in PACKAGES:
        try:
            found.append(f"{package} {version(package)}")
        except PackageNotFoundError:
            found.append(f"no {package}")
    text = (
        f"{os.cpu_count()} cores ({_processor()}); at the last run Python {platform.python_version()}, "
        f"{', '.join(found)}. Each section says when it was measured. Seconds are the least of three runs, or one "
        "run of a second or more. epsilon = 1; mutual information where nothing else is said."
    )
    return textwrap.fill(text, 120) + "\n"


def occasion() -> str:
    """Return the date of a measurement and the load of the machine."""
    return f"Measured {datetime.datetime.now(tz=datetime.UTC).date()}, load {os.getloadavg()[0]:.1f} at the end."


def _processor() -> str:
    info = Path("/proc/cpuinfo")
    names = [line for line in info.read_text().splitlines() if line.startswith("model name")] if info.exists() else []
    return names[0].split(":")[1].strip() if names else platform.machine()


WRITERS = {
    "listing": _listing,
    "growth": _growth,
    "samples": _samples,
    "methods": _methods,
    "polyhedral": _polyhedral,
    "linear_loss": _linear_loss,
    "privatizing": _privatizing,
    "files": _files,
    "estimating": _estimating,
    "estimation": _estimation,
    "fleet": _fleet,
    "sweeps": _sweeps,
    "keyed": _keyed,
    "reaches": _reaches,
}


def report(measured: dict[str, list[Row]], earlier: dict[str, str] | None = None) -> str:
    """Return all sections as Markdown: those measured now, and the earlier text of the others, given by title."""
    texts = dict(earlier or {})
    for name, rows in measured.items():
        texts[TITLES[name]] = f"{occasion()}\n{WRITERS[name](rows)}"
    parts = [f"### {title}\n\n{texts[title]}" for title in TITLES.values() if title in texts]
    return "\n".join([machine(), *parts])


def sections(text: str) -> dict[str, str]:
    """Return the sections of what `report` wrote, by title.

    Examples
    --------
    >>> sections("2 cores\\n\\n### Growth\\n\\n1 s\\n\\n### Samples\\n\\n2 s\\n")
    {'Growth': '1 s\\n', 'Samples': '2 s\\n'}
    """
    _, *parts = text.split("\n### ")
    pairs = (part.partition("\n\n") for part in parts)
    return {title: body.rstrip("\n") + "\n" for title, _, body in pairs}


def inside(path: Path) -> str:
    """Return what a file holds between the two markers."""
    return path.read_text(encoding="utf-8").partition(BEGIN)[2].partition(END)[0]


def insert(path: Path, text: str) -> None:
    """Replace what a file holds between the two markers."""
    before, _, rest = path.read_text(encoding="utf-8").partition(BEGIN)
    _, _, after = rest.partition(END)
    path.write_text(before + BEGIN + text + END + after, encoding="utf-8")
