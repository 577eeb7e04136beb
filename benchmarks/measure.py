"""Measurements of designs: rows of numbers, section by section. `report` writes them as tables, `picture` draws them.

Two ways to the same value are compared whenever they are timed; a difference raises an error.
"""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

import mechdesign as md
from benchmarks import instances
from benchmarks.peers import literal_proposition_2, qif_least_loss

PROBLEMS = Path(__file__).parent.parent / "problems"
FAMILIES = {"Zipf": instances.zipf, "uniform": instances.uniform, "one dominant": instances.one_dominant}
KNOWN: dict[str, dict[str, Any]] = {
    "known": {"radius": 0},
    "1e-9": {"delta": "1e-9", "bound": "weissman"},
    "LDP": {"radius": 2},
}
TOTAL = 50_000
SAME = 1e-6  # greatest relative difference of two certified values of one problem
TOL, COARSE = 1e-6, 1e-3

Row = dict[str, Any]
T = TypeVar("T")


@dataclass(frozen=True)
class Sizes:
    """How much is measured.

    Attributes
    ----------
    listed, growth, large, literal, alone, peer : tuple of int
        Numbers of symbols.
    totals : tuple of int
        Numbers of samples.
    time_limit : float
        Seconds for one design, and for the estimate of a peer.
    samples_of : int
        Number of symbols of the section `samples`.
    records, clients : int
        Number of records, and how many of them a peer gets that takes them one by one.
    files : tuple of int
        Bytes of CSV files.
    estimated : tuple of int
        Numbers of symbols.
    parts : tuple of int
        Number of parts, and of records in each.
    tasks : int
        Number of tasks that do nothing.
    swept : tuple of str
        Columns of Adult that are swept.
    trivial : int
        Number of small problems in one sweep.
    errors : tuple of str
        Columns of Adult, or Zipf counts with their number of symbols, for designs of least estimation error.
    threads : tuple of int
        Threads of linear algebra for these designs.
    error_limit : float
        Seconds for each of them where less was not set out, proof and bound aside.
    compared : tuple of str
        Problem files that every method which covers them solves.
    method_limit : float
        Seconds for each of these designs, proof and bound aside.
    reaches : bool
        Whether all goals of the section `reaches` are measured, or only the quick ones.
    """

    listed: tuple[int, ...] = (8, 10, 12, 14, 16, 18)
    growth: tuple[int, ...] = (16, 32, 64, 100, 200)
    large: tuple[int, ...] = (300, 1000, 4000)
    totals: tuple[int, ...] = (10**4, 10**5, 10**6, 10**7, 10**8)
    literal: tuple[int, ...] = (10, 20, 30, 40)
    alone: tuple[int, ...] = (60, 100, 200)
    peer: tuple[int, ...] = (10, 20, 30, 40, 50, 60)
    samples_of: int = 74
    time_limit: float = 60.0
    records: int = 10**7
    clients: int = 10**6
    files: tuple[int, ...] = (10**8, 10**9, 10**10)
    estimated: tuple[int, ...] = (16, 100, 300)
    parts: tuple[int, int] = (100, 10**6)
    tasks: int = 5_000
    swept: tuple[str, ...] = ("relationship", "workclass", "occupation", "education", "native-country")
    trivial: int = 1_000
    errors: tuple[str, ...] = (
        "relationship",
        "workclass",
        "education",
        "native-country",
        "age",
        "hours-per-week",
        "zipf-300",
    )
    threads: tuple[int, ...] = (1, 2)
    error_limit: float = 120.0
    compared: tuple[str, ...] = (
        "adult-education",
        "adult-education-known",
        "adult-native-country",
        "zipf-30-known",
        "adult-race-box",
        "adult-relationship-events",
        "hull-12",
        "adult-relationship-frequencies",
        "adult-education-frequencies",
    )
    method_limit: float = 20.0
    reaches: bool = True


QUICK = Sizes(
    listed=(6, 8),
    growth=(6, 10),
    large=(16,),
    totals=(1_000, 2_000),
    literal=(4, 6),
    alone=(8,),
    peer=(4, 6),
    samples_of=12,
    records=20_000,
    clients=2_000,
    files=(10**6,),
    estimated=(6, 8),
    parts=(3, 2_000),
    tasks=20,
    swept=("relationship",),
    trivial=20,
    errors=("relationship", "zipf-7"),
    error_limit=10.0,
    compared=("adult-race-known",),
    method_limit=2.0,
    reaches=False,
)


