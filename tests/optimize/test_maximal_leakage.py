"""Designs with a promise of maximal leakage beside epsilon."""

import math
from dataclasses import replace
from fractions import Fraction
from itertools import combinations

import numpy as np
import pytest
from scipy.optimize import linprog

import mechdesign as md
from mechdesign.errors import GuaranteeError, InputError, LimitError
from mechdesign.optimize.certificate import certify
from mechdesign.optimize.every_method import METHODS
from mechdesign.optimize.maximal_leakage import rays_on_average, solve_on_average
from mechdesign.uncertainty import Box, RelativeBall

BALL = md.L1Ball(["0.5", "0.3", "0.2"], "0.1")
SKEW = md.L1Ball(["0.6", "0.2", "0.15", "0.05"], "0.06")
HULL = md.ConvexHull([["0.5", "0.3", "0.2"], ["0.2", "0.5", "0.3"]])
MI, ACCURACY = md.MutualInformation(), md.utility.HammingAccuracy()


def extreme_priors(ball):
    """All corners of an l1 ball that lies within the simplex."""
    t, N = ball.half_radius, ball.size
    assert min(ball.center) >= t
    moved = []
    for i in range(N):
        for j in range(N):
            if i != j:
                Q = list(ball.center)
                Q[i], Q[j] = Q[i] + t, Q[j] - t
                moved.append(Q)
    return moved


def solved_exactly(rows, right):
    """The solution of a square system in rationals, or None where there is not one."""
    A = [[*row, b] for row, b in zip(rows, right, strict=True)]
    n = len(A)
    for k in range(n):
        pivot = next((r for r in range(k, n) if A[r][k] != 0), None)
        if pivot is None:
            return None
        A[k], A[pivot] = A[pivot], A[k]
        A[k] = [x / A[k][k] for x in A[k]]
        for r in range(n):
            if r != k and A[r][k] != 0:
                A[r] = [x - A[r][k] * y for x, y in zip(A[r], A[k], strict=True)]
    return tuple(row[n] for row in A)


def vertices(priors, e):
    """All vertices of ``{ v in [0, 1]^N : <Q, v> >= 1/e for every Q }``, from every N of its sides, in rationals."""
    N = len(priors[0])
    units = [[Fraction(int(i == k)) for i in range(N)] for k in range(N)]
    sides = [(unit, Fraction(0)) for unit in units] + [(unit, Fraction(1)) for unit in units]
    sides += [(list(Q), 1 / e) for Q in priors]
    found = set()
    for chosen in combinations(sides, N):
        v = solved_exactly(*zip(*chosen, strict=True))
        inside = v is not None and all(0 <= x <= 1 for x in v)
        if inside and all(sum(q * x for q, x in zip(Q, v, strict=True)) >= 1 / e for Q in priors):
            found.add(v)
    return found


def by_brute_force(priors, center, e, allowed, utility):
    """The optimum by a linear program over all vertices, scaled by any factor."""
    V = np.array(sorted(vertices(priors, e)), dtype=float).T
    gains = utility.mu(V, np.array(center, dtype=float))
    found = linprog(-gains, A_ub=V.max(axis=0)[None], b_ub=[allowed], A_eq=V, b_eq=np.ones(len(V)), method="highs")
    assert found.status == 0
    return -found.fun


@pytest.mark.combined
@pytest.mark.parametrize("utility", [MI, ACCURACY, md.utility.SquaredHellinger()], ids=lambda u: u.name)
@pytest.mark.parametrize(
    ("known", "priors", "power"),
    [
        *((BALL, extreme_priors(BALL), power) for power in ("1.05", "1.3", "1.7", "2")),
        *((HULL, HULL.priors, power) for power in ("1.05", "1.3", "1.7", "2")),
        # Two points are enough where there are many corners.
        (SKEW, extreme_priors(SKEW), "1.3"),
        pytest.param(SKEW, extreme_priors(SKEW), "1.7", marks=pytest.mark.slow),
    ],
)
def test_designs_agree_with_brute_force_over_all_vertices(known, priors, power, utility):
    e = Fraction(2)
    problem = md.DesignProblem(known, "log(2)", utility, maximal_leakage=f"log({power})")
    expected = by_brute_force(priors, known.center, e, float(power), utility)
    design = md.design(problem)
    assert design.certified
    # The slope of the Hellinger distance is infinite at 0: entries of one unit of 2^-48 cost 6e-8.
    assert design.value == pytest.approx(expected, abs=2e-7 if utility.name == "squared-hellinger" else 1e-8)
    assert design.upper_bound >= expected - 1e-12


