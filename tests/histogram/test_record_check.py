"""A record of a release is read again, and its guarantee is computed from the noise that it names."""

import json
from functools import cache

import pytest
from refusals import raises

from mechdesign import L1Ball
from mechdesign.histogram import CshPlan, DiscretePlan, GshmPlan, LaplacePlan, TopKPlan
from mechdesign.histogram.record_check import is_record, proved_record
from mechdesign.histogram.registry import PLANS

SPARSE = {"epsilon": 1, "delta": "1e-6"}


@cache
def plans():
    ball = L1Ball.from_counts({"a": 800, "b": 200}, delta=1e-6)
    return {
        "discrete": DiscretePlan.of(3, **SPARSE),
        "discrete with sigma": DiscretePlan.of(3, sigma=8, **SPARSE),
        "top-k": TopKPlan.of(3, **SPARSE),
        "top-k with value": TopKPlan.of(3, value_sigma=9, **SPARSE),
        "top-k of floats": TopKPlan.of(3, noise="continuous", **SPARSE),
        "csh": CshPlan.of(3, **SPARSE),
        "gshm": GshmPlan.of(3, **SPARSE),
        "laplace": LaplacePlan.of(epsilon=1, alpha="0.1"),
        "laplace of a scale": LaplacePlan.of(scale="1.7"),
        "laplace without noise": LaplacePlan.of(epsilon=4, alpha="0.4"),
        "laplace of an estimate": LaplacePlan.of(epsilon=1, alpha=ball),
    }


def edited(plan, **changes):
    record = {**json.loads(plan.record().to_json()), **changes}
    return json.dumps({key: value for key, value in record.items() if value is not ...}).encode()


@pytest.mark.parametrize("name", plans())
def test_what_is_written_is_read_and_proved_again(name):
    plan = plans()[name]
    content = plan.record(randomness="here", post_processing="none").to_json().encode()
    assert is_record(content)
    found = proved_record(content, "r.json")
    assert found.plan.parameters == plan.parameters
    assert (found.plan.notion, found.plan.source, found.plan.noise) == (plan.notion, plan.source, plan.noise)
    assert found.plan.delta <= plan.delta
    assert (found.epsilon, found.randomness, found.post_processing) == (plan.epsilon, "here", "none")


def test_every_mechanism_is_covered():
    assert {plan.name for plan in plans().values()} == {kind.name for kind in PLANS}


@pytest.mark.parametrize(
    ("name", "change"),
    [
        ("discrete", {"epsilon": "0.5"}),
        ("discrete", {"delta": 1e-7}),
        ("discrete", {"sigma": "2"}),
        ("discrete", {"tau": "20"}),
        ("discrete", {"k": 4}),
        ("top-k with value", {"value_sigma": "1"}),
        ("csh", {"tau": "20"}),
        ("gshm", {"sigma": "3"}),
        ("laplace", {"epsilon": "0.9"}),
        ("laplace", {"scale": "1"}),
        ("laplace", {"alpha": "0"}),
    ],
)
def test_a_record_that_claims_more_than_its_noise_keeps_is_refused(name, change):
    with raises("guarantee-false"):
        proved_record(edited(plans()[name], **change), "r.json")


@pytest.mark.parametrize(
    ("change", "code"),
    [
        ({"mechanism": "magic"}, "bad-field"),
        ({"sigma": ...}, "missing-key"),
        ({"notion": ...}, "missing-key"),
        ({"more": 1}, "unknown-key"),
        ({"k": 0}, "bad-field"),
        ({"k": 2**70}, "too-many-digits"),
        ({"analysis": "guess"}, "unknown-choice"),
        ({"sigma": "-1"}, "out-of-range"),
        ({"delta": True}, "bad-field"),
        ({"delta": 1.5}, "bad-field"),
        ({"subtracted": 12.5}, "key-out-of-place"),
        ({"subtracted": 12.5, "value_sigma": "9"}, "key-out-of-place"),
    ],
)
def test_a_malformed_record_is_refused_in_one_line(change, code):
    with raises(code) as caught:
        proved_record(edited(plans()["discrete"], **change), "r.json")
    assert "\n" not in str(caught.value)


def test_a_count_beside_the_excesses_has_noise():
    """Without value_sigma the guarantee that is computed again would not cover the count that was released."""
    plan = plans()["top-k with value"]
    assert proved_record(edited(plan, subtracted=12.5), "r.json").subtracted == 12.5
    with raises("key-out-of-place"):
        proved_record(edited(plan, subtracted=12.5, value_sigma=...), "r.json")


@pytest.mark.parametrize("content", [b"", b"\xff", b"[" * 9_999, b"null", b'"x"', b'{"schema": 1}', b"9" * 5000])
def test_other_files_are_not_records(content):
    assert not is_record(content)


def test_a_record_of_an_earlier_version_does_not_say_how_values_are_read():
    told = json.loads(DiscretePlan.of(3, epsilon=1, sigma=8, tau=60).record().to_json())
    assert told.pop("reading")
    assert proved_record(json.dumps(told).encode(), "r.json").plan.k == 3
