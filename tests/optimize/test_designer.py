import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from refusals import raises
from repetitions import examples
from strategies import F_INFORMATIONS, balls, epsilons, is_closed, random_ball, random_mechanism
from tolerances import CERTIFIED

import mechdesign as md
from mechdesign.optimize.rays import Rays


@given(balls(), epsilons, st.sampled_from((*F_INFORMATIONS, md.HammingAccuracy())))
def test_every_design_is_proved_and_certified(ball, epsilon, utility):
    solved = md.design(md.DesignProblem(ball, epsilon, utility))
    assert is_closed(solved)
    assert solved.mechanism.proof.holds
    assert solved.leakage <= float(md.Epsilon.of(epsilon)) * (1 + 1e-15) + 1e-300
    assert md.leakage_capacity(solved.mechanism.matrix, ball) <= solved.leakage + 1e-9
    assert solved.mechanism.numerators.shape[1] <= ball.size
    assert md.verify(solved.mechanism).proof.holds


@given(balls(), epsilons, st.sampled_from(F_INFORMATIONS), st.integers(0, 2**32))
def test_no_private_mechanism_is_better(ball, epsilon, utility, seed):
    """A second side: random private mechanisms, from random rays, stay below the bound."""
    solved = md.design(md.DesignProblem(ball, epsilon, utility))
    rng = np.random.default_rng(seed)
    columns = np.hstack([*Rays(ball, float(md.Epsilon.of(epsilon).exp_down)).of_kinds("ABCD"), np.ones((ball.size, 1))])
    for _ in range(10):
        chosen = columns[:, rng.integers(0, columns.shape[1], 6)] * rng.random(6)
        matrix = chosen / chosen.sum(axis=1).max()
        # The rest of each row goes to one more output, which must be private to count.
        matrix = np.maximum(np.c_[matrix, 1 - matrix.sum(axis=1)], 0)
        if md.leakage_capacity(matrix, ball) <= float(md.Epsilon.of(epsilon)):
            assert utility.value(matrix, ball.prior) <= solved.upper_bound


def test_polyhedral_program_and_listed_rays_agree():
    from mechdesign.optimize.column_generation import solve_ray_lp

    rng = np.random.default_rng(6)
    for radius in ("0", "0.05", "0.6", "2"):
        ball = random_ball(rng, 5, radius)
        for utility in (md.HammingAccuracy(), md.ExpectedGain(rng.random((4, 5)).round(3))):
            problem = md.DesignProblem(ball, "0.9", utility)
            solved = md.design(problem)
            listed = solve_ray_lp(Rays(ball, float(problem.epsilon.exp_down)), utility, lambda step: None)
            np.testing.assert_allclose(utility.value(listed.matrix, ball.prior), solved.value, atol=CERTIFIED)


@pytest.mark.parametrize("utility", [*F_INFORMATIONS, md.HammingAccuracy()], ids=lambda u: u.name)
def test_epsilon_zero_leaves_the_constant_mechanism(utility):
    solved = md.design(md.DesignProblem(md.L1Ball([0.5, 0.3, 0.2], 0.1), 0, utility))
    np.testing.assert_array_equal(solved.mechanism.numerators, [[2**48]] * 3)
    assert solved.leakage == 0
    assert solved.certified
    assert solved.value == pytest.approx(0.5 if utility.name == "hamming-accuracy" else 0)


def test_a_large_epsilon_releases_the_data():
    solved = md.design(md.DesignProblem(md.L1Ball(["0.5", "0.3", "0.2"]), "log(5)"))
    np.testing.assert_array_equal(solved.mechanism.matrix, np.eye(3))


DEGENERATE = [
    ([1, 1, 1, 1, 100], "0.1", "0.5", md.SquaredHellinger()),
    ([343, 24827, 404319, 46027, 103739], "3356/38617", "log(5/3)", md.SquaredHellinger()),
    ([1] * 8 + [100], "1", "0.0551", md.TotalVariation()),
    ([1] * 8 + [100000, 1], "20592271400237/1000000000000000", "0.038", md.ChiSquare()),
    ([1] * 4 + [10000] + [1] * 5, "30797288231823/500000000000000", "1.1561", md.SquaredHellinger()),
]


@pytest.mark.sampled
@pytest.mark.parametrize(("counts", "radius", "epsilon", "utility"), DEGENERATE)
def test_programs_whose_duals_alternate_come_to_an_end(counts, radius, epsilon, utility):
    ball = md.L1Ball.from_counts(counts, radius=radius)
    assert md.design(md.DesignProblem(ball, epsilon, utility)).certified


