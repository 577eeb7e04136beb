"""Sweeps: each distinct design once, results that stay, files that do not prove, failures as rows."""

import json
import os
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import SimpleNamespace

import pytest
from refusals import raises

import mechdesign as md
from mechdesign.errors import InputError, LimitError, SolverError
from mechdesign.mechanism.mechanism_files import to_json
from mechdesign.sweeps import design_tasks

COUNTS = {"a": 812, "b": 150, "c": 38}


def ball(delta="1e-3", counts=COUNTS):
    return md.L1Ball.from_counts(counts, delta=delta)


def grid(epsilons=("0.5", "1"), deltas=("1e-9", "1e-3"), utility=None):
    return [md.DesignProblem(ball(delta), epsilon, utility) for delta in deltas for epsilon in epsilons]


def table(found):
    """The table of a sweep without what differs from run to run."""
    return {name: cells for name, cells in found.columns().items() if name != "seconds"}


@pytest.fixture
def designs(monkeypatch):
    """The problems that are designed."""
    seen, design = [], design_tasks.design

    def counted(problem, **options):
        seen.append(problem)
        return design(problem, **options)

    monkeypatch.setattr(design_tasks, "design", counted)
    return seen


def test_rows_are_what_design_and_compare_return():
    problems = grid(["1"], ["1e-3"], md.EstimationError()) + grid(utility=md.WorstCaseUtility(md.HammingAccuracy()))
    problems.append(md.DesignProblem(ball(), 2, lower=1))
    wanted = ("best-ldp", "randomized-response", "subset-selection")
    for row, problem in zip(md.sweep(problems, baselines=wanted), problems, strict=True):
        both = md.compare(problem)
        assert (row.solved.value, row.solved.bound, row.solved.gap) == (both.value, both.design.bound, both.design.gap)
        assert row.solved.certified
        assert row.best_ldp.value == both.best_ldp.value
        assert row.values.randomized_response == both.k_ary_randomized_response
        assert row.values.subset_selection == (both.errors and both.errors.subset_selection.value)
        assert (row.mechanism.numerators == both.design.mechanism.numerators).all()
        assert row.solved.leakage == row.mechanism.leakage


def test_distinct_problems_are_designed_once_and_ldp_once_for_a_prior_an_epsilon_and_a_utility(designs):
    problems = grid(("0.5", "1", 1.0, "1.00"), ("1e-9", "1e-3", "0.05"))
    found = md.sweep(problems, baselines=["best-ldp", "randomized-response"])
    assert len(found) == 12
    assert len(designs) == 3 * 2 + 2 == found.solved
    assert len({row.key for row in found}) == 6
    assert len({row.best_ldp.value for row in found}) == 2


def test_a_sweep_goes_on_where_it_stopped_and_a_changed_problem_is_solved_again(tmp_path, designs):
    problems, wanted = grid(), {"baselines": ["best-ldp", "randomized-response"]}
    md.sweep(problems[:3], cache=tmp_path, **wanted)
    assert len(designs) == 3 + 2
    whole = md.sweep(problems, cache=tmp_path, **wanted)
    assert len(designs) == 4 + 2
    assert (whole.solved, whole.reused) == (1, 5)
    assert table(whole)["value"] == table(md.sweep(problems, **wanted))["value"]
    del designs[:]
    again = md.sweep(problems, cache=tmp_path, **wanted)
    assert not designs
    assert again.columns() == whole.columns()  # also the seconds that each took
    changed = [*problems[:3], md.DesignProblem(ball("1e-3", {**COUNTS, "c": 39}), 1)]
    md.sweep(changed, cache=tmp_path, **wanted)
    assert len(designs) == 2  # with its own prior under LDP
    md.sweep(problems, cache=tmp_path, tol=1e-3)
    md.sweep(problems, cache=tmp_path, bits=40)
    assert len(designs) == 10


def test_every_file_of_a_folder_is_whole_and_the_mechanisms_are_ordinary_files(tmp_path):
    found = md.sweep(grid(), cache=tmp_path / "results")
    assert sorted(path.name for path in (tmp_path / "results").iterdir()) == ["designs", "mechanisms"]
    for row in found:
        path = tmp_path / "results" / row.file
        mechanism = md.Mechanism.load(path)
        assert md.verify(mechanism).optimal
        assert mechanism.optimality.value == row.solved.value
        assert (row.mechanism.numerators == mechanism.numerators).all()
        assert row.cells()["fingerprint"] == mechanism.fingerprint
        assert json.loads((tmp_path / "results" / "designs" / f"{row.key}.json").read_text())["mechanism"] == path.stem


