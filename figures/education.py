"""Three mechanisms for the 16 education levels of Adult at epsilon = 1, side by side.

They are the certified optimum for every prior in the l1 ball of delta = 1e-9 (PML), the certified optimum for every
prior at all (LDP), and k-ary randomized response. Run ``python -m figures education``.
"""

from __future__ import annotations

from typing import Any

import numpy as np

import mechdesign as md
from figures.lib.adult import adult_problem
from figures.lib.output import Row
from figures.lib.style import empty


def compute(quick: bool = False) -> list[Row]:  # noqa: FBT001, FBT002 - the interface of every figure
    """Return one row for each mechanism, input and output; quick takes the 5 levels of race instead."""
    problem = adult_problem("race" if quick else "education")
    solved = md.design(problem)
    comparison = md.compare(solved)
    if comparison.best_ldp is None:
        raise md.LimitError(comparison.best_ldp_missing)
    mechanisms = {
        "optimal under PML": solved.mechanism,
        "optimal under LDP": comparison.best_ldp.mechanism,
        "randomized response (LDP)": comparison.rivals["k_ary_randomized_response"].mechanism,
    }
    return [
        {
            "mechanism": name,
            "mutual_information": problem.utility.value(mechanism.matrix, problem.uncertainty.prior),
            "input": label,
            "output": output,
            "probability": probability,
        }
        for name, mechanism in mechanisms.items()
        for label, row in zip(mechanism.inputs, mechanism.matrix.tolist(), strict=True)
        for output, probability in zip(mechanism.outputs, row, strict=True)
    ]


def draw(table: list[Row]) -> Any:
    """Return a matplotlib figure: one heat map for each mechanism."""
    from matplotlib.colors import PowerNorm

    names = list(dict.fromkeys(row["mechanism"] for row in table))
    figure, axes = empty(11, 4.6, 1, len(names), sharey=True)
    image, largest = None, max(row["probability"] for row in table)
    for axis, name in zip(axes, names, strict=True):
        rows = [row for row in table if row["mechanism"] == name]
        inputs = list(dict.fromkeys(row["input"] for row in rows))
        matrix = np.array([row["probability"] for row in rows]).reshape(len(inputs), -1)
        # The square root makes small probabilities distinguishable; white is zero.
        image = axis.imshow(matrix, cmap="Blues", norm=PowerNorm(0.5, 0, largest), aspect="auto")
        axis.set_title(f"{name}\nI(X; Y) = {rows[0]['mutual_information']:.3f} nats")
        axis.set_xlabel("output")
        axis.set_xticks(range(0, matrix.shape[1], 5), [f"y{j + 1}" for j in range(0, matrix.shape[1], 5)])
        axis.set_yticks(range(len(inputs)), inputs)
    axes[0].set_ylabel("input, by falling frequency")
    figure.colorbar(image, ax=axes, label="probability of the output, given the input", shrink=0.9)
    return figure
