"""``mechdesign estimate --by``, ``--simultaneous`` and ``--plot``."""

import csv
import datetime
import io
import json
from functools import partial
from pathlib import Path

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import mechdesign as md

NAMES = ["plain", "a,b", 'say "hi"', "two\nlines", "carriage\rreturn", " spaced ", "red\x1b[31m", "=1+1", "<b>", "ü"]


@pytest.fixture
def here(here, two_levels):
    two_levels.save("m.json")
    rows = [(name, 2024 + k % 2, two_levels.outputs[k % 2]) for name in NAMES for k in range(30)]
    region, year, level = zip(*rows, strict=True)
    pd.DataFrame({"region": region, "year": year, "level": level}).to_parquet("reports.parquet")
    days = [datetime.date(2026, 5, 1 + k % 4) for k in range(300)]
    frame = pd.DataFrame({"day": days, "region": region, "label": region, "share": [0.5] * 300, "level": level})
    frame.loc[:9, "region"] = None
    frame.to_csv("reports.csv", index=False, quoting=csv.QUOTE_ALL)
    return here


def estimate(command, *options, file="reports.csv"):
    return command("estimate", file, "--column", "level", "--mechanism", "m.json", *options)


def test_a_table_for_people(command, here):
    status, out, err = estimate(command, "--by", "region", "--simultaneous")
    assert (status, err) == (0, "")
    assert out.splitlines()[1].split() == ["groups", "11", "by", "region"]
    assert "(missing)" in out
    assert r"red\x1b[31m" in out
    assert "\x1b" not in out
    assert "for all 22" in out
    assert "few" not in out


def test_groups_with_few_reports_are_marked(command, here):
    first, second = md.Mechanism.load("m.json").outputs
    Path("few.csv").write_text("g,level\n" + f"a,{first}\na,{second}\n" * 30 + f"b,{first}\n")
    status, out, _ = estimate(command, "--by", "g", file="few.csv")
    assert status == 0
    assert "1 (few)" in out
    assert "1 of 2 groups have few reports: standard errors are doubtful there" in out
    Path("one.csv").write_text(f"level\n{first}\n")
    assert "Standard errors are doubtful: their normal approximation needs" in estimate(command, file="one.csv")[1]


def test_files_hold_every_name_as_it_is(command, here):
    for ending in ("csv", "parquet", "json"):
        status, _, err = estimate(
            command, "--by", "region", "--by", "year", "-o", f"t.{ending}", file="reports.parquet"
        )
        assert (status, err) == (0, "")
    found = pq.read_table("t.parquet")
    assert found.schema.field("year").type == pa.int64()
    assert sorted(set(found["region"].to_pylist())) == sorted(NAMES)
    text = Path("t.csv").read_bytes().decode()
    rows = list(csv.DictReader(io.StringIO(text, newline="")))
    assert [row["region"] for row in rows] == found["region"].to_pylist()
    assert [float(row["frequency"]) for row in rows] == found["frequency"].to_pylist()
    assert [row["few_reports"] for row in rows] == [str(few).lower() for few in found["few_reports"].to_pylist()]
    told = json.loads(Path("t.json").read_text(encoding="utf-8"))
    assert told["schema"] == "mechdesign/estimate-by-groups/1"
    assert told["by"] == ["region", "year"]
    assert [group["group"] for group in told["groups"] for _ in told["labels"]] == [
        list(pair) for pair in zip(found["region"].to_pylist(), found["year"].to_pylist(), strict=True)
    ]
    assert [x for group in told["groups"] for x in group["frequencies"]] == found["frequency"].to_pylist()
    assert "simultaneous_intervals" not in told["groups"][0]
    assert list(found.column_names) == list(rows[0]) == [
        "region", "year", "label", "frequency", "standard_error", "lower", "upper", "identifiable", "reports",
        "few_reports",
    ]  # fmt: skip


def test_the_package_reads_the_table_that_it_writes(command, here):
    # A carriage return in a name is in quotes, so that no reader takes it for the end of a line.
    estimate(command, "--by", "region", "-o", "t.csv", file="reports.parquet")
    from mechdesign.data.tables import open_columns

    read = [name for batch in open_columns("t.csv", ["region"]).batches for name in batch.column(0).to_pylist()]
    assert sorted(set(read)) == sorted(name.strip() for name in NAMES)


