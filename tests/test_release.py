"""What an index shows of a release, by the address that its repository has when it is built."""

import re
import shutil
import subprocess
import sys
import tarfile
import tomllib
from email import message_from_string
from pathlib import Path
from zipfile import ZipFile

import pytest
from hatchling.build import build_sdist, build_wheel, prepare_metadata_for_build_wheel
from markdown_it import MarkdownIt

import mechdesign as md
from mechdesign.version import __version__

ROOT = Path(__file__).parent.parent
README = (ROOT / "README.md").read_text(encoding="utf-8")
ADDRESS = "https://forge.example/us/mechdesign"
SHAPES = {
    "forgejo": (f"src/tag/v{__version__}", f"raw/tag/v{__version__}", "issues"),
    "github": (f"blob/v{__version__}", f"raw/v{__version__}", "issues"),
    "gitlab": (f"-/blob/v{__version__}", f"-/raw/v{__version__}", "-/issues"),
}


@pytest.fixture
def metadata(tmp_path, monkeypatch):
    """Return what a wheel of a tree says of itself, with no address but the given one."""
    monkeypatch.delenv("MECHDESIGN_FORGE", raising=False)

    def read(address=None, tree=ROOT, forge=None):
        monkeypatch.delenv("MECHDESIGN_REPOSITORY", raising=False)
        for name, value in (("MECHDESIGN_REPOSITORY", address), ("MECHDESIGN_FORGE", forge)):
            if value is not None:
                monkeypatch.setenv(name, value)
        monkeypatch.chdir(tree)
        folder = prepare_metadata_for_build_wheel(str(tmp_path))
        return (tmp_path / folder / "METADATA").read_text(encoding="utf-8")

    return read


def pieces(text):
    """Return what is in every line and cell of a page, in its order: text, links, images."""
    found = []
    for token in MarkdownIt().enable("table").parse(text):
        found += [(token.type, token.content, {})] if token.type == "fence" else []
        found += [(child.type, child.content, child.attrs) for child in token.children or []]
    return found


def test_the_oldest_python_that_is_named_is_the_oldest_that_is_accepted():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    named = [found[1] for text in project["classifiers"] if (found := re.search(r":: (3\.\d+)$", text))]
    assert named[0] == project["requires-python"].removeprefix(">=") == "3.11"
    for name in ("README.md", "docs/index.md"):
        assert re.search(rf"Python {named[0]} or (later|newer)", (ROOT / name).read_text(encoding="utf-8")), name


def test_the_readme_and_the_site_lead_to_each_other():
    assert "](docs/index.md)" in README
    assert "](../README.md)" in (ROOT / "docs" / "index.md").read_text(encoding="utf-8")


def test_the_citation_is_of_this_version():
    assert f"\nversion: {__version__}\n" in (ROOT / "CITATION.cff").read_text(encoding="utf-8")


def is_relative(address):
    return not address.startswith("https:")


@pytest.mark.parametrize("forge", [None, *SHAPES])
def test_links_and_images_lead_to_the_tag(forge, metadata):
    page, raw, issues = (f"{ADDRESS}/{part}" for part in SHAPES[forge or "github"])
    expected, seen = [], {"href": 0, "src": 0}
    for kind, content, attributes in pieces(README):
        absolute = dict(attributes)
        for name, base in (("href", page), ("src", raw)):
            if is_relative(absolute.get(name, "https:")):
                absolute[name] = f"{base}/{absolute[name]}"
                seen[name] += 1
        expected.append((kind, content, absolute))
    said = message_from_string(metadata(ADDRESS, forge=forge))
    assert pieces(said.get_payload()) == expected
    assert seen["href"] > 20
    assert seen["src"] == README.count("\n![") > 0
    assert said["Description-Content-Type"] == "text/markdown"
    assert said.get_all("Project-URL") == [
        f"Source, {ADDRESS}",
        f"Documentation, {page}/docs/index.md",
        f"Changelog, {page}/CHANGELOG.md",
        f"Issues, {issues}",
    ]


def test_without_an_address_links_are_text_and_images_are_left_out(metadata):
    said = message_from_string(metadata())
    expected, link = [], None
    for kind, content, attributes in pieces(README):
        if kind == "link_open":
            link = attributes["href"]
        if not (kind == "image" or (kind in ("link_open", "link_close") and is_relative(link))):
            expected.append((kind, content, attributes))
    found = pieces(said.get_payload())
    assert joined(found) == joined(expected)
    assert {attributes["href"] for kind, _, attributes in found if kind == "link_open"} == {
        "https://doi.org/10.48550/arXiv.2412.10357"
    }
    assert said.get_all("Project-URL") is None
    assert said.get_all("Dynamic") is None


