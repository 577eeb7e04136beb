"""With --json a command that fails prints one JSON object: the error has its code and its message there."""

import json

import pytest

import mechdesign as md
from mechdesign.cli.entry_point import run
from mechdesign.errors import GuaranteeError, LimitError

COUNTS = "label,count\nlow,50\nmiddle,30\nhigh,20\n"
DESIGN = ("design", "--counts", "counts.csv", "--epsilon", "1", "--known")


@pytest.fixture
def failed(here, command):
    """Run a command that fails with --json; return its status and its object, whose error is the line for people."""
    (here / "counts.csv").write_text(COUNTS)

    def run_failed(*arguments):
        status, out, err = command(*arguments, "--json")
        record = json.loads(out)
        error = record["error"]
        assert err.splitlines()[-1] == f"Error: {error['message']} [{error['code']}]"
        return status, record

    return run_failed


@pytest.mark.parametrize(
    ("arguments", "code", "shown"),
    [
        (("verify", "nowhere.json"), "cannot-read", "nowhere.json"),
        ((*DESIGN[:3], "--epsilon", "-1", "--known"), "epsilon-out-of-range", "-1"),
        ((*DESIGN, "--nonsense"), "usage", "--nonsense"),
        ((*DESIGN, "--bits"), "usage", "--bits"),
        ((*DESIGN, "--bits", "many"), "usage", "many"),
        (("verify",), "usage", "MECHANISM.json"),
        (("nonsense",), "usage", "nonsense"),
        (("histogram", "nonsense"), "usage", "nonsense"),
        ((), "usage", "--json"),
        (("--nonsense", "verify"), "usage", "--nonsense"),
    ],
)
def test_bad_input_and_usage_have_status_2(failed, arguments, code, shown):
    status, record = failed(*arguments)
    assert (status, record["schema"], record["error"]["code"]) == (2, "mechdesign/error/1", code)
    assert shown in record["error"]["message"]
    assert set(record) == {"schema", "error"}


@pytest.mark.parametrize(
    ("error", "status", "code"),
    [
        (GuaranteeError.guarantee_false("it leaks"), 1, "guarantee-false"),
        (LimitError.no_method("too many categories"), 3, "no-method"),
        (KeyboardInterrupt(), 3, "interrupted"),
        (MemoryError(), 3, "out-of-memory"),
        (RuntimeError("a fault"), 70, "internal-error"),
    ],
)
def test_each_exit_status_has_its_object(failed, monkeypatch, error, status, code):
    def fail(*arguments, **options):
        raise error

    monkeypatch.setattr("mechdesign.cli.design.design", fail)
    found, record = failed(*DESIGN)
    assert (found, record["schema"], record["error"]["code"]) == (status, "mechdesign/error/1", code)


def test_a_result_that_ends_in_an_error_has_it_beside_its_own_keys(failed, monkeypatch):
    status, record = failed(*DESIGN, "--bits", "3")
    assert (status, record["error"]["code"], record["certified"]) == (3, "not-certified", False)
    assert run([*DESIGN, "-o", "m.json", "-q"]) == 0
    monkeypatch.setattr(md.Mechanism, "privatize", lambda self, codes, rng=None, **options: codes)
    status, record = failed("audit", "m.json", "--samples", "50000")
    assert (status, record["error"]["code"], record["consistent"]) == (1, "sampler-wrong", False)


@pytest.mark.parametrize("failure", [BrokenPipeError(), OSError("no room"), ModuleNotFoundError("no module")])
def test_where_the_object_cannot_be_printed_the_line_and_the_status_remain(here, monkeypatch, capsys, failure):
    def fail(*arguments):
        raise failure

    monkeypatch.setattr("mechdesign.cli.json_output.print_object", fail)
    assert run(["verify", "nowhere.json", "--json"]) == 2
    assert capsys.readouterr().err.endswith("[cannot-read]\n")
