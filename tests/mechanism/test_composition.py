"""Mechanisms made of mechanisms, against brute force in rationals."""

import json
import math
from collections import Counter
from decimal import Context, Decimal
from fractions import Fraction
from functools import cache
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from refusals import raises
from repetitions import examples
from strategies import balls, epsilons
from tolerances import ALGEBRA

import mechdesign as md
from mechdesign.cli.entry_point import run
from mechdesign.mechanism import composition
from mechdesign.mechanism.rounding import round_columns, round_to_integers
from mechdesign.mechanism.words import promise
from mechdesign.numerics.exact import over_common_denominator

ANY = md.L1Ball([0.5, 0.5], 2, ["no", "yes"])
THIRDS = md.L1Ball(["1/3", "1/3", "1/3"])
HULL = md.ConvexHull([["0.5", "0.3", "0.2"], ["0.2", "0.2", "0.6"]], labels=["a", "b", "c"])


def proved(numerators, bits, known, outputs=(), title=""):
    """A mechanism that promises no more than it has."""
    ratios = md.mechanism.prove(np.array(numerators), bits, md.Guarantee(md.Epsilon.of(1), known)).ratios
    guarantee = md.Guarantee(md.Epsilon.of(f"log({max(ratios)})"), known)
    origin = md.mechanism.Provenance("0.1.0", "by hand", title) if title else None
    return md.Mechanism(np.array(numerators), bits, guarantee, tuple(outputs), None, origin)


@cache
def warner():
    return proved([[3, 1], [1, 3]], 2, ANY, ["n", "y"])


@cache
def one_out():
    return proved([[1, 1, 0], [1, 0, 1], [0, 1, 1]], 1, THIRDS)


@cache
def excluding():
    return proved([[5, 2, 1], [2, 5, 1], [2, 2, 4]], 3, HULL)


@st.composite
def mechanisms(draw, most=3, outputs=4, bits=5):
    """Mechanisms over balls and a hull, every entry of which is positive."""
    known = draw(st.one_of(balls(most=most), st.just(HULL)))
    M = draw(st.integers(1, outputs))
    cuts = st.lists(st.integers(1, 2**bits - 1), min_size=M - 1, max_size=M - 1, unique=True).map(sorted)
    rows = [np.diff([0, *draw(cuts), 2**bits]).tolist() for _ in range(known.size)]
    return proved(rows, bits, known)


def designed(known, epsilon="1"):
    return md.design(md.DesignProblem(known, epsilon)).mechanism


@cache
def designed_for_three():
    return designed(md.L1Ball([0.5, 0.3, 0.2], "0.1"))


def probabilities(mechanism):
    return [[Fraction(n, 2**mechanism.bits) for n in row] for row in mechanism.numerators.tolist()]


def worst(mechanism):
    return max(mechanism.proof.ratios)


def ratio(column, known):
    whole, _ = over_common_denominator(column)
    return max(whole) / known.exact_support(whole)


def information(mechanism):
    return md.MutualInformation().value(mechanism.matrix, mechanism.guarantee.uncertainty.prior)


def rounded_file(mechanism, path):
    mechanism.save(path)
    return md.Mechanism.load(path)


# Outputs processed further


@settings(max_examples=examples(60))
@given(mechanisms(), st.data())
def test_merging_adds_columns_and_raises_neither_leakage_nor_utility(mechanism, data):
    groups = data.draw(st.lists(st.sampled_from("pqr"), min_size=len(mechanism.outputs), max_size=4))
    mapping = dict(zip(mechanism.outputs, groups, strict=False))
    merged = mechanism.then(mapping)
    assert merged.outputs == tuple(dict.fromkeys(mapping.values()))
    old = probabilities(mechanism)
    for j, name in enumerate(merged.outputs):
        for i, row in enumerate(probabilities(merged)):
            assert row[j] == sum(old[i][k] for k, label in enumerate(mechanism.outputs) if mapping[label] == name)
    assert worst(merged) <= worst(mechanism)
    assert information(merged) <= information(mechanism) + ALGEBRA
    assert (merged.guarantee, merged.bits) == (mechanism.guarantee, mechanism.bits)


@settings(max_examples=examples(60))
@given(mechanisms(), st.integers(1, 4), st.integers(0, 10**6))
def test_a_random_map_raises_neither_leakage_nor_utility(mechanism, K, seed):
    rng = np.random.default_rng(seed)
    post = rng.dirichlet(np.full(K, 0.3), len(mechanism.outputs))
    after = mechanism.then(post, bits=48)
    assert worst(after) <= worst(mechanism)
    assert information(after) <= information(mechanism) + ALGEBRA
    # Both are what the exact product has, but for rounding.
    exact = mechanism.matrix @ (post / post.sum(axis=1, keepdims=True))
    prior = mechanism.guarantee.uncertainty.prior
    assert_allclose(information(after), md.MutualInformation().value(exact, prior), atol=1e-9)
    assert after.guarantee == mechanism.guarantee


