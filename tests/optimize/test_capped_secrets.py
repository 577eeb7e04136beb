"""A cap for everyone beside a promise about a secret: its rays in rationals, optima, prices, limits, and refusals."""

from fractions import Fraction
from itertools import pairwise, product

import numpy as np
import pytest
from double_description import extreme_rays
from extreme_priors import extreme_priors
from refusals import raises
from scipy.optimize import linprog
from tolerances import CERTIFIED

import mechdesign as md
from mechdesign.mechanism.words import not_protected
from mechdesign.numerics.quadratic_form import QuadraticForm
from mechdesign.optimize import capped_secret_rays, limit_rays
from mechdesign.optimize.capped_secret_rays import CappedSecretRays
from mechdesign.optimize.estimation.interior_point import solve
from mechdesign.optimize.estimation.solver import error_tolerance
from mechdesign.optimize.limit_rays import CappedLimitRays, LimitCone
from mechdesign.optimize.pricing.listing import ListedPricing, check_listable
from mechdesign.optimize.pricing.secret_duals import SecretLevels
from mechdesign.uncertainty.base import Floor

JOINT = [[20, 10, 5, 5], [10, 15, 20, 15]]
KNOWN = md.SecretPromise(JOINT, known=True)
WITHIN = [([[5, 1, 5], [1, 1, 1]], "l1-ball"), ([[5, 2, 1], [1, 1, 3]], "box")]
CAPS = ["log(2)", "log(4)", "log(20)"]


def ratios(size, a):
    """``v_i >= a v_j`` for all i and j."""
    return [[(k == i) - a * (k == j) for k in range(size)] for i in range(size) for j in range(size) if i != j]


def rows_about(known, e):
    """``e P - A_s`` from the counts, or at every extreme joint distribution within the limits."""
    if known.limits is None:
        laws = [known.joint.conditional(s) for s in range(len(known.joint.values))]
        joints = [([Fraction(n, known.joint.total) for n in known.joint.of_values], *laws)]
    else:
        joints = product(*map(extreme_priors, (known.limits.of_secret, *known.limits.given)))
    rows = set()
    for weights, *laws in joints:
        P = [sum(w * law[x] for w, law in zip(weights, laws, strict=True)) for x in range(known.size)]
        rows |= {tuple(e * p - q for p, q in zip(P, law, strict=True)) for law in laws}
    return [*rows]


def brute_force(known, e, a):
    """All extreme rays of the cone from its definition, scaled to a mean of 1, shape (N, k), and as they are."""
    exact = extreme_rays([*rows_about(known, e), *ratios(known.size, a)], known.size)
    rays = np.array([[float(Fraction(x, max(ray))) for x in ray] for ray in exact]).T
    return rays / (known.prior @ rays), exact


def some_joint(rng, values, size):
    """Counts of one digit give zeros, equal lifts and rows that are tight together."""
    joint = rng.integers(0, 4, (values, size))
    joint[:, 0] += 1
    joint[0] += joint.sum(axis=0) == 0
    return md.SecretPromise(joint.tolist(), known=True)


@pytest.mark.sampled
@pytest.mark.parametrize(("values", "size", "count"), [(2, 3, 30), (2, 4, 20), (3, 4, 20), (4, 4, 15), (2, 5, 5)])
def test_the_list_holds_every_extreme_ray_and_columns_of_the_cone_alone(values, size, count):
    rng = np.random.default_rng([values, size])
    between = 0
    for _ in range(count):
        known, e = some_joint(rng, values, size), [1.0625, 1.25, 1.5, 2.0][int(rng.integers(4))]
        a = Fraction(1, 2 ** int(rng.integers(2, 5)))
        rays = CappedSecretRays(known, e, a)
        found = list(rays.with_errors(rays.kinds))
        listed, errors = (np.hstack(parts) for parts in zip(*found, strict=True))
        assert rays.count(rays.kinds) == listed.shape[1] <= rays.candidates
        expected, exact = brute_force(known, Fraction(e), a)
        for column, ray in zip(expected.T, exact, strict=True):
            off = np.abs(listed - column[:, None])
            assert (off <= errors + 1e-15).all(axis=0).any()
            between += any(a * max(ray) < x < max(ray) for x in ray)
        assert (np.array(rows_about(known, Fraction(e)), dtype=float) @ listed >= -1e-12).all()
        assert (listed.min(axis=0) >= float(a) * listed.max(axis=0) * (1 - 1e-12)).all()
    assert between > count


