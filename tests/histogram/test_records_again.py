"""A record of a release is read again, and its guarantee is computed from the noise that it names."""

import json
from functools import cache

import pytest

from mechdesign import GuaranteeError, InputError, L1Ball
from mechdesign.histogram import CshPlan, DiscretePlan, GshmPlan, LaplacePlan, TopKPlan
from mechdesign.histogram.again import is_record, proved_record
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
    with pytest.raises(GuaranteeError, match="the guarantee is false"):
        proved_record(edited(plans()[name], **change), "r.json")


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({"mechanism": "magic"}, "accepted: discrete"),
        ({"sigma": ...}, "'sigma' is missing"),
        ({"notion": ...}, "'notion' is missing"),
        ({"more": 1}, "'more' is unknown"),
        ({"k": 0}, "k is 0"),
        ({"k": 2**70}, "too long"),
        ({"analysis": "guess"}, "the analysis is 'guess'"),
        ({"sigma": "-1"}, "sigma"),
        ({"delta": True}, "delta"),
        ({"delta": 1.5}, "delta is 1.5"),
    ],
)
def test_a_malformed_record_is_refused_in_one_line(change, told):
    with pytest.raises(InputError, match=told) as caught:
        proved_record(edited(plans()["discrete"], **change), "r.json")
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("content", [b"", b"\xff", b"[" * 9_999, b"null", b'"x"', b'{"schema": 1}', b"9" * 5000])
def test_other_files_are_not_records(content):
    assert not is_record(content)
