"""What a delta may gain: held against the program over all rays and certain reports, and against mixtures."""

import numpy as np
import pytest
from refusals import raises
from scipy.optimize import linprog
from tolerances import SOLVER

import mechdesign as md
from mechdesign.optimize import bound_with_tail

PRIORS = [[0.5, 0.3, 0.2], [0.25] * 4, [0.4, 0.3, 0.15, 0.1, 0.05]]
UTILITIES = [md.MutualInformation(), md.TotalVariation(), md.ChiSquare(), md.HammingAccuracy()]


def best_with_tail(prior, exp_epsilon, utility, delta):
    """The best mix of rays of a known prior, and of reports that tell a symbol, of probability delta at most."""
    P = np.array(prior)
    rays = []
    for inside in np.ndindex(*(2,) * P.size):
        mass = P @ inside
        rest = 1 - exp_epsilon * mass
        if rest < -1e-12:
            continue
        for i in np.flatnonzero(np.array(inside) == 0):
            v = exp_epsilon * np.array(inside, dtype=float)
            v[i] = max(rest, 0) / P[i]
            if v[i] <= exp_epsilon:
                rays.append(v)
    columns = np.array(rays + list(np.diag(1 / P))).T
    price = np.r_[np.zeros(len(rays)), np.ones(P.size)]
    worth = utility.mu(columns, P)
    return -linprog(-worth, A_ub=[price], b_ub=[delta], A_eq=columns, b_eq=np.ones(P.size)).fun


@pytest.mark.combined
@pytest.mark.parametrize("utility", UTILITIES, ids=lambda utility: utility.name)
@pytest.mark.parametrize("prior", PRIORS, ids=len)
def test_no_mechanism_with_the_tail_is_worth_more(prior, utility):
    design = md.design(md.DesignProblem(md.L1Ball(prior), "0.5", utility=utility))
    assert best_with_tail(prior, np.exp(0.5), utility, 0) == pytest.approx(design.value, abs=SOLVER)
    for delta in (1e-6, 0.01, 0.1, 0.5, 1):
        bound = bound_with_tail(design, delta)
        assert best_with_tail(prior, np.exp(0.5), utility, delta) <= bound + SOLVER
        assert bound >= (1 - delta) * design.value + delta * utility.value(np.eye(len(prior)), prior) - SOLVER


def test_a_small_delta_gains_what_the_bound_says():
    """With certain reports for the symbol that gains most, where the best lambda is the only one."""
    prior, utility = [0.5, 0.3, 0.2], md.MutualInformation()
    design = md.design(md.DesignProblem(md.L1Ball(prior), 1))
    gained = best_with_tail(prior, np.e, utility, 1e-3) - best_with_tail(prior, np.e, utility, 0)
    assert bound_with_tail(design, "1e-3") - design.upper_bound == pytest.approx(gained, rel=1e-4)


def test_it_grows_from_the_bound_of_the_design_to_the_data_themselves():
    ball = md.L1Ball([0.5, 0.3, 0.2], "0.1")
    design = md.design(md.DesignProblem(ball, 1))
    bounds = [bound_with_tail(design, delta) for delta in ("0", "1e-9", "0.01", "0.1", "1")]
    assert bounds[0] == design.upper_bound
    assert (np.diff(bounds) > 0).all()
    assert bounds[1] - bounds[0] < 1e-8
    assert bounds[-1] <= md.MutualInformation().value(np.eye(3), ball.prior) + SOLVER
    unseen = md.design(md.DesignProblem(md.L1Ball([0.5, 0.5, 0], "0.1"), 1))
    assert bound_with_tail(unseen, "1e-9") == pytest.approx(np.log(2))


def test_other_promises_and_objectives_are_refused():
    ball = md.L1Ball([0.5, 0.3, 0.2], "0.1")
    with raises("conflicting-arguments", "cap"):
        bound_with_tail(md.design(md.DesignProblem(ball, 1, cap=2)), 0.1)
    with raises("wrong-objective"):
        bound_with_tail(md.design(md.DesignProblem(ball, 1, utility=md.EstimationError())), 0.1)
    with raises("delta-out-of-range"):
        bound_with_tail(md.design(md.DesignProblem(ball, 1)), 2)
    with raises("wrong-type"):
        bound_with_tail(ball, 0.1)
