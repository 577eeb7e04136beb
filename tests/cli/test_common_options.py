"""What every command has: quiet, verbose, version, completion, colours only where they are wanted, tables that fit."""

import ast
import contextlib
import json
import re
import shutil
from pathlib import Path

import click
import pytest
from refusals import raises

import mechdesign as md
from mechdesign.cli.commands import commands
from mechdesign.cli.entry_point import run
from mechdesign.cli.output import print_facts, print_table

ESCAPE = "\x1b["


def every_command(command=commands, path=()):
    yield path, command
    for name, inner in getattr(command, "commands", {}).items():
        yield from every_command(inner, (*path, name))


COMMANDS = dict(every_command())
paths = pytest.mark.parametrize("path", COMMANDS, ids=lambda path: "-".join(path) or "mechdesign")


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """A folder with counts, records, a mechanism for them and reports."""
    folder = tmp_path_factory.mktemp("made")
    (folder / "counts.csv").write_text("label,count\nnever,812\nformer,150\ncurrent,38\n")
    (folder / "records.csv").write_text("answer\n" + "never\nformer\ncurrent\n" * 20)
    with contextlib.chdir(folder):
        assert run(["design", "--counts", "counts.csv", "--epsilon", "1", "--known", "-o", "m.json"]) == 0
        private = ["privatize", "records.csv", "--column", "answer", "--mechanism", "m.json", "-o", "reports.csv"]
        assert run(private) == 0
    return folder


@pytest.fixture
def files(command, made, tmp_path):
    for file in made.iterdir():
        shutil.copy(file, tmp_path)
    return command


DESIGN = ("--counts", "counts.csv", "--epsilon", "1", "--known")
PRIVATIZE = ("privatize", "records.csv", "--column", "answer", "--mechanism", "m.json")
ESTIMATE = ("estimate", "reports.csv", "--column", "answer", "--mechanism", "m.json")
RUNS = {
    "design": ("design", *DESIGN),
    "design and compare": ("design", *DESIGN, "--compare"),
    "table": ("table", *DESIGN),
    "methods": ("methods", *DESIGN),
    "verify": ("verify", "m.json"),
    "compare": ("compare", *DESIGN),
    "compare errors": ("compare", *DESIGN, "--utility", "estimation-error"),
    "compare the least": ("compare", *DESIGN, "--utility", "worst-case-mutual-information"),
    "plan": ("plan", "--categories", "20", "--samples", "10000", "--epsilon", "1.6", "--delta", "1e-5"),
    "plan reports": ("plan", *DESIGN, "--reports", "1000"),
    "privatize": (
        "privatize",
        "records.csv",
        "--column",
        "answer",
        "--mechanism",
        "m.json",
        "-o",
        "r.csv",
        "--overwrite",
    ),
    "estimate": ESTIMATE,
    "audit": ("audit", "m.json", "--samples", "3000"),
    "analyze": ("analyze", "m.json"),
    "report": ("report", "m.json", "-o", "r.html", "--no-compare"),
    "histogram": ("histogram", "discrete", "--plan", "-k", "3", "--epsilon", "1", "--delta", "1e-6", "--sigma", "9"),
}
SLOW = ("design", "audit", "plan", "plan reports", "estimate")  # their pictures
runs = pytest.mark.parametrize("run", RUNS)
few_long_runs = pytest.mark.parametrize(
    "run",
    [pytest.param(x, marks=pytest.mark.slow if x in {"compare errors", "design and compare"} else ()) for x in RUNS],
)


@paths
def test_every_command_has_the_options_once(path):
    options = [option for parameter in COMMANDS[path].params for option in (*parameter.opts, *parameter.secondary_opts)]
    assert len(options) == len(set(options))
    assert {"-q", "--quiet", "--verbose", "-V", "--version"} <= set(options)


@paths
def test_every_command_shows_its_version(command, path):
    for option in ("-V", "--version"):
        assert command(*path, option)[:2] == (0, f"mechdesign, version {md.__version__}\n")


@paths
def test_every_help_fits_its_terminal(path, monkeypatch):
    for width in (60, 80, 120, 200):
        monkeypatch.setenv("COLUMNS", str(width))
        context = click.Context(COMMANDS[path], info_name=" ".join(("mechdesign", *path)), max_content_width=110)
        for line in COMMANDS[path].get_help(context).splitlines():
            # Examples are not wrapped, so that they can be copied.
            assert len(line) <= max(width, 80), line


@paths
def test_helps_call_a_category_a_category(path):
    """Not a symbol, and not a label: that is an option's name for a text, or a class in training."""
    text = COMMANDS[path].get_help(click.Context(COMMANDS[path]))
    assert not re.findall(r"\bsymbols?\b(?!=)|\bLABEL\b|label and count", text)