@pytest.mark.parametrize("factor", ["1e-30", "1e-9", "1e9", "1e18", "1e100"])
def test_gains_of_any_size_are_certified_relative_to_it(factor):
    size = float(factor)
    gain = md.ExpectedGain([[factor, 0, 0], [0, factor, 0], [0, 0, factor]])
    solved = md.design(md.DesignProblem(md.L1Ball(["0.5", "0.3", "0.2"], "0.1"), 1, gain))
    same = md.design(md.DesignProblem(md.L1Ball(["0.5", "0.3", "0.2"], "0.1"), 1, md.HammingAccuracy()))
    assert solved.value / size == pytest.approx(same.value, rel=1e-9)
    assert 0 <= solved.gap / size <= 1e-8
    assert md.verify(solved.mechanism).gap / size <= 1e-8


LARGE = [
    ([5, 3, 2], 0),
    ([5, 3, 2], "0.1"),
    ([5, 3, 0], "0.1"),
    ([10**6, 3, 1], 0),
    ([5, 3, 0], 2),
]


@pytest.mark.combined
@pytest.mark.parametrize("epsilon", [8, 12, 700])
@pytest.mark.parametrize(("counts", "radius"), LARGE)
@pytest.mark.parametrize(
    "utility", [md.MutualInformation(), md.ChiSquare(), md.HammingAccuracy()], ids=lambda u: u.name
)
def test_large_epsilons_and_rare_symbols(counts, radius, epsilon, utility):
    ball = md.L1Ball.from_counts(counts, radius=radius)
    solved = md.design(md.DesignProblem(ball, epsilon, utility))
    assert solved.certified
    disclosed = utility.value(np.eye(3), ball.prior)
    assert solved.value <= disclosed * (1 + 1e-12)
    if epsilon == 700:
        assert solved.value >= disclosed * (1 - 1e-6)


@pytest.mark.parametrize("utility", [*F_INFORMATIONS, md.HammingAccuracy()], ids=lambda u: u.name)
def test_full_disclosure_bounds_every_design(utility):
    from mechdesign.optimize.certificate import full_disclosure

    ball = md.L1Ball(["0.5", "0.3", "0.2"])
    problem = md.DesignProblem(ball, 1, utility)
    assert utility.value(np.eye(3), ball.prior) <= full_disclosure(problem)
    assert full_disclosure(problem) == pytest.approx(utility.value(np.eye(3), ball.prior), rel=1e-12)
    poor = md.optimize.certify(problem, [1.0, 1.0, 1.0])
    assert poor.upper_bound == full_disclosure(problem)


def test_a_users_own_f_is_certified_but_not_claimed_in_files(tmp_path):
    def triangular(u):
        return (u - 1) ** 2 / (u + 1)

    solved = md.design(md.DesignProblem(md.L1Ball([0.5, 0.3, 0.2], 0.1), 1, md.FInformation(triangular)))
    assert solved.certified
    solved.mechanism.save(tmp_path / "m.json")
    assert md.Mechanism.load(tmp_path / "m.json").optimality is None


def test_few_bits_are_private_and_uncertified():
    problem = md.DesignProblem(random_ball(np.random.default_rng(2), 6, "0.05"), 1)
    coarse = md.design(problem, bits=6)
    assert coarse.mechanism.proof.holds
    assert not coarse.certified
    assert coarse.value < md.design(problem).value
    assert md.design(problem, bits=6, tol=0.9).certified


def test_what_no_method_covers_is_refused_with_what_would_do():
    """A utility that is neither an f-information nor a gain needs its rays listed."""

    class Doubled(md.Utility):
        name = "doubled"

        def mu(self, columns, prior):
            return 2 * md.ChiSquare().mu(columns, prior)

        def gradient(self, column, prior):
            return 2 * md.ChiSquare().gradient(column, prior)

        def mu_up(self, columns, prior, slack):
            return 2 * md.ChiSquare().mu_up(columns, prior, slack)

    with raises("no-method", match=r"60 categories .* merge categories, or use a gain utility such as hamming-acc"):
        md.design(md.DesignProblem(md.L1Ball.from_counts([10] * 60, known=True), 1, Doubled()))
    few = md.L1Ball.from_counts([5, 3, 2], known=True)
    single = md.design(md.DesignProblem(few, 1, md.ChiSquare()))
    assert md.design(md.DesignProblem(few, 1, Doubled())).value == pytest.approx(2 * single.value, abs=CERTIFIED)


