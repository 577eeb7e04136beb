"""The bound on all tables follows from multipliers alone: poor ones prove less, and none proves too much."""

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from extreme_priors import extreme_priors
from refusals import raises
from tables import RELATIONSHIP, best_over_listed_priors, random_table

import mechdesign as md
from mechdesign.optimize.tables import table_certificate
from mechdesign.optimize.tables.table_certificate import certify_table
from mechdesign.optimize.tables.table_problem import TableProblem

BALL = md.L1Ball([Fraction(6, 11), Fraction(4, 11), Fraction(1, 11)], "1/4")


def claimed(found, **changes):
    """The mechanism of a design with another claim about all tables."""
    own = found.mechanism.table
    return replace(found.mechanism, table=replace(own, optimality=replace(own.optimality, **changes)))


@pytest.mark.parametrize("given", [{}, {"invariant": False}, {"cap": "1.5"}, {"forbidden": [("x3", "x1")]}])
def test_no_multipliers_prove_less_than_the_best_table_keeps(given):
    problem, rng = TableProblem(BALL, 1, **given), np.random.default_rng(3)
    listed = {"forbidden": {(2, 0)}} if "forbidden" in given else {name: float(x) for name, x in given.items()}
    best = best_over_listed_priors(BALL, 1, np.eye(3), **listed)
    for scale in (0.01, 0.3, 3):
        for _ in range(6):
            lam, sigma = rng.normal(0, scale, 3), [0, 0, 0]
            assert float(certify_table(problem, lam.tolist(), sigma).upper_bound) >= best - 1e-9


def test_poor_proposals_weaken_the_bound_and_never_falsify_it(monkeypatch):
    found = md.design_table(BALL, 1)
    problem, claim, rng = found.problem, found.mechanism.table.optimality, np.random.default_rng(1)
    best = certify_table(problem, claim.multipliers, claim.floor_multipliers).upper_bound

    def poor(_, linear):
        return [(rng.uniform(0, 2, linear.shape[1]), rng.uniform(0, 1, linear.shape[1])) for _ in linear]

    monkeypatch.setattr(table_certificate, "_proposals", poor)
    for _ in range(20):
        assert certify_table(problem, claim.multipliers, claim.floor_multipliers).upper_bound >= best - Fraction(
            1, 10**12
        )
    monkeypatch.setattr(table_certificate, "_proposals", lambda _, linear: [(np.full(3, np.nan),) * 2 for _ in linear])
    assert certify_table(problem, claim.multipliers, claim.floor_multipliers).upper_bound >= best


def test_each_level_bounds_its_columns_at_every_extreme_prior():
    """``<c, v> <= r <P, v>`` for columns that keep the promise: those of designs at random."""
    problem = TableProblem(BALL, 1)
    lam = [0.1, 0.05, 0.02]
    levels = certify_table(problem, lam, [0, 0, 0]).levels
    e, rng, tight, kept = np.exp(1), np.random.default_rng(9), np.full(3, -np.inf), 0
    priors = [np.array([float(q) for q in Q]) for Q in extreme_priors(BALL)]
    P = BALL.prior
    for v in rng.uniform(0, 1, (600, 3)):
        column = v**4
        for _ in range(30):  # entries above e times the least mean fall to it
            column = np.minimum(column, e * min(column @ Q for Q in priors))
        if column.max() <= e * min(column @ Q for Q in priors) * (1 + 1e-14):
            kept += 1
            tight = np.maximum(tight, ((np.diag(P) - lam) @ column) / (P @ column))
    assert kept > 200
    assert (tight <= np.array([float(r) for r in levels]) + 1e-12).all()
    assert (tight >= np.array([float(r) for r in levels]) - 0.1).all()


def test_a_false_claim_about_all_tables_is_found():
    found = md.design_table(RELATIONSHIP, 1, delta=1e-9, floors={"Wife": 0.02})
    for bound in (found.bound - 1e-9, found.value - 0.1, 0.0):
        with raises("optimality-false", "bound"):
            md.verify(claimed(found, bound=bound))
    with raises("optimality-false", "value"):
        md.verify(claimed(found, value=found.value + 1e-9))
    with raises("optimality-false", "bound"):
        md.verify(claimed(found, multipliers=(0.0,) * 6))
    with raises("out-of-range", "-1"):
        md.verify(claimed(found, floor_multipliers=(-1.0,) * 6))
    with raises("wrong-size"):
        md.verify(claimed(found, multipliers=(1e300,) * 6))
    weaker = md.verify(claimed(found, bound=1.0))
    assert weaker.gap == pytest.approx(found.bound - found.value, abs=1e-9)


def test_a_false_claim_about_losses_is_found():
    radius = md.uncertainty.clopper_pearson_radius(48842, 6, 1e-9)
    found = md.design_table(RELATIONSHIP, 1, radius=radius, loss=(1 - np.eye(6)).tolist())
    assert found.value == pytest.approx(1 - 0.6771117377, abs=1e-9)
    assert found.bound <= found.value
    with raises("optimality-false", "lower bound"):
        md.verify(claimed(found, bound=found.bound + 1e-9))
    with raises("optimality-false", "value"):
        md.verify(claimed(found, loss=((Fraction(0),) * 6,) * 6))


def test_floor_multipliers_prove_what_floors_cost():
    rng = np.random.default_rng(2)
    seen = 0
    for _ in range(60):
        counts, epsilon, given = random_table(rng)
        if "floors" not in given:
            continue
        try:
            found = md.design_table(counts, epsilon, **given)
        except md.MechdesignError:
            continue
        sigma = found.mechanism.table.optimality.floor_multipliers
        if max(sigma) > 1e-6:
            seen += 1
            without = md.design_table(counts, epsilon, **(given | {"floors": None}))
            sign = -1 if "loss" in given else 1
            assert sign * (without.value - found.value) > 0
    assert seen >= 3


@pytest.mark.parametrize("given", [{}, {"cap": 2}, {"forbidden": [("Husband", "Wife")]}])
def test_multipliers_of_any_size_prove_a_bound_and_never_a_false_one(given):
    found = md.design_table(RELATIONSHIP, 2, delta=1e-3, **given)
    for size in (1e99, -1e99, 1e15, 1e-320):
        problem, many = found.problem, [size, *[0.0] * 5]
        assert certify_table(problem, many, [0.0] * 6).upper_bound >= found.value
        with raises("optimality-false"):
            md.verify(claimed(found, multipliers=tuple(many)))
