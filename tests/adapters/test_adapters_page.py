"""The page of adapters runs from top to bottom, in one process, as far as the packages are installed."""

import importlib.util
from pathlib import Path

import pytest
from markdown_it import MarkdownIt

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "how-to" / "sklearn-sql-polars-opendp.md"
BLOCKS = [token.content for token in MarkdownIt().parse(PAGE.read_text(encoding="utf-8")) if token.type == "fence"]


def test_the_blocks_of_the_page_run(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    for package in ("sklearn", "duckdb", "polars", "opendp"):
        if importlib.util.find_spec(package) is None:
            pytest.skip(f"{package} is not installed")
    for block in BLOCKS:
        exec(compile(block, "page", "exec"), {"__name__": "page"})  # noqa: S102 - our own page
    assert 'LEFT JOIN "mechanism"' in capsys.readouterr().out