@settings(max_examples=examples(60))
@given(mechanisms(), st.data())
def test_merging_by_a_mapping_is_merging_by_a_matrix_of_zeros_and_ones(mechanism, data):
    groups = data.draw(st.lists(st.sampled_from("pqr"), min_size=len(mechanism.outputs), max_size=4))
    merged = mechanism.then(dict(zip(mechanism.outputs, groups, strict=False)))
    matrix = [[float(label == name) for name in merged.outputs] for label in groups[: len(mechanism.outputs)]]
    directions = merged.numerators // np.gcd.reduce(merged.numerators, axis=0)
    if len(np.unique(directions, axis=1).T) < len(merged.outputs):
        with raises("needless-argument"):
            mechanism.then(matrix, outputs=merged.outputs)
        return
    assert_array_equal(mechanism.then(matrix, outputs=merged.outputs).numerators, merged.numerators)
    unnamed = mechanism.then(matrix)
    assert [name.partition("-")[0] for name in unnamed.outputs] == [f"y{j + 1}" for j in range(len(merged.outputs))]
    assert sorted(unnamed.numerators.T.tolist()) == sorted(merged.numerators.T.tolist())


@pytest.mark.parametrize("make", [warner, excluding, designed_for_three], ids=lambda make: make.__name__)
def test_the_identity_changes_nothing_but_the_claim_of_optimality(make):
    mechanism = make()
    for post in ({label: label for label in mechanism.outputs}, np.eye(len(mechanism.outputs))):
        names = None if isinstance(post, dict) else mechanism.outputs
        same = mechanism.then(post, outputs=names)
        assert_array_equal(same.numerators, mechanism.numerators)
        assert (same.outputs, same.bits, same.guarantee) == (mechanism.outputs, mechanism.bits, mechanism.guarantee)
        assert same.optimality is None


def test_rounding_alone_would_raise_the_leakage_of_tight_columns():
    mechanism = designed_for_three()
    M, raised = len(mechanism.outputs), 0
    rng = np.random.default_rng(1)
    for _ in range(20):
        post = np.kron(np.eye(M), rng.dirichlet(np.ones(2), 1))  # every output becomes one of two that tell the same
        plain = np.rint(mechanism.matrix @ post * 2.0**48).astype(np.int64)
        raised += any(ratio(column, mechanism.guarantee.uncertainty) > worst(mechanism) for column in plain.T.tolist())
        after = mechanism.then(post, bits=48)
        assert worst(after) <= worst(mechanism)
        assert_allclose(information(after), information(mechanism), atol=1e-9)
    assert raised >= 10


def test_bits_and_labels_of_a_random_map():
    post = [[0.5, 0.25, 0.25], [0, 0.5, 0.5]]
    assert warner().then(post, bits=52).bits == 52
    assert warner().then(post).bits == 2
    assert warner().then(post, bits=10).matrix.shape == (2, 2)  # the last two tell the same
    assert warner().then([[0.5, 0.5], [0, 1]], outputs=["a", "b"], bits=10).outputs == ("a", "b")
    with raises("needless-argument", "3", "to 2"):
        warner().then(post, outputs=["a", "b", "c"], bits=10)
    # An output that nothing is sent to never occurs.
    assert_array_equal(warner().then([[1, 0, 0], [0, 0, 1]]).numerators, warner().numerators)
    # Integers are labels, as elsewhere.
    assert proved([[3, 1], [1, 3]], 2, ANY, ["0", "1"]).then({0: 10, 1: 11}).outputs == ("10", "11")


def test_provenance_tells_what_was_done():
    titled = proved([[3, 1], [1, 3]], 2, ANY, title="smoking")
    assert titled.then(dict.fromkeys(titled.outputs, "y")).provenance == md.mechanism.Provenance(
        md.__version__, "post-processing of 2 outputs by a mapping to 1", "smoking"
    )
    assert titled.then(np.eye(2)).provenance.method == "post-processing of 2 outputs by a random map to 2"
    assert titled.product(titled).provenance == md.mechanism.Provenance(
        md.__version__, "product of two mechanisms", "smoking & smoking"
    )
    assert titled.product(warner()).provenance.problem == "smoking"
    origin = md.mechanism.Provenance(md.__version__, "3 independent reports about one record")
    assert warner().repeated(3).provenance == origin


