"""What no command may replace: what is not a regular file, an input, another output, and what was released before."""

import json
import os
import socket
import stat
import subprocess
import sys
from pathlib import Path

import pytest
from refusals import raises

from mechdesign.cli.entry_point import run

COUNTS = "level,people\nlow,900\nhigh,600\n"
NOISE = ["--epsilon", "1", "--sigma", "9", "--tau", "100"]
LAPLACE = ["histogram", "laplace", "counts.csv", "--epsilon", "1", "--allow-float-noise"]
# Each command that writes, up to the place, and an ending that it takes.
WRITERS = {
    "design": (["design", "--counts", "counts.csv", "--epsilon", "1", "--known", "-o"], ".json"),
    "privatize": (["privatize", "records.csv", "--column", "level", "--mechanism", "m.json", "-o"], ".csv"),
    "estimate": (["estimate", "reports.csv", "--column", "level", "--mechanism", "m.json", "-o"], ".csv"),
    "histogram": (["histogram", "discrete", "counts.csv", "-k", "2", *NOISE, "-o"], ".csv"),
    "record": (["histogram", "discrete", "counts.csv", "-k", "2", *NOISE, "-o", "new.csv", "--record"], ".json"),
    "plan": (["plan", "--categories", "5", "--samples", "100", "--epsilon", "1", "--delta", "0.1", "--plot"], ".png"),
}
OVERWRITING = ("privatize", "histogram", "record")  # what only --overwrite replaces


@pytest.fixture
def here(here, two_levels):
    Path("counts.csv").write_text(COUNTS)
    Path("records.csv").write_text("level\nlow\nhigh\nlow\n")
    two_levels.save("m.json")
    Path("reports.csv").write_text("level\n" + f"{two_levels.outputs[0]}\n" * 3)
    return here


@pytest.fixture
def refused(here, command):
    """Run a command that is to be refused; return its message, after checking that nothing has changed."""

    def run_refused(*arguments):
        before = {path: (path.lstat(), path.is_file() and path.read_bytes()) for path in here.iterdir()}
        status, out, err = command(*arguments)
        assert (status, out) == (2, ""), err
        assert err.startswith("Error: ")
        assert err.count("\n") == 1
        after = {path: (path.lstat(), path.is_file() and path.read_bytes()) for path in here.iterdir()}
        assert before.keys() == after.keys()
        for path, (old, content) in before.items():
            new, same = after[path]
            assert (old.st_ino, old.st_mode, old.st_nlink, content) == (new.st_ino, new.st_mode, new.st_nlink, same)
        return err

    return run_refused


def make_device(place):
    try:
        os.mknod(place, stat.S_IFCHR | 0o666, os.makedev(1, 3))
    except PermissionError:
        pytest.skip("device nodes may not be made here")


def make_socket(place):
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(place.name)


KINDS = {
    "device": (make_device, "a device"),
    "pipe": (os.mkfifo, "a pipe"),
    "socket": (make_socket, "a socket"),
    "folder": (os.mkdir, "a folder"),
}


@pytest.mark.combined
@pytest.mark.parametrize("through_link", [False, True], ids=["itself", "link"])
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("writer", WRITERS)
def test_what_is_not_a_regular_file_is_not_replaced(refused, here, writer, kind, through_link):
    arguments, ending = WRITERS[writer]
    make, told = KINDS[kind]
    place = here / f"place{ending}"
    make(place)
    if through_link:
        (here / f"link{ending}").symlink_to(place)
        place = here / f"link{ending}"
    allowed = ["--overwrite"] if writer in OVERWRITING else []
    assert f"cannot write {place.name}: it is {told}" in refused(*arguments, place.name, *allowed)


def test_a_device_that_stands_there_only_at_the_end_is_not_replaced(here):
    from mechdesign.data.files import written_atomically

    def write():
        with written_atomically("late.csv") as file:
            file.write(b"content")
            os.mkfifo("late.csv")

    with raises("cannot-write", "a pipe"):
        write()
    assert stat.S_ISFIFO(Path("late.csv").stat().st_mode)
    assert not list(here.glob(".*.tmp"))