@pytest.mark.sampled
@runs
def test_a_quiet_command_prints_nothing_and_does_the_same(files, run):
    assert files(*RUNS[run], "-q") == (0, "", "")


def test_quiet_leaves_data_json_and_errors(files):
    status, out, err = files("design", *DESIGN, "-o", "-", "-q")
    assert (status, err) == (0, "")
    assert json.loads(out)["bits"] == 48
    assert json.loads(files("verify", "m.json", "-q", "--json")[1])["holds"] is True
    status, out, err = files("verify", "absent.json", "--quiet")
    assert (status, out) == (2, "")
    assert err.startswith("Error:")
    assert files("-q", "verify", "m.json") == (0, "", "")


def test_verbose_prints_each_step_at_once(files):
    status, _, err = files("verify", "m.json", "--verbose")
    assert status == 0
    assert [line.split(" s  ")[1] for line in err.splitlines()] == [
        "proving the guarantee in exact arithmetic",
        "computing the bound from the dual vector",
    ]
    assert files("verify", "m.json")[2] == ""


@pytest.mark.parametrize("given", [("verify", "m.json", "-q", "--verbose"), ("-q", "verify", "m.json", "--verbose")])
@pytest.mark.usefixtures("files")
def test_quiet_and_verbose_do_not_go_together(refused, given):
    refused("usage", *given, shown="give one of them")


@pytest.mark.parametrize(
    ("given", "shown"),
    [
        (("design", *DESIGN, "--epsilon", "2"), "--epsilon is given 2 times; give it once"),
        (("design", *DESIGN, "--cap", "2", "--cap", "3"), "--cap is given 2 times"),
        (("design", *DESIGN, "--cap=2", "--cap=2", "--cap=2"), "--cap is given 3 times"),
        (("design", "counts.csv", "--by", "a", "--cover", "--no-cover"), "--cover/--no-cover is given 2 times"),
        (("privatize", *PRIVATIZE[1:], "-o", "r.csv", "--output", "s.csv"), "--output is given 2 times"),
        (("histogram", "discrete", "--plan", "--epsilon", "1", "--epsilon", "2"), "--epsilon is given 2 times"),
    ],
)
@pytest.mark.usefixtures("files")
def test_no_option_is_given_twice(refused, given, shown):
    refused("usage", *given, shown=shown)


def test_flags_and_lists_may_be_repeated(files):
    assert files("verify", "m.json", "-q", "-q") == (0, "", "")
    status, out, _ = files("table", *DESIGN, "--floor-of", "never", "0.1", "--floor-of", "former", "0.1")
    assert status == 0, out


@pytest.mark.sampled
@few_long_runs
def test_colours_only_where_they_are_wanted(files, run, monkeypatch):
    for name in ("NO_COLOR", "FORCE_COLOR", "TERM"):
        monkeypatch.delenv(name, raising=False)
    assert ESCAPE not in "".join(files(*RUNS[run])[1:])  # not a terminal
    monkeypatch.setenv("FORCE_COLOR", "1")
    assert ESCAPE in "".join(files(*RUNS[run])[1:])
    monkeypatch.setenv("NO_COLOR", "1")
    assert ESCAPE not in "".join(files(*RUNS[run])[1:])
    monkeypatch.setenv("NO_COLOR", "")  # as good as not set
    assert ESCAPE in "".join(files(*RUNS[run])[1:])
    monkeypatch.setenv("TERM", "dumb")
    assert ESCAPE not in "".join(files(*RUNS[run])[1:])


@pytest.mark.sampled
@few_long_runs
def test_no_number_is_cut_or_wrapped(files, run, monkeypatch):
    monkeypatch.setenv("COLUMNS", "1000")
    wide = files(*RUNS[run])[1] if run not in {"privatize", "audit"} else ""
    numbers = {word for word in wide.replace("│", " ").split() if word.replace(".", "").replace(",", "").isdigit()}
    for width in (40, 80, 120):
        monkeypatch.setenv("COLUMNS", str(width))
        narrow = files(*RUNS[run])[1]
        told = narrow.replace("│", " ").split()
        assert "…" not in narrow, width
        for number in numbers - {word for word in wide.split() if "e-" in word}:
            if run not in {"design", "design and compare"}:  # which tell seconds, too
                assert number in told, (number, width)


