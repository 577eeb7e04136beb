"""The bound that lambda and a mixture of priors prove on the least utility over a set, by an averaged utility."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike

from mechdesign.errors import InputError
from mechdesign.numerics.arrays import Floats, as_bound, real_array
from mechdesign.numerics.exact import float_up
from mechdesign.optimize.certificate import Certificate, certify, checked_multipliers, priced_bound
from mechdesign.optimize.effective_epsilon import effective_exp_epsilon
from mechdesign.optimize.one_sided import OneSided
from mechdesign.optimize.pricing import Price, price_by_guess
from mechdesign.optimize.pricing.listing import check_listable, price_by_listing
from mechdesign.problem import DesignProblem
from mechdesign.uncertainty.prior_mixture import PriorMixture
from mechdesign.utility import Utility, WorstCaseUtility

_EPS = float(np.finfo(float).eps)


@dataclass(frozen=True, eq=False)
class MixedUtility(Utility):
    """The utility ``sum_k w_k U(Q_k)``; the prior that is given to its methods only scales columns.

    Attributes
    ----------
    utility : Utility
        Its mu is averaged.
    priors : array, shape (K, N)
    weights : array, shape (K,)

    Examples
    --------
    >>> from mechdesign import MutualInformation
    >>> mixed = MixedUtility(MutualInformation(), np.array([[0.5, 0.5], [1.0, 0.0]]), np.array([0.5, 0.5]))
    >>> round(mixed.value(np.eye(2), [0.5, 0.5]), 6)
    0.346574
    """

    utility: Utility
    priors: Floats
    weights: Floats

    def mu(self, columns: ArrayLike, prior: ArrayLike) -> Floats:  # noqa: ARG002 - it has its own priors
        """Return the average of mu of each column, shape (M,)."""
        return self.utility.mean_mu(real_array(columns, "the matrix"), self.priors, self.weights)

    def gradient(self, column: ArrayLike, prior: ArrayLike) -> Floats:  # noqa: ARG002
        """Return the average of the gradients at one column, shape (N,)."""
        slopes = [self.utility.gradient(column, Q) for Q in self.priors]
        result: Floats = self.weights @ np.array(slopes)
        return result

    def mu_up(self, columns: Floats, prior: Floats, slack: float | Floats) -> Floats:  # noqa: ARG002
        """Return an upper bound of mu over all columns within ``slack`` of each given one, shape (M,).

        For each prior Q the column is divided by its mean ``q = <Q, v>``, which is known up to the mean of the slack;
        mu is homogeneous. Where the slack is too large for this, mu is at most ``sum_i v_i mu(1_i)``, because it is
        sublinear.
        """
        off = np.broadcast_to(np.asarray(slack, dtype=float), columns.shape)
        total = np.zeros(columns.shape[1])
        with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
            for weight, Q in zip(self.weights, self.priors, strict=True):
                q = Q @ columns
                error = Q @ off + (Q.size + 4) * _EPS * q
                near = error < q / 4
                share = np.where(near, error / np.where(near, q, 1.0), 0.0)
                mean = np.where(near, q, 1.0)
                u = columns / mean
                around = (off / mean + u * (share + 4 * _EPS)) / (1 - share)
                upper = self.utility.mu_up(u, Q, around) * mean
                upper += np.abs(upper) * (share + 4 * _EPS)
                total += weight * as_bound(np.where(near, upper, self._disclosed(Q) @ (columns + off)))
        result: Floats = total + np.abs(total) * (len(self.weights) + 4) * _EPS
        return result

    def disclosure(self) -> float:
        """Return the utility of releasing the data unchanged, rounded up, which no mechanism exceeds."""
        total = sum(float(w * self._disclosed(Q).sum()) for w, Q in zip(self.weights, self.priors, strict=True))
        return total * (1 + (self.priors.size + 4) * _EPS)

    def _disclosed(self, Q: Floats) -> Floats:
        """Return mu of the columns of single symbols at a prior, rounded up."""
        scaled = np.diag(1.0 / np.where(Q > 0, Q, 1.0))
        upper = self.utility.mu_up(scaled, Q, 4 * _EPS * scaled)
        result: Floats = np.where(Q > 0, np.maximum(upper, 0.0) * Q * (1 + 4 * _EPS), 0.0)
        return result


def certify_least(
    problem: DesignProblem, multipliers: ArrayLike, mixture: PriorMixture, *, deadline: float | None = None
) -> Certificate:
    """Return the upper bound of the least utility that lambda and a mixture of priors prove.

    Parameters
    ----------
    problem : DesignProblem
        Its objective is a `WorstCaseUtility`.
    multipliers : array, shape (N,)
        lambda.
    mixture : PriorMixture
        Members of the set over which the least is taken, with weights. If it is the reference prior alone, the bound is
        that of the utility there.
    deadline : float or None
        For gains, as in `price_by_guess`.

    Raises
    ------
    InputError
        If the objective is another one, or lambda does not have N finite entries.
    GuaranteeError
        If a prior is outside the set.
    LimitError
        If the rays of the cone cannot be listed, which utilities other than gains need.

    Examples
    --------
    >>> import mechdesign as md
    >>> problem = md.DesignProblem(md.L1Ball([0.5, 0.5], "0.2"), "log(2)", md.WorstCaseUtility(md.MutualInformation()))
    >>> mixture = PriorMixture((problem.uncertainty.center,), (1,))
    >>> certify_least(problem, [0.0, 0.0], mixture).bound < 0.7
    True
    """
    worst = problem.utility.worst_case
    if worst is None:
        raise InputError.wrong_objective(f"{problem.utility.name} is measured at one prior; certify takes it")
    priors = worst.priors(problem.uncertainty)
    mixture.check_members(priors)
    if len(mixture.priors) == 1 and mixture.priors[0] == problem.uncertainty.center:
        return replace(certify(problem.with_utility(worst.utility), multipliers, deadline=deadline), mixture=mixture)
    one_sided = OneSided.of(problem)
    if one_sided is not None:
        return certify_least(
            one_sided.problem, multipliers, mixture, deadline=deadline
        )  # of every prior, with the same multipliers
    lam = checked_multipliers(problem, multipliers)
    informs = worst.utility.f_information is not None
    least_lift = problem.sides.floor_down.least_lift
    if informs and (problem.epsilon.exp_up == 1 or least_lift == 1 or all(1 in prior for prior in mixture.priors)):
        return Certificate(lam, 0.0, 0.0, "no report informs about anything", 0, mixture)
    priced, disclosed = _pricing(problem, worst, mixture, deadline)
    price, bound = priced_bound(lam, priced)
    method = f"{price.method}, at {mixture.count_in_words()}"
    return Certificate(lam, price.upper, min(bound, disclosed), method, price.columns, mixture)


def _pricing(
    problem: DesignProblem, worst: WorstCaseUtility, mixture: PriorMixture, deadline: float | None
) -> tuple[Callable[[Floats], Price], float]:
    """Return what prices lambda for the average of the utility over the mixture, and that of full disclosure."""
    known, exp_epsilon = problem.uncertainty, effective_exp_epsilon(problem)
    floor = problem.sides.floor_down
    polyhedral = worst.utility.polyhedral
    if polyhedral is not None:
        mean = mixture.mean
        disclosed = float_up(polyhedral.disclosure(mean))

        def price(lam: Floats) -> Price:
            return price_by_guess(known, exp_epsilon, polyhedral, lam, mean, floor, deadline=deadline)

        return price, disclosed
    floats = np.array([[float(q) for q in prior] for prior in mixture.priors])
    mixed = MixedUtility(worst.utility, floats, np.array([float(w) for w in mixture.weights]))
    rays = check_listable(known, exp_epsilon, floor)
    return (lambda lam: price_by_listing(rays, mixed, lam)), mixed.disclosure()
