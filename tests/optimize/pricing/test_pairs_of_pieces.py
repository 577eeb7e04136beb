"""Columns over boxes and event sets are priced through pairs of pieces: held against every pair of sets."""

import itertools
import math
import time
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

import mechdesign as md
from mechdesign.optimize.pricing.branch_and_bound.box_search import METHOD as BOXES
from mechdesign.optimize.pricing.pairs_of_pieces import PiecePricing, search
from mechdesign.optimize.pricing.pairs_of_pieces.cases import BY_INNER, BY_OUTER, first_cases
from mechdesign.optimize.pricing.pairs_of_pieces.columns import ColumnsOfStates
from mechdesign.optimize.pricing.pairs_of_pieces.piece_table import PieceTable
from mechdesign.optimize.pricing.pairs_of_sets import PairPricing
from mechdesign.uncertainty import Box, EventSet, L1Box, LowerLimits

COUNTS = (3000, 1400, 800, 500, 300, 150, 60, 9)
INFORMATIONS = (md.MutualInformation(), md.ChiSquare(), md.TotalVariation(), md.SquaredHellinger())


def some_problems(count):
    rng = np.random.default_rng(3)
    kinds = itertools.cycle((Box, EventSet, L1Box, LowerLimits))
    for kind, utility in zip(kinds, itertools.cycle((*INFORMATIONS, INFORMATIONS[0])), strict=False):
        size = int(rng.integers(3, 8))
        known = kind.from_counts(
            [int(n) for n in rng.permutation(COUNTS)[:size]], ("1e-9", "0.01")[int(rng.integers(2))]
        )
        multipliers = known.prior * rng.uniform(0, 0.6, size) if rng.random() < 0.7 else 0.2 * rng.normal(size=size)
        yield known, math.exp(rng.uniform(0.1, 1.6)), utility, multipliers
        count -= 1
        if count == 0:
            return


def find_less(monkeypatch, most):
    """Let searches know of no greater reduced cost than a number: bounds then rest on cases alone."""
    take = ColumnsOfStates.take

    def less(found, states):
        costs = take(found, states)
        found.greatest = min(found.greatest, most)
        return costs

    monkeypatch.setattr(ColumnsOfStates, "take", less)


def extreme_pairs(known, e):
    """Return S and M of all extreme columns of two values, by the definition, for few symbols."""
    (values, common), size = known.of_every_set(), known.size
    f, least = [Fraction(value, common) for value in values], 1 / Fraction(e)
    for S, M in itertools.product(range(1, 1 << size), repeat=2):
        if S & M or not f[S] < least < f[S | M]:
            continue
        parts = [U for U in range(1, M) if U & M == U]
        if all(f[S | U] + f[S | M & ~U] != f[S] + f[S | M] for U in parts):
            yield [[bool(mask >> i & 1) for i in range(size)] for mask in (S, M)]


def holds(case, table, inside, between, prior):
    sets = inside, inside | between
    masses = [prior @ one for one in sets]
    state = np.where(inside, 1, np.where(between, 2, 0))
    fits = all(
        table.first[row] - 1e-12 <= mass <= table.last[row] + 1e-12 for row, mass in zip(case.rows, masses, strict=True)
    )
    return fits and bool(case.allowed[state, np.arange(state.size)].all())


@pytest.mark.parametrize("e", [1.1, 2.0, 8.0])
@pytest.mark.parametrize("kind", [Box, EventSet, L1Box, LowerLimits])
def test_cases_hold_every_extreme_column(kind, e):
    known = kind.from_counts(COUNTS[1:6], "1e-9")
    table = PieceTable.of(known)
    pairs = [tuple(map(np.array, pair)) for pair in extreme_pairs(known, e)]
    assert pairs
    for inside, between in pairs:
        f = table.lower(np.array([inside, inside | between]))
        cases = list(first_cases(table, table.lower(np.eye(5, dtype=bool)) <= 1 / e, 1 / e, 1.0))
        while True:
            cases = [case for case in cases if holds(case, table, inside, between, known.prior)]
            chords = [case for case in cases if any(table.halves[row] is not None for row in case.rows)]
            if not chords:
                break
            case = chords[0]
            split = BY_INNER if table.halves[case.rows[0]] is not None else BY_OUTER
            cases = [other for other in cases if other is not case] + list(replace(case, split=split).parts(table))
        attained = []
        for case in cases:
            sets = np.array([inside, inside | between])
            lower = [table.masses[row] @ one - table.slacks[row] for row, one in zip(case.rows, sets, strict=True)]
            attained.append(np.allclose(lower, f, atol=1e-11))
        assert any(attained)


