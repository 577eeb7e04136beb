"""The product set against its vertices, linear programs and random members."""

import copy
import pickle
from fractions import Fraction
from itertools import permutations, product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from refusals import raises
from repetitions import examples
from scipy.optimize import linprog
from strategies import balls
from tolerances import ALGEBRA, CERTIFIED, SOLVER

import mechdesign as md

SMOKES = md.L1Ball(["0.75", "0.25"], "0.1", ["no", "yes"])
AGE = md.L1Ball(["0.5", "0.3", "0.2"], "0.3", ["low", "mid", "high"])
HULL = md.ConvexHull([["0.5", "0.3", "0.2"], ["0.2", "0.2", "0.6"], ["0.1", "0.9", "0"]], labels=["a", "b", "c"])
SETS = [
    md.ProductSet(SMOKES, AGE),
    md.ProductSet(HULL, SMOKES),
    md.ProductSet(AGE, HULL),
    md.ProductSet(SMOKES, SMOKES),
]

factors = st.one_of(
    balls(most=3),
    st.sampled_from([HULL, md.ConvexHull([["0.6", "0.4"], ["0.1", "0.9"]]), md.ConvexHull([["0", "1"], ["1", "0"]])]),
)


def vertices(known):
    """All extreme points, of a ball by its definition: mass moved from the symbols in some order to one symbol."""
    if isinstance(known, md.ConvexHull):
        return [list(prior) for prior in known.priors]
    if isinstance(known, md.ProductSet):
        found = []
        for marginal in vertices(known.first):
            for conditionals in product(vertices(known.second), repeat=known.first.size):
                found.append([q * c for q, row in zip(marginal, conditionals, strict=True) for c in row])
        return found
    found = []
    for order in permutations(range(known.size)):
        for least in range(known.size):
            prior, left = list(known.center), known.radius / 2
            for i in order:
                moved = min(left, prior[i]) if i != least else Fraction(0)
                prior[i] -= moved
                prior[least] += moved
                left -= moved
            if prior not in found:
                found.append(prior)
    return found


def mean(prior, column):
    return sum(q * v for q, v in zip(prior, column, strict=True))


def random_member(known, rng):
    if isinstance(known, md.ProductSet):
        marginal = random_member(known.first, rng)
        return np.concatenate([q * random_member(known.second, rng) for q in marginal])
    corners = np.array(vertices(known), dtype=float)
    return rng.dirichlet(np.full(len(corners), 0.5)) @ corners


@settings(max_examples=examples(60))
@given(factors, factors, st.data())
def test_support_is_the_least_over_the_vertices(first, second, data):
    known = md.ProductSet(first, second)
    if len(vertices(first)) * len(vertices(second)) ** first.size > 20_000:
        known = md.ProductSet(first, md.L1Ball(second.center, 2))
    column = data.draw(st.lists(st.integers(0, 9), min_size=known.size, max_size=known.size))
    least = min(mean(prior, column) for prior in vertices(known))
    assert known.exact_support(column) == least
    support, worst = known.exact_worst_mean(column)
    assert support == least == mean(worst, column)
    assert known.contains(worst)
    assert_allclose(known.support(np.array(column, dtype=float)[:, None]), [float(least)], atol=ALGEBRA)
    value, prior = known.worst_mean(column)
    assert_allclose([value, prior @ column], float(least), atol=ALGEBRA)
    assert_allclose(prior.sum(), 1, atol=ALGEBRA)


@pytest.mark.parametrize("known", SETS)
def test_linear_rows_describe_the_support_function_and_the_set(known):
    rows = known.support_rows()
    A, B = rows.columns.toarray(), rows.auxiliary.toarray()
    for v in np.random.default_rng(1).random((6, known.size)) ** 2:
        greatest = linprog(np.eye(1, B.shape[1])[0] * -1, A_ub=-B, b_ub=A @ v, bounds=(None, None))
        assert_allclose(-greatest.fun, known.worst_mean(v)[0], atol=SOLVER)
        # The members are columns.T y with auxiliary.T y = -e_0: the least over them is a program of its own.
        least = linprog(A @ v, A_eq=B.T, b_eq=-np.eye(1, B.shape[1])[0])
        assert_allclose(least.fun, known.worst_mean(v)[0], atol=SOLVER)


@pytest.mark.parametrize("known", SETS)
def test_random_members_are_in_the_set_and_not_below_its_support(known):
    rng = np.random.default_rng(2)
    V = rng.random((known.size, 30))
    for _ in range(50):
        Q = random_member(known, rng)
        assert (Q @ V - known.support(V)).min() >= -ALGEBRA
        near = known.member_near(Q)  # of a member, almost itself
        assert_allclose(near, Q, atol=1e-9)  # a hull projects to that
        assert (near @ V >= known.support(V) - ALGEBRA).all()


