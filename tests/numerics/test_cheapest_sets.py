"""Tables of cheapest sets against the enumeration of all sets."""

from itertools import chain, combinations, product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mechdesign.numerics.cheapest_sets import CheapestSets, CheapestSetsBySize, ItemGroup, leave_one_out, parts

# Multiples of 1/8 add up without rounding, so that ties are ties.
costs = st.integers(-16, 16).map(lambda k: k / 8)
items = st.lists(st.tuples(st.integers(0, 6), costs), max_size=7)
group_lists = st.lists(st.tuples(st.integers(0, 6), costs, st.integers(1, 3)), min_size=1, max_size=5)


def subsets(indices):
    return chain.from_iterable(combinations(indices, k) for k in range(len(indices) + 1))


def enumerated(pairs, capacity, required=frozenset()):
    """Return the least cost of all sets of every weight that hold what is required."""
    best = np.full(capacity + 1, np.inf)
    for chosen in subsets(range(len(pairs))):
        weight = sum(pairs[k][0] for k in chosen)
        if weight <= capacity and required <= set(chosen):
            best[weight] = min(best[weight], sum(pairs[k][1] for k in chosen))
    return best


def assert_members_are_cheapest_sets(table, pairs, required=frozenset()):
    for weight in np.flatnonzero(np.isfinite(table.best)):
        members = table.members(int(weight))
        assert len(set(members)) == len(members)
        assert required <= set(members)
        assert sum(pairs[k][0] for k in members) == weight
        assert sum(pairs[k][1] for k in members) == table.best[weight]


def as_groups(drawn):
    """Return groups and the weight and cost of every item."""
    groups, pairs = [], []
    for weight, cost, number in drawn:
        groups.append(ItemGroup(range(len(pairs), len(pairs) + number), weight, cost))
        pairs += [(weight, cost)] * number
    return groups, pairs


@given(items, st.integers(0, 30))
def test_a_table_holds_the_cheapest_set_of_every_weight(pairs, capacity):
    table = CheapestSets(capacity)
    for k, (weight, cost) in enumerate(pairs):
        table.add(k, weight, cost)
    np.testing.assert_array_equal(table.best, enumerated(pairs, capacity))
    assert_members_are_cheapest_sets(table, pairs)


@given(items, st.data())
def test_required_items_are_in_every_set_whenever_they_come(pairs, data):
    flags = data.draw(st.lists(st.booleans(), min_size=len(pairs), max_size=len(pairs)))
    required = frozenset(k for k, flag in enumerate(flags) if flag)
    # No item is required that the capacity does not hold beside the others.
    capacity = data.draw(st.integers(0, 20)) + sum(pairs[k][0] for k in required)
    table = CheapestSets(capacity)
    for k, (weight, cost) in enumerate(pairs):
        if k in required:
            table.require([k], weight, cost)
        else:
            table.add(k, weight, cost)
    np.testing.assert_array_equal(table.best, enumerated(pairs, capacity, required))
    assert_members_are_cheapest_sets(table, pairs, required)


@given(items, st.tuples(st.integers(0, 6), costs))
def test_a_copy_leaves_the_table_as_it_was(pairs, one_more):
    table = CheapestSets(12)
    for k, (weight, cost) in enumerate(pairs):
        table.add(k, weight, cost)
    other = table.copy()
    other.add(len(pairs), *one_more)
    np.testing.assert_array_equal(table.best, enumerated(pairs, 12))
    np.testing.assert_array_equal(other.best, enumerated([*pairs, one_more], 12))
    assert_members_are_cheapest_sets(table, pairs)
    assert_members_are_cheapest_sets(other, [*pairs, one_more])


@given(group_lists, st.integers(0, 25), st.data())
def test_leaving_out_one_item_of_each_wanted_group(drawn, capacity, data):
    groups, pairs = as_groups(drawn)
    merit = st.sampled_from([-np.inf, 0.0, 1.0, 2.0])
    merits = data.draw(st.lists(merit, min_size=len(groups), max_size=len(groups)))
    seen = []
    for k, table in leave_one_out(groups, merits, CheapestSets(capacity)):
        seen.append(k)
        first = groups[k].items[0]
        others = [*pairs[:first], (capacity + 1, 0.0), *pairs[first + 1 :]]
        np.testing.assert_array_equal(table.best, enumerated(others, capacity))
        assert_members_are_cheapest_sets(table, others)
    assert sorted(seen) == [k for k, merit in enumerate(merits) if merit > -np.inf]
    assert not seen or merits[seen[0]] == max(merits)


def test_groups_that_are_no_longer_wanted_are_left_out():
    groups = [ItemGroup([k], k + 1, 0.0) for k in range(8)]
    merits = [0.0, 3.0, 1.0, 2.0, 5.0, 4.0, 0.0, 6.0]
    seen = []
    for k, _ in leave_one_out(groups, merits, CheapestSets(40)):
        seen.append(k)
        merits[:] = [merit if merit > 2 else -np.inf for merit in merits]
    assert seen == [7, 4, 5, 1]


@given(group_lists, st.integers(0, 3))
def test_groups_are_added_but_for_the_first_few(drawn, left_out):
    groups, pairs = as_groups(drawn[:1])
    table = CheapestSets(20)
    groups[0].add_to(table, leave_out=left_out)
    np.testing.assert_array_equal(table.best, enumerated(pairs[left_out:], 20))


# Equal items, in parts

