"""The page of errors and their codes is what the program says."""

import sys
from pathlib import Path

from refusals import KINDS

DOCS = Path(__file__).parents[2] / "docs"


def test_the_page_is_written_again_the_same(monkeypatch):
    monkeypatch.setattr(sys, "path", [str(DOCS), *sys.path])
    import write_errors

    assert write_errors.page() == (DOCS / "reference" / "errors.md").read_text(encoding="utf-8")
    assert set(write_errors.causes()) == set(KINDS)
