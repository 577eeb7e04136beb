"""What every set has to satisfy, one from outside the package among them."""

from fractions import Fraction

import numpy as np
import pytest
from registries import separate_registries
from scipy.optimize import linprog
from tolerances import ALGEBRA, SOLVER

import mechdesign as md
from mechdesign import uncertainty

with separate_registries():
    from tests.outside.box_set import Box

HULL = md.ConvexHull([["0.5", "0.3", "0.2"], ["0.2", "0.2", "0.6"], ["0.1", "0.9", "0"]])
SETS = [
    md.L1Ball(["0.5", "0.3", "0.2"], "0.3"),
    md.L1Ball(["0.5", "0.3", "0.2"]),
    HULL,
    md.ProductSet(md.L1Ball(["0.75", "0.25"], "0.1"), HULL),
    Box(["0.1", "0.2", "0.05"], ["0.6", "0.5", "0.4"], ["0.4", "0.35", "0.25"]),
    Box(["0.1", "0.2", "0"], ["0.1", "0.9", "0.7"], ["0.1", "0.2", "0.7"]),  # the reference prior is a corner
    uncertainty.LowerLimits(["0.3", "0.2", "0.1"], center=["0.5", "0.3", "0.2"]),
    uncertainty.Box(["0.1", "0.2", "0.05"], ["0.6", "0.5", "0.4"], center=["0.4", "0.35", "0.25"]),
    uncertainty.Box(["0.1", "0.2", "0"], ["0.1", "0.9", "0.7"], center=["0.1", "0.2", "0.7"]),
    uncertainty.L1Box(["0.1", "0.2", "0.05"], ["0.6", "0.5", "0.4"], "0.3", center=["0.4", "0.35", "0.25"]),
    uncertainty.RelativeBall(["0.5", "0.3", "0.2"], "0.9", "0.05"),
    uncertainty.EventSet(["0.5", "0.3", "0.2"], ["1", "0.8"], ["0.08", "0.02"]),
    uncertainty.LowerFunction(lambda S: Fraction(len(S) ** 2, 9), ["1/3", "1/3", "1/3"], supermodular=True),
    md.ProductSet(md.L1Ball(["0.75", "0.25"], "0.1"), uncertainty.LowerLimits(["0.3", "0.2"], center=["0.5", "0.5"])),
    md.Union([md.L1Ball(["0.5", "0.3", "0.2"], "0.3"), md.L1Ball(["0.2", "0.2", "0.6"], "0.1")]),
    md.Union([md.L1Ball(["0.5", "0.3", "0.2"], "0.3"), HULL], ["0.3", "0.7"]),
    md.Union([md.L1Ball(["0.5", "0.3", "0.2"], "0.3"), md.L1Ball(["0.2", "0.2", "0.6"], "0.1")]).covered(),
    md.ProductSet(md.L1Ball(["0.75", "0.25"], "0.1"), md.Union([md.L1Ball([0.9, 0.1]), md.L1Ball([0.6, 0.4])])),
]
every_set = pytest.mark.parametrize("known", SETS, ids=lambda known: f"{known.kind}-{SETS.index(known)}")


def columns(known, count=12):
    return np.random.default_rng(known.size).integers(0, 1000, (count, known.size)).tolist()


@every_set
def test_the_worst_prior_is_a_member_and_has_the_least_mean(known):
    worst = [known.exact_worst_mean(column) for column in columns(known)]
    for column, (least, prior) in zip(columns(known), worst, strict=True):
        assert sum(prior) == 1
        assert known.contains(prior)
        assert least == sum(q * v for q, v in zip(prior, column, strict=True)) == known.exact_support(column)
        assert all(sum(q * v for q, v in zip(other, column, strict=True)) >= least for _, other in worst)
        assert sum(p * v for p, v in zip(known.center, column, strict=True)) >= least
        floats = np.array(column, dtype=float)
        assert known.worst_mean(floats)[0] == pytest.approx(float(least), rel=ALGEBRA)
    assert known.contains(known.center)


