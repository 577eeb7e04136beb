"""The marker of combined parameters: a quick run tries each value of each parameter, the slow one all combinations."""

import sys
from itertools import product

import pytest
from combined import kept

import mechdesign.data.tables  # noqa: F401


@pytest.mark.sampled
@pytest.mark.parametrize("sizes", [(3, 5), (4, 4), (2, 3, 6), (7,)])
def test_each_value_of_each_parameter_is_tried_in_as_few_combinations_as_the_longest_list_has(sizes):
    lists = {f"p{k}": [f"{k}.{j}" for j in range(size)] for k, size in enumerate(sizes)}
    all_of_them = [dict(zip(lists, values, strict=True)) for values in product(*lists.values())]
    chosen = kept(all_of_them)
    assert len(set(chosen)) == len(chosen) == max(sizes)
    for name, values in lists.items():
        assert {all_of_them[k][name] for k in chosen} == set(values)


def test_lists_that_are_not_complete_are_covered_too():
    a, b, c = "a", "b", "c"
    chosen = kept([{"x": a, "y": a}, {"x": a, "y": b}, {"x": b, "y": b}, {"x": c, "y": b}])
    assert chosen == [0, 2, 3]
    assert kept([{"x": a}]) == [0]


SEEN = []


@pytest.mark.combined
@pytest.mark.parametrize("one", "abc")
@pytest.mark.parametrize("other", [1, 2])
def test_a_quick_run_leaves_combinations_out(one, other, request):
    SEEN.append((one, other))
    if request.config.option.markexpr == "not slow":
        assert len(SEEN) <= 3


TRIED = []


@pytest.mark.sampled
@pytest.mark.parametrize("number", range(7))
def test_a_quick_run_samples_instances(number, request):
    TRIED.append(number)
    if request.config.option.markexpr == "not slow":
        assert set(TRIED) <= {0, 3, 6}


PROVIDERS = sys.modules.get("hypothesis.internal.conjecture.providers")


@pytest.mark.skipif(not hasattr(PROVIDERS, "_get_local_constants"), reason="this Hypothesis reads no modules")
def test_examples_are_the_same_whatever_is_loaded():
    """Numbers of a module of the package would be drawn from the moment on at which some test loads it."""
    assert "mechdesign.data.tables" in sys.modules
    assert not PROVIDERS._get_local_constants().set_for_type("integer")
