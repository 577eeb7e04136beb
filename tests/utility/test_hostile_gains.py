"""Values and bounds of gain utilities hold where numbers cancel, overflow and vanish, against rational arithmetic."""

import math
from dataclasses import replace
from fractions import Fraction

import exact_gains_oracle as oracle
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from refusals import raises
from repetitions import examples

import mechdesign as md
from mechdesign.optimize.certificate import full_disclosure
from mechdesign.optimize.pricing import price_by_guess

EPSILONS = ["0", "1e-45", "1e-12", "0.01", "log(4)", "1", "8", "40", "300", "700"]
LARGEST = 10**300


def power_of_ten(k):
    return Fraction(10) ** k


@st.composite
def masses(draw, size, *, zeros):
    """Return a prior of Fractions with masses down to 1e-200 of the greatest."""
    weights = [
        draw(st.integers(1, 50)) * power_of_ten(-draw(st.sampled_from([0, 0, 0, 1, 3, 12, 17, 40, 200])))
        for _ in range(size)
    ]
    if zeros and draw(st.booleans()):
        weights[draw(st.integers(1, size - 1))] = Fraction(0)
    return [w / sum(weights) for w in weights]


@st.composite
def sets(draw):
    size = draw(st.integers(2, 5))
    if draw(st.integers(0, 3)) == 0:
        size = min(size, 4)
        priors = [draw(masses(size, zeros=False)) for _ in range(draw(st.integers(1, 3 if size < 4 else 2)))]
        return md.ConvexHull(priors)
    kind = draw(st.sampled_from(["known", "tiny", "small", "least", "wide", "any"]))
    prior = draw(masses(size, zeros=kind != "known"))
    least = min(p for p in prior if p > 0)
    radius = {
        "known": Fraction(0),
        "tiny": power_of_ten(-draw(st.sampled_from([9, 15, 30, 210]))),
        "small": Fraction(2, 125),
        "least": min(Fraction(2), 2 * least * draw(st.sampled_from([Fraction(9, 10), 1, Fraction(11, 10)]))),
        "wide": Fraction(draw(st.integers(1, 19)), 10),
        "any": Fraction(2),
    }[kind]
    return md.L1Ball(prior, radius, within_simplex=draw(st.sampled_from([True, True, False])))


@st.composite
def gains(draw, prior):
    """Return gains of Fractions: an offset by symbol, of mean 0 where it fits, and differences of any scale."""
    size = len(prior)
    scale = power_of_ten(draw(st.sampled_from([-300, -100, -20, -5, 0, 0, 0, 3])))
    offset = power_of_ten(draw(st.sampled_from([-300, -10, 0, 3, 10, 17, 17, 25, 100, 299])))
    shift = [Fraction(draw(st.integers(-9, 9))) * offset for _ in range(size)]
    if draw(st.booleans()) and prior[0] > 0:
        shift[0] = -sum(p * x for p, x in zip(prior[1:], shift[1:], strict=True)) / prior[0]
    rows = draw(st.lists(st.lists(st.integers(-20, 20), min_size=size, max_size=size), min_size=1, max_size=3))
    below = draw(st.sampled_from([1, 7, 10]))
    return [
        [max(-LARGEST, min(LARGEST, x + Fraction(y, below) * scale)) for x, y in zip(shift, row, strict=True)]
        for row in rows
    ]


@st.composite
def hostile(draw):
    """Return a set, gains and multipliers: those of a guess, noise of every scale, or both."""
    known = draw(sets())
    matrix = draw(gains(known.center))
    row = draw(st.sampled_from(matrix))
    kind = draw(st.sampled_from(["guess", "noise", "both", "shifted"]))
    near = [float(p * g) for p, g in zip(known.center, row, strict=True)]
    scale = 10.0 ** draw(st.integers(-300, 300))
    noise = [draw(st.integers(-9, 9)) * scale for _ in row]
    if kind == "guess":
        return known, matrix, near
    if kind == "noise":
        return known, matrix, noise
    if kind == "shifted":
        size = float(np.abs(near).max())
        noise = [draw(st.integers(-9, 9)) * size * 2.0**-52 for _ in row]
    return known, matrix, [a + b for a, b in zip(near, noise, strict=True)]


def utility_of(matrix, *, negated):
    if negated:
        return md.ExpectedDistortion([[-x for x in row] for row in matrix])
    return md.ExpectedGain(matrix)