# Each input of each command as its output; what may stand in the way besides is allowed by --overwrite.
SAME = {
    "estimate over its reports": [*WRITERS["estimate"][0], "reports.csv"],
    "estimate over its mechanism": [*WRITERS["estimate"][0], "m.json"],
    "privatize over its records": [*WRITERS["privatize"][0], "records.csv", "--overwrite"],
    "design over its counts": [*WRITERS["design"][0], "counts.csv"],
    "histogram over its counts": [*WRITERS["histogram"][0], "counts.csv", "--overwrite"],
    "histogram over an estimate": [*LAPLACE, "--estimate", "last.csv", "--delta", "0.1", "-o", "last.csv"],
}
VARIANTS = {"same": None, "symbolic link": os.symlink, "hard link": os.link}


@pytest.mark.parametrize("variant", VARIANTS)
@pytest.mark.parametrize("name", SAME)
def test_no_output_is_an_input(refused, here, name, variant):
    Path("last.csv").write_text(COUNTS)
    arguments = list(SAME[name])
    if VARIANTS[variant] is not None:
        place = arguments.index("-o") + 1
        other = "other" + Path(arguments[place]).suffix
        VARIANTS[variant](arguments[place], other)
        arguments[place] = other
    if "histogram" in name and "--overwrite" not in arguments:
        arguments.append("--overwrite")
    assert "is the input" in refused(*arguments)


def test_a_mechanism_is_not_replaced_by_reports(refused, here):
    os.link("m.json", "also.csv")
    message = refused(*WRITERS["privatize"][0], "also.csv", "--overwrite")
    assert "the output also.csv is the input, m.json; give another name" in message


def test_a_problem_is_not_replaced_by_its_mechanism(refused, here):
    problem = 'title = "t"\nepsilon = "1"\n[prior.counts]\nlow = 50\nhigh = 20\n'
    Path("problem.json").write_text(problem)
    assert "is the input" in refused("design", "problem.json", "-o", "problem.json")


@pytest.mark.parametrize("link", [os.symlink, os.link])
def test_no_output_is_another_output(refused, here, link):
    Path("x.csv").write_text("what stood here\n")
    link("x.csv", "y.json")
    arguments = ["histogram", "discrete", "counts.csv", "-k", "2", *NOISE, "-o", "x.csv", "--record", "y.json"]
    assert "the output y.json is another output, x.csv; give another name" in refused(*arguments, "--overwrite")


def test_two_outputs_that_do_not_exist_yet_may_be_one(refused, here):
    Path("y.json").symlink_to("x.csv")
    arguments = ["histogram", "discrete", "counts.csv", "-k", "2", *NOISE, "-o", "x.csv", "--record", "y.json"]
    assert "is another output" in refused(*arguments)


@pytest.mark.parametrize("writer", OVERWRITING)
def test_what_was_released_is_replaced_only_when_asked(refused, here, capsys, writer):
    arguments, ending = WRITERS[writer]
    old = Path(f"old{ending}")
    old.write_text("what stood here")
    message = refused(*arguments, old)
    assert "exists" in message
    assert "leak more than one; give another name, or give --overwrite" in message
    assert run([*arguments, str(old), "--overwrite"]) == 0
    assert old.read_text() != "what stood here"


def test_a_file_that_appears_meanwhile_is_not_replaced(here):
    from mechdesign.data.files import written_atomically

    def write():
        with written_atomically("new.csv", overwrite=False) as file:
            file.write(b"second")
            Path("new.csv").write_bytes(b"first")

    with raises("file-exists"):
        write()
    assert Path("new.csv").read_bytes() == b"first"
    assert not list(here.glob(".*.tmp"))


@pytest.mark.parametrize(
    ("writer", "ending"),
    [
        ("estimate", ".txt"),
        ("estimate", ".csv.gz"),
        ("histogram", ".parquet"),
        ("record", ".csv"),
        ("plan", ".gif"),
        ("design", ".toml"),
        ("privatize", ""),
    ],
)
def test_other_endings_are_refused(refused, writer, ending):
    message = refused(*WRITERS[writer][0], f"out{ending}")
    found = f"ends in '{Path('out' + ending).suffix}'" if ending else "has no ending"
    assert f"{found}; accepted: ." in message


