import sys

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pytest
from refusals import raises

import mechdesign as md
from mechdesign.data.labels import canonical_label, canonical_labels, default_labels


@pytest.mark.parametrize(
    ("value", "label"),
    [
        ("a", "a"),
        ("?", "?"),
        ("日本", "日本"),
        pytest.param("x" * 1_000, "x" * 1_000, id="1000 characters"),
        (np.str_("b"), "b"),
        (7, "7"),
        (-1, "-1"),
        (np.int32(3), "3"),
        pytest.param(10**999, "1" + "0" * 999, id="1000 digits"),
    ],
)
def test_strings_stay_and_integers_become_text(value, label):
    assert canonical_label(value) == label
    assert type(canonical_label(value)) is str


@pytest.mark.parametrize(
    ("value", "part"),
    [
        ("", "empty"),
        (" spaced", "white space"),
        ("spaced ", "white space"),
        (" ", "white space"),
        ("\u00a0a", "white space"),
        ("a\u2003", "white space"),
        pytest.param("x" * 1_001, "1001 characters", id="1001 characters"),
        pytest.param(10**1_000, "at most 1000", id="1001 digits"),
        pytest.param(10**5_000, "at most 1000", id="5001 digits"),
        ("\ud800", "UTF-8"),
        (1.0, "float"),
        (np.float64(1.0), "float64"),
        (True, "bool"),
        (np.True_, "bool"),
        (None, "NoneType"),
        (b"a", "bytes"),
        (("a",), "tuple"),
    ],
)
def test_what_is_no_label_is_refused(value, part):
    with raises("bad-label") as caught:
        canonical_label(value)
    assert part in str(caught.value)
    assert "accepted: " in str(caught.value) or "; strip it" in str(caught.value)
    assert len(str(caught.value)) < 200


def test_labels_keep_their_order():
    assert canonical_labels(iter(["b", 1, "a"]), 3) == ("b", "1", "a")


@pytest.mark.parametrize("values", [["a", "b", "a"], [1, "x", "1"]])
def test_labels_must_differ(values):
    with raises("label-twice"):
        canonical_labels(values, 3)


@pytest.mark.parametrize("size", [1, 3])
def test_there_must_be_one_label_a_symbol(size):
    with raises("wrong-size", match=f"2 labels for {size} categories"):
        canonical_labels(["a", "b"], size)


def test_one_string_is_no_list_of_labels():
    with raises("wrong-type"):
        canonical_labels("ab", 2)


def test_default_labels_are_numbered_from_one():
    assert default_labels(3) == ("x1", "x2", "x3")
    assert default_labels(2, "y") == ("y1", "y2")
    assert default_labels(0) == ()


@pytest.mark.parametrize("label", ["a\x1b[31m", "two\nlines", "nul\x00", "\x85"])
def test_control_characters_do_not_reach_a_terminal(label):
    with raises("bad-label"):
        canonical_label(label)


@pytest.mark.parametrize("label", [" a", "a ", "\u00a0a", "a\u2003"])
def test_white_space_around_labels_is_refused_wherever_labels_are_given(label):
    """Fields of CSV files are stripped, so records of one symbol would be reported as another."""
    ball = md.L1Ball([0.5, 0.5], radius=2, labels=["a", "b"])
    numerators = np.array([[3, 1], [1, 3]])
    mechanism = md.Mechanism(numerators, 2, md.Guarantee("log(3)", ball), ("a", "b"))
    for make in (
        lambda: canonical_labels([label, "b"], 2),
        lambda: md.L1Ball([0.5, 0.5], labels=[label, "a"]),
        lambda: md.ConvexHull([[0.5, 0.5]], labels=[label, "a"]),
        lambda: md.L1Ball.from_counts({label: 1, "a": 2}, known=True),
        lambda: md.L1Ball.from_samples([label, "a"], known=True),
        lambda: md.Mechanism(numerators, 2, md.Guarantee("log(3)", ball), (label, "a")),
        lambda: mechanism.then({"a": label, "b": "b"}),
    ):
        with raises("bad-label"):
            make()
    for word in ("unknown", "missing"):
        with raises("unknown-label", match=f"{word} values are to be taken for .*, which is not a label"):
            mechanism.privatize(["a"], **{word: label})


def test_labels_are_what_files_keep():
    """Python and Arrow strip the same characters from both ends, so every label survives either reader of CSV."""
    points = [point for point in range(sys.maxunicode + 1) if not 0xD800 <= point < 0xE000]
    texts = ["{0}x{0}".format(chr(point)) for point in points]
    assert pc.utf8_trim_whitespace(pa.array(texts)).to_pylist() == [text.strip() for text in texts]
