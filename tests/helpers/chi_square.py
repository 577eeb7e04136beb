"""Whether reports were drawn from the probabilities stated."""

import numpy as np
from scipy import stats

NEVER_FLAKES = 1e-15  # p-value of a test on secure randomness; its cells are binomial, with tails of up to 3e-11 here
_LEAST_EXPECTED = 20  # below which a cell's statistic does not have its distribution


def p_value(seen, probabilities):
    """The chi-square test of counts; outputs too rare for it are counted with the likeliest one.

    An output of probability zero that was seen makes it zero.
    """
    seen, probabilities = np.asarray(seen), np.asarray(probabilities)
    if seen[probabilities == 0].any():
        return 0.0
    expected = probabilities * seen.sum()
    kept = expected >= _LEAST_EXPECTED
    top = np.argmax(expected)
    kept[top] = False
    cells = np.append(expected[kept], expected[~kept].sum())
    counts = np.append(seen[kept], seen[~kept].sum())
    if cells.size == 1:
        return 1.0
    return float(stats.chi2.sf(((counts - cells) ** 2 / cells).sum(), cells.size - 1))
