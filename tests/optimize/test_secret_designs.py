"""Designs for a promise about a secret: reference values, certificates, and mechanisms within limits."""

from dataclasses import replace
from fractions import Fraction
from itertools import product
from pathlib import Path

import numpy as np
import pytest
from refusals import raises
from scipy.optimize import linprog

import mechdesign as md
from mechdesign.optimize.pricing.secret_duals import SecretLevels
from mechdesign.optimize.secret_rays import SecretRays
from mechdesign.uncertainty.base import NO_FLOOR
from tests.helpers.double_description import extreme_rays
from tests.helpers.extreme_priors import extreme_priors

JOINT = [[20, 10, 5, 5], [10, 15, 20, 15]]
PROBLEMS = Path(__file__).parent.parent.parent / "problems"


def adult(secret, useful):
    return md.read_problem(PROBLEMS / f"adult-secret-{secret}-{useful}.toml").problem.uncertainty


@pytest.mark.parametrize(
    ("e", "one_sided", "two_sided"),
    [("1.1", 0.90395566, 0.89132938), ("1.25", 1.04888617, 0.94966304), ("1.5", 1.23268589, 1.11909190)],
)
def test_the_named_instance(e, one_sided, two_sided):
    known = md.SecretPromise(JOINT, known=True)
    for lower, value in ((None, one_sided), (f"log({e})", two_sided)):
        solved = md.design(md.DesignProblem(known, f"log({e})", lower=lower))
        assert solved.certified
        assert solved.value == pytest.approx(value, abs=5e-9)
        assert max(solved.mechanism.proof.ratios) <= Fraction(e)
        assert md.verify(solved.mechanism).optimal


def test_near_perfect_privacy_much_is_told():
    """The limit at exp(epsilon) -> 1, where data that say nothing about the secret are left."""
    solved = md.design(md.DesignProblem(md.SecretPromise(JOINT, known=True), "1e-7"))
    assert solved.value == pytest.approx(0.87326113, abs=1e-6)
    assert solved.certified
    with raises("epsilon-out-of-range", "epsilon", "is 0"):
        md.design(md.DesignProblem(md.SecretPromise(JOINT, known=True), 0))


SEX = {
    ("sex", "occupation"): (
        [1.959739714, 2.090621700, 2.179039575, 2.356596008, 2.436778424],
        [1.956157407, 2.062465779, 2.131114859, 2.241189872, 2.363901577],
    ),
    ("sex", "relationship"): (
        [0.880478701, 0.937908686, 1.107640151, 1.342332302, 1.475984431],
        [0.878775387, 0.918879718, 1.038587864, 1.188363592, 1.307900826],
    ),
    ("income", "occupation"): (
        [1.913404953, 2.022630240, 2.167017741, 2.305974794, 2.437731443],
        [1.906100015, 1.986037358, 2.064417352, 2.197012170, 2.386529669],
    ),
}
RACE = {
    ("race", "occupation"): (
        [1.265456746, 1.785692391, 2.027323505, 2.328201478, 2.437088339],
        [1.203193268, 1.687773940, 1.926124397, 2.258752555, 2.424285068],
    ),
    ("race", "education"): (
        [1.190745266, 1.472708874, 1.702503988, 1.908486562, 1.983663493],
        [1.167398510, 1.409115232, 1.624405490, 1.850967731, 1.976927962],
    ),
}


@pytest.mark.combined
@pytest.mark.parametrize(
    ("columns", "values"),
    [*SEX.items(), *(pytest.param(*row, marks=pytest.mark.slow) for row in RACE.items())],
    ids=lambda value: "-".join(value) if isinstance(value[0], str) else "",
)
@pytest.mark.parametrize("both", [False, True])
def test_reference_values_of_adult(columns, values, both):
    known = adult(*columns)
    for epsilon, value in zip(["0.01", "0.1", "0.25", "0.5", "1"], values[both], strict=True):
        solved = md.design(md.DesignProblem(known, epsilon, lower=epsilon if both else None))
        assert solved.certified
        assert solved.value == pytest.approx(value, abs=6e-10)


