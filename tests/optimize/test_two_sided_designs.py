"""Designs with a promise from below: reference values, two ways to each optimum, certificates, refusals."""

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from cone_lp import rows_of, violation
from hypothesis import given, settings
from hypothesis import strategies as st
from refusals import raises
from repetitions import examples
from strategies import F_INFORMATIONS, balls, counts, epsilons, random_ball
from tolerances import ALGEBRA, CERTIFIED, SOLVER

import mechdesign as md
from mechdesign.optimize.column_generation import solve_ray_lp
from mechdesign.optimize.cut_rays import CutRays
from mechdesign.optimize.effective_epsilon import effective_exp_epsilon
from mechdesign.optimize.one_sided import OneSided
from mechdesign.optimize.polyhedral import Polytope
from mechdesign.optimize.pricing import price_by_guess
from mechdesign.optimize.pricing.listing import ListedPricing, check_listable
from mechdesign.uncertainty import Box, LowerFunction, LowerLimits
from mechdesign.uncertainty.base import Floor
from mechdesign.utility.mixed_information import mixed_utility

ADULT = {
    "race": [41762, 4685, 1519, 470, 406],
    "relationship": [19716, 12583, 7581, 5125, 2331, 1506],
    "marital-status": [22379, 16117, 6633, 1530, 1518, 628, 37],
}
P = ["0.4", "0.3", "0.2", "0.1"]
NAMED = {
    "known": md.L1Ball(P),
    "l1": md.L1Ball(P, "0.16"),
    "lower": LowerLimits(["0.3", "0.2", "0.1", "0.05"], center=P),
}
HULL = md.ConvexHull([["0.5", "0.3", "0.2"], ["0.2", "0.2", "0.6"], ["0.1", "0.8", "0.1"]])
LARGE_HULL = md.ConvexHull([["1/9"] * 9, ["1/5", *["1/10"] * 8]])
SOME_FUNCTION = LowerFunction(lambda S: Fraction(len(S) ** 2, 9), ["1/3"] * 3, supermodular=False)
QUICK_AND_SLOW = [md.MutualInformation(), pytest.param(md.HammingAccuracy(), marks=pytest.mark.slow)]
UTILITIES = (*F_INFORMATIONS, md.HammingAccuracy())


def best(known, epsilon, lower=None, utility=None, **options):
    return md.design(md.DesignProblem(known, epsilon, utility, lower=lower), **options)


@pytest.mark.parametrize(
    ("column", "radius", "values"),
    [
        ("race", 0, [".0466952793", ".0813270510", ".1251713350", ".1583571365"]),
        ("race", "0.03", [".0444918918", ".0778499115", ".1204946891", ".1530915505"]),
        ("relationship", 0, [".1774099037", ".3741723117", ".6516868904", ".8403922835"]),
        ("relationship", "0.03", [".1656767881", ".3581094328", ".6205676196", ".8102979173"]),
        ("marital-status", 0, [".1413897120", ".3117574446", ".5461446336", ".7360290826"]),
        ("marital-status", "0.03", [".1332214981", ".2977738172", ".5233615155", ".7200433313"]),
    ],
)
def test_reference_values_of_adult(column, radius, values):
    for lower, value in zip(["0.5", "1", "2", "4"], values, strict=True):
        solved = best(md.L1Ball.from_counts(ADULT[column], radius=radius), 1, lower)
        assert solved.value == pytest.approx(float(value), abs=0.5e-10)
        assert solved.certified
        assert solved.mechanism.lower_leakage <= float(lower)


@pytest.mark.parametrize(
    ("epsilon", "lower", "values"),
    [
        ("log(2)", "log(2)", {"known": ".1931007127", "l1": ".1433488215", "lower": ".1061036644"}),
        ("log(2)", "log(5/4)", {"known": ".0448272995", "l1": ".0300793152", "lower": ".0157556587"}),
        ("1", "1", {"known": ".3698877799", "l1": ".3004089901", "lower": ".2192279322"}),
    ],
)
def test_reference_values_of_the_named_instance(epsilon, lower, values):
    for name, value in values.items():
        assert best(NAMED[name], epsilon, lower).value == pytest.approx(float(value), abs=0.5e-10)


# Two ways to the same optimum


def listed(known, problem, utility):
    rays = check_listable(known, effective_exp_epsilon(problem), problem.sides.floor_down)
    solution = solve_ray_lp(rays, utility, lambda step: None)
    return utility.value(solution.matrix, known.center)


