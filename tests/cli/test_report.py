"""``mechdesign report``: a page for what proves, and none for what does not."""

import hashlib
import json
from pathlib import Path

import pytest

import mechdesign as md
from mechdesign.adapters.deployments_registry import registry_entry
from mechdesign.histogram import DiscretePlan
from mechdesign.report import Origin


@pytest.fixture
def here(here, two_levels):
    two_levels.save("m.json")
    two_levels.save("m.npz")
    Path("r.json").write_text(DiscretePlan.of(3, epsilon=1, delta="1e-6", sigma=8).record().to_json())
    return here


@pytest.mark.parametrize(("file", "kind"), [("m.json", "mechanism"), ("m.npz", "mechanism"), ("r.json", "histogram")])
def test_the_kind_of_the_file_is_seen(command, file, kind):
    status, out, err = command("report", file, "-o", "page.html", "--json")
    assert (status, err) == (0, "")
    told, page = json.loads(out), Path("page.html").read_bytes()
    assert told == {
        "schema": "mechdesign/report/1",
        "kind": kind,
        "file": file,
        "sha256": hashlib.sha256(Path(file).read_bytes()).hexdigest(),
        "output": "page.html",
        "bytes": len(page),
    }
    assert told["sha256"] in page.decode()
    assert f"about a {kind}" in command("report", file, "-o", "page.html")[1]


def test_what_is_left_out(command):
    command("report", "m.json", "-o", "whole.html")
    command("report", "m.json", "-o", "short.html", "--no-compare", "--guarantee-only")
    whole, short = (Path(name).read_text() for name in ("whole.html", "short.html"))
    assert "randomized response" in whole
    assert 'data-fact="upper_bound"' in whole
    assert "randomized response" not in short
    assert 'data-fact="upper_bound"' not in short


def test_a_certificate_is_that_of_a_mechanism_in_json(refused):
    Path("M.v").write_text("")
    refused("usage", "report", "r.json", "-o", "page.html", "--certificate", "M.v", shown="record of a histogram")
    refused("wrong-file-format", "report", "m.npz", "-o", "page.html", "--certificate", "M.v", shown="NPZ")


def test_pages_go_through_pipes(command, monkeypatch):
    status, out, err = command("report", "m.json", "-o", "-", "--no-compare")
    assert status == 0
    assert out.startswith("<!DOCTYPE html>")
    assert "standard output" in err
    assert command("report", "m.json", "-o", "-", "--json")[0] == 2


def _edited(source, path, change):
    record = json.loads(Path(source).read_text())
    change(record)
    Path(path).write_text(json.dumps(record))


@pytest.mark.parametrize(
    ("source", "change", "code"),
    [
        ("m.json", lambda r: r["guarantee"].update(epsilon="0.5"), "guarantee-false"),
        ("m.json", lambda r: r["optimality"].update(upper_bound=r["optimality"]["value"]), "optimality-false"),
        ("m.json", lambda r: r["optimality"].update(value=1), "optimality-false"),
        ("r.json", lambda r: r.update(epsilon="0.5"), "guarantee-false"),
        ("r.json", lambda r: r.update(delta=1e-12), "guarantee-false"),
    ],
)
def test_what_does_not_prove_gives_no_page(refused, source, change, code):
    _edited(source, "false.json", change)
    refused(code, "report", "false.json", "-o", "page.html")
    Path("page.html").write_text("an earlier page")
    refused(code, "report", "false.json", "-o", "page.html")


@pytest.mark.parametrize(
    ("arguments", "code", "shown"),
    [
        (("m.json",), "usage", "Missing option"),
        (("m.json", "-o", "page.pdf"), "wrong-file-ending", ""),
        (("absent.json", "-o", "page.html"), "cannot-read", ""),
        (("bad.json", "-o", "page.html"), "wrong-file-format", ""),
        (("list.json", "-o", "page.html"), "bad-field", ""),
        (("record.json", "-o", "page.html"), "missing-key", ""),
        (("m.json", "-o", "nowhere/page.html"), "cannot-write", ""),
        (("m.json", "-o", "page.html", "--time-limit", "soon"), "usage", "'soon' is not a valid float"),
        (("m.json", "-o", "page.html", "--time-limit", "-1"), "out-of-range", ""),
        (("m.json", "-o", "entry.html", "--registry"), "wrong-file-ending", ".yaml"),
        (("m.json", "-o", "entry.json", "--registry", "--no-compare"), "usage", "--registry"),
        (("r.json", "-o", "entry.json", "--registry"), "bad-field", "mechdesign/mechanism/1"),
        (("bad.json", "-o", "entry.json", "--registry"), "wrong-file-format", ""),
    ],
)
def test_bad_input_is_refused_in_one_line(refused, arguments, code, shown):
    Path("bad.json").write_text("{")
    Path("list.json").write_text('["mechdesign/histogram-record/1"]')
    Path("record.json").write_text('{"schema": "mechdesign/histogram-record/1"}')
    refused(code, "report", *arguments, shown=shown)


def test_a_page_does_not_replace_its_source(refused):
    Path("m.html").write_bytes(Path("m.json").read_bytes())
    refused("same-file", "report", "m.html", "-o", "m.html")


def test_a_design_makes_its_page(command, two_levels):
    solved = md.design(md.DesignProblem(two_levels.guarantee.uncertainty, 1))
    text = solved.report("page.html", compare=False)
    assert Path("page.html").read_text(encoding="utf-8") == text
    solved.mechanism.save("mechanism.json")
    command("report", "mechanism.json", "-o", "other.html", "--no-compare")
    assert Path("other.html").read_text(encoding="utf-8") == text
    assert text == solved.report(compare=False)


def test_the_draft_for_the_registry_is_that_of_the_mechanism(command, two_levels, refused):
    status, out, _ = command("report", "m.json", "--registry", "--title", "Levels", "-o", "entry.yaml", "--json")
    assert status == 0
    written = Path("entry.yaml").read_bytes()
    assert (json.loads(out)["kind"], json.loads(out)["bytes"]) == ("mechanism", len(written))
    origin = Origin.of(Path("m.json").read_bytes(), "m.json")
    found = md.verify(two_levels)
    assert json.loads(written) == registry_entry(two_levels, origin, title="Levels", found=found)
    status, out, _ = command("report", "m.json", "--registry", "-o", "entry.yaml")
    assert "whose notes list what to fill in" in " ".join(out.split())
    _edited("m.json", "false.json", lambda r: r["guarantee"].update(epsilon="0.5"))
    refused("guarantee-false", "report", "false.json", "--registry", "-o", "none.json")