@pytest.mark.sampled
@every_set
def test_the_least_lift_is_at_the_greatest_mean(known):
    """The greatest mean by a linear program over the priors that the rows describe, apart from that of `max v - v`."""
    rows = known.support_rows()
    A, B = rows.columns.toarray(), rows.auxiliary.toarray()
    for column in columns(known):
        # Priors are A' y with B' y = -e_0 and y >= 0, so that the greatest mean is a maximum over y.
        most = linprog(-(A @ column), A_eq=B.T, b_eq=-np.eye(1, B.shape[1])[0], bounds=(0, None))
        assert most.status == 0
        assert float(known.exact_greatest_mean(column)) == pytest.approx(-most.fun, rel=SOLVER)
        assert float(known.exact_least_lift(column)) == pytest.approx(min(column) / -most.fun, rel=SOLVER)
        for other in columns(known):
            member = known.exact_worst_mean(other)[1]
            mean = sum(q * v for q, v in zip(member, column, strict=True))
            assert all(v >= known.exact_least_lift(column) * mean for v in column)
    assert known.exact_least_lift([7] * known.size) == 1
    assert known.exact_least_lift([0] + [7] * (known.size - 1)) == 0


@every_set
def test_the_greatest_lift_is_at_the_worst_prior(known):
    for column in columns(known):
        ratio = known.exact_ratio(column)
        priors = [known.center, *(known.exact_worst_mean(other)[1] for other in columns(known))]
        means = [sum(q * v for q, v in zip(prior, column, strict=True)) for prior in priors]
        assert all(max(column) <= ratio * mean for mean in means)
        # It is attained: no smaller number bounds the lift at the worst prior of this very column.
        assert max(column) == ratio * min(means)
    assert known.exact_ratio([7] * known.size) == 1
    for i in range(known.size):
        unit = [int(i == j) for j in range(known.size)]
        least = known.exact_support(unit)
        assert known.exact_ratio(unit) == (1 / least if least else None)


@pytest.mark.sampled
@every_set
def test_linear_rows_describe_the_support_function(known):
    rows = known.support_rows()
    A, B = rows.columns.toarray(), rows.auxiliary.toarray()
    for column in columns(known):
        greatest = linprog(np.eye(1, B.shape[1])[0] * -1, A_ub=-B, b_ub=A @ column, bounds=(None, None))
        assert -greatest.fun == pytest.approx(float(known.exact_support(column)), rel=SOLVER)


@every_set
def test_what_is_near_a_prior_is_a_member_to_within_rounding(known):
    rng = np.random.default_rng(7)
    corners = np.array([[float(q) for q in known.exact_worst_mean(column)[1]] for column in columns(known)])
    inside = rng.dirichlet(np.ones(len(corners)), 10) @ corners
    # Corners as floats miss the set by rounding alone, which is what a dual solution does.
    for Q in [*corners, *inside]:
        np.testing.assert_allclose(known.member_near(Q), Q, atol=1e-9 if known.convex_hull else 1e-14)
    for Q in [*rng.dirichlet(np.full(known.size, 0.2), 20), *np.eye(known.size), np.full(known.size, np.nan)]:
        near = known.member_near(Q)
        assert near.sum() == pytest.approx(1, abs=ALGEBRA)
        for column in columns(known):
            assert near @ column >= float(known.exact_support(column)) * (1 - ALGEBRA)


@every_set
def test_no_mechanism_is_private_beyond_the_designed_one(known):
    problem = md.DesignProblem(known, "log(2)", md.HammingAccuracy())
    solved = md.design(problem)
    assert solved.certified
    assert max(solved.mechanism.proof.ratios) <= Fraction(2)


@every_set
def test_it_is_told_in_words(known):
    assert known.in_words().startswith(("every ", "the prior itself"))
    assert known.one_in_words()
    assert known.delta is None
