"""The commands `table` and `export`, and the others on their files."""

import csv
import json
from collections import Counter

import numpy as np
import pytest

ROWS = (
    [("husband", "m")] * 50 + [("wife", "f")] * 30 + [("child", "m")] * 12 + [("child", "f")] * 9 + [("other", "f")] * 4
)
TABLE = ("table", "--data", "file.csv", "--column", "role", "--epsilon", "1", "--known")
BOTH = ("table", "--data", "file.csv", "--columns", "role,sex", "--epsilon", "1", "--known")


@pytest.fixture
def here(here):
    lines = [f"{role},{sex},{place}" for place, (role, sex) in enumerate(ROWS)]
    (here / "file.csv").write_text("\n".join(["role,sex,age", *lines]) + "\n")
    (here / "counts.csv").write_text("label,count\nhusband,50\nwife,30\nchild,21\nother,4\n")
    return here


def read(path):
    with path.open(newline="") as file:
        return list(csv.DictReader(file))


def test_a_column_is_published_with_its_own_categories(here, command):
    status, out, _ = command(*TABLE, "-o", "t.json")
    assert status == 0
    for words in ("invariant", "optimal (certified)", "sees the counts", "unchanged"):
        assert words in out
    status, out, _ = command("verify", "t.json")
    assert status == 0
    assert "all claims hold" in out
    assert "unchanged-share" in out
    publish = ("privatize", "file.csv", "--column", "role", "--mechanism", "t.json", "--keep", "age", "-o", "p.csv")
    status, out, _ = command(*publish)
    assert "the counts that the table was made for stay true on average" in " ".join(out.split())
    rows = read(here / "p.csv")
    assert [row["age"] for row in rows] == [str(place) for place in range(len(ROWS))]
    assert {row["role"] for row in rows} <= {"husband", "wife", "child", "other"}
    status, out, _ = command("estimate", "p.csv", "--column", "role", "--mechanism", "t.json", "--json")
    assert status == 0


def test_counts_and_records_give_the_same_table(here, command):
    found = [
        json.loads(command(*start, "--epsilon", "1", "--known", "--json")[1])
        for start in (("table", "--counts", "counts.csv"), ("table", "--data", "file.csv", "--column", "role"))
    ]
    assert found[0]["value"] == found[1]["value"]
    assert found[0]["inputs"] == found[1]["inputs"]
    assert found[0]["gap"] <= 1e-9
    assert np.dot(found[0]["unchanged"], [50, 30, 21, 4]) / 105 == pytest.approx(found[0]["value"])


def test_columns_are_published_together_by_one_table(here, command):
    status, out, _ = command(*BOTH, "-o", "both.json", "--json")
    assert status == 0
    record = json.loads(out)
    assert record["table"]["columns"] == ["role", "sex"]
    assert set(record["inputs"]) == {"husband & m", "wife & f", "child & m", "child & f", "other & f"}
    status, out, err = command("privatize", "file.csv", "--mechanism", "both.json", "--keep", "age", "-o", "p.csv")
    assert status == 0, err
    rows = read(here / "p.csv")
    assert list(rows[0]) == ["role", "sex", "age"]
    assert {f"{row['role']} & {row['sex']}" for row in rows} <= set(record["inputs"])  # no husband f, ever
    status, out, _ = command("estimate", "p.csv", "--mechanism", "both.json", "--json")
    assert json.loads(out)["labels"] == record["inputs"]
    assert command("verify", "both.json")[0] == 0


def test_folders_are_published_together_too(here, command):
    command(*BOTH, "-o", "both.json")
    (here / "parts").mkdir()
    for part in ("a.csv", "b.csv"):
        (here / "parts" / part).write_bytes((here / "file.csv").read_bytes())
    assert command("privatize", "parts", "--mechanism", "both.json", "-o", "out")[0] == 0
    assert list(read(here / "out" / "a.csv")[0]) == ["role", "sex"]
    assert len(read(here / "out" / "b.csv")) == len(ROWS)


def test_what_a_table_of_columns_does_not_take_is_refused(here, command, refused):
    command(*BOTH, "-o", "both.json")
    privatize = ("privatize", "file.csv", "--mechanism", "both.json", "-o", "p.csv")
    refused("usage", *privatize, "--column", "role", shown="role, sex")
    (here / "file.csv").write_text("role,sex\nhusband,f\n")
    refused("unknown-label", *privatize)
    (here / "file.csv").write_text("role,sex\n,f\n")
    refused("missing-value", *BOTH)
    (here / "file.csv").write_text("role,sex\na & b,f\nc,m\n")
    refused("ambiguous-labels", *BOTH, shown="'a & b'")
    (here / "file.csv").write_text("role,sex\na &,f\nc,m\n")
    refused("ambiguous-labels", *BOTH, shown="'a &'")


def test_the_exported_matrix_sums_to_exactly_1_in_every_order(here, command):
    command(*TABLE, "-o", "t.json")
    assert command("export", "t.json", "--sdcmicro", "-o", "t.csv")[0] == 0
    with (here / "t.csv").open(newline="") as file:
        header, *rows = csv.reader(file)
    assert header == ["", *(row[0] for row in rows)]
    for row in rows:
        numbers = list(map(float, row[1:]))
        assert sum(numbers) == sum(numbers[::-1]) == sum(sorted(numbers)) == 1.0
    numerators = json.loads((here / "t.json").read_text())["numerators"]
    assert [[float(x) * 2.0**52 for x in row[1:]] for row in rows] == numerators


def test_what_is_no_table_is_not_exported(command, refused):
    command("design", "--counts", "counts.csv", "--epsilon", "1", "--known", "-o", "m.json")
    refused("wrong-file-format", "export", "m.json", "--sdcmicro", "-o", "t.csv", shown="mechdesign table")
    refused("usage", "export", "m.json", "-o", "t.csv", shown="--sdcmicro")