@given(counts(2, 4, zeros=False), epsilons, epsilons, st.sampled_from(UTILITIES))
@settings(max_examples=3)
def test_a_known_prior_has_the_optimum_of_the_list(found, epsilon, lower, utility):
    """The one-sided problem in disguise, and the linear program of gains, beside the list of two-sided rays."""
    known = md.L1Ball.from_counts(found, known=True)
    solved = best(known, epsilon, lower, utility)
    assert solved.value == pytest.approx(listed(known, solved.problem, utility), abs=CERTIFIED)
    assert solved.gap <= 1e-8


@pytest.mark.slow
@given(counts(2, 5, zeros=False), epsilons, epsilons, st.sampled_from(UTILITIES))
@settings(max_examples=examples(150))
def test_a_known_prior_has_the_optimum_of_the_list_on_many(found, epsilon, lower, utility):
    test_a_known_prior_has_the_optimum_of_the_list.hypothesis.inner_test(found, epsilon, lower, utility)


@pytest.mark.parametrize("seed", range(3))
def test_gains_at_a_known_prior_are_those_of_the_one_sided_problem(seed):
    """``mu~(u) = mu((1-a) u + a <P,u> 1)`` has the gains ``(1-a) g(w,i) + a sum_k P_k g(w,k)``."""
    rng = np.random.default_rng(seed)
    known, b, a = (
        random_ball(rng, 5, 0),
        Fraction(int(rng.integers(11, 40)), 10),
        Fraction(int(rng.integers(1, 10)), 10),
    )
    gains = [[Fraction(int(x), 7) for x in row] for row in rng.integers(-9, 10, (4, 5))]
    means = [sum(p * g for p, g in zip(known.center, row, strict=True)) for row in gains]
    mixed = [[(1 - a) * g + a * mean for g in row] for row, mean in zip(gains, means, strict=True)]
    two = best(known, f"log({b})", f"log({1 / a})", md.ExpectedGain(gains))
    one = best(known, f"log({(b - a) / (1 - a)})", None, md.ExpectedGain(mixed))
    assert two.value == pytest.approx(one.value, abs=SOLVER)
    assert two.certified


@pytest.mark.parametrize("known", [*NAMED.values(), HULL], ids=[*NAMED, "hull"])
@pytest.mark.parametrize("seed", [0, pytest.param(1, marks=pytest.mark.slow)])
def test_bounds_of_gains_hold_for_any_multipliers_and_are_tight_at_good_ones(known, seed):
    rng = np.random.default_rng(seed)
    utility = md.ExpectedGain(rng.integers(0, 9, (3, known.size)).tolist())
    solved = best(known, "log(2)", "log(3)", utility)
    assert solved.certified
    problem, lam = solved.problem, np.array(solved.certificate.multipliers)
    for step in (0.0, 1e-3, 1.0):
        moved = lam + step * rng.normal(size=known.size)
        certificate = md.optimize.certify(problem, moved)
        assert certificate.upper_bound >= solved.value
        if known is not HULL:
            rays = check_listable(known, 2.0, Floor(Fraction(1, 3)))
            exact = ListedPricing(rays, utility).price(moved).upper
            level = price_by_guess(known, 2.0, utility, moved, floor=Floor(Fraction(1, 3))).upper
            assert level == pytest.approx(exact, abs=1e-7 * (1 + np.abs(moved).max()))
            assert level >= exact - 1e-13 * (1 + np.abs(moved).max())


@pytest.mark.parametrize("known", [*NAMED.values(), HULL], ids=[*NAMED, "hull"])
def test_both_forms_of_the_polytope_are_the_promise(known):
    from scipy.optimize import linprog

    polytope = Polytope(known, 2.0, 3, Floor(Fraction(1, 2)))
    rows, rng = rows_of(polytope), np.random.default_rng(3)
    for _ in range(4):
        objective = np.zeros(rows.equalities.shape[1])
        objective[: 3 * known.size] = rng.normal(size=3 * known.size)
        solution = linprog(
            objective,
            A_ub=-rows.inequalities,
            b_ub=np.zeros(rows.inequalities.shape[0]),
            A_eq=rows.equalities,
            b_eq=np.ones(known.size),
            bounds=[(0, None)] * (3 * known.size) + [(None, None)] * (objective.size - 3 * known.size),
        )
        matrix = solution.x[: 3 * known.size].reshape(3, known.size).T
        assert violation(polytope, matrix) <= SOLVER
        floats = np.linspace(0, 1, 5)[:, None, None] * (matrix - 1 / 3) + 1 / 3
        assert all(violation(polytope, V) <= SOLVER for V in floats)
        # A step beyond a vertex leaves the polytope.
        assert violation(polytope, 1 / 3 + 1.05 * (matrix - 1 / 3)) > 1e-4
        column = matrix[:, 0]
        assert column.min() >= 0.5 * (column.max() - float(known.support((column.max() - column)[:, None])[0])) - SOLVER


