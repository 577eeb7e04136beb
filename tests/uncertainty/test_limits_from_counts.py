"""Boxes cut with a ball, and relative balls, as they follow from counts."""

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from refusals import raises

import mechdesign as md
from mechdesign.uncertainty import Box, EventSet, L1Ball, L1Box, RelativeBall
from mechdesign.uncertainty.codec import Place, TableKind
from mechdesign.uncertainty.event_limits import EventLimits
from mechdesign.uncertainty.registry import set_of, table_of

COUNTS = [40, 30, 20, 10]
DELTA = Fraction(1, 1000)


def test_a_box_cut_with_a_ball_splits_delta():
    known = L1Box.from_counts(COUNTS, DELTA)
    box, ball = Box.from_counts(COUNTS, DELTA / 2), L1Ball.from_counts(COUNTS, delta=DELTA / 2)
    assert (known.lower, known.upper, known.radius) == (box.lower, box.upper, ball.radius)
    assert (known.delta, known.evidence.samples) == (DELTA, 100)


@pytest.mark.parametrize(
    "change",
    [
        lambda x: {"radius": x["radius"] - Fraction(1, 10**9)},
        lambda x: {"lower": [x["lower"][0] + Fraction(1, 10**9), *x["lower"][1:]]},
        lambda x: {"upper": [*x["upper"][:3], x["upper"][3] - Fraction(1, 10**9)]},
    ],
)
def test_each_of_its_limits_is_checked_against_half_of_delta(change):
    known = L1Box.from_counts(COUNTS, DELTA)
    given = {"lower": known.lower, "upper": known.upper, "radius": known.radius}
    assert L1Box(**given, center=known.center, labels=known.labels).supported_by(known.evidence) == known
    sharper = L1Box(**{**given, **change(given)}, center=known.center, labels=known.labels)
    with raises("evidence-contradicts"):
        sharper.supported_by(known.evidence)
    # It would be supported by more delta than there is.
    assert sharper.supported_by(replace(known.evidence, delta=Fraction(1, 2))).delta == Fraction(1, 2)


@pytest.mark.parametrize("alpha", ["0.5", "0.9", "1", "1.3"])
def test_gamma_is_the_least_for_alpha(alpha):
    known = RelativeBall.from_counts(COUNTS, DELTA, alpha=alpha)
    limits = EventLimits.of(COUNTS, 100, DELTA)
    assert known.alpha == Fraction(alpha)
    assert limits.allows(known.line)
    assert not limits.allows((known.alpha, known.gamma - Fraction(1, 10**11)))
    with raises("evidence-contradicts"):
        RelativeBall(COUNTS_AS_PRIOR, alpha, known.gamma - Fraction(1, 10**9)).supported_by(known.evidence)


COUNTS_AS_PRIOR = [Fraction(count, 100) for count in COUNTS]


def test_alpha_one_is_the_ball_of_clopper_and_pearson():
    counts = [count * 7 for count in COUNTS]
    known, ball = RelativeBall.from_counts(counts, DELTA, alpha=1), L1Ball.from_counts(counts, delta=DELTA)
    # The ball is for every event of 280 samples, the relative ball for those that 4 counts can make.
    assert ball.radius - Fraction(1, 20) <= 2 * known.gamma <= ball.radius + Fraction(1, 10**12)
    assert known.l1_ball == L1Ball(known.center, 2 * known.gamma, known.labels)
    assert RelativeBall.from_counts(counts, DELTA, alpha="0.9").l1_ball is None


def test_alpha_suits_epsilon():
    """The default is among the best of many: what is lost beside the best is a small part of the design's value."""
    for epsilon in (0.5, 1.0, 2.0):
        made = {
            alpha: md.design(md.DesignProblem(RelativeBall.from_counts(COUNTS, DELTA, alpha=alpha), epsilon)).value
            for alpha in (None, "0.8", "0.9", "1", "1.1")
        }
        own = md.design(md.DesignProblem(RelativeBall.from_counts(COUNTS, DELTA, epsilon=epsilon), epsilon)).value
        assert own >= 0.93 * max(made.values())


def test_the_best_line_is_nearly_the_whole_event_set():
    counts = [900, 700, 500, 300, 200, 100, 60, 30]
    events = md.design(md.DesignProblem(EventSet.from_counts(counts, "1e-9"), 2)).value
    line = md.design(md.DesignProblem(RelativeBall.from_counts(counts, "1e-9", epsilon=2), 2)).value
    ball = md.design(md.DesignProblem(L1Ball.from_counts(counts, delta="1e-9"), 2)).value
    assert ball < line <= events + 1e-9
    assert line >= events - 0.15 * (events - ball)


@pytest.mark.slow
def test_delta_zero_and_one_hundred_symbols():
    everything = RelativeBall.from_counts(COUNTS, 0)
    assert everything.alpha == 1
    assert everything.l1_ball.holds_every_prior
    rng = np.random.default_rng(4)
    counts = rng.integers(5, 60, 100).tolist()
    known = RelativeBall.from_counts(counts, "1e-9", epsilon=2)
    solved = md.design(md.DesignProblem(known, 2))
    assert solved.certified
    assert solved.value > md.design(md.DesignProblem(L1Ball.from_counts(counts, delta="1e-9"), 2)).value
    assert md.verify(solved.mechanism).optimal


def test_what_alpha_and_epsilon_may_be():
    for given, message in (
        ({"alpha": 0}, "alpha is 0; accepted: above 0"),
        ({"alpha": "-1"}, "alpha is '-1'; accepted: above 0"),
        ({"alpha": "x"}, "alpha is 'x'"),
        ({"epsilon": -1}, "epsilon is -1"),
    ):
        with pytest.raises(md.InputError, match=message):
            RelativeBall.from_counts(COUNTS, DELTA, **given)


def test_problem_files_hold_the_alpha_that_was_chosen():
    counts = dict(zip("abcd", COUNTS, strict=True))
    known = RelativeBall.from_counts(counts, DELTA, alpha="0.8")
    table = table_of(known, TableKind.PRIOR)
    assert table == {"relative-ball": {"alpha": "4/5", "counts": counts, "delta": "0.001"}}
    assert set_of(table, Place()) == known
    del table["relative-ball"]["alpha"]
    assert set_of(table, Place()) == RelativeBall.from_counts(counts, DELTA)
    modest = RelativeBall(known.center, known.alpha, known.gamma + 1, known.labels).supported_by(known.evidence)
    assert set(table_of(modest, TableKind.PRIOR)["relative-ball"]) == {"alpha", "gamma", "center"}
    both = L1Box.from_counts(counts, DELTA)
    assert table_of(both, TableKind.PRIOR) == {"l1-box": {"counts": counts, "delta": "0.001"}}
    with raises("unknown-key"):
        set_of({"l1-box": {"counts": counts, "delta": "0.001", "alpha": "1"}}, Place())
