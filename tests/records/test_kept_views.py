"""Designs of views that a folder keeps: a run that was interrupted goes on, and what does not prove is done again."""

import hashlib
import json

import pytest

import mechdesign as md
from mechdesign.optimize.result import Design
from mechdesign.records import view_designs
from mechdesign.records.record_design import design_records
from tests.helpers.refusals import raises

THREE = {
    "smokes": {"yes": 250, "no": 750},
    "drinks": {"yes": 400, "no": 600},
    "region": {"north": 200, "east": 300, "south": 500},
}


@pytest.fixture
def designs(monkeypatch):
    """The titles of the views that are designed."""
    seen, design = [], view_designs.design

    def counted(problem, **options):
        seen.append(options["title"])
        return design(problem, **options)

    monkeypatch.setattr(view_designs, "design", counted)
    return seen


def same(one, other):
    parts = zip(one.mechanism.parts, other.mechanism.parts, strict=True)
    return one.error == other.error and all(
        first.weight == second.weight and (first.mechanism.numerators == second.mechanism.numerators).all()
        for first, second in parts
    )


def test_a_run_that_is_interrupted_goes_on_and_ends_as_a_run_without_a_folder(tmp_path, monkeypatch, designs):
    kept, design = tmp_path / "kept", view_designs.design

    def interrupted(problem, **options):
        if len(designs) == 2:
            raise KeyboardInterrupt
        return design(problem, **options)

    with monkeypatch.context() as patched:
        patched.setattr(view_designs, "design", interrupted)
        with pytest.raises(KeyboardInterrupt):
            design_records(THREE, 1, delta="1e-9", cache=kept)
    assert designs == ["smokes", "drinks"]
    found = design_records(THREE, 1, delta="1e-9", cache=kept)
    assert designs[2:] == ["region"]
    whole = design_records(THREE, 1, delta="1e-9")
    assert same(found, whole)
    found.mechanism.save(tmp_path / "found.json")
    whole.mechanism.save(tmp_path / "whole.json")
    assert (tmp_path / "found.json").read_bytes() == (tmp_path / "whole.json").read_bytes()


def test_a_view_that_an_interrupt_stops_early_ends_the_run_and_is_not_kept(tmp_path, monkeypatch):
    design = view_designs.design

    def early(problem, **options):
        found = design(problem, **options)
        return Design(**{**vars(found), "stopped": "interrupted"})

    monkeypatch.setattr(view_designs, "design", early)
    with pytest.raises(KeyboardInterrupt):
        design_records(THREE, 1, delta="1e-9", cache=tmp_path)
    assert not list(tmp_path.rglob("*.json"))


def test_what_is_found_states_what_was_proved_again(tmp_path):
    first = design_records(THREE, 1, delta="1e-9", cache=tmp_path)
    for new, old in zip(design_records(THREE, 1, delta="1e-9", cache=tmp_path).designs, first.designs, strict=True):
        assert (new.value, new.bound, new.tol, new.seconds) == (old.value, old.bound, old.tol, old.seconds)
        assert (new.certified, new.method, new.closed_form) == (old.certified, old.method, old.closed_form)
        assert new.certificate.bound >= new.bound
        assert new.mechanism.provenance == old.mechanism.provenance
        assert (new.iterations, new.columns) == (0, 0)


def test_another_promise_sample_or_use_is_another_design(tmp_path, designs):
    for epsilon, delta, counts in [
        (1, "1e-9", THREE),
        (2, "1e-9", THREE),
        (1, "1e-6", THREE),
        (1, "1e-9", THREE | {"smokes": {"yes": 251, "no": 749}}),
    ]:
        design_records(counts, epsilon, delta=delta, cache=tmp_path)
    assert len(designs) == 3 + 3 + 3 + 1
    design_records(THREE, 1, cap=2, delta="1e-9", cache=tmp_path)
    assert len(designs) == 13


