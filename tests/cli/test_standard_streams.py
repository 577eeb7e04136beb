"""Pipelines: ``-`` is standard input and standard output, for CSV, Parquet and JSON."""

import csv
import io
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import pyarrow as pa
import pytest
from pyarrow import parquet

import mechdesign as md
from mechdesign.cli.entry_point import run
from mechdesign.data import inputs

RECORDS = "level,id\n" + "low,1\nhigh,2\nlow,3\n" * 200
COUNTS = "level,people\nlow,900\nhigh,600\n"
NOISE = ["--epsilon", "1", "--sigma", "9", "--tau", "100"]
PRIVATIZE = ["privatize", "records.csv", "--column", "level", "--mechanism", "m.json"]
ESTIMATE = ["estimate", "reports.csv", "--column", "level", "--mechanism", "m.json"]
DESIGN = ["design", "--counts", "counts.csv", "--epsilon", "1", "--known"]
HISTOGRAM = ["histogram", "discrete", "counts.csv", "-k", "2", *NOISE]
PROBLEM = 'title = "t"\nepsilon = "1"\n[prior.counts]\nlow = 50\nhigh = 20\n'


@pytest.fixture
def here(here):
    Path("counts.csv").write_text(COUNTS)
    Path("records.csv").write_text(RECORDS)
    ball = md.L1Ball([0.6, 0.4], radius=2, labels=["low", "high"])
    promise = md.Guarantee(md.Epsilon.of("log(3)"), ball)
    md.Mechanism.from_matrix([[0.75, 0.25], [0.25, 0.75]], promise, outputs=["y1", "y2"]).save("m.json")
    Path("reports.csv").write_text("level\n" + "y1\n" * 450 + "y2\n" * 350)
    return here


@pytest.fixture
def command(here, monkeypatch, capsysbinary):
    """Run a command on bytes of standard input; return its status, its output and its lines for people."""

    def run_command(*arguments, stdin=b""):
        content = stdin if isinstance(stdin, bytes) else stdin.encode()
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(content)))
        status = run([str(argument) for argument in arguments])
        captured = capsysbinary.readouterr()
        return status, captured.out, captured.err.decode()

    return run_command


def instead(arguments, name, other="-"):
    return [other if argument == name else argument for argument in arguments]


def as_parquet(**columns):
    content = io.BytesIO()
    parquet.write_table(pa.table(columns), content)
    return content.getvalue()


# Standard output


def test_reports_go_to_standard_output_and_facts_to_standard_error(command, here):
    status, out, err = command(*PRIVATIZE, "-o", "-")
    assert status == 0
    rows = out.decode().splitlines()
    assert rows[0] == "level"
    assert len(rows) == 601
    assert set(rows[1:]) == {"y1", "y2"}
    assert "proved in exact arithmetic" in err
    assert "standard output" in err


def test_an_estimate_goes_to_standard_output(command, here):
    status, out, err = command(*ESTIMATE, "-o", "-")
    assert status == 0
    rows = list(csv.DictReader(io.StringIO(out.decode())))
    assert [row["label"] for row in rows] == ["low", "high"]
    assert "95 % interval" in err
    assert "written  standard output" in err


def test_a_mechanism_goes_to_standard_output(command, here):
    status, out, err = command(*DESIGN, "-o", "-", "--compare")
    assert status == 0
    assert json.loads(out)["schema"] == "mechdesign/mechanism/1"
    assert "optimal (certified)" in " ".join(err.split())
    assert "k-ary randomized response" in err
    Path("piped.json").write_bytes(out)
    assert command("verify", "piped.json")[0] == 0


def test_a_mechanism_that_is_not_certified_does_not_go_to_standard_output(command, here):
    Path("counts.csv").write_text("l,c\n" + "".join(f"x{i},{(7 * i * i) % 101 + 1}\n" for i in range(30)))
    status, out, err = command(*DESIGN[:-1], "--delta", "1e-9", "-o", "-", "--time-limit", "0")
    assert (status, out) == (3, b"")
    assert "was not written" in err


