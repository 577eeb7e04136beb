"""The gain of telling two hypotheses about the population apart."""

from __future__ import annotations

from collections.abc import Sequence

from mechdesign.errors import InputError, shorten
from mechdesign.uncertainty import UncertaintySet
from mechdesign.uncertainty.base import check_set
from mechdesign.utility.gain import ExpectedGain


def distinguishing_gain(first: Sequence[object], second: Sequence[object], uncertainty: UncertaintySet) -> ExpectedGain:
    """Return the utility that is the total variation of the reports under two hypotheses about the population.

    With d the difference of both hypotheses it is ``sum over y of |sum_x d_x p(y|x)| / 2``: the best test that reads
    one report errs with probabilities that sum to 1 minus it (Neyman and Pearson). As an expected gain it has two
    guesses, with gains ``d_x / (2 P_x)`` and minus that, P being the prior at which designs measure utility; P has no
    influence on the value.

    Parameters
    ----------
    first, second : sequence of N numbers or texts
        The hypotheses: distributions of the categories.
    uncertainty : UncertaintySet
        The priors of the promise.

    Raises
    ------
    InputError
        For what is not a set of priors, and if a hypothesis is not a distribution of the categories, or tells a
        category apart that has probability 0 at the centre of the set.

    Examples
    --------
    >>> import mechdesign as md
    >>> everybody = md.L1Ball(["0.5", "0.5"], 2)
    >>> gain = distinguishing_gain(["0.6", "0.4"], ["0.4", "0.6"], everybody)
    >>> round(md.design(md.DesignProblem(everybody, "log(3)", gain)).value, 9)  # 0.2 (3 - 1) / (3 + 1)
    0.1
    """
    check_set(uncertainty)
    P0, P1 = uncertainty.as_prior(first), uncertainty.as_prior(second)
    gains = []
    for label, a, b, p in zip(uncertainty.labels, P0, P1, uncertainty.center, strict=True):
        if a != b and not p:
            raise InputError.out_of_range(
                f"the category {shorten(label)} has probability 0 at the centre of the set, and {float(a):g} and "
                f"{float(b):g} under the hypotheses; give a set whose centre holds it possible"
            )
        gains.append((a - b) / (2 * p) if a != b else a - b)
    return ExpectedGain([gains, [-gain for gain in gains]])
