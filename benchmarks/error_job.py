"""Designs of least estimation error in a process of its own, so that its threads are its own: started by `errors`.

``python -m benchmarks.error_job`` reads JSON with counts and a time limit for each set, and prints a row for each.
The number of threads of linear algebra is that of the environment of the process.
"""

from __future__ import annotations

import json
import sys

import numpy as np

import mechdesign as md
from benchmarks.instances import Counts
from benchmarks.measure import Row, ball, timed

REPORTS = 100_000


def least_error(counts: Counts, known: str, time_limit: float) -> Row:
    """Return what the design of least error took, and an estimate from its reports."""
    problem = md.DesignProblem(ball(counts, known), 1, md.EstimationError())
    design, seconds = timed(lambda: md.design(problem, time_limit=time_limit))
    mechanism, prior = design.mechanism, problem.uncertainty.prior
    rng = np.random.default_rng(1)
    reports = np.bincount(
        mechanism.privatize(rng.choice(prior.size, REPORTS, p=prior), rng), minlength=len(mechanism.outputs)
    )
    counted = {label: count for label, count in zip(mechanism.outputs, reports.tolist(), strict=True) if count}
    found, estimating = timed(lambda: md.estimate_frequencies(counted, mechanism))
    return {
        "known": known,
        "seconds": seconds,
        "value": design.value,
        "bound": design.lower_bound,
        "certified": design.certified,
        "stopped": design.stopped,
        "outputs": len(mechanism.outputs),
        "estimating": estimating,
        "stated": float((found.standard_errors**2).sum() * REPORTS),
    }


def main() -> None:
    """Print one row for each set."""
    given = json.load(sys.stdin)
    least_error([3, 2, 1], "known", 10.0)  # what is imported at the first use
    for known, time_limit in given["time_limits"].items():
        print(json.dumps(least_error(given["counts"], known, time_limit)), flush=True)


if __name__ == "__main__":
    main()
