"""The page from the mathematics to the code: its names are public, and each closed form has a row with its tests."""

import re
from pathlib import Path

import mechdesign as md

ROOT = Path(__file__).parents[2]
TEXT = (ROOT / "docs" / "reference" / "mathematics-to-code.md").read_text()


def test_every_name_is_public():
    table = TEXT.split("## Everything else")[1].split("\n\n")[2]
    rows = [re.split(r" \| ", row) for row in table.splitlines()[2:]]
    assert len(rows) > 30
    for row in rows:
        for name in re.findall(r"`([\w.]+)`", row[1]):
            value = md
            for part in name.split("."):
                assert part in dir(value), name
                value = getattr(value, part)


def test_every_closed_form_has_its_row_with_a_test_that_exists():
    rows = TEXT.split("## Closed forms")[1].split("\n\n")[2].splitlines()[2:]
    folder = ROOT / "mechdesign" / "optimize" / "closed_form"
    assert [re.search(r"/([a-z_]+)\.py\)", row)[1] for row in rows] == [
        "binary", "binary_low_privacy", "high_privacy", "high_privacy_ball", "uniform", "uniform_ball",
        "uniform_on_average", "least_errors", "randomized_response",
    ]  # fmt: skip
    assert len(rows) == len([path for path in folder.glob("*.py") if path.stem not in {"__init__", "form"}])
    folder = ROOT / "tests" / "optimize"
    tests = "".join(
        (folder / name).read_text()
        for name in (
            "closed_form/test_closed_form.py",
            "closed_form/test_high_privacy_ball.py",
            "estimation/test_listed.py",
            "test_maximal_leakage.py",
        )
    )
    for row in rows:
        for name in row.rsplit("|", 2)[1].split(","):
            assert name.strip() == "the same" or f"def test_{name.strip().replace(' ', '_')}(" in tests, name