def test_a_secret_that_is_the_data_is_designed_for_as_pml():
    counts = [8, 5, 4, 3]
    itself = md.SecretPromise(
        [[count if i == j else 0 for j in range(4)] for i, count in enumerate(counts)], known=True
    )
    for utility in (md.MutualInformation(), md.HammingAccuracy(), md.ChiSquare()):
        about = md.design(md.DesignProblem(itself, 1, utility))
        pml = md.design(md.DesignProblem(md.L1Ball.from_counts(counts, known=True), 1, utility))
        assert about.value == pytest.approx(pml.value, abs=1e-9)


def test_the_secret_alone_allows_twenty_times_the_information_of_the_record():
    known = adult("sex", "occupation")
    about = md.design(md.DesignProblem(known, "0.1"))
    whole = md.design(md.DesignProblem(md.L1Ball(known.center), "0.1"))
    assert about.value > 20 * whole.value


# Gains


@pytest.mark.combined
@pytest.mark.parametrize("lower", [None, "0.2"])
@pytest.mark.parametrize("values", [2, 3])
def test_gains_agree_with_a_linear_program_over_all_rays(values, lower):
    rng = np.random.default_rng(values)
    for _ in range(4):
        known = md.SecretPromise(rng.integers(0, 9, (values, 5)) + np.eye(values, 5, dtype=int) + 1, known=True)
        for utility in (md.HammingAccuracy(), md.ExpectedGain(rng.integers(0, 5, (3, 5)).tolist())):
            problem = md.DesignProblem(known, "0.3", utility, lower)
            solved = md.design(problem)
            assert solved.certified
            assert md.verify(solved.mechanism).optimal
            least = Fraction(0) if lower is None else 1 / problem.lower.exp_up
            rays = np.hstack(list(SecretRays(known, float(problem.epsilon.exp_down), least).of_kinds("0123")))
            gains = utility.mu(rays, known.prior)
            found = linprog(-gains, A_eq=rays, b_eq=np.ones(5), bounds=(0, None))
            assert solved.value == pytest.approx(-found.fun, abs=1e-9)


def test_any_weights_of_rows_prove_a_level(monkeypatch):
    """A solver whose weights are poor makes the level greater, and never false."""
    known, a = md.SecretPromise(JOINT, known=True), [Fraction(1, 7), Fraction(0), Fraction(-1, 3), Fraction(1, 2)]
    best = SecretLevels(known, 1.25, NO_FLOOR).level(a)
    solved = SecretLevels._solved
    rng = np.random.default_rng(0)

    def poor(self, objective):
        weights, posterior = solved(self, objective)
        return weights * rng.uniform(0, 2, weights.size), posterior

    monkeypatch.setattr(SecretLevels, "_solved", poor)
    for _ in range(20):
        assert SecretLevels(known, 1.25, NO_FLOOR).level(a) >= best - Fraction(1, 10**9)


def test_gains_within_limits_are_certified():
    known = md.SecretPromise(JOINT, delta="0.05")
    solved = md.design(md.DesignProblem(known, "0.2", md.HammingAccuracy()), tol=1e-9)
    assert solved.certified
    assert solved.gap <= 1e-10
    everything = md.design(md.DesignProblem(md.SecretPromise(JOINT, known=True), "0.2", md.HammingAccuracy()))
    assert solved.value < everything.value