@pytest.mark.parametrize("count", [4, pytest.param(24, marks=pytest.mark.slow)])
def test_bounds_are_those_of_every_pair_of_sets(monkeypatch, count):
    monkeypatch.setattr(search, "MOST_CASES", 1_500)
    close = 0
    for known, e, utility, multipliers in some_problems(count):
        exact = PairPricing(known, e, utility).price(multipliers).upper
        price = PiecePricing(known, e, utility).price(multipliers)
        assert price.upper >= exact - 1e-11
        close += price.upper <= exact + 3e-8 * (1 + abs(exact))
        reached = utility.mu(price.best, known.prior) - multipliers @ price.best
        assert reached.max() == pytest.approx(exact, abs=1e-8)
    assert close >= 0.75 * count


def test_a_search_that_ends_early_has_a_true_bound(monkeypatch):
    for most in (0, 200):
        monkeypatch.setattr(search, "MOST_CASES", most)
        for known, e, utility, multipliers in some_problems(5):
            exact = PairPricing(known, e, utility).price(multipliers).upper
            with monkeypatch.context() as patched:
                find_less(patched, exact - 1e-3)
                assert PiecePricing(known, e, utility).price(multipliers).upper >= exact - 1e-11
            late = PiecePricing(known, e, utility).price(multipliers, deadline=time.monotonic())
            assert late.upper >= exact - 1e-11
            assert not late.whole


def test_columns_keep_the_promise_in_rationals():
    for known, e, utility, multipliers in some_problems(8):
        columns = PiecePricing(known, e, utility).guess(multipliers)
        for column in columns.T[:5]:
            v = [Fraction(x) for x in column.tolist()]
            order = sorted(range(len(v)), key=v.__getitem__, reverse=True)
            values, common = known.along(order)
            steps = zip([v[i] for i in order], [*(v[i] for i in order[1:]), 0], values, strict=True)
            least = sum(((a - b) * Fraction(f, common) for a, b, f in steps), Fraction(0))
            assert max(v) <= Fraction(e) * least * (1 + Fraction(1, 10**9))


def test_chords_are_above_f_between_their_ends():
    known = EventSet.from_counts(COUNTS, "1e-9")
    table, (f, common) = PieceTable.of(known), known.of_every_set()
    sets = np.array([[mask >> i & 1 for i in range(known.size)] for mask in range(1 << known.size)], dtype=bool)[1:-1]
    exact = np.array([value / common for value in f[1:-1]])
    np.testing.assert_allclose(table.lower(sets), exact, atol=1e-11)
    chords = [row for row, halves in enumerate(table.halves) if halves is not None]
    assert len(chords) > 20
    mass = sets @ known.prior
    for row in chords:
        within = (mass >= table.first[row]) & (mass <= table.last[row])
        assert (table.masses[row] @ sets[within].T - table.slacks[row] >= exact[within] - 1e-15).all()
        left, right = table.halves[row]
        assert (table.first[row], table.last[left], table.last[right]) == (
            table.first[left],
            table.first[right],
            table.last[row],
        )
    assert (table.first[table.roots[0]], table.last[table.roots[0]]) == (0, 1)


def test_multipliers_beyond_floats_have_no_bound():
    known = Box.from_counts(COUNTS, "1e-9")
    assert PiecePricing(known, 2.0, md.ChiSquare()).price(np.full(8, 1e308)).upper == math.inf


def test_a_bound_that_boxes_prove_is_proved_again(monkeypatch):
    known = Box.from_counts(COUNTS[:4], "1e-9")
    exact = PairPricing(known, 2.0, md.MutualInformation()).price(np.zeros(4)).upper
    monkeypatch.setattr(search, "MOST_CASES", 0)
    assert PiecePricing(known, 2.0, md.MutualInformation()).price(np.zeros(4)).upper > exact + 1e-3
    again = PiecePricing(known, 2.0, md.MutualInformation(), target=exact + 1e-6).price(np.zeros(4))
    assert again.method == BOXES
    assert exact <= again.upper <= exact + 1e-6


@pytest.mark.slow
def test_boxes_and_events_of_many_symbols_are_certified():
    counts = [round(29_000 / (1 + i) ** 2.2) + 1 for i in range(42)]
    for known, tol in ((Box.from_counts(counts, "1e-9"), 1e-6), (EventSet.from_counts(counts[:20], "1e-9"), 1e-2)):
        best = md.design(md.DesignProblem(known, 1), tol=tol)
        assert "pairs of pieces" in best.method
        assert best.certified
