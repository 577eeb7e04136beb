import copy
import math
import pickle
import sys
from fractions import Fraction
from functools import cache
from itertools import pairwise, product

import numpy as np
import pytest
from flint import arb, ctx
from numpy.testing import assert_allclose, assert_array_equal
from refusals import raises
from scipy import stats
from strategies import random_ball, random_mechanism
from tolerances import ALGEBRA

import mechdesign as md
from mechdesign.deploy.leakage_audit import audit, audit_counts, clopper_pearson, shown_leakage

LDP = md.L1Ball(["1/3", "1/3", "1/3"], radius=2, labels=["a", "b", "c"])
NAMES = (
    *("response", "excluding", "hull", "known", "ball", "small ball", "from a matrix"),
    *("one output", "two outputs that tell nothing"),
)


@cache
def response():
    """Randomized response over 2^4."""
    promise = md.Guarantee(md.Epsilon.of("log(2)"), LDP)
    return md.Mechanism(np.array([[8, 4, 4], [4, 8, 4], [4, 4, 8]]), 4, promise, ("a", "b", "c"))


@cache
def excluding():
    """An exclusion over 2^3."""
    promise = md.Guarantee(md.Epsilon.of("1"), md.L1Ball(["0.4", "0.3", "0.3"], labels=["a", "b", "c"]))
    return md.Mechanism(np.array([[5, 3, 0], [0, 5, 3], [3, 0, 5]]), 3, promise)


@cache
def rare():
    """An output that is reported once in a thousand times or less."""
    promise = md.Guarantee(md.Epsilon.of("log(3)"), LDP)
    return md.Mechanism(np.array([[k, 2**12 - 1002, 1002 - k] for k in (1001, 999, 1000)]), 12, promise)


def every_mechanism():
    rng = np.random.default_rng(5)
    hull = md.ConvexHull([["0.5", "0.3", "0.2"], ["0.2", "0.3", "0.5"]])
    yield response()
    yield excluding()
    for known in (
        hull,
        hull.__class__([["0.6", "0.2", "0.2"]]),
        random_ball(rng, 3, "0.3"),
        random_ball(rng, 3, "0.02"),
    ):
        yield md.design(md.DesignProblem(known, epsilon=1)).mechanism
    matrix = random_mechanism(rng, 4, 6)
    ball = random_ball(rng, 4, "0.1")
    capacity = md.leakage_capacity(matrix, ball)
    yield md.Mechanism.from_matrix(matrix, md.Guarantee(md.Epsilon.of(math.ceil(capacity * 100) / 100), ball))
    for constant in ([2], [1, 1]):
        nothing = md.Guarantee(md.Epsilon.of("0"), md.L1Ball(["0.3", "0.3", "0.4"], radius="0.1"))
        yield md.Mechanism(np.array([constant] * 3), 1, nothing)


@cache
def mechanisms():
    return dict(zip(NAMES, every_mechanism(), strict=True))


@pytest.fixture(params=NAMES)
def mechanism(request):
    return mechanisms()[request.param]


def thresholds(mechanism):
    return np.cumsum(mechanism.numerators, axis=1)


def by_integers(mechanism, integers, codes, side="right"):
    """Return the output of each record whose uniform integer is given."""
    cumulative = thresholds(mechanism)
    outputs = np.empty(codes.size, dtype=int)
    for code in np.unique(codes):
        chosen = codes == code
        outputs[chosen] = np.searchsorted(cumulative[code], integers[chosen], side=side)
    return np.minimum(outputs, cumulative.shape[1] - 1)


# A true sampler


def test_a_true_sampler_is_consistent(mechanism):
    found = audit(mechanism, 100_003)  # secure randomness: a false alarm has probability 1e-9 at most
    assert found.consistent
    assert found.outside == ()
    assert found.lower_bound <= found.leakage == mechanism.leakage
    assert found.epsilon == float(mechanism.guarantee.epsilon)
    assert found.counts.sum() == 100_003
    assert_array_equal(found.samples, found.counts.sum(axis=1))
    assert found.samples.max() - found.samples.min() <= 1
    assert ((found.lower <= mechanism.matrix) & (mechanism.matrix <= found.upper)).all()
    assert found.lower_bound == found.bounds.max()
    if found.lower_bound > 0:
        j = mechanism.outputs.index(found.output)
        assert found.bounds[j] == found.lower_bound
        assert mechanism.inputs[int(found.lower[:, j].argmax())] == found.input
    else:
        assert (found.output, found.input) == (None, None)


