"""Designs with a cap: PML for the priors of a set, and local differential privacy with the cap for everyone."""

from fractions import Fraction
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from double_description import extreme_rays
from hypothesis import given, settings
from hypothesis import strategies as st
from repetitions import examples
from scipy.optimize import linprog
from tolerances import ALGEBRA, CERTIFIED

import mechdesign as md
from mechdesign.errors import InputError, LimitError
from mechdesign.optimize.pricing import check_listable

PROBLEMS = Path(__file__).parents[2] / "problems"
PRIOR = md.L1Ball(["0.4", "0.3", "0.2", "0.1"])
BALL = md.L1Ball(["0.4", "0.3", "0.2", "0.1"], "0.1")
HULL = md.ConvexHull([["0.4", "0.3", "0.3"], ["0.2", "0.5", "0.3"], ["0.3", "0.3", "0.4"]])
SETS = {"known": PRIOR, "l1": BALL, "hull": HULL}
OBJECTIVES = [md.MutualInformation(), md.HammingAccuracy(), md.EstimationError()]


def best(known, epsilon, utility=None, **sides):
    return md.design(md.DesignProblem(known, epsilon, utility, **sides))


def vertices_of(known):
    """The corners of the sets of this file, worked out by hand for the ball: mass .05 moves between two symbols."""
    if known is HULL:
        return [tuple(map(Fraction, row)) for row in known.priors]
    if known is PRIOR:
        return [PRIOR.center]
    moved, N = Fraction("0.05"), 4
    pairs = [(i, j) for i in range(N) for j in range(N) if i != j]
    return [tuple(p + moved * ((k == i) - (k == j)) for k, p in enumerate(BALL.center)) for i, j in pairs]


def rays_of(known, b, c):
    """All extreme rays of ``max v <= b <Q, v>`` at every corner Q and ``max v <= c min v``, in rationals."""
    N = known.size
    rows = [[b * q - (i == j) for j, q in enumerate(Q)] for Q in vertices_of(known) for i in range(N)]
    rows += [[c * (j == k) - (j == i) for j in range(N)] for i in range(N) for k in range(N) if i != k]
    return np.array([[float(Fraction(x) / max(ray)) for x in ray] for ray in extreme_rays(rows, N)]).T


@pytest.mark.parametrize("known", SETS.values(), ids=SETS)
@pytest.mark.parametrize("cap", ["log(4)", "log(8)"])
def test_information_is_that_of_a_program_over_all_rays_in_rationals(known, cap):
    rays = rays_of(known, Fraction(2), Fraction(cap[4:-1]))
    rays /= known.prior @ rays
    value = md.MutualInformation().mu(rays, known.prior)
    program = linprog(-value, A_eq=rays, b_eq=np.ones(known.size), bounds=(0, None))
    found = best(known, "log(2)", cap=cap)
    assert found.value == pytest.approx(-program.fun, abs=CERTIFIED)
    assert found.certified
    assert md.verify(found.mechanism).optimal


@pytest.mark.sampled
@pytest.mark.parametrize(
    ("cap", "share"), [("1", 0.4092), ("1.5", 0.4911), ("2", 0.5589), ("3", 0.6267), ("5", 0.6417)]
)
def test_unchanged_labels_of_education(cap, share):
    """Computed once by another program, for the ball of the counts."""
    counts = md.read_problem(PROBLEMS / "adult-education.toml").problem.uncertainty.evidence.counts
    found = best(md.L1Ball.from_counts(counts, delta="1e-9"), "1", md.HammingAccuracy(), cap=cap)
    assert found.value == pytest.approx(share, abs=5e-5)
    assert found.certified


@pytest.mark.combined
@pytest.mark.parametrize("utility", OBJECTIVES, ids=lambda utility: utility.name)
@pytest.mark.parametrize("known", SETS.values(), ids=SETS)
def test_a_larger_cap_is_never_worse(known, utility):
    """From the best mechanism under local differential privacy to the best one without a cap."""
    sign = -1 if utility.minimised else 1
    found = [best(known, 1, utility, cap=cap) for cap in ("1/2", 1, "1.5", 2, 4, 12)]
    ends = [best(md.L1Ball(known.center, 2), level, utility) for level in ("1/2", 1)] + [best(known, 1, utility)]
    values = [sign * design.value for design in found]
    slack = 1e-6 * max(map(abs, values))
    assert all(one <= other + slack for one, other in pairwise(values))
    assert values[:2] == pytest.approx([sign * end.value for end in ends[:2]], rel=1e-6)
    assert values[-1] == pytest.approx(sign * ends[2].value, rel=2e-3)
    assert values[-1] <= sign * ends[2].value + slack
    assert all(design.certified and md.verify(design.mechanism) for design in found)


