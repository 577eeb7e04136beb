"""Windows beside other oracles for strings: closed forms, and numbers of reports that are just enough."""

import math

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from refusals import raises

from mechdesign.errors import InputError
from mechdesign.windows import WindowMechanism, compare_strings, window_files
from mechdesign.windows.string_comparison import StringRival
from tests.windows.worlds import designed

EPSILONS = ["0.5", "1", "log(4)"]


@pytest.mark.parametrize("epsilon", [EPSILONS[0], *(pytest.param(x, marks=pytest.mark.slow) for x in EPSILONS[1:])])
def test_rows_have_their_closed_forms(epsilon):
    design = designed(epsilon, seeds=200, buckets=512)
    found = compare_strings(design.mechanism, design.shares)
    windows, bound, hashing, hadamard, sketch, least = found.rivals
    e = math.exp(float(math.log(4) if epsilon == "log(4)" else epsilon))
    assert bound.error == pytest.approx(1 / (e - 1), rel=1e-12)
    assert least.error == pytest.approx(4 * e / (e - 1) ** 2, rel=1e-12)
    assert windows.error == design.error_of(0)
    assert bound.error <= windows.error <= 1.1 * bound.error
    assert windows.error < least.error <= min(hashing.error, hadamard.error, sketch.error)
    gap = 1 / 2 - 1 / (e + 1)
    supported = [p / 2 + (1 - p) / (e + 1) for p in design.shares.values()]
    assert least.total == pytest.approx(sum(s * (1 - s) for s in supported) / gap**2, rel=1e-9)
    assert (windows.total, bound.total) == (design.error, design.bound)
    assert found.times(windows) == 1
    assert [row.local for row in found.rivals] == [False, False, True, True, True, True]


@pytest.mark.parametrize("options", [{}, {"cap": "3"}])
def test_a_file_and_no_shares_give_the_same_errors_of_strings(options, tmp_path):
    design = designed(**options)
    window_files.save(design.mechanism, tmp_path / "w.json")
    bare = compare_strings(WindowMechanism.load(tmp_path / "w.json"))
    whole = compare_strings(design.mechanism, design.shares)
    assert [row.error for row in bare.rivals] == [row.error for row in whole.rivals]
    assert bare.strings is None
    assert {row.total for row in bare.rivals} == {None}


@given(st.floats(0.1, 100), st.floats(0, 1e-3), st.floats(1e-4, 0.5))
def test_the_reports_are_the_least_that_are_enough(error, lost, wanted):
    rival = StringRival("any", error, None, local=False, source="", lost=lost)
    found = rival.reports_for(wanted)
    if found is None:
        assert wanted**2 <= lost
        return
    assume(found <= 10**15)
    assert rival.standard_error_of(found) <= wanted * (1 + 1e-9)
    assert found == 1 or rival.standard_error_of(found - 1) >= wanted * (1 - 1e-9)


def test_collisions_are_those_of_the_design():
    design = designed(seeds=200)
    found = compare_strings(design.mechanism, drift=0.05)
    assert found.rivals[0].reports_for(0.01) == design.reports_needed(0, 0.01, 0.05)
    assert found.seeds_needed(10**6) == design.seeds_needed(10**6, 0.05)
    assert [row.lost for row in found.rivals[1:]] == [0] * 5


@pytest.mark.parametrize("value", [0, -0.01, math.nan, math.inf, 1e-200, 10**400, True, "much"])
def test_standard_errors_and_numbers_of_reports_that_cannot_be_are_refused(value):
    design = designed(seeds=50)
    rival = compare_strings(design.mechanism).rivals[0]
    for told in (rival.reports_for, lambda wanted: design.reports_needed(0, wanted)):
        with pytest.raises(InputError, match="the standard error is"):
            told(value)
    for told in (rival.standard_error_of, compare_strings(design.mechanism).seeds_needed):
        with pytest.raises(InputError, match="the number of reports is"):
            told(value)


def test_what_is_out_of_range_is_refused():
    mechanism = designed().mechanism
    with raises("out-of-range"):
        compare_strings(mechanism, drift=2)
    with raises("wrong-type"):
        compare_strings("words.json")
