"""The promise of windows, on alphabets that are written out in rationals."""

import math
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from refusals import raises
from scipy.stats import chisquare

import mechdesign as md
from mechdesign.windows import SeparateCounts, design_windows
from mechdesign.windows.from_strings import default_buckets
from tests.windows.worlds import COUNTS, EARLIER, UNSEEN, designed, matrix

TOTAL = sum(COUNTS.values())
SHARES = [Fraction(n, TOTAL) for n in COUNTS.values()] + [Fraction(0)] * len(UNSEEN)
STRINGS = [*COUNTS, *UNSEEN]


@pytest.mark.sampled
@pytest.mark.parametrize(
    ("epsilon", "options"),
    [("1", {}), ("log(2)", {}), ("0.5", {"one_layer": 1}), ("2", {}), ("1", {"cap": "1.5"}), ("0.5", {"cap": "4"})],
)
def test_no_report_leaks_more_than_epsilon_and_rows_are_laws(epsilon, options):
    found = designed(epsilon, **options).mechanism
    rows = matrix(found, STRINGS)
    assert all(sum(row) == 1 for row in rows)
    budget = md.Epsilon.of(epsilon)
    cap = md.Epsilon.of(options["cap"]) if "cap" in options else None
    greatest = Fraction(0)
    for column in zip(*rows, strict=True):
        likely = sum(P * k for P, k in zip(SHARES, column, strict=True))
        greatest = max(greatest, max(column) / likely)
        if cap is not None:
            assert max(column) <= found.ldp_ratio * min(column) <= cap.exp_down * min(column)
    assert greatest <= budget.exp_down
    assert math.log(greatest) <= found.leakage + 1e-12
    assert found.leakage <= math.nextafter(float(budget), math.inf)  # rounded up


def test_without_a_cap_some_report_excludes_a_string():
    rows = matrix(designed().mechanism, STRINGS)
    assert any(min(column) == 0 for column in zip(*rows, strict=True))


@pytest.mark.sampled
@pytest.mark.parametrize("options", [{}, {"cap": "2"}])
def test_reports_are_drawn_with_the_probabilities_that_are_proved(options):
    found = designed(seeds=3, **options).mechanism
    rng = np.random.default_rng(5)
    for string in ("s0", "s2", "s15", "unseen"):
        law = np.array([float(p) for p in matrix(found, [string])[0]])
        counts = np.bincount(found.numbers(found.privatize([string] * 60_000, rng)), minlength=len(found.outputs))
        assert (counts[law == 0] == 0).all()
        assert chisquare(counts[law > 0], 60_000 * law[law > 0] / law.sum()).pvalue > 1e-5


def test_any_terrible_hash_keeps_the_promise(monkeypatch):
    """Strings of five kinds alone are told apart; windows are then heavier, never lighter."""
    from mechdesign.windows import drawn_windows, from_strings, windows_mechanism

    for module in (from_strings, windows_mechanism, drawn_windows):
        if hasattr(module, "fingerprints"):
            monkeypatch.setattr(
                module, "fingerprints", lambda strings: np.array([len(s) % 5 for s in strings], dtype=np.uint64)
            )
    found = design_windows(
        COUNTS, 1, known=True, seeds=20, buckets=64, heavy=SeparateCounts({"s0": 1}, "a guess")
    ).mechanism
    assert found.leakage <= 1


@pytest.mark.parametrize("rounds", [100, pytest.param(300, marks=pytest.mark.slow)])
def test_learnt_windows_hold_their_share_of_the_population(rounds):
    """At delta = 0.5 at most half of the designs may have a window that is too light; none is expected to."""
    rng = np.random.default_rng(8)
    names, P = list(COUNTS), np.array(list(COUNTS.values())) / TOTAL
    failed = reached = 0
    for _ in range(rounds):
        sample = dict(zip(names, rng.multinomial(3_000, P).tolist(), strict=True))
        found = design_windows(sample, 1, delta="0.5", seeds=5, buckets=16, heavy=EARLIER).mechanism
        true = found.layout.loads(*_split(found, names, (P * 10**9).astype(np.int64)))
        held = [one.sums(loads) / 1e9 for one, loads in zip(found.windows, true, strict=True)]
        failed += min(sums.min() for sums in held) < math.exp(-1) - 1e-6
        reached += np.mean([len(one.ends) / one.rounds(16) for one in found.windows]) > 1.9
    assert failed <= rounds / 100
    assert reached > rounds * 5 / 6


def _split(found, names, masses):
    from mechdesign.windows.hashing import fingerprints

    heavy = found.layout.heavy.strings
    light = [k for k, name in enumerate(names) if name not in heavy]
    return (
        fingerprints([names[k] for k in light]),
        masses[light],
        np.array([masses[names.index(name)] for name in heavy]),
    )


@pytest.mark.parametrize("options", [{}, {"known": False, "delta": "1e-3", "heavy": EARLIER}])
def test_a_window_that_is_too_light_is_refused(options):
    found = designed("1", **options).mechanism
    found.prove()
    one = found.windows[2]
    ends = one.ends.copy()
    ends[0] -= 12  # the first window is shorter, the second one longer by as much
    forged = replace(found, windows=(*found.windows[:2], replace(one, ends=ends), *found.windows[3:]))
    with raises("guarantee-false", "seed 2"):
        forged.prove()