def test_errors_of_entries_are_counted():
    """Against the entries in fractions, for counts of six digits."""
    rng = np.random.default_rng(3)
    known = md.SecretPromise(rng.integers(1, 10**6, (3, 5)).tolist(), known=True)
    e, a = 1.0 + 2**-20, Fraction(1, 8)
    rays = CappedSecretRays(known, e, a)
    P, worst = known.center, 0
    for ray in brute_force(known, Fraction(e), a)[1]:
        mean = sum(p * x for p, x in zip(P, ray, strict=True))
        exact = [x / mean for x in ray]
        near = []
        for columns, errors in rays.with_errors(rays.kinds):
            for k in np.flatnonzero(np.abs(columns - np.array(exact, dtype=float)[:, None]).max(axis=0) < 1e-6):
                off = [abs(Fraction(x) - y) for x, y in zip(columns[:, k].tolist(), exact, strict=True)]
                near.append(all(x <= Fraction(y) for x, y in zip(off, errors[:, k].tolist(), strict=True)))
                worst = max(worst, *off)
        assert any(near)
    assert worst > 0


@pytest.mark.combined
@pytest.mark.parametrize("cap", CAPS)
@pytest.mark.parametrize("utility", [md.MutualInformation(), md.ChiSquare(), md.TotalVariation()], ids=lambda u: u.name)
def test_information_is_that_of_all_vertices(cap, utility):
    for known in (KNOWN, *(md.SecretPromise(counts, delta="0.1", limits=limits) for counts, limits in WITHIN)):
        problem = md.DesignProblem(known, "log(3/2)", utility, cap=cap)
        solved = md.design(problem)
        rays, _ = brute_force(known, Fraction(3, 2), 1 / problem.cap.exp_down)
        best = linprog(-utility.mu(rays, known.prior), A_eq=rays, b_eq=np.ones(known.size))
        assert solved.certified
        assert solved.value == pytest.approx(-best.fun, rel=CERTIFIED, abs=1e-9)
        assert md.verify(solved.mechanism).optimal


@pytest.mark.sampled
@pytest.mark.parametrize("cap", CAPS)
def test_the_least_error_is_that_of_all_vertices(cap):
    for known in (KNOWN, *(md.SecretPromise(counts, delta="0.1", limits=limits) for counts, limits in WITHIN)):
        problem = md.DesignProblem(known, "log(3/2)", md.EstimationError(), cap=cap)
        solved = md.design(problem)
        rays, _ = brute_force(known, Fraction(3, 2), 1 / problem.cap.exp_down)
        best = solve(rays, known.prior, np.eye(known.size), 1e-9)
        assert solved.certified
        assert solved.value == pytest.approx(best.value, rel=2e-6)
        assert solved.bound <= best.value * (1 + 1e-9)
        assert md.verify(solved.mechanism).optimal


@pytest.mark.sampled
@pytest.mark.parametrize("utility", [md.HammingAccuracy(), md.ExplainedVariance([0, 1, 5, 6])], ids=lambda u: u.name)
def test_gains_are_those_of_all_vertices(utility):
    """And of more categories than can be listed, the bound is tight."""
    for cap in CAPS:
        problem = md.DesignProblem(KNOWN, "log(3/2)", utility, cap=cap)
        solved = md.design(problem)
        rays, _ = brute_force(KNOWN, Fraction(3, 2), 1 / problem.cap.exp_down)
        P = KNOWN.prior
        if isinstance(utility, md.HammingAccuracy):
            mu = (P[:, None] * rays).max(axis=0)
        else:
            x = np.array([0, 1, 5, 6]) - P @ [0, 1, 5, 6]
            mu = (P * x @ rays) ** 2
        best = linprog(-mu, A_eq=rays, b_eq=np.ones(4))
        assert solved.certified
        assert solved.value == pytest.approx(-best.fun, rel=CERTIFIED)


def test_gains_of_many_categories_with_a_cap_are_certified():
    rng = np.random.default_rng(1)
    many = md.SecretPromise(rng.integers(1, 50, (3, 40)).tolist(), known=True)
    solved = md.design(md.DesignProblem(many, "0.05", md.HammingAccuracy(), cap=2))
    assert solved.certified
    assert md.verify(solved.mechanism).optimal


def test_a_secret_that_is_the_data_is_the_promise_about_the_data():
    """For a known prior, and for a ball as the limits of the secret's law."""
    counts = [5, 4, 3, 1]
    same = md.SecretPromise((np.diag(counts)).tolist(), known=True)
    laws = [md.L1Ball([int(i == j) for j in range(4)], "1e-12") for i in range(4)]
    ball = md.L1Ball.from_counts(counts, radius="0.1")
    for objective in (md.MutualInformation(), md.EstimationError()):
        for about, plain in ((same, md.L1Ball.from_counts(counts, known=True)), (same.within([ball, *laws]), ball)):
            one, other = (md.design(md.DesignProblem(known, 1, objective, cap=2)) for known in (about, plain))
            assert one.certified
            assert one.value == pytest.approx(other.value, rel=2 * CERTIFIED)


