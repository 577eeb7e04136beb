"""What must hold of every design."""

from fractions import Fraction

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from repetitions import examples
from strategies import F_INFORMATIONS, balls, epsilons, is_closed
from tolerances import CERTIFIED

import mechdesign as md

utilities = st.sampled_from((*F_INFORMATIONS, md.HammingAccuracy()))


def best(ball, epsilon, utility):
    return md.design(md.DesignProblem(ball, epsilon, utility))


@given(balls(), epsilons, utilities, st.randoms(use_true_random=False))
def test_relabelling_symbols_changes_nothing(ball, epsilon, utility, random):
    order = list(range(ball.size))
    random.shuffle(order)
    shuffled = md.L1Ball([ball.center[i] for i in order], ball.radius)
    first, second = best(ball, epsilon, utility), best(shuffled, epsilon, utility)
    np.testing.assert_allclose(first.value, second.value, atol=CERTIFIED)


@given(balls(), epsilons, utilities, st.fractions(0, 2, max_denominator=30))
def test_a_larger_radius_never_raises_utility(ball, epsilon, utility, radius):
    if 0 in ball.center:
        radius = max(radius, Fraction(1, 50))
    smaller, larger = sorted([ball, ball.with_radius(radius)], key=lambda b: b.radius)
    assert best(larger, epsilon, utility).value <= best(smaller, epsilon, utility).upper_bound


@given(balls(), epsilons, epsilons, utilities)
def test_a_smaller_epsilon_never_raises_utility(ball, one, other, utility):
    smaller, larger = sorted([one, other], key=lambda text: md.Epsilon.of(text).exp_down)
    assert best(ball, smaller, utility).value <= best(ball, larger, utility).upper_bound


@given(balls(), epsilons, utilities)
def test_the_ball_as_printed_is_private_and_never_better(ball, epsilon, utility):
    if 0 in ball.center and ball.radius == 0:
        return
    printed = md.L1Ball(ball.center, ball.radius, within_simplex=False)
    solved = best(printed, epsilon, utility)
    assert is_closed(solved)
    assert solved.mechanism.guarantee.uncertainty.within_simplex
    assert solved.value <= best(ball, epsilon, utility).upper_bound
    if ball.radius <= 2 * min(ball.center):
        np.testing.assert_allclose(solved.value, best(ball, epsilon, utility).value, atol=CERTIFIED)


@given(balls(), epsilons)
def test_mutual_information_is_at_most_epsilon(ball, epsilon):
    assert best(ball, epsilon, md.MutualInformation()).value <= float(md.Epsilon.of(epsilon)) + 1e-12


@given(balls(least=3), epsilons, utilities)
def test_merging_outputs_never_raises_leakage_or_utility(ball, epsilon, utility):
    mechanism = best(ball, epsilon, utility).mechanism
    if mechanism.numerators.shape[1] < 2:
        return
    merged = np.c_[mechanism.numerators[:, 0] + mechanism.numerators[:, 1], mechanism.numerators[:, 2:]]
    coarser = md.Mechanism(merged, mechanism.bits, mechanism.guarantee)
    assert coarser.leakage <= mechanism.leakage
    assert utility.value(coarser.matrix, ball.prior) <= utility.value(mechanism.matrix, ball.prior) + 1e-12


@settings(max_examples=examples(40))
@given(balls(most=4), epsilons, utilities)
def test_splitting_a_symbol_is_worth_at_least_the_merged_alphabet(ball, epsilon, utility):
    """Whoever may tell two symbols apart can also treat them as one: known prior, f-informations."""
    if ball.radius > 0 or utility.is_polyhedral:
        return
    halves = [ball.center[0] / 2, ball.center[0] / 2, *ball.center[1:]]
    assert best(ball, epsilon, utility).value <= best(md.L1Ball(halves), epsilon, utility).upper_bound


@given(balls(), epsilons, utilities, st.integers(1, 52))
def test_fewer_bits_keep_the_guarantee(ball, epsilon, utility, bits):
    solved = md.design(md.DesignProblem(ball, epsilon, utility), bits=bits)
    assert solved.mechanism.proof.holds
    assert solved.value <= solved.upper_bound
    assert solved.mechanism.numerators.sum(axis=1).tolist() == [2**bits] * ball.size
