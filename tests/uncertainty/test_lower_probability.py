"""Sets above a lower probability: reference values, coverage, nesting, files, refusals."""

import json
from fractions import Fraction
from itertools import product
from math import comb, factorial, prod

import numpy as np
import pytest
from refusals import raises, without_steps

import mechdesign as md
from mechdesign.cli.entry_point import run
from mechdesign.numerics.exact import arb_of, working_precision
from mechdesign.optimize.lower_rays import LowerRays
from mechdesign.uncertainty import Box, EventSet, L1Box, LowerFunction, LowerLimits, RelativeBall
from mechdesign.uncertainty.binomial_limits import is_limit, lower_limit, upper_limit
from mechdesign.uncertainty.event_limits import EventLimits, event_level, log_tails_up

P = ["0.4", "0.3", "0.2", "0.1"]
LOW, HIGH = ["0.3", "0.2", "0.1", "0.05"], ["0.5", "0.4", "0.3", "0.15"]
COUNTS = {"a": 40, "b": 30, "c": 20, "d": 10}
ADULT = {
    "race": [41762, 4685, 1519, 470, 406],
    "relationship": [19716, 12583, 7581, 5125, 2331, 1506],
}
# h(3,1,0,2), the worst prior, and at e = 2: rays, mutual information, that at epsilon 1, total variation, accuracy
NAMED = [
    (
        LowerLimits(LOW, center=P),
        "6/5",
        "3/10 1/5 9/20 1/20",
        (16, 0.2447876839, 0.4759623291, 0.2941176471, 0.5588235294),
    ),
    (
        LowerLimits(["0.1"] * 4, center=P),
        "3/5",
        "0.1 0.1 0.7 0.1",
        (14, 0.1071945623, 0.2347370880, 0.2272727273, 0.5181818182),
    ),
    (
        RelativeBall(P, 1, "0.08"),
        "73/50",
        "0.32 0.3 0.28 0.1",
        (20, 0.4634834573, 0.7003593802, 0.3787878788, 0.6272727273),
    ),
    (
        Box(LOW, HIGH, center=P),
        "27/20",
        "0.3 0.35 0.3 0.05",
        (26, 0.4248787807, 0.5987307831, 0.3486631016, 0.6142857143),
    ),
    (
        L1Box(LOW, HIGH, "0.16", center=P),
        "73/50",
        "0.32 0.3 0.28 0.1",
        (26, 0.4634834573, 0.7006943861, 0.3787878788, 0.6272727273),
    ),
    (
        RelativeBall(P, "0.9", "0.03"),
        "36/25",
        "0.33 0.27 0.31 0.09",
        (20, 0.4559610945, 0.7030839065, 0.3787878788, 0.6272727273),
    ),
    (
        RelativeBall(P, "1.05", "0.1"),
        "297/200",
        "0.32 0.315 0.26 0.105",
        (20, 0.4711810976, 0.7011185539, 0.3848817080, 0.6307692308),
    ),
    (
        RelativeBall(P, "1.2", "0.2"),
        "36/25",
        "0.28 0.36 0.24 0.12",
        (16, 0.4606091609, 0.6949652404, 0.3757017176, 0.6142857143),
    ),
    (
        RelativeBall(P, "0.9", 0),
        "153/100",
        "0.36 0.27 0.28 0.09",
        (20, 0.4866767913, 0.7709356375, 0.4166666667, 0.6500000000),
    ),
    (
        EventSet(P, [1, "0.8"], ["0.08", "0.02"]),
        "73/50",
        "0.32 0.3 0.28 0.1",
        (26, 0.4634834573, 0.7010909348, 0.3787878788, 0.6272727273),
    ),
]


def value(known, epsilon, utility=None, tol=1e-10):
    solved = md.design(md.DesignProblem(known, epsilon, utility or md.MutualInformation()), tol=tol)
    assert solved.certified
    return solved.value


