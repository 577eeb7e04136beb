"""Tables from counts of reports about one view of each record."""

import pickle

import numpy as np
import pytest
from scipy.stats import binom

from mechdesign import Guarantee, L1Ball, Mechanism
from mechdesign.deploy.estimation import Estimation
from mechdesign.records import RecordMechanism, RecordPart
from mechdesign.records.agreement import chance_of_draw
from mechdesign.records.record_estimation import RecordEstimation
from mechdesign.records.record_views import join
from mechdesign.records.table_estimates import RecordEstimate
from tests.helpers.refusals import raises

VALUES = {"sex": ("f", "m"), "pay": ("low", "mid", "high"), "smokes": ("no", "yes")}
BITS = 20


def response(labels, epsilon=1.5):
    """Randomized response, in integers."""
    N = len(labels)
    low = int(2**BITS / (N - 1 + np.exp(epsilon)))
    matrix = np.full((N, N), low)
    np.fill_diagonal(matrix, 2**BITS - (N - 1) * low)
    known = L1Ball(["1/" + str(N)] * N, radius=2, labels=labels)
    return Mechanism(matrix, BITS, Guarantee(epsilon + 0.01, known), [f"says {label}" for label in labels])


def mechanism(*views, impossible=()):
    parts = []
    for place, attributes in enumerate(views):
        combinations = [
            tuple(VALUES[a][i] for a, i in zip(attributes, cell, strict=True))
            for cell in np.ndindex(*(len(VALUES[a]) for a in attributes))
        ]
        labels = join([each for each in combinations if each not in impossible])
        weight = (1 << 8) // len(views) + (place == 0) * ((1 << 8) % len(views))
        parts.append(RecordPart("+".join(attributes), attributes, weight, response(labels)))
    return RecordMechanism(tuple(parts), weight_bits=8)


PAIRS = (("sex", "pay"), ("pay", "smokes"), ("smokes", "sex"))
SINGLE = tuple((name,) for name in VALUES)


def counts_of(made, n, seed=0):
    rng = np.random.default_rng(seed)
    joint = rng.dirichlet(np.ones(12)).reshape(2, 3, 2)
    names, found, truth = list(VALUES), [], {}
    for part, size in zip(made.parts, rng.multinomial(n, made.shares), strict=True):
        places = [names.index(each) for each in part.attributes]
        marginal = np.transpose(joint.sum(axis=tuple({0, 1, 2} - set(places))), np.argsort(np.argsort(places)))
        codes = [
            tuple(VALUES[a].index(v) for a, v in zip(part.attributes, label.split(" & "), strict=True))
            for label in part.mechanism.inputs
        ]
        law = np.array([marginal[code] for code in codes])
        law /= law.sum()
        found.append(rng.multinomial(size, law @ part.mechanism.matrix / (law @ part.mechanism.matrix).sum()))
        truth[part.name] = law
    return np.concatenate(found).tolist(), truth, joint


def test_a_view_alone_is_estimated_as_by_its_own_mechanism():
    made = mechanism(*SINGLE)
    counts, _, _ = counts_of(made, 3000)
    found, start = RecordEstimation(made).of_counts(counts), 0
    for part, table in zip(made.parts, found, strict=True):
        own = counts[start : start + len(part.mechanism.outputs)]
        start += len(own)
        expected = Estimation(part.mechanism, "maximum-likelihood", "population", 0.95).of_counts(own)
        assert table.attributes == part.attributes
        assert table.frequencies == pytest.approx(expected.frequencies)
        assert table.standard_errors == pytest.approx(expected.standard_errors)
        assert table.intervals == pytest.approx(expected.intervals, abs=1e-9)
        assert (table.reports_needed, table.reports) == (expected.reports_needed, sum(own))
        assert table.method == "maximum-likelihood"
        assert found.views[part.name].frequencies == pytest.approx(expected.frequencies)
        wider = table.simultaneous_intervals - expected.simultaneous_intervals
        assert wider[:, 0].max() < 0 < wider[:, 1].min()


