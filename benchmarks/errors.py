"""What is measured of mechanisms that estimate frequencies with the least error, beside those of the literature.

Values of one problem are compared whenever it is solved twice: each must be above the certified bound of the other.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator

import mechdesign as md
from benchmarks import instances
from benchmarks.measure import KNOWN, PROBLEMS, TOTAL, Row, Sizes, ball
from mechdesign.comparison.rivals import Rivals
from mechdesign.optimize.estimation.caps import estimation_bound

# What was set out: the relative gap, and the seconds in which it is to be reached.
REACHES = {
    ("workclass", "1e-9"): (1e-6, 1),
    ("education", "1e-9"): (1e-4, 10),
    ("native-country", "known"): (0.003, 20),
    ("native-country", "1e-9"): (0.015, 20),
    ("native-country", "LDP"): (0.02, 20),
    ("age", "known"): (0.003, 60),
    ("age", "1e-9"): (0.01, 60),
    ("age", "LDP"): (0.02, 60),
    ("hours-per-week", "known"): (0.003, 60),
    ("hours-per-week", "1e-9"): (0.025, 60),
    ("hours-per-week", "LDP"): (0.02, 60),
    ("zipf-300", "known"): (0.05, 120),
    ("zipf-300", "1e-9"): (0.05, 120),
    ("zipf-300", "LDP"): (0.05, 120),
}
SEARCHING = 0.75  # of these seconds: the rest is for the proof and the bound
ROUNDING = 1e-9  # of an error, relative


def counts_of(name: str) -> instances.Counts:
    """Return the counts of a column of Adult, or Zipf counts.

    Examples
    --------
    >>> len(counts_of("education")), len(counts_of("zipf-300"))
    (16, 300)
    """
    family, _, size = name.partition("-")
    if family == "zipf":
        return instances.zipf(int(size), TOTAL)
    known = md.read_problem(PROBLEMS / f"adult-{name}.toml").problem.uncertainty
    return list(known.l1_ball.evidence.counts)


def time_limits(name: str, longest: float) -> dict[str, float]:
    """Return the time limit of the design for each set: what was set out, less what proof and bound take.

    Examples
    --------
    >>> time_limits("native-country", 10.0), time_limits("age", 120.0)["LDP"]
    ({'known': 10.0, '1e-9': 10.0, 'LDP': 10.0}, 45.0)
    """
    reaches = {known: REACHES.get((name, known)) for known in KNOWN}
    return {known: longest if at is None else min(longest, SEARCHING * at[1]) for known, at in reaches.items()}


def in_own_process(counts: instances.Counts, threads: int, limits: dict[str, float]) -> list[Row]:
    """Return a row for each set and its time limit, designed by a process with so many threads of linear algebra."""
    environment = dict.fromkeys(("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"), str(threads))
    done = subprocess.run(
        [sys.executable, "-m", "benchmarks.error_job"],
        input=json.dumps({"counts": counts, "time_limits": limits}),
        check=True,
        stdout=subprocess.PIPE,
        text=True,
        cwd=PROBLEMS.parent,
        env=os.environ | environment,
    )
    return [json.loads(line) for line in done.stdout.splitlines()]


def beside(counts: instances.Counts) -> Row:
    """Return the errors of subset selection and of randomized response, and the bound without a design."""
    problem = md.DesignProblem(ball(counts, "LDP"), 1, md.EstimationError())
    rivals = Rivals(problem)
    return {
        "subsets": rivals.subset_selection().value,
        "response": rivals.randomized_response().value,
        "closed": estimation_bound(problem.uncertainty, 1),
    }


def estimation(sizes: Sizes) -> Iterator[Row]:
    """Yield designs of least error for every set, each by one thread and by more, beside the literature."""
    for name in sizes.errors:
        counts = counts_of(name)
        others = beside(counts)
        limits = time_limits(name, sizes.error_limit)
        ways = {threads: in_own_process(counts, threads, limits) for threads in sizes.threads}
        for rows in zip(*ways.values(), strict=True):
            yield joined(name, len(counts), dict(zip(ways, rows, strict=True))) | others


def joined(name: str, size: int, rows: dict[int, Row]) -> Row:
    """Return one row of several solutions of one problem, after checking them against each other."""
    value, bound = min(row["value"] for row in rows.values()), max(row["bound"] for row in rows.values())
    if not bound <= value * (1 + ROUNDING):
        raise AssertionError(f"{name}: a certified bound of {bound} is above a value of {value}")
    first = next(iter(rows.values()))
    return {
        "counts": name,
        "N": size,
        "known": first["known"],
        "value": first["value"],
        "bound": first["bound"],
        "relative_gap": 1 - first["bound"] / first["value"],
        "stopped": first["stopped"],
        "outputs": first["outputs"],
        "estimating": first["estimating"],
        "stated": first["stated"],
        "seconds": {threads: row["seconds"] for threads, row in rows.items()},
        "reach": REACHES.get((name, first["known"])),
    }


def reached(row: Row) -> bool | None:
    """Return whether the gap that was set out was reached in time with one thread; None where there was nothing."""
    if row["reach"] is None:
        return None
    gap, seconds = row["reach"]
    return bool(row["relative_gap"] <= gap and next(iter(row["seconds"].values())) <= seconds)


SECTIONS: dict[str, Callable[[Sizes], Iterator[Row]]] = {"estimation": estimation}
