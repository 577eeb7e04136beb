"""Delta of the default radius as a theorem: the definition by enumeration, ranges by exact tails, and what Coq says."""

import itertools
import json
import math
import re
import shutil
import subprocess
from fractions import Fraction

import pytest
from files_of_every_set import learnt
from hypothesis import given, settings
from hypothesis import strategies as st
from repetitions import examples

from mechdesign.proofs.coq_file import SAMPLES, certificate
from mechdesign.proofs.kernel import ask_coq
from mechdesign.proofs.tail_ranges import TailRanges
from mechdesign.proofs.theorem_words import Learnt, theorem_in_words
from mechdesign.uncertainty.bounds_of_counts import observed_radius_exact
from mechdesign.uncertainty.observed_sums import ObservedSums

needs_coq = pytest.mark.skipif(shutil.which("coqc") is None, reason="coqc is not installed")
STEP = Fraction(1, 10**15)
COUNTS = st.lists(st.integers(0, 12), min_size=2, max_size=4).filter(any)
DELTAS = st.sampled_from(["0.9", "0.3", "0.05", "1e-4"])


def tail(m, k, q):
    return sum(math.comb(m, j) * q**j * (1 - q) ** (m - j) for j in range(k, m + 1))


def proper_sets(size):
    return [[x for x in range(size) if i >> x & 1] for i in range(1, 2**size - 1)]


def contradicted(prior, level, counts):
    """The definition of Spec.v, of counts in the place of draws; how often draws hit a set is binomial."""
    m, sets = sum(counts), proper_sets(len(counts))
    return any(tail(m, sum(counts[x] for x in S), sum(prior[x] for x in S)) <= level for S in sets)


def tables(m, size):
    for bars in itertools.combinations(range(m + size - 1), size - 1):
        ends = (-1, *bars, m + size - 1)
        yield tuple(b - a - 1 for a, b in itertools.pairwise(ends))


def priors(size, parts):
    return [[Fraction(k, parts) for k in table] for table in tables(parts, size)]


@pytest.mark.parametrize(
    ("m", "size", "delta"),
    [(1, 2, "0.5"), (6, 2, "0.4"), (4, 3, "0.3"), pytest.param(3, 4, "0.6", marks=pytest.mark.slow)],
)
def test_draws_contradict_their_prior_with_probability_at_most_delta(m, size, delta):
    level, worst = Fraction(delta) / (2**size - 2), Fraction(0)
    for prior in priors(size, 8):
        chance = Fraction(0)
        for counts in tables(m, size):
            if contradicted(prior, level, counts):
                ways = math.factorial(m) // math.prod(map(math.factorial, counts))
                chance += ways * math.prod(p**k for p, k in zip(prior, counts, strict=True))
        assert chance <= Fraction(delta)
        worst = max(worst, chance)
    assert worst > 0


@pytest.mark.parametrize(
    ("counts", "delta"),
    [
        ((1, 0), "0.5"),
        ((1, 1), "0.5"),
        ((5, 2), "0.1"),
        ((3, 1, 0), "0.3"),
        ((0, 0, 4), "0.9"),
        pytest.param((4, 1, 2, 0), "0.2", marks=pytest.mark.slow),
    ],
)
def test_every_prior_that_counts_do_not_contradict_is_within_the_radius(counts, delta):
    """And one that is nearly as far as the radius is not contradicted, if one set decides."""
    size, m = len(counts), sum(counts)
    radius, level = observed_radius_exact(counts, Fraction(delta)), Fraction(delta) / (2**size - 2)
    shares, farthest = [Fraction(k, m) for k in counts], Fraction(0)
    for prior in priors(size, 400 if size == 2 else 24):
        if not contradicted(prior, level, counts):
            farthest = max(farthest, sum(abs(p - q) for p, q in zip(prior, shares, strict=True)))
    assert farthest <= radius
    assert farthest > 0.7 * radius
    assert not contradicted(shares, level, counts)  # the set that the radius covers is not empty
    assert size > 2 or farthest > radius - Fraction(1, 100)


@given(COUNTS, DELTAS)
@settings(max_examples=examples(60), deadline=None)
def test_ranges_say_of_the_sums_of_counts_what_exact_tails_are(counts, delta):
    n, level = sum(counts), Fraction(delta) / (2 ** len(counts) - 2)
    radius = observed_radius_exact(tuple(counts), Fraction(delta))
    if not 0 < radius < 2:
        return
    sums = {sum(counts[x] for x in S) for S in proper_sets(len(counts))}
    tails = {k: tail(n, k, Fraction(k, n) - radius / 2) for k in range(math.floor(n * radius / 2) + 1, n + 1)}
    first, small = min(tails), False
    for each in (found := TailRanges.of(n, radius, level, ObservedSums.of(counts)).ranges()):
        for k in range(first, each.last + 1):
            if each.kind == "Gap":
                assert k not in sums
            elif each.kind == "Rise":
                assert tails[k] < tails[k + 1]
            elif each.kind == "Fall":
                assert small
                assert tails[k] < tails[k - 1]
            else:
                assert tails[k] <= level
        small = each.kind in {"Rare", "Fall"}
        first = each.last + 1
    assert first == n + 1
    kinds = "".join(each.kind[1] for each in found)
    assert not re.search("i[^ai]", kinds)  # a rise is followed by a rise, or by counts with small tails
    assert not kinds.endswith("i")