def only(folder, part):
    (path,) = (folder / part).iterdir()
    return path


def rewritten(folder, change):
    """Change the mechanism file, under the name that its new content asks for, and the record that names it."""
    import hashlib

    path, record = only(folder, "mechanisms"), only(folder, "designs")
    text = json.loads(path.read_text())
    change(text)
    content = json.dumps(text).encode()
    told = json.loads(record.read_text())
    told["mechanism"] = hashlib.sha256(content).hexdigest()
    path.unlink()
    (folder / "mechanisms" / f"{told['mechanism']}.json").write_bytes(content)
    record.write_text(json.dumps(told))


def row_swapped(text):
    text["numerators"][0], text["numerators"][-1] = text["numerators"][-1], text["numerators"][0]


def less_private(text):
    text["guarantee"]["epsilon"] = "3"


def finer_ball(text):
    text["guarantee"]["radius"] = "0.001"


def better_bound(text):
    text["optimality"]["upper_bound"] = text["optimality"]["value"]
    text["optimality"]["lambda"] = [0.0] * 3


def better_value(text):
    text["optimality"]["value"] *= 1.5
    text["optimality"]["upper_bound"] *= 1.5


def no_claim(text):
    del text["optimality"]


def other_utility(text):
    text["optimality"]["utility"] = "total-variation"


def of_ldp(text):
    text["guarantee"] = {"epsilon": "1", "radius": "2", "counts": list(COUNTS.values())}


def honest_elsewhere(text):
    """All that it claims is true, of another problem."""
    other = md.design(md.DesignProblem(ball(), "0.5")).mechanism
    text.clear()
    text.update(json.loads(to_json(other.parts)))


CHANGES = [row_swapped, less_private, finer_ball, better_bound, better_value, no_claim, other_utility, of_ldp]


@pytest.mark.parametrize("change", [*CHANGES, honest_elsewhere, dict.clear], ids=lambda change: change.__name__)
def test_a_hostile_mechanism_is_not_believed_whatever_its_name_says(tmp_path, change, designs):
    problem = md.DesignProblem(ball(), 1)
    honest = md.sweep([problem], cache=tmp_path)
    rewritten(tmp_path, change)
    told = []
    found = md.sweep([problem], cache=tmp_path, progress=told.append)
    assert len(designs) == 2
    assert table(found) == table(honest)
    assert len(found.notes) == 1
    assert found.notes[0].endswith("; solved again")
    assert "\n" not in found.notes[0]
    assert found.notes[0] in told
    assert md.sweep([problem], cache=tmp_path).notes == ()
    assert len(designs) == 2


def cut(path):
    path.write_bytes(path.read_bytes()[:-40])


