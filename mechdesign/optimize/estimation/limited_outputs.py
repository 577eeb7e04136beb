"""A design for estimates with a limit of outputs: where searches begin, and which columns they try."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from mechdesign.errors import SolverError
from mechdesign.mechanism.proof import MOST_BITS
from mechdesign.numerics.arrays import Floats
from mechdesign.numerics.quadratic_form import QuadraticForm
from mechdesign.optimize.column_cone import ColumnCone
from mechdesign.optimize.deadline import share_until
from mechdesign.optimize.estimation.columns_of_queries import mechanism_of_queries
from mechdesign.optimize.estimation.every_direction import mixtures, private_response
from mechdesign.optimize.estimation.every_set import EverySet
from mechdesign.optimize.estimation.few_outputs import Finder, least_outputs, with_few_outputs
from mechdesign.optimize.estimation.generation import columns_to_try
from mechdesign.optimize.estimation.interior_point import ColumnWeights
from mechdesign.optimize.estimation.listed import ListedForms
from mechdesign.optimize.estimation.separable import SeparablePricing
from mechdesign.optimize.method import Solution
from mechdesign.optimize.secret_search import ColumnsWithin
from mechdesign.problem import DesignProblem

_SHARE = 0.5  # of the time, for columns in the span of the queries


@dataclass(frozen=True, eq=False)
class LimitedOutputs:
    """What is asked: a mechanism of small error with at most so many outputs.

    Attributes
    ----------
    problem : DesignProblem
        For an estimation error.
    workload : array, shape (q, N)
        W, its queries.
    pricing : EverySet, ListedForms or SeparablePricing
        What finds columns.
    exp_epsilon : float
        exp(epsilon), of every prior.
    outputs : int
        How many there may be.
    within : ColumnsWithin or None
        The columns within limits of the joint distribution of a secret, if there are limits.
    """

    problem: DesignProblem
    workload: Floats
    pricing: EverySet | ListedForms | SeparablePricing
    exp_epsilon: float
    outputs: int
    within: ColumnsWithin | None

    def solve(
        self, solution: Solution, tol: float, deadline: float | None, progress: Callable[[str], None]
    ) -> Solution:
        """Return a solution with at most so many outputs, which says what error there was with more."""
        problem, prior = self.problem, self.problem.uncertainty.prior
        error = problem.utility.value(solution.matrix, problem.uncertainty.center)
        if error == math.inf:  # the solver dropped columns that light queries need
            mixed = mixtures(problem, solution.matrix, tol, MOST_BITS, None)
            error = min((problem.utility.value(one, problem.uncertainty.center) for one in mixed), default=math.inf)
        N, W = prior.size, self.workload
        known = [private_response(problem)] if self.outputs >= N else []
        of_queries = None
        if least_outputs(W) < N and (solution.matrix.shape[1] > self.outputs or solution.stopped):
            of_queries = self._of_queries(share_until(deadline, _SHARE), progress)
            known += [] if of_queries is None else [of_queries]
        matrix = with_few_outputs(
            solution.matrix, self.outputs, prior, W, self._finder(deadline), known, deadline=deadline, progress=progress
        )
        return replace(solution, matrix=matrix, unrestricted=error, of_queries=of_queries)

    def _of_queries(self, deadline: float | None, progress: Callable[[str], None]) -> Floats | None:
        """Return a mechanism of so few outputs with all columns in the span of the queries; None if none is found."""
        known = self.problem.uncertainty
        cone = ColumnCone(known, self.exp_epsilon, self.problem.sides.floor_down)
        whole = mechanism_of_queries(cone, self.workload, np.random.default_rng(0))
        columns = whole / (known.prior @ whole)

        def finder(_point: ColumnWeights, _wanted: int) -> Floats:
            return columns

        given = (whole, self.outputs, known.prior, self.workload, finder)
        try:
            return with_few_outputs(*given, deadline=deadline, progress=progress)
        except SolverError:  # floats tell no direction apart from (1,...,1) any more
            return None

    def _finder(self, deadline: float | None) -> Finder:
        """Return what finds columns that keep the promise."""
        pricing, within = self.pricing, self.within
        if isinstance(pricing, SeparablePricing):
            return columns_to_try(pricing, self.workload, deadline)

        def listed(point: ColumnWeights, wanted: int) -> Floats:
            found = pricing.price(QuadraticForm.of_matrix(point.M), point.multipliers, wanted).best
            return found if within is None else within.mixed(found)

        return listed
