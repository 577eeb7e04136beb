"""Mechanisms of every kind that pages are about, small enough to be designed while tests run."""

from functools import cache

import mechdesign as md
from mechdesign.uncertainty import Box, EventSet, L1Box, LowerLimits, RelativeBall

COUNTS = {"never": 812, "former": 150, "current": 38}
JOINT = {"yes": {"low": 20, "middle": 10, "high": 5}, "no": {"low": 10, "middle": 15, "high": 20}}


def _of_counts(cls, **given):
    return cls.from_counts(COUNTS, delta=1e-6, **given)


SETS = {
    "ball": lambda: md.L1Ball.from_counts(COUNTS, delta=1e-9),
    "known": lambda: md.L1Ball([0.5, 0.3, 0.2]),
    "ldp": lambda: md.L1Ball([0.5, 0.3, 0.2], radius=2),
    "hull": lambda: md.ConvexHull([[0.5, 0.3, 0.2], [0.2, 0.3, 0.5]]),
    "box": lambda: _of_counts(Box),
    "lower limits": lambda: _of_counts(LowerLimits),
    "l1 box": lambda: _of_counts(L1Box),
    "relative ball": lambda: _of_counts(RelativeBall),
    "event set": lambda: _of_counts(EventSet),
    "product": lambda: md.ProductSet(md.L1Ball([0.6, 0.4], radius=0.1), md.ConvexHull([[0.5, 0.5], [0.75, 0.25]])),
    "secret": lambda: md.SecretPromise(JOINT, secret="smoker", useful="income", known=True),
    "uncertain secret": lambda: md.SecretPromise(JOINT, secret="smoker", useful="income", delta=1e-3),
}
UTILITIES = {"product": md.HammingAccuracy(), "uncertain secret": md.HammingAccuracy()}
OTHERS = {
    "both sides": lambda: md.DesignProblem(SETS["ball"](), 1, lower="0.75"),
    "secret on both sides": lambda: md.DesignProblem(SETS["secret"](), "0.2", lower="0.1"),
    "estimation": lambda: md.DesignProblem(SETS["ball"](), 1, md.EstimationError()),
    "worst case": lambda: md.DesignProblem(
        md.L1Ball([0.5, 0.3, 0.2], 0.1), 1, md.WorstCaseUtility(md.HammingAccuracy())
    ),
    "accuracy": lambda: md.DesignProblem(SETS["ball"](), "log(2)", md.HammingAccuracy()),
}
KINDS = (*SETS, *OTHERS)


@cache
def designed(kind):
    """Return the design of a kind."""
    if kind in OTHERS:
        return md.design(OTHERS[kind](), title=f"a design: {kind}")
    epsilon = "0.2" if "secret" in kind else 1
    problem = md.DesignProblem(SETS[kind](), epsilon, UTILITIES.get(kind, md.MutualInformation()))
    return md.design(problem, title=f"a design: {kind}")