def test_json_and_the_interval_of_all(command, here):
    status, out, err = estimate(command, "--by", "region", "--simultaneous", "--json")
    assert (status, err) == (0, "")
    told = json.loads(out)
    last = told["groups"][-1]
    assert last["group"] == [None]
    assert last["reports"] == 10
    assert last["few_reports"] == (last["reports"] < last["reports_needed"])
    assert told["family"] == 2 * len(told["groups"])
    for group in told["groups"]:
        for single, joint in zip(group["intervals"], group["simultaneous_intervals"], strict=True):
            assert joint[0] <= single[0] <= single[1] <= joint[1]
    alone = json.loads(estimate(command, "--simultaneous", "--json")[1])
    assert (alone["schema"], alone["family"]) == ("mechdesign/estimate/1", 2)
    status, out, _ = estimate(command, "--simultaneous", "-o", "-")
    assert out.splitlines()[0] == (
        "label,frequency,standard_error,lower,upper,simultaneous_lower,simultaneous_upper,identifiable"
    )


def test_python_gives_the_same(command, here):
    told = json.loads(estimate(command, "--by", "region", "--json", file="reports.parquet")[1])
    frame = pd.read_parquet("reports.parquet")
    found = md.estimate_frequencies(frame["level"], md.Mechanism.load("m.json"), by=frame[["region"]])
    assert [group["frequencies"] for group in told["groups"]] == [one.frequencies.tolist() for _, one in found]


def test_folders_by_keys_of_partitions(command, here):
    for year in (2024, 2025):
        Path(f"parts/year={year}").mkdir(parents=True)
        Path(f"parts/year={year}/a.csv").write_bytes(Path("reports.csv").read_bytes())
    status, out, err = estimate(command, "--by", "year", "--json", file="parts")
    assert (status, err) == (0, "")
    told = json.loads(out)
    assert [group["group"] for group in told["groups"]] == [["2024"], ["2025"]]
    assert told["parts"] == {"counted": 2, "planned": 2}


@pytest.mark.sampled
@pytest.mark.parametrize("by", [(), ("--by", "region"), ("--by", "day"), ("--by", "day", "--by", "region")])
def test_pictures(command, here, by):
    ending = "svg" if len(by) == 2 else "png"
    status, out, err = estimate(command, *by, "--plot", f"p.{ending}", "--simultaneous")
    assert (status, err) == (0, "")
    assert out.endswith(f"written  p.{ending}\n")
    content = Path(f"p.{ending}").read_bytes()
    assert content.startswith(b"\x89PNG" if ending == "png" else b"<?xml")


def test_more_groups_than_a_terminal_holds(command, here, monkeypatch):
    monkeypatch.setattr("mechdesign.cli.estimate_output._MOST_ROWS", 8)
    pd.DataFrame({"g": range(14), "level": [md.Mechanism.load("m.json").outputs[0]] * 14}).to_csv(
        "many.csv", index=False
    )
    status, out, _ = estimate(command, "--by", "g", file="many.csv")
    assert status == 0
    assert "10 more groups are not shown; -o FILE writes all of them." in out


@pytest.mark.sampled
@pytest.mark.parametrize(
    ("options", "code", "shown"),
    [
        (["--by", "nothing"], "unknown-column", ""),
        (["--by", "level"], "column-twice", ""),
        (["--by", "day", "--by", "day"], "column-twice", ""),
        (["--by", ""], "wrong-type", ""),
        (["--by", "label"], "column-twice", ""),
        (["--plot", "p.gif"], "wrong-file-ending", ""),
        (["--plot", "t.csv", "-o", "t.csv"], "wrong-file-ending", ""),
        (["--plot", "-", "--json"], "usage", "both want standard output"),
        (["--by", "share"], "wrong-column-type", ""),
        (["--by", "id"], "too-much-work", ""),
    ],
)
def test_bad_requests_end_in_one_line(refused, here, options, code, shown):
    table = {"id": range(30_000), "share": [0.5] * 30_000, "day": ["x"] * 30_000, "label": ["x"] * 30_000}
    pq.write_table(pa.table({**table, "level": [md.Mechanism.load("m.json").outputs[0]] * 30_000}), "wide.parquet")
    estimate(partial(refused, code, shown=shown), *options, file="wide.parquet")


