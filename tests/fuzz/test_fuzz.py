"""A fixed share of what ``python -m tests.fuzz`` tries: the same inputs every time."""

import pytest

from .__main__ import try_one
from .commands import FUZZERS
from .room import Room
from .surface import ATTACKS

SEED = "suite"
# So many that each takes about two seconds.
INPUTS = {
    "design": 60,
    "verify": 120,
    "compare": 25,
    "analyze": 60,
    "plan": 60,
    "privatize": 120,
    "estimate": 60,
    "audit": 60,
    "report": 12,
    "laplace": 60,
    "gshm": 15,
    "csh": 8,
    "top-k": 30,
    "discrete": 40,
    "arguments": 100,
    "places": 80,
    "processes": 4,
    "sets": 400,
    "from_matrix": 400,
    "leakages": 400,
    "planning": 300,
    "records": 300,
    "utilities": 30,
    "estimates": 150,
    "compositions": 200,
}


@pytest.fixture(scope="module")
def room():
    with Room() as made:
        yield made


def test_every_fuzzer_has_a_share():
    assert INPUTS.keys() == {*FUZZERS, *ATTACKS}


@pytest.mark.sampled
@pytest.mark.parametrize("share", [16, pytest.param(1, marks=pytest.mark.slow)], ids=["a sixteenth", "all"])
@pytest.mark.parametrize("name", INPUTS)
def test_hostile_input(room, name, share):
    wrong = {}
    for index in range(-(-INPUTS[name] // share)):
        line, found = try_one(room, name, f"{SEED}/{index}")
        if found:
            wrong[f"--only {name} --seed {SEED} --index {index}"] = [line, *found]
    assert not wrong, "\n".join(f"python -m tests.fuzz {how}: {what}" for how, what in wrong.items())[:20_000]
