"""The example that trains on private labels: on data of a seeded generator, and on Adult where the file is at hand.

The records of Adult are not part of the package: MECHDESIGN_ADULT names the file.
"""

import os

import numpy as np
import pytest

pytest.importorskip("sklearn", reason='pip install ".[sklearn]"')
from examples.private_labels import adult, errors


def drawn(rng, records=8_000, size=6):
    """Return features and labels that depend on them, with unequal frequencies."""
    labels = rng.choice(size, records, p=np.arange(size, 0, -1) / (size * (size + 1) / 2))
    return rng.normal(size=(size, 5))[labels] * 2 + rng.normal(size=(records, 5)), labels


def test_the_design_for_training_beats_all_that_ldp_has():
    rng = np.random.default_rng(3)
    found = errors(*drawn(rng), 1, rng)
    assert found["no privacy"] <= found["PML, least error"] + 0.01
    assert found["PML, least error"] < found["LDP, least error"]
    assert found["PML, least error"] < found["randomized response"]


@pytest.mark.slow
@pytest.mark.skipif("MECHDESIGN_ADULT" not in os.environ, reason="MECHDESIGN_ADULT names no file of Adult")
def test_occupations_of_adult():
    found = errors(*adult(os.environ["MECHDESIGN_ADULT"]), 1, np.random.default_rng(0))
    assert found["PML, least error"] < found["LDP, least error"] - 0.01
