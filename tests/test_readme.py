"""The README's commands, numbers and Python, run as they stand."""

import json
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest
from markdown_it import MarkdownIt

import mechdesign as md
from mechdesign.cli.main import run

ROOT = Path(__file__).parent.parent
BLOCKS = [token for token in MarkdownIt().parse((ROOT / "README.md").read_text()) if token.type == "fence"]


def blocks(language):
    return [token.content for token in BLOCKS if token.info == language]


def test_the_first_command_prints_what_the_readme_shows(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "140")
    (tmp_path / "problems").symlink_to(ROOT / "problems")
    command = blocks("sh")[0].split("&& .venv/bin/mechdesign ")[1]
    assert run(shlex.split(command)) == 0
    printed = re.sub(r"[ │]+", " ", capsys.readouterr().out)
    for line in blocks("text")[0].splitlines():
        # The gap and the last digits of the leakage are rounding, which differs between machines.
        start = re.sub(r" +", " ", line).split(", gap")[0].split(" at most")[0]
        assert start in printed, line
    assert "optimal (certified)" in printed
    assert md.Mechanism.load(tmp_path / "education.json").proof.holds


def test_the_second_command_runs_this_suite():
    assert blocks("sh")[1].strip().endswith('.venv/bin/pip install -q ".[test]" && .venv/bin/python -m pytest')


def test_design_privatize_estimate(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    for folder in ("problems", "examples"):
        (tmp_path / folder).symlink_to(ROOT / folder)
    making, *commands = (shlex.split(line) for line in blocks("sh")[2].splitlines())
    assert making[0] == "python"
    assert making[-2:] == [">", "records.csv"]
    with Path("records.csv").open("w") as file:
        subprocess.run([sys.executable, *making[1:-2]], stdout=file, check=True)
    assert [command[:2] for command in commands] == [["mechdesign", c] for c in ("design", "privatize", "estimate")]
    for command in commands:
        capsys.readouterr()
        assert run([*command[1:], "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    counts = md.read_problem("problems/adult-education.toml").problem.uncertainty.evidence.counts
    assert found["reports"] == sum(counts) == 48_842
    for count, frequency, error in zip(counts, found["frequencies"], found["standard_errors"], strict=True):
        # Secure randomness: eight standard errors are passed once in 1e15.
        assert abs(frequency - count / 48_842) < 8 * error < 0.3


@pytest.mark.parametrize("source", blocks("python"))
def test_python(source, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    exec(compile(source, "README.md", "exec"), {})  # noqa: S102 - our own README
    assert "True" in capsys.readouterr().out
    assert len([line for line in source.splitlines() if line.strip()]) <= 10


def test_every_file_named_in_the_architecture_exists():
    for name in re.findall(r"\b([a-z_]+\.py|[a-z_]+/)(?=[ ,]|$)", blocks("text")[1], re.MULTILINE):
        assert list((ROOT / "mechdesign").rglob(name.rstrip("/"))), name
    shown = blocks("text")[1]
    for path in sorted((ROOT / "mechdesign").rglob("*.py")):
        folder = path.parent.name
        if folder in {"mechdesign", "optimize", "mechanism"} and path.stem != "__init__":
            assert path.name in shown, path