@pytest.mark.parametrize(
    ("post", "options", "code"),
    [
        ({"n": "a"}, {}, "labels-differ"),
        ({"n": "a", "y": "b", "z": "c"}, {}, "unknown-label"),
        ({"n": "a", "y": ""}, {}, "bad-label"),
        ({"n": "a", "y": None}, {}, "bad-label"),
        ({"n": "a", "y": "b"}, {"outputs": ["a", "b"]}, "needless-argument"),
        ({"n": "a", "y": "b"}, {"bits": 3}, "needless-argument"),
        ("ny", {}, "not-a-number"),
        (None, {}, "not-a-number"),
        ([[1.0, 0.0]], {}, "wrong-size"),
        ([[], []], {}, "wrong-size"),
        ([[1.0], [1.0, 0.0]], {}, "not-a-number"),
        ([[1.5, -0.5], [0, 1]], {}, "not-probabilities"),
        ([[1, 0], [math.nan, 1]], {}, "not-probabilities"),
        (
            [[1, 0], [0, 1 + 2e-9]],
            {},
            "wrong-sum",
        ),
        (np.eye(2), {"outputs": "ab"}, "wrong-type"),
        (np.eye(2), {"outputs": ["a"]}, "wrong-size"),
        (np.eye(2), {"bits": 0}, "not-a-whole-number"),
        (np.eye(2), {"bits": 53}, "not-a-whole-number"),
    ],
)
def test_other_post_processing_is_refused(post, options, code):
    with raises(code) as caught:
        warner().then(post, **options)
    assert "\n" not in str(caught.value)


def test_an_output_is_mapped_once():
    digits = proved([[3, 1], [1, 3]], 2, ANY, ["0", "1"])
    with raises("label-twice", "output '0'"):
        digits.then({0: "a", "0": "b", 1: "a"})


# Two attributes


@settings(max_examples=examples(40))
@given(mechanisms(), mechanisms())
def test_a_product_is_the_kronecker_product_and_leaks_the_sum(first, second):
    both = first.product(second)
    assert both.bits <= first.bits + second.bits
    A, B, C = probabilities(first), probabilities(second), probabilities(both)
    assert [[a * b for a, b in product(row, other)] for row, other in product(A, B)] == C
    assert both.proof.ratios == tuple(a * b for a, b in product(first.proof.ratios, second.proof.ratios))
    assert both.guarantee.epsilon.exp_down == worst(first) * worst(second)
    assert both.inputs == tuple(f"{a} & {b}" for a, b in product(first.inputs, second.inputs))
    assert both.outputs == tuple(f"{a} & {b}" for a, b in product(first.outputs, second.outputs))
    assert both.guarantee.uncertainty == md.ProductSet(first.guarantee.uncertainty, second.guarantee.uncertainty)


@settings(max_examples=examples(25))
@given(mechanisms(), mechanisms())
def test_marginals_of_a_product_recover_each_factor(first, second):
    both = first.product(second)
    (N1, M1), (N2, M2) = first.numerators.shape, second.numerators.shape
    parts = both.numerators.reshape(N1, N2, M1, M2)
    for k in range(N2):
        assert_array_equal(parts[:, k].sum(axis=2) * 2**first.bits, first.numerators * 2**both.bits)
    for i in range(N1):
        assert_array_equal(parts[i].sum(axis=1) * 2**second.bits, second.numerators * 2**both.bits)
    # The same by merging what differs in the other attribute alone.
    pairs = list(product(first.outputs, second.outputs))
    alone = both.then({label: pair[0] for label, pair in zip(both.outputs, pairs, strict=True)})
    assert alone.proof.ratios == first.proof.ratios


def test_a_product_beyond_the_bits_is_rounded_and_proved():
    first, second = designed_for_three(), designed(ANY, "0.5")
    for bits in (None, 20, 52):
        both = first.product(second, bits=bits)
        assert both.bits == (bits or 48)
        assert str(both.guarantee.epsilon) == "1.5"
        assert worst(both) <= md.Epsilon.of("1.5").exp_down
        exact = [
            [a * b for a, b in product(row, other)] for row, other in product(*map(probabilities, (first, second)))
        ]
        assert_allclose(both.matrix, np.array(exact, dtype=float), atol=100 * 2.0**-both.bits)
        M1, M2 = len(first.outputs), len(second.outputs)
        marginal = both.matrix.reshape(3, 2, M1, M2)[:, 0].sum(axis=2)
        assert_allclose(marginal, first.matrix, atol=400 * 2.0**-both.bits)


