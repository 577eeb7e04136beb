"""A working folder for each test of the command line, and the command that is run in it."""

import json

import pytest
from json_schemas import check_output
from refusals import KINDS

import mechdesign as md
from mechdesign.cli.entry_point import run


@pytest.fixture
def here(tmp_path, monkeypatch):
    """The working folder, in which no progress is shown; a module adds its files in a fixture of the same name."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("MECHDESIGN_TRACEBACK", raising=False)
    monkeypatch.setattr("mechdesign.cli.progress._PATIENCE", 1e6)
    return tmp_path


@pytest.fixture
def command(here, capsys):
    """Run a command; return its status, its output and its lines for people. Its JSON fits its schema."""

    def run_command(*arguments):
        status = run([str(argument) for argument in arguments])
        captured = capsys.readouterr()
        if "--json" in arguments and captured.out.startswith("{"):
            record = json.loads(captured.out)
            check_output(record)
            assert ("error" in record) == (status != 0)
        return status, captured.out, captured.err

    return run_command


def contents(folder):
    return {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}


@pytest.fixture
def refused(here, command):
    """Run a command that is to fail with a code, and return its one line; it prints no result and changes no file."""

    def run_refused(code, *arguments, shown=""):
        before = contents(here)
        status, out, err = command(*arguments)
        assert status == KINDS[code].exit_status, err
        assert bool(out) == ("--json" in arguments)  # where an error is an object too
        assert err.startswith("Error: ")
        assert err.endswith(f" [{code}]\n"), err
        assert err.count("\n") == 1
        assert shown in err
        assert contents(here) == before
        return err

    return run_refused


@pytest.fixture(scope="session")
def two_levels():
    """A designed mechanism for the labels low and high."""
    ball = md.L1Ball([0.6, 0.4], radius=0.1, labels=["low", "high"])
    return md.design(md.DesignProblem(ball, epsilon=1)).mechanism