def one_digit(path):
    content = path.read_bytes()
    at = next(i for i in range(len(content) // 2, len(content)) if content[i : i + 1] in b"12345678")
    path.write_bytes(content[:at] + bytes([content[at] + 1]) + content[at + 1 :])


def test_a_file_that_was_changed_is_solved_again_even_if_what_it_claims_is_true(tmp_path):
    """A bound that is greater than it has to be proves, and would stay in the table."""
    problem = md.DesignProblem(ball(), 1)
    honest = md.sweep([problem], cache=tmp_path)
    path = only(tmp_path, "mechanisms")
    text = json.loads(path.read_text())
    text["optimality"]["upper_bound"] *= 1.5
    path.write_text(json.dumps(text))
    found = md.sweep([problem], cache=tmp_path)
    assert table(found) == table(honest)
    assert "was changed after it was written; solved again" in found.notes[0]


@pytest.mark.combined
@pytest.mark.parametrize("part", ["designs", "mechanisms"])
@pytest.mark.parametrize(
    "damage",
    [
        cut,
        one_digit,
        lambda path: path.write_bytes(b""),
        lambda path: path.write_bytes(b"\xff\xfe"),
        lambda path: path.write_text("[]"),
        lambda path: path.write_text("[" * 100_000),
        lambda path: path.write_text('{"seconds": NaN}'),
    ],
)
def test_a_damaged_file_is_solved_again(tmp_path, part, damage):
    problem = md.DesignProblem(ball(), 1)
    honest = md.sweep([problem], cache=tmp_path)
    damage(only(tmp_path, part))
    found = md.sweep([problem], cache=tmp_path)
    assert table(found) == table(honest)
    assert len(found.notes) == 1
    assert "\n" not in found.notes[0]
    assert md.sweep([problem], cache=tmp_path).notes == ()


def test_a_mechanism_that_is_gone_is_solved_again(tmp_path):
    problem = md.DesignProblem(ball(), 1)
    row = md.sweep([problem], cache=tmp_path)[0]
    (tmp_path / row.file).unlink()
    with raises("cannot-read"):
        _ = row.mechanism
    assert md.sweep([problem], cache=tmp_path).notes
    assert row.mechanism is not None
    (tmp_path / row.file).write_text("{}")
    with raises("damaged-file"):
        _ = row.mechanism


def test_a_record_cannot_lead_out_of_the_folder(tmp_path):
    problem = md.DesignProblem(ball(), 1)
    md.sweep([problem], cache=tmp_path)
    record = only(tmp_path, "designs")
    text = json.loads(record.read_text())
    record.write_text(json.dumps({**text, "mechanism": "../../secret"}))
    assert "mechanism is '../../secret'" in md.sweep([problem], cache=tmp_path).notes[0]


def test_two_sweeps_share_a_folder_at_the_same_time(tmp_path):
    problems = grid(("0.5", "0.75", "1", "2"), ("1e-9", "1e-3"))
    with ThreadPoolExecutor(2) as pool:
        first, second = pool.map(lambda order: md.sweep(order, cache=tmp_path), [problems, problems[::-1]])
    assert first.columns()["value"] == second.columns()["value"][::-1]
    assert md.sweep(problems, cache=tmp_path).reused == 8
    assert not list(tmp_path.rglob(".*"))


def test_a_failure_is_a_row_with_its_reason(monkeypatch):
    design = design_tasks.design

    def failing(problem, **options):
        errors = {0.25: LimitError("too far"), 0.75: ZeroDivisionError("by zero"), 2.0: MemoryError()}
        if float(problem.epsilon) in errors:
            raise errors[float(problem.epsilon)]
        return design(problem, **options)

    monkeypatch.setattr(design_tasks, "design", failing)
    found = md.sweep(grid(("0.25", "0.5", "0.75", "2"), ("1e-3",)), baselines=["best-ldp"])
    assert [row.solved is None for row in found] == [True, False, True, True]
    assert found[0].failure == "too far"
    assert "ZeroDivisionError: by zero" in found[2].failure
    assert "out of memory" in found[3].failure
    assert found[0].baselines_missing == "best LDP mechanism: too far"
    assert found[1].baselines_missing == ""
    assert repr(found) == "SweepResult(4 problems, 1 certified, 3 failed; 2 designs solved, 0 reused)"


def test_a_failure_is_tried_again_by_the_next_sweep(tmp_path, monkeypatch):
    def failing(problem, **options):
        raise SolverError("no luck")

    with monkeypatch.context() as patched:
        patched.setattr(design_tasks, "design", failing)
        assert md.sweep(grid(), cache=tmp_path).solved == 0
    assert md.sweep(grid(), cache=tmp_path).solved == 4


def test_a_design_that_time_stops_serves_only_for_the_same_limit(tmp_path, designs):
    counts = {f"x{i}": 1000 // (i + 1) for i in range(30)}
    problem = md.DesignProblem(md.L1Ball.from_counts(counts, delta="1e-3"), 1)
    first = md.sweep([problem], cache=tmp_path, time_limit=0)[0]
    assert first.solved.stopped == "time limit"
    assert not first.solved.certified
    again = md.sweep([problem], cache=tmp_path, time_limit=0)
    assert (len(designs), again.reused) == (1, 1)
    assert table(again)["bound"] == [first.solved.bound]
    md.sweep([problem], cache=tmp_path, time_limit=0.001)
    assert len(designs) == 2
    assert len(list((tmp_path / "designs").iterdir())) == 2


def test_an_interruption_ends_the_sweep_and_leaves_what_is_finished(tmp_path, monkeypatch):
    design, seen = design_tasks.design, []

    def interrupted(problem, **options):
        from dataclasses import replace

        seen.append(problem)
        solved = design(problem, **options)
        return replace(solved, stopped="interrupted") if len(seen) == 3 else solved

    monkeypatch.setattr(design_tasks, "design", interrupted)
    with pytest.raises(KeyboardInterrupt):
        md.sweep(grid(), cache=tmp_path)
    assert len(list((tmp_path / "designs").iterdir())) == 2
    assert md.sweep(grid(), cache=tmp_path).reused == 2


class Quadratic(md.MutualInformation):
    """A utility without a name."""

    name = "quadratic of my own"


def test_a_utility_of_ones_own_is_solved_in_memory_and_one_line_says_that_it_is_not_kept(tmp_path):
    problems = [md.DesignProblem(ball(), epsilon, Quadratic()) for epsilon in (0.5, 1)]
    found = md.sweep(problems, cache=tmp_path, baselines=["best-ldp", "randomized-response"])
    assert [row.solved.certified for row in found] == [True, True]
    (note,) = found.notes
    assert note.startswith("4 of 4 designs are for a utility or a set that no file can hold: they were not kept")
    assert found[0].file is None
    assert found[0].mechanism.leakage <= 0.5
    assert not list((tmp_path / "designs").iterdir())
    assert md.sweep(problems).notes == ()


@pytest.mark.slow
def test_what_cannot_be_sent_to_another_process_is_a_row():
    class Local(md.MutualInformation):
        name = "local"

    from mechdesign.engine import opened_executor

    problems = [md.DesignProblem(ball(), 1, Local()), md.DesignProblem(ball(), 1)]
    with opened_executor(2) as pool:
        found = md.sweep(problems, pool, baselines=["randomized-response"])
    assert "cannot be sent to another process" in found[0].failure
    assert "cannot be sent to another process" in found[0].baselines_missing
    assert found[1].solved.certified


@pytest.mark.parametrize(
    ("options", "code"),
    [
        ({"baselines": "best-ldp"}, "wrong-type"),
        ({"baselines": ["best"]}, "unknown-choice"),
        ({"tol": 2}, "out-of-range"),
        ({"bits": 99}, "not-a-whole-number"),
        ({"time_limit": -1}, "out-of-range"),
        ({"executor": 2}, "wrong-type"),
        ({"problems": [1]}, "wrong-type"),
        ({"cache": "/proc/nothing"}, "cannot-write"),
        ({"cache": __file__}, "cannot-write"),
        ({"cache": "a\0b"}, "cannot-write"),
    ],
)
def test_what_is_malformed_is_refused_before_anything_is_solved(options, code, designs):
    given = {"problems": grid(), **options}
    with raises(code) as refused:
        md.sweep(**given)
    assert "\n" not in str(refused.value)
    assert not designs


@pytest.mark.skipif(os.geteuid() == 0, reason="the superuser writes everywhere")
def test_a_folder_that_cannot_be_written_is_refused(tmp_path, designs):
    tmp_path.chmod(0o500)
    with pytest.raises(InputError, match="cannot make the folder"):
        md.sweep(grid(), cache=tmp_path)
    assert not designs


def test_progress_tells_what_is_left(monkeypatch):
    told, times = [], iter(float(k) for k in range(100))
    monkeypatch.setattr("mechdesign.sweeps.running.time", SimpleNamespace(monotonic=lambda: next(times)))
    md.sweep(grid(), progress=told.append)
    assert told == [
        "sweeping: 1 of 4 tasks",
        "sweeping: 2 of 4 tasks",
        "sweeping: 3 of 4 tasks, about 1 s left",
        "sweeping: 4 of 4 tasks",
    ]


def test_an_empty_sweep_is_an_empty_table():
    found = md.sweep([])
    assert len(found) == 0
    assert found.columns()["value"] == []
    with raises("nothing-given"):
        found.plot()


def test_the_folder_is_the_one_that_is_given(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    md.sweep(grid()[:1], cache="here")
    assert Path("here", "designs").is_dir()
