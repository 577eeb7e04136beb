"""The page of new results names every section of the mathematics that has one, and tests that exist."""

import re
from pathlib import Path

DOCS = Path(__file__).parents[2] / "docs"
PAGE = DOCS / "explanation" / "new-results.md"
ROW = re.compile(r"^\| \[[^\]]+\]\(\.\./mathematics\.md#([\w-]+)\) \|[^|]+\| (.+) \|$", re.MULTILINE)


def rows():
    return ROW.findall(PAGE.read_text())


def sections():
    """Return the text under each heading of the mathematics, by its anchor."""
    parts = re.split(r"^## (.*)$", (DOCS / "mathematics.md").read_text(), flags=re.MULTILINE)[1:]
    names = [re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-") for title in parts[::2]]
    return dict(zip(names, parts[1::2], strict=True))


def test_every_section_with_a_new_result_is_on_the_page():
    new = {anchor for anchor, text in sections().items() if re.search(r"\(here\b|\bhere\)|\*\*here\*\*", text)}
    assert len(new) > 10
    assert {anchor for anchor, _ in rows()} >= new


def test_every_test_that_is_named_exists():
    assert len(rows()) == PAGE.read_text().count("../../tests/")
    for _, cell in rows():
        (place,) = re.findall(r"\]\(([^)]+)\)", cell)
        defined = re.findall(r"^def (test_\w+)\(", (PAGE.parent / place).read_text(), re.MULTILINE)
        named = re.findall(r"`(test_\w+)`", cell)
        assert named
        assert set(named) <= set(defined), place


def test_every_counterexample_of_the_errata_is_computed():
    """Each section of the page, but the prose before the first, has a cell."""
    _, *parts = re.split(r"^### ", (DOCS / "explanation" / "errata.md").read_text(), flags=re.MULTILINE)
    for part in parts:
        assert "```{code-cell}" in part, part.splitlines()[0]