def test_an_estimate_is_written_as_its_ending_says(here, capsys):
    import csv

    from pyarrow import parquet

    arguments = WRITERS["estimate"][0]
    for name in ("est.csv", "est.parquet", "est.json"):
        assert run([*arguments, name]) == 0
    capsys.readouterr()
    told = json.loads(Path("est.json").read_text())
    assert told["schema"] == "mechdesign/estimate/1"
    table = parquet.read_table("est.parquet")
    assert table.column_names == ["label", "frequency", "standard_error", "lower", "upper", "identifiable"]
    assert table.column("label").to_pylist() == told["labels"] == ["low", "high"]
    assert table.column("frequency").to_pylist() == told["frequencies"]
    assert table.column("standard_error").to_pylist() == told["standard_errors"]
    for place, name in enumerate(("lower", "upper")):
        assert table.column(name).to_pylist() == [interval[place] for interval in told["intervals"]]
    assert table.column("identifiable").to_pylist() == told["identifiable"]
    with Path("est.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert [float(row["frequency"]) for row in rows] == told["frequencies"]


# Standard streams by other names

SCRIPT = "from mechdesign.cli import main; main()"


def start(*arguments, **options):
    return subprocess.run(
        [sys.executable, "-c", SCRIPT, *arguments], capture_output="stdout" not in options, check=False, **options
    )


@pytest.mark.slow
@pytest.mark.skipif(not Path("/dev/stdout").exists(), reason="there is no /dev/stdout")
@pytest.mark.parametrize("name", ["/dev/stdout", "/dev/fd/1", "/proc/self/fd/1", "link.json", "log"])
def test_a_log_is_not_erased_by_the_name_of_a_stream(here, name):
    log = here / "log.json"
    log.write_text("what stood here\n")
    if name == "link.json":
        Path(name).symlink_to("/dev/stdout")
    name = "log.json" if name == "log" else name
    # A command whose output may be replaced, and an ending that does not hide the reason.
    code = f"from mechdesign.data.files import check_writable; check_writable({name!r})"
    with log.open("ab") as stream:
        done = subprocess.run([sys.executable, "-c", code], stdout=stream, stderr=subprocess.PIPE, check=False)
    assert b"InputError" in done.stderr
    assert b"or - for standard output" in done.stderr
    with log.open("ab") as stream:
        done = start("estimate", "reports.csv", "--column", "level", "--mechanism", "m.json", "-o", name, stdout=stream)
    assert done.returncode == 2
    assert log.read_text() == "what stood here\n"


@pytest.mark.skipif(not Path("/proc/self/fd").exists(), reason="open files have no names here")
def test_any_open_file_is_refused_by_the_name_of_its_descriptor(here):
    from mechdesign.data.files import check_writable

    with Path("open.csv").open("ab") as file:
        for folder in ("/dev/fd", "/proc/self/fd"):
            with raises("cannot-write", "an open stream", "or -"):
                check_writable(f"{folder}/{file.fileno()}")
    check_writable("open.csv")


def test_appending_reports_to_their_own_records_is_refused(here):
    before = Path("records.csv").read_bytes()
    with Path("records.csv").open("ab") as stream:
        done = start(*WRITERS["privatize"][0], "-", stdout=stream, stderr=subprocess.PIPE)
    assert done.returncode == 2
    assert b"the output - (standard output) is the input, records.csv" in done.stderr
    assert Path("records.csv").read_bytes() == before


def test_records_on_standard_input_are_not_replaced_by_their_reports(here):
    arguments = ["privatize", "-", *WRITERS["privatize"][0][2:], "records.csv", "--overwrite"]
    before = Path("records.csv").read_bytes()
    with Path("records.csv").open("rb") as stream:
        done = start(*arguments, stdin=stream)
    assert done.returncode == 2
    assert b"is the input, - (standard input)" in done.stderr
    assert Path("records.csv").read_bytes() == before
