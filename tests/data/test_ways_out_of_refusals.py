"""A message about a record names the ways that its caller has."""

import pytest
from refusals import raises

from mechdesign import InputError
from mechdesign.data.alphabet import Alphabet

UNKNOWN = "or name the label that unknown values are taken for (unknown)"
MISSING = "name the label that missing values are taken for (missing)"


@pytest.mark.parametrize(("record", "way", "otherwise"), [("c", UNKNOWN, "accepted: 'a', 'b'"), ("", MISSING, "leave")])
def test_labels_to_be_named_are_offered_where_they_can_be(record, way, otherwise):
    with pytest.raises(InputError) as offered:
        Alphabet(("a", "b")).codes_of_labels(["a", record])
    assert str(offered.value).endswith(way)
    with pytest.raises(InputError) as refused:
        Alphabet(("a", "b"), replaces=False).codes_of_labels(["a", record])
    assert way not in str(refused.value)
    assert otherwise in str(refused.value)


@pytest.mark.parametrize("code", [-1, 2, 300])
def test_codes_out_of_range_name_the_range(code):
    import numpy as np

    with raises("unknown-label", "records[1]", "to 1"):
        Alphabet(("a", "b")).codes_of_integers(np.array([0, code]))
    taken = Alphabet(("a", "b"), unknown="b").codes_of_integers(np.array([0, code]))
    assert taken.tolist() == [0, 1]
