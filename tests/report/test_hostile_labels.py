"""Labels, titles and names of files are the text of others: pages show them, and neither obey nor hide them."""

import json

import numpy as np
import pytest
from pages import well_made

import mechdesign as md
from mechdesign.errors import printable
from mechdesign.histogram import DiscretePlan
from mechdesign.mechanism import Optimality, Provenance
from mechdesign.report import Origin, mechanism_page, record_page

HOSTILE = (
    "<script>alert(1)</script>",
    '"><img src=x onerror=alert(2)>',
    "</title><style>*{display:none}</style>",
    "</style></script>]]>-->",
    "{{ 7*7 }}{% raw %}",
    "&lt;b&gt;&amp;",
    "\u202egnp.exe",
    "\u2067right to left\u2066",
    "zero\u200bwidth\u2028line",
    "e\u0301\u0335\u0327" * 40,
    "a" * 200,
    "https://example.org/?q='\"",
    "javascript:alert(3)",
    "שלום",
)
OBEYED = "\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069\u200b\u200e\u200f\u2028\u2029"


def randomized_response(labels, outputs=None, provenance=None):
    N = len(labels)
    V = np.full((N, N), 1 / (N + 2)) + np.eye(N) * 2 / (N + 2)
    known = md.L1Ball([f"1/{N}"] * N, 2, labels)
    found = md.Mechanism.from_matrix(V, md.Guarantee("log(3)", known), outputs=outputs or labels)
    return md.Mechanism(*found.parts._replace(provenance=provenance))


def test_labels_are_text():
    made = Provenance("<i>0</i>", "<b>method</b>\u202e", "<h1>title</h1>\u202e")
    mechanism = randomized_response(HOSTILE, [f"out {label}" for label in HOSTILE], made)
    origin = Origin.of(b"", "<img src=y>\u202e $(reboot).json")
    text = mechanism_page(mechanism, origin, time_limit=1)
    page = well_made(text)
    assert not set(OBEYED) & set(text)
    shown = {e.text for e in page.all("bdi")}
    assert {printable(label) for label in HOSTILE} <= shown
    assert {printable(f"out {label}") for label in HOSTILE} <= shown
    assert page.all("h1")[0].text == r"<h1>title</h1>\u202e"
    (title,) = [e for e in page.all("title") if e.parents[-1] == "head"]
    assert title.text == r"<h1>title</h1>\u202e: what is promised"
    assert "mechdesign <i>0</i>, method: <b>method</b>" in page.section("check")
    assert "mechdesign verify mechanism.json" in page.section("check")  # a name that cannot be printed is not a command


@pytest.mark.parametrize(
    ("name", "argument"),
    [
        ("m.json", "m.json"),
        ("a b.json", "'a b.json'"),
        ("$(reboot).json", "'$(reboot).json'"),
        ("--json", "./--json"),
        ("-", "mechanism.json"),
        ("\udc80.json", "mechanism.json"),
        ("x" * 300, "mechanism.json"),
    ],
)
def test_the_name_of_a_file_is_one_argument_of_the_command(name, argument):
    assert Origin.of(b"", name).argument == argument


def test_the_names_of_columns_are_text():
    known = md.SecretPromise(
        [[3, 1], [1, 3]], secret="<b>secret</b>\u202e", useful="</style>useful", values=["a", "b"], known=True
    )
    found = md.design(md.DesignProblem(known, "0.2")).mechanism
    text = mechanism_page(found, compare=False)
    page = well_made(text)
    assert r"guess about that person’s <b>secret</b>\u202e" in page.section("promise")
    assert not set(OBEYED) & set(text)


def test_an_objective_of_another_package_is_text():
    class Named(md.MutualInformation):
        name = "<script>objective</script>"

    solved = md.design(md.DesignProblem(md.L1Ball([0.5, 0.3, 0.2]), 1))
    claim = solved.mechanism.optimality
    named = Optimality(Named(), claim.value, claim.bound, claim.multipliers)
    text = mechanism_page(md.Mechanism(*solved.mechanism.parts._replace(optimality=named)))
    assert "the objective <script>objective</script>" in well_made(text).section("bound")


@pytest.mark.sampled
@pytest.mark.parametrize("letter", ["&", "<", "\U0001f600", "\u202e"])
def test_the_longest_labels_fit_into_a_megabyte(letter):
    text = mechanism_page(
        randomized_response([letter * 990 + f"{i:09d}" for i in range(40)]), compare=False, check_optimality=False
    )
    well_made(text)


@pytest.mark.slow
def test_a_thousand_symbols_fit_too():
    labels = [f"<b>{i}</b>" + "&\u202e" * 100 for i in range(1000)]
    V = np.where(np.arange(1000)[:, None] % 2 == np.arange(2), 0.75, 0.25)
    known = md.L1Ball(["1/1000"] * 1000, 2, labels)
    mechanism = md.Mechanism.from_matrix(V, md.Guarantee("log(3)", known))
    page = well_made(mechanism_page(mechanism, compare=False))
    assert "1,000 categories of 1,000 give the same reports" in page.section("estimates")
    assert "and 488 more" in page.section("estimates")


def test_what_a_record_says_freely_is_text():
    plan = DiscretePlan.of(3, epsilon=1, delta="1e-6", sigma=8)
    record = json.loads(plan.record(randomness="<b>dice</b>\u202e", post_processing="<script>x</script>").to_json())
    record |= {
        "notion": "<i>perfect privacy</i>",
        "not_protected": ["nothing"],
        "neighbours": "none",
        "source": "trust",
    }
    text = record_page(json.dumps(record).encode(), "<u>r</u>.json")
    page = well_made(text)
    assert r"<b>dice</b>\u202e, as the record says" in page.section("noise")
    assert "<script>x</script>, as the record says" in page.section("noise")
    for own in ("perfect privacy", "nothing,", "trust"):  # the words of the guarantee are those of the mechanism
        assert own not in text
    assert plan.neighbours in page.section("promise")
