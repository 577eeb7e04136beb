"""Pages in a real browser: no message, no request, nothing wider than the window, nothing that axe-core finds wrong.

Needs Playwright and Chromium (CHROMIUM names another program than ``chromium``); AXE_CORE names the file axe.min.js,
without which the checks of accessibility are left out.
"""

import functools
import http.server
import os
import shutil
import threading
from pathlib import Path

import numpy as np
import pytest
from paged_designs import designed

import mechdesign as md
from mechdesign.cli.records_report import records_page
from mechdesign.histogram import DiscretePlan
from mechdesign.records import views_of
from mechdesign.report import Origin, mechanism_page, record_page

sync_api = pytest.importorskip("playwright.sync_api")
CHROMIUM = shutil.which(os.environ.get("CHROMIUM", "chromium"))
AXE = os.environ.get("AXE_CORE", "")
pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="Chromium is not installed")
FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
WIDTHS = (360, 1440)
HOSTILE = ("<script>alert(1)</script>", "a" * 200, "\u202eright to left", "e\u0301\u0335\u0327" * 40, "W" * 60, "שלום")


def _wide(inputs, outputs, labels=None):
    """Return a mechanism of many symbols, private for every prior."""
    V = np.exp(-np.abs(np.subtract.outer(np.arange(inputs) * outputs / inputs, np.arange(outputs))) / outputs)
    known = md.L1Ball([f"1/{inputs}"] * inputs, 2, labels or [f"item {i}" for i in range(inputs)])
    return md.Mechanism.repaired(V / V.sum(axis=1, keepdims=True), md.Guarantee(2, known)).mechanism


def _record():
    plan = DiscretePlan.of(3, epsilon=1, delta="1e-6", sigma=8)
    return record_page(plan.record(randomness="r" * 300, post_processing="<b>sorted</b>").to_json().encode())


def _views():
    rng = np.random.default_rng(2)
    records = {name: rng.choice(["yes", "no", HOSTILE[place]], 500).tolist() for place, name in enumerate("abc")}
    found = md.design_records(views_of(records, groups=["a+b"]), 1, delta="1e-6")
    return records_page(found.mechanism, Origin.of(b"{}", HOSTILE[0]), records)


MAKERS = {
    "a ball": lambda: mechanism_page(designed("ball").mechanism),
    "estimation": lambda: mechanism_page(designed("estimation").mechanism),
    "a secret on both sides": lambda: mechanism_page(designed("secret on both sides").mechanism),
    "a product": lambda: mechanism_page(designed("product").mechanism),
    "hostile labels": lambda: mechanism_page(_wide(6, 5, HOSTILE), compare=False),
    "forty categories": lambda: mechanism_page(_wide(40, 12), compare=False),
    "many reports": lambda: mechanism_page(_wide(20, 150), compare=False),
    "many categories": lambda: mechanism_page(_wide(120, 90), compare=False),
    "a histogram": _record,
    "views of records": _views,
}


@functools.cache
def page_of(name):
    return MAKERS[name]()


@pytest.fixture(scope="module")
def browser():
    with sync_api.sync_playwright() as playwright:
        found = playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        yield found
        found.close()


@pytest.fixture(params=MAKERS)
def place(request, tmp_path):
    path = tmp_path / "page.html"
    path.write_text(page_of(request.param), encoding="utf-8")
    return path.as_uri()


@pytest.fixture
def opened(browser):
    """Open an address in a window, with the requests and the messages that it leads to."""
    contexts = []

    def open_page(place, width=1440, scheme="light"):
        context = browser.new_context(viewport={"width": width, "height": 800}, color_scheme=scheme)
        contexts.append(context)
        page, requests, messages = context.new_page(), [], []
        page.on("request", lambda request: requests.append(request.url))
        page.on("console", lambda message: messages.append(message.text))
        page.on("pageerror", lambda error: messages.append(str(error)))
        page.on("dialog", lambda dialog: messages.append(dialog.message))
        page.goto(place)
        return page, requests, messages

    yield open_page
    for context in contexts:
        context.close()