@pytest.mark.sampled
@pytest.mark.parametrize(("known", "h", "worst", "numbers"), NAMED, ids=lambda x: repr(x) if hasattr(x, "kind") else "")
def test_the_named_instance(known, h, worst, numbers):
    assert known.exact_worst_mean([3, 1, 0, 2]) == (Fraction(h), tuple(map(Fraction, worst.split())))
    assert LowerRays(known, 2.0).count("IEP") == numbers[0]
    told = [
        value(known, "log(2)"),
        value(known, 1),
        value(known, "log(2)", md.TotalVariation()),
        value(known, "log(2)", md.HammingAccuracy()),
    ]
    np.testing.assert_allclose(told, numbers[1:], atol=2e-10)


@pytest.mark.parametrize(
    ("made", "least", "values"),
    [
        (LowerLimits, (0.23861158, 0.15734845, 0.08475595, 0.02551470), (0.1372350368, 0.3075469134)),
        (Box, (0.23138448, 0.15139797, 0.08045951, 0.02339597), (0.2659256483, 0.4473884445)),
        (EventSet, (0.22585206, 0.14687233, 0.07722585, 0.02184258), (0.3136554130, 0.4864903339)),
    ],
)
def test_sets_from_counts(made, least, values):
    known = made.from_counts(COUNTS, "1e-3")
    np.testing.assert_allclose([float(known.least_mass([i])) for i in range(4)], least, atol=6e-9)
    np.testing.assert_allclose([value(known, "log(2)"), value(known, 1)], values, atol=5e-10)
    assert known.delta == Fraction(1, 1000)
    assert known.labels == ("a", "b", "c", "d")


@pytest.mark.sampled
@pytest.mark.parametrize(
    ("column", "epsilon", "samples", "lower", "box", "events"),
    [
        ("race", 1, 500, 0.13561, 0.14216, 0.14175),
        ("race", 1, 48842, 0.16094, 0.16360, 0.16351),
        ("race", 2, 500, 0.26155, 0.28381, 0.28227),
        ("race", 3, 500, 0.39713, 0.41645, 0.42804),
        ("relationship", "0.5", 500, 0.07705, 0.19831, 0.21719),
        ("relationship", 1, 500, 0.35253, 0.48890, 0.61094),
        ("relationship", 1, 48842, 0.84747, 0.85371, 0.86715),
    ],
)
def test_rows_of_the_table(column, epsilon, samples, lower, box, events):
    shares = [Fraction(count, sum(ADULT[column])) for count in ADULT[column]]
    sets = [made.from_probabilities(shares, "1e-9", samples=samples) for made in (LowerLimits, Box, EventSet)]
    assert {known.asserts_samples for known in sets} == {True}
    found = [value(known, epsilon, tol=1e-7) for known in sets]
    np.testing.assert_allclose(found[:2], [lower, box], atol=6e-6)
    # Whole counts alone are known of 500 samples, and f is interpolated between them.
    assert found[2] == pytest.approx(events, abs=2e-4)
    weissman = md.L1Ball(sets[0].center, md.weissman_radius(samples, len(ADULT[column]), "1e-9"))
    assert found[2] >= value(weissman, epsilon, tol=1e-7) - 1e-6


def test_an_event_set_lies_in_the_ball_of_the_same_delta():
    rng = np.random.default_rng(3)
    for _ in range(8):
        counts = rng.integers(5, 80, int(rng.integers(2, 5))).tolist()
        events = EventSet.from_counts(counts, "0.01")
        ball = md.L1Ball(events.center, md.weissman_radius(sum(counts), len(counts), "0.01"))
        for column in rng.integers(0, 9, (20, len(counts))).tolist():
            assert events.exact_support(column) >= ball.exact_support(column)
        assert value(events, 1, tol=1e-8) >= value(ball, 1, tol=1e-8) - 1e-7


