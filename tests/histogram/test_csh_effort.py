from types import SimpleNamespace

from refusals import raises

from mechdesign.histogram import csh_pair


def test_as_many_pairs_are_looked_at_as_the_limit_says_and_no_more(monkeypatch):
    monkeypatch.setattr(csh_pair, "_MOST_PAIRS", 2)
    pairs = csh_pair.OpenPairs(SimpleNamespace(k=3), lambda new, shared: 0.5, 0.0)
    assert [pairs.bound(1, 2), pairs.bound(2, 1)] == [0.5, 0.5]
    with raises("too-much-work", "k = 3", "than 2"):
        pairs.bound(1, 1)