def test_a_table_takes_the_width_there_is(capsys, monkeypatch):
    columns = ["mechanism", "value (nats)", "respondents for the same error"]
    rows = [
        ["a name of a mechanism that is rather long, so that it is folded", "0.0958195", "123,456,789 times as many"]
    ]
    for width in (40, 60, 80, 120):
        monkeypatch.setenv("COLUMNS", str(width))
        print_table(columns, rows, title="a title")
        shown = capsys.readouterr().out
        assert "0.0958195" in shown
        assert "123,456,789 times as many" in shown
        lines = shown.splitlines()
        assert max(map(len, lines[1:])) <= max(width, 16 + 9 + 25 + 10)
    assert len(lines) == 6  # at 120 columns nothing is folded


def test_facts_stand_below_each_other_on_a_narrow_terminal(capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "40")
    print_facts([("guarantee", "PML with epsilon = 1 for every prior near the estimate"), ("gap", "1e-9")])
    shown = capsys.readouterr().out
    assert shown.splitlines() == [
        "guarantee",
        "  PML with epsilon = 1 for every prior",
        "  near the estimate",
        "gap",
        "  1e-9",
    ]


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_shells_complete_commands_and_options(shell, command, capsys, monkeypatch):
    def asked(instruction, words="", last=""):
        monkeypatch.setenv("_MECHDESIGN_COMPLETE", f"{shell}_{instruction}")
        monkeypatch.setenv("COMP_WORDS", words)
        monkeypatch.setenv("COMP_CWORD", last if shell == "fish" else str(len(words.split()) - 1))
        with pytest.raises(SystemExit) as left:
            command()
        assert left.value.code == 0
        return capsys.readouterr().out

    assert f"_MECHDESIGN_COMPLETE={shell}_complete" in asked("source")
    assert "design" in asked("complete", "mechdesign de", "de").replace(",", "\n").split()
    assert "--guarantee-only" in asked("complete", "mechdesign verify --guar", "--guar").replace(",", "\n").split()


@pytest.mark.parametrize(
    "run",
    ["compare", *(pytest.param(run, marks=pytest.mark.slow) for run in SLOW)],
)
def test_pictures_are_written_and_refused_before_anything_is_computed(files, tmp_path, run):
    for ending in ("png", "svg", "pdf") if run == "design" else ("svg",):
        status, _, _ = files(*RUNS[run], "--plot", f"p.{ending}", "--json")
        assert status == 0
        assert (tmp_path / f"p.{ending}").stat().st_size > 1000
    status, out, err = files(*RUNS[run], "--plot", "p.gif")
    assert (status, out) == (2, "")
    assert "accepted: .png, .svg, .pdf" in err
    status, _, err = files(*RUNS[run], "--plot", "-", "--json")
    assert status == 2
    assert "both want standard output" in err


@pytest.mark.slow
def test_a_design_that_is_not_certified_gives_no_picture(files, tmp_path):
    status, _, _ = files("design", *DESIGN, "--bits", "8", "--plot", "none.png")
    assert status == 3
    assert not (tmp_path / "none.png").exists()
    files("design", *DESIGN, "--bits", "8", "--plot", "some.png", "--keep-partial")
    assert (tmp_path / "some.png").exists()


def test_probabilities_go_to_csv_alone(files, tmp_path):
    import pandas as pd

    assert files("design", *DESIGN, "-o", "p.csv", "--probabilities", "-q")[0] == 0
    table = pd.read_csv(tmp_path / "p.csv", index_col="input")
    mechanism = md.Mechanism.load(tmp_path / "m.json")
    pd.testing.assert_frame_equal(table, mechanism.to_frame("pandas").rename_axis(columns=None), check_exact=True)
    counts = ("--counts", "counts.csv", "--known")
    told = json.loads(files("analyze", "p.csv", *counts, "--json")[1])
    assert told["leakage"] == pytest.approx(mechanism.leakage, abs=1e-9)
    for given in (("-o", "p.json"), ("-o", "-"), ()):
        status, _, err = files("design", *DESIGN, *given, "--probabilities")
        assert status == 2
        assert "--probabilities needs an output that ends in .csv" in err
    with raises("wrong-file-ending"):
        mechanism.save(tmp_path / "x.json", probabilities=True)


def test_what_commands_print_for_people_can_be_quiet():
    homes = {"output.py", "json_output.py", "common_options.py"}  # quiet is asked for; data; the version
    for path in sorted(Path(md.__file__).parent.joinpath("cli").glob("*.py")):
        if path.name in homes:
            continue
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and ast.unparse(node.func) == "click.echo":
                # Errors are printed whatever is asked for, and warnings that a result is worthless.
                assert ast.unparse(node.args[0]).lstrip("f'\"").startswith(("Error:", "Warning:")), path.name
