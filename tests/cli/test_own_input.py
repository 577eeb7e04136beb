"""What a command does with its own input as output, and with a comparison that is not certified."""

import pytest

from mechdesign.optimize import Design

COUNTS = "label,count\na,5\nb,3\nc,2\n"


@pytest.fixture
def here(here):
    (here / "counts.csv").write_text(COUNTS)
    return here


def test_the_input_is_not_overwritten(refused, here):
    (here / "other.csv").symlink_to(here / "counts.csv")
    for output in ("counts.csv", "other.csv"):
        refused("same-file", "design", "--counts", "counts.csv", "--epsilon", "1", "--known", "-o", output)
    assert (here / "counts.csv").read_text() == COUNTS


def test_a_comparison_with_an_uncertified_design_has_the_status_of_a_limit(command, monkeypatch):
    arguments = ["compare", "--counts", "counts.csv", "--epsilon", "1", "--known"]
    status, out, _ = command(*arguments)
    assert status == 0
    assert "this design (certified)" in out
    monkeypatch.setattr(Design, "certified", property(lambda self: False))
    status, out, _ = command(*arguments)
    assert status == 3
    assert "NOT certified" in out