@pytest.mark.parametrize("counts", [(1, 1), (30, 6, 4), (9000, 700, 50, 1), (0, 0, 0, 300)])
def test_a_smaller_radius_has_no_ranges(counts):
    radius, level = observed_radius_exact(counts, Fraction("1e-2")), Fraction("1e-2") / (2 ** len(counts) - 2)
    assert TailRanges.of(sum(counts), radius, level, ObservedSums.of(counts)).ranges() is not None
    assert TailRanges.of(sum(counts), radius - 2 * STEP, level, ObservedSums.of(counts)).ranges() is None


def test_the_theorem_is_about_all_samples_where_their_number_supports_the_radius():
    """It is about counts only for the bound that is, and where their sums make the radius smaller."""
    kinds = {}
    for name, content in {
        "sums": learnt([9000, 700, 50, 1], "1e-2", bound="observed-sums"),
        "no gain": learnt([20, 10, 5, 3, 1, 1], "1e-2", bound="observed-sums"),
        "all": learnt([9000, 700, 50, 1], "1e-2"),
    }.items():
        kinds[name] = re.search(r"the_radius : (\w+) the_file", certificate(json.loads(content), content))[1]
    assert kinds == {"sums": "learnt_from_counts", "no gain": "learnt", "all": "learnt"}
    smaller = json.loads(learnt([9000, 700, 50, 1], "1e-2", bound="observed-sums"))["guarantee"]["radius"]
    content = learnt([9000, 700, 50, 1], "1e-2", radius=smaller)
    assert SAMPLES not in certificate(json.loads(content), content)


def statements(text):
    """The text of a certificate without the proofs, which Coq then reads in a second or two."""
    head, after = text.split("Theorem the_samples_support", 1)
    told = re.search(r"apply \((counts_supported the_file .*\])\)", after)[1]
    head = re.sub(r"Proof\..*?Qed\.", "Admitted.", head, flags=re.DOTALL)
    return re.sub(r"Print .*\n", "", head), told.removeprefix("counts_supported")


@needs_coq
def test_coq_computes_yes_for_the_ranges_and_no_for_sharper_claims(tmp_path):
    content = learnt([30, 6, 4], "0.06", bound="observed-sums")
    head, told = statements(certificate(json.loads(content), content))
    radius = Fraction(json.loads(content)["guarantee"]["radius"])
    assert f"(Ball [30; 6; 4] {radius.numerator} {radius.denominator})" in head
    n, (a, b) = 40, Fraction("0.06").as_integer_ratio()
    assert told.startswith(f" the_file {n} ({a}, {b}%positive) [Gap 9; Rare")

    def file(counts, r):
        ball = f"(Ball {counts} {r.numerator} {r.denominator})"
        return f"(File 3 2 3 [[4; 4]; [4; 4]; [4; 4]] (Log 9 1) None None None {ball})"

    claims = [
        (told, "true"),
        (told.replace("the_file", file("[30; 6; 4]", radius)), "true"),
        (told.replace("the_file", file("[4; 30; 6]", radius)), "true"),
        (told.replace("the_file", file("[30; 6; 4]", radius - STEP)), "false"),
        (told.replace("the_file", file("[29; 7; 4]", radius)), "false"),  # other sums
        (told.replace("the_file", file("[60; 12; 8]", radius)), "false"),  # of other samples
        (told.replace("the_file", file("[30; 10]", radius)), "false"),
        (told.replace("the_file", file("[30; 14; -4]", radius)), "false"),
        (told.replace(f"({a}, {b}%", f"({a}, {b + 1}%"), "false"),
        (told.replace("Gap 9", "Gap 10"), "false"),
        (told.replace("Gap 29", "Gap 30"), "false"),
        (told.replace("the_file 40", "the_file 0"), "false"),
    ]
    lines = "".join(f"Eval vm_compute in support_by_sums{claim}.\n" for claim, _ in claims)
    (tmp_path / "Q.v").write_text(f"{head}{lines}End Samples.\n")
    done = subprocess.run(
        ["coqc", "-q", "-w", "none", "Q.v"], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert re.findall(r"= (true|false)", done.stdout) == [answer for _, answer in claims]


@pytest.mark.slow
@needs_coq
@pytest.mark.parametrize(
    ("counts", "delta"), [((2, 2), "0.5"), ((30, 6, 4), "0.06"), ((41762, 4685, 1519, 470, 406), "1e-9")]
)
def test_coq_proves_the_theorem(counts, delta):
    content = learnt(counts, delta, bound="observed-sums")
    told = ask_coq(json.loads(content), content)
    assert told.learnt == (sum(counts), Fraction(delta), True, ())
    assert len(told.axioms) == 4


def test_the_words_say_when_draws_contradict_a_prior():
    content = learnt([1, 1], "0.5", bound="observed-sums")
    words = theorem_in_words(json.loads(content), Learnt(2, Fraction(1, 2), from_counts=True))
    assert "2 independent draws from it contradict it with probability at most 0.5, and every prior that the" in words
    assert "so often that 2 draws from this prior do so with probability at most 0.5 / (2^2 - 2)" in words


@pytest.mark.slow
@needs_coq
def test_two_hundred_thousand_samples_are_proved():
    content = learnt([150_000, 30_000, 12_000, 5_000, 2_000, 999, 1], "1e-9", bound="observed-sums")
    assert ask_coq(json.loads(content), content).learnt == (200_000, Fraction("1e-9"), True, ())
