"""Errors of strings against epsilon: windows, the bound for all mechanisms, and frequency oracles under LDP.

Strings of a Zipf distribution. The mean over strings of n times the variance of the estimated share: of windows for a
known distribution and for one that a million samples prove (delta 1e-9; the heavy strings come from another million),
the bound for every mechanism that is epsilon-PML at this distribution, the least error under local differential
privacy, local hashing (OLH), Hadamard response and count-mean sketch. Right: windows over the bound. The promise under
PML is the weaker one. The paper has no such figure. Run ``python -m figures figure_windows``.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from figures.lib.output import Row
from figures.lib.style import BLUE, GREEN, ORANGE, PURPLE, SKY, VERMILION, WEAKER, empty, grid
from mechdesign.numerics.epsilon import Epsilon
from mechdesign.windows import SeparateCounts, design_windows
from mechdesign.windows.bound import error_bound
from mechdesign.windows.string_baselines import count_mean_sketch, hadamard_hashing, least_under_ldp, local_hashing

EPSILONS = ("0.1", "0.2", "0.35", "0.5", "0.75", "1", "1.5", "2", "3", "4")
STRINGS, SAMPLES, DELTA = 10_000, 1_000_000, "1e-9"
KNOWN, LEARNT, BOUND = "windows, known distribution (PML)", "windows, 10^6 samples (PML)", "bound for all (PML)"
LEAST, HASHING, HADAMARD, SKETCH = (
    "least error (LDP)",
    "local hashing (LDP)",
    "Hadamard (LDP)",
    "count-mean sketch (LDP)",
)
ORACLES = {LEAST: least_under_ldp, HASHING: local_hashing, HADAMARD: hadamard_hashing, SKETCH: count_mean_sketch}
STYLES = {
    SKETCH: ("#000000", ":", "s"),
    HADAMARD: (PURPLE, "--", "^"),
    HASHING: (ORANGE, "--", "v"),
    LEAST: (VERMILION, "-", None),
    LEARNT: (BLUE, "-", "o"),
    KNOWN: (GREEN, "--", "x"),
    BOUND: (SKY, "-", None),
}


def compute(quick: bool = False) -> list[Row]:  # noqa: FBT001, FBT002 - the interface of every figure
    """Return one row for each epsilon and mechanism; quick takes few strings, seeds and epsilons."""
    size, seeds = (1_000, 100) if quick else (STRINGS, 600)
    rng = np.random.default_rng(1)
    names = [f"string {k}" for k in range(1, size + 1)]
    shares = 1 / np.arange(1, size + 1.0)
    masses = dict(zip(names, np.round(1e7 * shares).astype(int).tolist(), strict=True))
    P = np.array(list(masses.values())) / sum(masses.values())
    earlier, sample = (dict(zip(names, rng.multinomial(SAMPLES, P).tolist(), strict=True)) for _ in range(2))
    rows: list[Row] = []
    for text in ("0.2", "1", "2") if quick else EPSILONS:
        epsilon = Epsilon.of(text)
        known = design_windows(masses, text, known=True, seeds=seeds, one_layer="0.1")
        learnt = design_windows(
            {name: n for name, n in sample.items() if n},
            text,
            delta=DELTA,
            seeds=seeds,
            one_layer="0.1",
            heavy=SeparateCounts({name: n for name, n in earlier.items() if n}, "another million samples"),
        )
        unseen = sum(name not in learnt.shares for name in names)
        means = {BOUND: error_bound(P, epsilon), KNOWN: known.error}
        means[LEARNT] = learnt.error + unseen * learnt.error_of(0.0)
        means |= {name: sum(map(make(text).error_of, P.tolist())) for name, make in ORACLES.items()}
        rows += [{"epsilon": float(epsilon), "mechanism": name, "error": e / size} for name, e in means.items()]
    return rows


def draw(table: list[Row]) -> Any:
    """Return a matplotlib figure of two panels."""
    figure, (left, right) = empty(9.2, 4.4, 1, 2)
    bound = {row["epsilon"]: row["error"] for row in table if row["mechanism"] == BOUND}
    for name, (colour, line, marker) in STYLES.items():
        points = [(row["epsilon"], row["error"]) for row in table if row["mechanism"] == name]
        x, y = zip(*points, strict=True)
        left.plot(x, y, color=colour, ls=line, marker=marker, ms=4, lw=1.5, label=name)
        if name in (KNOWN, LEARNT):
            right.plot(x, [e / bound[at] for at, e in points], color=colour, ls=line, marker=marker, ms=4, lw=1.5)
    left.set(xscale="log", yscale="log", xlabel="epsilon (nats)", ylabel="n times the variance, mean over strings")
    right.set(xscale="log", xlabel="epsilon (nats)", ylabel="error over the bound for all mechanisms", ylim=(1, None))
    for axis in (left, right):
        grid(axis)
    figure.legend(loc="outside lower center", ncols=3, frameon=False, title=WEAKER)
    return figure
