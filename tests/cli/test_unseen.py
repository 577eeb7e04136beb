"""Labels that the records of a sample lack: said before a design begins, and added by `--unseen`."""

import json

import pytest

DESIGN = ["design", "--data", "records.csv", "--column", "airport", "--epsilon", "1"]
NOTE = "Note: the categories are the 3 labels in the records, and privatize will refuse a record with any other"


@pytest.fixture
def here(here):
    (here / "records.csv").write_text("airport\n" + "LGA\n" * 60 + "JFK\n" * 30 + "EWR\n" * 10)
    (here / "later.csv").write_text("airport\nLGA\nBOS\n")
    return here


@pytest.mark.parametrize("size", [["--delta", "1e-3"], ["--radius", "0.1"]], ids=" ".join)
def test_a_design_says_at_once_what_privatize_will_refuse(command, monkeypatch, size):
    def interrupted(*arguments, **options):
        raise KeyboardInterrupt

    monkeypatch.setattr("mechdesign.cli.design.design", interrupted)
    status, out, err = command(*DESIGN, *size)
    assert (status, out) == (3, "")
    assert err.startswith(NOTE)
    assert "--unseen CATEGORY,..." in err
    assert "privatize --unknown other" in err
    assert "Note" not in command(*DESIGN, *size, "-q")[2]


def test_what_it_says_happens_and_other_stands_for_the_rest(command, here):
    assert command(*DESIGN, "--delta", "1e-3", "-o", "m.json")[0] == 0
    report = ["privatize", "later.csv", "--column", "airport", "-o", "out.csv", "--mechanism"]
    assert command(*report, "m.json")[0] == 2
    status, out, err = command(
        *DESIGN, "--delta", "1e-3", "--unseen", 'other, "Boston, Logan"', "-o", "o.json", "--json"
    )
    assert (status, err) == (0, "")
    assert json.loads(out)["inputs"] == ["LGA", "JFK", "EWR", "other", "Boston, Logan"]
    assert json.loads((here / "o.json").read_text())["guarantee"]["counts"] == [60, 30, 10, 0, 0]
    assert command("verify", "o.json")[0] == 0
    assert command(*report, "o.json", "--unknown", "other")[0] == 0


@pytest.mark.parametrize(
    ("options", "code", "shown"),
    [
        (["--delta", "1e-3", "--unseen", "BOS,LGA"], "needless-argument", "'LGA'"),
        (["--delta", "1e-3", "--unseen", "BOS,BOS"], "label-twice", "'BOS'"),
        (["--delta", "1e-3", "--unseen", "BOS,"], "bad-label", ""),
        (["--delta", "1e-3", "--unseen", 'BOS,"MIA'], "usage", "accepted: CATEGORY,... in one line"),
        (["--delta", "1e-3", "--unseen", "BOS\nMIA"], "usage", "accepted: CATEGORY,... in one line"),
        (["--known", "--unseen", "BOS"], "never-occurs", "'BOS'"),
        (
            ["--delta", "1e-3", "--secret", "airport", "--unseen", "BOS"],
            "usage",
            "--unseen: not accepted beside --secret",
        ),
    ],
)
def test_labels_that_cannot_be_unseen_are_refused(refused, options, code, shown):
    refused(code, *DESIGN, *options, shown=shown)


def test_counts_hold_unseen_labels_themselves(refused, here):
    (here / "counts.csv").write_text("label,count\nLGA,60\nJFK,30\n")
    options = ("--unseen", "BOS", "--epsilon", "1", "--delta", "0.1")
    refused("usage", "design", "--counts", "counts.csv", *options, shown="--unseen belongs to --data")


def test_a_name_of_the_column_that_is_a_value_too_is_noted(command, here):
    """The first record of a file without names of columns would be lost."""
    (here / "plain.csv").write_text("LGA\n" * 60 + "JFK\n" * 30 + "EWR\n" * 10)
    options = ("--epsilon", "1", "--delta", "1e-3", "--unseen", "other")
    _, _, err = command("design", "--data", "plain.csv", "--column", "LGA", *options)
    assert "Note: 'LGA' is the name of the column, and one of its values too" in err
    assert "--no-header" in err
    for given in (("plain.csv", "--column", "0", "--no-header"), ("records.csv", "--column", "airport")):
        assert "is the name of the column" not in command("design", "--data", *given, *options)[2]