@pytest.mark.combined
@pytest.mark.parametrize("made", [LowerLimits, Box, L1Box, EventSet, RelativeBall])
@pytest.mark.parametrize(("size", "samples"), [(2, 20), (3, 12)])
def test_the_true_prior_is_missed_with_at_most_delta(made, size, samples):
    """The probability of failure, exactly, by enumerating the multinomial."""
    delta = Fraction(1, 10)
    tables = [k for k in product(range(samples + 1), repeat=size) if sum(k) == samples]
    sets = {k: made.from_counts(k, delta) for k in tables}
    rng, worst = np.random.default_rng(1), Fraction(0)
    for weights in rng.integers(1, 20, (25, size)).tolist():
        prior = [Fraction(w, sum(weights)) for w in weights]
        failure = Fraction(0)
        for k, known in sets.items():
            if not known.contains(prior):
                ways = factorial(samples) // prod(map(factorial, k))
                failure += ways * prod((q**count for q, count in zip(prior, k, strict=True)), start=Fraction(1))
        worst = max(worst, failure)
    assert 0 < worst <= delta


@pytest.mark.parametrize(("samples", "seen"), [(1, 1), (20, 3), (100, 40), (100, 100), (5000, 17), (5000, 2500)])
def test_limits_are_proved_and_sharp(samples, seen):
    for level in (Fraction(1, 10), Fraction(1, 10**9), Fraction(1, 10**60)):
        q = lower_limit(samples, seen, level)
        assert is_limit(samples, seen, q, level)
        assert not is_limit(samples, seen, q * Fraction(1000001, 1000000) + Fraction(1, 10**14), level)
        assert upper_limit(samples, samples - seen, level) == 1 - q
        if samples <= 100:
            tail = sum(comb(samples, j) * q**j * (1 - q) ** (samples - j) for j in range(seen, samples + 1))
            assert tail <= level
    assert (lower_limit(10, 0, Fraction(1, 2)), upper_limit(10, 10, Fraction(1, 2))) == (0, 1)


def test_gammas():
    education = EventLimits(48842, np.arange(48843), event_level(Fraction(1, 10**9), 16))
    told = [float(education.least_gamma(Fraction(a))) for a in ("0.9", "0.95", "0.98", "1")]
    np.testing.assert_allclose(told, [0.0025097397, 0.0050203556, 0.0096927205, 0.0171952378], atol=6e-11)
    few = EventLimits(20, np.arange(21), event_level(Fraction(1, 10), 3))
    told = [float(few.least_gamma(Fraction(a))) for a in ("0.9", "1")]
    np.testing.assert_allclose(told, [0.1966766595, 0.2612730177], atol=6e-11)


def test_tails_in_floats_are_above_the_exact_ones():
    rng = np.random.default_rng(5)
    for samples in (100, 2_000, 48_842):
        for _ in range(30):
            k = int(rng.integers(31, samples - 30))
            p = k / samples
            q = max(0.3 * p, p - rng.uniform(1, 9) * np.sqrt(p * (1 - p) / samples))
            with working_precision():
                tail = arb_of(Fraction(q)).beta_lower(arb_of(k), arb_of(samples - k + 1), 1).log()
                exact = float(tail.mid())
            told, error = log_tails_up(samples, np.array([k]), np.array([q]))
            assert exact - error[0] <= told[0] <= exact + 1e-4 * abs(exact) + 1e-4


