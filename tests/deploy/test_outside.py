"""Estimates outside of the priors of a guarantee: significance, the likeliest prior of a set, the leakage there."""

import cvxpy as cp
import numpy as np
import pytest
from matrices import randomized_response

import mechdesign as md
from mechdesign.deploy.likelihood import maximum_likelihood
from mechdesign.deploy.outside import LEVEL, _likeliest_laws, outsides

MATRIX = randomized_response(4, np.e)
PRIOR = np.array([0.4, 0.3, 0.2, 0.1])
FAR = np.array([-0.1, 0.0, 0.0, 0.1])


def mechanism(radius="0.05", matrix=MATRIX, prior=PRIOR):
    known = md.L1Ball([str(p) for p in prior], radius=radius)
    return md.Mechanism.repaired(matrix, md.Guarantee("log(10)", known)).mechanism


def found(counts, groups=1, **given):
    counts, made_by = np.asarray(counts, dtype=float), mechanism(**given)
    return outside(made_by, counts, groups)


def outside(made_by, counts, groups=1):
    return outsides(made_by, counts[None], maximum_likelihood(made_by.matrix, counts).frequencies[None], groups)[0]


@pytest.mark.parametrize(
    "reports", [20, pytest.param(300, marks=pytest.mark.slow), pytest.param(5_000, marks=pytest.mark.slow)]
)
def test_at_the_border_of_the_set_a_warning_is_as_rare_as_its_level(reports):
    border, rng, runs = PRIOR + np.array([0.025, 0.0, 0.0, -0.025]), np.random.default_rng(reports), 300
    warned = sum(found(counts) is not None for counts in rng.multinomial(reports, border @ MATRIX, size=runs))
    assert warned / runs <= LEVEL + 3.5 * np.sqrt(LEVEL / runs)


def test_a_distribution_outside_is_found_with_enough_reports():
    law = (PRIOR + FAR) @ MATRIX
    assert found(100 * law) is None
    assert found(20_000 * law).p < 1e-6
    assert found(20_000 * (PRIOR + FAR / 5) @ MATRIX) is None


def test_one_report_is_never_significant():
    nearly_exact = 0.9999 * np.eye(4) + 0.0001 * MATRIX
    for counts in np.eye(4):
        assert found(counts, matrix=nearly_exact) is None


def test_more_groups_need_more():
    counts = 6_000 * (PRIOR + FAR) @ MATRIX
    alone = found(counts)
    assert alone is not None
    assert found(counts, groups=2).p == pytest.approx(2 * alone.p)
    assert found(counts, groups=10**9) is None


def test_the_leakage_is_that_at_the_estimate():
    theta = np.array([0.2, 0.2, 0.2, 0.4])
    law = theta @ mechanism().matrix
    assert found(1e9 * law).leakage == pytest.approx(np.log((mechanism().matrix.max(axis=0) / law).max()), abs=1e-6)


def test_the_likeliest_prior_of_a_set_is_that_of_a_convex_program():
    """Clarabel is given shares, not counts, and nearly all digits of floats: its own optimum may be off by less."""
    made_by = mechanism("0.1")
    counts = 5_000 * np.array([0.1, 0.2, 0.3, 0.4]) @ made_by.matrix
    (law,), (gap,) = _likeliest_laws(made_by.guarantee.uncertainty, made_by.matrix, counts[None])
    q = cp.Variable(4, nonneg=True)
    near = [cp.sum(q) == 1, cp.norm1(q - PRIOR) <= 0.1]
    program = cp.Problem(cp.Maximize(counts / 5_000 @ cp.log(made_by.matrix.T @ q)), near)
    program.solve(solver=cp.CLARABEL, tol_gap_abs=1e-11, tol_gap_rel=1e-11, tol_feas=1e-11)
    best = counts @ np.log(made_by.matrix.T @ q.value)
    assert counts @ np.log(law) <= best + 1e-5
    assert counts @ np.log(law) + gap >= best - 1e-5
    assert gap <= 0.011


def test_every_prior_is_inside_the_simplex():
    assert found([900.0, 10, 10, 10], radius="2") is None


def test_estimates_and_groups_tell_it():
    made_by = mechanism("0.05")
    inside, far = (np.round(20_000 * np.array(theta) @ MATRIX).astype(int) for theta in (PRIOR, PRIOR[::-1]))
    reports = np.repeat(list(made_by.outputs) * 2, [*inside, *far]).tolist()
    by = ["a"] * inside.sum() + ["b"] * far.sum()
    grouped = md.estimate_frequencies(reports, made_by, by=by)
    assert grouped["a"].outside is None
    assert grouped["b"].outside.leakage > 0.8
    assert grouped.whole.outside is not None  # both together are far from the prior too
    alone = md.estimate_frequencies(dict(zip(made_by.outputs, far.tolist(), strict=True)), made_by)
    assert alone.outside.p == pytest.approx(grouped["b"].outside.p / 2)
    assert "outside of the priors of the guarantee" in alone._repr_html_()


def test_a_promise_about_a_secret_is_not_tested():
    known = md.SecretPromise([[20, 10, 5, 5], [10, 15, 20, 15]], known=True)
    made_by = md.Mechanism.repaired(MATRIX, md.Guarantee("log(10)", known)).mechanism
    counts = np.array([10_000.0, 10, 10, 10])
    assert outside(made_by, counts) is None


def test_groups_together_are_what_each_is_alone():
    """Some near the center, some outside; one has an output that is impossible at the center, one at every prior."""
    matrix = np.array([[0.5, 0.5, 0.0, 0.0], [0.2, 0.5, 0.3, 0.0], [0.1, 0.2, 0.2, 0.5]])
    known = md.L1Ball(["0.5", "0.5", "0"], radius="0.1")
    promise = md.Guarantee("log(20)", known)
    made_by = md.Mechanism.repaired(matrix, promise).mechanism
    rng = np.random.default_rng(0)
    tables = [
        rng.multinomial(3_000, rng.dirichlet(40 * np.array([0.45, 0.45, 0.1])) @ made_by.matrix) for _ in range(30)
    ]
    tables = np.array([*tables, [700, 800, 300, 0], [0, 0, 0, 50]], dtype=float)
    likely = [maximum_likelihood(made_by.matrix, counts) for counts in tables]
    together = outsides(made_by, tables, np.array([each.frequencies for each in likely]), 32)
    alone = [outside(made_by, counts, 32) for counts in tables]
    assert 3 < sum(each is not None for each in alone) < 30
    for one, other in zip(together, alone, strict=True):
        assert (one is None) == (other is None)
        if one is not None:
            assert one.p == pytest.approx(other.p, rel=1e-9)
            assert one.leakage == pytest.approx(other.leakage, rel=1e-12)
