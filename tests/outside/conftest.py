"""A set and a utility that the package does not know, registered for one test at a time."""

import pytest
from registries import separate_registries

from mechdesign import uncertainty, utility

with separate_registries():
    from tests.outside.box_set import Box
    from tests.outside.jensen_shannon import JensenShannon

# Looking for doctests would import them, and importing registers.
collect_ignore = ["box_set.py", "jensen_shannon.py"]


@pytest.fixture
def registered():
    with separate_registries():
        uncertainty.register(Box)
        utility.register(JensenShannon)
        yield


@pytest.fixture
def box():
    return Box(["0.1", "0.2", "0.05"], ["0.6", "0.5", "0.4"], ["0.4", "0.35", "0.25"], ["a", "b", "c"])