@pytest.mark.combined
@pytest.mark.parametrize("utility", [MI, ACCURACY], ids=lambda u: u.name)
@pytest.mark.parametrize(
    "known",
    [BALL, HULL, Box(["0.4", "0.2", "0.1"], ["0.6", "0.4", "0.3"], center=["0.5", "0.3", "0.2"])],
    ids=lambda known: known.kind,
)
def test_from_epsilon_on_the_promise_asks_for_nothing_more(known, utility):
    without = md.design(md.DesignProblem(known, 1, utility))
    for most in ("1", "1.5", "40", "700"):
        design = md.design(md.DesignProblem(known, 1, utility, maximal_leakage=most))
        assert design.certified
        assert design.value == pytest.approx(without.value, abs=1e-8)


@pytest.mark.parametrize("utility", [MI, ACCURACY], ids=lambda u: u.name)
def test_without_any_leakage_nothing_is_told(utility):
    design = md.design(md.DesignProblem(BALL, 1, utility, maximal_leakage=0))
    assert design.certified
    assert design.mechanism.numerators.shape == (3, 1)
    assert design.mechanism.maximal_leakage == 0
    assert md.verify(design.mechanism).optimal


@pytest.mark.combined
@pytest.mark.parametrize("utility", [MI, ACCURACY], ids=lambda u: u.name)
@pytest.mark.parametrize("known", [BALL, HULL], ids=["ball", "hull"])
def test_values_rise_with_the_promise_are_concave_in_its_power_and_at_most_what_it_allows(known, utility):
    powers = np.linspace(1, math.e, 8)
    designs = [md.design(md.DesignProblem(known, 1, utility, maximal_leakage=f"log({power:.6f})")) for power in powers]
    values = np.array([design.value for design in designs])
    rises = np.diff(values)
    assert (rises >= -1e-8).all()
    assert (np.diff(rises) <= 1e-6).all()
    for design, power in zip(designs, powers, strict=True):
        assert design.mechanism.proof.sum_of_greatest <= Fraction(f"{power:.6f}")
        if utility is MI:
            assert design.value <= math.log(power) + 1e-9  # maximal leakage bounds mutual information


def random_mechanism(draw, known, e, allowed):
    """A mechanism with the promise: random columns of the cone, mixed with a constant one as far as is needed."""
    K = draw.dirichlet(np.full(draw.integers(2, 5), 0.3), size=known.size)
    constant = known.prior @ K
    for share in np.linspace(0, 1, 21):
        mixed = K + share * (constant - K)
        if (known.excess(mixed, e) <= 0).all() and mixed.max(axis=0).sum() <= allowed:
            return mixed
    return np.ones((known.size, 1))


@pytest.mark.parametrize("mechanisms", [75, pytest.param(300, marks=pytest.mark.slow)])
def test_no_random_mechanism_with_the_promise_passes_the_bound(mechanisms):
    draw = np.random.default_rng(3)
    for known in (BALL, HULL, SKEW):
        for utility in (MI, ACCURACY):
            bound = md.design(md.DesignProblem(known, "log(2)", utility, maximal_leakage="log(1.25)")).upper_bound
            values = [utility.value(random_mechanism(draw, known, 2.0, 1.25), known.prior) for _ in range(mechanisms)]
            assert max(values) <= bound


@pytest.mark.parametrize("utility", [MI, ACCURACY], ids=lambda u: u.name)
def test_any_multipliers_prove_a_bound(utility):
    problem = md.DesignProblem(SKEW, "log(2)", utility, maximal_leakage="log(1.4)")
    value = md.design(problem).value
    draw = np.random.default_rng(5)
    for scale in (0.1, 1.0, 30.0):
        for _ in range(6):
            multipliers = np.append(scale * draw.normal(size=4), abs(scale * draw.normal()))
            assert certify(problem, multipliers).upper_bound >= value


