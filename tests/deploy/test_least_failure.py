"""The least probability of failure of an audit is 1e-50, that included."""

import pytest
from refusals import raises

from mechdesign.deploy.leakage_audit import checked_failure


@pytest.mark.parametrize("failure", ["1e-50", "0.05", "0.999999"])
def test_within(failure):
    assert checked_failure(failure) == float(failure)


@pytest.mark.parametrize("failure", ["9.99e-51", "0", "1", "-0.1"])
def test_beyond(failure):
    with raises("out-of-range"):
        checked_failure(failure)
