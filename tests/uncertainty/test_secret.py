"""The promise about a secret against its definition, for known joint distributions and within limits."""

import copy
import pickle
from fractions import Fraction
from itertools import permutations, product

import numpy as np
import pytest
from laws_of_counts import outcomes
from refusals import raises
from scipy.optimize import linprog

import mechdesign as md
from mechdesign import uncertainty
from mechdesign.data.joint_counts import JointCounts
from mechdesign.uncertainty.base import Floor
from mechdesign.uncertainty.joint_limits import LIMITS

JOINT = [[20, 10, 5, 5], [10, 15, 20, 15]]
KNOWN = md.SecretPromise(JOINT, secret="sex", useful="occupation", known=True)


def limited(rng, values, size):
    """A promise within sets of three classes around what some counts show, in rationals of few digits."""
    counts = rng.integers(1, 9, (values, size)).tolist()
    known = md.SecretPromise(counts, known=True)
    joint = known.joint
    laws = [[Fraction(count, joint.total) for count in joint.of_values]]
    laws += [list(joint.conditional(place)) for place in range(values)]
    sets = []
    for law in laws:
        labels = joint.values if law is laws[0] else joint.labels
        kind = rng.integers(3)
        if kind == 0:
            sets.append(md.L1Ball(law, Fraction(int(rng.integers(0, 60)), 100), labels))
        elif kind == 1:
            lower = [p * Fraction(int(rng.integers(50, 101)), 100) for p in law]
            upper = [min(Fraction(1), p * Fraction(int(rng.integers(100, 161)), 100)) for p in law]
            sets.append(uncertainty.Box(lower, upper, center=law, labels=labels))
        else:
            sets.append(uncertainty.LowerLimits([p * Fraction(7, 10) for p in law], center=law, labels=labels))
    return known.within(sets)


def corners(known):
    """Every extreme point of a set above a lower probability: the worst priors of columns in every order."""
    ranks = permutations(range(known.size))
    return {known.exact_worst_mean(list(rank))[1] for rank in ranks}


def lifts(known, column):
    """Every factor ``<A_s, v> / <P, v>`` at every extreme joint distribution."""
    sets = (known.limits.of_secret, *known.limits.given)
    for weights, *laws in product(*map(corners, sets)):
        means = [sum(q * v for q, v in zip(law, column, strict=True)) for law in laws]
        mean = sum(p * m for p, m in zip(weights, means, strict=True))
        yield from (m / mean for m in means)


# Known joint distributions


def test_the_ratio_is_the_greatest_lift_of_a_value():
    rng = np.random.default_rng(0)
    for _ in range(100):
        counts = rng.integers(0, 6, (3, 4)) + np.eye(3, 4, dtype=int) + (np.arange(4) == 3)
        known = md.SecretPromise(counts.tolist(), known=True)
        column = rng.integers(0, 9, 4).tolist()
        if not any(column):
            continue
        n = int(counts.sum())
        mass = Fraction(sum(int(c) * v for c, v in zip(counts.sum(axis=0), column, strict=True)), n)
        given = [
            Fraction(sum(int(c) * v for c, v in zip(row, column, strict=True)), int(row.sum())) / mass for row in counts
        ]
        assert known.exact_ratio(column) == max(given)
        assert known.exact_least_lift(column) == min(given)
        assert known.exact_support(column) == mass == known.exact_greatest_mean(column)


def test_a_secret_that_is_the_data_is_promised_pml():
    counts = [5, 3, 2]
    everything = md.SecretPromise(
        [[count if i == j else 0 for j in range(3)] for i, count in enumerate(counts)], known=True
    )
    ball = md.L1Ball(everything.center)
    for column in product(range(4), repeat=3):
        if any(column):
            assert everything.exact_ratio(column) == ball.exact_ratio(column)
            assert everything.exact_least_lift(column) == ball.exact_least_lift(column)


