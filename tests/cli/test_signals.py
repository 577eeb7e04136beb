"""Interruptions: of imports, of work, and of what is half written."""

import os
import signal
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from mechdesign.cli.entry_point import run

pytestmark = pytest.mark.skipif(not hasattr(signal, "SIGHUP"), reason="signals are those of POSIX")
INTERRUPTED = b"Error: stopped by a signal; run the command again [interrupted]\n"

# The process sends itself a signal where the records are half written, or the spool is full.
DURING = """
import os, signal, sys
from mechdesign.data import files as atomic
from mechdesign.deploy import stream
number, log = getattr(signal, sys.argv[1]), sys.argv.pop(2)
del sys.argv[1]
# Where the tests are run by nohup, or in the background of a script, it is ignored.
signal.signal(number, signal.default_int_handler if number == signal.SIGINT else signal.SIG_DFL)
open_columns = stream.open_columns
def batches(columns):
    for batch in columns.batches:
        yield batch
        with open(log, "w") as file:
            file.write(" ".join(os.listdir(".")))
        os.kill(os.getpid(), number)
def broken(*args, **options):
    columns = open_columns(*args, **options)
    return stream.Columns(columns.names, columns.schema, batches(columns))
stream.open_columns = broken
from mechdesign.cli import main
main()
"""


@pytest.fixture
def here(here, two_levels, monkeypatch):
    folder = here / "here"
    folder.mkdir()
    monkeypatch.chdir(folder)
    Path("records.csv").write_text("level\nlow\nhigh\nlow\n")
    two_levels.save("m.json")
    return folder


@pytest.mark.parametrize(
    ("name", "source", "old"),
    [
        pytest.param(
            name,
            source,
            old,
            marks=[pytest.mark.slow] if (source, name) not in {("-", "SIGINT"), ("records.csv", "SIGTERM")} else [],
        )
        for name in ("SIGINT", "SIGTERM", "SIGHUP")
        for source, old in (("records.csv", b"what stood here"), ("-", None))
    ],
)
def test_a_signal_leaves_no_half_file(here, tmp_path, name, source, old):
    if old is not None:
        Path("out.csv").write_bytes(old)
    temporary, log = tmp_path / "temporary", tmp_path / "log"
    temporary.mkdir()
    arguments = ["privatize", source, "--column", "level", "--mechanism", "m.json", "-o", "out.csv", "--overwrite"]
    done = subprocess.run(
        [sys.executable, "-c", DURING, name, str(log), *arguments],
        input=Path("records.csv").read_bytes(),
        capture_output=True,
        check=False,
        env={**os.environ, "TMPDIR": str(temporary)},
    )
    assert ".tmp" in log.read_text()  # so there was something to remove
    assert (done.returncode, done.stdout) == (3, b"")
    assert done.stderr.endswith(INTERRUPTED)
    assert b"Traceback" not in done.stderr
    expected = {"records.csv", "m.json"} | ({"out.csv"} if old is not None else set())
    assert {path.name for path in here.iterdir()} == expected
    assert old is None or Path("out.csv").read_bytes() == old
    assert list(temporary.iterdir()) == []


def test_a_signal_from_outside_ends_a_command_that_reads(here):
    """As `timeout` and service managers send it, while a command waits for the rest of standard input."""
    code = "from mechdesign.cli import main; main()"
    arguments = ["privatize", "-", "--column", "level", "--mechanism", "m.json", "-o", "out.csv"]
    with subprocess.Popen(
        [sys.executable, "-c", code, *arguments], stdin=subprocess.PIPE, stderr=subprocess.PIPE
    ) as process:
        line = process.stderr.readline()  # a step on standard error, a second after the start: it waits
        assert b"proving" in line
        process.send_signal(signal.SIGTERM)
        err = process.stderr.read()
        process.stdin.close()
    assert process.returncode == 3
    assert err.endswith(INTERRUPTED)
    assert b"Traceback" not in err
    assert {path.name for path in here.iterdir()} == {"records.csv", "m.json"}


IMPORTING = """
import os, signal, sys
target = sys.argv.pop(1)
signal.signal(signal.SIGINT, signal.default_int_handler)
class Interrupt:
    def find_spec(self, name, *others):
        if name == target:
            sys.meta_path.remove(self)
            os.kill(os.getpid(), signal.SIGINT)
        return None
sys.meta_path.insert(0, Interrupt())
"""
ENTRIES = {
    "script": "from mechdesign.cli import main; sys.exit(main())",
    "module": "import runpy; runpy.run_module('mechdesign', run_name='__main__')",
}


@pytest.mark.combined
@pytest.mark.parametrize("entry", ENTRIES)
@pytest.mark.parametrize(
    ("module", "command"),
    [
        ("click", "--help"),
        ("numpy", "design"),
        ("rich.table", "design"),
        ("mechdesign.mechanism", "privatize"),
        ("mechdesign.optimize", "design"),
        ("mechdesign.cli.histogram", "histogram"),
    ],
)
def test_an_interruption_of_imports_prints_no_traceback(module, command, entry):
    arguments = [module, *([] if command.startswith("-") else [command]), "--help"]
    code = IMPORTING + ENTRIES[entry]
    done = subprocess.run([sys.executable, "-c", code, *arguments], capture_output=True, check=False)
    # click ends the line in which a terminal shows ^C.
    assert (done.returncode, done.stdout, done.stderr.removeprefix(b"\n")) == (3, b"", INTERRUPTED)


def test_the_module_is_the_command_line():
    done = subprocess.run([sys.executable, "-m", "mechdesign", "--version"], capture_output=True, check=True)
    assert done.stdout.decode().startswith("mechdesign, version ")
    done = subprocess.run([sys.executable, "-m", "mechdesign", "verify", "absent"], capture_output=True, check=False)
    assert done.returncode == 2


def test_handlers_are_as_before_when_a_command_has_ended(capsys):
    numbers = [signal.SIGTERM, signal.SIGHUP, signal.SIGINT]
    before = [signal.getsignal(number) for number in numbers]
    assert run(["--version"]) == 0
    assert [signal.getsignal(number) for number in numbers] == before


def test_a_signal_that_is_ignored_stays_ignored(here, capsys, monkeypatch):
    """As `nohup` has it."""
    found = []
    monkeypatch.setattr(
        "mechdesign.cli.verify.load_mechanism",
        lambda file, report, sample: found.append(signal.getsignal(signal.SIGHUP)) or 1 / 0,
    )
    before = signal.signal(signal.SIGHUP, signal.SIG_IGN)
    try:
        run(["verify", "m.json"])
    finally:
        signal.signal(signal.SIGHUP, before)
    assert found == [signal.SIG_IGN]


def test_a_command_runs_in_a_thread_where_no_handler_can_be_set(capsys):
    statuses = []
    thread = threading.Thread(target=lambda: statuses.append(run(["--version"])))
    thread.start()
    thread.join()
    assert statuses == [0]


def test_nothing_heavy_is_imported_before_an_interruption_is_answered():
    code = "import sys, mechdesign.cli; print({'numpy', 'click', 'rich', 'pydantic'} & set(sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True)
    assert done.stdout.strip() == b"set()"
