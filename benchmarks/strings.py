"""Strings reported by windows and by local hashing of multi-freq-ldpy: ``python -m benchmarks.strings``.

A thousand strings of a Zipf distribution, epsilon 1. For each: n times the mean squared error of the light strings,
what is predicted, and the processor time of the client. Without multi-freq-ldpy (whose local hashing needs xxhash below
4) its line is left out.
"""

from __future__ import annotations

import time
from collections.abc import Iterator

import numpy as np

from mechdesign.windows import design_windows
from mechdesign.windows.string_baselines import local_hashing

STRINGS, LIGHT, REPORTS, RUNS = 1_000, 300, 4_000, 5


def table(reports: int = REPORTS, runs: int = RUNS) -> Iterator[str]:
    """Yield the lines of a table."""
    counts = {str(k): round(1e7 / (k + 1)) for k in range(STRINGS)}
    P = np.array(list(counts.values())) / sum(counts.values())
    rng = np.random.default_rng(0)
    records = [rng.choice(STRINGS, reports, p=P).tolist() for _ in range(runs)]
    yield "| mechanism | n MSE of light strings | predicted | client, us a report |"
    yield "|---|---|---|---|"
    found = design_windows(counts, 1, known=True)
    squares, seconds = [], 0.0
    for those in records:
        started = time.process_time()
        drawn = found.mechanism.privatize(map(str, those), rng)
        seconds += time.process_time() - started
        squares.append(reports * (found.estimate(drawn, list(counts)).shares - P)[LIGHT:] ** 2)
    yield _line("windows", float(np.mean(squares)), found.error_of(0.0), seconds / reports / runs)
    try:
        import xxhash
        from multi_freq_ldpy.pure_frequency_oracles.LH import LH_Client
    except ImportError:
        return
    cells = round(np.e) + 1
    own, other, names = np.e / (np.e + cells - 1), 1 / cells, list(counts)
    squares, seconds = [], 0.0
    for those in records:
        started = time.process_time()
        pairs = [LH_Client(record, STRINGS, 1.0) for record in those]
        seconds += time.process_time() - started
        support = sum(
            np.array([xxhash.xxh32(name, seed=int(seed)).intdigest() % cells == cell for name in names], dtype=float)
            for cell, seed in pairs
        )
        squares.append(reports * ((support / reports - other) / (own - other) - P)[LIGHT:] ** 2)
    predicted = float(np.mean([local_hashing(1, cells).error_of(share) for share in P[LIGHT:].tolist()]))
    yield _line("local hashing of multi-freq-ldpy", float(np.mean(squares)), predicted, seconds / reports / runs)


def _line(name: str, measured: float, predicted: float, seconds: float) -> str:
    return f"| {name} | {measured:.3f} | {predicted:.3f} | {1e6 * seconds:.1f} |"


if __name__ == "__main__":
    for line in table():
        print(line, flush=True)
