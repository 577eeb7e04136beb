"""Every object that a command prints with --json fits its schema, and has no key that the schema does not name."""

import json
import re
from pathlib import Path

import pytest
from json_schemas import check_output, validator

import mechdesign
from mechdesign.cli.entry_point import run
from mechdesign.schemas import described, document

COUNTS = ("--counts", "counts.csv")
PROMISE = (*COUNTS, "--epsilon", "1")
DESIGN = (*PROMISE, "--known")
PRIVATIZE = ("privatize", "records.csv", "--column", "answer", "--mechanism", "m.json")
ESTIMATE = ("estimate", "reports.csv", "--column", "answer", "--mechanism", "m.json")
PREFIXES = ("--windows", "--prefixes", "2,4", "--seeds", "3", "--buckets", "16")
HITTERS = (
    "--column",
    "answer",
    "--mechanism",
    "p.json",
    "--reference",
    "counts.csv",
    "--characters",
    "nev",
    "--kept",
    "5",
)
RELEASE = ("-k", "3", "--epsilon", "1", "--delta", "1e-6")
SECRET = ("--counts", "joint.csv", "--secret", "income", "--epsilon", "1", "--delta", "0.01")
RUNS = {
    "design": [
        (*DESIGN, "--compare"),
        (*PROMISE, "--delta", "0.001", "--lower", "1", "-o", "d.json"),
        (*DESIGN, "--utility", "estimation-error", "--workload", "prefix", "--compare"),
        (*PROMISE, "--radius", "0.1", "--utility", "worst-case-mutual-information", "--compare"),
        (*PROMISE, "--radius", "2"),
        SECRET,
    ],
    "table": [
        (*PROMISE, "--known"),
        (*PROMISE, "--radius", "0.01", "--floor-of", "former", "0.01", "--forbid", "former", "current", "-o", "u.json"),
        (*PROMISE, "--radius", "0.1", "--cap", "2", "--loss", "loss.csv"),
    ],
    "export": [("t.json", "--sdcmicro", "-o", "t.csv")],
    "methods": [DESIGN, (*COUNTS, "--epsilon", "1", "--radius", "2", "--lower", "1")],
    "verify": [
        ("m.json",),
        ("m.json", "--guarantee-only"),
        ("m.json", "--tail", "0.5"),
        ("least.json",),
        ("errors.json",),
        ("t.json",),
        ("false.json",),
        ("missing.json",),
    ],
    "compare": [
        DESIGN,
        (*DESIGN, "--with", "m.json", "--baseline", "randomized-response"),
        (*DESIGN, "--lower", "1"),
        (*DESIGN, "--utility", "estimation-error"),
        (*PROMISE, "--radius", "0.1", "--utility", "worst-case-mutual-information"),
    ],
    "sweep": [("sweep.toml", "-o", "results")],
    "analyze": [
        ("m.json",),
        ("m.json", "--no-optimum", *DESIGN, "--lower", "2"),
        ("identity.csv", "--no-optimum", *COUNTS, "--known"),
    ],
    "plan": [
        ("--categories", "20", "--samples", "10000", "--epsilon", "1.6", "--delta", "1e-5"),
        (*DESIGN, "--reports", "1000"),
        ("--mechanism", "m.json", "--reports", "--standard-error", "0.01"),
        (*DESIGN, "--reports", "--interval", "0.02"),
    ],
    "key": [("-o", "another.key")],
    "privatize": [
        (*PRIVATIZE[1:], "-o", "once.csv", "--keep", "person"),
        (*PRIVATIZE[1:], "-o", "permanent.csv", "--key-file", "survey.key", "--id", "person"),
        ("parts", *PRIVATIZE[2:], "-o", "privatized"),
    ],
    "estimate": [
        (*ESTIMATE[1:],),
        (*ESTIMATE[1:], "--simultaneous", "-o", "estimate.json"),
        (*ESTIMATE[1:], "--by", "person", "--simultaneous", "-o", "groups.json"),
        ("reported", *ESTIMATE[2:]),
    ],
    "heavy-hitters": [("prefix-reports.csv", *HITTERS, "-o", "hitters.json")],
    "audit": [("m.json", "--samples", "3000")],
    "report": [
        ("m.json", "-o", "page.html", "--no-compare"),
        ("record.json", "-o", "record.html"),
        ("m.json", "--registry", "-o", "entry.json"),
    ],
    "histogram": [
        ("discrete", "--plan", *RELEASE, "--sigma", "9"),
        ("discrete", "counts.csv", *RELEASE, "-o", "h.csv", "--record", "h.json"),
        ("laplace", "--plan", "--epsilon", "1"),
        ("top-k", "--plan", *RELEASE),
    ],
    "schema": [()],
}
WRITTEN = {  # files that these commands write, and their schemas
    "m.json": "mechanism",
    "d.json": "mechanism",
    "t.json": "mechanism",
    "u.json": "mechanism",
    "p.json": "prefix-windows",
    "hitters.json": "heavy-hitters",
    "least.json": "mechanism",
    "errors.json": "mechanism",
    "record.json": "histogram-record",
    "h.json": "histogram-record",
    "reported/_manifest.json": "dataset",
    "results/designs/*.json": "sweep-result",
    "results/mechanisms/*.json": "mechanism",
    "estimate.json": "estimate",
    "groups.json": "estimate-by-groups",
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A folder with the files that the commands read."""
    folder = tmp_path_factory.mktemp("outputs")
    answers = "never\nformer\ncurrent\n" * 20
    rows = [f"{answer},p{place % 3}" for place, answer in enumerate(answers.split())]
    (folder / "parts").mkdir()
    for name in ("records.csv", "parts/1.csv", "parts/2.csv"):
        (folder / name).write_text("\n".join(["answer,person", *rows]) + "\n")
    (folder / "counts.csv").write_text("label,count\nnever,812\nformer,150\ncurrent,38\n")
    (folder / "joint.csv").write_text("income,answer,count\nlow,a,30\nlow,b,20\nhigh,a,10\nhigh,b,40\n")
    (folder / "identity.csv").write_text("x,a,b,c\nnever,1,0,0\nformer,0,1,0\ncurrent,0,0,1\n")
    (folder / "loss.csv").write_text("x,never,former,current\nnever,0,1,2\nformer,1,0,1\ncurrent,2,1,0\n")
    (folder / "sweep.toml").write_text(
        'title = "t"\nepsilon = [1, "log(2)"]\nknown = true\nbaselines = ["best-ldp"]\n'
        '[[source]]\ncounts = "counts.csv"\n'
    )
    return folder


@pytest.fixture(scope="module")
def printed(folder):
    """What each command prints with --json, after the commands that make their files."""
    patch = pytest.MonkeyPatch()
    with patch.context() as here:
        here.chdir(folder)
        lines: list[str] = []
        here.setattr("mechdesign.cli.output.click.echo", lambda text="", **_: lines.append(text))
        for made in (
            ("design", *PROMISE, "--delta", "0.001", "-o", "m.json"),
            ("design", *PROMISE, "--radius", "0.1", "--utility", "worst-case-mutual-information", "-o", "least.json"),
            ("design", *DESIGN, "--utility", "estimation-error", "-o", "errors.json"),
            ("table", *PROMISE, "--known", "-o", "t.json"),
            ("key", "-o", "survey.key"),
            (*PRIVATIZE, "-o", "reports.csv", "--keep", "person"),
            ("privatize", "parts", *PRIVATIZE[2:], "-o", "reported"),
            ("histogram", "discrete", "--plan", *RELEASE, "--record", "record.json"),
            ("design", *COUNTS, "--known", "--epsilon", "2", *PREFIXES, "-o", "p.json"),
            (*PRIVATIZE[:-1], "p.json", "-o", "prefix-reports.csv"),
        ):
            assert run([*made, "-q"]) == 0, made
        table = json.loads(Path("m.json").read_text())
        table["guarantee"]["epsilon"] = "0.01"
        Path("false.json").write_text(json.dumps(table))
        found = {}
        for command, runs in RUNS.items():
            for arguments in runs:
                lines.clear()
                status = run([command, *arguments, "--json"])
                assert status == {"false.json": 1, "missing.json": 2}.get(arguments[0] if arguments else "", 0), (
                    arguments
                )
                found[command, arguments] = json.loads(lines[0])
    return found


def test_every_output_fits_its_schema(printed):
    seen = {check_output(value) for value in printed.values()}
    assert seen == {carried for entry in described() if entry.is_open for carried in entry.carries}


def test_every_command_with_json_is_among_them():
    from mechdesign.cli.commands import commands

    assert set(RUNS) == set(commands.commands)


def test_every_file_that_is_written_fits_its_schema(printed, folder):
    for pattern, name in WRITTEN.items():
        files = list(folder.glob(pattern))
        assert files, pattern
        for path in files:
            validator(name).validate(json.loads(path.read_text()))


def test_every_name_of_a_format_in_the_package_has_a_schema():
    others = {"mechdesign/fingerprint/1"}  # bytes, not JSON
    found = set()
    for path in Path(mechdesign.__file__).parent.rglob("*.py"):
        found.update(re.findall(r'"(mechdesign/[a-z-]+/\d+)"', path.read_text(encoding="utf-8")))
    assert found - others == {carried for entry in described() for carried in entry.carries}


def test_a_key_that_no_schema_names_is_seen_here_and_is_no_error_of_a_reader(printed):
    value = printed["key", RUNS["key"][0]] | {"more": 1}
    validator(value["schema"]).validate(value)
    with pytest.raises(AssertionError, match="keys that its schema does not name"):
        check_output(value)


@pytest.mark.sampled
@pytest.mark.parametrize("entry", described(), ids=lambda entry: entry.name)
def test_a_schema_is_one_and_says_which(entry):
    found = document(entry.name)
    validator(entry.name).check_schema(found)
    assert found["$schema"] == "https://json-schema.org/draft/2020-12/schema"
    assert found["$id"] == f"urn:mechdesign:{entry.name}:{2 if entry.name == 'mechanism' else 1}"
    assert all(document(carried) == found for carried in entry.carries)
    assert '"defined"' not in json.dumps(found)
    assert set(re.findall(r'"#/\$defs/([^"]*)"', json.dumps(found))) == set(found.get("$defs", {}))


def test_the_command_prints_names_and_schemas(capsys):
    assert run(["schema"]) == 0
    assert [line.split()[0] for line in capsys.readouterr().out.splitlines()] == [entry.name for entry in described()]
    assert run(["schema", "mechanism"]) == 0
    assert json.loads(capsys.readouterr().out) == document("mechanism")
    assert run(["schema", "mechanisms"]) == 2
    assert "the schema 'mechanisms' is unknown; accepted: mechanism, problem-file" in capsys.readouterr().err