# Nesting, ends, and what the promise implies


@given(balls(least=2, most=4), epsilons, epsilons, epsilons, st.sampled_from(UTILITIES))
@settings(max_examples=4)
def test_a_smaller_lower_never_raises_utility(ball, epsilon, one, other, utility):
    smaller, larger = sorted([one, other], key=lambda text: md.Epsilon.of(text).exp_down)
    strict, mild, none = (best(ball, epsilon, lower, utility) for lower in (smaller, larger, None))
    assert strict.value <= mild.upper_bound
    assert mild.value <= none.upper_bound
    for solved, lower in ((strict, smaller), (mild, larger)):
        proof = solved.mechanism.proof
        assert solved.mechanism.guarantee.lower == md.Epsilon.of(lower)
        assert min(proof.least_lifts) >= 1 / md.Epsilon.of(lower).exp_down
        assert max(proof.ratios) <= md.Epsilon.of(epsilon).exp_down


@pytest.mark.parametrize("known", [*NAMED.values(), HULL], ids=[*NAMED, "hull"])
@pytest.mark.parametrize("utility", QUICK_AND_SLOW)
def test_a_lower_without_effect_is_todays_problem(known, utility):
    none, mild = best(known, "log(2)", None, utility), best(known, "log(2)", 700, utility)
    assert mild.value == pytest.approx(none.value, abs=1e-9)
    assert (mild.mechanism.numerators > 0).all()
    assert best(known, "log(2)", None, utility).mechanism.guarantee.lower is None


@pytest.mark.parametrize("utility", [md.MutualInformation(), md.HammingAccuracy()])
@pytest.mark.parametrize("known", [md.L1Ball(P), md.L1Ball(P, "0.16"), md.L1Ball(P, 2)])
def test_a_side_of_0_allows_only_the_constant_mechanism(known, utility):
    for epsilon, lower in (("1", "0"), ("0", "1"), ("0", "0"), ("1", "log(1)")):
        solved = best(known, epsilon, lower, utility)
        assert solved.mechanism.numerators.shape == (4, 1)
        assert solved.certified
        assert solved.value == pytest.approx(utility.value(np.ones((4, 1)), known.center), abs=ALGEBRA)
        assert md.verify(solved.mechanism).optimal


@pytest.mark.parametrize(
    "lower", ["1e-6", *(pytest.param(lower, marks=pytest.mark.slow) for lower in ("1e-3", "1e-12", "1e-40"))]
)
def test_small_promises_give_bounds_and_integers_that_keep_them(lower):
    for known in (md.L1Ball(P), md.L1Ball(P, "0.16")):
        for utility in (md.MutualInformation(), md.TotalVariation(), md.HammingAccuracy()):
            solved = best(known, 1, lower, utility)
            assert solved.gap <= 1e-9
            assert solved.mechanism.lower_leakage <= float(lower)
            assert md.verify(solved.mechanism).proof.holds


def test_two_sides_imply_local_differential_privacy_with_their_sum():
    for known in [*NAMED.values(), HULL]:
        mechanism = best(known, "0.5", "0.25").mechanism
        everything = md.L1Ball(known.center, 2)
        assert md.mechanism.prove(mechanism.numerators, mechanism.bits, md.Guarantee("0.75", everything)).holds
        if known is NAMED["known"]:
            assert not md.mechanism.prove(mechanism.numerators, mechanism.bits, md.Guarantee("0.7", everything)).holds


