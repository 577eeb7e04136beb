"""The exact law of counts: every table of counts with its probability."""

import math
from fractions import Fraction

PRIORS = [["1/2", "1/2"], ["9/10", "1/10"], ["1/3", "1/3", "1/3"], ["19/20", "1/40", "1/40"], ["7/10", "1/5", "1/10"]]


def outcomes(prior, samples):
    """Yield every table of counts with its exact probability."""
    P = [Fraction(p) for p in prior]

    def tables(left, size):
        if size == 1:
            yield (left,)
            return
        for first in range(left + 1):
            for rest in tables(left - first, size - 1):
                yield first, *rest

    for counts in tables(samples, len(P)):
        ways = math.factorial(samples) // math.prod(map(math.factorial, counts))
        yield counts, ways * math.prod(p**count for p, count in zip(P, counts, strict=True))


def distance(counts, prior):
    return sum(abs(Fraction(count, sum(counts)) - Fraction(p)) for count, p in zip(counts, prior, strict=True))