@pytest.mark.parametrize("utility", [md.MutualInformation(), md.HammingAccuracy(), md.EstimationError()])
def test_data_that_say_nothing_of_the_secret_are_published(utility):
    """Every column is allowed, at any epsilon: the exp(epsilon) that is needed is 1."""
    known = md.SecretPromise([[2, 1, 3], [4, 2, 6]], known=True)
    solved = md.design(md.DesignProblem(known, "0.3", utility))
    assert solved.certified
    assert solved.leakage == 0
    # Interior points come within the tolerance of a design for estimates, linear programs to the corner itself.
    within = solved.tol if utility.minimised else 1e-12
    assert solved.value == pytest.approx(utility.value(np.eye(3), known.center), rel=within)
    assert md.verify(solved.mechanism).optimal


# Estimates


def test_errors_of_estimates_are_designed_for_a_known_joint_distribution():
    known = adult("sex", "relationship")
    solved = md.design(md.DesignProblem(known, "0.5", md.EstimationError()))
    assert solved.certified
    assert md.verify(solved.mechanism).optimal
    assert solved.value < md.design(md.DesignProblem(md.L1Ball(known.center), "0.5", md.EstimationError())).value
    assert md.estimation_bound(known, "0.5") <= solved.value
    within = md.design(md.DesignProblem(md.SecretPromise(known.joint, delta="1e-9"), "0.5", md.EstimationError()))
    assert within.certified
    assert within.value == pytest.approx(1.02678, abs=1e-5)
    assert within.value > solved.value


# Within limits

WITHIN = {
    ("sex", "relationship", "box"): [0.610708, 0.967197, 1.303172, 1.466848],
    ("sex", "occupation", "box"): [0.461443, 2.026447, 2.245389, 2.434082],
    ("sex", "occupation", "l1-ball"): [0.218, 1.255, 2.098, 2.409],
}


@pytest.mark.parametrize(
    ("case", "place"),
    [
        pytest.param(case, place, marks=[pytest.mark.slow] if "occupation" in case or place != 2 else [])
        for case in WITHIN
        for place in range(4)
    ],
    ids=lambda part: "-".join(part) if isinstance(part, tuple) else str(part),
)
def test_mechanisms_within_limits_reach_what_mixed_rays_reach(case, place):
    """The values of mixed rays alone were measured apart; no bound is above that of the known joint distribution."""
    secret, useful, limits = case
    known, epsilon = adult(secret, useful), ["0.1", "0.25", "0.5", "1"][place]
    within = md.SecretPromise(known.joint, secret=secret, useful=useful, delta="1e-9", limits=limits)
    solved = md.design(md.DesignProblem(within, epsilon))
    exact = md.design(md.DesignProblem(known, epsilon))
    assert solved.value >= WITHIN[case][place] - 1e-6
    assert solved.bound <= exact.bound * (1 + 1e-9)
    assert solved.mechanism.proof.holds
    assert solved.certified == (not solved.stopped) == (useful == "relationship" or epsilon == "1")


@pytest.mark.slow
def test_a_promise_from_below_within_limits():
    within = md.SecretPromise(JOINT, delta="0.05")
    solved = md.design(md.DesignProblem(within, "0.5", lower="0.7"))
    assert solved.mechanism.proof.holds
    assert solved.mechanism.lower_leakage <= 0.7
    assert 0 < solved.value < solved.bound
    assert md.verify(solved.mechanism).proof.holds


def test_limits_of_one_joint_distribution_are_no_limits():
    known = md.SecretPromise(JOINT, known=True)
    laws = [md.L1Ball([Fraction(c, sum(row)) for c in row]) for row in ([40, 60], *JOINT)]
    for epsilon in ("log(1.1)", "log(1.5)"):
        exact, within = (md.design(md.DesignProblem(one, epsilon)) for one in (known, known.within(laws)))
        assert within.value == pytest.approx(exact.value, abs=1e-7)


def test_a_false_claim_is_found():
    solved = md.design(md.DesignProblem(md.SecretPromise(JOINT, known=True), "log(1.25)"))
    claim = solved.mechanism.optimality
    lower = replace(claim, bound=claim.bound - 0.05)
    with raises("optimality-false"):
        md.verify(replace(solved.mechanism, optimality=lower))
    with raises("guarantee-false"):
        md.Mechanism(solved.mechanism.numerators, 48, md.Guarantee("log(1.24)", md.SecretPromise(JOINT, known=True)))