def test_a_view_of_another_name_has_its_own_title(tmp_path, designs):
    design_records({"a": THREE["smokes"]}, 1, known=True, cache=tmp_path)
    (found,) = design_records({"b": THREE["smokes"]}, 1, known=True, cache=tmp_path).designs
    assert designs == ["a"]
    assert found.mechanism.provenance.problem == "b"


def test_a_file_that_was_changed_is_designed_again_and_a_line_says_so(tmp_path, designs):
    whole = design_records(THREE, 1, delta="1e-9", cache=tmp_path)
    for file in (tmp_path / "mechanisms").iterdir():
        file.write_bytes(file.read_bytes().replace(b'"bits": 48', b'"bits":  48'))
    found = design_records(THREE, 1, delta="1e-9", cache=tmp_path)
    assert same(found, whole)
    assert len(designs) == 6
    assert whole.notes == ()
    assert len(found.notes) == 3
    assert all("was changed after it was written; solved again" in note for note in found.notes)


def test_a_record_that_names_the_design_of_another_view_is_designed_again(tmp_path, designs):
    design_records(THREE, 1, delta="1e-9", cache=tmp_path)
    records = sorted((tmp_path / "designs").iterdir())
    texts = [json.loads(file.read_text()) for file in records]
    for file, text, other in zip(records, texts, texts[1:] + texts[:1], strict=True):
        file.write_text(json.dumps({**text, "mechanism": other["mechanism"]}))
    notes = design_records(THREE, 1, delta="1e-9", cache=tmp_path).notes
    assert len(designs) == 6
    assert len(notes) == 3
    assert all("is not the design of this problem; designed again" in note for note in notes)


def raise_bound(claimed):
    claimed["optimality"]["lower_bound"] *= 1.0001


def raise_value(claimed):
    claimed["optimality"]["value"] *= 1.0001


def drop_claim(claimed):
    del claimed["optimality"]


def drop_origin(claimed):
    del claimed["provenance"]


def promise_less(claimed):
    claimed["guarantee"]["epsilon"] = "2"


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (raise_bound, "the stored lower bound"),
        (raise_value, "the stored value"),
        (drop_claim, "is not the design of this problem"),
        (drop_origin, "does not say how it was designed"),
        (promise_less, "is not the design of this problem"),
    ],
)
def test_a_file_with_a_false_claim_and_its_right_name_is_designed_again(change, reason, tmp_path, designs):
    one = {"smokes": THREE["smokes"]}
    whole = design_records(one, 1, delta="1e-9", cache=tmp_path)
    (record,), (file,) = (tmp_path / "designs").iterdir(), (tmp_path / "mechanisms").iterdir()
    claimed = json.loads(file.read_text())
    change(claimed)
    content = json.dumps(claimed).encode()
    name = hashlib.sha256(content).hexdigest()
    file.with_name(f"{name}.json").write_bytes(content)
    record.write_text(json.dumps({**json.loads(record.read_text()), "mechanism": name}))
    found = design_records(one, 1, delta="1e-9", cache=tmp_path)
    assert reason in found.notes[0]
    assert found.designs[0].bound == whole.designs[0].bound
    assert len(designs) == 2


def test_a_sweep_finds_the_designs_of_views(tmp_path):
    design_records(THREE, 1, known=True, cache=tmp_path)
    problems = [md.DesignProblem(md.L1Ball.from_counts(THREE["region"], known=True), 1, md.EstimationError())]
    assert md.sweep(problems, cache=tmp_path).reused == 1


def test_a_folder_that_cannot_be_made_is_refused_before_views_are_designed(tmp_path, designs):
    (tmp_path / "file").write_text("")
    with raises("cannot-write", match="cannot make the folder"):
        design_records(THREE, 1, known=True, cache=tmp_path / "file")
    with raises("cannot-write", match="is empty"):
        design_records(THREE, 1, known=True, cache="")
    assert not designs
