"""Least estimation errors over listed rays, against reference values, closed forms and random mechanisms."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from refusals import raises
from repetitions import examples

import mechdesign as md
from mechdesign.numerics.quadratic_form import QuadraticForm
from mechdesign.optimize.closed_form.least_errors import least_error_of_sets
from mechdesign.optimize.estimation import listed
from mechdesign.optimize.estimation.form_certificate import lower_bound, root_trace_down
from mechdesign.optimize.estimation.listed import ListedForms
from mechdesign.optimize.estimation.solver import certify_error
from mechdesign.optimize.rays import Rays
from mechdesign.uncertainty import Box, EventSet, L1Box, LowerLimits, RelativeBall

# Computed apart from the package, by listing every ray: value and certified lower bound agree in all digits shown.
RELATIONSHIP = {
    ("known", "0.1"): 82.20128392,
    ("known", "0.5"): 7.91440116,
    ("known", "1"): 3.00680154,
    ("known", "2"): 1.07930458,
    ("PML", "0.1"): 95.46294365,
    ("PML", "0.5"): 8.49500972,
    ("PML", "1"): 3.20837010,
    ("PML", "2"): 1.15379964,
    ("LDP", "0.1"): 1668.94012547,
    ("LDP", "0.5"): 65.47292721,
    ("LDP", "1"): 15.25993074,
    ("LDP", "2"): 3.02548826,
}
SETS = {"known": {"radius": 0}, "PML": {"delta": 1e-9, "bound": "weissman"}, "LDP": {"radius": 2}}


def counts(name: str) -> dict[str, int]:
    ball = md.read_problem(f"problems/adult-{name}.toml").problem.uncertainty.l1_ball
    return dict(zip(ball.labels, ball.evidence.counts, strict=True))


def error_design(ball, epsilon, **options):
    return md.design(md.DesignProblem(ball, epsilon, md.EstimationError()), **options)


@pytest.mark.combined
@pytest.mark.parametrize(("name", "epsilon"), RELATIONSHIP)
def test_relationship_meets_values_computed_apart(name, epsilon):
    found = error_design(md.L1Ball.from_counts(counts("relationship"), **SETS[name]), epsilon)
    expected = RELATIONSHIP[name, epsilon]
    assert found.certified
    assert found.lower_bound <= expected * (1 + 1e-8)
    assert found.value == pytest.approx(expected, rel=1e-6)
    assert found.lower_bound == pytest.approx(expected, rel=1e-6)


# Likewise at epsilon 1; the radius is Weissman's for delta = 1e-9. What is proved comes with four or more digits.
COLUMNS = [
    ("race", "PML", 3.71161, 1e-6),
    ("workclass", "known", 6.01233327, 1e-8),
    ("workclass", "PML", 6.42609648, 1e-8),
    ("workclass", "LDP", 23.82070963, 1e-8),
    ("occupation", "known", 7.90536109, 1e-8),
    ("occupation", "PML", 8.53678, 1e-6),
    ("occupation", "LDP", 47.73033696, 1e-8),
    ("education", "known", 9.32970308, 1e-8),
    ("education", "PML", 10.0606, 1e-5),
    ("education", "LDP", 50.12463696, 1e-8),
]
SLOW = {("occupation", "known"), ("occupation", "PML"), ("education", "known"), ("education", "PML")}


@pytest.mark.sampled
@pytest.mark.parametrize(
    ("name", "promise", "expected", "digits"),
    [pytest.param(*row, marks=[pytest.mark.slow] if row[:2] in SLOW else []) for row in COLUMNS],
)
def test_columns_of_adult_meet_values_computed_apart_from_both_sides(name, promise, expected, digits):
    found = error_design(md.L1Ball.from_counts(counts(name), **SETS[promise]), 1)
    assert found.certified
    assert found.tol == (1e-6 if found.problem.uncertainty.size <= 10 else 1e-4)
    assert expected * (1 - found.tol - digits) <= found.lower_bound <= expected * (1 + digits)
    assert expected * (1 - digits) <= found.value <= expected * (1 + found.tol + digits)


@pytest.mark.combined
@pytest.mark.parametrize("N", range(2, 13))
@pytest.mark.parametrize("epsilon", ["0.1", "0.5", "1", "2", "4"])
def test_ldp_at_a_uniform_prior_is_subset_selection(N, epsilon):
    found = error_design(md.L1Ball.from_counts([1] * N, radius=2), epsilon, tol=1e-6)
    e = found.problem.epsilon.exp_down
    best = float(min(least_error_of_sets(N, Fraction(e), k) for k in range(1, N)))
    assert found.certified
    assert found.value == pytest.approx(best, rel=1e-6)
    assert found.lower_bound <= best * (1 + 1e-12)
    assert found.closed_form.theorem.startswith("subset selection")


@pytest.mark.parametrize(("N", "d"), [(2, 1), (4, 2), (6, 2), (6, 3), (9, 3)])
def test_balanced_sets_are_best_for_a_uniform_known_prior(N, d):
    found = error_design(md.L1Ball.from_counts([1] * N, known=True), f"log({N}/{d})")
    assert found.certified
    assert found.value == pytest.approx((N - 1) ** 2 / (N * (N / d - 1)), rel=1e-6)
    assert found.closed_form.optimal


def test_high_privacy_at_a_known_prior_has_a_closed_form():
    ball = md.L1Ball.from_counts(counts("relationship"), known=True)
    P = ball.prior
    for epsilon, printed in (("0.02", 1794.56010), ("0.031", 738.74928)):
        found = error_design(ball, epsilon)
        expected = (1 - P @ P) / np.expm1(float(epsilon)) ** 2
        assert found.certified
        assert expected == pytest.approx(printed, rel=1e-8)
        assert found.value == pytest.approx(expected, rel=1e-6)
        assert found.closed_form.theorem.startswith("high privacy")


def random_mechanisms(ball, epsilon, rng, count):
    """Yield mechanisms with the guarantee: random columns, completed and scaled, as mixtures with the constant one."""
    N = ball.size
    e = float(np.exp(epsilon))
    for _ in range(count):
        columns = rng.random((N, rng.integers(2, 3 * N))) ** rng.integers(1, 6)
        matrix = columns / columns.sum(axis=1, keepdims=True)
        constant = np.tile(matrix.mean(axis=0), (N, 1))
        low, high = 0.0, 1.0
        for _ in range(12):
            share = (low + high) / 2
            V = share * matrix + (1 - share) * constant
            low, high = (share, high) if (V.max(axis=0) <= e * ball.support(V)).all() else (low, share)
        yield low * matrix + (1 - low) * constant


@pytest.mark.parametrize("radius", [0, *(pytest.param(radius, marks=pytest.mark.slow) for radius in (0.1, 0.5, 2))])
def test_no_random_mechanism_beats_the_bound(radius):
    rng = np.random.default_rng(7)
    ball = md.L1Ball([0.4, 0.3, 0.2, 0.1], radius)
    problem = md.DesignProblem(ball, 1, md.EstimationError())
    bound = md.design(problem).lower_bound
    errors = [
        problem.utility.value(matrix, ball.prior)
        for matrix in random_mechanisms(ball, 1, rng, 2_500 if radius else 600)
    ]
    assert min(errors) >= bound


@pytest.mark.slow
@settings(max_examples=examples(60), deadline=None)
@given(st.integers(2, 5), st.floats(0.05, 3), st.sampled_from([0.0, 0.05, 0.4, 2.0]), st.integers(0, 10**6))
def test_any_dual_proves_a_true_bound(N, epsilon, radius, seed):
    rng = np.random.default_rng(seed)
    ball = md.L1Ball.from_counts(rng.integers(1, 20, N).tolist(), radius=radius)
    problem = md.DesignProblem(ball, epsilon, md.EstimationError())
    value = md.design(problem).value
    A = rng.normal(size=(N, N))
    for form in (QuadraticForm.of_matrix(A @ A.T), QuadraticForm(rng.random(N)), QuadraticForm(rng.normal(size=N))):
        found = certify_error(problem, form, rng.normal(size=N))
        assert found.lower_bound <= value * (1 + 1e-9)


@settings(max_examples=examples(40), deadline=None)
@given(st.integers(1, 6), st.integers(1, 6), st.booleans(), st.integers(0, 10**6))
def test_the_root_trace_is_a_lower_bound(N, q, separable, seed):
    """Against mpmath-free exact arithmetic: the squares of the roots are eigenvalues, computed in ball arithmetic."""
    from flint import acb_mat, arb

    rng = np.random.default_rng(seed)
    P = rng.integers(1, 9, N) / 16
    P = P / P.sum()
    A = rng.normal(size=(N, N))
    form = QuadraticForm(rng.random(N)) if separable else QuadraticForm.of_matrix(A @ A.T)
    W = rng.normal(size=(q, N))
    F = W - (W @ P)[:, None]
    whole = F @ form.dense() @ F.T
    roots = [abs(v.real.mid()) for v in acb_mat([[complex(x) for x in row] for row in whole]).eig(algorithm="approx")]
    expected = float(sum(root.sqrt() for root in roots)) if roots else 0.0
    root, eta = root_trace_down(form, P, W)
    assert isinstance(roots[0], arb)
    assert root <= expected * (1 + 1e-6) + 1e-6
    assert eta <= 1e-10 * max(1.0, float(np.abs(form.dense()).max()))


def test_prices_bound_every_ray():
    rng = np.random.default_rng(3)
    rays = Rays(md.L1Ball.from_counts([5, 3, 2, 1, 1], radius=0.1), 2.7)
    pricing = ListedForms(rays)
    for _ in range(20):
        A, lam = rng.normal(size=(5, 5)), rng.normal(size=5)
        form = QuadraticForm.of_matrix(A + A.T)
        price = pricing.price(form, lam, 3)
        columns = np.hstack(list(rays.of_kinds(rays.kinds)))
        greatest = (form.values(columns - 1) - lam @ columns).max()
        assert greatest <= price.upper <= greatest + 1e-10
        assert (form.values(price.best - 1) - lam @ price.best).max() == pytest.approx(greatest)


CENTER = ["0.4", "0.3", "0.2", "0.1"]
OTHER_SETS = [
    md.ConvexHull([CENTER, ["0.3", "0.3", "0.2", "0.2"], ["0.5", "0.1", "0.2", "0.2"]]),
    LowerLimits(["0.3", "0.2", "0.1", "0.05"], center=CENTER),
    Box(["0.3", "0.2", "0.1", "0.05"], ["0.5", "0.4", "0.3", "0.2"], center=CENTER),
    L1Box(["0.3", "0.2", "0.1", "0.05"], ["0.5", "0.4", "0.3", "0.2"], "0.15", center=CENTER),
    RelativeBall(CENTER, "0.9", "0.05"),
    EventSet(CENTER, ["1", "0.8"], ["0.08", "0.02"]),
    md.ProductSet(md.L1Ball(["0.7", "0.3"], "0.1"), md.L1Ball(["0.6", "0.4"], "0.1")),
]


@pytest.mark.sampled
@pytest.mark.parametrize("known", OTHER_SETS, ids=lambda known: known.kind)
def test_sets_of_every_kind_have_certified_designs_that_no_random_mechanism_beats(known, tmp_path):
    problem = md.DesignProblem(known, 1, md.EstimationError())
    found = md.design(problem)
    assert found.certified
    found.mechanism.save(tmp_path / "m.json")
    assert md.verify(md.Mechanism.load(tmp_path / "m.json")).certificate.lower_bound >= found.lower_bound
    rng = np.random.default_rng(11)
    assert min(problem.utility.value(V, known.prior) for V in random_mechanisms(known, 1, rng, 200)) >= found.value
    # Its center is one of its priors, and all priors have no more of them.
    certain, local = (error_design(md.L1Ball(known.center, radius), 1) for radius in (0, 2))
    assert certain.lower_bound <= found.value
    assert found.lower_bound <= local.value


def test_infinite_errors_are_told():
    ball = md.L1Ball([0.5, 0.3, 0.2])
    with raises("no-method", match="epsilon = 0 allows only the constant mechanism"):
        error_design(ball, 0)
    assert md.EstimationError().value(np.full((3, 2), 0.5), ball.prior) == np.inf
    assert lower_bound(1.0, -1.0) == np.inf


def test_a_false_claim_is_refused():
    honest = error_design(md.L1Ball([0.5, 0.3, 0.2], radius=0.05), 1).mechanism
    claim = honest.optimality
    assert md.verify(honest).gap <= 1e-6 * claim.value
    for false in (
        replace(claim, bound=claim.bound * (1 + 1e-7)),
        replace(claim, multipliers=tuple(np.array(claim.multipliers) + 0.01)),
        replace(claim, form=QuadraticForm(np.ones(3))),
        replace(claim, value=claim.value * 0.99),
    ):
        with raises("optimality-false"):
            md.verify(replace(honest, optimality=false))


def test_a_broken_pricing_is_caught(monkeypatch):
    """A pricing that overlooks the best rays proves a bound that `verify` refuses."""
    ball = md.L1Ball([0.5, 0.3, 0.2], radius=0.05)
    whole = listed.ListedForms.chunks
    monkeypatch.setattr(listed.ListedForms, "chunks", lambda self: ((c[:, ::2], e[:, ::2]) for c, e in whole(self)))
    broken = error_design(ball, 1).mechanism
    monkeypatch.undo()
    with raises("optimality-false"):
        md.verify(broken)


def test_files_hold_the_claim(tmp_path):
    for radius in (0, 0.1):
        made = error_design(md.L1Ball.from_counts({"a": 5, "b": 3, "c": 2}, radius=radius), 1).mechanism
        path = tmp_path / f"{radius}.json"
        made.save(path)
        loaded = md.Mechanism.load(path)
        assert loaded.optimality.bound == made.optimality.bound
        np.testing.assert_array_equal(loaded.optimality.form.dense(), made.optimality.form.dense())
        assert md.verify(loaded).certificate.lower_bound >= made.optimality.bound


@settings(max_examples=examples(12), deadline=None)
@given(st.lists(st.integers(1, 30), min_size=2, max_size=5), st.floats(0.1, 2), st.permutations(range(5)))
def test_laws(counts, epsilon, order):
    """Relabelling changes nothing; a larger set or a smaller epsilon never lowers the error; merging neither."""
    order = [i for i in order if i < len(counts)]
    at = {radius: error_design(md.L1Ball.from_counts(counts, radius=radius), epsilon) for radius in (0, 0.1, 2)}
    turned = error_design(md.L1Ball.from_counts([counts[i] for i in order], radius=0.1), epsilon)
    assert turned.value == pytest.approx(at[0.1].value, rel=3e-6)
    assert at[0].lower_bound <= at[0.1].value
    assert at[0.1].lower_bound <= at[2].value
    assert error_design(md.L1Ball.from_counts(counts, radius=0.1), epsilon * 1.2).lower_bound <= at[0.1].value
    matrix, P = at[0.1].mechanism.matrix, at[0.1].problem.uncertainty.prior
    merged = np.column_stack([matrix[:, :2].sum(axis=1), matrix[:, 2:]])
    assert md.EstimationError().value(merged, P) >= at[0.1].value * (1 - 1e-9)


def test_a_design_that_is_stopped_proves_no_less_than_the_bound_without_a_design():
    ball = md.L1Ball.from_counts(counts("occupation"), delta=1e-9)
    found = error_design(ball, 1, time_limit=0)
    assert not found.certified
    assert found.stopped == "time limit"
    assert found.lower_bound >= md.estimation_bound(ball, 1) * (1 - 1e-9)
    assert md.verify(found.mechanism).certificate.lower_bound >= found.lower_bound


def test_too_many_symbols_are_refused_and_have_a_bound_without_a_design():
    ball = md.L1Ball.from_counts(range(1, 10_001), delta=1e-9)
    with raises("no-method", match="10000 categories are too many for a design of least estimation error"):
        error_design(ball, 1)
    # About (N - 1)^2 / (N (e - 1)); greater here, as the frequencies differ.
    assert md.estimation_bound(ball, 1) >= 9_999**2 / (10_000 * (np.e - 1)) * (1 - 1e-9)


@pytest.mark.combined
@pytest.mark.parametrize("epsilon", ["log(2)", "0.6931471805599453"])
@pytest.mark.parametrize("prior", [["1/2", "1/4", "1/4"], ["0.5", "0.3", "0.2"]])
def test_first_rays_that_leave_a_direction_out_are_not_the_end(prior, epsilon):
    """At e = 2 a symbol of mass 1/2 is a whole set by itself, and the rays drawn at first lack (1, 0, 2)."""
    found = md.design(md.DesignProblem(md.L1Ball(prior), epsilon, md.EstimationError()))
    assert found.certified
    near = md.design(md.DesignProblem(md.L1Ball(prior), "log(2.0000001)", md.EstimationError()))
    assert found.value == pytest.approx(near.value, rel=1e-5)


@pytest.mark.slow
def test_rays_of_symbols_that_were_never_seen_stay_in_the_program():
    """Their entries are up to exp(epsilon), so that weights of 1e-9 make up whole rows."""
    seen = {"a": 3, "b": 97, "c": 0, "d": 0, "e": 0}
    ball = RelativeBall.from_counts(seen, delta="0.01", alpha=1)
    found = error_design(ball, 20)
    # Nearly everything is told, and the variance of the indicators is left.
    assert found.value == pytest.approx(2 * 0.03 * 0.97, rel=1e-6)
    assert found.certified
    assert md.verify(found.mechanism).certificate.bound == pytest.approx(found.lower_bound)


def test_rays_leave_only_if_they_make_up_little_of_every_row():
    held = np.array([[1.0, 1.0, 1e9, 0.0], [1.0, 0.0, 0.0, 1e3]])
    assert listed._needed(held, np.array([0.5, 1e-9, 1e-9, 1e-9]), 1e-6).tolist() == [True, False, True, False]