@pytest.mark.parametrize("mechanism", NAMES[:-2], indirect=True)  # those that leak
def test_the_bound_rises_to_what_is_proved(mechanism):
    gaps = []
    for samples in (10**4, 10**5, 10**6):
        found = audit(mechanism, samples, rng=np.random.default_rng(samples))
        assert found.consistent
        gaps.append(found.leakage - found.lower_bound)
    assert all(more > less for more, less in pairwise(gaps))
    # Limits are some sqrt(log(1 / tail) / samples) apart.
    assert gaps[-1] < gaps[0] / 5
    exact = np.round(mechanism.matrix * 10**9).astype(int)
    found = audit_counts(mechanism, exact)
    assert 0 < found.leakage - found.lower_bound < 2e-3


def test_seeded_audits_can_be_run_again():
    first, second = (audit(response(), 10_000, rng=np.random.default_rng(3)) for _ in range(2))
    assert_array_equal(first.counts, second.counts)
    assert (first.counts != audit(response(), 10_000, rng=np.random.default_rng(4)).counts).any()


@pytest.mark.parametrize("again", [lambda x: x, copy.deepcopy, lambda x: pickle.loads(pickle.dumps(x))])
def test_arrays_are_read_only(again):
    found = audit(response(), 100, rng=np.random.default_rng(1))
    same = again(found)
    assert repr(same) == repr(found) == "Audit(100 reports, leakage >= 0, consistent)"
    assert_array_equal(same.counts, found.counts)
    for array in (same.bounds, same.counts, same.lower, same.upper, same.samples):
        assert not array.flags.writeable


def test_repr_of_what_does_not_fit():
    found = audit_counts(response(), np.eye(3, dtype=int) * 1000)
    assert repr(found).startswith("Audit(3000 reports, leakage >= 3.")
    assert repr(found).endswith(", NOT consistent, 9 cells outside)")


def test_inputs_take_turns_in_blocks(monkeypatch):
    # The package's attribute of that name is the function.
    monkeypatch.setattr(sys.modules["mechdesign.deploy.leakage_audit"], "_BLOCK", 10)
    seen, steps = [], []

    def sampler(codes):
        seen.append(codes.copy())
        codes[:] = 0  # it may work in place
        return codes

    found = audit(response(), 25, sampler=sampler, progress=steps.append)
    assert [block.size for block in seen] == [10, 10, 5]
    assert_array_equal(np.concatenate(seen), np.arange(25) % 3)
    assert_array_equal(found.counts, [[9, 0, 0], [8, 0, 0], [8, 0, 0]])
    assert steps == [f"drawing reports: {start} of 25" for start in (0, 10, 20)]


# Broken samplers


def off_by_one(rng):
    def sampler(codes):
        return by_integers(response(), rng.integers(0, 16, codes.size), codes, side="left")

    return response(), sampler


def off_by_one_at_zero(rng):
    # The same mistake where the first output has probability zero: it is reported once in 8 times.
    first_is_zero = md.Mechanism(excluding().numerators[:, ::-1], 3, excluding().guarantee)

    def sampler(codes):
        return by_integers(first_is_zero, rng.integers(0, 8, codes.size), codes, side="left")

    return first_is_zero, sampler


def few_bits(rng):
    def sampler(codes):
        # 12-bit thresholds beside a float of 8 bits.
        return by_integers(rare(), rng.integers(0, 2**8, codes.size) * 2**4, codes)

    return rare(), sampler


def half_precision(rng):
    # Near 1 the sums are multiples of 2^-11.
    sums = np.cumsum(rare().matrix.astype(np.float16), axis=1, dtype=np.float16).astype(float)

    def sampler(codes):
        uniform = rng.random(codes.size)
        return np.minimum((uniform[:, None] >= sums[codes]).sum(axis=1), 2)

    return rare(), sampler


def biased_generator(rng):
    def sampler(codes):
        # The remainder of a uniform integer below 250 is too often small.
        return by_integers(response(), rng.integers(0, 250, codes.size) % 16, codes)

    return response(), sampler


def sometimes_the_truth(rng):
    def sampler(codes):
        return np.where(rng.random(codes.size) < 0.01, codes, response().privatize(codes, rng))

    return response(), sampler


def two_outputs_swapped(rng):
    def sampler(codes):
        return np.array([1, 0, 2])[response().privatize(codes, rng)]

    return response(), sampler


def one_answer_for_all(rng):
    return response(), np.zeros_like


BROKEN = [
    off_by_one,
    off_by_one_at_zero,
    few_bits,
    half_precision,
    biased_generator,
    sometimes_the_truth,
    two_outputs_swapped,
    one_answer_for_all,
]


@pytest.mark.parametrize("broken", BROKEN, ids=lambda broken: broken.__name__)
def test_a_broken_sampler_is_caught(broken):
    mechanism, sampler = broken(np.random.default_rng(11))
    found = audit(mechanism, 3_000_000, sampler=sampler)
    assert not found.consistent
    assert found.outside