def test_a_comparison_says_what_is_not_promised():
    compared = md.compare(md.DesignProblem(md.SecretPromise(JOINT, known=True), "0.1"))
    assert "the whole record is protected" in compared.promise
    assert compared.k_ary_randomized_response <= compared.best_ldp.value <= compared.value


@pytest.mark.parametrize(
    "asked",
    [
        lambda made: md.deploy.audit_counts(made, np.ones(made.numerators.shape, dtype=int)),
        lambda made: md.plan_reports(made, reports=100),
    ],
    ids=["audit", "plan"],
)
def test_what_makes_no_sense_for_a_secret_is_refused_by_name(asked):
    mechanism = md.design(md.DesignProblem(md.SecretPromise(JOINT, known=True), "0.1")).mechanism
    with raises("set-not-accepted", "the secret"):
        asked(mechanism)


def test_repeated_reports_and_post_processing_keep_to_the_definition():
    mechanism = md.design(md.DesignProblem(md.SecretPromise(JOINT, known=True), "0.1")).mechanism
    twice = mechanism.repeated(2)
    known = mechanism.guarantee.uncertainty
    products = [
        [a * b for a, b in zip(x, y, strict=True)]
        for x in mechanism.numerators.T.tolist()
        for y in mechanism.numerators.T.tolist()
    ]
    assert (
        max(filter(None, map(known.exact_ratio, (p for p in products if any(p))))) <= twice.guarantee.epsilon.exp_down
    )
    merged = mechanism.then(np.full((len(mechanism.outputs), 2), 0.5))
    assert merged.leakage <= mechanism.leakage
    with raises("set-not-accepted", "the secret"):
        mechanism.product(mechanism)


@pytest.mark.sampled
@pytest.mark.parametrize(
    ("counts", "limits", "epsilon", "lower"),
    [
        ([[5, 1, 5], [1, 1, 1]], "l1-ball", "log(1.5)", "1"),
        ([[5, 1, 1], [0, 1, 1]], "box", "1", "log(1.5)"),
        ([[5, 1, 1], [0, 1, 1]], "l1-ball", "1", None),
    ],
)
def test_few_symbols_within_limits_have_the_best_mechanism(counts, limits, epsilon, lower):
    """The cone from its definition: a row for each joint distribution of extreme laws and each value of the secret."""
    known = md.SecretPromise(counts, delta="0.1", limits=limits)
    problem = md.DesignProblem(known, epsilon, lower=lower)
    e, a = problem.epsilon.exp_down, Fraction(0) if lower is None else 1 / problem.lower.exp_down
    rows = set()
    for weights, *laws in product(*map(extreme_priors, (known.limits.of_secret, *known.limits.given))):
        of_data = [sum(w * law[x] for w, law in zip(weights, laws, strict=True)) for x in range(known.size)]
        for law in laws:
            rows.add(tuple(e * p - q for p, q in zip(of_data, law, strict=True)))
            rows.add(tuple(q - a * p for p, q in zip(of_data, law, strict=True)))
    rays = np.array([[entry / max(ray) for entry in ray] for ray in extreme_rays(rows, known.size)]).T
    best = linprog(-md.MutualInformation().mu(rays, known.prior), A_eq=rays, b_eq=np.ones(known.size), method="highs")
    solved = md.design(problem)
    assert solved.value == pytest.approx(-best.fun, rel=1e-6)
    assert solved.bound >= -best.fun


def test_the_search_goes_on_from_every_column_held_where_there_are_few():
    known = md.SecretPromise([[2, 3, 5, 5], [1, 1, 21, 5]], delta="0.9")
    assert md.design(md.DesignProblem(known, "log(1.5)")).value >= 0.209726
