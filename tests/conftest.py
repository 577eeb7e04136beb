"""Settings of the whole suite."""

import gc
import os
import signal
import sys

import pytest
from combined import kept
from hypothesis import HealthCheck, settings

# Tests run in as many processes as there are cores. Threads of linear algebra would wait for each other. The libraries
# read this when they are loaded, which is later.
for name in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(name, "1")
# Tests start a hundred new interpreters: the first keeps the bytecode of the package, and the others read it.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
# A shell that starts the suite in the background ignores interrupts for it, and tests send themselves some.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

settings.register_profile("thorough", deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow])
settings.register_profile("quick", settings.get_profile("thorough"), max_examples=25)

_PROCESSES = 2  # for the whole suite; a few files are quicker in the one that runs already
_EACH = 3  # of these instances of a sampled statement one is quick


def pytest_configure(config):
    """Try a quarter of the examples where slow tests are left out, and the same ones whatever else is run."""
    settings.load_profile("quick" if config.option.markexpr == "not slow" else "thorough")
    # Hypothesis also draws numbers that it finds in the modules that are loaded, which depend on the tests before.
    providers = sys.modules.get("hypothesis.internal.conjecture.providers")  # which older releases do not have
    if hasattr(providers, "_get_local_constants"):
        providers._get_local_constants = lambda: providers._local_constants


def pytest_xdist_auto_num_workers(config):
    """Return the number of processes that tests are spread over: 0, no others, where files or tests are named."""
    return 0 if config.invocation_params.args and any(map(_names_a_test, config.invocation_params.args)) else _PROCESSES


@pytest.hookimpl(wrapper=True)
def pytest_collection():
    """Collect without the garbage collector, and leave what was found out of its rounds: all of it stays to the end."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.enable()
        gc.freeze()


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items):
    """Mark as slow what the markers `combined` and `sampled` leave to the slow run."""
    families = {}
    for item in items:
        for name in ("combined", "sampled"):
            if item.get_closest_marker(name) and not item.get_closest_marker("slow"):
                families.setdefault((name, item.parent.nodeid, item.originalname), []).append(item)
    for (name, *_), family in families.items():
        given = [item.callspec.params for item in family]
        quick = set(kept(given) if name == "combined" else range(0, len(given), _EACH))
        for k, item in enumerate(family):
            if k not in quick:
                item.add_marker(pytest.mark.slow)


@pytest.fixture(autouse=True)
def _registries_stay():
    """Refuse a test that leaves a class registered: others would find it or not, by their order."""
    rooms = [sys.modules.get(f"mechdesign.{room}.registry") for room in ("uncertainty", "utility")]
    before = [None if room is None else dict(room._registered) for room in rooms]
    yield
    for room, registered in zip(rooms, before, strict=True):
        assert room is None or room._registered == registered, "a class stays registered; use separate_registries"


def _names_a_test(argument):
    return not str(argument).startswith("-") and (".py" in str(argument) or "/" in str(argument))
