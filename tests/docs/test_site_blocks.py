"""Every block of every page of the site runs, in the order of its page and in a scratch folder.

Cells run again when the site is built, by Jupyter. Here they are read as Jupyter reads them as far as the pages need
it: `!command`, `%matplotlib inline`, `%%writefile` and the tag `raises-exception`. Pages are marked as
`on_site` where the build runs every block and notices every failure: `.ci/run` leaves them to it.
"""

import functools
import os
import re
import shutil
import subprocess
import sys
from contextlib import nullcontext
from pathlib import Path

import pytest
from markdown_it import MarkdownIt
from pygments.lexers import PythonLexer
from pygments.token import Error

ROOT = Path(__file__).parents[2]
PAGES = sorted(
    path
    for path in (ROOT / "docs").rglob("*.md")
    if not {"_build", "jupyter_execute"}.intersection(path.relative_to(ROOT).parts)
)
CELL = "{code-cell}"
SHELL = ("console", "sh")
# What a block may be marked as without being run: output, files and records, formulas.
SHOWN = ("", "bibtex", "csv", "html", "json", "r", "text", "toml", "yaml")
ELSEWHERE = {
    "docs/engines.md": "tests/engines/test_recipes.py",
    "docs/file-format.md": "tests/docs/test_documents.py",
    "docs/how-to/sklearn-sql-polars-opendp.md": "tests/adapters/test_adapters_page.py",
}
# Programs of pages that an environment for tests may lack, and what succeeds where they have all that pages need.
OTHERS = {"node": ("--version",), "Rscript": ("-e", "library(jsonlite)")}
# Pages that take longer than three seconds: these, and those that start the program.
SLOW = (
    "docs/explanation/errata.md",
    "docs/explanation/sets-of-priors.md",
    "docs/explanation/windows-or-a-matrix.md",
    "docs/explanation/why-a-convex-maximum-can-be-certified.md",
    "docs/how-to/choose-a-utility.md",
    "docs/tutorials/education-of-adult.md",
    "docs/tutorials/what-samples-are-worth.md",
)
FEW = 0


@functools.cache
def blocks(path):
    """Return the marks and the contents of the blocks of a page."""
    text = re.sub(r"\A---\n.*?\n---\n", "", path.read_text(encoding="utf-8"), flags=re.DOTALL)
    return [(token.info.strip(), token.content) for token in MarkdownIt().parse(text) if token.type == "fence"]


def kind(mark):
    return mark.split()[0] if mark else ""


def name_of(path):
    return path.relative_to(ROOT).as_posix()


def ran(path):
    return [(kind(mark), content) for mark, content in blocks(path) if kind(mark) in (CELL, "python", *SHELL)]


def is_slow(path):
    starts = sum(len(re.findall(r"^(?:!|\$ )?mechdesign ", content, re.MULTILINE)) for _, content in ran(path))
    return name_of(path) in SLOW or starts > FEW


def is_on_site(path):
    """Whether the build of the site runs all blocks; it does not mind where a cell that should raise does not."""
    text = path.read_text(encoding="utf-8")
    notebook = text.startswith("---\nfile_format: mystnb\n")
    return notebook and "raises-exception" not in text and all(mark == CELL for mark, _ in ran(path))


def marks_of(path):
    return [pytest.mark.slow] * is_slow(path) + [pytest.mark.on_site] * is_on_site(path)


def runs(program, *arguments):
    if shutil.which(program) is None:
        return False
    return subprocess.run([program, *arguments], check=False, capture_output=True).returncode == 0


@pytest.fixture
def shell(tmp_path, monkeypatch):
    """Run a command as a reader would, in the scratch folder; return what it prints."""
    (tmp_path / "bin").mkdir()
    for name, start in (("mechdesign", f"{sys.executable} -m mechdesign"), ("python", sys.executable)):
        (tmp_path / "bin" / name).write_text(f'#!/bin/sh\nexec {start} "$@"\n')
        (tmp_path / "bin" / name).chmod(0o755)
    (tmp_path / "room").mkdir()
    monkeypatch.chdir(tmp_path / "room")
    ours = {"CHECKOUT": str(ROOT), "COLUMNS": "78", "NO_COLOR": "1", "PYTHONPATH": str(ROOT), "PYTHONUTF8": "1"}
    for name, value in ours.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}:{os.environ['PATH']}")

    def run(command, *, check=True):
        done = subprocess.run(["bash", "-c", command], capture_output=True, text=True, check=False)
        assert done.returncode == 0 or not check, f"{command}\n{done.stdout}{done.stderr}"
        return done.stdout + done.stderr

    return run


def run_console(content, shell):
    """Run the commands of a block, and look in what they print for every line that the page shows below them."""
    for part in re.split(r"^\$ ", content, flags=re.MULTILINE)[1:]:
        command = re.match(r"(?:.*\\\n)*.*", part)[0]
        printed = [" ".join(line.split()) for line in shell(command, check=False).splitlines()]
        for line in part[len(command) :].splitlines():
            assert " ".join(line.split()) in ["", "...", *printed], f"{line!r} is not printed by {command}: {printed}"


