"""What is measured of least estimation errors is measured right: processes have their threads, and guards bite."""

import doctest
import json
import subprocess
import sys

import pytest

import mechdesign as md
from benchmarks import error_job, errors, instances, measure, report


def row(value, bound, **more):
    found = {"known": "known", "value": value, "bound": bound, "stopped": "", "outputs": 3, "estimating": 0.1}
    return found | {"stated": value, "seconds": 2.0} | more


def test_counts_are_those_of_adult_and_of_the_formula():
    assert [len(errors.counts_of(name)) for name in measure.Sizes().errors] == [6, 9, 16, 42, 73, 94, 300]
    assert errors.counts_of("zipf-300") == instances.zipf(300, measure.TOTAL)
    assert sum(errors.counts_of("native-country")) > 30_000


def test_examples():
    found = doctest.testmod(errors)
    assert found.attempted
    assert not found.failed


def test_every_reach_is_about_something_that_is_measured():
    assert {name for name, _ in errors.REACHES} <= set(measure.Sizes().errors)
    assert {known for _, known in errors.REACHES} == set(measure.KNOWN)


def test_designs_end_in_time_for_what_was_set_out():
    assert errors.time_limits("zipf-7", 10.0) == dict.fromkeys(measure.KNOWN, 10.0)
    assert errors.time_limits("hours-per-week", 120.0)["1e-9"] == 45.0
    assert errors.time_limits("workclass", 120.0) == {"known": 120.0, "1e-9": 0.75, "LDP": 120.0}


def test_a_job_designs_and_estimates():
    found = error_job.least_error([5, 3, 2, 1], "LDP", 10.0)
    assert found["certified"]
    assert found["bound"] <= found["value"] <= found["bound"] * (1 + 1e-6)
    # The standard errors of an estimate from 100,000 reports are about those that were promised.
    assert found["stated"] == pytest.approx(found["value"], rel=0.02)


@pytest.mark.parametrize("threads", [1, 2])
def test_a_process_has_the_threads_that_it_is_given(monkeypatch, threads):
    environments = []
    plain = subprocess.run

    def kept(command, **options):
        environments.append(options["env"])
        return plain([sys.executable, "-c", "import json; print(json.dumps({'known': 'LDP'}))"], **options)

    monkeypatch.setattr(subprocess, "run", kept)
    assert errors.in_own_process([2, 1], threads, {"LDP": 1.0}) == [{"known": "LDP"}]
    assert {environments[0][name] for name in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS")} == {str(threads)}


def test_a_job_prints_a_row_for_each_set(monkeypatch, capsys, tmp_path):
    given = tmp_path / "given.json"
    given.write_text(json.dumps({"counts": [4, 2, 1], "time_limits": {"known": 5.0, "LDP": 5.0}}))
    with given.open() as file:
        monkeypatch.setattr(sys, "stdin", file)
        error_job.main()
    rows = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [found["known"] for found in rows] == ["known", "LDP"]
    assert rows[0]["value"] < rows[1]["value"]


def test_a_bound_above_a_value_of_another_process_is_not_reported():
    assert errors.joined("a", 3, {1: row(2.0, 1.9), 2: row(2.1, 1.99)})["value"] == 2.0
    with pytest.raises(AssertionError, match=r"a certified bound of 2.05 is above a value of 2.0"):
        errors.joined("a", 3, {1: row(2.0, 1.9), 2: row(2.1, 2.05)})


def test_gaps_are_reached_in_time_or_not():
    found = errors.joined("workclass", 9, {1: row(1.0, 1 - 1e-7, known="1e-9", seconds=0.9), 2: row(1.0, 0.9)})
    assert found["reach"] == (1e-6, 1)
    assert errors.reached(found)
    assert not errors.reached(found | {"relative_gap": 1e-5})
    assert not errors.reached(found | {"seconds": {1: 1.1, 2: 0.5}})
    assert errors.reached(found | {"reach": None}) is None
    beside = {"closed": 0.5, "subsets": 3.0, "response": 4.0}
    text = report.WRITERS["estimation"]([found | beside, found | beside | {"known": "known", "reach": None}])
    assert "| workclass, 1e-9 | 0.0001 % in 1 s | 1e-5 % in 0.9 s | yes |" in text
    assert text.count("| yes |") == 1
    assert "weaker" in text


def test_peers_are_those_of_the_literature():
    beside = errors.beside(errors.counts_of("relationship"))
    assert beside["subsets"] == pytest.approx(15.28, abs=0.005)
    assert beside["response"] == pytest.approx(16.71, abs=0.005)
    assert beside["closed"] == pytest.approx(2.965780, abs=1e-6)
    ball = measure.ball(errors.counts_of("relationship"), "LDP")
    assert md.design(md.DesignProblem(ball, 1, md.EstimationError())).value <= beside["subsets"]