def test_bits_of_an_exact_product():
    assert warner().product(warner()).bits == 4
    wider = warner().product(warner(), bits=7)
    assert_array_equal(wider.matrix, np.kron(warner().matrix, warner().matrix))
    # What 48 bits are not needed for is exact all the same.
    padded = proved([[3 * 2**46, 2**46], [2**46, 3 * 2**46]], 48, ANY)
    assert padded.product(padded).bits == 4
    constant = proved([[2**48], [2**48]], 48, ANY)
    assert constant.product(constant).numerators.tolist() == [[2]] * 4
    with raises("not-a-whole-number", "is 53"):
        warner().product(warner(), bits=53)


def test_pairs_too_rare_for_the_bits_are_left_out():
    rare = proved([[2**30 - 1, 1]] * 2, 30, ANY, ["often", "rarely"])
    both = rare.product(rare, bits=48)
    assert both.outputs == ("often & often", "often & rarely", "rarely & often")
    alike = proved([[3, 1], [3, 1]], 2, ANY)
    with raises("too-few-bits", "2^1", "epsilon = log(1)"):
        alike.product(alike, bits=1)


def test_three_attributes():
    three = warner().product(excluding()).product(one_out(), bits=20)
    other = warner().product(excluding().product(one_out()), bits=20)
    assert_array_equal(three.numerators, other.numerators)
    assert (three.inputs, three.outputs, three.proof) == (other.inputs, other.outputs, other.proof)
    assert three.guarantee.epsilon == other.guarantee.epsilon
    assert three.guarantee.uncertainty.center == other.guarantee.uncertainty.center


def test_epsilons_that_are_spent_to_the_last_bit():
    # Of the known prior (1/x, 1 - 1/x) the identity leaks log(x) exactly: x may be exp(epsilon), rounded down.
    parts = []
    for epsilon in ("0.7", "1.5"):
        share = 1 / md.Epsilon.of(epsilon).exp_down
        guarantee = md.Guarantee(md.Epsilon.of(epsilon), md.L1Ball([share, 1 - share]))
        parts.append(md.Mechanism(np.array([[2, 0], [0, 2]]), 1, guarantee))
    total = md.Epsilon.of("0.7") + md.Epsilon.of("1.5")
    both = parts[0].product(parts[1])
    assert worst(both) > total.exp_down
    assert both.guarantee.epsilon.exp_down == worst(both) == math.prod(map(worst, parts))
    assert float(both.guarantee.epsilon) == pytest.approx(2.2, abs=ALGEBRA)


def test_products_are_limited(monkeypatch):
    with raises("wrong-type", "the other mechanism", "list"):
        warner().product([1])
    labelled = proved([[3, 1], [1, 3]], 2, ANY, ["a", "a & a"])
    with raises("ambiguous-labels", "'a & a & a'"):
        labelled.product(labelled)
    assert labelled.product(labelled, separator=" | ").outputs[1] == "a | a & a"
    many = proved([[1] * 128] * 2, 7, ANY)
    with raises("too-much-work", "the product", "16384", "for 4"):
        many.product(many)
    monkeypatch.setattr(composition, "_MOST_ENTRIES", 15)
    with raises("too-much-work", "the product", "have 4", "for 4"):
        warner().product(warner())


# One record, several reports


def brute_force(mechanism, times):
    """The probability of every combination of reports, given every input."""
    found = {}
    for reports in product(range(len(mechanism.outputs)), repeat=times):
        column = [math.prod(row[j] for j in reports) for row in probabilities(mechanism)]
        key = tuple(sorted(reports))
        found[key] = [a + b for a, b in zip(found.get(key, [0] * len(column)), column, strict=True)]
    return {key: column for key, column in found.items() if any(column)}


@settings(max_examples=examples(40))
@given(mechanisms(outputs=3), st.integers(1, 4))
def test_reports_multiply_and_epsilon_is_their_exact_leakage(mechanism, times):
    expected = brute_force(mechanism, times)
    ratios = [ratio(column, mechanism.guarantee.uncertainty) for column in expected.values()]
    together = mechanism.repeated(times)
    assert [list(column) for column in zip(*probabilities(together), strict=True)] == list(expected.values())
    assert together.outputs == tuple(" & ".join(mechanism.outputs[j] for j in key) for key in expected)
    assert list(together.proof.ratios) == ratios
    epsilon = together.guarantee.epsilon
    assert max(ratios) <= epsilon.exp_down
    if times > 1:
        assert float(epsilon) <= math.log(max(ratios)) + 1.001e-12
        assert len(str(epsilon).partition(".")[2]) <= 12 or "e" in str(epsilon)