def test_a_histogram_or_its_record_goes_to_standard_output(command, here):
    status, out, err = command(*HISTOGRAM, "-o", "-", "--record", "r.json")
    assert status == 0
    assert out.decode().splitlines()[0] == "label,count"
    assert "not protected" in err
    assert json.loads(Path("r.json").read_text())["mechanism"] == "discrete"
    status, out, err = command(*HISTOGRAM, "-o", "out.csv", "--record", "-")
    assert status == 0
    assert json.loads(out)["schema"] == "mechdesign/histogram-record/1"
    assert Path("out.csv").exists()


def test_counts_do_not_leave_before_their_record_is_whole(command, here, monkeypatch):
    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("mechdesign.data.files.os.fsync", full)
    status, out, err = command(*HISTOGRAM, "-o", "-", "--record", "r.json")
    assert (status, out) == (2, b"")
    assert "No space left" in err
    assert not Path("r.json").exists()


@pytest.mark.slow
def test_a_picture_goes_to_standard_output(command, here):
    given = ["--categories", "5", "--samples", "100", "--epsilon", "1", "--delta", "0.1"]
    status, out, err = command("plan", *given, "--plot", "-")
    assert (status, out[:4]) == (0, b"\x89PNG")
    assert "guaranteed epsilon" in err


@pytest.mark.parametrize("arguments", [PRIVATIZE, ESTIMATE, DESIGN, HISTOGRAM], ids=lambda arguments: arguments[0])
def test_json_beside_standard_output_is_refused(command, arguments):
    status, out, err = command(*arguments, "-o", "-", "--json")
    assert (status, json.loads(out)["error"]["code"], err.count("\n")) == (2, "usage", 1)
    assert "--json and the output - both want standard output; leave one of them out" in err


def test_two_outputs_to_standard_output_are_refused(command):
    status, out, err = command(*HISTOGRAM, "-o", "-", "--record", "-")
    assert (status, out, err.count("\n")) == (2, b"", 1)


@pytest.mark.parametrize(
    ("arguments", "status"),
    [
        (instead(PRIVATIZE, "m.json", "false.json"), 1),
        (instead(PRIVATIZE, "records.csv", "absent.csv"), 2),
        (instead(PRIVATIZE, "level", "absent"), 2),
        (instead(ESTIMATE, "m.json", "false.json"), 1),
        (instead(HISTOGRAM, "counts.csv", "absent.csv"), 2),
    ],
)
def test_nothing_is_written_before_the_guarantee_is_proved_and_the_input_is_open(command, here, arguments, status):
    table = json.loads(Path("m.json").read_text())
    table["guarantee"]["epsilon"] = "0.5"
    Path("false.json").write_text(json.dumps(table))
    found, out, err = command(*arguments, "-o", "-")
    assert (found, out, err.count("\n")) == (status, b"", 1)


# Standard input


def test_records_come_from_standard_input(command, here):
    arguments = [*instead(PRIVATIZE, "records.csv"), "--keep", "id"]
    for content in (RECORDS, as_parquet(level=["low", "high", "low"] * 200, id=[1, 2, 3] * 200)):
        status, _, err = command(*arguments, "-o", "out.csv", "--overwrite", stdin=content)
        assert (status, err) == (0, "")
        rows = Path("out.csv").read_text().splitlines()
        assert rows[0] == "level,id"
        assert [row.split(",")[1] for row in rows[1:]] == ["1", "2", "3"] * 200


def test_reports_come_from_standard_input(command, here):
    told = json.loads(command(*ESTIMATE, "--json")[1])
    for content in (Path("reports.csv").read_bytes(), as_parquet(level=["y1"] * 450 + ["y2"] * 350)):
        status, out, _ = command(*instead(ESTIMATE, "reports.csv"), "--json", stdin=content)
        assert status == 0
        assert json.loads(out) == told