@pytest.mark.parametrize("known", SETS.values(), ids=SETS)
def test_a_cap_and_a_promise_from_below_imply_each_other(known):
    """A cap c implies lower = c; epsilon and lower imply the cap epsilon + lower. Neither way back is without loss."""
    capped, lowered = best(known, 1, cap=2), best(known, 1, lower=1)
    md.Mechanism(capped.mechanism.numerators, capped.mechanism.bits, md.Guarantee(1, known, lower=2))
    md.Mechanism(lowered.mechanism.numerators, lowered.mechanism.bits, md.Guarantee(1, known, cap=2))
    assert lowered.value <= capped.value + CERTIFIED
    assert capped.value <= best(known, 1, lower=2).value + CERTIFIED


@pytest.mark.parametrize("epsilon", ["20", "700"])
def test_an_epsilon_far_above_the_cap_is_solved_as_the_cap_is(epsilon):
    """Linear programs with exp(20) would leave a gap of a few parts in ten thousand."""
    known = md.L1Ball.from_counts([5, 0], delta="1e-3")
    found = best(known, epsilon, md.WorstCaseUtility(md.HammingAccuracy()), cap="log(2)")
    assert found.certified
    assert found.value == pytest.approx(2 / 3, abs=CERTIFIED)
    assert md.verify(found.mechanism).optimal


def test_no_mechanism_with_both_promises_passes_the_bound():
    rng = np.random.default_rng(3)
    bound = best(BALL, 1, cap=2).certificate.bound
    error = best(BALL, 1, md.EstimationError(), cap=2).certificate.bound
    reached = []
    for _ in range(300):
        matrix = rng.dirichlet(np.full(5, rng.choice([0.1, 1.0])), 4)
        share = next(
            share
            for share in np.linspace(0, 1, 21)
            if _kept((1 - share) * matrix + share * matrix.mean(axis=0), np.exp(1), np.exp(2))
        )
        mixed = (1 - share) * matrix + share * matrix.mean(axis=0)
        reached.append(md.MutualInformation().value(mixed, BALL.center))
        assert md.EstimationError().value(mixed, BALL.center) >= error
    assert max(reached) <= bound
    assert max(reached) > bound / 4


def _kept(matrix, b, c):
    return (BALL.excess(matrix, b) <= 0).all() and (matrix.max(axis=0) <= c * matrix.min(axis=0)).all()


@given(st.lists(st.integers(1, 9), min_size=2, max_size=4), st.integers(2, 6), st.integers(1, 4))
@settings(max_examples=examples(15), deadline=None)
def test_relabelling_changes_nothing(counts, cap, shift):
    problem = [md.L1Ball.from_counts(each, radius="0.1") for each in (counts, counts[::-1])]
    values = [best(known, f"log({shift + 1})", cap=f"log({cap})").value for known in problem]
    assert values[0] == pytest.approx(values[1], abs=CERTIFIED)


def test_sixteen_levels_of_education_have_a_certified_design():
    counts = md.read_problem(PROBLEMS / "adult-education.toml").problem.uncertainty.evidence.counts
    found = best(md.L1Ball.from_counts(counts, delta="1e-9"), 1, cap=3)
    assert found.certified
    assert 0.7 < found.value < best(md.L1Ball.from_counts(counts, known=True), 1, cap=3).value
    rays = check_listable(found.problem.uncertainty, float(np.e), found.problem.sides.floor_down)
    assert rays.count("T") == 2**16 < rays.count(rays.kinds) < 10**6 < 3**16


def test_a_cap_that_is_not_above_epsilon_is_ldp_for_any_number_of_symbols():
    """No list is needed then: it is the problem of local differential privacy."""
    counts = [*range(5, 25)]
    capped = best(md.L1Ball.from_counts(counts, radius="0.1"), 2, cap=1)
    ldp = best(md.L1Ball([Fraction(count, sum(counts)) for count in counts], 2), 1)
    assert capped.value == pytest.approx(ldp.value, abs=CERTIFIED)
    assert capped.certified


def test_more_sets_than_can_be_looked_at_are_refused():
    """By lists; other methods design for balls of so many symbols."""
    for counts, radius in (([5] * 25, "0.01"), ([5] * 22, "0.9")):
        problem = md.DesignProblem(md.L1Ball.from_counts(counts, radius=radius), 1, cap=3)
        with pytest.raises(LimitError, match="merge categories"):
            check_listable(problem.uncertainty, float(np.e), problem.sides.floor_down)