def test_words_say_what_is_protected_and_what_is_not():
    assert KNOWN.protected_in_words() == " of sex alone"
    assert "does not pass through sex" in KNOWN.not_protected_in_words()
    assert KNOWN.delta is None
    assert repr(KNOWN) == "SecretPromise(sex: 2 values, occupation: 4 categories, known)"
    within = md.SecretPromise(JOINT, delta="0.01")
    assert within.delta == Fraction(1, 100)
    assert within.in_words().startswith("every joint distribution")
    assert within.one_in_words() == within.in_words()


def test_what_is_protected_are_the_values_of_the_secret():
    """By Bayes' rule in rationals: an output is as likely for a value as among the records that have it."""
    protected, matrix = KNOWN.protected, np.arange(8.0).reshape(4, 2)
    assert (protected.names, protected.values) == (("sex", "occupation"), KNOWN.joint.values)
    assert protected.law.tolist() == [float(Fraction(sum(row), KNOWN.joint.total)) for row in KNOWN.joint.counts]
    for row, found in zip(KNOWN.joint.counts, protected.likelihoods(matrix), strict=True):
        means = [sum(count * Fraction(entry) for count, entry in zip(row, column, strict=True)) for column in matrix.T]
        assert found == pytest.approx([float(mean / sum(row)) for mean in means], rel=1e-14)
    everything = md.L1Ball(KNOWN.center, 2, KNOWN.labels).protected
    assert (everything.names, everything.values) == (None, KNOWN.labels)
    assert everything.likelihoods(matrix) is matrix
    assert (protected.about, protected.any_value) == (" about sex", "any value of sex")
    assert (everything.about, everything.any_value) == ("", "anything")


def test_one_prior_is_a_ball_of_radius_0_a_hull_of_one_and_a_known_joint_distribution():
    halves = ["0.5", "0.5"]
    for known, one in (
        (md.L1Ball(halves), True),
        (md.L1Ball(halves, "0.1"), False),
        (md.ConvexHull([halves, halves]), True),
        (md.ConvexHull([halves, ["0.4", "0.6"]]), False),
        (KNOWN, True),
        (md.SecretPromise(JOINT, delta="0.01"), False),
    ):
        assert known.is_one_prior == one


def test_no_prior_of_the_data_attains_the_greatest_lift_of_a_secret():
    assert KNOWN.exact_worst_prior([1, 0, 0, 0]) is None
    ball = md.L1Ball(["0.5", "0.5"], "0.2")
    assert ball.exact_worst_prior([1, 0]) == (Fraction(2, 5), Fraction(3, 5))


@pytest.mark.parametrize("again", [copy.copy, copy.deepcopy, lambda x: pickle.loads(pickle.dumps(x))])
def test_copies_are_equal(again):
    for known in (KNOWN, md.SecretPromise(JOINT, delta="0.01")):
        assert again(known) == known
        assert again(known).exact_ratio([1, 2, 0, 1]) == known.exact_ratio([1, 2, 0, 1])


# Within limits


def test_the_ratio_within_limits_is_the_greatest_over_all_extreme_joint_distributions():
    rng = np.random.default_rng(1)
    for _ in range(12):
        known = limited(rng, 2, 3)
        for _ in range(4):
            column = rng.integers(0, 9, 3).tolist()
            if not any(column):
                continue
            found = list(lifts(known, column))
            assert known.exact_ratio(column) == max(found)
            assert known.exact_least_lift(column) == min(found)


def test_the_ratio_of_three_values():
    known = limited(np.random.default_rng(2), 3, 2)
    for column in ([1, 0], [2, 5], [0, 3]):
        found = list(lifts(known, column))
        assert known.exact_ratio(column) == max(found)
        assert known.exact_least_lift(column) == min(found)