@pytest.mark.parametrize("width", WIDTHS)
def test_a_page_says_fetches_and_overflows_nothing(opened, place, width):
    page, requests, messages = opened(place, width)
    assert requests == [place]
    assert messages == []
    assert page.evaluate("document.documentElement.scrollWidth") == width
    page.evaluate("for (const e of document.querySelectorAll('details')) e.open = true")
    assert page.evaluate("document.documentElement.scrollWidth") == width
    assert page.evaluate("getComputedStyle(document.body).maxWidth") != "none"  # the policy lets the style in


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.skipif(not AXE, reason="AXE_CORE names no file")
def test_axe_core_finds_nothing(opened, place, width, scheme):
    page, _, _ = opened(place, width, scheme)
    page.evaluate("for (const e of document.querySelectorAll('details')) e.open = true")
    page.evaluate(Path(AXE).read_text(encoding="utf-8"))
    found = page.evaluate("axe.run(document)")
    assert [(rule["id"], rule["nodes"][0]["html"][:200]) for rule in found["violations"]] == []
    assert len(found["passes"]) > 20
    # Of texts that axe-core cannot see for sure, those outside of the part of a table that is shown, the colours are
    # those of the page.
    assert {rule["id"] for rule in found["incomplete"]} <= {"color-contrast"}


def luminance(colour):
    parts = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    linear = [p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4 for p in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


@pytest.mark.parametrize(("scheme", "media"), [("light", "screen"), ("dark", "screen"), ("dark", "print")])
def test_every_colour_of_text_has_contrast(opened, tmp_path, scheme, media):
    (tmp_path / "page.html").write_text(page_of("a histogram"), encoding="utf-8")
    page, _, _ = opened((tmp_path / "page.html").as_uri(), scheme=scheme)
    page.emulate_media(media=media)
    names = ("paper", "soft", "ink", "muted", "accent", "warn")
    style = "n => getComputedStyle(document.documentElement).getPropertyValue('--' + n).trim()"
    colours = {name: luminance(page.evaluate(style, name)) for name in names}
    assert (colours["paper"] < colours["ink"]) == (scheme == "dark" and media == "screen")
    for ground in ("paper", "soft"):
        for text in ("ink", "muted", "accent", "warn"):
            low, high = sorted((colours[ground], colours[text]))
            assert (high + 0.05) / (low + 0.05) >= 4.5, (ground, text)


def test_a_page_prints_on_whole_sheets(opened, place):
    page, _, _ = opened(place)
    page.emulate_media(media="print")
    printable = 688  # of A4 with margins of 14 mm, at 96 to the inch
    page.set_viewport_size({"width": printable, "height": 900})
    assert page.evaluate("document.documentElement.scrollWidth") <= printable
    assert page.evaluate("getComputedStyle(document.querySelector('nav')).display") == "none"
    for picture in page.query_selector_all("svg.picture"):
        assert picture.bounding_box()["width"] <= printable
    assert page.pdf(format="A4").startswith(b"%PDF")


def test_a_page_that_is_served_fetches_nothing_either(opened, tmp_path):
    (tmp_path / "page.html").write_text(page_of("hostile labels"), encoding="utf-8")
    asked = []

    class Handler(http.server.SimpleHTTPRequestHandler):
        def __init__(self, *arguments, **keywords):
            super().__init__(*arguments, directory=str(tmp_path), **keywords)

        def log_request(self, *_):
            asked.append(self.path)

        def log_message(self, *_):
            pass

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        _, _, messages = opened(f"http://127.0.0.1:{server.server_port}/page.html")
        server.shutdown()
    assert asked == ["/page.html"]
    assert messages == []


def test_labels_run_nothing_and_are_read_in_full(opened, tmp_path):
    (tmp_path / "page.html").write_text(page_of("hostile labels"), encoding="utf-8")
    page, _, messages = opened((tmp_path / "page.html").as_uri())
    shown = page.eval_on_selector_all("bdi.label", "found => found.map(e => e.textContent)")
    assert "<script>alert(1)</script>" in shown
    assert "a" * 200 in shown
    assert "\\u202eright to left" in shown
    assert messages == []
    assert page.query_selector("script") is None