def test_constraints_are_kept_and_told(here, command):
    (here / "loss.csv").write_text(
        "x,husband,wife,child,other\nwife,1,0,1,1\nhusband,0,1,1,2\nchild,1,1,0,1\nother,2,1,1,0\n"
    )
    asked = (*TABLE, "--floor-of", "other", "0.05", "--forbid", "husband", "wife", "--loss", "loss.csv", "-o", "t.json")
    status, out, _ = command(*asked)
    assert status == 0
    for words in ("floors for 1 categories, up to 0.05 (other)", "1 forbidden pairs", "expected loss", "lower bound"):
        assert words in out
    record = json.loads((here / "t.json").read_text())
    assert record["numerators"][0][1] == 0
    assert record["table"]["floors"] == {"other": "1/20"}
    assert record["table"]["optimality"]["loss"][0] == ["0", "1", "1", "2"]
    status, out, _ = command("verify", "t.json", "--json")
    checked = json.loads(out)
    assert checked["optimality"]["utility"] == "expected-loss"
    assert checked["table"]["forbidden"] == [["husband", "wife"]]
    assert command("verify", "t.json", "--guarantee-only")[1].count("claimed, not checked") == 1


@pytest.mark.parametrize(
    ("code", "arguments", "shown"),
    [
        ("usage", ("table", "--epsilon", "1", "--known"), "--counts"),
        ("usage", ("table", "--data", "file.csv", "--epsilon", "1", "--known"), "--columns"),
        ("usage", ("table", "--counts", "counts.csv", "--column", "role", "--epsilon", "1", "--known"), "--data"),
        ("usage", (*TABLE, "--floor", "0.1", "--floor-of", "wife", "0.2"), "--floor-of"),
        ("usage", ("table", "--data", "file.csv", "--columns", "role", "--epsilon", "1", "--known"), "--column"),
        (
            "column-twice",
            ("table", "--data", "file.csv", "--columns", "role,role", "--epsilon", "1", "--known"),
            "role",
        ),
        ("unknown-label", (*TABLE, "--forbid", "husband", "aunt"), "aunt"),
        ("not-a-number", (*TABLE, "--floor-of", "wife", "much"), "much"),
        ("constraints-infeasible", (*TABLE, "--floor", "0.5"), "the least epsilon is 2.57"),
        ("labels-differ", (*TABLE, "--loss", "counts.csv"), "counts.csv"),
        ("label-twice", (*TABLE, "--floor-of", "wife", "0.1", "--floor-of", "wife", "0.2"), "0.1, 0.2"),
        ("wrong-file-ending", (*TABLE, "-o", "t.csv"), "t.csv"),
        ("radius-or-delta-missing", TABLE[:-1], "delta"),
    ],
)
def test_what_is_no_table_is_refused(refused, code, arguments, shown):
    refused(code, *arguments, shown=shown)


LOSS = "x,husband,wife,child,other\nwife,1,0,1,1\nhusband,0,1,1,2\nchild,1,1,0,1\nother,2,1,1,0\n"


def test_empty_lines_of_a_file_of_losses_say_nothing(here, command):
    (here / "loss.csv").write_text(LOSS.replace("child,1", "\nchild,1") + "\n\n")
    assert command(*TABLE, "--loss", "loss.csv")[0] == 0


@pytest.mark.parametrize(
    ("code", "text", "shown"),
    [
        ("malformed-table", LOSS.replace("wife,1,0,1,1", "wife,1,0,1,1,7"), "line 2: 6 fields"),
        ("malformed-table", LOSS.replace("child,1,1,0,1", "child,1,1,0"), "line 4: 4 fields"),
        ("not-utf8", LOSS.encode("utf-16").decode("latin-1"), "loss.csv"),
        ("labels-differ", LOSS + "other,2,1,1,0\n", "loss.csv"),
        ("labels-differ", LOSS.replace("x,husband,wife", "x,husband,husband"), "loss.csv"),
        ("not-a-number", LOSS.replace("2,1,1,0", "2,1,much,0"), "much"),
        ("nothing-given", "\n", "loss.csv is empty"),
    ],
)
def test_files_that_hold_no_losses_are_refused(here, refused, code, text, shown):
    (here / "loss.csv").write_bytes(text.encode("latin-1"))
    refused(code, *TABLE, "--loss", "loss.csv", shown=shown)


def test_a_category_that_stays_what_it_is_has_a_table(here, command):
    """With invariance no other category is published as it, which then is forbidden too."""
    pairs = [word for other in ("wife", "child", "other") for word in ("--forbid", "husband", other)]
    status, out, _ = command(*TABLE, *pairs, "-o", "t.json")
    assert status == 0
    numerators = np.array(json.loads((here / "t.json").read_text())["numerators"])
    assert numerators[0].tolist() == [2**52, 0, 0, 0]
    assert (numerators[1:, 0] == 0).all()
    assert "optimal (certified)" in out
    assert command("verify", "t.json")[0] == 0


def test_published_counts_are_near_those_of_the_file(here, command):
    command(*TABLE, "-o", "t.json")
    total = Counter()
    for run in range(20):
        publish = ("privatize", "file.csv", "--column", "role", "--mechanism", "t.json", "-o", f"p{run}.csv")
        assert command(*publish)[0] == 0
        total.update(row["role"] for row in read(here / f"p{run}.csv"))
    for role, count in {"husband": 50, "wife": 30, "child": 21, "other": 4}.items():
        assert abs(total[role] / 20 - count) <= 5 * np.sqrt(count / 20)