@pytest.mark.parametrize("made", [LowerLimits, Box, L1Box, EventSet, RelativeBall])
def test_files_hold_the_counts_and_derive_the_limits_again(made, tmp_path, capsys):
    known = made.from_counts(COUNTS, "1e-3")
    mechanism = md.design(md.DesignProblem(known, 1)).mechanism
    mechanism.save(tmp_path / "m.json")
    loaded = md.Mechanism.load(tmp_path / "m.json")
    assert loaded.guarantee.uncertainty == known
    assert md.verify(loaded).optimal
    assert run(["verify", str(tmp_path / "m.json")]) == 0
    assert known.in_words() in " ".join(capsys.readouterr().out.split())
    table = json.loads((tmp_path / "m.json").read_text())
    own = table["guarantee"][made.kind]
    if made is EventSet:
        own["gammas"][3] = "0.05"
    elif made is RelativeBall:
        own["gamma"] = "0.05"
    else:
        own["lower"][2] = "0.19"
    (tmp_path / "false.json").write_text(json.dumps(table))
    assert run(["verify", str(tmp_path / "false.json")]) == 1
    assert "the claimed delta is false" in capsys.readouterr().err
    own |= {"delta": "0.01"} if made in {EventSet, RelativeBall} else {"samples": 10}
    (tmp_path / "also.json").write_text(json.dumps(table))
    assert run(["verify", str(tmp_path / "also.json")]) == 1
    assert len(without_steps(capsys.readouterr().err.encode())) == 1


PROBLEM = """\
title = "Limits"
epsilon = "log(2)"
utility = "mutual-information"

[prior]
labels = ["a", "b", "c"]

[prior.box]
lower = [0.1, 0.2, 0.05]
upper = [0.6, 0.5, 0.4]
center = ["2/5", 0.35, 0.25]
"""


@pytest.mark.parametrize(
    "known",
    [
        *(NAMED[k][0] for k in (0, 3, 4, 5, 9)),
        Box.from_counts(COUNTS, "0.01"),
        EventSet.from_probabilities(P, "0.01", samples=50),
        LowerLimits.from_counts(COUNTS, "0.02"),
        L1Box.from_probabilities(P, "0.02", samples=30),
        RelativeBall.from_probabilities(P, "0.02", samples=50, alpha="0.8", labels=list("abcd")),
    ],
    ids=repr,
)
def test_problem_files_hold_every_kind(known, tmp_path):
    (tmp_path / "p.toml").write_text(PROBLEM)
    file = md.read_problem(tmp_path / "p.toml")
    assert file.problem.uncertainty == Box(
        ["0.1", "0.2", "0.05"], ["0.6", "0.5", "0.4"], center=["2/5", "0.35", "0.25"], labels=["a", "b", "c"]
    )
    other = type(file)(**{**vars(file), "problem": md.DesignProblem(known, "log(2)")})
    md.write_problem(tmp_path / "q.toml", other)
    assert md.read_problem(tmp_path / "q.toml").problem.uncertainty == known


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("lower = [0.1,", "lower = [0.7,", "the lower limit of 'a' is 0.7, above its upper limit, 0.6"),
        ("lower = [0.1, 0.2, 0.05]", "lower = [0.6, 0.5, 0.05]", "the lower limits sum to 1.15; accepted: at most 1"),
        ("upper = [0.6, 0.5, 0.4]", "upper = [0.4, 0.35, 0.2]", "the upper limits sum to 0.95; accepted: at least 1"),
        ("lower = [0.1, 0.2,", "lower = [0.1, 0.4,", "the lower limit of 'b' is 0.4, above its estimate, 0.35"),
        (
            "upper = [0.6, 0.5, 0.4]",
            "upper = [0.6, 0.5, 0.2]",
            "the estimate of 'c' is 0.25, above its upper limit, 0.2",
        ),
        ('center = ["2/5", 0.35, 0.25]\n', "", "the key 'prior.box.center' is missing; add it"),
        ("upper = [0.6, 0.5, 0.4]", "upper = [0.6, 0.5]", "the upper limits are 2 numbers for 3 categories"),
        ("lower = [0.1,", "lower = [-0.1,", "the lower limits have -0.1 for 'a'; accepted: 0 to 1"),
        ("lower = ", "counts = ", "[prior] has labels beside counts"),
    ],
)
def test_limits_that_do_not_fit_are_refused_on_one_line(tmp_path, capsys, old, new, message):
    path = tmp_path / "p.toml"
    assert old in PROBLEM
    path.write_text(PROBLEM.replace(old, new))
    assert run(["design", str(path)]) == 2
    told = capsys.readouterr().err
    assert message in told
    assert told.count("\n") == 1