def test_multipliers_of_another_length_or_sign_are_refused():
    problem = md.DesignProblem(BALL, 1, maximal_leakage="0.5")
    with pytest.raises(InputError, match=r"shape \(3,\); accepted: \(4,\)"):
        certify(problem, [0.1, 0.2, 0.3])
    with pytest.raises(InputError, match="accepted: 0 or more"):
        certify(problem, [0.1, 0.2, 0.3, -0.1])


@pytest.mark.combined
@pytest.mark.parametrize(
    ("size", "epsilon", "most"),
    [
        (2, 1, "0.3"),
        (3, "log(3/2)", "0.2"),
        (4, "1.2", "0.5"),
        (5, "2", "log(5/3)"),
        (6, "1.5", "1"),
        (7, "0.9", "0.9"),
    ],
)
@pytest.mark.parametrize("utility", [MI, md.utility.SquaredHellinger(), ACCURACY], ids=lambda u: u.name)
def test_uniform_priors_have_a_closed_form(size, epsilon, most, utility):
    known = md.L1Ball([Fraction(1, size)] * size, 0)
    design = md.design(md.DesignProblem(known, epsilon, utility, maximal_leakage=most))
    assert design.certified
    assert design.closed_form.optimal
    near = 2e-7 if utility.name == "squared-hellinger" else 1e-8
    assert design.closed_form.value == pytest.approx(design.value, abs=near)


@pytest.mark.parametrize(("size", "count"), [(4, 2), (5, 2), (6, 4), (8, 3)])
def test_information_reaches_maximal_leakage_at_a_uniform_prior(size, count):
    known = md.L1Ball([Fraction(1, size)] * size, 0)
    design = md.design(md.DesignProblem(known, 3, maximal_leakage=f"log({size}/{count})"))
    assert design.value == pytest.approx(math.log(size / count), abs=1e-8)


def test_maximal_leakage_is_the_greatest_gain_of_any_guess_on_average():
    # Over all priors and gains it is attained by the guess of the symbol at the uniform prior.
    mechanism = md.design(md.DesignProblem(SKEW, 1, maximal_leakage="0.4")).mechanism
    uniform = np.full(4, 0.25)
    gain = (uniform[:, None] * mechanism.matrix).max(axis=0).sum() / uniform.max()
    assert math.log(gain) == pytest.approx(mechanism.maximal_leakage, abs=1e-12)
    assert mechanism.maximal_leakage <= 0.4
    draw = np.random.default_rng(2)
    for _ in range(200):
        prior, gains = draw.dirichlet(np.ones(4)), draw.random((3, 4))
        before = (gains @ prior).max()
        after = (gains @ (prior[:, None] * mechanism.matrix)).max(axis=0).sum()
        assert after <= before * math.exp(mechanism.maximal_leakage) * (1 + 1e-12)


@pytest.mark.parametrize("known", [BALL, HULL, SKEW], ids=["ball", "hull", "skew"])
def test_a_promise_about_the_data_implies_maximal_leakage(known):
    for epsilon in (0.3, 1, 2.5):
        mechanism = md.design(md.DesignProblem(known, epsilon)).mechanism
        assert mechanism.maximal_leakage <= mechanism.leakage


def test_a_false_bound_of_a_file_is_refuted(tmp_path):
    mechanism = md.design(md.DesignProblem(BALL, 1, maximal_leakage="0.5")).mechanism
    mechanism.save(tmp_path / "m.json")
    claim = md.Mechanism.load(tmp_path / "m.json").optimality
    assert len(claim.multipliers) == 4
    assert md.verify(md.Mechanism.load(tmp_path / "m.json")).optimal
    for wrong in (
        replace(claim, bound=claim.value),
        replace(claim, multipliers=(*claim.multipliers[:3], claim.multipliers[3] / 2)),
    ):
        with pytest.raises(GuaranteeError, match="lambda proves no less"):
            md.verify(md.Mechanism(mechanism.numerators, 48, mechanism.guarantee, optimality=wrong))
    short = replace(claim, multipliers=claim.multipliers[:3])
    with pytest.raises(InputError, match="has 3 entries; accepted: 4, one a category, and one of the maximal leakage"):
        md.Mechanism(mechanism.numerators, 48, mechanism.guarantee, optimality=short)