def reports_of(mechanism, counts, group=""):
    return "".join(f"{group}{label}\n" * count for label, count in zip(mechanism.outputs, counts, strict=True))


@pytest.fixture
def three_outputs(here):
    known = md.L1Ball(["0.5", "0.5"], radius="0.05", labels=["low", "high"])
    rows = [[0.6, 0.3, 0.1], [0.1, 0.3, 0.6]]
    mechanism = md.Mechanism.from_matrix(rows, md.Guarantee(1, known), outputs=["a", "b", "c"])
    mechanism.save("m.json")
    return mechanism


def test_reports_of_another_mechanism_are_told_loudly(command, three_outputs):
    Path("wrong.csv").write_text("level\n" + reports_of(three_outputs, (100, 800, 100)))
    status, out, _ = estimate(command, file="wrong.csv")
    assert status == 0
    assert "THIS MECHANISM DID NOT MAKE THESE REPORTS" in out
    assert "THE ESTIMATES ARE WORTHLESS" in out
    found = json.loads(estimate(command, "--json", file="wrong.csv")[1])["fit"]
    assert found["p"] < 1e-6
    assert found["degrees"] == 1
    Path("right.csv").write_text("level\n" + reports_of(three_outputs, (350, 300, 350)))
    out = estimate(command, file="right.csv")[1]
    assert "can have made these reports, p = 1 (deviance 0.0, 1 degree of freedom)" in " ".join(out.split())
    assert "WORTHLESS" not in out


@pytest.mark.parametrize("options", [["-q", "-o", "t.csv"], ["-q", "-o", "-"], ["--json"]])
def test_worthless_estimates_are_told_where_there_is_no_summary(command, three_outputs, options):
    Path("wrong.csv").write_text("level\n" + reports_of(three_outputs, (100, 800, 100)))
    status, _, err = estimate(command, *options, file="wrong.csv")
    assert status == 0
    assert err.startswith("Warning: THE ESTIMATES ARE WORTHLESS")
    assert err.count("\n") == 1
    Path("right.csv").write_text("level\n" + reports_of(three_outputs, (350, 300, 350)))
    assert estimate(command, *options, file="right.csv")[2] == ""


def test_a_chance_too_small_for_a_float_is_not_called_0(command, three_outputs):
    Path("far.csv").write_text("level\n" + reports_of(three_outputs, (12_000, 6_000, 2_000)))
    out = estimate(command, file="far.csv")[1]
    assert "not from a distribution that the guarantee is for, p below 1e-300:" in " ".join(out.split())


def test_a_fit_that_one_sample_in_a_thousand_has_is_told(command, three_outputs):
    Path("odd.csv").write_text("level\n" + reports_of(three_outputs, (320, 360, 320)))
    out = estimate(command, file="odd.csv")[1]
    assert "this mechanism hardly made these reports" in out
    assert "The estimates are doubtful" in out


def test_groups_outside_of_the_priors_are_named_with_their_leakage(command, three_outputs):
    near = reports_of(three_outputs, (700, 600, 700), "near,")
    far = reports_of(three_outputs, (1100, 600, 300), "far,")
    Path("groups.csv").write_text("g,level\n" + near + far)
    _, out, _ = estimate(command, "--by", "g", file="groups.csv")
    assert "1 of 2 groups are outside of the priors of the guarantee; leakage there:" in out
    assert "  far: 1.3" in out
    assert "  near" not in out
    assert "The reports are not from a distribution that the guarantee is for" in out
    found = json.loads(estimate(command, "--by", "g", "--json", file="groups.csv")[1])
    assert found["outside"]["leakage"] < found["groups"][0]["outside"]["leakage"]
    assert found["groups"][1]["outside"] is None