@settings(max_examples=examples(25))
@given(mechanisms(), st.integers(2, 3))
def test_local_differential_privacy_adds_up_at_most(mechanism, times):
    everything = md.L1Ball(mechanism.guarantee.uncertainty.center, 2, mechanism.inputs)
    private = proved(mechanism.numerators, mechanism.bits, everything)
    assert worst(private.repeated(times)) <= worst(private) ** times


def test_reports_may_leak_more_than_the_sum_over_a_set_of_priors():
    # Each report excludes one of three symbols, two reports leave one: 1/3 is below (2/3)^2.
    assert str(one_out().guarantee.epsilon) == "log(3/2)"
    twice = one_out().repeated(2)
    assert worst(twice) == 3 > worst(one_out()) ** 2
    assert float(twice.guarantee.epsilon) > 2 * float(one_out().guarantee.epsilon) + 0.28
    # All three at once contradict each other: they never occur, and a fourth report tells nothing new.
    four = one_out().repeated(4)
    assert worst(four) == 3
    assert not any(set(one_out().outputs) <= set(label.split(" & ")) for label in four.outputs)
    # Less than the sum is possible, too.
    assert worst(warner().repeated(2)) == 9 == worst(warner()) ** 2
    assert worst(excluding().repeated(2)) < worst(excluding()) ** 2


def test_reports_that_leak_without_bound_are_named():
    wide = md.L1Ball(["1/3", "1/3", "1/3"], "2/3")
    mechanism = proved([[1, 1, 0], [1, 0, 1], [0, 1, 1]], 1, wide, ["not c", "not b", "not a"])
    assert worst(mechanism) == 3
    with raises("unbounded-leakage", "'not c & not b'"):
        mechanism.repeated(2)


def test_what_bits_do_not_hold_is_rounded_and_epsilon_covers_the_exact_reports():
    mechanism = designed_for_three()
    expected = brute_force(mechanism, 3)
    greatest = max(ratio(column, mechanism.guarantee.uncertainty) for column in expected.values())
    together = mechanism.repeated(3)
    assert (together.bits, mechanism.repeated(3, bits=30).bits) == (48, 30)
    assert greatest <= together.guarantee.epsilon.exp_down
    assert float(together.guarantee.epsilon) <= math.log(greatest) + 1.001e-12
    assert worst(together) <= together.guarantee.epsilon.exp_down
    assert len(together.outputs) == len(expected)
    assert_allclose(together.matrix, np.array(list(expected.values()), dtype=float).T, atol=ALGEBRA)


def test_combinations_too_rare_for_the_bits_are_left_out_but_paid_for():
    rare = proved([[2**30 - 1, 1], [2**30 - 3, 3]], 30, ANY, ["often", "rarely"])
    twice = rare.repeated(2, bits=48)
    assert twice.outputs == ("often & often", "often & rarely")
    assert math.log(9) <= float(twice.guarantee.epsilon) <= math.log(9) + 1e-12


def test_one_report_is_the_mechanism():
    assert warner().repeated(1) is warner()
    assert warner().repeated(1, bits=2) is warner()
    wider = warner().repeated(1, bits=5)
    assert_array_equal(wider.matrix, warner().matrix)
    assert float(wider.guarantee.epsilon) == pytest.approx(math.log(3), abs=1.001e-12)


def test_drawn_reports_have_the_probabilities_of_the_combinations():
    # Two secure draws for one record against the exported column; a false alarm has probability below 1e-9.
    draws, twice = 40_000, excluding().repeated(2)
    first, second = (excluding().privatize(np.zeros(draws, dtype=np.int64)) for _ in range(2))
    seen = Counter(
        " & ".join(sorted((excluding().outputs[a], excluding().outputs[b]))) for a, b in zip(first, second, strict=True)
    )
    slack = math.sqrt(math.log(2 * len(twice.outputs) / 1e-10) / (2 * draws))  # Hoeffding, every output
    for j, label in enumerate(twice.outputs):
        assert abs(seen[label] / draws - twice.matrix[0, j]) <= slack


def test_repetition_works_on_products():
    both = warner().product(one_out())
    assert worst(both.repeated(2)) == worst(warner().repeated(2)) * worst(one_out().repeated(2)) == 27


@pytest.mark.parametrize("times", [0, -1, 201, 10**30, True, 2.0, "2", None])
def test_other_numbers_of_reports_are_refused(times):
    with raises("not-a-whole-number", "to 200"):
        warner().repeated(times)