@pytest.mark.sampled
@pytest.mark.parametrize("values", [2, 3])
def test_rows_and_floats_say_what_the_exact_ratio_says(values):
    """For columns on both sides of the border, by a linear program over the auxiliary variables."""
    rng = np.random.default_rng(values)
    for known in [md.SecretPromise(rng.integers(1, 9, (values, 3)).tolist(), known=True), limited(rng, values, 3)]:
        for level in (1.1, 1.4):
            (block,) = known.promise_rows(level, Floor(1 / Fraction(level)))
            (above,) = known.promise_rows(level)
            for column in rng.integers(1, 9, (8, 3)).tolist():
                ratio, least = known.exact_ratio(column), known.exact_least_lift(column)
                assert feasible(above, column) == (ratio <= level)
                assert feasible(block, column) == (ratio <= level and least >= 1 / level)
                floats = np.array(column, dtype=float)[:, None]
                assert (known.excess(floats, level)[0] <= 0) == (ratio <= level)
                assert (known.lack(floats, 1 / level)[0] <= 0) == (least >= 1 / level)
                worst, prior = known.exact_worst_mean(column)
                assert worst == known.exact_support(column) == sum(q * v for q, v in zip(prior, column, strict=True))
                np.testing.assert_allclose(known.support(floats), float(worst), rtol=1e-12)
                assert known.contains(prior)
                assert known.contains(known.center)
        assert not known.contains([1, 0, 0])


def feasible(rows, column):
    fixed = rows.columns @ np.array(column, dtype=float)
    if rows.auxiliary.shape[1] == 0:
        return bool((fixed >= 0).all())
    found = linprog(
        np.zeros(rows.auxiliary.shape[1]), A_ub=-rows.auxiliary, b_ub=fixed, bounds=(None, None), method="highs"
    )
    return found.status == 0


def test_linear_rows_describe_the_least_probability_of_an_output():
    rng = np.random.default_rng(5)
    for known in (KNOWN, limited(rng, 2, 4), limited(rng, 3, 4)):
        rows = known.support_rows()
        for column in rng.integers(0, 9, (5, 4)):
            objective = -np.eye(1, rows.auxiliary.shape[1])[0]
            found = linprog(objective, A_ub=-rows.auxiliary, b_ub=rows.columns @ column, bounds=(None, None))
            assert -found.fun == pytest.approx(float(known.exact_support(column.tolist())), rel=1e-9)


def test_valid_rows_at_a_column_are_the_worst_there():
    rng = np.random.default_rng(6)
    for known in (KNOWN, limited(rng, 2, 4), limited(rng, 3, 4)):
        e, a = Fraction(5, 4), Fraction(1, 3)
        for column in rng.integers(1, 9, (6, 4)).tolist():
            rows = known.rows_at(column, e, a)
            assert len(rows) == 2 * len(known.joint.values)
            values = [sum(g * v for g, v in zip(row, column, strict=True)) for row in rows]
            half = len(rows) // 2
            assert (min(values[:half]) >= 0) == (known.exact_ratio(column) <= e)
            assert (min(values[half:]) >= 0) == (known.exact_least_lift(column) >= a)


@pytest.mark.parametrize("limits", LIMITS)
def test_the_true_joint_distribution_is_within_limits_often_enough(limits):
    """By the exact law of six records; tables with an empty row or column give no promise."""
    delta = Fraction(1, 4)
    made = {}
    for law in (["1/4", "1/4", "1/4", "1/4"], ["1/2", "1/10", "1/10", "3/10"], ["1/20", "9/20", "9/20", "1/20"]):
        a, b, c, d = map(Fraction, law)
        truth = [(a + b, c + d), (a / (a + b), b / (a + b)), (c / (c + d), d / (c + d))]
        failed = Fraction(0)
        for (w, x, y, z), probability in outcomes(law, 6):
            if not (w + x and y + z and w + y and x + z):
                continue
            if (w, x, y, z) not in made:
                known = md.SecretPromise([[w, x], [y, z]], delta=delta, limits=limits)
                made[w, x, y, z] = (known.limits.of_secret, *known.limits.given)
            if not all(known.contains(one) for known, one in zip(made[w, x, y, z], truth, strict=True)):
                failed += probability
        assert failed <= delta