@pytest.mark.sampled
@pytest.mark.parametrize("utility", [md.MutualInformation(), md.HammingAccuracy(), md.EstimationError()])
def test_for_every_prior_the_lesser_side_is_the_epsilon_of_ldp(utility):
    known = md.L1Ball(P, 2)
    for epsilon, lower in (("1", "0.5"), ("0.5", "1"), ("0.5", "0.5")):
        two, one = best(known, epsilon, lower, utility), best(known, "0.5", None, utility)
        assert two.value == pytest.approx(one.value, rel=1e-8)
        assert two.certified
        assert md.verify(two.mechanism).certificate.bound == pytest.approx(one.bound, rel=1e-8)
        assert {two.mechanism.guarantee.epsilon.text, two.mechanism.guarantee.lower.text} <= {epsilon, lower}


def test_the_best_ldp_mechanism_keeps_every_promise_of_its_epsilon():
    ldp = best(md.L1Ball(P, 2), "0.5").mechanism
    for known in [*NAMED.values()]:
        assert md.mechanism.prove(ldp.numerators, ldp.bits, md.Guarantee("0.5", known, lower="0.5")).holds


# Promises about a secret


JOINT = [[20, 10, 5, 5], [10, 15, 20, 15]]


@pytest.mark.parametrize(
    ("e", "value"), [("11/10", ".89132938"), ("5/4", ".94966304"), ("3/2", "1.11909190")], ids=["1.1", "1.25", "1.5"]
)
def test_reference_values_of_a_secret(e, value):
    known = md.SecretPromise(JOINT, known=True)
    solved = best(known, f"log({e})", f"log({e})")
    assert solved.value == pytest.approx(float(value), abs=0.5e-8)
    assert solved.certified
    assert md.verify(solved.mechanism).optimal
    gains = best(known, f"log({e})", f"log({e})", md.HammingAccuracy())
    assert gains.certified
    assert md.verify(gains.mechanism).optimal
    assert gains.value <= best(known, f"log({e})", None, md.HammingAccuracy()).upper_bound


def test_the_promise_about_a_secret_is_that_of_its_posteriors():
    """Lifts of the secret, computed from the joint counts alone, stay within both sides."""
    mechanism = best(md.SecretPromise(JOINT, known=True), "log(5/4)", "log(8/7)").mechanism
    joint = np.array(JOINT) / np.sum(JOINT)
    of_secret, of_reports = joint.sum(axis=1), joint.sum(axis=0) @ mechanism.matrix
    lifts = (joint @ mechanism.matrix) / np.outer(of_secret, of_reports)
    assert lifts.max() <= 5 / 4
    assert lifts.max() == pytest.approx((1 - 0.6 * 7 / 8) / 0.4, abs=1e-9)
    assert lifts.min() == pytest.approx(7 / 8, abs=1e-9)
    # Of the data itself nothing is promised: a report may rule symbols out.
    assert (mechanism.matrix < 1e-12).any()


@pytest.mark.parametrize(("epsilon", "lower", "side"), [(0, None, "epsilon"), (1, 0, "lower"), (0, 1, "epsilon")])
def test_perfect_privacy_of_a_secret_is_refused_by_its_side(epsilon, lower, side):
    with raises("epsilon-out-of-range", match=f"^{side} is 0 for a promise about a secret"):
        md.DesignProblem(md.SecretPromise(JOINT, known=True), epsilon, lower=lower)


# Many symbols, few bits, other sets


def test_a_known_prior_of_many_symbols_is_priced_by_tables():
    rng = np.random.default_rng(0)
    known = md.L1Ball.from_counts((1 + rng.integers(0, 60, 30)).tolist(), known=True)
    solved = best(known, 1, 1)
    assert solved.certified
    assert "tables" in solved.method
    assert md.verify(solved.mechanism).optimal
    assert solved.value < best(known, 1).value


def test_merged_symbols_keep_the_promise():
    known = md.L1Ball.from_counts(list(range(1, 31)), known=True)
    solved = best(known, 1, 1, merge=True, tol=1e-2)
    assert solved.merged
    assert solved.certified
    assert solved.mechanism.lower_leakage <= 1


@pytest.mark.parametrize("bits", [4, 8, 16, 52])
def test_integers_of_any_bits_keep_the_promise(bits):
    for known in NAMED.values():
        mechanism = best(known, 1, 1, bits=bits).mechanism
        assert mechanism.bits == bits
        assert mechanism.proof.holds