def test_repetition_is_limited(monkeypatch):
    many = proved([[1] * 64] * 2, 6, ANY)
    with raises("too-much-work", "64 outputs, 3 times,", "45760", "for 2"):
        many.repeated(3)
    assert len(warner().repeated(26).outputs) == 27
    assert float(warner().repeated(200).guarantee.epsilon) == pytest.approx(200 * math.log(3), abs=1e-10)
    with raises("bad-label", "1000"):
        many.then({label: f"{label}{'-' * 500}" for label in many.outputs}).repeated(2)
    with raises("wrong-type", "is 3"):
        warner().repeated(2, separator=3)
    clashing = proved([[2, 2, 2, 2]] * 2, 3, ANY, ["a", "a & a", "a & b", "b"])
    with raises("ambiguous-labels"):
        clashing.repeated(2)
    monkeypatch.setattr(composition, "_MOST_ENTRIES", 5)
    with raises("too-much-work", "2 outputs, 2 times,", "have 3", "for 2"):
        warner().repeated(2)


# Sums of epsilons


@given(epsilons, epsilons)
def test_sums_of_epsilons_are_exact_or_below(first, second):
    a, b = md.Epsilon.of(first), md.Epsilon.of(second)
    total = a + b
    assert md.Epsilon.of(total.text) == total
    if a.exponent is not None and b.exponent is not None:
        assert total.exponent == a.exponent + b.exponent
        return
    assert total.power == a.exp_down * b.exp_down
    context = Context(prec=60)

    def exactly(e):
        if e.power is not None:
            return context.divide(e.power.numerator, e.power.denominator)
        return context.exp(context.divide(e.exponent.numerator, e.exponent.denominator))

    true = context.multiply(exactly(a), exactly(b))
    found = context.divide(total.power.numerator, total.power.denominator)
    assert context.subtract(found, true) <= context.multiply(true, Decimal("1e-55"))
    assert float(total) == pytest.approx(float(a) + float(b), abs=ALGEBRA)


def test_sums_out_of_range_are_refused():
    with raises("epsilon-out-of-range", "to 700"):
        md.Epsilon.of(400) + md.Epsilon.of("300.5")
    with raises("epsilon-out-of-range", "most 700"):
        md.Epsilon.of("log(1e300)") + md.Epsilon.of("log(1e300)")
    with raises("too-many-digits", "2000"):
        md.Epsilon.of(f"log({10**999 + 1}/{10**999})") + md.Epsilon.of(f"log({10**998 + 1}/{10**998})")
    with pytest.raises(TypeError):
        md.Epsilon.of(1) + 1


@given(st.fractions(min_value=1, max_value=10**9, max_denominator=10**9))
def test_an_epsilon_covers_a_ratio_and_no_shorter_decimal_does(found):
    epsilon = md.Epsilon.covering(found)
    assert found <= epsilon.exp_down
    if found > 1:
        assert md.Epsilon.of(epsilon.exponent - Fraction(1, 10**12)).exp_down < found
    else:
        assert epsilon.text == "0"


def test_no_epsilon_covers_what_floats_do_not_hold():
    with raises("epsilon-out-of-range", "to 700"):
        md.Epsilon.covering(Fraction(10**310))


# Columns in their places


def test_rounded_columns_keep_their_places():
    known = md.L1Ball([0.5, 0.5], 2)
    matrix = np.array([[0.4, 0.0, 0.4 - 1e-18, 1e-18, 0.2], [0.4, 0.0, 0.4 - 1e-18, 1e-18, 0.2]])
    promise = md.Guarantee(md.Epsilon.of("log(2)"), known)
    columns = round_columns(matrix, 20, promise)
    assert columns.shape == matrix.shape
    assert_array_equal(columns.any(axis=0), [True, False, True, False, True])
    assert_array_equal(round_to_integers(matrix, 20, promise), [[2**20]] * 2)
    assert round_columns(np.array([[0.7, 0.3], [0.3, 0.7]]), 20, md.Guarantee(md.Epsilon.of(0), known)) is None


# Files


def test_composed_mechanisms_come_back_bit_for_bit(tmp_path):
    counted = md.L1Ball.from_counts({"low": 50, "high": 30}, delta="0.01")
    sampled = proved([[5, 3], [3, 5]], 3, counted)
    made = [
        warner().product(excluding()),
        sampled.product(one_out().product(sampled, separator="|")),
        one_out().repeated(3),
        warner().product(one_out()).repeated(2).then(np.full((21, 2), 0.5)),
        designed(md.ProductSet(counted, ANY)),
    ]
    for mechanism in made:
        for name in ("m.json", "m.npz"):
            found = rounded_file(mechanism, tmp_path / name)
            assert_array_equal(found.numerators, mechanism.numerators)
            assert (found.inputs, found.outputs, found.bits) == (mechanism.inputs, mechanism.outputs, mechanism.bits)
            assert (found.guarantee, found.provenance) == (mechanism.guarantee, mechanism.provenance)
            assert found.proof == mechanism.proof
            assert md.verify(found).proof.holds


