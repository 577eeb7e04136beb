"""How often a property is tried: so often in the slow run, a quarter of it by default."""

from hypothesis import settings


def examples(number):
    """Return the examples of a property that says how many it takes, with what `tests/conftest.py` has chosen."""
    whole = settings.get_profile("thorough").max_examples
    return max(5, number * settings.default.max_examples // whole)
