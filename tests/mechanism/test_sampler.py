"""Sampling: the probabilities are those of the integers, whatever the bits and the shape of the table."""

import os
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from chi_square import NEVER_FLAKES, p_value
from hypothesis import given
from hypothesis import strategies as st
from refusals import raises
from scipy import stats

import mechdesign as md
from mechdesign.mechanism import sampler as sampler_module
from mechdesign.mechanism.sampler import Sampler, random_bytes


def fed(words):
    """A source that returns given 16-bit words, then given 64-bit words."""
    queue = list(words)

    def source(size):
        content = queue.pop(0)
        assert len(content) == size
        return content

    return source


def sixteen(values):
    return np.asarray(values, dtype="<u2").tobytes()


def sixty_four(values):
    return np.asarray(values, dtype="<u8").tobytes()


@pytest.mark.parametrize("bits", [1, 2, 3, 7, 10, 12, 16])
def test_every_integer_of_few_bits_gives_its_own_output(bits):
    # All 2^16 first words at once: each output must come exactly numerator / 2^bits of the time.
    rng = np.random.default_rng(bits)
    rows = [np.bincount(rng.integers(0, 5, size=2**bits), minlength=5) for _ in range(3)]
    numerators = np.array(rows, dtype=np.int64)
    sampler = Sampler(numerators, bits)
    for code in range(3):
        drawn = sampler.draw(np.full(2**16, code), fed([sixteen(np.arange(2**16))]))
        np.testing.assert_array_equal(np.bincount(drawn, minlength=5), numerators[code] << (16 - bits))


@pytest.mark.parametrize("bits", [17, 20, 48, 52])
def test_the_other_bits_decide_at_every_threshold(bits):
    # r = threshold - 1 belongs to the output before it, r = threshold to the next one.
    rng = np.random.default_rng(bits)
    cuts = np.sort(rng.choice(2**bits - 1, size=40, replace=False)) + 1
    row = np.diff(np.concatenate([[0], cuts, [2**bits]]))
    sampler = Sampler(np.array([row, row[::-1]]), bits)
    for integers, expected in ((cuts - 1, np.arange(40)), (cuts, np.arange(40) + 1)):
        for r, output in zip(integers.tolist(), expected.tolist(), strict=True):
            first, rest = r >> (bits - 16), r & (2 ** (bits - 16) - 1)
            pieces = [sixteen([first]), sixty_four([rest << (80 - bits)])]
            source = fed(pieces)
            assert sampler.draw(np.array([0]), source).tolist() == [output]


def test_outputs_of_probability_zero_never_occur():
    numerators = np.array([[0, 2**48 - 1, 0, 1, 0], [2**48, 0, 0, 0, 0]])
    sampler = Sampler(numerators, 48)
    largest = fed([sixteen([2**16 - 1] * 2), sixty_four([2**64 - 1])])
    assert sampler.draw(np.array([0, 1]), largest).tolist() == [3, 0]
    least = fed([sixteen([0, 0])])
    assert sampler.draw(np.array([0, 1]), least).tolist() == [1, 0]


@given(st.data())
def test_the_table_agrees_with_plain_thresholds(data):
    bits = data.draw(st.integers(1, 52))
    M = data.draw(st.integers(1, 6))
    cuts = [sorted(data.draw(st.lists(st.integers(0, 2**bits), min_size=M - 1, max_size=M - 1))) for _ in range(2)]
    numerators = np.array([np.diff([0, *cut, 2**bits]) for cut in cuts], dtype=np.int64)
    seed = data.draw(st.integers(0, 2**32))
    codes = np.random.default_rng(seed).integers(0, 2, size=50)
    drawn = Sampler(numerators, bits).draw(codes, np.random.default_rng(seed).bytes)
    # Each output must be one that an integer beginning with its 16 first bits can have.
    stream = np.random.default_rng(seed)
    first = np.frombuffer(stream.bytes(100), dtype="<u2").tolist()
    thresholds = np.cumsum(numerators, axis=1).tolist()
    for code, word, output in zip(codes.tolist(), first, drawn.tolist(), strict=True):
        low, high = Fraction(word, 2**16), Fraction(word + 1, 2**16)
        before = Fraction(thresholds[code][output - 1], 2**bits) if output else Fraction(0)
        assert before < high
        assert Fraction(thresholds[code][output], 2**bits) > low
        assert numerators[code, output] > 0


