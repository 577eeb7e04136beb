"""Digits of the discrete Gaussian beyond the first word: as many bytes as the word has, in their order."""

from fractions import Fraction

import pytest

from mechdesign.histogram.discrete_sampler import _Cumulative, _drawn


@pytest.mark.parametrize("bits", [8, 16, 32, 64])
@pytest.mark.parametrize("variance", [Fraction(1, 2), Fraction(9), Fraction(400)])
def test_an_undecided_word_is_continued_by_one_of_its_size(bits, variance):
    table = _Cumulative.of(variance, bits)
    size = bits // 8
    seen = set()
    for low in table.low[:3]:
        if not 0 < low < 2**bits or table.decided(low) is not None:
            continue
        for rest in (1, 2**bits // 3, 2**bits - 2):
            expected = _Cumulative.of(variance, 2 * bits).decided(low << bits | rest)
            if expected is None:
                continue
            given = [low.to_bytes(size, "little"), rest.to_bytes(size, "little"), b"\x00"]
            asked = []

            def source(wanted, given=given, asked=asked):
                asked.append(wanted)
                return given[len(asked) - 1]

            assert _drawn(variance, 1, source, bits).tolist() == [expected]
            assert asked == [size, size, 1]
            seen.add(expected)
    assert seen
