"""The greatest least utility over listed rays, for a utility that is concave in the prior.

``max tau  subject to  sum_j theta_j mu(v_j, Q_k) >= tau for every k,  sum_j theta_j v_j = (1,...,1), theta >= 0`` over
the extreme rays v_j and the extreme priors Q_k. Rays are priced and enter, and so do priors: for the mechanism that the
program holds, the one where its utility is least.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from mechdesign.numerics.arrays import Floats
from mechdesign.numerics.tolerances import NEGLIGIBLE_WEIGHT
from mechdesign.optimize.deadline import keeps_mechanism, time_is_up
from mechdesign.optimize.master import Master
from mechdesign.optimize.method import Solution
from mechdesign.optimize.pricing.listing import entering_columns
from mechdesign.optimize.rays import RayList
from mechdesign.optimize.worst_case.least_certificate import MixedUtility
from mechdesign.uncertainty import UncertaintySet
from mechdesign.uncertainty.prior_mixture import PriorMixture
from mechdesign.utility import Utility
from mechdesign.utility.least import Prior, priors_below

_MOST_ROUNDS = 1_000
_MOST_PRIORS = 8  # that enter in one round
_VIOLATED = 1e-10  # by which the utility at a prior is below tau, for the prior to enter


class LeastProgram:
    """The linear program over the rays and the priors that were found so far.

    Parameters
    ----------
    rays : RayList
        All rays of the cone.
    utility : Utility
        Concave in the prior, and 0 or more.
    prior : tuple of Fraction
        The first prior.
    """

    def __init__(self, rays: RayList, utility: Utility, prior: Prior) -> None:
        size = rays.prior.size
        self._rays, self._utility, self._size = rays, utility, size
        self.priors: list[Prior] = []
        self._floats: Floats = np.empty((0, size))
        self._columns: Floats = np.empty((size, 0))
        self._master = Master(size)
        self._master.add(np.zeros((size, 1)), np.ones(1))  # tau
        self.add_prior(prior)
        self.add_columns(np.ones((size, 1)))

    def add_prior(self, prior: Prior) -> None:
        """Add the row of a prior."""
        floats = np.array([float(q) for q in prior])
        self.priors.append(prior)
        self._floats = np.vstack([self._floats, floats])
        self._master.add_row(np.append(-1.0, self._utility.mu(self._columns, floats)))

    def add_columns(self, columns: Floats) -> None:
        """Add columns of the cone with ``<P, v> = 1``, shape (N, k)."""
        gains = [self._utility.mu(columns, Q) for Q in self._floats]
        self._columns = np.hstack([self._columns, columns])
        self._master.add(np.vstack([columns, *gains]), np.zeros(columns.shape[1]))

    def solve(self) -> None:
        """Solve the program."""
        self._master.solve()

    @property
    def value(self) -> float:
        """The tau of the last solution."""
        return self._master.value

    @property
    def multipliers(self) -> Floats:
        """lambda: dual to the row sums."""
        return self._master.multipliers[: self._size]

    @property
    def weights(self) -> Floats:
        """w: dual to the rows of the priors, divided by their sum."""
        shares = np.maximum(-self._master.multipliers[self._size :], 0.0)
        total = shares.sum()
        return shares / total if total > 0 else np.full(shares.size, 1 / shares.size)

    def entering(self) -> Floats:
        """Return rays of greatest positive reduced cost, shape (N, k), which is empty at the optimum."""
        weights = self.weights
        used = weights > 0
        mixed = MixedUtility(self._utility, self._floats[used], weights[used])
        return entering_columns(self._rays, mixed, self.multipliers)[0]

    def mechanism(self) -> Floats:
        """Return the columns that the last solution uses, times weights that make rows sum to 1 up to rounding."""
        weights = self._master.weights[1:]
        used = weights > NEGLIGIBLE_WEIGHT
        columns, shares = self._columns[:, : weights.size][:, used], weights[used]
        better = shares + np.linalg.lstsq(columns, np.ones(self._size) - columns @ shares, rcond=None)[0]
        result: Floats = columns * (better if (better >= 0).all() else shares)
        return result

    @property
    def held(self) -> int:
        """How many columns are held."""
        columns: int = self._columns.shape[1]
        return columns


def solve_information(
    rays: RayList, utility: Utility, priors: UncertaintySet, deadline: float | None, progress: Callable[[str], None]
) -> tuple[Solution, PriorMixture]:
    """Return a mechanism of greatest least utility, lambda, and the mixture of priors that proves it.

    Parameters
    ----------
    rays : RayList
        All rays of the cone.
    utility : Utility
        Concave in the prior, and 0 or more.
    priors : UncertaintySet
        Over which the least is taken.
    deadline : float or None
        When to stop, as a time of `time.monotonic`: after the linear program that is being solved then.
    progress : callable
        Called with one line whenever a step begins.

    Raises
    ------
    LimitError
        If the extreme priors are not known, or too many.
    SolverError
        If HiGHS fails.
    """
    program = LeastProgram(rays, utility, priors.center)
    for iteration in range(1, _MOST_ROUNDS + 1):
        program.solve()
        keeps_mechanism(deadline)
        progress(f"least utility {program.value:.9g}: {program.held} columns, {len(program.priors)} priors")
        entering = program.entering()
        matrix = program.mechanism()
        matrix /= matrix.sum(axis=1, keepdims=True)
        below = priors_below(utility, matrix, priors, program.value - _VIOLATED, _MOST_PRIORS)
        worse = [prior for prior in below if prior not in program.priors]
        closed = not worse and entering.shape[1] == 0
        if closed or iteration == _MOST_ROUNDS or time_is_up(deadline):
            break
        for prior in worse:
            program.add_prior(prior)
        if entering.shape[1]:
            program.add_columns(entering)
    mixture = PriorMixture.of_floats(program.priors, program.weights)
    stopped = "" if closed else "time limit" if time_is_up(deadline) else "stalled"
    return Solution(matrix, program.multipliers, program.held, iteration, stopped), mixture
