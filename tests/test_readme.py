"""The README's commands, numbers, names and Python, run as they stand and in their order."""

import json
import operator
import os
import re
import subprocess
import sys
from pathlib import Path

import click
import numpy as np
import pytest
from markdown_it import MarkdownIt

import mechdesign as md
from mechdesign.cli.commands import commands
from mechdesign.comparison.rivals import Rivals

ROOT = Path(__file__).parent.parent
TEXT = (ROOT / "README.md").read_text()
BLOCKS = [token for token in MarkdownIt().parse(TEXT) if token.type == "fence"]


def blocks(language):
    return [token.content for token in BLOCKS if token.info == language]


SHELL = blocks("sh")
MOST_WORDS = 1_800
# What the session has in place of an installation: an environment whose commands are those of this checkout, and a
# suite that says that it ran.
PYTHON = f"""#!/bin/sh
case "$1 $2" in
"-m venv")
    mkdir -p "$3/bin"
    printf 'PATH=%s:$PATH\\n' "$PWD/$3/bin" > "$3/bin/activate"
    cp "$0" "$3/bin/python"
    printf '#!/bin/sh\\necho "$@" >> installed.txt\\n' > "$3/bin/pip"
    printf '#!/bin/sh\\nexec "{sys.executable}" -m mechdesign "$@"\\n' > "$3/bin/mechdesign"
    chmod +x "$3"/bin/* ;;
"-m pytest") echo "the suite runs" ;;
*) exec "{sys.executable}" "$@" ;;
esac
"""


