"""Windows of prefixes: the promise in rationals, permanent levels, files, and frequent strings that nobody named."""

import json
from collections import Counter
from fractions import Fraction

import numpy as np
import pytest

from mechdesign import Key
from mechdesign.errors import GuaranteeError, InputError
from mechdesign.windows import (
    HeavyHitters,
    PrefixWindows,
    SeparateCounts,
    design_prefix_windows,
    heavy_hitters,
    prefix_search,
    split_sample,
)
from mechdesign.windows.decoder import Decoder
from mechdesign.windows.prefix_search import heavy_hitters_of_counts
from mechdesign.windows.prefix_windows import MARK, prefix, prefix_sums
from mechdesign.windows.string_estimates import estimate_counts, quantile
from tests.windows.worlds import matrix

WORDS = {f"{a}{b}{c}": 40 + 7 * i for i, (a, b, c) in enumerate((a, b, c) for a in "abcd" for b in "abc" for c in "ab")}
WORDS |= {"ab": 300, "d": 200, "abcdef": 250, "dddd": 90}
EARLIER = SeparateCounts({name: n + k for k, (name, n) in enumerate(WORDS.items())}, "a sample of the year before")
TOTAL = sum(WORDS.values())
MANY = "".join(map(chr, range(200, 9_000)))


def designed(epsilon=1, lengths=(1, 2, 3), *, seeds=5, buckets=32, known=True, **options):
    return design_prefix_windows(WORDS, epsilon, lengths, known=known, seeds=seeds, buckets=buckets, **options)


@pytest.mark.sampled
@pytest.mark.parametrize("options", [{}, {"cap": "3"}])
def test_no_report_leaks_more_than_epsilon(options):
    """From the matrices of the levels in rationals: K((l, y)|x) = K_l(y|prefix of x) / L, and rows are laws."""
    found = designed(**options).mechanism
    strings = [*WORDS, "never seen", "ab…"]
    rows = [[] for _ in strings]
    for length, level in zip(found.lengths, found.levels, strict=True):
        for row, own in zip(rows, matrix(level, [prefix(string, length) for string in strings]), strict=True):
            row.extend(value / len(found.levels) for value in own)
    assert {sum(row) for row in rows} == {1}
    prior = [Fraction(WORDS.get(string, 0), TOTAL) for string in strings]
    lifts = [max(column) / sum(p * k for p, k in zip(prior, column, strict=True)) for column in zip(*rows, strict=True)]
    assert max(lifts) <= found.promise.epsilon.exp_down
    assert float(max(lifts)) <= np.exp(found.leakage)
    if options:
        assert max(max(column) / min(column) for column in zip(*rows, strict=True)) <= found.promise.cap.exp_down


def test_prefixes_of_strings():
    assert prefix("ab", 2) == "ab"
    assert prefix("abc", 2) == prefix("ab" + MARK, 2) == "ab" + MARK
    assert sum(prefix_sums(WORDS, 2).values()) == TOTAL


def test_levels_are_uniform_and_reports_have_their_windows():
    mechanism = designed().mechanism
    reports = mechanism.numbers(mechanism.privatize(["abcdef"] * 9_000, np.random.default_rng(1)))
    levels = [int(part.sum()) for part in mechanism.counts_of_levels(np.bincount(reports, minlength=mechanism.size))]
    assert all(abs(count - 3_000) < 5 * 45 for count in levels)
    held = matrix(mechanism.levels[1], [prefix("abcdef", 2)])[0]
    first = mechanism.levels[0].size
    seen = {number - first for number in reports.tolist() if first <= number < first + mechanism.levels[1].size}
    assert seen == {at for at, share in enumerate(held) if share}


def test_with_a_key_the_level_depends_on_the_id_alone():
    mechanism = designed(lengths=(1, 2, 3, 5)).mechanism
    key, ids = Key(bytes(32)), [f"p{k}" for k in range(2_000)]

    def levels(string):
        reports = mechanism.numbers(mechanism.privatize([string] * len(ids), key=key, ids=ids))
        return np.searchsorted(mechanism.ends, reports, side="right"), reports

    (one, reports), (other, others) = levels("abcdef"), levels("abczzzzz")
    assert (one == other).all()
    assert all(abs(n - 500) < 100 for n in Counter(one.tolist()).values())
    same = one < 3  # the prefixes of 1, 2 and 3 characters agree
    assert (reports[same] == others[same]).all()
    assert (reports[~same] != others[~same]).mean() > 0.3


