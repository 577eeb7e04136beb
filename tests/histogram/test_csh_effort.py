from types import SimpleNamespace

import pytest

from mechdesign.errors import LimitError
from mechdesign.histogram import csh_pair


def test_as_many_pairs_are_looked_at_as_the_limit_says_and_no_more(monkeypatch):
    monkeypatch.setattr(csh_pair, "_MOST_PAIRS", 2)
    pairs = csh_pair.OpenPairs(SimpleNamespace(k=3), lambda new, shared: 0.5, 0.0)
    assert [pairs.bound(1, 2), pairs.bound(2, 1)] == [0.5, 0.5]
    with pytest.raises(LimitError, match="the exact delta for k = 3 takes more than 2 pairs of neighbours"):
        pairs.bound(1, 1)
