"""A fixed share of what ``python -m tests.fuzz`` tries: the same inputs every time."""

import pytest

from .__main__ import try_one
from .commands import FUZZERS
from .room import Room
from .surface import ATTACKS

SEED = "suite"
# So many that each takes about two seconds.
INPUTS = {
    "design": 40,
    "verify": 60,
    "compare": 15,
    "plan": 60,
    "privatize": 60,
    "estimate": 40,
    "audit": 50,
    "laplace": 50,
    "gshm": 15,
    "csh": 8,
    "top-k": 30,
    "discrete": 40,
    "arguments": 80,
    "places": 60,
    "processes": 3,
    "sets": 150,
    "from_matrix": 150,
    "leakages": 150,
    "planning": 80,
    "records": 80,
    "utilities": 30,
    "estimates": 40,
    "compositions": 60,
}


@pytest.fixture(scope="module")
def room():
    with Room() as made:
        yield made


def test_every_fuzzer_has_a_share():
    assert INPUTS.keys() == {*FUZZERS, *ATTACKS}


@pytest.mark.parametrize("name", INPUTS)
def test_hostile_input(room, name):
    wrong = {}
    for index in range(INPUTS[name]):
        line, found = try_one(room, name, f"{SEED}/{index}")
        if found:
            wrong[f"--only {name} --seed {SEED} --index {index}"] = [line, *found]
    assert not wrong, "\n".join(f"python -m tests.fuzz {how}: {what}" for how, what in wrong.items())[:20_000]
