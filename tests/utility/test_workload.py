"""Workloads: their matrices from a second side, their tables and texts, and what is refused."""

import itertools
import json
import math
import pickle
import tomllib
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
import tomli_w
from hypothesis import given
from hypothesis import strategies as st
from refusals import raises
from tolerances import ALGEBRA

import mechdesign as md
from mechdesign.utility import Workload

LABELS = ("a", "b", "c")
EXAMPLES = [
    Workload.frequencies(),
    Workload.prefix(),
    Workload.marginals([2, 3]),
    Workload.marginals((2, 3, 2), ways=2),
    Workload.symbols(["b", "a"]),
    Workload.symbols(["with, comma", "a=b", 7]),
    Workload.weights([1, 0, "0.3"]),
    Workload.weights({"a": 0.1, "b": 2, "c": 0}),
    Workload.mean([1, 2, -3]),
    Workload.mean(pd.Series({"b": 1.5, "a": 1e-100, "c": 1e100})),
    Workload.matrix([[1, -1, 0], ["1/3", 0.1, Decimal("2.50")]]),
]


@given(st.integers(2, 30), st.integers(0, 2**32 - 1))
def test_frequencies_and_prefix_sums_of_a_distribution(size, seed):
    P = np.random.default_rng(seed).dirichlet(np.ones(size))
    assert (Workload.frequencies().queries(size) @ P == P).all()
    assert Workload.prefix().queries(size) @ P == pytest.approx(np.cumsum(P)[:-1], abs=ALGEBRA)


@pytest.mark.parametrize("size", [2, 5, 8])
def test_the_sum_over_all_symbols_would_add_no_error(size):
    P = np.random.default_rng(size).dirichlet(np.ones(size))
    centred = np.eye(size) - np.outer(P, np.ones(size))
    every = np.tril(np.ones((size, size))) @ centred
    short = Workload.prefix().queries(size) @ centred
    assert np.abs(every[-1]).max() < ALGEBRA
    assert every.T @ every == pytest.approx(short.T @ short, abs=ALGEBRA)


@given(
    st.lists(st.integers(2, 4), min_size=1, max_size=4).flatmap(
        lambda sizes: st.tuples(st.just(sizes), st.integers(1, len(sizes)))
    ),
    st.integers(0, 2**32 - 1),
)
def test_marginals_are_sums_over_the_axes_of_a_table(sizes_and_ways, seed):
    sizes, ways = sizes_and_ways
    table = np.random.default_rng(seed).random(sizes)
    wanted = [
        table.sum(axis=tuple(axis for axis in range(len(sizes)) if axis not in kept)).ravel()
        for kept in itertools.combinations(range(len(sizes)), ways)
    ]
    W = Workload.marginals(sizes, ways=ways).queries(table.size)
    assert W @ table.ravel() == pytest.approx(np.concatenate(wanted), abs=1e3 * ALGEBRA)
    assert set(np.unique(W)) <= {0.0, 1.0}


def test_marginals_take_symbols_in_the_order_of_product_sets():
    first, second = md.L1Ball([0.2, 0.8], labels=["no", "yes"]), md.L1Ball([0.1, 0.3, 0.6], labels=["l", "m", "h"])
    joint = md.ProductSet(first, second)
    W = Workload.marginals([2, 3]).queries(joint.size, joint.labels)
    assert W @ joint.prior == pytest.approx([0.2, 0.8, 0.1, 0.3, 0.6], abs=ALGEBRA)


@given(st.lists(st.fractions(0, 10**6, max_denominator=10**6), min_size=2, max_size=12).filter(any))
def test_the_squared_errors_of_symbols_are_weighted(weights):
    W = Workload.weights(weights).queries(len(weights))
    error = np.linspace(-1, 2, len(weights))
    direct = sum(float(weight) * x * x for weight, x in zip(weights, error, strict=True))
    assert np.linalg.norm(W @ error) ** 2 == pytest.approx(direct, rel=1e3 * ALGEBRA)
    assert (np.diag(W) == [math.sqrt(float(weight)) for weight in weights]).all()