def test_what_is_read_is_what_was_written(tmp_path):
    made = designed(known=False, delta="1e-3", heavy=EARLIER).mechanism
    assert made.promise.delta == Fraction(1, 1000)
    path = tmp_path / "m.json"
    made.save(path)
    found = PrefixWindows.load(path)
    assert (found.fingerprint, found.lengths, found.promise) == (made.fingerprint, made.lengths, made.promise)
    made.save(path, evidence=False)
    assert PrefixWindows.load(path, WORDS).leakage == made.leakage
    with pytest.raises(InputError) as error:
        PrefixWindows.load(path)
    assert error.value.code == "missing-argument"
    for sample in (WORDS | {"d": 1}, {**WORDS, "d": 100, "ab": 400}):
        with pytest.raises(GuaranteeError):
            PrefixWindows.load(path, sample)


@pytest.mark.sampled
@pytest.mark.parametrize(
    "change",
    [
        lambda table: table.update(lengths=[1, 3, 2]),
        lambda table: table.update(lengths=[1, 2]),
        lambda table: table.update(lengths=[0, 2, 3]),
        lambda table: table.update(lengths=[1, 2, 2**64]),
        lambda table: table["levels"][1].update(epsilon="2"),
        lambda table: table["levels"][1].update(form="nfc-casefold"),
        lambda table: table["levels"][0]["windows"].update(lengths=""),
        lambda table: table.update(levels=[]),
        lambda table: table.update(schema="mechdesign/windows/1"),
    ],
)
def test_damage_is_told(tmp_path, change):
    path = tmp_path / "m.json"
    designed().mechanism.save(path)
    table = json.loads(path.read_text())
    change(table)
    path.write_text(json.dumps(table))
    with pytest.raises(InputError, match=r"m\.json"):
        PrefixWindows.load(path)


def test_a_level_that_is_not_proved_is_named(tmp_path):
    path = tmp_path / "m.json"
    designed().mechanism.save(path, evidence=False)
    table, other = json.loads(path.read_text()), designed(epsilon="1.5").mechanism
    other.save(path, evidence=False)
    table["levels"][2]["windows"] = json.loads(path.read_text())["levels"][2]["windows"]
    path.write_text(json.dumps(table))
    with pytest.raises(GuaranteeError, match="prefixes of 3 characters"):
        PrefixWindows.load(path, WORDS)


@pytest.mark.parametrize("lengths", [(), (2, 2), (1, 2.5), (1, 1001), range(1, 99)])
def test_lengths_rise_up_to_a_thousand(lengths):
    with pytest.raises(InputError) as error:
        design_prefix_windows(WORDS, 1, lengths, known=True)
    assert error.value.code == "out-of-range"


def test_a_split_serves_all_levels():
    split = split_sample(WORDS, rng=np.random.default_rng(3))
    made = design_prefix_windows(
        split.evidence, 2, (1, 2, 3), delta="0.1", heavy=split.heavy, seeds=3, buckets=32
    ).mechanism
    assert len(made.heavy) == 3
    with pytest.raises(InputError) as error:
        design_prefix_windows(WORDS, 2, (1, 2, 3), delta="0.1", heavy=split.heavy)
    assert error.value.code == "sample-proves-itself"