large_groups = st.lists(st.tuples(st.integers(0, 4), costs, st.integers(1, 20)), min_size=1, max_size=3)


@given(st.integers(0, 300))
def test_parts_sum_to_each_number_up_to_their_own_and_are_few(number):
    sizes = parts(number)
    sums = {0}
    for size in sizes:
        sums |= {size + total for total in sums}
    assert sums == set(range(number + 1))
    assert len(sizes) == number.bit_length()


@given(large_groups, st.integers(0, 40))
def test_tables_have_any_number_of_items_that_are_alike(drawn, capacity):
    """As many of each as they are, where a capacity holds fewer than all of them too."""
    groups, pairs = as_groups(drawn)
    table = CheapestSets(capacity)
    for group in groups:
        group.add_to(table)
    best = np.full(capacity + 1, np.inf)
    for numbers in product(*(range(len(group.items) + 1) for group in groups)):
        weight = sum(number * group.weight for number, group in zip(numbers, groups, strict=True))
        if weight <= capacity:
            cost = sum(number * group.cost for number, group in zip(numbers, groups, strict=True))
            best[weight] = min(best[weight], cost)
    np.testing.assert_array_equal(table.best, best)
    assert_members_are_cheapest_sets(table, pairs)


@given(large_groups, st.integers(0, 40), st.data())
def test_members_for_many_weights_are_those_for_each(drawn, capacity, data):
    groups, pairs = as_groups(drawn)
    table = CheapestSets(capacity)
    for group in groups:
        required = data.draw(st.integers(0, len(group.items)))
        table.require(group.items[:required], group.weight, group.cost)
        group.add_to(table, leave_out=required)
    weights = np.flatnonzero(np.isfinite(table.best)).tolist()
    chosen = table.members_of_each([*weights, *weights[:1]], len(pairs) + 1)
    assert chosen.shape == (len(pairs) + 1, len(weights) + bool(weights))
    for members, weight in zip(chosen.T, weights, strict=False):
        assert sorted(table.members(weight)) == np.flatnonzero(members).tolist()


def test_a_thousand_items_that_are_alike_take_ten_additions(monkeypatch):
    made = []
    add = CheapestSets._add_together
    monkeypatch.setattr(CheapestSets, "_add_together", lambda *arguments: made.append(add(*arguments)))
    table = CheapestSets(5_000)
    ItemGroup(range(1_000), 5, -0.5).add_to(table)
    assert len(made) == 10
    assert table.best[3_000] == -300
    assert len(table.members(3_000)) == 600
    made.clear()
    for _, other in leave_one_out([ItemGroup(range(1_000), 5, -0.5)], [1.0], CheapestSets(5_000)):
        assert np.isinf(other.best[5_000])
    assert len(made) == 10


@pytest.mark.parametrize("capacity", [0, 3])
def test_an_item_heavier_than_the_capacity_changes_nothing(capacity):
    table = CheapestSets(capacity)
    table.add(0, capacity + 1, -5.0)
    assert table.best[0] == 0
    assert np.isinf(table.best[1:]).all()
    assert table.members(0) == []


def test_a_long_table_agrees_with_the_recursion_written_in_integers():
    """Three hundred items in exact arithmetic, which enumeration does not reach."""
    rng = np.random.default_rng(1)
    weights, prices = rng.integers(0, 40, 300).tolist(), rng.integers(-50, 50, 300).tolist()
    best = {0: 0}
    for weight, price in zip(weights, prices, strict=True):
        for total, cost in list(best.items()):
            if total + weight <= 500:
                best[total + weight] = min(best.get(total + weight, cost + price), cost + price)
    table = CheapestSets(500)
    for k, (weight, price) in enumerate(zip(weights, prices, strict=True)):
        table.add(k, weight, float(price))
    assert {int(w): table.best[w] for w in np.flatnonzero(np.isfinite(table.best))} == best
    assert_members_are_cheapest_sets(table, list(zip(weights, map(float, prices), strict=True)))


@given(items, st.integers(0, 20), st.integers(0, 8))
def test_tables_by_size_are_those_of_all_sets_of_each_size(pairs, capacity, most):
    table, best = CheapestSetsBySize(capacity, most), np.full((most + 1, capacity + 1), np.inf)
    for item, (weight, cost) in enumerate(pairs):
        table.add(item, weight, cost)
    for chosen in subsets(range(len(pairs))):
        weight, cost = (sum(pairs[i][side] for i in chosen) for side in (0, 1))
        if len(chosen) <= most and weight <= capacity:
            best[len(chosen), weight] = min(best[len(chosen), weight], cost)
    assert (table.best == best).all()
    for size, weight in np.argwhere(np.isfinite(best)).tolist():
        members = table.members(weight, size)
        assert len(members) == len(set(members)) == size
        assert sum(pairs[i][0] for i in members) == weight
        assert sum(pairs[i][1] for i in members) == best[size, weight]


@given(group_lists)
def test_tables_by_size_leave_one_out(groups):
    number = sum(count for _, _, count in groups)
    names = iter(range(number))
    listed = [ItemGroup([next(names) for _ in range(count)], weight, cost) for weight, cost, count in groups]
    for k, table in leave_one_out(listed, np.zeros(len(listed)), CheapestSetsBySize(12, number)):
        other = CheapestSetsBySize(12, number, with_members=False)
        for j, group in enumerate(listed):
            group.add_to(other, leave_out=int(j == k))
        assert (table.best == other.best).all()