@pytest.mark.sampled
@pytest.mark.parametrize("known", [KNOWN, md.SecretPromise(JOINT, delta="0.1")], ids=["known", "limits"])
def test_a_cap_costs_less_the_greater_it_is_from_privacy_of_the_data_to_that_of_the_secret(known):
    problem = md.DesignProblem(known, "0.3")
    everyone = md.L1Ball(known.center, 2, known.labels)
    values = [md.design(problem.with_cap(cap)).value for cap in ("0.3", "0.6", 1, 2, 4, 30)]
    assert values[0] == pytest.approx(md.design(md.DesignProblem(everyone, "0.3")).value, rel=CERTIFIED)
    assert all(x < y + 1e-9 for x, y in pairwise(values))
    assert values[-1] == pytest.approx(md.design(problem).value, rel=2 * CERTIFIED)
    assert values[1] < values[3] < values[-1]


def test_no_random_private_column_is_priced_too_low():
    """Utilities less what columns pay, of 10^4 columns that keep both promises."""
    rng = np.random.default_rng(2)
    known = md.SecretPromise(rng.integers(1, 30, (3, 7)).tolist(), known=True)
    floor = Floor(Fraction(1, 8), for_everyone=True)
    columns = rng.choice([0.125, 1, 0.5], (7, 60_000)) + 0.2 * rng.random((7, 60_000))
    columns = np.maximum(columns, columns.max(axis=0) / 8)
    columns = columns[:, known.excess(columns, 1.25) <= 0][:, :10_000]
    columns /= known.prior @ columns
    assert columns.shape[1] == 10_000
    pricing = ListedPricing(check_listable(known, 1.25, floor), md.MutualInformation())
    levels = SecretLevels(known, 1.25, floor)
    for scale in (0.1, 1.0):
        lam = scale * known.prior * rng.normal(1, 1, 7)
        reduced = md.MutualInformation().mu(columns, known.prior) - lam @ columns
        assert pricing.price(lam).upper >= reduced.max()
        listed = max(float((lam @ rays).max()) for rays in pricing.rays.of_kinds(pricing.rays.kinds))
        level = float(levels.level([Fraction(x) for x in lam.tolist()]))
        assert level == pytest.approx(listed, rel=1e-9)
        assert level >= (lam @ columns).max()
        assert float(levels.level([Fraction(x) for x in lam.tolist()], deadline=0.0)) >= level - 1e-12


def test_the_price_of_a_secret_with_a_cap_is_below_that_of_either_alone():
    rng = np.random.default_rng(5)
    floor = Floor(Fraction(1, 4), for_everyone=True)
    lists = [check_listable(KNOWN, 1.25), check_listable(md.L1Ball(KNOWN.center, 2), 4.0)]
    both = ListedPricing(check_listable(KNOWN, 1.25, floor), md.ChiSquare())
    for _ in range(5):
        lam = KNOWN.prior * rng.normal(1, 1, 4)
        alone = [ListedPricing(rays, md.ChiSquare()).price(lam).upper for rays in lists]
        assert both.price(lam).upper <= min(alone) + 1e-12


def test_cones_to_cut_begin_with_the_list_of_the_counts():
    known = md.SecretPromise(JOINT, delta="0.05")
    rays = CappedLimitRays(known, 1.25, Fraction(1, 8))
    listed = np.hstack(list(rays.of_kinds(rays.kinds)))
    cone = LimitCone(known, 1.25, Floor(Fraction(1, 8), for_everyone=True))
    form = QuadraticForm.of_matrix(np.diag([1.0, 2, 3, 4]))
    for columns in (listed, cone.columns):
        top = np.einsum("ik,ij,jk->k", columns, np.diag(form.diagonal), columns)
        assert top.max() == pytest.approx(np.einsum("ik,i,ik->k", listed, form.diagonal, listed).max(), rel=1e-9)


@pytest.mark.sampled
@pytest.mark.parametrize("utility", [md.MutualInformation(), md.EstimationError()], ids=lambda u: u.name)
def test_a_cap_too_large_for_the_rows_of_limits_asks_for_nothing(utility):
    """exp(-cap) is below their last bit: the corner of the cube at 0 once gave columns that were no numbers."""
    problem = md.DesignProblem(md.SecretPromise(JOINT, delta="0.1"), "0.3", utility)
    without = md.design(problem)
    for cap in (42, 700):
        solved = md.design(problem.with_cap(cap))
        assert solved.certified
        assert solved.value == pytest.approx(without.value, rel=2 * error_tolerance(problem.uncertainty))
        assert md.verify(solved.mechanism).optimal