@pytest.mark.slow
@settings(max_examples=examples(150))
@given(hostile(), st.sampled_from(EPSILONS), st.booleans())
def test_no_bound_is_below_the_exact_maximum_over_all_rays(case, epsilon, negated):
    known, matrix, multipliers = case
    problem = md.DesignProblem(known, epsilon, utility_of(matrix, negated=negated))
    exact = [Fraction(x) for x in multipliers]
    try:
        certificate = md.optimize.certify(problem, multipliers)
    except md.SolverError:
        assert isinstance(known, md.ConvexHull)  # linear programs of such numbers may fail, and then bound nothing
        return
    greatest = oracle.greatest_reduced_cost(known, problem.epsilon.exp_down, matrix, exact)
    assert certificate.reduced_cost >= greatest
    assert full_disclosure(problem) >= oracle.disclosure(known, matrix)
    assert certificate.upper_bound >= min(sum(exact) + greatest, oracle.disclosure(known, matrix))


@given(hostile(), st.integers(1, 4), st.integers(0, 2**32), st.booleans())
def test_values_and_full_disclosure_are_those_of_rational_arithmetic(case, outputs, seed, negated):
    known, matrix, _ = case
    utility = utility_of(matrix, negated=negated)
    rows = np.random.default_rng(seed).multinomial(2**20, np.ones(outputs) / outputs, known.size) / 2.0**20
    exact = oracle.value(rows, known.center, matrix)
    assert abs(Fraction(utility.value(rows, known.center)) - exact) <= Fraction(math.ulp(float(exact)))
    disclosed = full_disclosure(md.DesignProblem(known, 1, utility))
    exact = oracle.disclosure(known, matrix)
    assert exact <= disclosed
    assert Fraction(disclosed) <= exact + 2 * Fraction(math.ulp(float(exact)))


@settings(max_examples=examples(30))
@given(st.data())
def test_bounds_are_tight_for_ordinary_numbers(data):
    size = data.draw(st.integers(2, 5))
    weights = data.draw(st.lists(st.integers(1, 99), min_size=size, max_size=size))
    radius = data.draw(st.sampled_from(["0", "2/125", "0.3", "2"]))
    known = md.L1Ball([Fraction(w, sum(weights)) for w in weights], radius)
    entries = st.integers(-10, 10)
    matrix = data.draw(st.lists(st.lists(entries, min_size=size, max_size=size), min_size=1, max_size=4))
    multipliers = data.draw(st.lists(st.floats(-3, 3), min_size=size, max_size=size))
    epsilon = md.Epsilon.of(data.draw(st.sampled_from(["0", "log(9/8)", "log(4)", "log(50)"])))
    upper = price_by_guess(known, float(epsilon.exp_down), md.ExpectedGain(matrix), np.array(multipliers)).upper
    exact = [Fraction(x) for x in multipliers]
    greatest = oracle.greatest_reduced_cost(known, Fraction(float(epsilon.exp_down)), matrix, exact)
    assert greatest <= upper
    assert upper <= float(greatest) + 1e-9


@settings(max_examples=examples(30))
@given(hostile(), st.integers(-8, 8))
def test_an_offset_that_fits_floats_costs_no_digit(case, shift):
    """Adding P_i z_i to lambda_i and z_i to every gain at i changes no reduced cost, and not what is computed."""
    known, matrix, _ = case
    prior = md.L1Ball([Fraction(1, 2 ** min(i + 1, known.size - 1)) for i in range(known.size)], "1/8")
    rows = [[Fraction(int(x) % 16) for x in row] for row in matrix]
    moved = [[x + Fraction(2) ** 200 * (i - shift) for i, x in enumerate(row)] for row in rows]
    plain = [float(p * 3) for p in prior.center]
    offset = [float(p * Fraction(2) ** 200 * (i - shift)) for i, p in enumerate(prior.center)]
    exact = price_by_guess(prior, 2.5, md.ExpectedGain([[x - 3 for x in row] for row in rows]), np.zeros(known.size))
    far = price_by_guess(prior, 2.5, md.ExpectedGain([[x - 3 for x in row] for row in moved]), np.array(offset))
    near = price_by_guess(prior, 2.5, md.ExpectedGain(rows), np.array(plain))
    assert far.upper == exact.upper
    assert near.upper == pytest.approx(exact.upper, abs=1e-12)


def false_claim():
    """A constant mechanism with exact gains that floats cannot hold, claimed to be optimal with value 0."""
    gain = md.ExpectedGain([[2 * 10**17 + 1, -(10**17)], [2 * 10**17, -(10**17) + 1]])
    ball = md.L1Ball.from_counts([1, 2], radius=0)
    mechanism = md.Mechanism.from_matrix(np.ones((2, 1)), md.Guarantee(md.Epsilon.of(8), ball))
    multipliers = tuple((gain.matrix[0] * ball.prior).tolist())
    return ball, gain, mechanism, multipliers


@pytest.mark.parametrize(("value", "bound"), [(0.0, 5e-324), (2 / 3, 2 / 3), (2 / 3, 0.9)])
def test_a_claim_that_cancellation_would_confirm_is_refused(value, bound):
    ball, gain, mechanism, multipliers = false_claim()
    claim = md.mechanism.Optimality(gain, value, bound, multipliers, True)
    with raises("optimality-false"):
        md.verify(replace(mechanism, optimality=claim))
    problem = md.DesignProblem(ball, 8, gain)
    assert full_disclosure(problem) == pytest.approx(1, abs=1e-15)
    solved = md.design(problem)
    assert solved.value == pytest.approx(1, abs=1e-9)
    assert md.verify(solved.mechanism).value == solved.value


