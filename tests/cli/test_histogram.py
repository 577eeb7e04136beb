import csv
import json
import re
from functools import partial
from pathlib import Path

import pytest

from mechdesign.cli.entry_point import run
from mechdesign.histogram import CshPlan, DiscretePlan, GshmPlan, LaplacePlan, TopKPlan

COUNTS = {"low": 5_000, "middle": 3_000, 'top, "rare"': 1_500, "one": 1, "none": 0}
TARGET = ["--epsilon", "1", "--delta", "1e-6"]
NOISE = ["--epsilon", "1", "--sigma", "9", "--tau", "100"]  # no count of 1 gets there, in 1e18 runs
FLOAT = "--allow-float-noise"
# Name, options, and what is released of COUNTS but for noise: top-k subtracts the count after the third.
CASES = {
    "discrete": (["-k", 4, *NOISE], ["low", "middle", 'top, "rare"']),
    "top-k": (["-k", 2, *NOISE], ["low", "middle"]),
    "csh": (["-k", 4, *NOISE, FLOAT], ["low", "middle", 'top, "rare"']),
    "gshm": (["-k", 1, *NOISE, FLOAT], ["low", "middle", 'top, "rare"']),
    "laplace": (["--epsilon", 1, "--alpha", "0.1", FLOAT], list(COUNTS)),
}
PLANS = {
    "discrete": DiscretePlan.of(4, epsilon=1, delta="1e-6"),
    "top-k": TopKPlan.of(4, epsilon=1, delta="1e-6"),
    "csh": CshPlan.of(4, epsilon=1, delta="1e-6"),
    "gshm": GshmPlan.of(4, epsilon=1, delta="1e-6"),
    "laplace": LaplacePlan.of(epsilon=1),
}


@pytest.fixture
def here(here, monkeypatch):
    monkeypatch.setenv("COLUMNS", "300")
    with Path("counts.csv").open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["level", "people"])
        writer.writerows(COUNTS.items())
    return here


@pytest.fixture
def command(command):
    return partial(command, "histogram")


def released(name="out.csv"):
    with Path(name).open(newline="") as file:
        rows = list(csv.reader(file))
    assert rows[0] in (["label", "count"], ["label", "excess"])
    return {label: float(count) for label, count in rows[1:]}


def facts(out):
    return {line[:15].strip(): line[15:] for line in out.splitlines()}


@pytest.mark.parametrize("name", CASES)
def test_counts_and_their_record_are_written(command, here, name):
    options, labels = CASES[name]
    status, out, err = command(name, "counts.csv", *options, "-o", "out.csv", "--record", "r.json")
    assert (status, err) == (0, "")
    counts = released()
    assert set(counts) == set(labels)
    column = "excess" if name == "top-k" else "count"
    assert Path("out.csv").read_text().startswith(f"label,{column}\n")
    assert list(counts.values()) == sorted(counts.values(), reverse=True)
    shift = COUNTS['top, "rare"'] if name == "top-k" else 0
    assert all(abs(counts[label] + shift - COUNTS[label]) < 400 for label in labels)
    record = json.loads(Path("r.json").read_text())
    assert (record["schema"], record["mechanism"]) == ("mechdesign/histogram-record/1", name)
    shown = facts(out)
    assert shown["mechanism"] == name
    assert shown["guarantee"].startswith("epsilon = 1")
    assert shown["written"] == "out.csv, r.json"
    assert record["neighbours"] == shown["neighbours"]
    assert record["reading"].startswith(shown["values"])  # which may go on in the next line
    assert ("real numbers" in shown["noise"]) == (FLOAT in options)
    assert sorted(path.name for path in here.iterdir()) == ["counts.csv", "out.csv", "r.json"]


