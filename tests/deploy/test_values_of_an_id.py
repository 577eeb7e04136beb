"""What reports about several values of one id leak, against the joint distribution of all reports, computed in full."""

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest

import mechdesign as md
from mechdesign.deploy import leakage_of_values

NO_ZEROS = np.array([[5, 2, 1], [2, 5, 1], [1, 3, 4]])  # over 8
ONE_OUT = np.array([[1, 1, 0], [1, 0, 1], [0, 1, 1]])  # over 2


def mechanism(numerators, bits, epsilon="log(100)", prior=None):
    size = len(numerators)
    known = md.L1Ball([f"1/{size}"] * size, 2) if prior is None else md.L1Ball(prior)
    return md.Mechanism(np.array(numerators), bits, md.Guarantee(epsilon, known))


def joint(numerators, bits, values):
    """The distribution of the reports about a sequence of values, from every function of values to words."""
    total, size = 2**bits, len(numerators)
    sums = np.cumsum(numerators, axis=1)
    found = {}
    for words in itertools.product(range(total), repeat=size):  # the word of each value, whenever it is asked
        reports = tuple(int((sums[value] <= words[value]).sum()) for value in values)
        found[reports] = found.get(reports, 0) + Fraction(1, total**size)
    return found


def pattern(values):
    return tuple(values.index(value) for value in values)


def level(numerators):
    return max(Fraction(int(column.max()), int(column.min())) for column in np.array(numerators).T)


def test_the_joint_distribution_is_a_product_over_different_values():
    for values in [(0,), (0, 0, 0), (0, 1), (0, 1, 0), (2, 1, 2, 0)]:
        for reports, probability in joint(NO_ZEROS, 3, values).items():
            assert pattern(values) == tuple(values.index(v) for v in values)
            first = {value: reports[values.index(value)] for value in values}
            assert all(first[value] == report for value, report in zip(values, reports, strict=True))
            assert probability == math.prod(Fraction(int(NO_ZEROS[v, y]), 8) for v, y in first.items())


def test_a_value_that_does_not_change_leaks_what_one_report_does():
    one, many = ({value: joint(NO_ZEROS, 3, (value,) * times) for value in range(3)} for times in (1, 5))
    for value in range(3):
        assert many[value] == {reports * 5: probability for reports, probability in one[value].items()}


@pytest.mark.parametrize("places", [2, 3])
def test_sequences_of_one_pattern_differ_by_the_bound_at_most(places):
    found = {values: joint(NO_ZEROS, 3, values) for values in itertools.product(range(3), repeat=places)}
    rho = level(NO_ZEROS)
    for values, other in itertools.permutations(found, 2):
        if pattern(values) == pattern(other):
            T = len(set(values))
            assert found[values].keys() == found[other].keys()
            ratio = max(p / found[other][reports] for reports, p in found[values].items())
            assert ratio <= rho**T
            bound = leakage_of_values(mechanism(NO_ZEROS, 3), T) if T > 1 else math.log(rho)
            assert math.log(ratio) <= bound + 1e-12


def test_randomized_response_attains_the_bound():
    warner = [[3, 1], [1, 3]]
    one, other = joint(warner, 2, (0, 1)), joint(warner, 2, (1, 0))
    ratio = max(p / other[reports] for reports, p in one.items())
    assert ratio == 9
    assert leakage_of_values(mechanism(warner, 2), 2) == pytest.approx(math.log(9), abs=1e-15)


def test_reports_that_differ_tell_that_values_do():
    same = joint(NO_ZEROS, 3, (1, 1))
    assert all(first == second for first, second in same)
    assert any(first != second for first, second in joint(NO_ZEROS, 3, (0, 1)))


def test_if_only_smokers_quit_a_change_says_smoked():
    # The values of two days: never smoked (0, 0), smokes (1, 1), quit (1, 0).
    days = {(0, 0): Fraction(60, 100), (1, 1): Fraction(39, 100), (1, 0): Fraction(1, 100)}
    found = {values: joint([[3, 1], [1, 3]], 2, values) for values in days}
    posterior = {values: days[values] * found[values].get((1, 0), 0) for values in days}
    smoked = sum(p for (first, _), p in posterior.items() if first == 1) / sum(posterior.values())
    assert smoked == 1