def test_a_sampler_that_leaks_more_is_shown_to():
    _, sampler = sometimes_the_truth(np.random.default_rng(2))
    found = audit(response(), 10**7, sampler=sampler)
    assert found.leakage < found.lower_bound < math.log((0.5 * 0.99 + 0.01) / (0.25 * 0.99))
    everything = audit(response(), 10**5, sampler=lambda codes: codes)
    assert everything.lower_bound > 5


def test_a_wrong_sampler_need_not_leak():
    found = audit(response(), 10**4, sampler=np.zeros_like)
    assert found.lower_bound == 0
    assert len(found.outside) == 9


def test_an_output_of_probability_zero_is_caught_at_once():
    counts = excluding().numerators * 1000
    assert audit_counts(excluding(), counts).consistent
    counts[0, 2] = 1
    assert audit_counts(excluding(), counts).outside == (("a", excluding().outputs[2]),)


# Limits


@pytest.mark.combined
@pytest.mark.parametrize("tail", [0.3, 0.01, 1e-6])
@pytest.mark.parametrize("trials", [1, 5, 40])
def test_limits_cover(trials, tail):
    hits = np.arange(trials + 1)
    lower, upper = clopper_pearson(hits, trials, tail)
    for p in np.linspace(0, 1, 401):
        masses = stats.binom.pmf(hits, trials, p)
        assert masses[lower > p].sum() <= tail * (1 + 1e-9)
        assert masses[upper < p].sum() <= tail * (1 + 1e-9)


def test_limits_agree_with_another_implementation():
    for hits, trials in ((0, 7), (3, 7), (7, 7), (40, 1000)):
        interval = stats.binomtest(hits, trials).proportion_ci(0.99, method="exact")
        assert_allclose(clopper_pearson(hits, trials, 0.005), interval, rtol=1e-9)


@pytest.mark.combined
@pytest.mark.parametrize("tail", [1e-2, 1e-13, 5e-16])
@pytest.mark.parametrize(("hits", "trials"), [(1, 100), (7, 100), (50, 100), (99, 100), (100, 100)])
def test_tails_of_the_limits_in_rational_arithmetic(hits, trials, tail):
    def mass(k, p):
        return math.comb(trials, k) * p**k * (1 - p) ** (trials - k)

    def chance(k, limit):
        return float(sum(mass(j, Fraction(float(limit))) for j in k))

    lower, upper = clopper_pearson(hits, trials, tail)
    above, below = (
        limit + 3 * (inward - limit)
        for limit, inward in ((lower, np.nextafter(lower, 1)), (upper, np.nextafter(upper, 0)))
    )
    more, fewer = range(hits, trials + 1), range(hits + 1)
    assert chance(more, lower) * (1 - 1e-10) <= tail <= chance(more, above) * (1 + 1e-10)
    if hits < trials:
        assert chance(fewer, upper) * (1 - 1e-10) <= tail <= chance(fewer, below) * (1 + 1e-10)
    else:
        assert upper == 1


@pytest.mark.combined
@pytest.mark.parametrize("tail", [pytest.param(1e-9, marks=pytest.mark.slow), 5e-16, 1e-60])
@pytest.mark.parametrize(
    ("hits", "trials"),
    [(1, 10**6), (10**6 - 50, 10**6), (999, 10**8), (50_000, 10**10), (10**9, 10**10), (10**10 - 10**6, 10**10)],
)
def test_tails_of_the_limits_in_ball_arithmetic(trials, hits, tail):
    # With 999 hits a parameter is 1000, where the inverse of the incomplete beta function in scipy is wrong.
    with ctx.workprec(400):
        lower, upper = (arb(float(limit)) for limit in clopper_pearson(hits, trials, tail * 0.999))
        more = lower.beta_lower(hits, trials - hits + 1, regularized=True)
        fewer = (1 - upper).beta_lower(trials - hits, hits + 1, regularized=True)
    for found in (more, fewer):
        assert tail * 0.998 < found < tail  # what an audit relies on
    assert lower < arb(hits) / trials < upper


def test_false_alarms_are_as_rare_as_stated():
    rng = np.random.default_rng(8)
    rows = [rng.multinomial(60, row, 500) for row in response().matrix]
    alarms = sum(
        not audit_counts(response(), np.array(counts), failure=0.5).consistent for counts in zip(*rows, strict=True)
    )
    # Bonferroni is careful; some alarms there are, or the test would see nothing.
    assert 0 < alarms < 0.5 * 500


# The bound