def test_symbols_mean_and_matrix_by_hand():
    P = np.array([0.5, 0.3, 0.2])
    assert (Workload.symbols(["c", "a"]).queries(3, LABELS) @ P == [0.2, 0.5]).all()
    assert Workload.mean([1, "2.5", -1]).queries(3) @ P == pytest.approx([0.5 + 0.75 - 0.2], abs=ALGEBRA)
    assert (Workload.matrix([[1, 0, "1/2"], [0, 1, 1]]).queries(3) == [[1, 0, 0.5], [0, 1, 1]]).all()


@given(st.text("0123456789", min_size=1, max_size=40), st.text("0123456789", min_size=1, max_size=40))
def test_floats_are_the_nearest_to_the_decimals(whole, places):
    text = f"{whole}.{places}"
    exact = Fraction(Decimal(text))
    nearest = float(text)
    if exact and exact >= Fraction(1, 10**30):
        assert Workload.mean([text, -1]).queries(2)[0, 0] == nearest
        assert Workload.weights([text, 1]).queries(2)[0, 0] == math.sqrt(nearest)
    assert Workload.matrix([[text, -1]]).queries(2)[0, 0] == nearest


@pytest.mark.parametrize("workload", EXAMPLES, ids=str)
def test_tables_and_pickles_come_back_equal(workload):
    table = workload.table()
    toml = tomllib.loads(tomli_w.dumps({"workload": table}), parse_float=Decimal)["workload"]
    for back in (
        Workload.from_table(table),
        Workload.from_table(toml),
        Workload.from_table(json.loads(json.dumps(table))),
    ):
        assert back == workload
        assert hash(back) == hash(workload)
        assert back.table() == table
    assert pickle.loads(pickle.dumps(workload)) == workload
    others = [other for other in EXAMPLES if other is not workload]
    assert workload not in others


def test_numbers_in_files_are_the_decimals_that_stand_there():
    toml = tomllib.loads("scores = [0.1, 2, 1e-3, 0.10000000000000000001]", parse_float=Decimal)
    nearly = Fraction(1, 10) + Fraction(1, 10**20)
    assert Workload.from_table(toml) == Workload.mean([Fraction(1, 10), 2, Fraction(1, 1000), nearly])
    assert Workload.from_table(toml) != Workload.mean([0.1, 2, 1e-3, 0.1])


@given(st.permutations(range(4)), st.integers(0, 2**32 - 1))
def test_relabelling_permutes_the_columns(order, seed):
    rng = np.random.default_rng(seed)
    labels = np.array(["w", "x", "y", "z"])
    numbers, rows = rng.integers(0, 9, 4) + np.arange(4) / 7 + 0.01, rng.normal(size=(3, 4))
    shuffled = labels[order]
    cases = [
        Workload.weights(dict(zip(labels, numbers, strict=True))),
        Workload.mean(pd.Series(numbers, labels)),
        Workload.matrix(pd.DataFrame(rows, columns=labels)),
        Workload.symbols(["z", "w"]),
    ]
    for workload in cases:
        before, after = workload.queries(4, labels), workload.queries(4, shuffled)
        assert np.abs(before.T @ before - np.eye(4)).max() > 0
        K, permuted = before.T @ before, after.T @ after
        assert (permuted == K[np.ix_(order, order)]).all() or np.allclose(permuted, K[np.ix_(order, order)], rtol=1e-13)
        aligned = workload.aligned_with(tuple(shuffled))
        assert (aligned.queries(4) == after).all()
        assert (aligned.aligned_with(tuple(shuffled)).queries(4, tuple(shuffled)) == after).all()
        assert Workload.from_table(aligned.table()).queries(4, tuple(shuffled)).tolist() == after.tolist()


def test_a_frame_is_aligned_before_it_goes_into_files():
    frame = pd.DataFrame([[1, 2, 3]], columns=["c", "a", "b"])
    workload = Workload.of(frame)
    assert workload.labels == ("c", "a", "b")
    with raises("labels-differ", "'c', 'a', 'b'"):
        workload.table()
    aligned = workload.aligned_with(LABELS)
    assert aligned.labels is None
    assert aligned.table() == {"matrix": [["2", "3", "1"]]}


def test_what_pandas_numbered_itself_has_no_labels():
    numbered = Workload.mean(pd.Series([1, 2, 4]))
    assert numbered == Workload.mean([1, 2, 4])
    assert numbered.labels is None
    assert numbered.aligned_with(LABELS) == numbered
    with raises("ambiguous-labels"):
        numbered.queries(3, ["1", "0", "2"])


