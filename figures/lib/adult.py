"""The problem files of the Adult columns."""

from __future__ import annotations

from pathlib import Path

import mechdesign as md

_PROBLEMS = Path(__file__).parent.parent.parent / "problems"


def adult_problem(column: str) -> md.DesignProblem:
    """Return the problem for a column: epsilon = 1, and the l1 ball of delta = 1e-9 around its counts."""
    return md.read_problem(_PROBLEMS / f"adult-{column}.toml").problem


def adult_counts(column: str) -> dict[str, int]:
    """Return how many of the 48,842 records have each value of a column."""
    ball = adult_problem(column).uncertainty
    if not isinstance(ball, md.L1Ball) or ball.evidence is None:
        raise md.InputError(f"adult-{column} has no counts; give a problem file with counts")
    return dict(zip(ball.labels, ball.evidence.counts, strict=True))
