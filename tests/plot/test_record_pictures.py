"""Pictures of tables of whole records."""

import numpy as np
import pytest

import mechdesign as md
from mechdesign.records import RecordEstimation, estimate_records
from tests.helpers.refusals import raises
from tests.records.test_record_estimation import PAIRS, counts_of, mechanism


@pytest.mark.parametrize("consistent", [False, True])
def test_each_table_has_a_panel_with_its_numbers(consistent):
    made = mechanism(*PAIRS, impossible=[("f", "high")])
    counts, _, _ = counts_of(made, 3000)
    found = RecordEstimation(made, consistent=consistent).of_counts(counts)
    figure = md.plot.marginals(found)
    assert [axes.get_title() for axes in figure.axes] == [table.name for table in found]
    points = figure.axes[1].lines[0].get_xdata()
    assert points == pytest.approx(found["pay"].frequencies)
    shown = figure.axes[3].images[0].get_array()
    assert np.ma.getmaskarray(shown)[0, 2] or np.isnan(shown[0, 2])
    assert figure.axes[3].texts[0].get_text() == f"{found['sex+pay'].frequencies[0]:.3f}"
    assert "3,000 reports" in figure.get_suptitle()


def test_other_estimates_are_refused():
    with raises("wrong-type"):
        md.plot.marginals([1, 2])


def test_groups_are_drawn_together():
    made = mechanism(("sex",))
    reports = {"view": ["sex"] * 4, "report": ["says f", "says m"] * 2}
    found = estimate_records(reports, made, by=[1, 1, 2, 2])
    assert "4 reports" in md.plot.marginals(found).get_suptitle()