@pytest.mark.parametrize(
    ("given", "wanted"),
    [
        (None, Workload.frequencies()),
        ("frequencies", Workload.frequencies()),
        (" prefix ", Workload.prefix()),
        (Workload.prefix(), Workload.prefix()),
        ("marginals=2x3", Workload.marginals([2, 3])),
        ("marginals = 2x3x4, ways = 2", Workload.marginals([2, 3, 4], ways=2)),
        ("marginals=[2, 3]", Workload.marginals([2, 3])),
        ("symbols=a, b", Workload.symbols(["a", "b"])),
        ('symbols=["a, b"]', Workload.symbols(["a, b"])),
        ("symbols=12", Workload.symbols(["12"])),
        ("symbols=a=b", Workload.symbols(["a=b"])),
        ("weights=1,0.5", Workload.weights([1, "1/2"])),
        ("weights=a:1,b:c:0.5", Workload.weights({"a": 1, "b:c": 0.5})),
        ("weights={a = 1, b = 0.5}", Workload.weights({"a": 1, "b": 0.5})),
        ("scores=-1,1e3", Workload.mean([-1, 1000])),
        ("matrix=[[1, 0], [0.5, 0.1]]", Workload.matrix([[1, 0], [0.5, 0.1]])),
        ({"name": "prefix"}, Workload.prefix()),
        ({"weights": {"a": 1}}, Workload.weights({"a": 1})),
        ([[1, 0]], Workload.matrix([[1, 0]])),
        (np.array([[1.0, 0.0]]), Workload.matrix([[1, 0]])),
    ],
)
def test_what_a_workload_is_made_from(given, wanted):
    assert Workload.of(given) == wanted


def test_which_workloads_look_the_same_under_renaming():
    symmetric = [Workload.frequencies(), Workload.weights([2, 2, 2])]
    assert all(workload.is_symmetric for workload in symmetric)
    assert not any(workload.is_symmetric for workload in [*EXAMPLES[1:], Workload.weights([2, 2, 1])])


def test_the_matrix_cannot_be_written_to():
    with pytest.raises(ValueError, match="read-only"):
        Workload.prefix().queries(3)[0, 0] = 2


@pytest.mark.parametrize(
    ("workload", "text"),
    [
        (Workload.prefix(), "Workload.prefix()"),
        (Workload.marginals([2, 3]), "Workload.marginals([2, 3])"),
        (Workload.marginals((2, 3, 2), ways=2), "Workload.marginals([2, 3, 2], ways=2)"),
        (Workload.symbols(["a", 1]), "Workload.symbols(['a', '1'])"),
        (Workload.weights({"a": 1, "b": 0.5}), "Workload.weights({'a': '1', 'b': '0.5'})"),
        (Workload.mean(["1/3", 2]), "Workload.mean(['1/3', '2'])"),
        (Workload.matrix([[1, 0.5]]), "Workload.matrix([[1.0, 0.5]])"),
    ],
)
def test_a_representation_is_the_call_that_makes_it(workload, text):
    assert repr(workload) == text


@pytest.mark.parametrize("workload", EXAMPLES, ids=str)
def test_words_are_one_line(workload):
    words = workload.in_words()
    assert words
    assert words.isprintable()


