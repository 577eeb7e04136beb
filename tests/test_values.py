"""What the package hands out cannot be changed afterwards."""

import dataclasses
import importlib.util
import pkgutil

import pytest

import mechdesign

WITH_AN_EXTRA = {
    "mechdesign.sklearn.private_reports": "sklearn"
}  # modules that packages outside of tests are needed for
MUTABLE = {
    "_FoundColumns",
    "_Columns",
    "Found",
    "FoundColumns",
    "_Fixed",
    "_Cases",
    "TailRanges",
    "ColumnsOfStates",
}  # what one search has found so far


def dataclasses_of_the_package():
    for found in pkgutil.walk_packages(mechdesign.__path__, "mechdesign."):
        if (extra := WITH_AN_EXTRA.get(found.name)) and not importlib.util.find_spec(extra):
            continue
        for value in vars(importlib.import_module(found.name)).values():
            if isinstance(value, type) and value.__module__ == found.name and dataclasses.is_dataclass(value):
                yield value


@pytest.mark.parametrize("kind", list(dataclasses_of_the_package()), ids=lambda kind: kind.__name__)
def test_values_are_frozen(kind):
    assert kind.__dataclass_params__.frozen != (kind.__name__ in MUTABLE)