def test_with_zeros_three_values_leak_without_bound():
    orders = list(itertools.permutations(range(3)))
    odd = {order for order in orders if sum(a > b for a, b in itertools.combinations(order, 2)) % 2}
    found = {order: joint(ONE_OUT, 1, order) for order in orders}
    # Report 0 rules out the third value, 1 the second, 2 the first.
    excluded = (0, 1, 2)
    for d in (Fraction(1, 10), Fraction(1, 1000), Fraction(1, 10**9)):
        prior = {order: (d if order in odd else 1 - d) / 3 for order in orders}
        for place, value in itertools.product(range(3), repeat=2):  # every value is uniform at every place
            assert sum(p for order, p in prior.items() if order[place] == value) == Fraction(1, 3)
        caused = {order: prior[order] * found[order].get(excluded, 0) for order in orders}
        assert {order for order, p in caused.items() if p} <= odd
        likeliest = max(found[order].get(excluded, 0) for order in orders)
        assert likeliest / sum(caused.values()) >= 1 / d
    assert leakage_of_values(mechanism(ONE_OUT, 1, prior=["1/3"] * 3), 2) is None
    assert leakage_of_values(mechanism(ONE_OUT, 1, prior=["1/3"] * 3), 3) is None


def test_repeated_reports_are_no_bound_for_different_values():
    rows = [["1/2", "1/2"], ["1/10", "9/10"]]
    prior = [Fraction(999, 1000), Fraction(1, 1000)]
    A = [[Fraction(p) for p in row] for row in rows]
    leaks = {}
    for name, second in (("same", (0, 1)), ("other", (1, 0))):
        ratios = []
        for y, z in itertools.product(range(2), repeat=2):
            likelihoods = [A[x][y] * A[second[x]][z] for x in range(2)]
            ratios.append(max(likelihoods) / sum(p * q for p, q in zip(prior, likelihoods, strict=True)))
        leaks[name] = float(max(ratios))
    assert leaks["same"] < 3.24
    assert 8.92 < leaks["other"] < 8.93
    promise = md.Guarantee("1", md.L1Ball(["999/1000", "1/1000"]))
    twice = md.Mechanism.from_matrix([[0.5, 0.5], [0.1, 0.9]], promise).repeated(2)
    assert twice.leakage == pytest.approx(math.log(leaks["same"]), abs=1e-9)


def test_one_value_leaks_what_is_proved():
    known = mechanism(NO_ZEROS, 3, prior=[0.5, 0.3, 0.2])
    assert leakage_of_values(known, 1) == known.leakage
    assert leakage_of_values(known, 1) < math.log(level(NO_ZEROS))
    assert (
        leakage_of_values(mechanism(ONE_OUT, 1, prior=["1/3"] * 3), 1)
        == mechanism(ONE_OUT, 1, prior=["1/3"] * 3).leakage
    )


def test_the_bound_is_rounded_up():
    from flint import arb

    rho = level(NO_ZEROS)
    exact = arb(rho.numerator).log() - arb(rho.denominator).log()
    for values in (2, 3):
        found = leakage_of_values(mechanism(NO_ZEROS, 3), values)
        assert arb(found) > values * exact or arb(found).overlaps(values * exact)
        assert found == pytest.approx(values * math.log(rho), rel=1e-15)


@pytest.mark.parametrize(
    ("values", "told"),
    [
        (0, "the number of values is 0; accepted: a whole number, at least 1"),
        (4, "the number of values is 4; accepted: at most 3, as many as there are inputs"),
        (1.5, "the number of values is 1.5; accepted: a whole number, at least 1"),
        (True, "the number of values is True; accepted: a whole number, at least 1"),
    ],
)
def test_other_numbers_are_refused(values, told):
    with pytest.raises(md.InputError) as caught:
        leakage_of_values(mechanism(NO_ZEROS, 3), values)
    assert str(caught.value) == told
