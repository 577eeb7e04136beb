"""Audits of whole records: true samplers fit, and each way in which one can be wrong is seen."""

import numpy as np
import pytest

import mechdesign as md
from mechdesign.records import views_of
from mechdesign.records.record_audit import audit_records, probes
from tests.records.made import both, raises, survey

N = 200_000


def drawn(made, seed=3):
    rng = np.random.default_rng(seed)
    draw = made.drawing(rng.bytes, None)
    return lambda codes: draw(codes, None)


def test_records_show_every_value_of_every_view_and_every_view_knows_them():
    records = {"a": [*"xyzx"], "b": [*"uuvv"], "c": [*"ppqp"]}
    made = md.design_records(views_of(records, pairs=True, unseen="impossible"), 1, known=True).mechanism
    found = probes(made)
    for table, part in zip(made.tables, made.parts, strict=True):
        assert set(table.values(found).tolist()) == set(range(len(part.mechanism.inputs)))


def test_a_true_sampler_fits_and_shows_most_of_its_leakage():
    for made in (survey(), both()):
        found = audit_records(made, N, rng=np.random.default_rng(1), failure="1e-6")
        assert found.consistent
        assert found.reports == N
        # With fifteen seeds the shares of the three views were 0.72 to 0.84, those of the two 0.94 to 0.97.
        assert 0.7 * made.leakage < found.worst[1].lower_bound <= made.leakage


def test_views_drawn_by_other_weights_are_seen():
    made = survey()
    moved = [part.weight + change for part, change in zip(made.parts, (1, -1, 0), strict=True)]
    parts = [
        type(part)(part.name, part.attributes, w, part.mechanism) for part, w in zip(made.parts, moved, strict=True)
    ]
    other = type(made)(parts, made.weight_bits, made.bins)
    found = audit_records(made, N, sampler=drawn(other))
    assert (found.consistent, found.misdrawn) == (False, ("smokes", "age"))
    assert all(audit.consistent for _, audit in found.views)


def reporting(made, second, report, rng):
    """A sampler that draws the second of two views with a probability of each record, and reports as it is told."""

    def sampler(codes):
        place = (rng.random(len(codes)) < second(codes)).astype(int)
        out = np.empty(len(codes), dtype=np.int64)
        for view, part in enumerate(made.parts):
            rows = np.flatnonzero(place == view)
            out[rows] = made.firsts[view] + report(part, made.tables[view].values(codes, rows))
        return out

    return sampler


def test_a_view_that_depends_on_the_record_is_seen_though_all_shares_are_right():
    """Of three records that are tried one smokes."""
    made, rng = both(), np.random.default_rng(5)
    truly = reporting(made, lambda _: 0.5, lambda part, values: part.mechanism.sampler.draw(values, rng.bytes), rng)
    assert audit_records(made, N, sampler=truly).consistent
    likelier = reporting(
        made,
        lambda codes: np.where(codes[:, 0] == 1, 0.54, 0.48),
        lambda part, values: part.mechanism.sampler.draw(values, rng.bytes),
        rng,
    )
    found = audit_records(made, N, sampler=likelier)
    assert found.misdrawn == ()
    assert found.consistent is False
    assert {view for view, _ in found.dependent} == {"smokes", "drinks"}
    assert "smokes yes, drinks no" in {record for _, record in found.dependent}


def test_a_view_that_reports_too_truly_is_seen():
    made, rng = both(), np.random.default_rng(6)
    open_reports = reporting(made, lambda _: 0.5, lambda part, values: values, rng)
    found = audit_records(made, N, sampler=open_reports)
    assert (found.consistent, found.misdrawn, found.dependent) == (False, (), ())
    assert not any(audit.consistent for _, audit in found.views)


def test_what_an_audit_does_not_take_is_refused():
    made = survey()
    with raises("not-a-whole-number"):
        audit_records(made, 3)
    with raises("nothing-given"):
        audit_records(made, 12, rng=np.random.default_rng(1))
    with raises("sampler-wrong"):
        audit_records(made, N, sampler=lambda codes: np.zeros(len(codes), int))
    with raises("sampler-wrong"):
        audit_records(made, N, sampler=lambda codes: np.full(len(codes), 99))
    with raises("function-fails"):
        audit_records(made, N, sampler=lambda codes: [0.5])


@pytest.mark.slow
def test_true_samplers_are_hardly_ever_found_wrong():
    made = survey()
    wrong = sum(
        not audit_records(made, 5_000, rng=np.random.default_rng(seed), failure=0.05).consistent for seed in range(200)
    )
    assert wrong <= 20  # of 200, where 10 are allowed on average
