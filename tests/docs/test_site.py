"""The site's reference has every public name once, and its pages lead somewhere."""

import runpy
import tomllib
from pathlib import Path
from types import SimpleNamespace

import pytest

ROOT = Path(__file__).parents[2]
NAMES = runpy.run_path(str(ROOT / "docs" / "_ext" / "public_names.py"))
PLAIN = runpy.run_path(str(ROOT / "docs" / "_ext" / "plain_text.py"))


def test_every_public_name_is_described_once():
    modules = NAMES["public_modules"]()
    described = [(name, key) for name, here, _ in NAMES["homes"](modules) for key in here]
    assert len(described) == len(set(described))
    found = {id(getattr(modules[name], key)) for name, key in described}
    for name, module in modules.items():
        for key in module.__all__:
            value = getattr(module, key)
            assert id(value) in found or value in modules.values(), f"{name}.{key}"


def test_the_modules_are_those_whose_names_are_public():
    house = runpy.run_path(str(ROOT / "tests" / "test_house.py"))
    assert sorted(NAMES["public_modules"]()) == sorted(house["PUBLIC"])


def test_the_index_of_the_reference_has_a_sentence_for_each_module():
    modules = NAMES["public_modules"]()
    lines = NAMES["list_of"](modules).splitlines()
    assert [line.split("](")[0].removeprefix("- [") for line in lines] == list(modules)
    assert [line for line in lines if len(line.split(": ", 1)[1]) < 20] == []


@pytest.mark.parametrize("kind", ["explanation", "how-to", "tutorials"])
def test_an_index_lists_every_page_of_its_kind(kind):
    pages = {page.stem for page in (ROOT / "docs" / kind).glob("*.md")} - {"index"}
    listed = set((ROOT / "docs" / kind / "index.md").read_text(encoding="utf-8").splitlines())
    assert pages <= listed


def test_the_gallery_draws_every_picture():
    page = (ROOT / "docs" / "reference" / "pictures.md").read_text(encoding="utf-8")
    from mechdesign import plot

    assert [name for name in plot.__all__ if f"md.plot.{name}(" not in page or f"`{name}`: " not in page] == []


def test_formulas_of_docstrings_are_shown_as_they_stand():
    lines = [
        "One line.",
        "",
        "It is",
        "",
        "    a |b| *c*",
        "",
        "    d",
        "",
        "no more.",
        "",
        "Parameters",
        "---------",
        "a",
    ]
    PLAIN["formulas"](None, "", "", None, None, lines)
    assert lines[:9] == ["One line.", "", "It is", "", ".. code-block:: none", "", "    a |b| *c*", "", "    d"]
    assert lines[9:] == ["", "no more.", "", "Parameters", "---------", "a"]


def test_asterisks_of_help_texts_are_shown():
    lines = ["all of *.csv, and **bold**"]
    PLAIN["asterisks"](None, None, lines)
    assert lines == [r"all of \*.csv, and **bold**"]


@pytest.mark.parametrize(
    ("link", "read"),
    [
        ("[a](words.md#x)", "[a](words.md#x)"),
        ("[a](../limits.md#x)", "[a](../limits.md#x)"),
        ("[a](../../pyproject.toml)", "[a](path:../../pyproject.toml)"),
        ("[a](../../benchmarks/README.md#x)", "[a](path:../../benchmarks/README.md)"),
        ("[a b](../../problems)", "a b"),
    ],
)
def test_links_out_of_the_site_become_files_of_it(link, read):
    class App:
        srcdir = ROOT / "docs"

        class env:  # noqa: N801 - as Sphinx calls it
            @staticmethod
            def doc2path(name):
                return ROOT / "docs" / f"{name}.md"

    content = [link]
    runpy.run_path(str(ROOT / "docs" / "_ext" / "outside_links.py"))["rewrite"](App, "explanation/words", content)
    assert content == [read]


def test_a_command_that_fails_ends_its_cell():
    """The settings name what kernels begin with; that it ends a build of the site is tried by `.ci/run`."""
    shell = SimpleNamespace()
    runpy.run_path(str(ROOT / "docs" / "_ext" / "kernel_start.py"), {"get_ipython": lambda: shell})
    assert shell.system_raise_on_error is True
    assert '"PYTHONSTARTUP": str(DOCS / "_ext" / "kernel_start.py")' in (ROOT / "docs" / "conf.py").read_text()


def test_the_extra_holds_what_the_settings_of_the_site_load():
    extra = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]["docs"]
    named = {text.split(">=")[0].replace("-", "_") for text in extra}
    settings = (ROOT / "docs" / "conf.py").read_text()
    own = {path.stem for path in (ROOT / "docs" / "_ext").glob("*.py")}
    loaded = settings.split("extensions = [")[1].split("]")[0].replace('"', "").replace(",", "").split()
    for name in loaded:
        assert name in own or name.startswith("sphinx.ext.") or name in named, name
    assert "pydata_sphinx_theme" in named