def timed(work: Callable[[], T]) -> tuple[T, float]:
    """Return what ``work`` returns, and the least seconds of three runs, or fewer if one takes a second or more."""
    seconds: list[float] = []
    while True:
        started = time.perf_counter()
        result = work()
        seconds.append(time.perf_counter() - started)
        if len(seconds) == 3 or seconds[-1] >= 1:
            return result, min(seconds)


def agree(ours: float, other: float) -> float:
    """Return the difference of two values of one optimum, after checking that they agree."""
    if not abs(ours - other) <= SAME * max(1.0, abs(ours)):
        raise AssertionError(f"two ways to one optimum differ: {ours} and {other}")
    return ours - other


def ball(counts: instances.Counts, known: str) -> md.L1Ball:
    """Return the ball around counts under one of the names in `KNOWN`."""
    return md.L1Ball.from_counts(counts, **KNOWN[known])


def designed(
    problem: md.DesignProblem, tol: float = TOL, time_limit: float | None = None, method: str | None = None
) -> tuple[md.Design, Row]:
    """Return a design, and a row of what it took."""
    design, seconds = timed(lambda: md.design(problem, tol=tol, time_limit=time_limit, method=method))
    row = {
        "N": problem.uncertainty.size,
        "tol": tol,
        "seconds": seconds,
        "value": design.value,
        "gap": design.gap,
        "certified": design.certified,
        "stopped": design.stopped,
        "method": design.method,
        "columns": design.columns,
    }
    return design, row


def beside_listing(problem: md.DesignProblem) -> Row:
    """Return a row of two ways from a problem to a proved design: pricing by tables, and all rays listed."""
    tables, listed = (designed(problem, method=method)[1] for method in ("count-tables", "extreme-rays"))
    if not (tables["certified"] and listed["certified"]):
        raise AssertionError(f"not certified: {tables}, {listed}")
    return {
        "N": tables["N"],
        "tables": tables["seconds"],
        "listing": listed["seconds"],
        "ratio": listed["seconds"] / tables["seconds"],
        "held": tables["columns"],
        "rays": listed["columns"],
        "value": tables["value"],
        "difference": agree(tables["value"], listed["value"]),
    }


def listing(sizes: Sizes) -> Iterator[Row]:
    """Yield column generation beside listing, for Zipf counts and for education."""
    for N in sizes.listed:
        for known in ("known", "1e-9"):
            problem = md.DesignProblem(ball(instances.zipf(N, TOTAL), known), 1)
            yield {"counts": "Zipf", "known": known} | beside_listing(problem)
    for known, name in (("known", "adult-education-known"), ("1e-9", "adult-education")) if sizes.reaches else ():
        problem = md.read_problem(PROBLEMS / f"{name}.toml").problem
        yield {"counts": "education", "known": known} | beside_listing(problem)


def growth(sizes: Sizes) -> Iterator[Row]:
    """Yield designs for more and more symbols."""
    for tol, several in ((TOL, sizes.growth), (COARSE, sizes.large)):
        for N in several:
            for family, generator in FAMILIES.items():
                for known in KNOWN:
                    problem = md.DesignProblem(ball(generator(N, TOTAL), known), 1)
                    _, row = designed(problem, tol, sizes.time_limit)
                    yield {"counts": family, "known": known} | row


def samples(sizes: Sizes) -> Iterator[Row]:
    """Yield designs for more and more samples of the same smooth distribution."""
    for total in sizes.totals:
        for known in ("known", "1e-9"):
            problem = md.DesignProblem(ball(instances.smooth(sizes.samples_of, total), known), 1)
            _, row = designed(problem, TOL, sizes.time_limit)
            yield {"total": total, "known": known} | row


def methods(sizes: Sizes) -> Iterator[Row]:
    """Yield designs by every method that covers a problem: what each one is worth where the others are not."""
    for name in sizes.compared:
        problem = md.read_problem(PROBLEMS / f"{name}.toml").problem
        table = md.methods(problem)
        for method in table.covering:
            design, row = designed(problem, TOL, sizes.method_limit, method)
            row["closed"] = row.pop("certified")  # which is the result here, and not what every row has to be
            relative = design.gap / abs(design.value)
            yield row | {"file": name, "name": method, "taken": method == table.taken, "relative": relative}


