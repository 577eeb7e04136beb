"""How many people give all one-way tables of eight attributes of Adult, against epsilon: six ways, and a bound.

Respondents for a root mean square standard error of 0.01 over the 62 frequencies. Views under PML, from known laws and
from the 32,561 records of the training part (delta 1e-9 in all); the bound for every mechanism of whole records that is
epsilon-PML at any joint law with these laws of the attributes in which every combination is possible; under LDP one
attribute by subset selection with the best weights, SMP, SPL and RS+FD, the last by its stated epsilon, which is not
that of the whole record, and by that of the whole record. The paper has no such figure. Run
``python -m figures figure_records``.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

import mechdesign as md
from figures.lib.output import Row
from figures.lib.records_of_adult import ADULT, EIGHT
from figures.lib.style import BLUE, GREEN, ORANGE, PURPLE, SKY, VERMILION, WEAKER, empty, grid
from mechdesign.records.record_baselines import best_sampled, sampled, sampled_with_fakes, split

EPSILONS = ("0.25", "0.5", "0.75", "1", "1.5", "2", "3")
STANDARD_ERROR = 0.01
KNOWN, LEARNT, BOUND = "views, known laws (PML)", "views, from the records (PML)", "bound for all (PML)"
BEST, SMP, SPL = "one attribute, best weights (LDP)", "SMP (LDP)", "SPL (LDP)"
STATED, WHOLE = "RS+FD, epsilon as stated", "RS+FD (LDP of the whole record)"
STYLES = {
    SPL: ("#000000", ":", "s"),
    WHOLE: (PURPLE, "--", "^"),
    SMP: (ORANGE, "--", "v"),
    BEST: (VERMILION, "-", None),
    STATED: (PURPLE, ":", None),
    LEARNT: (BLUE, "-", "o"),
    KNOWN: (GREEN, "--", "x"),
    BOUND: (SKY, "-", None),
}


def compute(quick: bool = False) -> list[Row]:  # noqa: FBT001, FBT002 - the interface of every figure
    """Return one row for each epsilon and way; quick takes one epsilon."""
    counts = {name: ADULT[name] for name in EIGHT}
    laws = [np.array(list(own.values())) / sum(own.values()) for own in counts.values()]
    rows: list[Row] = []
    for epsilon in ("2",) if quick else EPSILONS:
        known = md.design_records(counts, epsilon, known=True)
        errors = {
            BOUND: known.bound,
            KNOWN: known.error,
            LEARNT: md.design_records(counts, epsilon, delta="1e-9").error,
            BEST: best_sampled(laws, epsilon).error,
            SMP: sampled(laws, epsilon).error,
            SPL: split(laws, epsilon).error,
            STATED: sampled_with_fakes(laws, epsilon).error,
            WHOLE: sampled_with_fakes(laws, epsilon, whole_record=True).error,
        }
        scale = known.queries * STANDARD_ERROR**2
        rows += [
            {"epsilon": float(epsilon), "mechanism": name, "respondents": math.ceil((error or 0.0) / scale)}
            for name, error in errors.items()
        ]
    return rows


def draw(table: list[Row]) -> Any:
    """Return a matplotlib figure."""
    figure, axis = empty(7.2, 5.0)
    for name, (colour, line, marker) in STYLES.items():
        points = [(row["epsilon"], row["respondents"]) for row in table if row["mechanism"] == name]
        x, y = zip(*points, strict=True)
        axis.plot(x, y, color=colour, ls=line, marker=marker, ms=4, lw=1.5, label=name)
    axis.set(xscale="log", yscale="log", xlabel="epsilon (nats)", ylabel="people for a standard error of 0.01")
    axis.set_xticks([float(each) for each in EPSILONS], EPSILONS, minor=False)
    axis.minorticks_off()
    grid(axis)
    figure.legend(loc="outside lower center", ncols=2, frameon=False, title=WEAKER, fontsize=8, title_fontsize=8)
    return figure
