"""Two-sided problems that are one-sided problems in disguise, so that all methods for these serve them.

*A known prior P.* With ``b = exp(epsilon)`` and ``a = exp(-lower)`` the map ``v = (1 - a) u + a <P, u> 1`` takes the
cone ``{ u >= 0 : max u <= e' <P, u> }``, ``e' = (b - a) / (1 - a)``, onto
``{ v : max v <= b <P, v>, min v >= a <P, v> }``, and keeps ``<P, v> = <P, u>``. So the best mechanism is
``(1 - a) U + a 1 q^T``, U being the best one for e' and the utility ``u -> mu(v)``, and q its masses. For an
f-information that is the f-information of ``r -> f(a + (1 - a) r)``. A vector lambda of multipliers becomes
``(1 - a) lambda``, and proves the same bound.

*Every prior.* A lift is above b for some prior, or below 1/b for another, exactly where two entries of a column have a
ratio above b. So the lesser of epsilon and lower, or of epsilon and a cap, is the epsilon of local differential
privacy. A cap that is not above epsilon implies epsilon for any set, so that it is the whole promise. A greater one may
imply a promise about a secret that depends on the data little.

docs/mathematics.md proves both.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction

from mechdesign.display.numbers import text_near
from mechdesign.numerics.arrays import Floats
from mechdesign.numerics.epsilon import Epsilon
from mechdesign.numerics.exact import float_up
from mechdesign.optimize.method import Solution
from mechdesign.problem import DesignProblem
from mechdesign.uncertainty import L1Ball
from mechdesign.utility.mixed_information import mixed_utility


@dataclass(frozen=True, eq=False)
class OneSided:
    """A one-sided problem with the bound of a two-sided one, and the way back.

    Attributes
    ----------
    problem : DesignProblem
        Without a promise from below.
    share : float
        ``1 - a``, rounded up; a wider cone is solved, and its bound holds for the narrower one.

    Examples
    --------
    >>> from mechdesign import L1Ball
    >>> found = OneSided.of(DesignProblem(L1Ball(["0.5", "0.5"]), "log(3/2)", lower="log(2)"))
    >>> found.share, found.problem.epsilon.exp_down
    (0.5, Fraction(2, 1))
    """

    problem: DesignProblem
    share: float

    @classmethod
    def of(cls, problem: DesignProblem) -> OneSided | None:
        """Return the one-sided problem; None where there is none, or nothing is promised from below."""
        ball, cap, local = problem.uncertainty.l1_ball, problem.cap, problem.local_epsilon
        if problem.sides.below is None or problem.only_constant:
            return None
        asked = problem.epsilon.exp_up, problem.sides.floor_up.least_lift
        if cap is not None and problem.utility.worst_case is None and problem.uncertainty.is_implied_by_cap(*asked):
            ball, local = L1Ball(problem.uncertainty.center, 2, problem.uncertainty.labels), cap
        if ball is None or (cap is not None and not ball.holds_every_prior):
            return None
        if ball.holds_every_prior:
            return cls(DesignProblem(ball, local, problem.utility), 1.0)
        information = problem.utility.f_information
        if ball.radius > 0 or information is None:
            return None
        share = float_up(1 - problem.sides.floor_down.least_lift)
        power = 1 + (problem.epsilon.exp_up - 1) / Fraction(share)
        epsilon = Epsilon(f"log({text_near(power)})", None, power)
        known = L1Ball(ball.center, 0, ball.labels)
        return cls(DesignProblem(known, epsilon, mixed_utility(information, share)), share)

    def back(self, solution: Solution) -> Solution:
        """Return the mechanism and the multipliers of the two-sided problem from those of the one-sided one."""
        matrix, bins = solution.matrix, solution.bins
        whole = matrix if bins is None else matrix[bins.positions]
        masses = self.problem.uncertainty.prior @ whole
        mixed = self.share * matrix + (1 - self.share) * masses
        return replace(solution, matrix=mixed, multipliers=solution.multipliers / self.share)

    def multipliers(self, multipliers: Floats) -> Floats:
        """Return the multipliers of the one-sided problem from those of the two-sided one."""
        return multipliers * self.share
