"""The page of licences says what installed packages state of themselves, and leaves none out."""

import re
from importlib.metadata import metadata, requires
from pathlib import Path

import pytest
from packaging.requirements import Requirement

PAGE = Path(__file__).parents[1] / "docs" / "reference" / "licences.md"
SECTIONS = re.split(r"^## ", PAGE.read_text(encoding="utf-8"), flags=re.MULTILINE)


def listed(text):
    """Return the packages of the tables of a text, with their licences."""
    return dict(re.findall(r"^\| `([^`]+)` \| ([^|]+) \|$", text, flags=re.MULTILINE))


def needed(name, extras=("",)):
    """Return the packages that a package needs, with the extras of each, as far as its metadata say."""
    found = [Requirement(text) for text in requires(name) or []]
    return {
        wanted.name.lower().replace("_", "-"): wanted.extras
        for wanted in found
        if wanted.marker is None or any(wanted.marker.evaluate({"extra": extra}) for extra in extras)
    }


def all_needed(name):
    """Return the packages that a package needs, and that these need."""
    found, left = {}, [(name, ("",))]
    while left:
        for other, extras in needed(*left.pop()).items():
            if other not in found:
                found[other] = extras
                left.append((other, ("", *extras)))
    return set(found)


def stated(name):
    """Return the licence that an installed package states of itself."""
    held = metadata(name)
    classes = [text for text in held.get_all("Classifier", []) if text.startswith("License ::")]
    return (
        held.get("License-Expression") or ", ".join(text.rpartition(" :: ")[2] for text in classes) or held["License"]
    )


def families(licence):
    """Return the kinds of licences that a statement names: a release may write `BSD License` or `BSD-3-Clause`."""
    named = licence.replace("Python Software Foundation", "PSF")
    return set(re.findall(r"0BSD|BSD|MIT|Apache|[AL]?GPL|MPL|PSF|Zlib|CC0", named)) or {licence}


@pytest.mark.parametrize("name", sorted(listed(PAGE.read_text(encoding="utf-8"))))
def test_a_licence_is_of_the_kinds_that_the_package_states(name):
    assert families(listed(PAGE.read_text(encoding="utf-8"))[name]) == families(stated(name))


def test_kinds_of_licences_are_told_apart():
    assert families("MIT License") == families("MIT") != families("MIT AND LGPL-3.0-or-later")
    assert families("BSD License") == families("BSD-3-Clause") != families("GPL-3.0-only")
    assert families("Proprietary") == {"Proprietary"}


def test_every_dependency_is_listed():
    _, imported, brought = SECTIONS
    assert set(listed(imported)) == set(needed("mechdesign")) | {"distributed"}
    assert all_needed("mechdesign") - set(needed("mechdesign")) <= set(listed(brought))


def test_what_is_not_permissive_is_pointed_out():
    sharing = {name for name, licence in listed(PAGE.read_text(encoding="utf-8")).items() if "GPL" in licence}
    assert sharing == {"python-flint"}
    assert "`python-flint` needs care" in SECTIONS[0]