def test_the_bound_of_a_single_reconstruction_is_not_below_its_value():
    known = md.L1Ball([Fraction(1, 3), Fraction(1, 6), Fraction(1, 3), Fraction(1, 6)], Fraction(2, 125))
    utility = md.ExpectedDistortion([[-1, 3, -1, 1]])
    solved = md.design(md.DesignProblem(known, "log(4)", utility))
    assert solved.value == 0
    assert 0 <= solved.certificate.upper_bound <= 1e-15
    assert solved.certified
    md.verify(solved.mechanism)


@pytest.mark.combined
@pytest.mark.parametrize("offset", ["1e3", "1e10", "1e17", "1e100", "9e299"])
@pytest.mark.parametrize("mean_zero", [True, False])
@pytest.mark.parametrize("set_", ["known", "ball", "hull"])
def test_designs_with_hostile_offsets_verify_after_saving(offset, mean_zero, set_, tmp_path):
    size = Fraction(offset)
    shift = [size, -size / 2, Fraction(0)] if mean_zero else [size, size, size]
    prior = [Fraction(1, 4), Fraction(1, 2), Fraction(1, 4)]
    known = {
        "known": md.L1Ball(prior),
        "ball": md.L1Ball(prior, "0.05"),
        "hull": md.ConvexHull([prior, [Fraction(1, 5), Fraction(1, 2), Fraction(3, 10)]], [Fraction(1), Fraction(0)]),
    }[set_]
    gain = md.ExpectedGain([[int(i == w) + x for i, x in enumerate(shift)] for w in range(3)])
    solved = md.design(md.DesignProblem(known, 1, gain))
    plain = md.design(md.DesignProblem(known, 1, md.HammingAccuracy()))
    # The offset changes no optimum, and rounding of lambda nothing but the bound.
    mean = sum(p * x for p, x in zip(prior, shift, strict=True))
    assert float(Fraction(solved.value) - mean) == pytest.approx(plain.value, abs=1e-8 + 4 * math.ulp(float(mean)))
    if mean_zero and size <= 10**3:
        assert solved.certified
    solved.mechanism.save(tmp_path / "m.json")
    found = md.verify(md.Mechanism.load(tmp_path / "m.json"))
    assert found.value == solved.value <= found.certificate.upper_bound <= solved.upper_bound


UNREACHABLE = {
    "gain": (md.ExpectedGain([[10**6, -(10**6)], [-(10**6), 10**6]]), 1e-7),
    "information": (md.MutualInformation(), 6e-13),
}


@pytest.mark.parametrize("kind", UNREACHABLE)
@pytest.mark.parametrize("sign", [1, -1])
def test_a_stored_value_may_be_off_by_its_own_rounding_alone(kind, sign):
    """Full disclosure, a million or log 2, is far above what the guarantee allows."""
    utility, off = UNREACHABLE[kind]
    solved = md.design(md.DesignProblem(md.L1Ball(["0.5", "0.5"]), "1e-4", utility))
    claim = solved.mechanism.optimality
    false = replace(claim, value=claim.value + sign * off, bound=claim.bound + 1)
    with raises("optimality-false"):
        md.verify(replace(solved.mechanism, optimality=false))
    close = replace(claim, value=claim.value * (1 - 1e-15))
    assert md.verify(replace(solved.mechanism, optimality=close)).value == claim.value


def test_rounding_that_overflows_leaves_a_stored_value_no_room(monkeypatch):
    solved = md.design(md.DesignProblem(md.L1Ball(["0.5", "0.5"]), 1, md.ChiSquare()))
    false = replace(solved.mechanism.optimality, value=solved.value - 0.01)
    monkeypatch.setattr(md.ChiSquare, "mu_up", lambda self, columns, *given: np.full(columns.shape[1], np.inf))
    with raises("optimality-false"):
        md.verify(replace(solved.mechanism, optimality=false))


def test_an_epsilon_that_proofs_cannot_tell_from_0_bounds_its_own_columns():
    """A mass below epsilon lets an entry fall to 0, so that lambda_i counts there."""
    known = md.L1Ball([1 - power_of_ten(-100), power_of_ten(-100)])
    for utility in (md.ExpectedGain([[0, 0]]), md.TotalVariation()):
        certificate = md.optimize.certify(md.DesignProblem(known, "1e-45", utility), [0.0, 5.0])
        assert certificate.reduced_cost >= 0
        constant = md.optimize.certify(md.DesignProblem(known, "0", utility), [0.0, 5.0])
        assert constant.reduced_cost == pytest.approx(-5)
