"""Strings and samples as they should not be: what is refused with a reason, and what is taken as it is."""

import json

import numpy as np
import pytest
from refusals import raises

from mechdesign.errors import InputError, LimitError
from mechdesign.windows import (
    compare_strings,
    design_prefix_windows,
    design_windows,
    estimate_string_groups,
    estimate_strings,
    heavy_hitters,
    split_sample,
)
from mechdesign.windows.columns_of_strings import count_strings
from mechdesign.windows.strings import normal
from tests.windows.worlds import COUNTS, EARLIER, designed

TOTAL = sum(COUNTS.values())
SHARES = {name: n / TOTAL for name, n in COUNTS.items()}
LONG = "x" * 10**6


@pytest.fixture(scope="module")
def mechanism():
    return designed(seeds=3).mechanism


def test_a_million_characters_are_a_string_and_one_more_are_not(mechanism, tmp_path):
    assert len(mechanism.privatize([LONG, LONG + " "[:0]], np.random.default_rng(1))) == 2
    made = design_windows({**COUNTS, LONG: 7}, 1, known=True, seeds=2, buckets=64).mechanism
    made.save(tmp_path / "m.json")
    assert type(made).load(tmp_path / "m.json").fingerprint == made.fingerprint
    assert (
        design_windows({LONG: 800, **COUNTS}, 1, known=True, seeds=2, buckets=64).mechanism.heavy[0].strings[0] == LONG
    )
    for act in (lambda: mechanism.privatize([LONG + "x"]), lambda: design_windows([LONG + "x"], 1, known=True)):
        with raises("bad-label", "1000001 characters"):
            act()


def test_a_heavy_string_of_a_million_characters_is_in_the_file(tmp_path):
    made = design_windows({LONG: 800, **COUNTS}, 1, known=True, seeds=2, buckets=64).mechanism
    made.save(tmp_path / "m.json")
    assert type(made).load(tmp_path / "m.json").heavy[0].strings[0] == LONG


def test_numbers_stand_for_their_decimal_text(mechanism):
    one = mechanism.privatize([7, np.int64(7), "7", -1], np.random.default_rng(1))
    other = mechanism.privatize(["7", "7", "7", "-1"], np.random.default_rng(1))
    assert (one == other).all()
    assert design_windows([1, "1", 2] * 9, 1, known=True, seeds=2, buckets=8).shares == {"1": 2 / 3, "2": 1 / 3}
    for wrong in (1.5, True, None, float("nan")):
        with raises("wrong-record-type", "text or whole numbers"):
            mechanism.privatize([wrong])


@pytest.mark.parametrize(
    ("wrong", "code"), [(b"ab", "wrong-type"), ("ab", "wrong-type"), ([b"ab"], "wrong-record-type")]
)
def test_bytes_and_one_string_in_place_of_many_are_refused(mechanism, wrong, code):
    for act in (lambda: mechanism.privatize(wrong), lambda: design_windows(wrong, 1, known=True)):
        with pytest.raises(InputError) as error:
            act()
        assert error.value.code == code


@pytest.mark.parametrize("empty", ["", " ", "\t\n", "\u2003"])
def test_empty_strings_are_missing(mechanism, empty):
    with raises("missing-value", "empty"):
        mechanism.privatize(["a", empty])
    with raises("missing-value", "empty"):
        normal(empty)


def test_what_has_no_utf8_is_refused(mechanism):
    with raises("bad-label", "UTF-8"):
        mechanism.privatize(["\ud800"])


def test_strings_that_are_equal_in_the_normal_form_have_the_same_reports(mechanism):
    one, other = (mechanism.privatize([s] * 50, np.random.default_rng(3)) for s in ("Caf\u00e9", " Cafe\u0301\u00a0"))
    assert (one == other).all()
    folded = designed(seeds=2, form="nfc-casefold").mechanism
    one, other = (folded.privatize([s] * 50, np.random.default_rng(3)) for s in ("STRASSE", "straße"))
    assert (one == other).all()


@pytest.mark.parametrize("sample", [[], {}, {"a": 0}, iter(())])
def test_an_empty_sample_is_refused(sample):
    with raises("nothing-given", "empty"):
        design_windows(sample, 1, known=True)


