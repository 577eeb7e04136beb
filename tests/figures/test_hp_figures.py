import csv
import itertools
import math

import numpy as np
import pytest
from scipy import stats

from figures import figure_hp_1a, figure_hp_1b
from figures.lib import hp_laplace
from figures.lib.output import FOLDER
from mechdesign.histogram.laplace_plan import laplace_epsilon

SIGMAS = 6  # every generator here is seeded


@pytest.fixture(scope="module")
def by_epsilon():
    return figure_hp_1a.compute()


@pytest.fixture(scope="module")
def by_bins():
    return figure_hp_1b.compute()


def pairs(table):
    # Each row under PML beside that under DP for the same number of bins and epsilon.
    dp = {(row["bins"], row["epsilon"]): row for row in table if row["mechanism"] == "DP"}
    return [(dp[row["bins"], row["epsilon"]], row) for row in table if row["mechanism"] == "PML"]


@pytest.mark.sampled
@pytest.mark.parametrize("name", ["by_epsilon", "by_bins"])
def test_pml_is_better_in_every_cell_at_the_same_epsilon(name, request):
    cells = pairs(request.getfixturevalue(name))
    assert len(cells) == {"by_epsilon": 3 * 3 * 12, "by_bins": 11 * 4}[name]
    for dp, pml in cells:
        assert pml["tvd"] < dp["tvd"]
        assert dp["scale"] == pytest.approx(2 / dp["epsilon"])
        assert pml["alpha"] * pml["bins"] <= 1
        if pml["scale"] > 0:
            assert laplace_epsilon(pml["scale"], pml["alpha"]) == pytest.approx(pml["epsilon"], rel=1e-12)
        else:
            assert pml["epsilon"] >= math.log(1 / pml["alpha"])
            assert pml["tvd"] == 0


@pytest.mark.parametrize("name", ["by_epsilon", "by_bins"])
def test_the_gap_widens_as_epsilon_falls_until_the_noise_is_as_large_as_a_count(name, request):
    gaps = {}
    for dp, pml in pairs(request.getfixturevalue(name)):
        if dp["epsilon"] <= 0.5 and dp["scale"] <= hp_laplace.RECORDS / (2 * dp["bins"]):
            gaps.setdefault((dp["bins"], pml["alpha"]), []).append((dp["epsilon"], hp_laplace.gap(dp, pml)))
    assert len(gaps) == {"by_epsilon": 9, "by_bins": 11}[name]
    for line in gaps.values():
        assert len(line) >= 2
        assert (np.diff([gap for _, gap in sorted(line)]) < 0).all()


def test_beyond_that_the_gap_closes(by_epsilon):
    gaps = {
        dp["epsilon"]: hp_laplace.gap(dp, pml)
        for dp, pml in pairs(by_epsilon)
        if (dp["bins"], pml["alpha"]) == (20, 0.05)
    }
    assert gaps[0.01] < gaps[0.02] < gaps[0.05]


def test_a_greater_alpha_is_better(by_epsilon):
    cells = {(row["bins"], row["alpha"], row["epsilon"]): row["tvd"] for row in by_epsilon}
    for bins, alphas in figure_hp_1a.ALPHAS.items():
        for epsilon in figure_hp_1a.EPSILONS:
            line = [cells[bins, alpha, epsilon] for alpha in sorted(alphas)]
            assert all(a > b or a == b == 0 for a, b in itertools.pairwise(line))


def test_as_a_share_of_the_scale_the_gap_is_alpha_for_small_epsilon_and_grows(by_epsilon):
    for alpha in (0.2, 0.1, 0.04):
        shares = [
            1 - pml["scale"] / dp["scale"] for dp, pml in pairs(by_epsilon) if pml["alpha"] == alpha and dp["bins"] == 5
        ]
        assert shares[0] == pytest.approx(alpha, rel=0.01)
        assert (np.diff(shares) > 0).all()