@pytest.mark.parametrize("name", CASES)
def test_json_says_the_same(command, name):
    options, labels = CASES[name]
    status, out, err = command(name, "counts.csv", *options, "-o", "out.csv", "--json")
    record = json.loads(out)
    assert (status, err) == (0, "")
    assert (record["schema"], record["mechanism"]) == ("mechdesign/histogram/1", name)
    assert (record["epsilon"], record["released"], record["output"]) == (1.0, len(labels), "out.csv")
    if name != "laplace":
        assert (record["sigma"], record["tau"]) == (9.0, 100.0)
        assert 0 < record["delta"] < 1


@pytest.mark.sampled
@pytest.mark.parametrize("name", CASES)
def test_a_plan_needs_no_data(command, here, name):
    k = [] if name == "laplace" else ["-k", 4]
    target = ["--epsilon", 1] if name == "laplace" else TARGET
    plan = PLANS[name]
    status, out, err = command(name, "--plan", *k, *target, "--json")
    assert (status, err) == (0, "")
    record = json.loads(out)
    assert (record["released"], record["output"], record["randomness"]) == (None, None, None)
    for key in ("sigma", "tau", "scale"):
        value = getattr(plan.record(), key)
        assert record.get(key) == (None if value is None else float(value))
    # What a person copies from the screen holds.
    shown = facts(command(name, "--plan", *k, *target)[1])
    copied = [re.match(r"[^:]+", shown[key]).group() for key in ("sigma", "tau") if key in shown]
    if copied:
        found = json.loads(
            command(name, "--plan", *k, "--epsilon", 1, "--sigma", *[copied[0], "--tau", copied[1]], "--json")[1]
        )
        assert found["delta"] <= 1e-6
    assert sorted(path.name for path in here.iterdir()) == ["counts.csv"]


def test_a_plan_is_a_record_too(command):
    assert command("discrete", "--plan", "-k", 4, *TARGET, "--record", "r.json")[0] == 0
    assert json.loads(Path("r.json").read_text())["randomness"] is None


@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_a_column_of_records_is_counted(command, ending):
    import pyarrow as pa
    from pyarrow import csv as pa_csv
    from pyarrow import parquet

    table = pa.table({"term": ["a"] * 900 + ["b"] * 2})
    (pa_csv.write_csv if ending == "csv" else parquet.write_table)(table, f"records.{ending}")
    status, _, err = command(
        "top-k", "--data", f"records.{ending}", "--column", "term", "-k", 1, *NOISE, "-o", "out.csv"
    )
    assert (status, err) == (0, "")
    assert list(released()) == ["a"]


@pytest.mark.parametrize("size", [["--epsilon", "1e-19"], ["--scale", "1e308"], ["--scale", "1.1e14"]])
@pytest.mark.parametrize("whole", [[], ["--whole"]])
def test_noise_beyond_what_floats_hold_is_refused(command, refused, size, whole):
    refused("out-of-range", "laplace", "counts.csv", *size, FLOAT, *whole, "-o", "out.csv", shown="10^14")
    assert command("laplace", "counts.csv", "--scale", "1e14", FLOAT, *whole, "-o", "out.csv")[0] == 0
    assert all(abs(value) < 2**53 for value in released().values())


def test_whole_counts(command):
    assert command("laplace", "counts.csv", "--scale", 5, FLOAT, "--whole", "-o", "out.csv")[0] == 0
    assert all(re.fullmatch(r"\d+", text.rsplit(",")[-1]) for text in Path("out.csv").read_text().splitlines()[1:])


def test_a_file_without_a_header(command):
    Path("bare.csv").write_text("a,900\nb,2\n")
    assert command("discrete", "bare.csv", "--no-header", "-k", 2, *NOISE, "-o", "out.csv")[0] == 0
    assert list(released()) == ["a"]