@pytest.mark.parametrize("count", [10**15, 10**19, 10**30])
def test_more_samples_than_are_counted_exactly_are_refused(count):
    for act in (lambda sample: design_windows(sample, 1, known=True), split_sample):
        with raises("too-many-given", "at most 1000000000000000"):
            act({"a": count, "b": 1})
    many = {name: n * 10**10 for name, n in COUNTS.items()}
    with raises("too-many-given", "beside heavy strings"):
        design_windows(many, 1, delta="1e-6", heavy=EARLIER, seeds=2, buckets=64)
    design_windows(many, 1, delta="1e-6", seeds=2, buckets=64).mechanism.prove()


def test_an_empty_file_is_refused(tmp_path):
    (tmp_path / "empty.csv").write_text("word\n")
    with raises("nothing-given", "no records"):
        count_strings(tmp_path / "empty.csv", "word", "nfc")


@pytest.mark.parametrize("epsilon", ["0.1", "1", "3"])
def test_one_string_with_nine_tenths_of_the_mass(epsilon):
    """As a light string it is in every window, which tells nothing at a small epsilon; as an arc it is in parts."""
    counts = {"most": 90_000, **{f"s{k}": 10 for k in range(1_000)}}
    split = split_sample(counts, rng=np.random.default_rng(4))
    options = {"seeds": 20, "buckets": 128, "delta": "1e-6"}
    made = design_windows(split.evidence, epsilon, heavy=split.heavy, **options)
    made.mechanism.prove()
    assert made.leakage <= float(epsilon)
    assert made.reached > 1 + (float(np.exp(float(epsilon))) - 1) / 2
    if epsilon == "0.1":
        with pytest.raises(LimitError, match="heavy"):
            design_windows(counts, epsilon, **options)


def test_candidates_twice_are_refused_in_their_normal_form(mechanism):
    reports = mechanism.privatize(["s0"] * 10, np.random.default_rng(1))
    for twice in (["a", "a"], ["1", 1], ["Caf\u00e9", "Cafe\u0301"], ["a", " a"]):
        for reference in (SHARES, None):
            with raises("label-twice", "stands twice"):
                estimate_strings(reports, mechanism, twice, reference)


def test_reports_of_another_file_are_refused_by_their_tag(mechanism):
    other = designed(seeds=3, epsilon=2).mechanism
    reports = other.privatize(["s0"] * 10, np.random.default_rng(1))
    with raises("wrong-mechanism", mechanism.fingerprint[:5]):
        estimate_strings(reports, mechanism, ["s0"])
    for wrong in ([0], [-1], [2**62]):
        with raises("wrong-mechanism", "reports"):
            estimate_strings(np.array(wrong), mechanism, ["s0"])
    for wrong in (np.array([0.5]), np.array(["a"]), np.array([[1]])):
        with raises("wrong-type", "whole numbers"):
            estimate_strings(wrong, mechanism, ["s0"])


@pytest.mark.parametrize(
    ("change", "code", "what"),
    [
        ({"s0": SHARES["s1"], "s1": SHARES["s0"]}, "wrong-sample", "SHA-256"),
        ({"s0": 0.0, "made up": SHARES["s0"]}, "wrong-sample", "SHA-256"),
        ({"s0": 0.0}, "wrong-sample", f"has {TOTAL - COUNTS['s0']} records, and {TOTAL} prove"),
        (dict(COUNTS), "not-probabilities", "WindowDesign.shares"),
        ({"s0": float("nan")}, "not-probabilities", "0 to 1"),
        ({"s0": "0.1"}, "not-probabilities", "0 to 1"),
    ],
)
def test_the_reference_of_other_samples_is_refused_by_all_that_take_one(mechanism, change, code, what):
    reports, prefixes = mechanism.privatize(["s0"] * 10), design_prefix_windows(COUNTS, 1, (1, 2), known=True, seeds=2)
    found = prefixes.mechanism.privatize(["s0"] * 10)
    for act in (
        lambda shares: estimate_strings(reports, mechanism, ["s0"], shares),
        lambda shares: estimate_string_groups(reports, ["a"] * 10, mechanism, ["s0"], shares),
        lambda shares: compare_strings(mechanism, shares),
        lambda shares: heavy_hitters(found, prefixes.mechanism, shares, kept=2),
    ):
        act(dict(reversed(SHARES.items())))
        with raises(code, what):
            act(SHARES | change)


def test_a_file_of_another_version_is_refused(mechanism, tmp_path):
    path = tmp_path / "m.json"
    mechanism.save(path)
    table = json.loads(path.read_text())
    path.write_text(json.dumps(table | {"schema": "mechdesign/windows/2"}))
    with pytest.raises(InputError, match="mechdesign/windows/1"):
        type(mechanism).load(path)