def test_tables_of_views_that_overlap_agree_and_err_less_than_alone():
    made = mechanism(*PAIRS)
    counts, _, _ = counts_of(made, 30_000)
    found = RecordEstimation(made).of_counts(counts)
    assert [table.name for table in found] == ["sex", "pay", "smokes", "sex+pay", "pay+smokes", "smokes+sex"]
    assert {table.method for table in found} == {"least-squares"}
    sex_pay, sex, smokes_sex = found["sex+pay"], found["sex"], found["sex+smokes"]
    assert sex_pay.frequencies.reshape(2, 3).sum(axis=1) == pytest.approx(sex.frequencies)
    assert smokes_sex.frequencies.reshape(2, 2).sum(axis=0) == pytest.approx(sex.frequencies)
    assert (sex_pay.standard_errors < found.views["sex+pay"].standard_errors).all()
    for table in found:
        assert table.frequencies.sum() == pytest.approx(1)
        lower, upper = table.intervals.T
        assert (lower <= table.frequencies).all()
        assert (table.frequencies <= upper).all()
        assert (table.simultaneous_intervals[:, 0] <= lower).all()
        inside = lower > 0
        assert ((upper - lower) / 2)[inside] == pytest.approx(1.96 * table.standard_errors[inside], rel=0.1)


@pytest.mark.slow
def test_intervals_of_combined_tables_cover_and_errors_are_the_formula():
    made = mechanism(*PAIRS)
    estimation, runs, hits, squares, variances = RecordEstimation(made), 150, 0, 0.0, 0.0
    for seed in range(runs):
        rng = np.random.default_rng(seed)
        _, truth, _ = counts_of(made, 10, seed=7)
        sizes = rng.multinomial(4000, made.shares)
        counts = np.concatenate(
            [
                rng.multinomial(n, truth[part.name] @ part.mechanism.matrix)
                for n, part in zip(sizes, made.parts, strict=True)
            ]
        )
        table = estimation.of_counts(counts.tolist())["sex+pay"]
        inside = (table.intervals[:, 0] <= truth["sex+pay"]) & (truth["sex+pay"] <= table.intervals[:, 1])
        hits += inside.sum()
        squares += ((table.frequencies - truth["sex+pay"]) ** 2).sum()
        variances += (table.standard_errors**2).sum()
    assert 0.93 < hits / (6 * runs) < 0.985
    assert squares / variances == pytest.approx(1, abs=0.2)


def test_consistent_tables_are_those_of_a_joint_law_without_errors():
    made = mechanism(*PAIRS)
    counts, _, _ = counts_of(made, 300)
    found = RecordEstimation(made, consistent=True).of_counts(counts)
    assert found.likelihood_gap < 1e-3
    for table in found:
        assert table.frequencies.min() >= 0
        assert table.standard_errors is None
        assert table.columns()["lower"] == [None] * len(table.cells)
    assert found["sex+pay"].matrix().sum(axis=1) == pytest.approx(found["sex"].frequencies)
    assert "consistent" in repr(found)


def test_a_combination_that_is_impossible_has_no_cell():
    made = mechanism(*PAIRS, impossible=[("f", "high")])
    counts, _, _ = counts_of(made, 3000)
    table = RecordEstimation(made).of_counts(counts)["sex+pay"]
    assert ("f", "high") not in table.cells
    assert len(table.cells) == 5
    assert np.isnan(table.matrix()[0, 2])


def test_views_of_three_attributes_give_their_pairs_too():
    made = mechanism(("sex", "pay", "smokes"), ("pay",))
    counts, truth, joint = counts_of(made, 100_000)
    found = RecordEstimation(made).of_counts(counts)
    assert len(list(found)) == 7
    assert found["smokes+sex"].frequencies.reshape(2, 2) == pytest.approx(joint.sum(axis=1), abs=0.03)
    assert found["pay+sex+smokes"].frequencies == pytest.approx(truth["sex+pay+smokes"], abs=0.03)
    assert (found["pay"].standard_errors < found.views["pay"].standard_errors).all()