def test_relative_balls_and_small_promises_are_designed():
    known = RelativeBall(["0.5", "0.3", "0.2"], "0.9", "0.05")
    assert md.design(md.DesignProblem(known, 1, maximal_leakage="0.2")).certified
    for most in ("1e-9", "1e-6", "1e-3"):
        for utility in (MI, ACCURACY):
            design = md.design(md.DesignProblem(BALL, 1, utility, maximal_leakage=most))
            assert design.certified
            assert design.mechanism.maximal_leakage <= float(most)


@pytest.mark.parametrize(
    "utility", [md.EstimationError(), md.utility.ExplainedVariance([1, 2, 3]), md.WorstCaseUtility(MI)], ids=repr
)
def test_other_objectives_are_refused_by_name(utility):
    problem = md.DesignProblem(BALL, 1, utility, maximal_leakage="0.5")
    with pytest.raises(LimitError, match=f"no method designs for {problem.utility.name}"):
        md.design(problem)


def test_no_other_method_covers_the_promise():
    problem = md.DesignProblem(BALL, 1, maximal_leakage="0.5")
    covering = [method.name for method in METHODS if not isinstance(method.offer(problem), str)]
    assert covering == ["rays-on-average"]
    gains = md.DesignProblem(BALL, 1, ACCURACY, maximal_leakage="0.5")
    assert [method.name for method in METHODS if not isinstance(method.offer(gains), str)] == ["gain-program"]


@pytest.mark.parametrize(
    ("beside", "message"),
    [
        ({"cap": 2}, "maximal_leakage is 0.5 and cap is 2"),
        ({"lower": 2}, "maximal_leakage is 0.5 and lower is 2"),
        ({"maximal_leakage": "1e-12"}, "accepted: 0, or 1e-9 and more"),
        ({"maximal_leakage": -1}, "maximal_leakage is -1"),
    ],
)
def test_what_no_method_designs_is_refused(beside, message):
    with pytest.raises(InputError, match=message):
        md.DesignProblem(BALL, 1, **{"maximal_leakage": "0.5"} | beside)


def test_balls_as_printed_and_secrets_are_refused():
    printed = md.L1Ball(["0.5", "0.3", "0.2"], "0.1", within_simplex=False)
    with pytest.raises(InputError, match=r"maximal_leakage is .0\.5. for a ball as printed"):
        md.DesignProblem(printed, 1, maximal_leakage="0.5")
    secret = md.SecretPromise([[30, 20], [10, 40]], known=True)
    with pytest.raises(InputError, match="for a promise about a secret"):
        md.DesignProblem(secret, 1, maximal_leakage="0.5")


@pytest.mark.parametrize("limit", [0, 0.2])
def test_a_time_limit_ends_the_search_over_rays(limit):
    known = md.L1Ball.from_counts(list(range(20, 34)), radius="0.1")
    problem = md.DesignProblem(known, 1, maximal_leakage="0.2")
    found = md.design(problem, time_limit=limit)
    assert found.value <= found.bound
    assert found.certified or found.stopped == "time limit"
    assert found.mechanism.guarantee.maximal_leakage.text == "0.2"


def test_the_search_over_rays_says_that_it_had_no_time():
    problem = md.DesignProblem(md.L1Ball.from_counts([5, 4, 3, 2], radius="0.1"), 1, maximal_leakage="0.2")
    rays = rays_on_average(problem, math.e)
    for deadline, stopped in ((0.0, "time limit"), (None, "")):
        found = solve_on_average(rays, md.MutualInformation(), math.exp(0.2), lambda step: None, deadline)
        assert found.stopped == stopped
        np.testing.assert_allclose(found.matrix.sum(axis=1), 1, rtol=1e-9)
