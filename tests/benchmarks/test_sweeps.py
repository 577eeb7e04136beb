"""What is measured of sweeps is measured right: the same designs by every way, and only what a sweep adds."""

from dataclasses import replace

import pytest

from benchmarks import measure, report, sweeps


def test_forty_different_designs_are_swept():
    wanted = sweeps.problems(measure.Sizes().swept)
    assert len(wanted) == 40 == len({(p.uncertainty, p.epsilon) for p in wanted})
    assert [p.uncertainty.size for p in wanted] == sorted((p.uncertainty.size for p in wanted), reverse=True)
    assert len({p.epsilon for p in sweeps.small_problems(1000)}) == 1000


def test_what_a_sweep_adds_is_told_for_each_way_to_keep_results():
    rows = list(sweeps.overhead(5))
    assert [row["what"] for row in rows] == ["solved", "solved and kept", "proved again"]
    assert [row["designing"] > 0 for row in rows] == [True, True, False]
    for row in rows:
        assert row["overhead"] == pytest.approx((row["seconds"] - row["designing"]) / 5 * 1e3)


WAYS = [
    {"way": "one process", "designs": 40, "seconds": 20.0, "ratio": 1.0, "certified": True, "columns": ["a", "b"]},
    {"way": "2 processes", "designs": 40, "seconds": 11.0, "ratio": 1.81, "certified": True, "columns": ["a", "b"]},
]
SMALL = {"what": "solved", "problems": 10, "seconds": 1.0, "designing": 0.9, "overhead": 10.0}


def test_the_report_says_what_was_reached():
    shown = report._sweeps([*WAYS, SMALL, {"skipped": "no cluster"}])
    assert "| 2 processes | at least 1.7 times one process | 1.81 | yes |" in shown
    assert "at most 5 ms a problem | 10 ms | **no** |" in shown
    assert "no cluster" in shown


def test_another_result_of_another_way_ends_the_measurement(monkeypatch):
    made = sweeps.exact
    seen = []

    def changed(found):
        seen.append(found)
        values = made(found)
        return values if len(seen) < 2 else values[::-1]

    monkeypatch.setattr(sweeps, "exact", changed)
    monkeypatch.setattr(sweeps, "ROUNDS", 1)
    monkeypatch.setattr(sweeps, "sharing_nothing", lambda wanted: 1.0)
    monkeypatch.setattr(sweeps, "WAYS", dict.fromkeys(("one", "two"), sweeps.opened_executor))
    with pytest.raises(AssertionError, match="found other designs"):
        list(sweeps.sweeps(replace(measure.QUICK, swept=("sex",), trivial=1)))