def test_the_file_of_a_product_is_laid_out_as_documented(tmp_path):
    warner().product(excluding()).save(tmp_path / "m.json")
    table = json.loads((tmp_path / "m.json").read_text(encoding="utf-8"))
    assert table["guarantee"] == {
        "epsilon": f"log({3 * worst(excluding())})",
        "factors": [
            {"inputs": ["no", "yes"], "radius": "2", "center": ["1/2", "1/2"]},
            {
                "inputs": ["a", "b", "c"],
                "priors": [["1/2", "3/10", "1/5"], ["1/5", "1/5", "3/5"]],
                "weights": ["1/2", "1/2"],
            },
        ],
        "separator": " & ",
    }
    assert next(iter(table["guarantee"])) == "epsilon"


@pytest.fixture
def edited(tmp_path):
    counted = md.L1Ball.from_counts({"low": 50, "high": 30}, delta="0.01")
    inner = warner().product(proved([[5, 3], [3, 5]], 3, counted))

    def load_edited(edit):
        inner.product(one_out()).save(tmp_path / "m.json")
        table = json.loads((tmp_path / "m.json").read_text(encoding="utf-8"))
        edit(table, table["guarantee"], table["guarantee"]["factors"])
        (tmp_path / "m.json").write_text(json.dumps(table), encoding="utf-8")
        return md.Mechanism.load(tmp_path / "m.json")

    return load_edited


def nested(depth):
    table = {"inputs": ["a", "b"], "center": ["1/2", "1/2"], "radius": "0"}
    for _ in range(depth):
        table = {"inputs": ["a", "b"], "factors": [table, table], "separator": ""}
    return table


@pytest.mark.parametrize(
    ("edit", "code"),
    [
        (lambda t, g, f: f.reverse(), "labels-differ"),
        (lambda t, g, f: f[0]["factors"].reverse(), "labels-differ"),
        (lambda t, g, f: t["inputs"].reverse(), "labels-differ"),
        (lambda t, g, f: f.pop(), "bad-field"),
        (lambda t, g, f: f.append(f[0]), "bad-field"),
        (lambda t, g, f: g.pop("separator"), "missing-key"),
        (lambda t, g, f: f[0].pop("separator"), "missing-key"),
        (lambda t, g, f: g.update(separator="|"), "labels-differ"),
        (lambda t, g, f: g.update(separator=3), "bad-field"),
        (lambda t, g, f: g.update(radius="1"), "key-out-of-place"),
        (lambda t, g, f: g.update(weights=["1"]), "key-out-of-place"),
        (lambda t, g, f: g.update(center=["1"]), "conflicting-keys"),
        (lambda t, g, f: f[1].update(separator=""), "key-out-of-place"),
        (lambda t, g, f: f[1].pop("center"), "conflicting-keys"),
        (lambda t, g, f: f[1].pop("inputs"), "missing-key"),
        (lambda t, g, f: f[1].update(inputs=["x1", "x2"]), "wrong-size"),
        (lambda t, g, f: f[1].update(inputs=["x1", "x2", "x2"]), "label-twice"),
        (
            lambda t, g, f: f[1].update(epsilon="1"),
            "unknown-key",
        ),
        (lambda t, g, f: f[0]["factors"][1].update(more=1), "unknown-key"),
        (lambda t, g, f: f[0]["factors"][1].update(samples="80"), "bad-field"),
        (lambda t, g, f: g.update(factors={}), "bad-field"),
        (lambda t, g, f: g.update(factors=[1, 2]), "bad-field"),
        (lambda t, g, f: g.update(factors=[nested(11)] * 2), "wrong-size"),
        (lambda t, g, f: g.update(factors=[nested(12), nested(0)]), "bad-field"),
        (lambda t, g, f: g.update(factors=[nested(0), nested(12)]), "bad-field"),
    ],
)
def test_files_whose_factors_do_not_fit_are_refused(edited, edit, code):
    with raises(code) as caught:
        edited(edit)
    assert "\n" not in str(caught.value)
    assert len(str(caught.value)) < 400


