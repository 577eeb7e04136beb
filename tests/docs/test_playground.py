"""The playground: what its grid says is what the package says, and the page shows it in a real browser."""

import json
import os
import runpy
import shutil
from pathlib import Path

import numpy as np
import pytest

import mechdesign as md

ROOT = Path(__file__).parents[2]
MADE = runpy.run_path(str(ROOT / "docs" / "_ext" / "playground.py"))
COUNTS = "commute: 4 categories, 1,000 answers"
SMALL = {
    "examples": {COUNTS: MADE["EXAMPLES"][COUNTS], "two": {"<yes>": 30, "no": 70}},
    "epsilons": ("0.5", "1"),
    "deltas": ("1e-9",),
}
SECTION = '<section id="playground"><h1>Playground</h1>'  # as Sphinx wraps the page
CHROMIUM = shutil.which(os.environ.get("CHROMIUM", "chromium"))


@pytest.fixture(scope="module")
def found():
    return MADE["grid"](**SMALL)


def test_every_choice_has_a_design_whose_file_proves_what_the_page_says(found, tmp_path):
    choices = found["choices"]
    assert len(found["designs"]) == len(choices["counts"]) * len(choices["epsilon"]) * len(choices["objective"]) == 8
    for chosen, design in found["designs"].items():
        _, epsilon, delta, _ = chosen.split("|")
        (tmp_path / "mechanism.json").write_text(design["file"])
        mechanism = md.Mechanism.load(tmp_path / "mechanism.json")
        assert (mechanism.guarantee.epsilon.text, str(mechanism.guarantee.uncertainty.delta)) == (
            epsilon,
            "1/1000000000" if delta == "1e-9" else delta,
        )
        assert design["leakage"] == mechanism.leakage <= float(epsilon)
        np.testing.assert_array_equal(design["matrix"], mechanism.matrix)
        assert md.verify(mechanism).optimal is design["certified"] is True


def test_respondents_are_those_of_the_largest_variance(found):
    """By the law of the reports: n times the variance of the weighted least squares estimate, over 0.01^2."""
    design = found["designs"][f"{COUNTS}|1|1e-9|least error of shares"]
    K, P = np.array(design["matrix"]), np.array(design["shares"])
    used = K[:, P @ K > 0]
    covariance = np.linalg.inv((used / (P @ used)) @ used.T) - np.outer(P, P)
    assert design["respondents"][0][1] == int(np.ceil(covariance.diagonal().max() / 1e-4 - 1e-6))


def test_the_page_names_the_files_that_the_site_has():
    page = (ROOT / "docs" / "playground.md").read_text(encoding="utf-8")
    assert f"_static/{MADE['FILE']}" in page
    assert (ROOT / "docs" / "_static" / "playground.js").is_file()


@pytest.fixture(scope="module")
def opened(found, tmp_path_factory):
    sync_api = pytest.importorskip("playwright.sync_api")
    if CHROMIUM is None:
        pytest.skip("Chromium is not installed")
    folder = tmp_path_factory.mktemp("site")
    (folder / "_static").mkdir()
    for name in ("playground.js", "site.css"):
        shutil.copy(ROOT / "docs" / "_static" / name, folder / "_static")
    (folder / "_static" / MADE["FILE"]).write_text(MADE["script"](found), encoding="utf-8")
    page = (ROOT / "docs" / "playground.md").read_text(encoding="utf-8")
    body = page.split("```{raw} html\n")[1].split("```")[0]
    head = '<meta charset="utf-8"><title>p</title><link rel="stylesheet" href="_static/site.css">'
    (folder / "page.html").write_text(
        f'<!DOCTYPE html><html lang="en"><head>{head}</head><body>{SECTION}{body}</section></body></html>'
    )
    with sync_api.sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox", "--disable-gpu"])
        window = browser.new_page(viewport={"width": 360, "height": 800})
        requests, messages = [], []
        window.on("request", lambda request: requests.append(request.url))
        window.on("console", lambda message: messages.append(message.text))
        window.on("pageerror", lambda error: messages.append(str(error)))
        window.goto((folder / "page.html").as_uri())
        yield window, requests, messages
        browser.close()


def choose(window, **chosen):
    for name, value in chosen.items():
        window.select_option(f'select[name="{name}"]', value)


def cells(window, caption):
    table = window.locator(f'#playground-designs table:has(caption:has-text("{caption}"))')
    return [row.locator("th, td").all_inner_texts() for row in table.locator("tbody tr").all()]


def test_the_page_shows_what_is_chosen(opened, found, tmp_path):
    window, requests, messages = opened
    for objective in found["choices"]["objective"]:
        choose(window, counts=COUNTS, epsilon="0.5", objective=objective)
        design = found["designs"][f"{COUNTS}|0.5|1e-9|{objective}"]
        shown = cells(window, "The mechanism")
        assert [row[0] for row in shown] == list(design["categories"])
        for row, expected in zip(shown, design["matrix"], strict=True):
            for text, share in zip(row[1:], expected, strict=True):
                assert abs(float(text.removeprefix("<")) - 100 * share) <= 0.0501
        needed = dict(cells(window, "Respondents"))
        for name, number in design["respondents"]:
            assert needed[name] == ("no number is enough" if number is None else f"{number:,}")
        with window.expect_download() as caught:
            window.click("text=Download the mechanism file")
        caught.value.save_as(tmp_path / "mechanism.json")
        assert (tmp_path / "mechanism.json").read_text() == design["file"]
        assert md.Mechanism.load(tmp_path / "mechanism.json").guarantee.epsilon.text == "0.5"
    assert messages == []
    assert window.inner_text("h1") == "Playground"
    assert [url for url in requests if not url.startswith(("file:", "blob:"))] == []
    assert window.evaluate("document.documentElement.scrollWidth") <= 360


def test_a_report_tells_by_bayes(opened, found):
    window, _, messages = opened
    choose(window, counts=COUNTS, epsilon="1", objective="least error of shares")
    design = found["designs"][f"{COUNTS}|1|1e-9|least error of shares"]
    K, P = np.array(design["matrix"]), np.array(design["shares"])
    for place in range(len(design["outputs"])):
        window.click(f'[aria-label="report {place + 1}"]')
        factors = [float(row[3]) for row in cells(window, f"What report {place + 1} tells")]
        np.testing.assert_allclose(factors, K[:, place] / (P @ K[:, place]), rtol=0, atol=0.00501)
        assert max(factors) <= np.exp(1) + 0.005
    assert "more than 2.72 times" in window.inner_text("#playground-designs")
    assert messages == []


def test_categories_are_shown_as_text(opened):
    window, _, messages = opened
    choose(window, counts="two")
    assert [row[0] for row in cells(window, "The mechanism")] == ["<yes>", "no"]
    assert messages == []
    assert json.loads(window.evaluate("JSON.stringify(window.MECHDESIGN_PLAYGROUND.choices.epsilon)")) == ["0.5", "1"]
