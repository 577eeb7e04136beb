import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from refusals import raises
from strategies import balls, epsilons, random_ball, random_mechanism

import mechdesign as md

WARNER = np.array([[3, 1], [1, 3]])
ANY_PRIOR = md.L1Ball([0.5, 0.5], radius=2)


def promise(epsilon, uncertainty=ANY_PRIOR):
    return md.Guarantee(md.Epsilon.of(epsilon), uncertainty)


def test_warners_mechanism_is_log_3_private_and_not_less():
    assert md.mechanism.prove(WARNER, 2, promise("log(3)")).holds
    assert md.mechanism.prove(WARNER, 2, promise("log(3)")).ratios == (Fraction(3), Fraction(3))
    assert not md.mechanism.prove(WARNER, 2, promise("log(2999999/1000000)")).holds
    assert not md.mechanism.prove(WARNER, 2, promise("1.0986122886681096")).holds


def test_a_violation_of_one_unit_in_two_to_the_48_is_seen():
    quarter = 2**46
    exact = np.array([[3 * quarter, quarter], [quarter, 3 * quarter]])
    assert md.mechanism.prove(exact, 48, promise("log(3)")).holds
    off = exact + np.array([[1, -1], [0, 0]])
    assert md.mechanism.prove(off, 48, promise("log(3)")).violated == (0, 1)


def test_leakage_is_rounded_up():
    proof = md.mechanism.prove(WARNER, 2, promise("log(3)"))
    assert math.log(3) <= proof.leakage <= math.nextafter(math.nextafter(math.log(3), 2), 2)
    assert md.mechanism.prove(np.array([[4], [4]]), 2, promise(0)).leakage == 0.0


def test_an_output_that_some_prior_never_shows_leaks_infinitely():
    identity = np.array([[4, 0], [0, 4]])
    proof = md.mechanism.prove(identity, 2, promise("700"))
    assert proof.ratios == (None, None)
    assert proof.leakage == math.inf
    assert not proof.holds


@given(balls(), epsilons, st.integers(0, 2**32))
def test_the_proof_is_brute_force_over_priors(ball, epsilon, seed):
    """Every prior of the ball keeps the ratio proved, and the witness attains it."""
    rng = np.random.default_rng(seed)
    matrix = random_mechanism(rng, ball.size, 3)
    numerators = np.floor(matrix * 2**20).astype(np.int64)
    numerators[:, 0] += 2**20 - numerators.sum(axis=1)
    numerators = numerators[:, numerators.any(axis=0)]
    proof = md.mechanism.prove(numerators, 20, promise(epsilon, ball))
    for column, ratio in zip(numerators.T.tolist(), proof.ratios, strict=True):
        support, worst = ball.exact_worst_mean(column)
        assert ratio == (max(column) / support if support else None)
        for _ in range(20):
            prior = ball.member_near(rng.dirichlet(np.full(ball.size, 0.5)))
            assert prior @ column >= float(support) * (1 - 1e-12) - 1e-9
        assert sum(q * x for q, x in zip(worst, column, strict=True)) == support


def test_a_ball_as_printed_is_proved_for_its_part_in_the_simplex():
    printed = md.L1Ball([0.9, 0.1], "0.4", within_simplex=False)
    numerators = np.array([[8, 8], [4, 12]])
    assert (
        md.mechanism.prove(numerators, 4, promise(1, printed)).ratios
        == md.mechanism.prove(numerators, 4, promise(1, printed.exact_set)).ratios
    )


@pytest.mark.parametrize(
    ("numerators", "bits", "code"),
    [
        (np.array([[3, 1], [1, 2]]), 2, "wrong-sum"),
        (np.array([[5, -1], [1, 3]]), 2, "not-probabilities"),
        (np.array([[4, 0], [4, 0]]), 2, "never-occurs"),
        (np.array([[3.0, 1.0], [1.0, 3.0]]), 2, "wrong-size"),
        (np.array([3, 1]), 2, "wrong-size"),
        (np.array([[3, 1]]), 2, "wrong-size"),
        (WARNER, 0, "not-a-whole-number"),
        (WARNER, 53, "not-a-whole-number"),
        (WARNER, True, "not-a-whole-number"),
        (np.array([[2**62, 2**62], [1, 3]]), 2, "not-probabilities"),
    ],
)
def test_integers_that_are_no_mechanism_are_refused(numerators, bits, code):
    with raises(code):
        md.mechanism.prove(numerators, bits, promise("log(3)"))


def test_sums_cannot_wrap_around():
    wrapping = np.full((2, 8), 2**61, dtype=np.int64)
    with raises("not-probabilities"):
        md.mechanism.prove(wrapping, 48, promise(1))


def test_a_hundred_symbols_are_proved():
    rng = np.random.default_rng(3)
    ball = random_ball(rng, 100, "0.05")
    mechanism = md.Mechanism.repaired(random_mechanism(rng, 100, 100), promise(1, ball)).mechanism
    assert md.mechanism.prove(mechanism.numerators, 48, promise(1, ball)).holds
    assert mechanism.leakage <= 1


@pytest.mark.parametrize("bits", [10**5_000, np.ones((3, 3)), "x" * 5_000], ids=["digits", "array", "text"])
def test_bits_that_are_none_are_refused_on_one_short_line(bits):
    with raises("not-a-whole-number") as refused:
        md.mechanism.prove(WARNER, bits, promise("log(3)"))
    assert "\n" not in str(refused.value)
    assert len(str(refused.value)) < 200
