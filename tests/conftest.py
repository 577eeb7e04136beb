"""Settings of the whole suite."""

from hypothesis import HealthCheck, settings

settings.register_profile("mechdesign", deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("mechdesign")

_PROCESSES = 2  # for the whole suite; a few files are quicker in the one that runs already


def pytest_xdist_auto_num_workers(config):
    """Return the number of processes that tests are spread over: 0, no others, where files or tests are named."""
    return 0 if config.invocation_params.args and any(map(_names_a_test, config.invocation_params.args)) else _PROCESSES


def _names_a_test(argument):
    return not str(argument).startswith("-") and (".py" in str(argument) or "/" in str(argument))