def test_deltas_add_up_over_all_sets():
    for limits in LIMITS:
        known = md.SecretPromise([[20, 10], [10, 15], [3, 9]], delta="0.03", limits=limits)
        sets = (known.limits.of_secret, *known.limits.given)
        assert [limit.delta for limit in sets] == [Fraction(3, 400)] * 4
        assert known.delta == Fraction(3, 100)
    balls = [md.L1Ball(limit.center, "0.1", limit.labels) for limit in sets]
    assert known.within(balls).delta is None


# What is refused


@pytest.mark.parametrize(
    ("joint", "code"),
    [
        ([[3, 1]], "too-few-categories"),
        ([], "too-few-categories"),
        ([[3], [1]], "too-few-categories"),
        ([[3, 1], [0, 0]], "never-occurs"),
        ([[3, 0], [1, 0]], "never-occurs"),
        ([[3, 1], [1]], "wrong-size"),
        ([[3, -1], [1, 1]], "not-counts"),
        ([[3, 0.5], [1, 1]], "not-counts"),
        ({"f": {"a": 1, "b": 2}, "m": {"a": 1}}, "labels-differ"),
        ({"f": {"a": 1, "b": 2}, "m": [1, 2]}, "labels-differ"),
        (7, "wrong-type"),
    ],
)
def test_bad_joint_counts_are_refused_in_one_line(joint, code):
    with raises(code) as refused:
        md.SecretPromise(joint, known=True)
    assert "\n" not in str(refused.value)


def test_other_bad_input_is_refused():
    with raises("bad-label", "secret"):
        md.SecretPromise(JOINT, secret="", known=True)
    with raises("wrong-type", "the name useful"):
        md.SecretPromise(JOINT, useful=3, known=True)
    with raises("unknown-choice", "'ball'", "box, l1-ball"):
        md.SecretPromise(JOINT, delta="0.1", limits="ball")
    with raises("delta-out-of-range", "is 2"):
        md.SecretPromise(JOINT, delta=2)
    sets = [md.L1Ball(["0.4", "0.6"]), *(md.L1Ball([Fraction(c, sum(row)) for c in row]) for row in JOINT)]
    with raises("wrong-size", "are 2", "accepted: 3"):
        KNOWN.within(sets[:2])
    with raises("wrong-size", "has 4", "accepted: 2"):
        KNOWN.within(sets[::-1])
    with raises("prior-outside-set"):
        KNOWN.within([md.L1Ball(["0.5", "0.5"]), *sets[1:]])
    with raises("ball-leaves-simplex"):
        KNOWN.within([sets[0], sets[1], md.SecretPromise(JOINT, known=True)])


@pytest.mark.parametrize(
    "asked",
    [
        lambda: md.ProductSet(KNOWN, md.L1Ball(["0.5", "0.5"])),
        lambda: md.leakage_capacity(np.full((4, 1), 1.0), KNOWN),
        lambda: md.pml.worst_case_leakage(np.full((4, 1), 1.0), KNOWN),
    ],
)
def test_what_is_about_the_data_themselves_refuses_a_secret(asked):
    with raises("set-not-accepted", "about sex"):
        asked()


def test_counts_with_labels_are_aligned():
    frame = md.SecretPromise({"f": {"a": 20, "b": 10}, "m": {"b": 15, "a": 10}}, known=True)
    assert frame == md.SecretPromise([[20, 10], [10, 15]], values=["f", "m"], labels=["a", "b"], known=True)
    pandas = pytest.importorskip("pandas")
    table = pandas.DataFrame([[20, 10], [10, 15]], index=["f", "m"], columns=["a", "b"])
    assert md.SecretPromise(table, known=True) == frame
    assert JointCounts.of(table).of_symbols == (30, 25)
    with raises("needless-argument", "the categories"):
        md.SecretPromise(table, labels=["c", "d"], known=True)


