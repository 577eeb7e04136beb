"""Pages of mechanisms: their numbers are those of ``verify``, their words those of the guarantee."""

import hashlib
import json
import math
import re
from dataclasses import replace
from fractions import Fraction
from statistics import NormalDist

import numpy as np
import pytest
from paged_designs import COUNTS, KINDS, designed
from pages import Page, well_made

import mechdesign as md
from mechdesign.cli.entry_point import run
from mechdesign.mechanism.words import promise
from mechdesign.proofs.kernel import Verdict
from mechdesign.report import mechanism_page
from mechdesign.report.leakage_of_reports import guesses_of

NO_NUMBERS = {"schema", "holds", "inputs", "outputs", "secret", "useful", "not_protected", "optimality"}


@pytest.fixture(params=KINDS)
def solved(request):
    return designed(request.param)


def page_of(mechanism, **options):
    return Page(mechanism_page(mechanism, **{"compare": False, **options}))


def same(text, number):
    return text == ("true" if number else "false") if isinstance(number, bool) else float(text) == number


@pytest.mark.sampled
def test_every_number_is_that_of_verify(solved, tmp_path, capsys):
    path = tmp_path / "m.json"
    solved.mechanism.save(path)
    assert run(["verify", str(path), "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    facts = page_of(solved.mechanism).facts
    claim = {name: value for name, value in told["optimality"].items() if name not in {"utility", "unit"}}
    assert claim.pop("within_simplex")
    numbers = {name: value for name, value in told.items() if name not in NO_NUMBERS} | claim
    for name, number in numbers.items():
        if number is None:
            assert name not in facts
        else:
            assert same(facts[name], number), name
    assert facts["inputs"] == str(len(told["inputs"]))
    assert facts["outputs"] == str(len(told["outputs"]))
    assert facts["sha256"] == hashlib.sha256(path.read_bytes()).hexdigest()
    assert facts["fingerprint"] == solved.mechanism.fingerprint
    shown = {"inputs", "outputs", "sha256", "fingerprint", "version", "leakage-of-output"}
    assert set(facts) - shown <= set(numbers)


@pytest.mark.sampled
def test_a_page_says_that_coq_has_checked_the_promise(solved):
    theorem = Verdict("8.16.1", (), "{}", "0" * 64, None)
    page = page_of(solved.mechanism, theorem=theorem)
    assert page.facts["certificate"] == theorem.certificate
    assert "The proof assistant Coq 8.16.1 has checked this promise as a theorem" in page.section("promise")
    assert ("delta left out" in page.section("promise")) == bool(solved.mechanism.guarantee.uncertainty.delta)
    both = page_of(solved.mechanism, theorem=replace(theorem, learnt=(100, Fraction(1, 1000)))).section("promise")
    assert "its samples support it but for delta" in both
    assert "delta left out" not in both
    assert "Coq" not in page_of(solved.mechanism).section("promise")


def test_the_promise_is_in_the_words_of_the_guarantee(solved):
    page, guarantee = page_of(solved.mechanism), solved.mechanism.guarantee
    told = page.section("promise")
    assert promise(guarantee) in told
    assert page.all("h1")[0].text == solved.mechanism.provenance.problem
    known, secret = guarantee.uncertainty, guarantee.uncertainty.secret_promise
    if known.holds_every_prior:
        assert "Everyone, whatever they know about the person beforehand." in told
    else:
        assert f"{known.in_words()}" in told
        assert known.in_words() in page.section("limits")
    assert ("Protected is smoker alone, not income." in told) == (secret is not None)
    assert (known.not_protected_in_words() or "More than one report") in page.section("limits")
    assert ("no report rules" in told) == (guarantee.lower is not None)
    assert ("then nothing is promised" in told) == (known.delta is not None)


@pytest.mark.parametrize("kind", KINDS)
def test_known_frequencies_are_told_from_sets(kind):
    told = page_of(designed(kind).mechanism).section("promise")
    assert ("exactly those that the file holds" in told) == (kind in {"known", "secret", "secret on both sides"})
    assert ("are among these" in told) == (kind not in {"known", "ldp", "secret", "secret on both sides"})


def sentence(kind):
    return " ".join(page_of(designed(kind).mechanism).all("p")[1].text.split())


START = (
    "To every person whose category is reported once, under the conditions below: "
    "whatever anyone wants to guess about that "
)


@pytest.mark.parametrize(
    ("kind", "expected"),
    [
        ("ball", "category, the report makes the guess right at most 2.719 times as likely as before."),
        ("secret", "person’s smoker, the report makes the guess right at most 1.222 times as likely as before."),
        ("accuracy", "category, the report makes the guess right at most 2 times as likely as before."),
    ],
)
def test_the_promise_in_one_sentence(kind, expected):
    assert sentence(kind) == START + expected


@pytest.mark.parametrize(
    ("kind", "factor", "least", "what"),
    [("both sides", "2.719", "0.4723", "category"), ("secret on both sides", "1.222", "0.9048", "category of smoker")],
)
def test_the_promise_on_both_sides_in_two_sentences(kind, factor, least, what):
    told = sentence(kind)
    assert f"the report makes the guess right at most {factor} times as likely as before. Nor does it make any " in told
    assert told.endswith(f"{what} less likely than {least} times as before: no report rules a {what} out.")


def test_what_is_not_promised():
    told = page_of(designed("known").mechanism).section("limits")
    excluding = int((designed("known").mechanism.numerators == 0).any(axis=0).sum())
    assert f"{excluding} of 3 reports rule out at least one category for certain" in told
    for words in ("without a limit", "population changes", "relatives", "order of the reports", "secure source"):
        assert words in told
    told = page_of(designed("ldp").mechanism).section("limits")
    assert "may tell as much again" in told
    for words in ("without a limit", "population changes", "rule out", "know more about the person"):
        assert words not in told
    assert "rule out" not in page_of(designed("both sides").mechanism).section("limits")
    assert "1 in 1,000,000,000 those who report are such people" in page_of(designed("ball").mechanism).section(
        "limits"
    )


def test_guesses_are_those_of_bayes():
    mechanism = designed("estimation").mechanism
    rows = page_of(mechanism).table("Guesses before and after a report")[1:]
    P = mechanism.guarantee.uncertainty.prior
    after = P[:, None] * mechanism.matrix / (P @ mechanism.matrix)
    for row, label, before, most, least in zip(rows, COUNTS, P, after.max(axis=1), after.min(axis=1), strict=True):
        assert row[0] == label
        e = math.e
        limits = before * e / (before * e + 1 - before), before / (before + (1 - before) * e)
        for text, p in zip(row[1:], (before, most, least, *limits), strict=True):
            assert abs(float(text.removesuffix(" %")) / 100 - p) <= 5.1e-4
    joint = np.array([[20, 10, 5], [10, 15, 20]]) / 80
    mechanism = designed("secret").mechanism
    after = joint @ mechanism.matrix / (joint.sum(axis=0) @ mechanism.matrix)
    rows = page_of(mechanism).table("Guesses before and after a report")
    assert rows[0][0] == "smoker"
    for row, before, most in zip(rows[1:], joint.sum(axis=1), after.max(axis=1), strict=True):
        assert abs(float(row[1].removesuffix(" %")) / 100 - before) <= 5.1e-4
        assert abs(float(row[2].removesuffix(" %")) / 100 - most) <= 5.1e-4


def test_limits_under_ldp_hold_for_mechanisms_that_reach_them():
    """Of two values the reports of randomized response reach both limits."""
    P, e = np.array([0.3, 0.7]), math.e
    V = np.array([[e, 1], [1, e]]) / (1 + e)
    after = P[:, None] * V / (P @ V)
    mechanism = md.Mechanism.repaired(V, md.Guarantee(1, md.L1Ball(P.tolist(), radius="0.1"))).mechanism
    for guess, most, least in zip(guesses_of(mechanism).shown, after.max(axis=1), after.min(axis=1), strict=True):
        assert guess.local == pytest.approx((most, least), rel=1e-12)
    everyone = page_of(designed("ldp").mechanism).table("Guesses before and after a report")
    assert "under LDP, at most" not in everyone[0]


def test_many_reports_that_leak_the_same_are_one_sentence():
    ball = md.L1Ball.from_counts({f"x{i}": 40 - i for i in range(8)}, radius="0.1")
    mechanism = md.design(md.DesignProblem(ball, 1, md.EstimationError())).mechanism
    page, out = page_of(mechanism), (mechanism.numerators == 0).sum(axis=0)
    told = (
        f"each of {len(out)} reports leaks at most 1 nats, a factor of 2.719, and rules out {out.min()} to {out.max()}"
    )
    assert told in page.section("leakage")
    assert not [e for e in page.all("div") if e.attributes.get("aria-label") == "Leakage of each report"]
    assert float(page.facts["leakage-of-output"]) == mechanism.leakage


def test_a_design_at_a_coarse_tolerance_says_how_near_to_the_best_it_is():
    problem = md.DesignProblem(md.L1Ball.from_counts(COUNTS, radius="0.1"), 1, md.EstimationError())
    solved = md.design(problem, tol=0.05)
    found = md.verify(solved.mechanism)
    assert found.optimal is False
    page = page_of(solved.mechanism)
    assert "not shown" not in page.section("bound")
    (loss,) = re.findall(r"the best but for at most (\S+) % of its value", page.section("bound"))
    assert found.gap / found.value <= float(loss) / 100 <= 1.1 * found.gap / found.value


def test_the_heading_is_that_which_is_given(tmp_path):
    mechanism = designed("ball").mechanism
    assert page_of(mechanism, title="Commuting <2026>").all("h1")[0].text == "Commuting <2026>"
    mechanism.save(tmp_path / "m.json")
    assert (
        run(["report", str(tmp_path / "m.json"), "-o", str(tmp_path / "p.html"), "--no-compare", "--title", "A"]) == 0
    )
    assert Page((tmp_path / "p.html").read_text(encoding="utf-8")).all("h1")[0].text == "A"


def test_the_leakage_of_each_report_is_proved(solved):
    page, proof = page_of(solved.mechanism), solved.mechanism.proof
    found = [float(e.attributes["value"]) for e in page.all("data") if e.attributes["data-fact"] == "leakage-of-output"]
    assert max(found) == solved.mechanism.leakage
    for leakage, ratio in zip(found, proof.ratios, strict=True):
        assert math.isclose(leakage, math.log(max(ratio, 1)), abs_tol=1e-12)
    for row, v in zip(page.table("Leakage of each report")[1:], solved.mechanism.numerators.T, strict=True):
        assert row[5] == (
            f"{(v == 0).sum()} categor{'ies' if (v == 0).sum() > 1 else 'y'}" if (v == 0).any() else "none"
        )


@pytest.mark.sampled
@pytest.mark.parametrize("kind", ["ball", "hull", "estimation", "both sides", "worst case", "secret"])
def test_the_comparison_is_that_of_compare(kind):
    solved = designed(kind)
    facts = page_of(solved.mechanism, compare=True).facts
    other = md.compare(solved)
    simple = float(facts["compared-k_ary_randomized_response"])
    assert float(facts["compared-this"]) == solved.value
    assert math.isclose(float(facts["compared-best_ldp"]), other.best_ldp.value, rel_tol=1e-9)
    assert math.isclose(simple, other.k_ary_randomized_response, rel_tol=1e-9)
    assert (other.promise or "weaker than") in page_of(solved.mechanism, compare=True).section("beside")


def test_a_mechanism_under_ldp_is_not_compared_with_itself():
    facts = page_of(designed("ldp").mechanism, compare=True).facts
    assert "compared-this" in facts
    assert "compared-best_ldp" not in facts
    assert "weaker" not in page_of(designed("ldp").mechanism, compare=True).section("beside")


def test_a_comparison_that_reaches_a_limit_says_so(monkeypatch):
    def refuse(*_, **__):
        raise md.LimitError("too many categories for a design")

    monkeypatch.setattr("mechdesign.comparison.rivals.design", refuse)
    page = page_of(designed("ball").mechanism, compare=True)
    rows = page.table("Comparison with other mechanisms")
    assert "not computed: too many categories for a design" in rows[2][0]
    assert rows[2][1] == "not computed"
    assert "compared-best_ldp" not in page.facts


def test_a_comparison_that_runs_out_of_time_says_so():
    mechanism = _laplace_like(20)
    rows = page_of(mechanism, compare=True, check_optimality=False, time_limit=0).table(
        "Comparison with other mechanisms"
    )
    assert "the best one found in the time; none is above" in rows[2][0]


def _laplace_like(size, outputs=None):
    """Return a mechanism of a few reports that is private for every prior, over so many symbols."""
    M = outputs or size
    V = np.exp(-np.abs(np.subtract.outer(np.arange(size) * M / size, np.arange(M))) / M)
    P = np.arange(1, size + 1)
    known = md.L1Ball.from_counts({f"item {i}": int(n) for i, n in enumerate(P)}, delta=1e-3)
    return md.Mechanism.repaired(V / V.sum(axis=1, keepdims=True), md.Guarantee(2, known)).mechanism


def test_without_a_claim_nothing_is_said_of_optimality():
    page = page_of(_laplace_like(4), compare=True, time_limit=5)
    assert "does not claim" in page.section("bound")
    assert "names no objective; the comparison is by mutual information" in page.section("beside")
    assert not {"value", "upper_bound", "gap", "optimal"} & set(page.facts)


def test_a_claim_that_is_not_checked_is_not_stated():
    page = page_of(designed("ball").mechanism, check_optimality=False)
    assert "without checking that claim" in page.section("bound")
    assert not {"value", "upper_bound", "recomputed_upper_bound", "gap", "optimal"} & set(page.facts)


def test_precision_is_that_of_a_plan_of_reports():
    solved = designed("estimation")
    rows = page_of(solved.mechanism).table("Precision of estimates")
    assert rows[0][2:] == ["1,000 reports", "10,000 reports", "100,000 reports"]
    plan = md.plan_reports(solved, reports=1000).mechanisms[0]
    z = NormalDist().inv_cdf(0.975)
    for row, variance in zip(rows[1:-1], plan.variances, strict=True):
        for text, reports in zip(row[2:], (1_000, 10_000, 100_000), strict=True):
            points = 100 * z * math.sqrt(variance / reports)
            assert points <= float(text.removeprefix("± ")) + 1e-9 <= 1.1 * points + 1e-8
    assert float(rows[-1][2].removeprefix("± ")) >= 100 * z * math.sqrt(plan.mean / 1000)


def test_what_reports_do_not_tell_apart_is_named():
    ball = md.L1Ball([0.4, 0.3, 0.2, 0.1], radius=2, labels=["a", "b", "c", "d"])
    V = [[0.75, 0.25], [0.25, 0.75], [0.25, 0.75], [0.25, 0.75]]
    page = page_of(md.Mechanism.from_matrix(V, md.Guarantee("log(3)", ball)))
    told = page.section("estimates")
    assert "No number of reports determines the frequencies of 3 categories of 4" in told
    assert "3 categories of 4 give the same reports" in told
    assert "b, c, d" in told
    rows = page.table("Precision of estimates")
    assert rows[1][2] != "unknown"
    assert [row[2:] for row in rows[2:]] == [["unknown"] * 3] * 4
    page = page_of(designed("accuracy").mechanism)  # one output
    assert "No number of reports determines the frequency of a single category" in page.section("estimates")
    assert "All 3 categories are one group" in page.section("estimates")
    assert "Nothing: with enough reports" in page_of(designed("estimation").mechanism).section("estimates")


@pytest.mark.parametrize(("symbols", "drawn"), [(40, True), (41, False)])
def test_there_is_a_picture_up_to_forty_symbols(symbols, drawn):
    page = page_of(_laplace_like(symbols))
    pictures = [e for e in page.all("svg") if e.attributes.get("role") == "img"]
    assert len(pictures) == drawn
    assert f"{symbols} true categories, {symbols} reports" in page.section("matrix")
    assert ("too many for a picture" in page.section("matrix")) != drawn
    assert len(page.table("Guesses before and after a report")) == 1 + (symbols if drawn else 20)
    assert len(page.table("Precision of estimates")) == 2 + (symbols if drawn else 20)


def test_names_of_reports_are_whole_in_the_picture():
    names = tuple(f"report {place} of a survey" for place in range(3))
    everything = md.Guarantee("log(3)", md.L1Ball([0.5, 0.5], radius=2))
    mechanism = md.Mechanism.from_matrix([[0.5, 0.25, 0.25], [0.25, 0.25, 0.5]], everything, outputs=names)
    assert set(names) <= {e.text for e in page_of(mechanism).all("text")}


@pytest.mark.parametrize(("least", "drawn"), [(0.9e-3, 2), (1.1e-3, 3)])
def test_reports_below_one_in_a_thousand_are_not_drawn(least, drawn):
    matrix = [[0.6 - least, 0.4, least], [0.4, 0.6 - least, least]]
    everything = md.Guarantee(1, md.L1Ball([0.5, 0.5], radius=2))
    mechanism = md.Mechanism.from_matrix(matrix, everything, outputs=["often", "also", "hardly ever"])
    page = page_of(mechanism)
    labels = [e.text for e in page.all("text")]
    assert len(labels) == 2 + drawn
    assert ("hardly ever" in labels) == (drawn == 3)
    said = "1 report, less likely than 0.1 % for every category, is not drawn"
    assert (said in page.section("matrix")) == (drawn == 2)
    assert "hardly ever" in str(page.table("All probabilities"))


def test_many_reports_are_summed_up():
    page = page_of(_laplace_like(60))
    rows = page.table("Leakage of each report")[1:]
    assert len(rows) == 20
    assert max(float(v) for v in page.facts["leakage-of-output"]) == float(page.facts["leakage"])
    assert "20 of 60 reports" in " ".join(c.text for c in page.all("caption"))


@pytest.mark.parametrize("kind", ["ball", "secret on both sides", "estimation", "ldp"])
def test_a_page_is_well_made_and_fetches_nothing(kind):
    text = mechanism_page(designed(kind).mechanism)
    well_made(text)


def test_the_promise_names_its_conditions_before_it_is_made():
    condition = "under the conditions below"
    assert condition in sentence("ball")
    assert condition in sentence("known")
    assert condition in sentence("secret")
    assert condition not in sentence("ldp")
    assert "independent of each other" in page_of(designed("ball").mechanism).section("promise")
    assert "independent of each other" not in page_of(designed("known").mechanism).section("promise")


def test_what_the_file_says_of_itself_is_not_stated_as_a_fact():
    told = page_of(designed("ball").mechanism, check_optimality=False).section("check")
    assert "its guarantee was proved again, not its claim of optimality" in told
    assert "as the file says" in told
    assert "after its claims were proved again" in page_of(designed("ball").mechanism).section("check")


def test_numbers_of_the_promise_are_rounded_to_the_safe_side(solved):
    page = page_of(solved.mechanism)
    shown = {e.attributes["data-fact"]: e for e in page.all("data")}
    for name, safe in [("leakage", 1), ("lower_leakage", 1), ("gap", 1), ("radius", -1)]:
        if name in shown:
            text = shown[name].text.replace(",", "").replace(" × 10^", "e")
            assert safe * float(text) >= safe * float(shown[name].attributes["value"]) * (1 - safe * 1e-15)


def test_a_mechanism_that_tells_nothing_does_not_tell_more_twice():
    nothing = md.Mechanism.from_matrix([[1], [1]], md.Guarantee(1, md.L1Ball([0.5, 0.5], radius=0.1)))
    page = page_of(nothing)
    assert "tells nothing, and several tell nothing either" in page.section("limits")
    assert "Here the only report leaks at most 0 nats" in page.section("leakage")


def test_gains_below_nothing_have_no_share():
    ball = md.L1Ball.from_counts({"never": 812, "former": 150, "current": 38}, delta=1e-9)
    gains = md.ExpectedGain([[-1, -3, -2], [-1, -5, -1], [-2, -1, -4]])
    page = page_of(md.design(md.DesignProblem(ball, 1, gains)).mechanism, compare=True)
    rows = page.table("Comparison with other mechanisms")[1:]
    assert float(rows[1][1]) < float(rows[0][1]) < 0
    assert [row[2] for row in rows] == ["", "", ""]


def test_a_set_of_all_priors_leaves_none_out_whatever_its_delta():
    ball = md.L1Ball.from_counts({"no": 3, "yes": 2}, delta=1e-9, bound="weissman")
    assert ball.holds_every_prior
    told = page_of(md.design(md.DesignProblem(ball, 1)).mechanism).section("promise")
    assert "no frequencies are left out" in told
    assert "nothing is promised" not in told


def test_a_cap_protects_what_a_secret_leaves():
    about = md.SecretPromise([[20, 10, 5], [10, 15, 20]], secret="smoker", useful="income", known=True)
    page = page_of(md.design(md.DesignProblem(about, "0.2", cap=3)).mechanism)
    assert "Protected is smoker under the conditions below, and income by the cap alone." in page.section("promise")
    assert "none lowers the probability of a category by more than 2.99" in page.section("promise")
    assert "as far as it says nothing about smoker, and as far as cap = 3 allows" in page.section("limits")