# The proof


def test_the_proof_decides_the_ratio_of_two_probabilities_exactly():
    numerators = np.array([[6, 2], [2, 6]])
    kept = md.Mechanism(numerators, 3, md.Guarantee("log(2)", md.L1Ball([0.5, 0.5]), cap="log(3)"))
    assert kept.proof.least_lifts == (Fraction(1, 3), Fraction(1, 3))
    assert kept.lower_leakage == pytest.approx(float(kept.level), abs=ALGEBRA)
    with pytest.raises(md.GuaranteeError, match="above cap = log"):
        md.Mechanism(numerators, 3, md.Guarantee("log(2)", md.L1Ball([0.5, 0.5]), cap="log(2999999999/1000000000)"))


def test_rounding_keeps_the_cap(tmp_path):
    found = best(BALL, "1/3", md.EstimationError(), cap="log(7/4)")
    for bits in (8, 20, 52):
        again = md.Mechanism.from_matrix(found.mechanism.matrix, found.mechanism.guarantee, bits=bits)
        assert all(Fraction(4, 7) <= lift for lift in again.proof.least_lifts)
    found.mechanism.save(tmp_path / "m.json")
    loaded = md.Mechanism.load(tmp_path / "m.json")
    assert loaded.guarantee.cap == md.Epsilon.of("log(7/4)")
    assert md.verify(loaded).optimal


def test_post_processing_products_and_repeats_keep_a_cap():
    found = best(md.L1Ball(["0.6", "0.4"]), 1, cap=2).mechanism
    merged = found.then(dict.fromkeys(found.outputs, "one"))
    assert merged.guarantee.cap == md.Epsilon.of(2)
    other = best(md.L1Ball(["0.5", "0.5"]), "1/2", cap=1).mechanism
    assert found.product(other).guarantee.cap == md.Epsilon.of(3)
    lowered = best(md.L1Ball(["0.5", "0.5"]), "1/2", lower=1).mechanism
    assert found.product(lowered).guarantee.lower == md.Epsilon.of(3)
    assert float(found.repeated(2).guarantee.cap) <= 4


# What is refused


@pytest.mark.parametrize(
    ("code", "given"),
    [
        ("conflicting-arguments", {"cap": 2, "lower": 1}),
        ("epsilon-out-of-range", {"cap": "inf"}),
        ("epsilon-out-of-range", {"cap": -1}),
        ("epsilon-out-of-range", {"cap": "log(1/2)"}),
    ],
)
def test_caps_that_cannot_be_are_refused(code, given):
    with pytest.raises(InputError) as refused:
        md.DesignProblem(BALL, 1, **given)
    assert refused.value.code == code


def test_a_number_beside_sides_is_refused_and_not_dropped():
    """A cap that is given and forgotten would be a promise that nobody keeps."""
    plain, lowered = md.DesignProblem(BALL, 1), md.DesignProblem(BALL, 1, lower=2)
    for make in (
        lambda: md.DesignProblem(BALL, plain.sides, cap=3),
        lambda: md.Guarantee(plain.sides, BALL, cap=3),
        lambda: md.Guarantee(plain.sides, BALL, lower=3),
        lambda: lowered.with_cap(3),
    ):
        with pytest.raises(InputError) as refused:
            make()
        assert refused.value.code == "conflicting-arguments"
    assert md.DesignProblem(BALL, lowered.sides).lower == md.Epsilon.of(2)


def test_a_ball_as_printed_takes_no_cap():
    with pytest.raises(InputError) as refused:
        md.DesignProblem(md.L1Ball(["0.9", "0.1"], "0.5", within_simplex=False), 1, cap=2)
    assert refused.value.code == "ball-leaves-simplex"


def test_a_cap_of_zero_leaves_the_constant_mechanism():
    assert best(BALL, 1, cap=0).mechanism.matrix.shape == (4, 1)
    with pytest.raises(LimitError, match="cap = 0 allows only the constant mechanism"):
        best(BALL, 1, md.EstimationError(), cap=0)


def test_a_cap_over_every_prior_is_the_lesser_of_both():
    everything = md.L1Ball(["0.4", "0.3", "0.2", "0.1"], 2)
    assert best(everything, 2, cap=1).value == pytest.approx(best(everything, 1).value, abs=CERTIFIED)
    assert best(everything, 1, cap=2).value == pytest.approx(best(everything, 1).value, abs=CERTIFIED)
