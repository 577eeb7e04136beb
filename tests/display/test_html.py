"""HTML for notebooks: nothing in it is obeyed, and long tables say what they leave out."""

from html.parser import HTMLParser

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mechdesign.display.html import MOST_COLUMNS, MOST_ROWS, cell, cut, facts, table, text

HOSTILE = ["<script>alert(1)</script>", "\" onmouseover='x'", "&amp;", "a\x00b", "\u202eevil", "]]>", "<!--"]
TAGS = {"table", "caption", "thead", "tbody", "tr", "th", "td", "data", "div"}
ATTRIBUTES = {"style", "scope", "colspan", "value"}


class Reader(HTMLParser):
    """Collects tags, attributes, texts and the numbers in ``data`` elements, and checks that tags are closed."""

    def __init__(self, source):
        super().__init__()
        self.tags, self.attributes, self.texts, self.numbers, self.open = set(), set(), [], [], []
        self.feed(source)
        self.close()
        assert not self.open

    def handle_starttag(self, tag, attrs):
        self.tags.add(tag)
        self.attributes |= {name for name, _ in attrs}
        self.numbers += [value for name, value in attrs if name == "value"]
        self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.texts.append(data)


@pytest.mark.parametrize("label", HOSTILE)
def test_texts_are_escaped_wherever_they_stand(label):
    for shown in (facts([(label, label)], label), table([label, label], [[label, label]], label)):
        read = Reader(shown)
        assert read.tags <= TAGS
        assert read.attributes <= ATTRIBUTES
        assert "\x00" not in shown
        assert "\u202e" not in shown
    assert "<" not in text(label)
    assert '"' not in text(label)


def test_nothing_is_asked_from_anywhere_and_colours_are_those_of_the_page():
    shown = facts([("a", 1.0)], "t") + table(["a", "b"], [["x", 2]], "c")
    for word in ("http", "url(", "src", "href", "script", "#", "rgb", "color:w", "color:b"):
        assert word not in shown


@given(st.integers(0, 200), st.integers(1, 40))
def test_a_long_list_keeps_both_ends_and_says_how_much_is_left_out(size, most):
    places, hidden = cut(size, most)
    shown = [place for place in places if place is not None]
    assert len(shown) + hidden == size
    assert len(shown) <= most
    assert shown == sorted(set(shown))
    if size:
        assert shown[0] == 0
    if size and most > 1:
        assert shown[-1] == size - 1
    assert (None in places) == (hidden > 0)


def test_a_long_and_wide_table_says_what_it_leaves_out():
    rows = [[f"x{i}", *range(100)] for i in range(1000)]
    shown = table([f"c{j}" for j in range(101)], rows)
    assert f"{1000 - MOST_ROWS} of 1,000 rows are not shown" in shown
    assert f"{101 - MOST_COLUMNS} of 100 columns are not shown" in shown
    assert len(shown) < 90_000
    assert "not shown" not in table(["a"], [["x"]])


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_a_number_is_held_in_full_beside_its_rounded_form(number):
    read = Reader(cell(number))
    assert [float(value) for value in read.numbers] == [number]
    assert float(read.texts[0]) == pytest.approx(number, rel=1e-5, abs=0)


def test_other_values():
    assert cell(np.float64(0.5)) == cell(0.5)
    assert cell(np.int64(7)) == '<data value="7">7</data>'
    assert (cell(True), cell(False), cell(None)) == ("yes", "no", "")
    assert (cell(float("-inf")), cell(float("nan"))) == ("-infinite", "not a number")