def polyhedral(sizes: Sizes) -> Iterator[Row]:
    """Yield the probability of a right guess by our program, and by the literal Proposition 2 for few symbols."""
    for N in (*sizes.literal, *sizes.alone):
        # As printed, since Proposition 2 is.
        printed = ball(instances.zipf(N, TOTAL), "1e-9").as_printed()
        problem = md.DesignProblem(printed, 1, md.HammingAccuracy())
        design, row = designed(problem)
        _, row["verify"] = timed(lambda design=design: md.verify(design.mechanism))
        if N in sizes.literal:
            exp_epsilon = float(problem.epsilon.exp_down)
            value, row["literal"] = timed(lambda p=printed, e=exp_epsilon: literal_proposition_2(p, e))
            row["ratio"] = row["literal"] / row["seconds"]
            row["difference"] = agree(design.value, value)
        yield row


def linear_loss(sizes: Sizes) -> Iterator[Row]:
    """Yield the least expected ``|i - j|`` under LDP by our program and by qif, or why that is left out."""
    for N in sizes.peer:
        everything = ball(instances.smooth(N, TOTAL), "LDP")
        loss = np.abs(np.subtract.outer(np.arange(N), np.arange(N)))
        problem = md.DesignProblem(everything, 1, md.ExpectedDistortion(loss.tolist()))
        try:
            least, seconds = timed(lambda p=everything.prior, d=loss: qif_least_loss(p, 1.0, d))
        except ImportError as error:
            yield {"skipped": str(error)}
            return
        design, row = designed(problem)
        ratio, difference = seconds / row["seconds"], agree(-design.value, least)
        yield row | {"qif": seconds, "ratio": ratio, "difference": difference}


def dense(size: int) -> md.Mechanism:
    """Return a mechanism of random rows without a zero, N = M."""
    rng = np.random.default_rng(1)
    known = md.L1Ball.from_counts(rng.integers(10, 2_000, size).tolist(), delta="1e-9", bound="weissman")
    return md.Mechanism.repaired(rng.dirichlet(np.ones(size), size), md.Guarantee(1, known)).mechanism


def proof_seconds(size: int) -> float:
    """Return the seconds of one exact proof of a dense mechanism."""
    mechanism = dense(size)
    return timed(lambda: md.mechanism.prove(mechanism.numerators, mechanism.bits, mechanism.guarantee))[1]


def import_seconds(module: str) -> float:
    """Return the least seconds of a process that imports a module."""
    command = [sys.executable, "-c", f"import {module}"]
    return min(timed(lambda: subprocess.run(command, check=True))[1] for _ in range(3))


def reaches(sizes: Sizes) -> Iterator[Row]:
    """Yield the goals for designs, seconds at most or a ratio at least, beside what was measured."""
    files = [
        ("one-dominant-96-known", TOL, 5),
        ("one-dominant-96", TOL, 15),
        ("one-dominant-96-ldp", TOL, 10),
        ("smooth-74-known", TOL, 2),
        ("smooth-74", TOL, 8),
        ("smooth-74-ldp", TOL, 10),
        ("zipf-1000-known", COARSE, 60),
        ("zipf-1000", COARSE, 60),
        ("zipf-1000-ldp", COARSE, 60),
    ]
    for name, tol, reach in files if sizes.reaches else ():
        design, row = designed(md.read_problem(PROBLEMS / f"{name}.toml").problem, tol)
        yield {
            "work": f"`{name}`, tol {tol:.0e}".replace("e-0", "e-"),
            "seconds": row["seconds"],
            "reach": reach,
            "ok": design.certified,
        }
    if sizes.reaches:
        row = beside_listing(md.read_problem(PROBLEMS / "adult-education.toml").problem)
        yield {"work": "`adult-education` by listed rays", "seconds": row["listing"], "reach": 20}
        yield {"work": "`adult-education`, listed rays over column generation", "ratio": row["ratio"], "reach": 10}
        accuracy = md.DesignProblem(ball(instances.zipf(200, TOTAL), "1e-9"), 1, md.HammingAccuracy())
        design, row = designed(accuracy)
        yield {"work": "right guess, 200 symbols", "seconds": row["seconds"], "reach": 5, "ok": design.certified}
    yield {"work": "exact proof, N = M = 100", "seconds": proof_seconds(100), "reach": 0.1}
    over = import_seconds("mechdesign") - import_seconds("numpy")
    yield {"work": "`import mechdesign` over `import numpy`", "seconds": over, "reach": 0.2}


SECTIONS: dict[str, Callable[[Sizes], Iterator[Row]]] = {
    "listing": listing,
    "growth": growth,
    "samples": samples,
    "methods": methods,
    "polyhedral": polyhedral,
    "linear_loss": linear_loss,
}