def test_a_mechanism_comes_from_standard_input(command, here):
    mechanism = Path("m.json").read_bytes()
    status, out, _ = command("verify", "-", "--json", stdin=mechanism)
    assert (status, json.loads(out)["holds"]) == (0, True)
    assert command("audit", "-", "--samples", "1000", stdin=mechanism)[0] == 0
    status, out, _ = command(*instead(PRIVATIZE, "m.json"), "-o", "-", stdin=mechanism)
    assert (status, len(out.splitlines())) == (0, 601)
    assert command(*instead(ESTIMATE, "m.json"), stdin=mechanism)[0] == 0
    md.Mechanism.load("m.json").save("m.npz")
    assert command("verify", "-", stdin=Path("m.npz").read_bytes())[0] == 0
    status, _, err = command("verify", "-", stdin=b"{")
    assert (status, err.count("\n")) == (2, 1)
    assert err.startswith("Error: standard input is not JSON")


def test_counts_and_data_and_problems_come_from_standard_input(command, here):
    known = json.loads(command(*DESIGN, "--json")[1])["value"]
    status, out, _ = command(*instead(DESIGN, "counts.csv"), "--json", stdin=COUNTS)
    assert (status, json.loads(out)["value"], json.loads(out)["title"]) == (0, known, "standard input")
    data = ["--data", "-", "--column", "level", "--epsilon", "1", "--known"]
    for content in (RECORDS, as_parquet(level=["low", "high", "low"])):
        status, out, _ = command("design", *data, "--json", stdin=content)
        assert (status, json.loads(out)["title"]) == (0, "standard input, column level")
    assert command("compare", "--counts", "-", "--epsilon", "1", "--known", stdin=COUNTS)[0] == 0
    status, out, _ = command("design", "-", "-o", "-", stdin=PROBLEM)
    assert (status, json.loads(out)["inputs"]) == (0, ["low", "high"])


def test_a_histogram_comes_from_standard_input(command, here):
    status, out, _ = command(*instead(HISTOGRAM, "counts.csv"), "-o", "-", stdin=COUNTS)
    assert (status, len(out.splitlines())) == (0, 3)
    data = ["histogram", "discrete", "--data", "-", "--column", "level", "-k", "2", *NOISE, "-o", "-"]
    assert command(*data, stdin=RECORDS)[0] == 0
    laplace = ["histogram", "laplace", "--epsilon", "1", "--allow-float-noise", "--delta", "0.1", "-o", "-"]
    for given in (["-", "--estimate", "counts.csv"], ["counts.csv", "--estimate", "-"]):
        status, out, err = command(*laplace, *given, stdin=COUNTS)
        assert (status, len(out.splitlines())) == (0, 3), err


def test_a_column_that_is_missing_is_said_of_standard_input(command):
    status, out, err = command(*instead(instead(PRIVATIZE, "records.csv"), "level", "absent"), "-o", "-", stdin=RECORDS)
    assert (status, out) == (2, b"")
    assert err.startswith("Error: standard input: the column 'absent' is missing")


@pytest.mark.parametrize(
    "arguments",
    [
        [*instead(instead(PRIVATIZE, "records.csv"), "m.json"), "-o", "out.csv"],
        instead(instead(ESTIMATE, "reports.csv"), "m.json"),
        ["histogram", "laplace", "-", "--estimate", "-", "--delta", "0.1", "--epsilon", "1", "-o", "out.csv"],
    ],
    ids=lambda arguments: arguments[0],
)
def test_two_inputs_from_standard_input_are_refused(command, here, arguments):
    status, out, err = command(*arguments, stdin=RECORDS)
    assert (status, out, err.count("\n")) == (2, b"", 1)
    assert "two inputs are -, and standard input can be read once; give the path of one" in err
    assert not Path("out.csv").exists()


# What is kept of standard input