def test_an_output_that_may_leave_one_value_alone_leaks_without_bound():
    """With no delta a law within the limits gives the other values no mass, or the output no probability."""
    few = md.SecretPromise([[1, 1], [1, 1]], delta=0, limits="l1-ball")
    assert few.exact_ratio([1, 0]) is None
    assert few.exact_ratio([1, 1]) == 1
    with raises("guarantee-false"):
        md.Mechanism(np.array([[2, 0], [0, 2]]), 1, md.Guarantee(5, few))


def test_where_the_ratio_is_infinite_laws_within_the_limits_have_lifts_without_bound():
    """The output has probability 0 under one law; on the way there from the law of the counts its lift grows."""
    few = md.SecretPromise([[1, 1], [1, 1]], delta=0, limits="l1-ball")
    column = [1, 0]
    assert few.exact_ratio(column) is None
    for k in (Fraction(1, 10), Fraction(1, 10**9), Fraction(1, 10**18)):
        weights, laws = (k / 2, 1 - k / 2), ((Fraction(1), Fraction(0)), (Fraction(0), Fraction(1)))
        assert few.limits.of_secret.contains(weights)
        assert all(known.contains(law) for known, law in zip(few.limits.given, laws, strict=True))
        of_all = sum(p * law[0] for p, law in zip(weights, laws, strict=True))
        assert laws[0][0] / of_all == 2 / k


class Certain(md.UncertaintySet):
    """A set of a user's own: one prior, which may give a symbol probability 0."""

    kind = "certain"

    def __init__(self, prior):
        self.center = tuple(map(Fraction, prior))
        self.labels = tuple(f"x{i + 1}" for i in range(len(prior)))

    def exact_worst_mean(self, column):
        return sum(p * v for p, v in zip(self.center, column, strict=True)), self.center

    def contains(self, prior):
        return tuple(map(Fraction, prior)) == self.center

    def support_rows(self):
        raise NotImplementedError

    def in_words(self):
        return "one prior"


def test_a_value_that_never_has_an_output_does_not_make_its_leakage_infinite():
    """Its lift is 0 wherever the output occurs, also if under some law of the others it does not."""
    known = md.SecretPromise([[3, 1], [4, 0]], known=True)
    sets = [md.L1Ball(["1/2", "1/2"], "1/5"), md.L1Ball(["3/4", "1/4"], 2), Certain([1, 0])]
    within = known.within(sets)
    found = []
    for p in (Fraction(2, 5), Fraction(1, 2), Fraction(3, 5)):
        for q in (Fraction(1, 10**9), Fraction(1, 2), Fraction(1)):  # at q = 0 the output does not occur
            found += [q / (p * q), Fraction(0)]
    assert within.exact_ratio([0, 1]) == max(found) == Fraction(5, 2)
    assert within.exact_least_lift([0, 1]) == 0
    assert within.exact_ratio([0, 0]) is None
    assert md.Guarantee(1, within).is_kept_by([0, 1])
    assert not md.Guarantee("0.9", within).is_kept_by([0, 1])


def test_membership_is_found_among_many_categories():
    """Priors where a mean is least are members; far enough along their column there are none."""
    rng = np.random.default_rng(1)
    table = np.maximum(rng.multinomial(100_000, rng.dirichlet(np.ones(300))), 1).reshape(3, 100)
    known = md.SecretPromise(table.tolist(), delta="1e-6")
    for column in rng.integers(0, 1000, (10, 100)).tolist():
        member = known.exact_worst_mean(column)[1]
        assert known.contains(member)
        low, high = column.index(min(column)), column.index(max(column))
        outside = list(member)
        outside[low] += Fraction(1, 10**7)
        outside[high] -= Fraction(1, 10**7)
        assert not known.contains(outside)