def test_sixty_symbols_have_a_certified_gain():
    ball = random_ball(np.random.default_rng(8), 60, "0.01")
    assert md.design(md.DesignProblem(ball, 1, md.HammingAccuracy())).certified


@pytest.mark.parametrize(
    ("options", "code"),
    [
        ({"tol": 0}, "out-of-range"),
        ({"tol": float("nan")}, "out-of-range"),
        ({"tol": True}, "out-of-range"),
        ({"tol": 10**400}, "out-of-range"),
        ({"bits": 0}, "not-a-whole-number"),
        ({"bits": 53}, "not-a-whole-number"),
        ({"bits": 4.0}, "not-a-whole-number"),
        ({"title": 5}, "wrong-type"),
    ],
)
def test_bad_options_are_refused(options, code):
    with raises(code):
        md.design(md.DesignProblem(md.L1Ball([0.5, 0.5]), 1), **options)


def test_bits_may_be_of_numpy():
    design = md.design(md.DesignProblem(md.L1Ball([0.5, 0.5]), 1), bits=np.int64(20))
    assert type(design.mechanism.bits) is int
    assert type(md.Mechanism(np.array([[2], [2]]), np.int64(1), md.Guarantee(1, md.L1Ball([0.5, 0.5]))).bits) is int


def test_few_bits_are_named_where_reports_cannot_be_estimated():
    problem = md.DesignProblem(md.L1Ball([0.25] * 4, "0.1"), 1, md.EstimationError())
    with raises("design-not-identifiable", "epsilon = 1 is too small for bits = 1", "a larger epsilon, or more bits"):
        md.design(problem, bits=1)


@pytest.mark.parametrize(
    ("make", "code"),
    [
        (lambda: md.DesignProblem([0.5, 0.5], 1), "wrong-type"),
        (lambda: md.DesignProblem(md.L1Ball([0.5, 0.5]), -1), "epsilon-out-of-range"),
        (lambda: md.DesignProblem(md.L1Ball([0.5, 0.5]), 1, "mi"), "wrong-type"),
    ],
)
def test_bad_problems_are_refused(make, code):
    with raises(code):
        make()


def test_a_solver_that_fails_is_an_error_and_no_matrix(monkeypatch):
    import cvxpy as cp

    def fails(self, **options):
        raise cp.SolverError("no basis")

    monkeypatch.setattr(cp.Problem, "solve", fails)
    with raises("solver-failed"):
        md.design(md.DesignProblem(md.L1Ball([0.5, 0.3, 0.2]), 1, md.HammingAccuracy()))
    monkeypatch.setattr("mechdesign.numerics.linear_program.ProgramSolution.optimal", False)
    with raises("solver-failed"):
        md.design(md.DesignProblem(md.L1Ball([0.5, 0.3, 0.2]), 1))


def test_a_theorem_above_the_bound_is_reported(monkeypatch):
    from mechdesign.optimize.closed_form import ClosedForm

    wrong = ClosedForm("a wrong theorem", np.eye(3), optimal=True)
    monkeypatch.setattr("mechdesign.optimize.designer.closed_forms", lambda problem: [wrong])
    with raises("defect", "'a wrong theorem'", "above"):
        md.design(md.DesignProblem(md.L1Ball([0.5, 0.3, 0.2]), 1))


def test_progress_is_told():
    steps = []
    md.design(md.DesignProblem(md.L1Ball([0.5, 0.3, 0.2], 0.3), 1), progress=steps.append)
    assert any("extreme rays" in step for step in steps)


@settings(max_examples=examples(30))
@given(balls(most=4), epsilons)
def test_optimal_mechanisms_beat_random_private_ones_after_mixing(ball, epsilon):
    """Any matrix mixed with the constant one until it is private is a competitor."""
    solved = md.design(md.DesignProblem(ball, epsilon))
    rng = np.random.default_rng(ball.size)
    matrix = random_mechanism(rng, ball.size, ball.size)
    constant = ball.prior @ matrix
    for weight in np.linspace(0, 1, 21):
        mixed = (1 - weight) * matrix + weight * constant
        if md.leakage_capacity(mixed, ball) <= float(md.Epsilon.of(epsilon)):
            assert md.MutualInformation().value(mixed, ball.prior) <= solved.upper_bound
            break