def test_two_bins_err_by_three_quarters_of_the_scale_over_n(by_epsilon, by_bins):
    # With two bins TVD is |N1 - N2| / (2 n) to first order, and E|N1 - N2| = 3 b / 2.
    checked = 0
    for row in by_epsilon + by_bins:
        if row["bins"] == 2 and 2 < row["scale"] < 30:
            expected = 0.75 * row["scale"] / hp_laplace.RECORDS
            assert row["tvd"] == pytest.approx(expected, abs=SIGMAS * row["standard_error"] + 0.01 * expected)
            checked += 1
    assert checked > 10


@pytest.mark.parametrize("scale", [0.7, 5.0])
def test_many_records_err_by_the_rounded_noise(scale):
    # Far from 0 nothing is clipped, and |round(N)| has the mean exp(-1/(2b)) / (1 - exp(-1/b)) = 1 / (2 sinh(1/(2b))).
    counts, noise = hp_laplace.draw_data(4, 20_000, np.random.default_rng(3))
    released = hp_laplace.release(counts, noise, scale)
    found = np.abs(released - counts)
    assert found.mean() == pytest.approx(
        1 / (2 * math.sinh(1 / (2 * scale))), abs=SIGMAS * found.std() / math.sqrt(found.size)
    )


def test_one_repetition_written_out():
    rng = np.random.default_rng(9)
    counts, noise = hp_laplace.draw_data(3, 50, rng)
    scale = 400.0
    by_hand = []
    for true, unit in zip(counts.tolist(), noise.tolist(), strict=True):
        told = [round(max(0.0, c + scale * x)) for c, x in zip(true, unit, strict=True)]
        by_hand.append(
            1.0 if sum(told) == 0 else sum(abs(t / sum(told) - c / 1000) for t, c in zip(told, true, strict=True)) / 2
        )
    np.testing.assert_allclose(
        hp_laplace.distances(counts, hp_laplace.release(counts, noise, scale)), by_hand, atol=1e-14
    )
    assert min(by_hand) > 0


def test_a_release_without_a_record_has_the_greatest_distance():
    counts = np.array([[600, 400], [600, 400]])
    released = hp_laplace.release(counts, np.array([[-3.0, -3.0], [0.0, 0.0]]), 1000.0)
    np.testing.assert_array_equal(released, [[0, 0], [600, 400]])
    np.testing.assert_array_equal(hp_laplace.distances(counts, released), [1, 0])


def test_data_are_uniform_and_the_noise_is_laplace():
    counts, noise = hp_laplace.draw_data(5, 4_000, np.random.default_rng(4))
    assert (counts.sum(axis=1) == hp_laplace.RECORDS).all()
    total = counts.sum(axis=0)
    assert stats.chisquare(total).pvalue > 1e-3
    assert stats.kstest(noise.ravel(), stats.laplace.cdf).pvalue > 1e-3


def test_the_tables_that_are_kept_are_those_computed(by_epsilon, by_bins):
    for name, computed in (("figure_hp_1a", by_epsilon), ("figure_hp_1b", by_bins)):
        with (FOLDER / f"{name}.csv").open(encoding="utf-8") as file:
            kept = list(csv.DictReader(file))
        assert len(kept) == len(computed)
        for old, new in zip(kept, computed, strict=True):
            assert list(old) == list(new)
            assert old["mechanism"] == new["mechanism"]
            for key in ("bins", "alpha", "epsilon", "scale"):
                assert float(old[key]) == pytest.approx(new[key], rel=1e-9)
            # Other versions of numpy may draw other numbers.
            assert float(old["tvd"]) == pytest.approx(new["tvd"], abs=SIGMAS * 1.5 * new["standard_error"])


def test_pictures_have_a_panel_for_what_the_paper_shows_and_for_the_gap():
    quick = figure_hp_1a.compute(quick=True)
    panels = figure_hp_1a.draw(quick).axes
    assert [axis.get_title() for axis in panels[:3]] == ["k = 2", "k = 5", "k = 20"]
    assert len(panels[0].get_legend().get_texts()) == 4
    left, right = figure_hp_1b.draw(figure_hp_1b.compute(quick=True)).axes
    assert len(left.get_legend().get_texts()) == 8
    assert len(right.get_legend().get_texts()) == 4
