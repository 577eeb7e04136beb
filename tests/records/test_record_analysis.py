"""What views are worth and tell those who know something: from records and from the tables of views, the same."""

import math

import numpy as np
import pytest

import mechdesign as md
from mechdesign.records import RecordMechanism, views_of
from mechdesign.records.record_analysis import analyze_records
from mechdesign.records.side_knowledge import side_leakages, side_leakages_of_views
from tests.records.made import both


@pytest.fixture(scope="module")
def records():
    rng = np.random.default_rng(8)
    a = rng.integers(0, 3, 400)
    b = (a + rng.integers(0, 2, 400)) % 3
    return {"a": list(map(str, a)), "b": list(map(str, b)), "c": rng.choice(["u", "v"], 400).tolist()}


@pytest.fixture(scope="module")
def singles_and_a_pair(records):
    """Views of single columns and one of a and b; their tables are from the same records."""
    singles = md.design_records(views_of(records), 1, known=True).mechanism
    (pair,) = md.design_records(
        views_of(records, ["a", "b"], pairs=True, unseen="impossible"), 1, known=True
    ).mechanism.parts
    weights = [part.weight for part in singles.parts]
    rest = [type(part)(part.name, part.attributes, w // 2, part.mechanism)
            for part, w in zip(singles.parts, weights, strict=True)]  # fmt: skip
    left = (1 << singles.weight_bits) - sum(part.weight for part in rest)
    return RecordMechanism([*rest, type(pair)(pair.name, pair.attributes, left, pair.mechanism)], singles.weight_bits)


def test_the_tables_of_views_tell_as_much_as_the_records(records, singles_and_a_pair):
    from_records = {(each.view, each.known): each for each in side_leakages(singles_and_a_pair, records)}
    from_views = {(each.view, each.known): each for each in side_leakages_of_views(singles_and_a_pair)}
    assert {("a", "b"), ("b", "a"), ("a+b", "a"), ("a+b", "b")} == set(from_views)
    for pair in (("a", "b"), ("b", "a")):
        assert from_views[pair] == from_records[pair]


def test_who_knows_a_part_of_a_view_meets_the_law_given_it(singles_and_a_pair):
    """By brute force: the greatest K(r|z) / E[K(r|Z) | a] over the cells z of the value of a."""
    part = singles_and_a_pair.part("a+b")
    found = next(one for one in side_leakages_of_views(singles_and_a_pair) if (one.view, one.known) == ("a+b", "a"))
    prior, worst = part.mechanism.guarantee.uncertainty.prior, {}
    for value in "012":
        cells = [place for place, label in enumerate(part.mechanism.inputs) if label[0] == value and prior[place] > 0]
        means = prior[cells] @ part.mechanism.matrix[cells] / prior[cells].sum()
        worst[value] = np.log((part.mechanism.matrix[cells].max(axis=0)[means > 0] / means[means > 0]).max())
    assert found.leakage == pytest.approx(max(worst.values()), rel=1e-12)
    assert worst[found.value] == max(worst.values())


def test_errors_are_those_of_the_design(records):
    design = md.design_records(views_of(records, pairs=True), 1, delta="1e-6")
    found = analyze_records(design.mechanism)
    assert (found.error, found.queries, found.bound) == (design.error, design.queries, design.bound)
    assert found.respondents(0.02) == design.respondents(0.02)
    assert found.standard_error(found.respondents(0.02)) == pytest.approx(0.02, rel=1e-3)
    assert found.rivals == ()
    alone = analyze_records(md.design_records(views_of(records), 1, known=True).mechanism)
    assert [len(alone.rivals), min(each.error for each in alone.rivals) > alone.error] == [3, True]
    for view in alone.views:
        n = view.reports_for(0.02)
        assert view.largest_standard_error(n) <= 0.02 < view.largest_standard_error(n - 1)


@pytest.mark.parametrize("value", [0, -0.01, math.nan, math.inf, 1e-200, 10**400, True, "much"])
def test_standard_errors_and_numbers_of_reports_that_cannot_be_are_refused(records, value):
    design = md.design_records(views_of(records), 1, known=True)
    found = analyze_records(design.mechanism)
    for told in (design.respondents, found.respondents, found.views[0].reports_for):
        with pytest.raises(md.InputError, match="the standard error is"):
            told(value)
    for told in (found.standard_error, found.views[0].standard_error, found.views[0].largest_standard_error):
        with pytest.raises(md.InputError, match="the number of reports is"):
            told(value)


def test_the_error_of_a_group_is_that_of_the_tables_of_its_columns(records):
    """Not of its combinations, which it was not designed for: its mechanism may hardly tell them apart."""
    design = md.design_records(views_of(records, [], groups=["a+b"], unseen="impossible"), 1, known=True)
    (view,) = analyze_records(design.mechanism).views
    assert view.variances.shape == (6,)
    assert view.variances.sum() == pytest.approx(design.error, rel=1e-9)
    asked = views_of(records, [], groups=["a+b"], unseen="impossible", workloads={"a+b": "frequencies"})
    (view,) = analyze_records(md.design_records(asked, 1, known=True).mechanism).views
    assert view.variances.shape == (len(view.part.mechanism.inputs),)


def test_a_mechanism_that_claims_nothing_is_analysed_for_frequencies():
    """Warner's reports of a fair bit with log(3): n times the variance is 1; two views, each half of the reports."""
    found = analyze_records(both())
    assert [view.typical for view in found.views] == [pytest.approx(1)] * 2
    assert (found.error, found.queries, found.bound) == (pytest.approx(8), 4, None)
    assert len(found.rivals) == 2  # log(3) is not split
    assert found.rivals[0].error == pytest.approx(8)