def test_values_that_are_refused():
    with raises("out-of-range", "'0.1'", "'1.2'", "least 0.2"):
        RelativeBall(P, "1.2", "0.1")
    with raises("out-of-range", "is 0"):
        RelativeBall(P, 0, "0.1")
    with raises("wrong-size", "1", "and 2"):
        EventSet(P, [1], [1, 1])
    with raises("never-occurs", "'x3'"):
        LowerLimits(["0.5", "0.5", "0"], center=["0.5", "0.5", "0"])
    with raises("evidence-contradicts"):
        NAMED[0][0].supported_by(Box.from_counts([1, 2, 3, 4], "0.1").evidence)
    with raises("evidence-contradicts", "above what 4 of 10 samples support"):
        NAMED[0][0].supported_by(Box.from_counts([4, 3, 2, 1], "0.1").evidence)


def test_what_would_take_too_long_is_refused():
    with raises("too-many-given", "1001", "1000"):
        Box.from_counts([1] * 1001, "0.1")
    for make in (
        lambda: EventSet.from_probabilities(P, "0.1", samples=10**15),
        lambda: EventSet.from_counts([100_000] * 17, "0.1"),
    ):
        with raises("too-many-given", "200000", "most 16"):
            make()
    with raises("too-many-given", "100001", "for 4", "400004"):
        EventSet(P, [1] * 100_001, [1] * 100_001)


def test_delta_zero_holds_every_prior():
    for made in (LowerLimits, Box, EventSet):
        known = made.from_counts(COUNTS, 0)
        assert all(known.contains([int(i == j) for j in range(4)]) for i in range(4))


def squares(S):
    return Fraction(len(S) ** 2, 16)


def submodular(S):
    return Fraction(1, 10) if len(S) == 1 else Fraction(11, 100) if len(S) == 2 else Fraction(1, 5)


def test_a_function_of_sets():
    known = LowerFunction(squares, ["1/4"] * 4, supermodular=True)
    ball = md.L1Ball(["1/4"] * 4)
    assert 0 < value(known, "log(2)") < value(ball, "log(2)")
    assert value(known, "log(2)", md.HammingAccuracy()) < value(ball, "log(2)", md.HammingAccuracy())
    with raises("no-file-format"):
        md.design(md.DesignProblem(known, 1)).mechanism.save("never.json")


def test_a_function_that_is_not_supermodular_proves_and_does_not_design():
    with raises("not-supermodular"):
        LowerFunction(submodular, ["1/4"] * 4, supermodular=True)
    known = LowerFunction(submodular, ["1/4"] * 4, supermodular=False)
    private = md.design(md.DesignProblem(md.L1Ball(["1/4"] * 4, "0.9"), "log(2)")).mechanism
    proof = md.mechanism.proof.prove(private.numerators, private.bits, md.Guarantee("log(40)", known))
    assert proof.holds
    for column in private.numerators.T.tolist():
        # Never above the least mean over priors of the set.
        for Q in np.random.default_rng(0).dirichlet(np.ones(4), 300).tolist():
            prior = [Fraction(q) / sum(map(Fraction, Q)) for q in Q]
            if known.contains(prior):
                assert known.exact_support(column) <= sum(q * v for q, v in zip(prior, column, strict=True))
    for utility in (md.MutualInformation(), md.HammingAccuracy()):
        with raises("no-method"):
            md.design(md.DesignProblem(known, 1, utility))


@pytest.mark.parametrize(
    ("f", "code"),
    [
        (lambda S: Fraction(len(S), 3), "out-of-range"),
        (lambda S: -1, "out-of-range"),
        (3, "wrong-type"),
    ],
)
def test_functions_that_are_refused(f, code):
    with raises(code):
        LowerFunction(f, ["1/4"] * 4, supermodular=False)
