"""Tables serve where they stay within memory, most of which is a bit for every addition in an entry for many counts."""

import pytest

import mechdesign as md
from mechdesign.optimize.pricing import pricing_for

SYMBOLS = 2_000


@pytest.mark.parametrize(("total", "method"), [(3_500_000, "tables"), (4_200_000, "search")])
def test_the_bits_of_members_count(total, method):
    ball = md.L1Ball.from_counts([*range(1, SYMBOLS), total - SYMBOLS * (SYMBOLS - 1) // 2], radius="0.002")
    serving = pricing_for(ball, 1_000.0, md.MutualInformation())
    assert ("tables" in serving.method) == (method == "tables"), serving.method


def test_equal_counts_are_added_together():
    """As many symbols as would take a gigabyte of bits one by one."""
    ball = md.L1Ball.from_counts([1_200 + i % 7 for i in range(3_000)], radius="0.002")
    assert "tables" in pricing_for(ball, 1_000.0, md.MutualInformation()).method