def run_python(code, names):
    exec(compile(code, "page", "exec"), names)  # noqa: S102 - our own pages


def run_cell(content, names, shell):
    """Run a cell as Jupyter would."""
    options = re.match(r"(?s:---\n.*?---\n)|(?::[a-z-]+:.*\n)*", content)[0]
    code = content[len(options) :].lstrip("\n")
    if written := re.match(r"%%writefile (\S+)\n", code):
        Path(written[1]).write_text(code[written.end() :])
        return
    code = code.removeprefix("%matplotlib inline\n").lstrip("\n")
    names |= {"display": repr, "_shell": shell}
    code = re.sub(r"^( *)!((?:.*\\\n)*.*)$", lambda found: f"{found[1]}_shell({found[2]!r})", code, flags=re.MULTILINE)
    with pytest.raises(Exception) if "raises-exception" in options else nullcontext():  # noqa: PT011 - whatever it is
        run_python(code, names)


@pytest.mark.sampled
@pytest.mark.parametrize(
    "path",
    [
        pytest.param(path, id=name_of(path), marks=marks_of(path))
        for path in PAGES
        if ran(path) and name_of(path) not in ELSEWHERE
    ],
)
def test_the_blocks_of_a_page_run(path, shell):
    text = "".join(content for _, content in ran(path))
    for program, needed in OTHERS.items():
        if re.search(rf"\b{program} ", text) and not runs(program, *needed):
            pytest.skip(f"the page runs {program}, which is not installed: {program} {' '.join(needed)} fails")
    names = {"__name__": "__main__"}
    for mark, content in ran(path):
        if mark == CELL:
            run_cell(content, names, shell)
        elif mark == "python":
            run_python(content, names)
        elif mark == "console":
            run_console(content, shell)
        else:
            shell(content)


@pytest.mark.parametrize("path", PAGES, ids=name_of)
def test_no_block_is_left_out(path):
    """A block with another mark would be shown as code, and run by nothing."""
    marks = {kind(mark) for mark, _ in blocks(path)}
    known = {mark for mark in marks if mark in (CELL, "python", *SHELL, *SHOWN)}
    assert all(mark.startswith("{") for mark in marks - known), marks - known
    if name_of(path) in ELSEWHERE:
        assert path.name in (ROOT / ELSEWHERE[name_of(path)]).read_text()


@pytest.mark.parametrize("path", PAGES, ids=name_of)
def test_a_pasted_block_asks_for_no_variable_of_ours(path):
    for mark, content in blocks(path):
        if kind(mark) in (CELL, "python", *SHELL):
            without = content.replace("${CHECKOUT:-.}", "").replace("process.env.CHECKOUT || process.cwd()", "")
            assert "CHECKOUT" not in without, content


def uncoloured(content):
    """Return what Python's colours of code do not know, which ends the build of the site; shell lines are left out."""
    code = re.sub(r"^ *(!(.*\\\n)*.*|%.*)$", "", content, flags=re.MULTILINE)
    return [text for kind_of, text in PythonLexer().get_tokens(code) if kind_of in Error]


@pytest.mark.parametrize("path", PAGES, ids=name_of)
def test_cells_can_be_coloured(path):
    assert [found for mark, content in blocks(path) if kind(mark) == CELL for found in uncoloured(content)] == []


def test_what_cannot_be_coloured_is_noticed():
    assert uncoloured("%%writefile a.R\nx <- y$z\n") == ["$"]
    assert uncoloured("!echo $HOME `ls` \\\n  $x\nx = 1\n") == []


@pytest.mark.parametrize("path", PAGES, ids=name_of)
def test_every_console_block_has_a_command_first(path):
    for mark, content in blocks(path):
        if kind(mark) == "console":
            assert content.startswith("$ "), content


def test_a_line_that_is_not_printed_is_noticed(shell):
    run_console("$ printf 'one  two\\nthree\\n'\none two\n...\n", shell)
    with pytest.raises(AssertionError, match="'four' is not printed by"):
        run_console("$ printf 'one\\n'\nfour\n", shell)


def test_a_cell_is_run_as_jupyter_runs_it(shell):
    names = {}
    run_cell("%%writefile counts.csv\nlabel,count\na,3\n", names, shell)
    run_cell(":tags: [raises-exception]\n\nraise ValueError\n", names, shell)
    run_cell("!cat counts.csv \\\n  > copy.csv\nx = 3\n", names, shell)
    assert names["x"] == 3
    assert Path("copy.csv").read_text() == "label,count\na,3\n"
    with pytest.raises(ZeroDivisionError):
        run_cell("---\ntags: [hide-input]\n---\n1 / 0\n", names, shell)
