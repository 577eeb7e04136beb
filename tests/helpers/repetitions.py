"""How often a property is tried: so often in the slow run, a quarter of it by default."""

from hypothesis import settings

_WHOLE = 100  # examples of a property that does not say a number, in the slow run


def examples(number):
    """Return the examples of a property that says how many it takes, with what `tests/conftest.py` has chosen."""
    return max(5, number * settings.default.max_examples // _WHOLE)
