"""What the documents say of files, links and code is so."""

import ast
import json
import re
import tomllib
from pathlib import Path

import pytest
from markdown_it import MarkdownIt

import mechdesign as md
from mechdesign.cli.commands import commands
from mechdesign.sweeps import read_sweep

ROOT = Path(__file__).parents[2]
TOP = ("README.md", "CONTRIBUTING.md", "SECURITY.md")
PAGES = [path for path in sorted((ROOT / "docs").rglob("*.md")) if "_build" not in path.parts]
DOCUMENTS = [*(ROOT / name for name in TOP), *PAGES]


def blocks(name, language):
    tokens = MarkdownIt().parse((ROOT / name).read_text())
    return [token.content for token in tokens if token.type == "fence" and token.info == language]


def anchors(path):
    """Return the anchors of the headings as GitHub makes them."""
    titles = re.findall(r"^#+ (.*)$", path.read_text(), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-") for title in titles}


@pytest.mark.parametrize("path", DOCUMENTS, ids=lambda path: path.relative_to(ROOT).as_posix())
def test_every_link_leads_somewhere(path):
    text = path.read_text()
    links = re.findall(r"\]\(([^)\s]+)\)", text)
    assert links or "```{toctree}" in text
    for link in links:
        place, _, anchor = link.partition("#")
        if place.startswith("https:"):
            assert re.fullmatch(r"https://doi\.org/10\.\d{4,}/\S+", link), link
            continue
        target = (path.parent / place).resolve() if place else path
        assert target.exists(), link
        assert target.is_relative_to(ROOT), link
        if anchor:
            assert anchor in anchors(target), link


def test_people_read_of_categories():
    """Alphabets are for the mathematics; arguments and keys of files have the names that they had."""
    folders = ("how-to", "tutorials")
    pages = [
        path for path in DOCUMENTS if path.parent.name in folders or path.parent in {ROOT, ROOT / "docs/reference"}
    ]
    told = {path: path.read_text().replace("alphabets", "") for path in pages}
    for path in (ROOT / "mechdesign").rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Call) and re.search("option|Error", ast.dump(node.func)):
                told[f"{path}:{node.lineno}"] = " ".join(
                    part.value
                    for part in ast.walk(node)
                    if isinstance(part, ast.Constant) and isinstance(part.value, str)
                ).replace("alphabets", "")
    for command in commands.commands.values():
        told[command.name] = command.help
    assert [place for place, text in told.items() if "alphabet" in text.lower()] == []


@pytest.mark.parametrize("path", DOCUMENTS, ids=lambda path: path.relative_to(ROOT).as_posix())
def test_every_table_has_its_columns(path):
    parsed = MarkdownIt().enable("table").parse(path.read_text())
    for table in (token for token in parsed if token.type == "inline" and token.content.startswith("|")):
        pytest.fail(f"not a table: {table.content[:80]}")


def described_folders():
    """Return the files that the architecture lists for each folder, by the folder."""
    text = (ROOT / "docs" / "architecture.md").read_text().split("## Every file")[1].split("\n## ")[0]
    parts = re.split(r"^### (\S+)$", text, flags=re.MULTILINE)[1:]
    return {
        folder: re.findall(r"^- `([^`]+)`: \S", body, re.MULTILINE)
        for folder, body in zip(parts[::2], parts[1::2], strict=True)
    }


def test_the_architecture_lists_every_file_of_every_folder_once():
    tree = {}
    for path in sorted((ROOT / "mechdesign").rglob("*.py")):
        tree.setdefault(path.parent.relative_to(ROOT).as_posix(), []).append(path.name)
    described = described_folders()
    assert set(described) == set(tree)
    for folder, names in described.items():
        assert names == sorted(tree[folder]), folder


def test_the_layers_are_those_that_are_kept():
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["importlinter"]["contracts"]
    layers = next(contract["layers"] for contract in settings if contract["type"] == "layers")
    kept = [sorted(re.split(r"\s*[|:]\s*", layer)) for layer in layers if layer != "__main__"]
    known = {name for layer in kept for name in layer}
    shown = [
        sorted(known.intersection(re.findall(r"(?:^|  |, )([a-z_]+)(?=,|  |$)", line)))
        for line in blocks("docs/architecture.md", "text")[0].splitlines()
    ]
    assert shown == kept


@pytest.mark.parametrize("path", DOCUMENTS, ids=lambda path: path.relative_to(ROOT).as_posix())
def test_every_module_and_test_that_is_named_exists(path):
    for name in re.findall(r"`((?:[a-z_]+/)+[a-z_]+\.py)`", path.read_text()):
        assert (ROOT / name).exists() or (ROOT / "mechdesign" / name).exists(), name


def test_the_mechanism_file_that_is_shown_is_one_and_its_reader_reports(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (shown,) = blocks("docs/file-format.md", "json")
    Path("mechanism.json").write_text(shown)
    mechanism = md.Mechanism.load("mechanism.json")
    assert mechanism.proof.holds
    reader, _ = blocks("docs/file-format.md", "python")
    names = {}
    exec(compile(reader, "file-format.md", "exec"), names)  # noqa: S102 - our own document
    draws = iter(range(4))
    monkeypatch.setattr("secrets.randbits", lambda bits: next(draws))
    assert [names["report"]("yes") for _ in range(4)] == ["no", "yes", "yes", "yes"]
    assert json.loads(shown)["numerators"][1] == [1, 3]


SHOWN = blocks("docs/file-format.md", "toml")


@pytest.mark.parametrize("source", [source for source in SHOWN if "[[source]]" not in source])
def test_the_problem_files_that_are_shown_are_designed(source, tmp_path):
    (tmp_path / "problem.toml").write_text(source)
    design = md.design(md.read_problem(tmp_path / "problem.toml").problem)
    assert design.certified


def test_the_sweep_file_that_is_shown_runs(tmp_path):
    (source,) = (source for source in SHOWN if "[[source]]" in source)
    (tmp_path / "sweep.toml").write_text(source)
    found = read_sweep(tmp_path / "sweep.toml").run()
    assert len(found) == 2 * 2 * 3
    assert not found.failures


def test_the_table_of_a_sweep_has_the_columns_that_are_described():
    text = (ROOT / "docs" / "file-format.md").read_text()
    described = text.partition("| column of the table | holds |")[2].partition("Rows are the same")[0]
    names = [
        name
        for line in described.splitlines()
        for name in re.findall(r"`(\w+)`", line.split("|")[1:2][0] if "|" in line else "")
    ]
    assert sorted(names) == sorted(md.sweep([]).columns())


def test_the_bibliography_is_that_of_the_citation_file():
    cited = (ROOT / "CITATION.cff").read_text()
    (entries,) = blocks("docs/mathematics.md", "bibtex")
    for title in re.findall(r"^\s+title +=? ?\{(.+)\},$", entries, re.MULTILINE):
        assert title.replace("{", "").replace("}", "") in cited, title
    for doi in re.findall(r"doi +=? ?\{(.+)\}", entries):
        assert doi in cited
