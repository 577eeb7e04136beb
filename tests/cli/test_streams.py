"""Standard streams, working folders and memory that fail: one line, a status that says what it says, whole files."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from refusals import without_steps

from mechdesign import Mechanism
from mechdesign.cli.entry_point import run

COUNTS = "level,people\nlow,50\nmiddle,30\n\u03bb\U0001f600,20\n"
DESIGN = ["design", "--counts", "counts.csv", "--epsilon", "1", "--known"]
FULL = Path("/dev/full")
NOT_UTF8 = os.fsdecode(b"c\xff.csv")
needs_full = pytest.mark.skipif(not FULL.exists(), reason="no device that is always full")


@pytest.fixture
def here(here):
    (here / "counts.csv").write_text(COUNTS, encoding="utf-8")
    return here


@pytest.fixture
def program(here):
    """Run the command line in a process of its own, behind a shell that redirects its streams."""

    def run_program(*arguments, redirect="", **environment):
        command = [sys.executable, "-c", "from mechdesign.cli import main; main()", *arguments]
        return subprocess.run(
            ["sh", "-c", f'"$@" {redirect}', "sh", *command],
            capture_output=True,
            check=False,
            cwd=here,
            env=os.environ | environment,
        )

    return run_program


def refusal(done, status=2):
    """Return the one line with which a program ended."""
    lines = without_steps(done.stderr)
    assert (done.returncode, len(lines)) == (status, 1), done.stderr
    assert lines[0].startswith("Error: ")
    return lines[0]


@needs_full
@pytest.mark.parametrize(
    "arguments",
    [
        [*DESIGN, "-o", "m.json"],
        pytest.param([*DESIGN, "--json"], marks=pytest.mark.slow),
        ["--help"],
        pytest.param(["plan", "--help"], marks=pytest.mark.slow),
    ],
    ids=str,
)
def test_standard_output_that_is_full_is_an_error_of_the_place(program, here, arguments):
    done = program(*arguments, redirect="> /dev/full")
    assert "cannot write to standard output: No space left on device" in refusal(done)
    if "-o" in arguments:
        assert Mechanism.load(here / "m.json").proof.holds


@pytest.mark.slow
@needs_full
def test_no_other_failure_has_the_status_of_a_false_guarantee(program):
    assert program("nonsense", redirect="2> /dev/full").returncode == 2
    assert program("design", "absent.toml", redirect="2> /dev/full").returncode == 2
    assert program(*DESIGN, redirect="> /dev/full 2> /dev/full").returncode == 2
    assert program("nonsense", redirect="2>&1 | true; exit 0").returncode == 0  # no trace of it on standard error


@pytest.mark.slow
def test_streams_that_are_closed_are_no_error_and_no_file_takes_their_place(program, here):
    done = program(*DESIGN, "-o", "m.json", redirect="<&- >&- 2>&-")
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")
    assert Mechanism.load(here / "m.json").proof.holds
    assert program("nonsense", redirect="<&- >&- 2>&-").returncode == 2
    code = (
        "import os; from mechdesign.cli.streams import open_closed_streams; open_closed_streams(); "
        "os._exit(os.open(os.devnull, os.O_RDONLY))"
    )
    done = subprocess.run(["sh", "-c", '"$@" <&- >&- 2>&-', "sh", sys.executable, "-c", code], check=False)
    assert done.returncode == 3


@pytest.mark.slow
@pytest.mark.parametrize("encoding", ["ascii", "cp1252"])
def test_labels_that_an_encoding_lacks_are_escaped(program, here, encoding):
    done = program("verify", "absent-\u03bb.json", PYTHONIOENCODING=encoding)
    assert b"absent-\\u03bb.json" in done.stderr
    done = program(*DESIGN, "-o", "\u03bb.json", PYTHONIOENCODING=encoding)
    assert (done.returncode, without_steps(done.stderr)) == (0, [])
    assert "\\u03bb.json" in done.stdout.decode(encoding)
    assert Mechanism.load(here / "\u03bb.json").inputs[2] == "\u03bb\U0001f600"
    done = program(*DESIGN, "--json", PYTHONIOENCODING=encoding)
    assert json.loads(done.stdout.decode("ascii"))["inputs"][2] == "\u03bb\U0001f600"


def test_json_is_utf8_where_output_is_and_escapes_what_is_not(here, capfdbinary):
    Path("counts.csv").rename(NOT_UTF8)
    arguments = ["design", "--counts", NOT_UTF8, "--epsilon", "1", "--known"]
    assert run([*arguments, "--json"]) == 0
    record = json.loads(capfdbinary.readouterr().out.decode("utf-8"))
    assert record["title"] == "c\\udcff.csv"
    assert record["inputs"][2] == "\u03bb\U0001f600"
    assert run([*arguments, "--json", "-o", os.fsdecode(b"m\xff.json")]) == 0
    out = capfdbinary.readouterr().out.decode("utf-8")
    assert json.loads(out)["output"] == os.fsdecode(b"m\xff.json")
    Path(NOT_UTF8).rename("counts.csv")
    assert run([*DESIGN, "--json"]) == 0
    assert '"\u03bb\U0001f600"' in capfdbinary.readouterr().out.decode("utf-8")


def test_a_file_name_that_is_not_utf8_or_long_is_a_title_that_files_hold(program, here):
    Path("counts.csv").rename(NOT_UTF8)
    done = program("compare", "--counts", NOT_UTF8, "--epsilon", "1", "--known", LC_ALL="C.UTF-8")
    assert done.returncode == 0
    assert done.stdout.decode("utf-8").startswith("c\\udcff.csv\n")
    assert run(["design", "--counts", NOT_UTF8, "--epsilon", "1", "--known", "-o", "m.json"]) == 0
    assert Mechanism.load("m.json").provenance.problem == "c\\udcff.csv"
    assert run(["design", "--counts", "./" * 1_500 + NOT_UTF8, "--epsilon", "1", "--known", "-o", "m.json"]) == 0
    assert len(Mechanism.load("m.json").provenance.problem) == 1_003


def test_a_working_folder_that_is_gone_is_named(program, here):
    (here / "gone").mkdir()
    program_ = "from mechdesign.cli import main; main()"
    # Without -P the interpreter itself fails: Python 3.13.0 asks for the folder when a module lacks an attribute.
    command = ["sh", "-c", 'cd gone && rmdir ../gone && "$@"', "sh", sys.executable, "-P", "-c", program_]
    source = [str(here / path) if path == "counts.csv" else path for path in DESIGN]
    done = subprocess.run([*command, *source, "-o", "m.json"], capture_output=True, check=False, cwd=here)
    assert "working folder" in refusal(done)


def failing(error):
    def fail(*_, **__):
        raise error

    return fail


@pytest.mark.parametrize(
    ("error", "status", "part"),
    [
        (MemoryError(), 3, "out of memory"),
        (OSError(5, "Input/output error", "f\x1b.csv"), 2, "cannot use f\\x1b.csv: Input/output error"),
        (OSError(5, "Input/output error"), 2, "cannot use a file: Input/output error"),
        (BrokenPipeError(32, "Broken pipe"), 0, ""),
    ],
)
def test_what_the_system_refuses_is_one_line(here, capsys, monkeypatch, error, status, part):
    monkeypatch.setattr("mechdesign.cli.design.design", failing(error))
    assert run(DESIGN) == status
    captured = capsys.readouterr()
    assert captured.out == ""
    assert part in captured.err
    assert captured.err.count("\n") == (1 if part else 0)


def test_every_error_of_click_is_bad_input(capsys, monkeypatch):
    import click

    for error in (click.ClickException("no"), click.FileError("f"), click.UsageError("no"), click.BadParameter("no")):
        monkeypatch.setattr(click.Group, "main", failing(error))
        assert run([]) == 2
        assert capsys.readouterr().err.startswith("Error: ")
    monkeypatch.setattr(click.Group, "main", failing(click.Abort()))
    assert run([]) == 3


def test_what_stands_in_a_message_is_printed_with_escapes(here, capsys):
    assert run(["design", "a.toml", "--counts", "b\x1b[2J\n", "--column", "x"]) == 2
    assert run(["histogram", "discrete", "counts.csv", "--plan", "--no\x1b[2J\n"]) == 2
    assert run(["histogram", "laplace", "\x1b[2J\n", "-o", "\x1b[2J\n", "--epsilon", "1"]) == 2
    err = capsys.readouterr().err
    assert err.count("\n") == 3
    assert "\x1b" not in err


def test_streams_are_given_back(here, capsys):
    before = sys.stdout, sys.stderr
    assert run(["--version"]) == 0
    assert (sys.stdout, sys.stderr) == before
    sys.stdout.write("still open\n")
    assert capsys.readouterr().out.endswith("still open\n")


@pytest.mark.sampled
@pytest.mark.parametrize("columns", ["0", "1", "20"])
def test_a_terminal_that_is_too_narrow_loses_no_text(here, capsys, monkeypatch, columns):
    monkeypatch.setenv("COLUMNS", columns)
    assert run(["compare", "--counts", "counts.csv", "--epsilon", "1", "--known"]) == 0
    assert "estimation-error" in capsys.readouterr().out
    assert run(DESIGN) == 0
    assert "proved in exact arithmetic" in " ".join(capsys.readouterr().out.split())