def test_the_bound_is_the_least_leakage_within_the_limits(mechanism):
    rng = np.random.default_rng(1)
    found = audit(mechanism, 300, rng=rng)
    bounds, _ = shown_leakage(mechanism, found.lower, found.upper)
    assert_array_equal(bounds, found.bounds)
    known = mechanism.guarantee.uncertainty.exact_set
    scale = 10**9
    for j, bound in enumerate(bounds):
        lower, upper = ((limits[:, j] * scale).astype(int).tolist() for limits in (found.lower, found.upper))
        # The least is attained where every entry is at a limit or at the greatest lower limit.
        corners = product(*({low, high, min(high, max(lower))} for low, high in zip(lower, upper, strict=True)))
        inside = rng.integers(lower, np.array(upper) + 1, size=(200, len(lower))).tolist()
        ratios = [known.exact_ratio(list(column)) for column in [*corners, *inside] if any(column)]
        least = min((math.log(ratio) for ratio in ratios if ratio is not None), default=0.0)
        if max(lower) == 0:
            assert bound == 0
        else:
            assert_allclose(bound, least, atol=1e-6)


def test_the_bound_uses_priors_of_the_simplex_only():
    # As printed, the ball reaches outside the simplex, where h does not rise with v.
    ball = md.L1Ball(["0.9", "0.05", "0.05"], radius="0.4", within_simplex=False)
    mechanism = md.Mechanism(np.array([[2, 2], [3, 1], [1, 3]]), 2, md.Guarantee(md.Epsilon.of("2"), ball))
    found = audit_counts(mechanism, mechanism.numerators * 10**9)
    assert_allclose(found.lower_bound, mechanism.leakage, atol=1e-3)
    assert found.lower_bound <= mechanism.leakage


def test_known_counts_in_closed_form():
    warner = md.Mechanism(
        np.array([[3, 1], [1, 3]]), 2, md.Guarantee(md.Epsilon.of("log(3)"), md.L1Ball([0.5, 0.5], radius=2))
    )
    found = audit_counts(warner, [[1000, 0], [0, 1000]], failure=0.08)
    # All or nothing: the limits are tail^(1/n), and the worst prior has all mass on the other input.
    edge = (0.01 * 0.999) ** (1 / 1000)
    assert_allclose(found.lower, np.diag([edge, edge]), rtol=ALGEBRA)
    assert_allclose(found.lower_bound, math.log(edge / (1 - edge)), rtol=1e-9)


# Guards


@pytest.mark.parametrize(
    ("samples", "options", "code"),
    [
        (2, {}, "not-a-whole-number"),
        (10**10 + 1, {}, "not-a-whole-number"),
        (0, {}, "not-a-whole-number"),
        (1e6, {}, "not-a-whole-number"),
        (10, {"failure": 0}, "out-of-range"),
        (10, {"failure": 1}, "out-of-range"),
        (10, {"failure": "1e-51"}, "out-of-range"),
        (10, {"failure": "small"}, "not-a-number"),
        (10, {"failure": math.nan}, "not-a-number"),
        (10, {"rng": 7}, "wrong-type"),
        (10, {"sampler": "privatize"}, "wrong-type"),
        (10, {"sampler": np.zeros_like, "rng": np.random.default_rng(1)}, "needless-argument"),
        (10, {"sampler": lambda codes: codes[1:]}, "function-fails"),
        (10, {"sampler": lambda codes: codes / 2}, "function-fails"),
        (10, {"sampler": lambda codes: codes > 0}, "function-fails"),
        (10, {"sampler": lambda codes: None}, "function-fails"),
        (10, {"sampler": lambda codes: ["a"] * 10}, "function-fails"),
    ],
)
def test_bad_requests_are_refused(samples, options, code):
    with raises(code):
        audit(response(), samples, **options)


@pytest.mark.parametrize("code", [-1, 3])
def test_an_output_that_does_not_exist_breaks_the_guarantee(code):
    with raises("sampler-wrong", match=f"returned the code {code}, of which nothing is proved; .* 0 to 2"):
        audit(response(), 10, sampler=lambda codes: np.where(codes == 1, code, codes))


@pytest.mark.parametrize(
    ("counts", "code"),
    [
        ([[1, 2], [3, 4]], "wrong-size"),
        (np.full((3, 3), 0.5), "wrong-size"),
        ([[1, 2, 3], [4, 5, -6], [7, 8, 9]], "not-counts"),
        ([[1, 2, 3], [4, 5, 10**10 + 1], [7, 8, 9]], "not-counts"),
        ([[1, 2, 3], [0, 0, 0], [7, 8, 9]], "nothing-given"),
    ],
)
def test_bad_counts_are_refused(counts, code):
    with raises(code):
        audit_counts(response(), counts)


@pytest.mark.parametrize("call", [lambda m: audit(m, 10), lambda m: audit_counts(m, [[1]])])
def test_only_mechanisms_are_audited(call):
    with raises("wrong-type", "the mechanism", "type str"):
        call("m.json")
