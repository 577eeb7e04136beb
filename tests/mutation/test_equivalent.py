"""The list of changes without effect is about the code as it is."""

import tomllib
from pathlib import Path

HERE = Path(__file__).parent
ENTRIES = tomllib.loads((HERE / "equivalent.toml").read_text())["equivalent"]


def test_every_line_that_is_named_is_there_and_has_a_reason():
    for entry in ENTRIES:
        assert set(entry) == {"module", "where", "operator", "before", "after", "reason"}
        lines = [line.strip() for line in (HERE.parent.parent / entry["module"]).read_text().splitlines()]
        assert entry["before"] in lines, entry
        assert entry["after"] != entry["before"]
        assert len(entry["reason"]) > 15


def test_no_change_is_named_twice():
    keys = [tuple(sorted((key, value) for key, value in entry.items() if key != "reason")) for entry in ENTRIES]
    assert len(keys) == len(set(keys))