def test_both_promises_are_proved_for_the_integers_and_written(tmp_path):
    solved = md.design(md.DesignProblem(md.SecretPromise(JOINT, delta="1e-3"), "0.5", cap=2))
    made = solved.mechanism
    assert made.proof.holds
    for column in made.numerators.T.tolist():
        assert max(column) <= md.Epsilon.of(2).exp_down * min(column)
    made.save(tmp_path / "m.json")
    back = md.Mechanism.load(tmp_path / "m.json")
    assert md.verify(back).optimal
    assert (back.guarantee.cap, back.guarantee.secret) == (md.Epsilon.of(2), "the secret")
    assert not_protected(back.guarantee).endswith("and as far as cap = 2 allows")
    plain = md.design(md.DesignProblem(md.SecretPromise(JOINT, delta="1e-3"), "0.5")).mechanism
    with raises("guarantee-false", "cap = 2"):
        md.Mechanism(plain.numerators, plain.bits, made.guarantee)


def test_a_cap_of_zero_leaves_the_constant_mechanism():
    for utility, value in ((md.MutualInformation(), 0), (md.HammingAccuracy(), max(KNOWN.prior))):
        solved = md.design(md.DesignProblem(KNOWN, "0.5", utility, cap=0))
        assert solved.certified
        assert solved.value == pytest.approx(value, abs=1e-9)
    with raises("no-method", match="cap = 0 allows only the constant mechanism"):
        md.design(md.DesignProblem(KNOWN, "0.5", md.EstimationError(), cap=0))
    with raises("epsilon-out-of-range", "epsilon"):
        md.DesignProblem(KNOWN, 0, cap=2)
    with raises("set-not-accepted", "maximal_leakage"):
        md.DesignProblem(KNOWN, 1, maximal_leakage="0.5")


def test_too_many_rays_are_refused_and_where_they_are_not_cut_the_gap_is_said(monkeypatch):
    many = md.SecretPromise([[*range(1, 31)], [*range(30, 0, -1)]], known=True)
    with raises("no-method", "30 categories", match="with a cap"):
        md.design(md.DesignProblem(many, "0.1", cap=2))
    monkeypatch.setattr(limit_rays, "_MOST_FIRST", 0)
    problem = md.DesignProblem(md.SecretPromise(JOINT, delta="0.1"), "0.2", cap=2)
    within, known = (md.design(problem.over(about)) for about in (problem.uncertainty, KNOWN))
    assert not within.certified
    assert within.mechanism.proof.holds
    assert within.value < within.bound == pytest.approx(known.bound, rel=CERTIFIED)


def test_chunks_of_corners_change_nothing(monkeypatch):
    rays = [CappedSecretRays(KNOWN, 1.25, Fraction(1, 8))]
    monkeypatch.setattr(capped_secret_rays, "_CHUNK", 3)
    rays.append(CappedSecretRays(KNOWN, 1.25, Fraction(1, 8)))
    one, other = (np.hstack(list(each.of_kinds(each.kinds))) for each in rays)
    np.testing.assert_allclose(one[:, np.lexsort(one)], other[:, np.lexsort(other)], rtol=1e-14)


def test_a_cap_that_protects_the_secret_as_well_is_local_differential_privacy():
    """Against all corners of the cube that the cap leaves."""
    rng = np.random.default_rng(6)
    implied = 0
    for _ in range(60):
        known = some_joint(rng, 2, 4)
        e, a = Fraction(int(rng.integers(9, 20)), 8), Fraction(1, int(rng.integers(2, 5)))
        corners = [[Fraction(1) if S >> i & 1 else a for i in range(4)] for S in range(16)]
        kept = all(
            sum(g * x for g, x in zip(row, corner, strict=True)) >= 0
            for row in rows_about(known, e)
            for corner in corners
        )
        assert known.is_implied_by_cap(e, a) == kept
        implied += kept and a * e < 1
    assert implied > 5


@pytest.mark.parametrize("size", [30, pytest.param(60, marks=pytest.mark.slow)])
def test_a_cap_that_protects_the_secret_is_designed_for_as_many_categories_as_local_privacy(size):
    many = md.SecretPromise(np.random.default_rng(6).integers(20, 60, (2, size)).tolist(), known=True)
    for objective in (md.MutualInformation(), md.EstimationError()):
        solved = md.design(md.DesignProblem(many, "0.7", objective, cap="1.5"))
        assert solved.mechanism.proof.holds
        assert solved.reached
        assert "one-sided problem" in solved.method
        assert md.verify(solved.mechanism).proof.holds