def test_gains_are_designed_over_any_set():
    both = md.ProductSet(md.L1Ball(["0.75", "0.25"], "0.1"), md.L1Ball(["0.4", "0.6"], "0.05"))
    box = Box(["0.1", "0.2", "0"], ["0.1", "0.9", "0.7"], center=["0.1", "0.2", "0.7"])
    for known in (both, box):
        solved = best(known, 1, 1, md.HammingAccuracy())
        assert solved.certified
        assert solved.value <= best(known, 1, None, md.HammingAccuracy()).upper_bound
        assert md.verify(solved.mechanism).optimal


def test_small_sets_of_any_class_have_a_list_by_cutting():
    """Hulls and product sets up to 8 symbols, and a ball beside the list of its own."""
    both = md.ProductSet(md.L1Ball(["0.75", "0.25"], "0.1"), md.L1Ball(["0.4", "0.6"], "0.05"))
    for known in (HULL, both):
        solved = best(known, 1, 1)
        assert solved.certified
        assert md.verify(solved.mechanism).optimal
        assert solved.value < best(known, 1).value
    ball = NAMED["l1"]
    rays = CutRays(ball, float(np.e), Floor(Fraction(1, 3)))
    cut = solve_ray_lp(rays, md.MutualInformation(), lambda step: None)
    own = solve_ray_lp(
        check_listable(ball, float(np.e), Floor(Fraction(1, 3))), md.MutualInformation(), lambda step: None
    )
    values = [md.MutualInformation().value(found.matrix, ball.prior) for found in (cut, own)]
    assert values[0] == pytest.approx(values[1], abs=CERTIFIED)


def test_a_utility_of_ones_own_takes_the_list():
    class Cubes(md.Utility):
        name = "cubes"

        def mu(self, columns, prior):
            q = prior @ np.asarray(columns)
            return prior @ (np.asarray(columns) ** 3 / q**2)

        def gradient(self, column, prior):
            raise NotImplementedError

        def mu_up(self, columns, prior, slack):
            return self.mu(columns + slack, prior) * (1 + 1e-12)

    same = md.FInformation(lambda u: u**3 - 1)
    for known in (NAMED["known"], NAMED["l1"]):
        own, named = best(known, 1, 1, Cubes()), best(known, 1, 1, same)
        assert own.value == pytest.approx(named.value + 1, abs=CERTIFIED)


# What is refused, and how


@pytest.mark.parametrize(
    "problem",
    [
        md.DesignProblem(LARGE_HULL, 1, lower=1),
        md.DesignProblem(md.ProductSet(NAMED["known"], HULL), 1, lower=1),
        md.DesignProblem(md.L1Ball.from_counts([1] * 17, radius="0.1"), 1, lower=1),
        md.DesignProblem(md.L1Ball.from_counts([1] * 13, known=True), 1, md.EstimationError(), lower=1),
        md.DesignProblem(md.ProductSet(NAMED["known"], HULL), 1, md.EstimationError(), cap=2),
        md.DesignProblem(SOME_FUNCTION, 1, lower=1),
    ],
)
def test_what_has_no_method_is_refused_by_its_name(problem):
    with raises("no-method") as refused:
        md.design(problem)
    assert "\n" not in str(refused.value)


def test_a_ball_as_printed_has_no_promise_from_below():
    with raises("ball-leaves-simplex", "is '1'"):
        md.DesignProblem(md.L1Ball(P, "0.1", within_simplex=False), 1, lower=1)


@pytest.mark.combined
@pytest.mark.parametrize("known", [NAMED["known"], NAMED["l1"]], ids=["known", "l1"])
@pytest.mark.parametrize("utility", [md.MutualInformation(), md.HammingAccuracy()])
def test_a_bound_that_does_not_follow_is_refused(known, utility):
    mechanism = best(known, 1, 1, utility).mechanism
    claim = mechanism.optimality
    assert md.verify(mechanism).optimal
    false = replace(claim, bound=claim.value - 1e-9, value=claim.value)
    with raises("optimality-false"):
        md.verify(md.Mechanism(*mechanism.parts._replace(optimality=false)))
    # Without the promise from below the same multipliers prove much less.
    one_sided = md.Guarantee(1, known)
    with raises("optimality-false"):
        md.verify(md.Mechanism(*mechanism.parts._replace(guarantee=one_sided)))


# Closed forms and comparisons


