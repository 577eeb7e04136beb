"""Writes the page "Which method runs when" from the table of methods: python docs/write_methods.py.

A test holds the page against what this writes.
"""

from __future__ import annotations

from pathlib import Path

import mechdesign as md
from mechdesign.optimize.every_method import METHODS
from mechdesign.uncertainty import Box, EventSet, LowerLimits

PAGE = Path(__file__).parent / "reference" / "methods.md"
_SIZES = (4, 9, 14, 40)
_SETS = {
    "known prior, counts": lambda counts: md.L1Ball.from_counts(counts, known=True),
    "known prior, probabilities": lambda counts: md.L1Ball([(n + 0.1) / sum(n + 0.1 for n in counts) for n in counts]),
    "l1 ball, counts": lambda counts: md.L1Ball.from_counts(counts, radius="0.03"),
    "every prior (LDP)": lambda counts: md.L1Ball.from_counts(counts, radius=2),
    "box, lower limits": lambda counts: Box.from_counts(counts, delta="0.01"),
    "lower limits alone": lambda counts: LowerLimits.from_counts(counts, delta="0.01"),
    "event set": lambda counts: EventSet.from_counts(counts, delta="0.01"),
    "hull of two priors": lambda counts: md.ConvexHull([_shares(counts), _shares(counts[::-1])]),
    "about a secret": lambda counts: md.SecretPromise([counts, counts[::-1]], known=True),
    "about a secret, within limits": lambda counts: md.SecretPromise([counts, counts[::-1]], delta="0.01"),
}
_OBJECTIVES = {
    "mutual information": (md.MutualInformation(), None),
    "the same, both sides": (md.MutualInformation(), 1),
    "a gain": (md.HammingAccuracy(), None),
    "estimation error": (md.EstimationError(), None),
    "least information": (md.WorstCaseUtility(md.MutualInformation()), None),
}
_HEAD = """# Which method runs when

Written from the program by `docs/write_methods.py`; a test holds it against the program.

`design` takes the first method of this table that covers the problem and is quick for it, or else the first that covers
it. `md.methods(problem)` and `mechdesign methods` show the table beside one problem, with the reason why a method does
not cover it; `design(..., method="...")` and `--method` take another one. Every method ends in the same proof: the
guarantee is proved for the integers, and the bound is computed from the dual vector alone.

| method | what it does | closes the gap |
|---|---|---|
"""
_REDUCED = """
Two-sided problems over a known prior or over every prior are solved as one-sided problems with the same optimum, and a
least utility as the utility at the estimate where the set holds one prior, or a prior at which every mechanism is worth
nothing. `count-tables` and `knapsack` generate no columns where a closed form has a proof with a dual vector and their
pricing confirms it. What each kind of set and objective costs stands under [limits](../limits.md).

## Examples

The method that is taken for falling counts at epsilon 1, by the number of categories; "none" where no method covers the
problem.
"""


def _shares(counts: list[int]) -> list[str]:
    return [f"{n}/{sum(counts)}" for n in counts]


def _taken(kind: str, size: int, objective: str) -> str:
    utility, lower = _OBJECTIVES[objective]
    known = _SETS[kind]([1_000 // (i + 1) + 1 for i in range(size)])
    return md.methods(md.DesignProblem(known, 1, utility, lower)).taken or "none"


def _examples(objective: str) -> str:
    lines = [f"\n### {objective[0].upper()}{objective[1:]}\n", f"| set of priors | {' | '.join(map(str, _SIZES))} |"]
    lines.append(f"|---{'|---' * len(_SIZES)}|")
    lines += [f"| {kind} | {' | '.join(_taken(kind, size, objective) for size in _SIZES)} |" for kind in _SETS]
    return "\n".join(lines)


def page() -> str:
    """Return the page."""
    rows = [f"| `{method.name}` | {method.does} | {'yes' if method.closes else 'not always'} |" for method in METHODS]
    return _HEAD + "\n".join(rows) + "\n" + _REDUCED + "\n".join(map(_examples, _OBJECTIVES)) + "\n"


if __name__ == "__main__":
    PAGE.write_text(page())