def test_deeply_nested_factors_are_refused_before_they_are_read(tmp_path):
    warner().product(warner()).save(tmp_path / "m.json")
    text = (tmp_path / "m.json").read_text(encoding="utf-8")
    for depth in (13, 300, 900, 100_000):
        deep = '{"factors": [' * depth + "1" + "]}" * depth
        start, end = text.index('"factors"'), text.index('"separator"')
        (tmp_path / "deep.json").write_text(f'{text[:start]}"factors": [{deep}], {text[end:]}', encoding="utf-8")
        with pytest.raises(md.InputError, match="nested") as caught:
            md.Mechanism.load(tmp_path / "deep.json")
        assert "\n" not in str(caught.value)
        assert len(str(caught.value)) < 400


def test_false_claims_about_products_are_refused(edited):
    assert edited(lambda t, g, f: None).proof.holds
    with raises("guarantee-false"):
        edited(lambda t, g, f: g.update(epsilon="1.2"))
    with raises("delta-false", "0.009", "with 80", "over 2"):
        edited(lambda t, g, f: f[0]["factors"][1].update(delta="0.009"))
    # Other priors than those of the proof.
    with raises("guarantee-false"):
        edited(lambda t, g, f: f[1].update(radius="0.1"))


def test_an_epsilon_a_hair_below_the_sum_is_refused(tmp_path):
    both = warner().product(warner())
    both.save(tmp_path / "m.json")
    text = (tmp_path / "m.json").read_text(encoding="utf-8")
    (tmp_path / "m.json").write_text(text.replace("log(9)", f"log({9 * 10**40 - 1}/{10**40})"), encoding="utf-8")
    with raises("guarantee-false"):
        md.Mechanism.load(tmp_path / "m.json")


def test_factors_that_look_alike_are_told_apart_by_the_proof(tmp_path):
    # The labels of both attributes are the same, so that nothing but the priors shows who is who.
    first = proved([[2, 0], [1, 1]], 1, md.L1Ball(["0.5", "0.5"], 0, ["no", "yes"]))
    second = proved([[1, 1], [0, 2]], 1, md.L1Ball(["0.9", "0.1"], 0, ["no", "yes"]))
    first.product(second).save(tmp_path / "m.json")
    table = json.loads((tmp_path / "m.json").read_text(encoding="utf-8"))
    table["guarantee"]["factors"].reverse()
    (tmp_path / "m.json").write_text(json.dumps(table), encoding="utf-8")
    with raises("guarantee-false"):
        md.Mechanism.load(tmp_path / "m.json")


# What the command line says


def test_promises_about_products_in_words():
    counted = md.L1Ball.from_counts({"low": 50, "high": 30}, delta="0.01")
    known = md.L1Ball(["0.5", "0.5"])

    def said(*factors):
        nested_set = factors[0]
        for factor in factors[1:]:
            nested_set = md.ProductSet(nested_set, factor)
        words = promise(md.Guarantee(md.Epsilon.of(1), nested_set)).removeprefix("PML with epsilon = 1 for every ")
        return words, nested_set.delta

    radius = f"a prior within l1 distance {float(counted.radius):.6g} of its estimate"
    words, delta = said(counted, HULL)
    assert words == (
        f"joint prior whose first attribute has {radius}, and whose second has a mixture of 2 priors, "
        "whatever the first is"
    )
    assert delta is None
    assert said(ANY, ANY, ANY) == ("prior, which is local differential privacy", None)
    assert said(counted, ANY)[1] == said(ANY, counted)[1] == Fraction("0.01")
    assert said(counted, counted, ANY, counted)[1] == Fraction("0.03")
    assert said(counted, known)[1] is None
    words, delta = said(known, ANY)
    assert words == (
        "joint prior whose first attribute has its estimated prior, taken as known, and whose second has any prior, "
        "whatever the first is"
    )
    assert delta is None
    assert said(known, known, ANY)[0].startswith("joint prior whose first attribute has a joint prior (whose first")


def test_verify_on_the_command_line(tmp_path, capsys):
    counted = md.L1Ball.from_counts({"low": 50, "high": 30}, delta="0.01")
    sampled = proved([[5, 3], [3, 5]], 3, counted)
    sampled.product(sampled).save(tmp_path / "m.json")
    assert run(["verify", str(tmp_path / "m.json")]) == 0
    said = " ".join(capsys.readouterr().out.split())
    assert "0.02: the true prior, if attributes are independent, lies outside" in said
    assert run(["verify", "--json", str(tmp_path / "m.json")]) == 0
    record = json.loads(capsys.readouterr().out)
    assert (record["delta"], record["radius"], record["holds"]) == (0.02, None, True)
