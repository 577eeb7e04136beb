"""Samples that are asserted, not shown: whoever reads of a delta is told that it rests on them."""

import json

import pytest
from refusals import raises

import mechdesign as md
from mechdesign.report.mechanism_report import mechanism_page

SAID = "a what-if: it rests on samples that are asserted, not shown"
PRIORS = {
    "l1-ball": """
[prior]
delta = "1e-6"
samples = 300
labels = ["a", "b"]
probabilities = [0.75, 0.25]
""",
    "box": """
[prior]
labels = ["a", "b"]
[prior.box]
delta = "1e-6"
samples = 300
center = [0.75, 0.25]
""",
    "factors": """
[[prior.factors]]
labels = ["a", "b"]
probabilities = [0.75, 0.25]
delta = "1e-6"
samples = 300
[[prior.factors]]
delta = "1e-6"
counts = {c = 70, d = 30}
""",
}


@pytest.fixture(params=PRIORS)
def made(request, here, command):
    """The name of a mechanism file that was designed with samples that nothing shows."""
    text = 'title = "t"\nepsilon = "2"\nutility = "mutual-information"\n' + PRIORS[request.param]
    (here / "p.toml").write_text(text)
    status, out, err = command("design", "p.toml", "-o", "m.json", "--keep-partial")
    assert (status, err) == (0, "")
    assert SAID in " ".join(out.split())
    return "m.json"


@pytest.mark.sampled
def test_the_file_says_it_and_verify_repeats_it(made, here, command):
    text = (here / made).read_text()
    assert '"asserted_samples": 300' in text
    assert '"samples": 300' not in text
    status, out, _ = command("verify", made)
    said = " ".join(out.split())
    assert status == 0
    assert SAID in said
    assert "all claims hold, given the samples that are asserted" in said
    assert json.loads(command("verify", made, "--json")[1])["samples_asserted"] is True
    assert json.loads(command("design", "p.toml", "--json")[1])["samples_asserted"] is True


def test_the_page_and_the_view_say_it(made):
    mechanism = md.Mechanism.load(made)
    assert mechanism.guarantee.uncertainty.asserts_samples
    page = " ".join(mechanism_page(mechanism, compare=False).split())
    assert "That is a what-if: the samples behind it are asserted, not shown." in page
    assert SAID in mechanism._repr_html_()
    assert "asserted" in repr(mechanism) or mechanism.guarantee.uncertainty.kind == "box"


def test_counts_of_samples_say_nothing_of_it(here, command):
    (here / "c.csv").write_text("label,count\na,225\nb,75\n")
    status, out, _ = command("design", "--counts", "c.csv", "--epsilon", "2", "--delta", "1e-6", "-o", "m.json")
    assert status == 0
    assert "asserted" not in out + (here / "m.json").read_text()
    assert "samples_asserted" not in json.loads(command("verify", "m.json", "--json")[1])
    assert "asserted" not in command("verify", "m.json")[1]
    assert "asserted" not in mechanism_page(md.Mechanism.load("m.json"), compare=False)


def test_a_file_whose_counts_are_of_other_samples_is_a_false_claim(here, command):
    """Counts 3 and 1 with 10^9 samples had a radius of .000193 that was proved."""
    (here / "c.csv").write_text("label,count\na,3\nb,1\n")
    assert command("design", "--counts", "c.csv", "--epsilon", "1", "--delta", "1e-9", "-o", "m.json")[0] == 0
    table = json.loads((here / "m.json").read_text())
    table["guarantee"]["samples"] = 10**9
    (here / "m.json").write_text(json.dumps(table))
    status, _, err = command("verify", "m.json")
    assert status == 1
    assert "claimed with 1000000000 samples, and the counts are of 4; the claimed delta is false" in err
    (here / "p.toml").write_text(
        'title = "t"\nepsilon = 1\n[prior]\ndelta = "1e-9"\nsamples = 1000000000\ncounts = {a = 3, b = 1}\n'
    )
    status, _, err = command("design", "p.toml")
    assert status == 2
    assert "p.toml: the counts are of 4 samples, and samples is 1000000000" in err


def test_noise_for_a_histogram_rests_on_samples_that_exist():
    ball = md.L1Ball.from_probabilities([0.5, 0.5], samples=10**6, delta="1e-6")
    with raises("set-not-accepted"):
        md.histogram.LaplacePlan.of(epsilon=1, alpha=ball)