@pytest.mark.parametrize("known", SETS)
def test_what_is_near_a_prior_outside_is_a_member(known):
    rng = np.random.default_rng(3)
    V = rng.random((known.size, 30))
    outside = [*rng.dirichlet(np.full(known.size, 0.2), 30), np.eye(known.size)[0], np.zeros(known.size)]
    for Q in [*outside, np.full(known.size, np.nan)]:
        near = known.member_near(Q)
        assert_allclose(near.sum(), 1, atol=ALGEBRA)
        assert (near @ V >= known.support(V) - ALGEBRA).all()


def test_independent_pairs_are_members_and_the_center_is_one():
    known = md.ProductSet(SMOKES, AGE)
    assert known.center == tuple(p * q for p in SMOKES.center for q in AGE.center)
    assert known.contains(known.center)
    for first, second in product(vertices(SMOKES), vertices(AGE)):
        assert known.contains([p * q for p in first for q in second])
    assert not known.contains([p * q for p in (Fraction(1, 2), Fraction(1, 2)) for q in AGE.center])
    assert not known.contains([p * q for p in SMOKES.center for q in (Fraction(9, 10), Fraction(1, 10), 0)])


def test_the_second_attribute_may_depend_on_the_first_but_not_the_other_way_round():
    other = md.L1Ball(["0.5", "0.5"], "0.4")
    dependent = [Fraction(3, 4) * Fraction(7, 10), Fraction(3, 4) * Fraction(3, 10)]
    dependent += [Fraction(1, 4) * Fraction(3, 10), Fraction(1, 4) * Fraction(7, 10)]
    assert md.ProductSet(SMOKES, other).contains(dependent)
    exchanged = [dependent[k] for k in (0, 2, 1, 3)]
    assert not md.ProductSet(other, SMOKES).contains(exchanged)
    # Over one known prior the second attribute is independent of the first.
    assert not md.ProductSet(SMOKES, md.L1Ball(["0.5", "0.5"])).contains(dependent)


def test_a_symbol_without_mass_has_no_conditionals():
    known = md.ProductSet(md.L1Ball(["0.9", "0.1"], "0.2"), AGE)
    assert known.contains([*AGE.center, 0, 0, 0])


@settings(max_examples=examples(40))
@given(factors, factors, st.data())
def test_support_of_a_product_column_is_the_product_of_supports(first, second, data):
    a, b = (data.draw(st.lists(st.integers(0, 50), min_size=s.size, max_size=s.size)) for s in (first, second))
    column = [x * y for x in a for y in b]
    known = md.ProductSet(first, second)
    assert known.exact_support(column) == first.exact_support(a) * second.exact_support(b)


def test_nesting_is_associative():
    left, right = md.ProductSet(md.ProductSet(SMOKES, HULL), AGE), md.ProductSet(SMOKES, md.ProductSet(HULL, AGE))
    assert (left.center, left.labels) == (right.center, right.labels)
    rng = np.random.default_rng(4)
    for column in rng.integers(0, 100, (20, 18)).tolist():
        assert left.exact_support(column) == right.exact_support(column)
    V = rng.random((18, 20))
    assert_allclose(left.support(V), right.support(V), atol=ALGEBRA)
    for Q in (left.center, left.exact_worst_mean(list(range(18)))[1]):
        assert left.contains(Q)
        assert right.contains(Q)


def test_two_sets_of_all_priors_make_the_set_of_all_priors():
    everything = md.ProductSet(md.L1Ball(SMOKES.center, 2), md.L1Ball(AGE.center, 2))
    V = np.random.default_rng(5).random((6, 20))
    assert_allclose(everything.support(V), V.min(axis=0), atol=ALGEBRA)
    # With a ball of any radius after it the first factor is seen through sums of rows alone.
    assert md.ProductSet(SMOKES, md.L1Ball(AGE.center, 2)).contains([Fraction(3, 4), 0, 0, 0, 0, Fraction(1, 4)])


def test_symbols_that_may_have_mass_have_it_in_the_product():
    unseen = md.L1Ball.from_counts({"a": 5, "b": 0}, radius="0.2")
    known = md.ProductSet(unseen, unseen)
    assert known.center[3] == 0
    greatest = [max(vertex[i] for vertex in vertices(known)) for i in range(4)]
    assert greatest == [Fraction(1), Fraction(1, 10), Fraction(1, 10), Fraction(1, 100)]
    with raises("never-occurs"):
        md.ProductSet(unseen.with_radius(0), SMOKES)