REFUSED = [
    (lambda: Workload.of(3), "the workload is 3; accepted: a Workload, a text such as 'prefix'"),
    (lambda: Workload.of({"a", "b"}), "the workload is .*; accepted: a Workload"),
    (lambda: Workload("prefix"), "made from 'prefix'; use Workload.of"),
    (
        lambda: Workload.of("prefixes"),
        "the workload 'prefixes' is unknown; accepted: frequencies, prefix, marginals=2x3",
    ),
    (lambda: Workload.of("sums=1"), "the workload 'sums=1' is unknown; accepted"),
    (lambda: Workload.of("matrix=1,0"), "the workload 'matrix=1,0' is unknown; accepted"),
    (lambda: Workload.of("matrix=[[1, 0"), "is not TOML; accepted"),
    (lambda: Workload.of("scores=[1e9999999999999999999, 1]"), "is not TOML; accepted"),
    (lambda: Workload.of("marginals=2x"), "'marginals=2x' is malformed; accepted: sizes such as marginals=2x3"),
    (lambda: Workload.of("marginals=2x3,way=2"), "is malformed; accepted: sizes"),
    (lambda: Workload.of("marginals=2x3,ways=-1"), "is malformed; accepted: sizes"),
    (lambda: Workload.of("weights=a:1,2"), "numbers with and without labels; give labels with all or with none"),
    (lambda: Workload.of("weights=a:1,a:2"), "has a label twice; labels must differ"),
    (lambda: Workload.of("weights=1,x"), "the weight of category 2 is 'x'; give a finite decimal"),
    (lambda: Workload.from_table({}), "workload has no key that tells the queries; accepted: one of name, marginals"),
    (lambda: Workload.from_table({"name": "prefix", "scores": [1, 2]}), "workload has name, scores; accepted: one of"),
    (lambda: Workload.from_table({"name": "x"}, "f.toml"), "f.toml: the workload 'x' is unknown; accepted: freq"),
    (lambda: Workload.from_table({"name": 3}), "the workload 3 is unknown; accepted: frequencies, prefix"),
    (
        lambda: Workload.from_table({"nam": 3}, "f.toml"),
        "f.toml: the key 'workload.nam' is unknown; accepted: marginals",
    ),
    (lambda: Workload.from_table([1], "f.toml"), r"f.toml: workload is \[1\]; accepted: a table"),
    (
        lambda: Workload.from_table({"scores": [1, 2], "ways": 2}),
        "workload.ways is 2 beside scores; it belongs to marg",
    ),
    (lambda: Workload.from_table({"ways": 2}), "no key that tells the queries"),
    (lambda: Workload.marginals([]), r"the sizes of marginals are \[\]; accepted: whole numbers from 2"),
    (lambda: Workload.marginals([2, 1]), r"the sizes of marginals are \[2, 1\]; accepted: whole numbers from 2"),
    (lambda: Workload.marginals([2.0, 3]), "accepted: whole numbers from 2"),
    (lambda: Workload.marginals([True, 3]), "accepted: whole numbers from 2"),
    (lambda: Workload.marginals(6), "the argument of marginals is 6; give whole numbers from 2"),
    (lambda: Workload.marginals([101, 100]), "have more than 10000 categories; accepted: at most 10000"),
    (lambda: Workload.marginals([2] * 10_001), "10001 attributes .* accepted: at most 10000"),
    (lambda: Workload.marginals([2, 3], ways=3), "ways is 3; accepted: a whole number from 1 to 2, the number of attr"),
    (lambda: Workload.marginals([2, 3], ways=0), "ways is 0; accepted"),
    (lambda: Workload.marginals([2, 3], ways=True), "ways is True; accepted"),
    (
        lambda: Workload.marginals([2, 3]).queries(5),
        "sizes 2 x 3 have 6 categories for 5 categories; give sizes whose product",
    ),
    (lambda: Workload.symbols([]), "the workload has 0 categories; give the label of at least one"),
    (lambda: Workload.symbols("ab"), "'ab', one string; give a list of labels"),
    (lambda: Workload.symbols(["a", "a"]), "the label 'a' occurs twice"),
    (lambda: Workload.symbols([0.5]), "the label 0.5 is a float"),
    (lambda: Workload.symbols(range(10_001)), "the workload has 10001 categories; accepted: at most 10000"),
    (
        lambda: Workload.symbols(["z"]).queries(3, LABELS),
        "the category 'z', which is not a label; accepted: 'a', 'b', 'c'",
    ),
    (
        lambda: Workload.symbols(["z"]).queries(3),
        r"names categories \('z'\), and the labels of the 3 categories are not known",
    ),
    (lambda: Workload.symbols(["a"]).queries(4, LABELS), "there are 3 labels for 4 categories"),
    (lambda: Workload.weights([1, -1]), "the weight of category 2 is -1; accepted: 0, or 1e-100 to 1e100"),
    (lambda: Workload.weights({"a": 1, "b": "-1e-9"}), "the weight of category 'b' is '-1e-9'; accepted: 0, or"),
    (
        lambda: Workload.weights([0, 0]),
        "all 2 weights of the workload are 0, so that nothing is estimated; give one above",
    ),
    (lambda: Workload.weights([1, math.nan]), "the weight of category 2 is 'nan'; give a finite decimal"),
    (lambda: Workload.weights([1, math.inf]), "the weight of category 2 is 'inf'; give a finite decimal"),
    (
        lambda: Workload.weights([1, "1e101"]),
        "the weight of category 2 is '1e101'; accepted: 0, or 1e-100 to 1e100 in size",
    ),
    (lambda: Workload.weights([1, "1e-101"]), "'1e-101'; accepted: 0, or 1e-100"),
    (lambda: Workload.weights(["0." + "1" * 901, 1]), "of at most 900 digits"),
    (lambda: Workload.weights([]), "the workload has 0 weights; accepted: 1 to 10000"),
    (lambda: Workload.weights("12"), "the argument of weights is '12'; give a list with a number for each category"),
    (lambda: Workload.weights([[1, 2]]), r"the weight of category 1 is \[1, 2\]; give a number"),
    (lambda: Workload.weights(np.ones((2, 2))), r"the weights of the workload have shape \(2, 2\); accepted: a list"),
    (lambda: Workload.weights(pd.DataFrame([[1, 2]])), r"the weights of the workload have shape \(1, 2\); accepted: a"),
    (
        lambda: Workload.weights([1, 2]).queries(3),
        "the workload has weights for 2 categories, and there are 3; give one",
    ),
    (
        lambda: Workload.weights([1]).queries(1),
        "there is 1 category, so that every frequency is known without data",
    ),
    (
        lambda: Workload.weights({"a": 1, "z": 2, "b": 1}).queries(3, LABELS),
        "the weights of the workload: the labels are",
    ),
    (lambda: Workload.mean([3, "3.0"]), "all 2 scores of the workload are 3, so that their mean is known without data"),
    (lambda: Workload.mean(["0.1", "0.10000000000000000001"]), "all 2 scores of the workload are '0.1'"),
    (lambda: Workload.mean([1, None]), "the score of category 2 is None; give a number"),
    (
        lambda: Workload.mean([1, 2]).queries(3),
        "the workload has scores for 2 categories, and there are 3; give one",
    ),
    (lambda: Workload.matrix([[1, 1], [2, 2]]), "has equal entries in every row .* known without data; give a row"),
    (lambda: Workload.matrix([[0, 0]]), "has equal entries in every row"),
    (lambda: Workload.matrix([[5]]), "has equal entries in every row"),
    (lambda: Workload.matrix([]), r"rows of lengths \[\]; give rows of one length"),
    (lambda: Workload.matrix([[1, 2], [1]]), r"rows of lengths \[1, 2\]; give rows of one length"),
    (lambda: Workload.matrix([1, 2]), r"the matrix of the workload is \[1, 2\]; give a list of rows"),
    (lambda: Workload.matrix(np.array([1.0, 2.0])), r"the matrix of the workload has shape \(2,\); accepted: \(q, N\)"),
    (lambda: Workload.of(pd.Series([1.0, 2.0])), r"the matrix of the workload has shape \(2,\); accepted: \(q, N\)"),
    (lambda: Workload.matrix([[1, math.nan]]), r"entry \(1, 2\) of the matrix of the workload is 'nan'; give a finite"),
    (
        lambda: Workload.matrix([[1, 2], [1, 1e101]]),
        r"entry \(2, 2\) of the matrix of the workload is 1e\+101; accepted",
    ),
    (lambda: Workload.matrix([[1, 1j]]), r"entry \(1, 2\) of the matrix of the workload is 1j; give a number"),
    (
        lambda: Workload.matrix([[1, 2]]).queries(3),
        "the workload has columns for 2 categories, and there are 3; give one",
    ),
    (
        lambda: Workload.frequencies().queries(1),
        "there is 1 category, so that every frequency is known without",
    ),
    (lambda: Workload.prefix().queries(1), "there is 1 category"),
    (lambda: Workload.symbols(["a"]).queries(1, ["a"]), "there is 1 category"),
]


@pytest.mark.parametrize(("made", "message"), REFUSED, ids=range(len(REFUSED)))
def test_refusals_are_one_line(made, message):
    with pytest.raises(md.InputError, match=message) as refused:
        made()
    assert "\n" not in str(refused.value)
    assert "; " in str(refused.value)


def test_a_matrix_that_does_not_fit_memory_is_refused():
    workload = Workload.marginals([2] * 13, ways=6)
    with raises("too-much-work", "109824", "8192", "100000000"):
        workload.queries(8192)