def joined(found):
    """Return pieces with texts that follow each other as one."""
    merged = []
    for kind, content, attributes in found:
        if merged and merged[-1][0] == kind == "text":
            merged[-1] = (kind, merged[-1][1] + content, {})
        elif content or kind != "text":
            merged.append((kind, content, attributes))
    return merged


@pytest.mark.parametrize(
    "address",
    [
        "",
        "http://forge.example/us/mechdesign",
        "git@forge.example:us/mechdesign",
        "https://forge.example",
        "https://user:word@forge.example/us/mechdesign",
        f"{ADDRESS}/",
        f"{ADDRESS}.git",
        f"{ADDRESS}?a=b",
        f"{ADDRESS}#a",
        f"{ADDRESS}/..",
        "https://forge.example/./mechdesign",
        "https://:443/us/mechdesign",
        f"{ADDRESS}) [a](b",
        f"{ADDRESS}\n",
    ],
)
def test_another_address_ends_the_build_in_one_line(address, metadata):
    with pytest.raises(SystemExit, match="https://HOST/OWNER/NAME") as ended:
        metadata(address)
    assert str(ended.value).startswith(f"MECHDESIGN_REPOSITORY is {address!r}; accepted: ")
    assert "\n" not in str(ended.value)


def test_another_forge_ends_the_build(metadata):
    with pytest.raises(SystemExit, match=r"^MECHDESIGN_FORGE is 'sourcehut'; accepted: forgejo, github, gitlab$"):
        metadata(ADDRESS, forge="sourcehut")


@pytest.mark.parametrize(("released", "rebuilt"), [(ADDRESS, None), (None, ADDRESS), (ADDRESS, f"{ADDRESS}-fork")])
def test_a_wheel_from_an_sdist_says_what_the_sdist_says(released, rebuilt, metadata, tmp_path):
    tree = tmp_path / "sdist"
    for name in ("hatch_build.py", "LICENSE", "mechdesign/version.py", "pyproject.toml"):
        (tree / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / name, tree / name)
    said = metadata(released)
    (tree / "PKG-INFO").write_text(said, encoding="utf-8")
    assert metadata(rebuilt, tree) == said
    assert (f"Project-URL: Source, {ADDRESS}\n" in said) == (released is not None)


@pytest.mark.slow
def test_an_sdist_has_what_a_wheel_is_built_from(tmp_path, monkeypatch, metadata):
    said = metadata(ADDRESS)
    sdist = tmp_path / build_sdist(str(tmp_path))
    with tarfile.open(sdist) as archive:
        archive.extractall(tmp_path, filter="data")
    tree = tmp_path / sdist.name.removesuffix(".tar.gz")
    assert (tree / "README.md").read_text(encoding="utf-8") == README
    assert (tree / "PKG-INFO").read_text(encoding="utf-8") == said
    monkeypatch.delenv("MECHDESIGN_REPOSITORY")
    monkeypatch.chdir(tree)
    with ZipFile(tmp_path / build_wheel(str(tmp_path))) as archive:
        home = f"{tree.name}.dist-info"
        assert archive.read(f"{home}/METADATA").decode() == said
        assert {name.split("/")[0] for name in archive.namelist()} == {"mechdesign", home}


def test_a_deployment_needs_packages_that_mechdesign_needs_at_the_same_floors():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    lines = (ROOT / "docs" / "deployment.txt").read_text().splitlines()
    listed = [line.split("#")[0].strip() for line in lines if not line.startswith("#")]
    assert set(listed) < set(project["dependencies"])
    assert not {"highspy", "clarabel", "cvxpy", "matplotlib"} & {re.split("[>;]", line)[0] for line in listed}


def test_the_commands_of_a_deployment_run_without_the_packages_that_it_leaves_out(tmp_path):
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    lines = (ROOT / "docs" / "deployment.txt").read_text().splitlines()
    listed = {line.split("#")[0].strip() for line in lines}
    absent = {re.split("[>;]", each)[0].replace("-", "_") for each in project["dependencies"] if each not in listed}
    assert {"cvxpy", "highspy"} <= absent
    (tmp_path / "people.csv").write_text("answer\n" + "yes\nno\n" * 50)
    made = md.design(
        md.DesignProblem(md.L1Ball.from_counts({"yes": 30, "no": 20}, known=True), 1, md.EstimationError())
    )
    made.mechanism.save(tmp_path / "m.json")
    given = ["--column", "answer", "--mechanism", "m.json"]
    commands = [
        ["verify", "m.json", "--guarantee-only"],
        ["privatize", "people.csv", *given, "-o", "reports.csv"],
        ["estimate", "reports.csv", *given],
    ]
    program = (
        f"import sys; sys.modules.update(dict.fromkeys({absent!r})); "
        f"from mechdesign.cli.entry_point import run; sys.exit(any(list(map(run, {commands}))))"
    )
    done = subprocess.run([sys.executable, "-c", program], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