def test_alpha_from_an_estimate(command, refused):
    Path("last.csv").write_text("level,people\n" + "".join(f"{x},20000\n" for x in ("low", "middle", "one", "none")))
    Path("now.csv").write_text("level,people\nlow,500\nmiddle,300\none,9\nnone,0\n")
    given = ["--estimate", "last.csv", "--delta", "1e-9", "--epsilon", 1]
    status, out, err = command("laplace", "now.csv", *given, FLOAT, "-o", "out.csv", "--json")
    record = json.loads(out)
    assert (status, err) == (0, "")
    assert record["delta"] == 1e-9
    assert 0.2 < record["alpha"] < 0.25
    assert record["scale"] < 2
    assert "misled" in record["notion"]
    refused("labels-differ", "laplace", "counts.csv", *given, FLOAT, "-o", "other.csv")


@pytest.mark.parametrize(
    ("arguments", "code", "shown"),
    [
        (["discrete", "-k", 4, *NOISE, "-o", "out.csv"], "usage", "give one of COUNTS.csv and --data"),
        (
            ["discrete", "counts.csv", "--data", "x.csv", "-k", 4, *NOISE, "-o", "out.csv"],
            "usage",
            "give one of COUNTS.csv",
        ),
        (["discrete", "counts.csv", "--column", "x", "-k", 4, *NOISE, "-o", "out.csv"], "usage", "belong together"),
        (["discrete", "--data", "counts.csv", "-k", 4, *NOISE, "-o", "out.csv"], "usage", "belong together"),
        (["discrete", "counts.csv", "-k", 4, *NOISE], "usage", "--output is missing"),
        (["discrete", "counts.csv", "--plan", "-k", 4, *NOISE], "usage", "--plan reads no data; leave out a file"),
        (["discrete", "--plan", "-k", 4, *NOISE, "-o", "out.csv"], "usage", "leave out --output"),
        (["discrete", "counts.csv", *NOISE, "-o", "out.csv"], "usage", "Missing option '-k'"),
        (["discrete", "counts.csv", "-k", 4, "--delta", 0.1, "-o", "out.csv"], "usage", "Missing option '--epsilon'"),
        (["discrete", "counts.csv", "-k", "x", *NOISE, "-o", "out.csv"], "usage", "'x' is not a valid integer"),
        (["discrete", "counts.csv", "-k", 0, *NOISE, "-o", "out.csv"], "not-a-whole-number", ""),
        (["discrete", "counts.csv", "-k", 3, *NOISE, "-o", "out.csv"], "too-many-counters", ""),
        (["discrete", "counts.csv", "-k", 4, *NOISE, "-o", "counts.csv"], "same-file", ""),
        (
            ["discrete", "counts.csv", "-k", 4, *NOISE, "-o", "out.csv", "--record", "counts.csv"],
            "wrong-file-ending",
            "",
        ),
        (
            ["discrete", "counts.csv", "-k", 4, *NOISE, "-o", "out.csv", "--record", "./out.csv"],
            "wrong-file-ending",
            "",
        ),
        (["discrete", "counts.csv", "-k", 4, *NOISE, "-o", "no/out.csv"], "cannot-write", ""),
        (["discrete", "counts.csv", "-k", 4, *NOISE, "-o", "out.csv", "--record", "no/r.json"], "cannot-write", ""),
        (["discrete", "missing.csv", "-k", 4, *NOISE, "-o", "out.csv"], "cannot-read", ""),
        (["discrete", "counts.csv", "-k", 4, *TARGET, "--sigma", "0.1", "-o", "out.csv"], "no-noise-enough", ""),
        (["discrete", "counts.csv", "-k", 4, *TARGET, "--tau", "9", "-o", "out.csv"], "missing-argument", ""),
        (
            ["discrete", "counts.csv", "-k", 4, *TARGET, "--analysis", "x", "-o", "out.csv"],
            "usage",
            "'x' is not one of",
        ),
        (["top-k", "counts.csv", "-k", 4, *TARGET, "--analysis", "x", "-o", "out.csv"], "unknown-choice", ""),
        (["csh", "counts.csv", "-k", 4, *NOISE, "-o", "out.csv"], "float-noise", ""),
        (["gshm", "counts.csv", "-k", 4, *NOISE, "-o", "out.csv"], "float-noise", ""),
        (["top-k", "counts.csv", "-k", 4, *NOISE, "--noise", "continuous", "-o", "out.csv"], "float-noise", ""),
        (["laplace", "counts.csv", "--epsilon", 1, "-o", "out.csv"], "float-noise", ""),
        (["laplace", "counts.csv", FLOAT, "-o", "out.csv"], "conflicting-arguments", ""),
        (
            ["laplace", "counts.csv", "--epsilon", 1, "--delta", 0.1, FLOAT, "-o", "out.csv"],
            "usage",
            "belongs to --estimate",
        ),
        (
            ["laplace", "counts.csv", "--epsilon", 1, "--estimate", "counts.csv", FLOAT, "-o", "out.csv"],
            "usage",
            "needs --delta",
        ),
        (["laplace", "counts.csv", "--epsilon", 1, "--alpha", "0.3", FLOAT, "-o", "out.csv"], "out-of-range", ""),
    ],
)
def test_bad_input_ends_with_status_2_and_one_line(refused, arguments, code, shown):
    refused(code, *arguments, shown=shown)


