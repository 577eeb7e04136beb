"""The page "Which method runs when" is what the program says."""

import sys
from pathlib import Path

import pytest

from mechdesign.optimize.every_method import METHODS

DOCS = Path(__file__).parents[2] / "docs"
TEXT = (DOCS / "reference" / "methods.md").read_text()


def test_every_method_stands_on_the_page_in_order():
    rows = [line.split("|")[1:4] for line in TEXT.splitlines() if line.startswith("| `")]
    assert [[cell.strip() for cell in row] for row in rows] == [
        [f"`{method.name}`", method.does, "yes" if method.closes else "not always"] for method in METHODS
    ]


@pytest.mark.slow
def test_the_page_is_written_again_the_same(monkeypatch):
    monkeypatch.setattr(sys, "path", [str(DOCS), *sys.path])
    import write_methods

    assert write_methods.page() == TEXT