def test_closed_forms_are_those_of_the_one_sided_problem():
    known = md.L1Ball(["0.4", "0.2", "0.2", "0.2"])
    problem = md.DesignProblem(known, "log(9/8)", lower="log(9/8)")
    solved = md.design(problem)
    assert md.optimize.closed_form.closed_forms(problem) == []
    assert float(OneSided.of(problem).problem.epsilon.exp_down) == pytest.approx(17 / 8, rel=ALGEBRA)
    assert solved.closed_form is None
    # e' = (9/8 - 1/9) / (8/9) = 73/64 is in the region of high privacy, and 9/8 is.
    check = md.design(md.DesignProblem(known, "log(9/8)", lower="log(9)")).closed_form
    assert "high privacy" in check.theorem
    assert check.optimal
    assert abs(check.difference) <= 1e-9


def test_baselines_keep_the_promise_that_they_are_compared_under():
    solved = best(NAMED["known"], 1, "0.5")
    both = md.compare(solved)
    assert both.best_ldp.problem.epsilon.text == "0.5"
    assert both.k_ary_randomized_response <= both.best_ldp.value <= solved.value
    proved = md.mechanism.prove(both.best_ldp.mechanism.numerators, 48, md.Guarantee(1, NAMED["known"], lower="0.5"))
    assert proved.holds
    assert md.compare(solved.mechanism).value == solved.value
    assert md.compare(solved.mechanism).design.problem.lower.text == "0.5"
    other = md.compare(best(NAMED["known"], "0.5", 1))
    assert other.best_ldp.problem.epsilon.text == "0.5"


# The least utility over a set


@pytest.mark.parametrize("utility", QUICK_AND_SLOW)
@pytest.mark.parametrize("known", [NAMED["known"], NAMED["l1"], NAMED["lower"], md.L1Ball(P, 2)])
def test_the_least_utility_over_a_set_keeps_the_promise_from_below(known, utility):
    least = md.WorstCaseUtility(utility)
    two, one = best(known, "log(2)", "log(3/2)", least), best(known, "log(2)", None, least)
    assert two.certified
    assert two.value <= one.upper_bound
    assert two.mechanism.guarantee.lower.text == "log(3/2)"
    verified = md.verify(two.mechanism)
    assert verified.value == two.value
    assert verified.optimal
    # No mechanism is worth less at the estimate than at its worst prior, nor more at the worst than the best plain one.
    plain = best(known, "log(2)", "log(3/2)", utility)
    assert two.value <= plain.upper_bound
    assert least.value_over(plain.mechanism.matrix, known) <= two.upper_bound


def test_the_least_utility_is_that_of_the_list_of_both_sides():
    """The bound holds for the mechanisms of other methods, and none of them passes it."""
    known, least = NAMED["l1"], md.WorstCaseUtility(md.MutualInformation())
    solved = best(known, 1, 1, least)
    rng = np.random.default_rng(0)
    rays = np.hstack(list(check_listable(known, float(np.e), solved.problem.sides.floor_down).of_kinds("CTP")))
    from scipy.optimize import linprog

    for _ in range(20):
        found = linprog(rng.normal(size=rays.shape[1]), A_eq=rays, b_eq=np.ones(4), bounds=(0, None))
        assert least.value_over(rays * found.x, known) <= solved.upper_bound + 1e-9


@pytest.mark.parametrize("lower", ["log(3)", "log(7)", "0.3", "1e-9", "25"])
def test_the_one_sided_problem_is_never_narrower(lower):
    """A share that is rounded down would cut off columns that keep the promise."""
    problem = md.DesignProblem(NAMED["known"], 1, lower=lower)
    one_sided = OneSided.of(problem)
    assert Fraction(one_sided.share) >= 1 - 1 / problem.lower.exp_down
    assert 1 - Fraction(one_sided.share) + one_sided.problem.epsilon.exp_down * Fraction(one_sided.share) >= (
        problem.epsilon.exp_down
    )


@given(st.floats(1e-12, 1.0), st.floats(0.0, 50.0))
def test_a_mixed_utility_is_not_below_the_true_one(share, ratio):
    """Chi-square is computed without error at the argument it is given, up to one rounding of its own."""
    mixed = mixed_utility(md.ChiSquare(), share)
    true = (Fraction(share) * (Fraction(ratio) - 1)) ** 2
    assert Fraction(float(mixed.f(np.array([ratio]))[0])) >= true * (1 - Fraction(4, 10**16))