@pytest.mark.parametrize("named", [False, True], ids=["without a name", "with a name"])
@pytest.mark.parametrize("status", [0, 2])
def test_nothing_of_standard_input_is_left(command, here, tmp_path, monkeypatch, named, status):
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(temporary))
    seen = []
    plain = inputs.Spool.__fspath__
    monkeypatch.setattr(inputs.Spool, "__fspath__", lambda self: seen.append(list(temporary.rglob("*"))) or plain(self))
    if named:
        monkeypatch.setattr(inputs, "_DESCRIPTORS", tmp_path / "absent")
    content = RECORDS if status == 0 else RECORDS + "strange,1\n"
    found, _, err = command(*instead(PRIVATIZE, "records.csv"), "-o", "out.csv", stdin=content)
    assert found == status, err
    assert seen
    assert any(seen) == named
    assert list(temporary.iterdir()) == []
    assert Path("out.csv").exists() == (status == 0)


def test_a_mechanism_on_standard_input_is_not_read_without_end(command, here, monkeypatch):
    monkeypatch.setattr("mechdesign.cli.mechanism_kinds.MOST_BYTES", 100)
    status, _, err = command("verify", "-", stdin=b"[" * 101)
    told = "standard input has more than 100 bytes; accepted: at most 100"
    assert (status, err) == (2, f"Error: {told} [file-too-large]\n")
    assert "has more than" not in command("verify", "-", stdin=b"[" * 100)[2]


def test_standard_input_that_is_closed_is_refused(here, monkeypatch, capsys):
    monkeypatch.setattr(sys, "stdin", None)
    assert run(["verify", "-"]) == 2
    assert "cannot read standard input: it is closed" in capsys.readouterr().err


def test_no_room_for_standard_input_is_one_line(command, here, monkeypatch):
    def full(*_):
        raise OSError(28, os.strerror(28))

    monkeypatch.setattr("mechdesign.data.inputs.shutil.copyfileobj", full)
    status, _, err = command(*instead(PRIVATIZE, "records.csv"), "-o", "out.csv", stdin=RECORDS)
    assert (status, err.count("\n")) == (2, 1)
    assert "cannot keep standard input in" in err
    assert "No space left on device" in err


# Real pipes

SCRIPT = "from mechdesign.cli import main; main()"


def start(*arguments, **options):
    return subprocess.Popen([sys.executable, "-c", SCRIPT, *arguments], stderr=subprocess.PIPE, **options)


@pytest.mark.slow
def test_a_pipeline_of_four_commands(here):
    pipe = subprocess.PIPE
    told = start(*DESIGN, "-o", "-", stdout=pipe)
    proved = start("verify", "-", "--json", stdin=told.stdout, stdout=pipe)
    assert json.loads(proved.communicate()[0])["holds"] is True
    assert (told.wait(), proved.returncode) == (0, 0)
    drawn = start(*PRIVATIZE, "-o", "-", stdout=pipe)
    found = start(*instead(ESTIMATE, "reports.csv"), "--json", stdin=drawn.stdout, stdout=pipe)
    assert json.loads(found.communicate()[0])["reports"] == 600
    assert (drawn.wait(), found.returncode) == (0, 0)
    for process in (told, drawn):
        process.stdout.close()
        process.stderr.close()


@pytest.mark.slow
@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no /dev/full")
@pytest.mark.parametrize("arguments", [PRIVATIZE, ESTIMATE, DESIGN, HISTOGRAM], ids=lambda arguments: arguments[0])
def test_standard_output_that_is_full_is_one_line(here, arguments):
    with Path("/dev/full").open("wb") as full:
        process = start(*arguments, "-o", "-", stdout=full)
        _, err = process.communicate()
    assert process.returncode == 2
    # A slow machine tells of its progress before.
    assert err.splitlines()[-1].startswith(b"Error: cannot write standard output: No space left on device")
    assert err.count(b"Error") == 1
    assert b"Traceback" not in err


@pytest.mark.slow
def test_a_reader_that_goes_away_ends_the_command_without_a_traceback(here):
    Path("records.csv").write_text(RECORDS + "low,1\n" * 500_000)
    with start(*PRIVATIZE, "-o", "-", stdout=subprocess.PIPE) as process:
        assert process.stdout.readline() == b"level\n"
        process.stdout.close()
        err = process.stderr.read()
    assert b"Traceback" not in err
    assert process.returncode == 0
