"""Pages about tables say what was proved of them."""

import mechdesign as md
from mechdesign.report import mechanism_page


def test_a_page_says_how_many_records_stay_unchanged_and_that_it_is_the_most():
    found = md.design_table({"a": 50, "b": 30, "c": 20}, 1, known=True)
    page = mechanism_page(found.mechanism)
    assert "the share of records that stay unchanged" in page
    assert f"{found.value:.4g}"[:5] in page
    loss = md.design_table({"a": 50, "b": 30, "c": 20}, 1, known=True, loss=[[0, 1, 2], [1, 0, 1], [2, 1, 0]])
    assert "less is better" in mechanism_page(loss.mechanism)