def test_a_cap_is_proved_from_windows_a_round():
    """Windows that are cut in two go round as often, and lift a report twice as much."""
    found = designed(cap="2").mechanism
    found.prove()
    one = found.windows[0]
    halves = np.sort(np.concatenate([one.ends, one.ends - one.lengths // 2]))
    with raises("guarantee-false", "the cap 2"):
        replace(found, windows=(replace(one, ends=halves), *found.windows[1:])).prove()
    assert designed().mechanism.ldp_ratio is None


@pytest.mark.sampled
@pytest.mark.parametrize(("epsilon", "cap"), [("1", "1.5"), ("1", "3"), ("0.5", "1"), ("1", "4")])
def test_the_error_under_a_cap_has_its_closed_form(epsilon, cap):
    """1/((1 - a)(b - 1)), a = b/exp(E): 5 % more than without a cap at (1, 4)."""
    found = design_windows({f"w{k}": 100 for k in range(20_000)}, epsilon, known=True, seeds=40, cap=cap)
    b, a = math.exp(float(epsilon)), math.exp(float(epsilon) - float(cap))
    assert found.error_of(0) == pytest.approx(1 / ((1 - a) * (b - 1)), rel=0.012)
    assert found.error >= found.bound


@pytest.mark.parametrize("change", [1, -64])
def test_windows_that_do_not_close_are_refused(change):
    found = designed().mechanism
    one = found.windows[0]
    forged = replace(found, windows=(replace(one, ends=one.ends + change), *found.windows[1:]))
    with raises("guarantee-false", "seed 0"):
        forged.prove()


def test_evidence_that_does_not_belong_is_refused():
    found = designed().mechanism
    more = found.evidence.copy()
    more[0, 0] += 1
    with raises("guarantee-false"):
        replace(found, evidence=more).prove()
    from mechdesign.windows.windows_mechanism import digest_of

    with raises("guarantee-false", "2224"):
        replace(found, evidence=more, digest=digest_of(more)).prove()


def test_a_smaller_epsilon_or_fewer_samples_never_reach_more():
    reached = [designed(epsilon, seeds=30).reached for epsilon in ("0.3", "0.6", "1", "1.5")]
    assert reached == sorted(reached)
    learnt = [
        design_windows({name: times * n for name, n in COUNTS.items()}, 1, delta="1e-9", seeds=30, buckets=64).reached
        for times in (1, 10, 1000)
    ]
    assert learnt == sorted(learnt)


@pytest.mark.parametrize(
    ("options", "code"),
    [
        ({"known": False}, "radius-or-delta-missing"),
        ({"delta": "1e-9"}, "radius-or-delta-missing"),
        ({"known": False, "delta": 0}, "delta-out-of-range"),
        ({"epsilon": 0}, "epsilon-out-of-range"),
        ({"buckets": 1}, "not-a-whole-number"),
        ({"seeds": 0}, "not-a-whole-number"),
        ({"buckets": 1 << 17}, "too-many-given"),
        ({"cap": "0.5"}, "out-of-range"),
        ({"one_layer": 0}, "out-of-range"),
        ({"form": "raw"}, "unknown-choice"),
        ({"any_seed": True}, "needless-argument"),
    ],
)
def test_arguments_are_refused_with_what_is_accepted(options, code):
    given = {"epsilon": 1, **options}
    with raises(code):
        designed(given.pop("epsilon"), **given)


@pytest.mark.parametrize(
    "sample", ["words", {}, [], {"a": -1}, {"a": 1.5}, [None], [1.5], {"": 3}, {"a": True}, ["\ud800"]]
)
def test_samples_that_are_not_strings_are_refused(sample):
    with pytest.raises(md.InputError):
        design_windows(sample, 1, known=True)


def test_samples_that_prove_nothing_are_told():
    with raises("no-method"):
        design_windows(["a", "b"] * 5, "0.1", delta="1e-9")
    with raises("wrong-type"):
        designed().mechanism.privatize("word")


def test_strings_that_are_equal_in_the_normal_form_are_one():
    found = design_windows({"Caf\u00e9": 5, "Cafe\u0301 ": 7, 3: 2, "3": 1}, 1, known=True, seeds=2, buckets=8)
    assert found.shares == {"Café": 12 / 15, "3": 3 / 15}


@pytest.mark.parametrize(
    ("counts", "epsilon", "shown"),
    [
        ({"a": 9_000, "b": 500, "c": 500}, 1, "9000 of 10000"),  # one string is in every window
        (COUNTS, "1e-12", "2224 samples prove no window"),
    ],
)
def test_windows_that_tell_nothing_are_refused(counts, epsilon, shown):
    with raises("no-method", shown, "larger epsilon"):
        design_windows(counts, epsilon, delta="1e-3", seeds=5, buckets=256)


def test_windows_that_hold_everybody_are_refused_for_known_distributions_too():
    with raises("no-method", "2224 samples prove no window"):
        design_windows(COUNTS, "1e-12", known=True, seeds=5, buckets=256)


def test_a_huge_epsilon_has_buckets():
    assert default_buckets(md.Epsilon.of("700")) == 65536