def test_both_files_or_none(command, here, monkeypatch):
    Path("out.csv").write_text("what stood here")

    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("mechdesign.data.files.os.fsync", full)
    status, out, err = command(
        "discrete", "counts.csv", "-k", 4, *NOISE, "-o", "out.csv", "--record", "r.json", "--overwrite"
    )
    assert (status, out) == (2, "")
    assert "No space left" in err
    assert Path("out.csv").read_text() == "what stood here"
    assert sorted(path.name for path in here.iterdir()) == ["counts.csv", "out.csv"]


@pytest.mark.parametrize("name", [[], *([name] for name in CASES)])
def test_help(command, name):
    status, out, err = command(*name, "--help")
    assert (status, err) == (0, "")
    assert "--plan" in out


def test_the_count_subtracted_is_released_where_its_noise_is_given(command, here):
    options = ["-k", 2, *NOISE, "--value-sigma", "4", "-o", "out.csv", "--record", "r.json"]
    status, out, _ = command("top-k", "counts.csv", *options)
    assert status == 0
    assert "is released with noise of its own" in facts(out)["released"]
    record = json.loads(Path("r.json").read_text())
    assert record["value_sigma"] == "4"
    assert f"{record['subtracted']:g}: the (k+1)-th largest count" in facts(out)["subtracted"]
    assert "an excess plus the released (k+1)-th largest count, called subtracted" in record["reading"]
    assert abs(record["subtracted"] - 1_500) < 40  # ten standard deviations
    assert float(record["delta"]) > TopKPlan.of(2, epsilon=1, sigma=9, tau=100).delta
    status, out, _ = command("top-k", "counts.csv", "-k", 2, *NOISE, "-o", "out2.csv", "--json")
    assert json.loads(out)["subtracted"] is None


def test_excesses_are_not_read_as_counts(command, capsys):
    assert command("top-k", "counts.csv", "-k", 2, *NOISE, "--whole", "-o", "out.csv")[0] == 0
    assert run(["design", "--counts", "out.csv", "--epsilon", "1", "--radius", "0", "-o", "m.json"]) == 2
    assert "the column 'excess' of `mechdesign histogram top-k` holds no counts" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("options", "code"),
    [
        (["--value-sigma", "0", *NOISE], "out-of-range"),
        (["--value-sigma", "x", *NOISE], "not-a-number"),
        (["--value-sigma", "5", *TARGET, "--noise", "continuous"], "missing-argument"),
    ],
)
def test_bad_noise_of_the_count_subtracted(refused, options, code):
    refused(code, "top-k", "--plan", "-k", 2, *options)
