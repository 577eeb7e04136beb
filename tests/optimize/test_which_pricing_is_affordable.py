"""Tables serve where they stay within memory, most of which is a bit for every symbol in an entry for many symbols."""

import pytest

import mechdesign as md
from mechdesign.optimize.pricing import pricing_for

SYMBOLS = 3_000


@pytest.mark.parametrize(("total", "method"), [(2_500_000, "tables"), (3_400_000, "search")])
def test_the_bits_of_members_count(total, method):
    each = total // SYMBOLS
    ball = md.L1Ball.from_counts([each + i % 7 for i in range(SYMBOLS)], radius="0.002")
    serving = pricing_for(ball, 1_000.0, md.MutualInformation())
    assert ("tables" in serving.method) == (method == "tables"), serving.method
