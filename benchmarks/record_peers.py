"""Whole records by views and by multi-freq-ldpy: ``python -m benchmarks.record_peers``.

Eight columns of Adult, drawn independently by their counts; epsilon 1, known laws. For each way: n times the mean
squared error, summed over all one-way tables, what is predicted (`mechdesign.records.record_baselines`), and the
processor time of the client. Reports are those of the clients of multi-freq-ldpy; all estimates are unbiased (its own
are clipped at 0, and those of `estimate_records` are distributions, which lessens the error of rare values). Its ways
are under LDP, the stronger promise. Without multi-freq-ldpy its lines are left out.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from figures.lib.records_of_adult import ADULT, EIGHT
from mechdesign import estimate_frequencies
from mechdesign.records import RecordMechanism
from mechdesign.records.record_baselines import sampled, sampled_with_fakes, split
from mechdesign.records.record_design import design_records

REPORTS, RUNS = 20_000, 5
Columns = Sequence[Any]


@dataclass(frozen=True)
class Reported:
    """Reports about one attribute: how many there are, and how many support each value."""

    count: int
    support: Any
    by_bits: bool


def table(reports: int = REPORTS, runs: int = RUNS) -> Iterator[str]:
    """Yield the lines of a table."""
    counts = {name: ADULT[name] for name in EIGHT}
    laws = [np.array(list(each.values())) / sum(each.values()) for each in counts.values()]
    rng = np.random.default_rng(0)
    records = [[rng.choice(law.size, reports, p=law) for law in laws] for _ in range(runs)]
    yield "| mechanism | n MSE of all one-way tables | predicted | client, us a record |"
    yield "|---|---|---|---|"
    found = design_records(counts, 1, known=True)
    squares, seconds = [], 0.0
    for codes in records:
        named = {name: np.array(list(counts[name]))[code].tolist() for name, code in zip(counts, codes, strict=True)}
        started = time.process_time()
        drawn = found.mechanism.privatize(named, rng)
        seconds += time.process_time() - started
        both = zip(_of_views(drawn, found.mechanism), laws, strict=True)
        squares.append(reports * sum(float(((shares - law) ** 2).sum()) for shares, law in both))
    yield _line("views (this package)", squares, found.error, seconds / reports / runs)
    try:
        from multi_freq_ldpy.mdim_freq_est.RSpFD_solution import RSpFD_ADP_Client
        from multi_freq_ldpy.mdim_freq_est.SMP_solution import SMP_ADP_Client
        from multi_freq_ldpy.mdim_freq_est.SPL_solution import SPL_ADP_Client
    except ImportError:
        return
    ways: list[tuple[str, Callable[..., Any], Callable[..., Any], float]] = [
        ("SMP of multi-freq-ldpy", SMP_ADP_Client, _of_sampled, sampled(laws, 1).error),
        ("RS+FD of multi-freq-ldpy", RSpFD_ADP_Client, _of_fakes, sampled_with_fakes(laws, 1).error),
        ("SPL of multi-freq-ldpy (predicted: by subset selection)", SPL_ADP_Client, _of_split, split(laws, 1).error),
    ]
    sizes = [law.size for law in laws]
    for name, client, estimated, predicted in ways:
        client(tuple(code[0] for code in records[0]), sizes, len(sizes), 1.0)  # compiles
        squares, seconds = [], 0.0
        for codes in records:
            rows = list(zip(*(code.tolist() for code in codes), strict=True))
            started = time.process_time()
            told = [client(row, sizes, len(sizes), 1.0) for row in rows]
            seconds += time.process_time() - started
            both = zip(estimated(told, sizes), laws, strict=True)
            squares.append(reports * sum(float(((shares - law) ** 2).sum()) for shares, law in both))
        yield _line(name, squares, predicted, seconds / reports / runs)


def _of_views(drawn: Any, mechanism: RecordMechanism) -> list[Any]:
    """Return the shares of each attribute from the reports of its view, without bias."""
    views, told = np.array(drawn["view"]), np.array(drawn["report"])
    return [
        estimate_frequencies(told[views == part.name], part.mechanism, method="least-squares").frequencies
        for part in mechanism.parts
    ]


def _of_sampled(told: Sequence[tuple[int, Any]], sizes: Sequence[int]) -> list[Any]:
    """Return the shares of each attribute from reports that say which attribute they are about."""
    parts = [[value for place, value in told if place == wanted] for wanted in range(len(sizes))]
    return [_shares(_counted(part, size), size, 1.0) for part, size in zip(parts, sizes, strict=True)]


def _of_split(told: Sequence[Columns], sizes: Sequence[int]) -> list[Any]:
    """Return the shares of each attribute from reports about all, each with a part of epsilon."""
    columns = zip(*told, strict=True)
    return [_shares(_counted(column, size), size, 1 / len(sizes)) for column, size in zip(columns, sizes, strict=True)]


def _of_fakes(told: Sequence[Columns], sizes: Sequence[int]) -> list[Any]:
    """Return the shares of each attribute from reports of which all but one are fake."""
    d, found = len(sizes), []
    inner = math.log(d * (math.e - 1) + 1)
    for column, size in zip(zip(*told, strict=True), sizes, strict=True):
        counted = _counted(column, size)
        _, other = _probabilities(counted, size, inner)
        fake = other if counted.by_bits else 1 / size
        genuine = counted.support - (1 - 1 / d) * fake * counted.count
        found.append(_shares(Reported(counted.count, d * genuine, counted.by_bits), size, inner))
    return found


def _counted(values: Sequence[Any], size: int) -> Reported:
    if np.ndim(values[0]):
        return Reported(len(values), np.sum(values, axis=0), by_bits=True)
    return Reported(len(values), np.bincount(values, minlength=size), by_bits=False)


def _probabilities(counted: Reported, size: int, epsilon: float) -> tuple[float, float]:
    """Return how likely the true value, and another one, is supported: by bits or by randomized response."""
    if counted.by_bits:
        return 0.5, 1 / (math.exp(epsilon) + 1)
    total = math.exp(epsilon) + size - 1
    return math.exp(epsilon) / total, 1 / total


def _shares(counted: Reported, size: int, epsilon: float) -> Any:
    own, other = _probabilities(counted, size, epsilon)
    return (counted.support / counted.count - other) / (own - other)


def _line(name: str, squares: Sequence[float], predicted: float, seconds: float) -> str:
    error = f" +- {np.std(squares, ddof=1) / math.sqrt(len(squares)):.0f}" if len(squares) > 1 else ""
    return f"| {name} | {np.mean(squares):.0f}{error} | {predicted:.0f} | {1e6 * seconds:.2f} |"


if __name__ == "__main__":
    for line in table():
        print(line, flush=True)