@pytest.mark.parametrize("entries", [1, 8, 1 << 22])
def test_a_small_table_changes_nothing(monkeypatch, entries):
    monkeypatch.setattr(sampler_module, "_TABLE_ENTRIES", entries)
    rng = np.random.default_rng(5)
    numerators = np.array([np.bincount(rng.integers(0, 30, 2**14), minlength=30) for _ in range(4)], dtype=np.int64)
    sampler = Sampler(numerators, 14)
    for code in range(4):
        drawn = sampler.draw(np.full(2**16, code), fed([sixteen(np.arange(2**16))]))
        np.testing.assert_array_equal(np.bincount(drawn, minlength=30), numerators[code] * 4)


def test_more_outputs_than_16_bits_can_name():
    M = 70_000
    numerators = np.zeros((1, M), dtype=np.int64)
    numerators[0, -1], numerators[0, 0] = 2**20 - 1, 1
    assert (
        Sampler(numerators, 20).draw(np.zeros(1000, dtype=int), np.random.default_rng(1).bytes).tolist()
        == [M - 1] * 1000
    )


@pytest.mark.parametrize("rng", [None, np.random.default_rng(11)])
def test_chi_square_of_a_designed_mechanism(rng):
    problem = md.read_problem(Path(__file__).parents[2] / "problems" / "adult-relationship.toml").problem
    mechanism = md.design(problem).mechanism
    n = 200_000
    for code in range(len(mechanism.inputs)):
        drawn = mechanism.privatize(np.full(n, code), rng)
        seen = np.bincount(drawn, minlength=len(mechanism.outputs))
        assert p_value(seen, mechanism.matrix[code]) > NEVER_FLAKES


def test_the_chi_square_test_can_fail():
    wrong = Sampler(np.array([[500, 524]]), 10).draw(np.zeros(200_000, dtype=int), np.random.default_rng(1).bytes)
    assert p_value(np.bincount(wrong), [0.5, 0.5]) < NEVER_FLAKES
    assert p_value([10, 1], [1.0, 0.0]) == 0


def test_secure_randomness_by_default_and_a_generator_for_experiments():
    assert random_bytes(None) is os.urandom
    warner = md.Mechanism(
        np.array([[3, 1], [1, 3]]), 2, md.Guarantee(md.Epsilon.of("log(3)"), md.L1Ball([0.5, 0.5], radius=2))
    )
    codes = np.zeros(200, dtype=int)
    first = warner.privatize(codes, np.random.default_rng(3))
    np.testing.assert_array_equal(first, warner.privatize(codes, np.random.default_rng(3)))
    # Two secure runs agree in 200 places with probability (9/16 + 1/16)^200 < 1e-40.
    assert (warner.privatize(codes) != warner.privatize(codes)).any()


@pytest.mark.parametrize("rng", [7, "secure", np.random.RandomState(1)])
def test_a_seed_is_no_generator(rng):
    with raises("wrong-type"):
        random_bytes(rng)


def test_reports_are_independent_of_each_other():
    warner = md.Mechanism(
        np.array([[1, 1], [1, 1]]), 1, md.Guarantee(md.Epsilon.of("0"), md.L1Ball([0.5, 0.5], radius=2))
    )
    drawn = warner.privatize(np.zeros(2**18, dtype=int))
    for lag in (1, 2, 2**16):  # within and across the blocks
        agree = int((drawn[lag:] == drawn[:-lag]).sum())
        assert stats.binomtest(agree, drawn.size - lag, 0.5).pvalue > NEVER_FLAKES
