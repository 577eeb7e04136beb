"""What a command does with its own input as output, and with a comparison that is not certified."""

from mechdesign.cli.main import run
from mechdesign.optimize import Design

COUNTS = "label,count\na,5\nb,3\nc,2\n"


def test_the_input_is_not_overwritten(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "counts.csv").write_text(COUNTS)
    (tmp_path / "other.csv").symlink_to(tmp_path / "counts.csv")
    for output in ("counts.csv", "other.csv"):
        assert run(["design", "--counts", "counts.csv", "--epsilon", "1", "-o", output]) == 2
        assert "is the input" in capsys.readouterr().err
    assert (tmp_path / "counts.csv").read_text() == COUNTS


def test_a_comparison_with_an_uncertified_design_has_the_status_of_a_limit(tmp_path, monkeypatch, capsys):
    (tmp_path / "counts.csv").write_text(COUNTS)
    arguments = ["compare", "--counts", str(tmp_path / "counts.csv"), "--epsilon", "1"]
    assert run(arguments) == 0
    assert "this design (certified)" in capsys.readouterr().out
    monkeypatch.setattr(Design, "certified", property(lambda self: False))
    assert run(arguments) == 3
    assert "NOT certified" in capsys.readouterr().out
