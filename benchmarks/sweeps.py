"""What is measured of sweeps: many designs by one process and by two, and what a sweep adds to each design.

Every way must find the same integers, and the same values and bounds to the bit.
"""

from __future__ import annotations

import statistics
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Any

import mechdesign as md
from benchmarks.errors import counts_of
from benchmarks.fleet import TUNED
from benchmarks.measure import Row, Sizes
from mechdesign.engine import opened_executor

WORKERS = 2
ROUNDS = 3
RATIO = 1.7  # designs a second of two workers over those of one process
OVERHEAD = 5.0  # milliseconds a problem
_EPSILONS = ("0.25", "0.5", "1", "2")
_DELTAS = ("1e-9", "1e-3")


def problems(columns: tuple[str, ...]) -> list[md.DesignProblem]:
    """Return problems for columns of Adult at four epsilons and two deltas, the columns with many levels first."""
    tables = sorted((counts_of(name) for name in columns), key=len, reverse=True)
    known = [md.L1Ball.from_counts(counts, delta=delta) for counts in tables for delta in _DELTAS]
    return [md.DesignProblem(ball, epsilon) for ball in known for epsilon in _EPSILONS]


def small_problems(count: int) -> list[md.DesignProblem]:
    """Return different problems of two symbols, whose designs take next to nothing."""
    ball = md.L1Ball.from_counts({"no": 700, "yes": 300}, delta="1e-3")
    return [md.DesignProblem(ball, f"1.{k:09d}") for k in range(count)]


@contextmanager
def cluster() -> Iterator[Any]:
    """Open a cluster of two workers on this machine, with the settings that docs/engines.md advises."""
    import dask
    from distributed import Client, LocalCluster

    with (
        dask.config.set(TUNED),
        LocalCluster(n_workers=WORKERS, threads_per_worker=1, dashboard_address="127.0.0.1:0") as workers,
        Client(workers, set_as_default=False) as client,
    ):
        yield client


WAYS: dict[str, Callable[[], AbstractContextManager[Any]]] = {
    "one process": opened_executor,
    f"{WORKERS} processes": lambda: opened_executor(WORKERS),
    f"LocalCluster(n_workers={WORKERS})": cluster,
}


def timed(given: list[md.DesignProblem], executor: Any, cache: Path | None = None) -> tuple[md.SweepResult, float]:
    """Return what a sweep finds, and its seconds."""
    started = time.perf_counter()
    found = md.sweep(given, executor, cache)
    return found, time.perf_counter() - started


def seconds_alone(given: list[md.DesignProblem]) -> float:
    """Return the seconds of a sweep in the process that runs this."""
    return timed(given, None)[1]


def sharing_nothing(given: list[md.DesignProblem]) -> float:
    """Return the seconds in which processes, each by itself, all solve all the problems at the same time."""
    with opened_executor(WORKERS) as executor:
        list(executor.map(seconds_alone, [small_problems(8)] * 8 * WORKERS))
        return max(executor.map(seconds_alone, [given] * WORKERS))


def exact(found: md.SweepResult) -> list[tuple[float, float, bytes]]:
    """Return what must be the same whatever runs a sweep."""
    return [
        (row.solved.value, row.solved.bound, row.mechanism.numerators.tobytes())
        for row in found
        if row.solved is not None and row.mechanism is not None
    ]


def sweeps(sizes: Sizes) -> Iterator[Row]:
    """Yield many designs by each way, and what a sweep adds to a design that takes next to nothing.

    The ways take turns, and a ratio is that of two runs of one round.
    """
    wanted, ways = problems(sizes.swept), dict(WAYS)
    try:
        import distributed  # noqa: F401 - without it there is no cluster
    except ImportError as error:
        (left_out,) = (way for way, opened in WAYS.items() if opened is cluster)
        del ways[left_out]
        yield {"skipped": f"{left_out}: {error}"}
    rounds = [{way: _swept(way, wanted) for way in ways} for _ in range(ROUNDS)]
    at_once = [sharing_nothing(wanted) for _ in rounds]
    alone = [next(iter(taken.values())) for taken in rounds]
    for way in ways:
        if any(taken[way][0] != alone[0][0] for taken in rounds):
            raise AssertionError(f"{way} found other designs than one process")
        yield {
            "way": way,
            "designs": len(wanted),
            "seconds": statistics.median(taken[way][1] for taken in rounds),
            "ratio": statistics.median(first[1] / taken[way][1] for first, taken in zip(alone, rounds, strict=True)),
            "certified": rounds[0][way][2],
            "columns": list(sizes.swept),
        }
    yield {
        "at_once": WORKERS,
        "designs": WORKERS * len(wanted),
        "seconds": statistics.median(at_once),
        "ratio": statistics.median(WORKERS * first[1] / taken for first, taken in zip(alone, at_once, strict=True)),
    }
    yield from overhead(sizes.trivial)


def _swept(way: str, wanted: list[md.DesignProblem]) -> tuple[list[tuple[float, float, bytes]], float, bool]:
    """Return what a way finds, its seconds, and whether all is certified; processes have solved all of it before."""
    with WAYS[way]() as executor:
        timed(wanted, executor)
        found, seconds = timed(wanted, executor)
    designs = exact(found)
    if len(designs) != len(wanted):
        raise AssertionError(f"{way} solved {len(designs)} of {len(wanted)} problems")
    return designs, seconds, all(row.solved is not None and row.solved.certified for row in found)


def overhead(count: int) -> Iterator[Row]:
    """Yield what a sweep takes for each small problem beside its design: in memory, kept as files, and from files."""
    given = small_problems(count)
    with tempfile.TemporaryDirectory() as name:
        for what, cache in (("solved", None), ("solved and kept", Path(name)), ("proved again", Path(name))):
            found, seconds = timed(given, None, cache)
            designing = sum(row.solved.seconds for row in found if row.solved is not None) if found.solved else 0.0
            yield {
                "what": what,
                "problems": count,
                "seconds": seconds,
                "designing": designing,
                "overhead": (seconds - designing) / count * 1e3,
            }


SECTIONS: dict[str, Callable[[Sizes], Iterator[Row]]] = {"sweeps": sweeps}