def test_copies_are_equal():
    known = md.ProductSet(md.ProductSet(SMOKES, HULL, "|"), AGE)
    for copied in (copy.deepcopy(known), pickle.loads(pickle.dumps(known))):
        assert copied == known
        assert copied.exact_support(range(18)) == known.exact_support(range(18))
    assert known != md.ProductSet(md.ProductSet(SMOKES, HULL), AGE)
    assert repr(SETS[0]) == "ProductSet(L1Ball(2 categories, radius=0.1), L1Ball(3 categories, radius=0.3))"


# What is built on it


def test_capacity_is_the_sum_for_a_product_of_mechanisms():
    rng = np.random.default_rng(6)
    first, second = rng.dirichlet(np.ones(4), 2), rng.dirichlet(np.ones(3), 3)
    both = md.leakage_capacity(np.kron(first, second), md.ProductSet(SMOKES, AGE))
    assert_allclose(both, md.leakage_capacity(first, SMOKES) + md.leakage_capacity(second, AGE), atol=ALGEBRA)


@pytest.mark.parametrize("utility", [md.HammingAccuracy(), md.MutualInformation()])
def test_designs_for_known_independent_attributes_are_those_for_their_joint_prior(utility):
    known = md.ProductSet(md.L1Ball(["0.75", "0.25"]), md.L1Ball(["0.5", "0.3", "0.2"]))
    found = md.design(md.DesignProblem(known, 1, utility))
    joint = md.design(md.DesignProblem(md.L1Ball(known.center), 1, utility))
    assert found.certified
    assert_allclose(found.value, joint.value, atol=CERTIFIED)


def test_a_design_for_dependent_attributes_is_certified_compared_and_saved(tmp_path):
    known = md.ProductSet(SMOKES, md.L1Ball(["0.6", "0.4"], "0.2"))
    found = md.design(md.DesignProblem(known, 1))
    assert found.certified
    # A design for fewer priors is not worse, and one for more priors is not better.
    fewer = md.design(md.DesignProblem(md.ProductSet(SMOKES, md.L1Ball(["0.6", "0.4"])), 1))
    assert fewer.value > found.value + CERTIFIED
    both = md.compare(found)
    assert both.k_ary_randomized_response <= both.best_ldp.value < found.value
    # So is the product of two designs, which share the budget.
    halves = [md.design(md.DesignProblem(one, "0.5")).mechanism for one in (known.first, known.second)]
    shared = halves[0].product(halves[1])
    assert shared.guarantee.uncertainty == known
    assert md.MutualInformation().value(shared.matrix, known.prior) <= found.upper_bound
    found.mechanism.save(tmp_path / "m.json")
    assert md.verify(md.Mechanism.load(tmp_path / "m.json")).optimal


def test_utilities_that_need_a_list_of_rays_are_refused_in_one_line():
    class Own(md.Utility):
        name = "own"

        def mu(self, columns, prior):
            return np.asarray(columns).max(axis=0)

        def gradient(self, column, prior):
            return np.eye(len(column))[np.argmax(column)]

        def mu_up(self, columns, prior, slack):
            return (columns + slack).max(axis=0)

    with raises("no-method", match="no exact method lists the extreme rays of a ProductSet of more than 8"):
        md.design(md.DesignProblem(md.ProductSet(AGE, AGE), 1, Own()))
    # For few symbols there is a list.
    assert md.design(md.DesignProblem(SETS[3], 1, Own())).certified


@pytest.mark.parametrize(
    ("make", "code"),
    [
        (lambda: md.ProductSet(SMOKES, [0.5, 0.5]), "wrong-type"),
        (lambda: md.ProductSet(SMOKES.as_printed(), AGE), "ball-leaves-simplex"),
        (lambda: md.ProductSet(SMOKES, AGE.as_printed()), "ball-leaves-simplex"),
        (lambda: md.ProductSet(SMOKES, AGE, None), "wrong-type"),
        (lambda: md.ProductSet(SMOKES, AGE, "\n"), "bad-label"),
        (lambda: md.ProductSet(SMOKES, AGE, "-" * 1_000), "bad-label"),
        (
            lambda: md.ProductSet(md.L1Ball(["1/101"] * 101), md.L1Ball(["1/100"] * 100)),
            "too-many-given",
        ),
        (
            lambda: md.ProductSet(
                md.L1Ball([0.5, 0.5], labels=["a", "a & b"]), md.L1Ball([0.5, 0.5], labels=["b & c", "c"])
            ),
            "ambiguous-labels",
        ),
    ],
)
def test_bad_products_are_refused(make, code):
    with raises(code) as caught:
        make()
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("call", ["contains", "worst_mean", "member_near", "support"])
def test_priors_and_columns_of_another_length_are_refused(call):
    with raises("wrong-size", "6"):
        getattr(SETS[0], call)(["0.5", "0.5"] if call == "contains" else [0.5, 0.5])
