"""Problems of every kind, for every method that covers them."""

from functools import cache

import mechdesign as md
from mechdesign.uncertainty import Box, EventSet, L1Box, LowerLimits, RelativeBall

SHAPES = {
    "even": lambda size: [100 + i % 3 for i in range(size)],
    "falling": lambda size: [1_000 // (i + 1) + 1 for i in range(size)],
    "one in a thousand": lambda size: [1_000 * size, *([1] * (size - 1))],
}
JOINT = {"yes": {"low": 20, "middle": 10, "high": 5}, "no": {"low": 10, "middle": 15, "high": 20}}
SETS = {
    "known": lambda counts: md.L1Ball.from_counts(counts, radius=0),
    "float prior": lambda counts: md.L1Ball([(n + 0.1) / (sum(counts) + 0.1 * len(counts)) for n in counts]),
    "ball": lambda counts: md.L1Ball.from_counts(counts, radius="0.03"),
    "wide ball": lambda counts: md.L1Ball.from_counts(counts, radius="0.4"),
    "every prior": lambda counts: md.L1Ball.from_counts(counts, radius=2),
    "hull": lambda counts: md.ConvexHull([counts_to_prior(counts), counts_to_prior(counts[::-1])]),
    "box": lambda counts: Box.from_counts(counts, delta="0.01"),
    "lower limits": lambda counts: LowerLimits.from_counts(counts, delta="0.01"),
    "l1 box": lambda counts: L1Box.from_counts(counts, delta="0.01"),
    "relative ball": lambda counts: RelativeBall.from_counts(counts, delta="0.01", epsilon=1),
    "event set": lambda counts: EventSet.from_counts(counts, delta="0.01"),
    "product": lambda counts: md.ProductSet(
        md.L1Ball.from_counts(counts[: max(2, len(counts) // 2)], radius="0.1"), md.L1Ball([0.6, 0.4], "0.1")
    ),
    "secret": lambda counts: md.SecretPromise([counts, counts[::-1]], known=True),
    "secret within limits": lambda counts: md.SecretPromise([counts, counts[::-1]], delta="0.01"),
}
OBJECTIVES = {
    "information": md.MutualInformation,
    "chi-square": md.ChiSquare,
    "accuracy": md.HammingAccuracy,
    "estimation": md.EstimationError,
    "least information": lambda: md.WorstCaseUtility(md.MutualInformation()),
    "least accuracy": lambda: md.WorstCaseUtility(md.HammingAccuracy()),
}


def counts_to_prior(counts):
    """Return exact shares."""
    from fractions import Fraction

    return [Fraction(n, sum(counts)) for n in counts]


@cache
def known_set(kind, shape, size):
    """Return a set of priors, or the refusal to make it."""
    return SETS[kind](SHAPES[shape](size))


def problems(sizes, epsilons, *, kinds=tuple(SETS), shapes=tuple(SHAPES), objectives=tuple(OBJECTIVES), lowers=(None,)):
    """Yield names and problems of a grid; combinations that the problem itself refuses are left out."""
    for kind in kinds:
        for size in sizes:
            for shape in shapes:
                known = known_set(kind, shape, size)
                for objective in objectives:
                    for epsilon in epsilons:
                        for lower in lowers:
                            name = f"{kind}, {shape}, N = {size}, {objective}, epsilon {epsilon}, lower {lower}"
                            yield name, md.DesignProblem(known, epsilon, OBJECTIVES[objective](), lower)