@pytest.fixture(scope="module")
def world():
    rng = np.random.default_rng(7)
    letters = "abcdefgh"
    names = sorted({"".join(rng.choice(list(letters), rng.integers(2, 5))) for _ in range(400)} - {"hgfe", "hh"})
    counts = {name: 20_000 // (k + 5) for k, name in enumerate(names)}
    split = split_sample(counts, rng=rng)
    design = design_prefix_windows(split.evidence, 2, (1, 2, 4), delta="1e-6", heavy=split.heavy, seeds=60)
    total = sum(split.evidence.values())
    return design.mechanism, {name: n / total for name, n in split.evidence.items()}, letters


@pytest.mark.slow
def test_strings_that_nobody_named_are_found_with_their_shares(world):
    mechanism, reference, letters = world
    rng = np.random.default_rng(8)
    known = list(reference)
    people = rng.choice(known, 30_000, p=np.array(list(reference.values())) / sum(reference.values())).tolist()
    people += ["hgfe"] * 2_500 + ["hh"] * 2_000 + ["aaaabbbb"] * 2_000
    found = heavy_hitters(mechanism.privatize(people, rng), mechanism, reference, characters=letters, kept=30)
    assert {"hgfe", "hh", "aaaa" + MARK} <= set(found.strings)
    truth = Counter(prefix(name, 4) for name in people)
    for name, (low, high) in zip(found.strings, found.intervals().tolist(), strict=True):
        assert low <= truth[name] / len(people) <= high
    assert sum(not truth[name] for name in found.strings) <= 3
    assert list(found.shares) == sorted(found.shares, reverse=True)
    assert found.sample_shares[found.strings.index("hgfe")] == 0


def test_without_a_reference_strings_are_found_by_the_lengths_of_windows(world):
    """Neither the sample's shares nor its evidence are needed; the first letters are all heavy."""
    mechanism, reference, letters = world
    rng = np.random.default_rng(8)
    people = rng.choice(list(reference), 30_000, p=np.array(list(reference.values()))).tolist()
    people += ["hgfe"] * 4_000 + ["hh"] * 3_000 + ["aaaabbbb"] * 3_000
    reports = mechanism.privatize(people, rng)
    found = heavy_hitters(reports, mechanism, characters=letters, kept=15)
    assert found.by_lengths
    assert not found.sample_shares.any()
    assert {"hgfe", "hh", "aaaa" + MARK} <= set(found.strings)
    truth = Counter(prefix(name, 4) for name in people)
    for name, (low, high) in zip(found.strings, found.intervals().tolist(), strict=True):
        assert low <= truth[name] / len(people) <= high
    assert sum(not truth[name] for name in found.strings) <= 3
    with pytest.raises(InputError) as error:
        heavy_hitters(reports, mechanism)
    assert error.value.code == "missing-argument"


def test_a_level_whose_strings_are_all_heavy_has_estimates_as_good_as_others(world):
    """The first letters are eight heavy prefixes, whose shares sum to 1."""
    mechanism, shares, _ = world
    level = mechanism.levels[0]
    own = prefix_sums(shares, 1)
    assert set(own) == set(level.heavy[0].strings)
    reports = mechanism.privatize(["hgfe"] * 30_000 + ["aa"] * 15_000, np.random.default_rng(5))
    counts = mechanism.counts_of_levels(np.bincount(mechanism.numbers(reports), minlength=mechanism.size))[0]
    found = estimate_counts(counts, Decoder(level), [*own, "a"], own)
    truth = np.array([{"a": 1 / 3, "h": 2 / 3}.get(name[0], 0.0) for name in own] + [0])
    assert found.standard_errors.max() < 0.01
    assert (np.abs(found.shares - truth) < 5 * found.standard_errors).all()


def test_heavy_strings_are_found_however_low_their_rough_shares_are(world, monkeypatch):
    """Where most people say something new, the rough shares of all light candidates are above those of heavy ones."""
    mechanism, shares, letters = world
    heavy = {name for one in mechanism.heavy for name in one.strings}
    most = max((name for name in shares if len(name) == 2), key=shares.__getitem__)
    assert most in heavy
    reports = mechanism.privatize(["hgfe"] * 30_000 + [most] * 15_000, np.random.default_rng(5))
    monkeypatch.setattr(prefix_search, "_LOOKED_AT", 1)
    monkeypatch.setattr(
        prefix_search,
        "rough_shares",
        lambda *given: np.array([float(name not in heavy) for name in given[2]]),
    )
    assert most in heavy_hitters(reports, mechanism, shares, characters=letters, kept=3).strings


def test_an_estimate_of_a_short_string_takes_the_users_of_all_its_levels(world):
    mechanism, reference, letters = world
    rng = np.random.default_rng(9)
    people = ["hh"] * 6_000 + ["hgfe"] * 6_000 + list(reference) * 40
    found = heavy_hitters(mechanism.privatize(people, rng), mechanism, reference, characters=letters, kept=30)
    errors = dict(zip(found.strings, found.standard_errors, strict=True))
    assert errors["hh"] < 0.85 * errors["hgfe"]


def test_strings_that_end_with_the_mark_themselves_are_found():
    """Of two characters, the second of which is the mark: a whole string, and no prefix of one character."""
    counts = {**{f"{a}{b}{c}": 900 for a in "abcd" for b in "abcd" for c in "abcd"}, "ab" + MARK: 3_000}
    made = design_prefix_windows(counts, 1, (1, 2, 3), known=True, seeds=40, buckets=64).mechanism
    people = [*counts] * 60 + ["a" + MARK] * 3_000 + ["ab" + MARK] * 3_000
    reports = made.privatize(people, np.random.default_rng(2))
    shares = {name: n / sum(counts.values()) for name, n in counts.items()}
    found = heavy_hitters(reports, made, shares, characters="abcd" + MARK, kept=4)
    assert found.strings[:2] in (("a" + MARK, "ab" + MARK), ("ab" + MARK, "a" + MARK))
    assert found.candidates == 5 + 4 * 5 + 4 * 5 * 2  # one more character at each level, and at the last one the mark


def test_intervals_are_those_of_all_that_could_be_found():
    one = HeavyHitters(("a",), np.array([0.5]), np.array([0.1]), np.zeros(1), 1_000, 1, 10, 50)
    margin = 0.1 * quantile(0.05 / 2_000, 50)
    np.testing.assert_allclose(one.intervals()[0], [0.5 - margin, 0.5 + margin])
    assert np.isfinite(one.intervals(1 - 2.0**-53)).all()
    with pytest.raises(InputError):
        one.intervals(1)


@pytest.mark.parametrize(
    ("options", "code"),
    [
        ({"kept": 0}, "not-a-whole-number"),
        ({"false": 0}, "out-of-range"),
        ({"characters": MANY, "kept": 2_000}, "too-many-given"),
    ],
)
def test_what_cannot_be_searched_is_refused(world, options, code):
    mechanism, reference, _ = world
    reports = mechanism.privatize(["hh"] * 100, np.random.default_rng(1))
    with pytest.raises(InputError) as error:
        heavy_hitters(reports, mechanism, reference, **options)
    assert error.value.code == code


def test_more_candidates_than_numbers_have_digits_are_refused():
    mechanism = designed(lengths=(1, 1000)).mechanism
    with pytest.raises(InputError, match="or more candidates of 1000 characters") as refused:
        heavy_hitters_of_counts(np.ones(mechanism.size, dtype=int), mechanism, {"a": 1.0}, characters=MANY, kept=5)
    assert refused.value.code == "too-many-given"


def test_a_search_that_nothing_is_left_for_ends():
    """No prefix of one character is open, and twenty characters to the power of 29 are not listed."""
    mechanism = designed(lengths=(1, 30)).mechanism
    not_normal = "".join(map(chr, range(0xF900, 0xF914)))
    counts = np.ones(mechanism.size, dtype=int)
    assert heavy_hitters_of_counts(counts, mechanism, {"a": 1.0}, characters=not_normal).candidates == 1


def test_no_reports_of_a_level_are_told(world):
    mechanism, reference, letters = world
    with pytest.raises(InputError) as error:
        heavy_hitters(np.array([mechanism.outputs.first]), mechanism, reference, characters=letters, kept=3)
    assert error.value.code == "nothing-given"


@pytest.mark.slow
@pytest.mark.parametrize("has_reference", [True, False])
def test_strings_that_nobody_has_are_found_as_rarely_as_is_said(world, has_reference):
    """20 populations like the sample: as many strings are found that nobody has as are allowed, at most."""
    mechanism, reference, letters = world
    shown = reference if has_reference else None
    known, shares = list(reference), np.array(list(reference.values()))
    truth = {prefix(name, 4) for name in known}
    false = []
    for seed in range(20):
        rng = np.random.default_rng(seed)
        people = rng.choice(known, 20_000, p=shares / shares.sum()).tolist()
        reports = mechanism.privatize(people, rng)
        found = heavy_hitters(reports, mechanism, shown, characters=letters, kept=30, false=2)
        false.append(sum(name not in truth for name in found.strings))
    assert np.mean(false) <= 2 + 3 * np.std(false) / np.sqrt(20)
    assert np.mean(false) > 0
