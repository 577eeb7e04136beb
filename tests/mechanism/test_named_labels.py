from mechdesign.mechanism.composition import _some


def test_five_labels_are_named_and_the_others_counted():
    assert _some(list("abcde")) == "'a', 'b', 'c', 'd', 'e'"
    assert _some(list("abcdef")) == "'a', 'b', 'c', 'd', 'e' and 1 more"
    assert _some(list("abcdefgh")) == "'a', 'b', 'c', 'd', 'e' and 3 more"