@pytest.fixture(scope="module")
def session(tmp_path_factory):
    """Every block of commands, as written, one after the other in one shell; what each printed, and its folder."""
    room = tmp_path_factory.mktemp("readme")
    for folder in ("problems", "examples"):
        (room / folder).symlink_to(ROOT / folder)
    (room / "bin").mkdir()
    (room / "bin" / "python3").write_text(PYTHON)
    (room / "bin" / "python3").chmod(0o755)
    script = "".join(f"{block}\necho '=== end of block'\n" for block in SHELL)
    environment = os.environ | {
        "PATH": f"{room / 'bin'}:/usr/bin:/bin",
        "PYTHONPATH": str(ROOT),
        "COLUMNS": "140",
        "PYTHONUTF8": "1",
    }
    done = subprocess.run(
        ["bash", "-e", "-c", script], cwd=room, env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    printed = [re.sub(r" +", " ", part) for part in done.stdout.split("=== end of block\n")]
    return printed[: len(SHELL)], room


def test_the_first_command_prints_what_the_readme_shows(session):
    printed, room = session
    for line in blocks("text")[0].splitlines():
        # The gap is rounding, which differs between machines.
        assert re.sub(r" +", " ", line).split(", gap")[0] in printed[0], line
    assert "optimal (certified)" in printed[0]
    assert md.Mechanism.load(room / "education.json").proof.holds


def test_the_second_command_runs_the_suite(session):
    printed, room = session
    assert printed[1].strip() == "the suite runs"
    assert (room / "installed.txt").read_text().splitlines() == ["install -q .", "install -q .[test]"]
    # .ci/run finds it so.
    assert len(re.findall(r"^python3 -m venv .*pytest$", TEXT, re.MULTILINE)) == 1


def test_records_become_reports_and_reports_frequencies(session):
    printed, room = session
    assert "48,842" in printed[2]
    counts = md.read_problem(ROOT / "problems/adult-education.toml").problem.uncertainty.evidence.counts
    reports = (room / "reports.csv").read_text().splitlines()[1:]
    found = md.estimate_frequencies(reports, md.Mechanism.load(room / "frequencies.json"), of="records")
    assert found.reports == sum(counts) == 48_842
    for count, frequency, error in zip(counts, found.frequencies, found.standard_errors, strict=True):
        # Secure randomness: eight standard errors are passed once in 1e15.
        assert abs(frequency - count / 48_842) < 8 * error < 0.3


def test_respondents_are_those_of_the_designs(session):
    """The ratios beside the picture of frequencies, from the file of the session and designs under LDP."""
    _, room = session
    claim = md.Mechanism.load(room / "frequencies.json").optimality
    ball = md.read_problem(ROOT / "problems/adult-education.toml").problem.uncertainty
    ldp = md.DesignProblem(ball.with_radius(2), 1, md.EstimationError())
    response = Rivals(ldp).randomized_response().value
    assert f"takes {md.design(ldp).lower_bound / claim.value:.0f} times as many respondents (certified)" in TEXT
    assert f"with randomized response {response / claim.value:.0f} times" in TEXT


def test_counts_are_designed_for_and_released(session):
    _, room = session
    assert md.Mechanism.load(room / "smoking.json").inputs == ("never", "former", "current")
    assert json.loads((room / "record.json").read_text())["epsilon"] == "1"
    assert (room / "released.csv").read_text().startswith("label,count\nnever,")


def test_python(tmp_path, monkeypatch, capsys):
    (source,) = blocks("python")
    monkeypatch.chdir(tmp_path)
    exec(compile(source, "README.md", "exec"), {})  # noqa: S102 - our own README
    assert "True" in capsys.readouterr().out
    assert len([line for line in source.splitlines() if line.strip()]) <= 10


def test_the_table_of_commands_names_all_of_them_and_options_that_exist():
    table = TEXT.split("## Which command for what")[1].split("\n\n")[1]
    named = set()
    for line in re.findall(r"`([^`]+)`", table):
        words = line.removeprefix("mechdesign ").split()
        command = commands.commands.get(words[0])
        if command is None:
            histogram = commands.commands["histogram"]
            assert isinstance(histogram, click.Group)
            assert words[0] in histogram.commands, line
            continue
        named.add(words[0])
        options = {option for parameter in command.params for option in parameter.opts}
        assert {word for word in words if word.startswith("-")} <= options, line
    assert named == set(commands.commands)


def test_every_name_in_the_table_of_the_mathematics_is_public():
    rows = TEXT.split("## From the mathematics to the code")[1].split("\n\n")[1].splitlines()[2:]
    assert len(rows) == 10
    for row in rows:
        for name in re.findall(r"`([\w.]+)`", row.split(" | ")[1]):
            assert operator.attrgetter(name)(md) is not None


def test_the_readme_is_short():
    assert len(TEXT.split()) <= MOST_WORDS


def test_the_ratios_are_those_of_the_values_shown():
    shown = dict(re.findall(r"^│ (\S.*?) +│ +([\d.]+) │", blocks("text")[0], re.MULTILINE))
    ours, ldp, response = (
        float(shown[name])
        for name in ("this design (certified)", "best LDP mechanism (certified)", "k-ary randomized response")
    )
    assert f"carries {ours / response:.0f} times" in TEXT
    assert f"and {ours / ldp:.1f} times" in TEXT


def errors_at_the_prior(mechanism, prior):
    counts = np.rint(48_842 * prior @ mechanism.matrix).astype(int).tolist()
    return md.estimate_frequencies(dict(zip(mechanism.outputs, counts, strict=True)), mechanism).standard_errors


def test_the_standard_errors_are_as_told():
    problem = md.read_problem(ROOT / "problems/adult-occupation.toml").problem
    prior, N = problem.uncertainty.prior, problem.uncertainty.size
    anywhere = md.Guarantee(problem.epsilon, md.L1Ball(problem.uncertainty.center, 2, problem.uncertainty.labels))
    response = md.Mechanism.from_matrix((np.ones((N, N)) + (np.e - 1) * np.eye(N)) / (np.e + N - 1), anywhere)
    ours, theirs = (errors_at_the_prior(m, prior) for m in (md.design(problem).mechanism, response))
    assert 5.5 < np.sqrt((ours**2).sum() / (theirs**2).sum()) < 6.5
    race = md.design(md.read_problem(ROOT / "problems/adult-race.toml").problem).mechanism
    assert len(race.inputs) == 5
    assert len(race.outputs) == 2