def test_a_table_that_no_view_shows_is_refused_by_name():
    made = mechanism(("sex", "pay"), ("smokes",))
    counts, _, _ = counts_of(made, 300)
    found = RecordEstimation(made).of_counts(counts)
    for name in ("sex+smokes", ("smokes", "sex"), "height"):
        with raises("not-identifiable", "+".join(name) if isinstance(name, tuple) else name, "sex+pay"):
            found.marginal(name)
    for name in (0, None, [0]):
        with raises("wrong-type", "such as 'sex+salary'"):
            found[name]


def test_views_without_reports_leave_their_tables_open():
    made = mechanism(*PAIRS)
    counts, _, _ = counts_of(made, 3000)
    counts[6:12] = [0] * 6
    found = RecordEstimation(made).of_counts(counts)
    assert set(found.views) == {"sex+pay", "smokes+sex"}
    table = found["pay+smokes"]
    assert not table.identifiable.any()
    assert table.columns()["frequency"] == table.columns()["standard_error"] == [None] * 6
    assert table.intervals.tolist() == [[0, 1]] * 6
    assert found["pay"].identifiable.all()
    made = mechanism(*SINGLE)
    counts, _, _ = counts_of(made, 3000)
    counts[:2] = [0, 0]
    found = RecordEstimation(made).of_counts(counts)
    with raises("not-identifiable", "sex"):
        found.marginal("sex")


def test_the_frame_has_a_row_for_each_cell():
    made = mechanism(*PAIRS)
    counts, _, _ = counts_of(made, 300)
    found = RecordEstimation(made).of_counts(counts)
    frame = found.to_frame("pandas")
    assert len(frame) == 2 + 3 + 2 + 6 + 6 + 4
    assert frame.loc[frame.table == "sex+pay", "label"].tolist()[:2] == ["f & low", "f & mid"]
    assert "sex+pay" in found._repr_html_()
    assert isinstance(found, RecordEstimate)


def test_reports_that_the_mechanisms_cannot_make_are_found():
    made = mechanism(*PAIRS)
    counts = [0] * sum(len(part.mechanism.outputs) for part in made.parts)
    counts[0] = 3000
    assert RecordEstimation(made).of_counts(counts).fit.impossible


def test_copies_are_the_same_and_read_only():
    made = mechanism(*PAIRS)
    counts, _, _ = counts_of(made, 300)
    found = RecordEstimation(made).of_counts(counts)
    again = pickle.loads(pickle.dumps(found))
    assert again.columns() == found.columns()
    assert again.agreement == found.agreement
    with pytest.raises(ValueError, match="read-only"):
        again["sex"].frequencies[0] = 1


def test_what_is_not_accepted_is_refused():
    made = mechanism(*SINGLE)
    with raises("nothing-given"):
        RecordEstimation(made).of_counts([0] * 7)
    with raises("wrong-size", "3", "7"):
        RecordEstimation(made).of_counts([1, 2, 3])
    for wrong in (-1, 0.5):
        with raises("not-a-whole-number"):
            RecordEstimation(made).of_counts([wrong, *[3] * 6])
    with raises("out-of-range", "2"):
        RecordEstimation(made, confidence=2)
    with raises("wrong-type", "str"):
        RecordEstimation(made, consistent="yes")
    with raises("wrong-type", "Mechanism"):
        RecordEstimation(made.parts[0].mechanism)
    counts, _, _ = counts_of(made, 300)
    with raises("wrong-size", "sex"):
        RecordEstimation(made).of_counts(counts)["sex"].matrix()


@pytest.mark.sampled
@pytest.mark.parametrize(("reports", "share"), [(200, 0.5), (1_000, 0.1), (2_000, 0.9), (10_000, 0.01)])
def test_the_draw_is_refuted_by_chance_as_rarely_as_said(reports, share):
    """The exact binomial chance of each number of reports, against the chi-square approximation."""
    k = np.arange(reports + 1)
    chances = binom.pmf(k, reports, share)
    found = np.array([chance_of_draw([int(each), reports - int(each)], [share, 1 - share]) for each in k])
    assert chances[found < 1e-6].sum() < 1e-5
    assert 0.5 < chances[found < 1e-2].sum() / 1e-2 < 2
    assert chance_of_draw([3, 10], [1e-4, 1 - 1e-4]) == chance_of_draw([500], [1.0]) == 1
