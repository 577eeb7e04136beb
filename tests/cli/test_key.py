"""``mechdesign key`` and ``privatize --key-file``: no output, no message and no file shows the key."""

import base64
import json
import os
import stat

import numpy as np
import pytest

import mechdesign as md

INPUTS = ("no", "yes")


@pytest.fixture(autouse=True)
def files(here):
    promise = md.Guarantee("log(3)", md.L1Ball([0.5, 0.5], 2, INPUTS))
    md.Mechanism(np.array([[3, 1], [1, 3]]), 2, promise, INPUTS).save("m.json")
    one_out = md.Guarantee("1", md.L1Ball(["1/3"] * 3, labels=("a", "b", "c")))
    md.Mechanism(np.array([[1, 1, 0], [1, 0, 1], [0, 1, 1]]), 1, one_out).save("zeros.json")
    rows = "".join(f"{i},{INPUTS[i % 2]},{INPUTS[i % 3 == 0]}\n" for i in range(200))
    (here / "r.csv").write_text("person,smokes,drinks\n" + rows)
    md.Key(bytes(range(200, 232))).write("k")
    return here


def forms(key):
    return [key.secret, key.secret.hex().encode(), key.secret.hex().upper().encode(), base64.b64encode(key.secret)[:-2]]


def privatize(column="smokes", *more, output="o.csv", key="k"):
    mechanism = () if "--mechanism" in more else ("--mechanism", "m.json")
    beside = () if key is None else ("--key-file", key, "--id", "person")
    return ["privatize", "r.csv", "--column", column, *mechanism, "-o", output, *beside, *more]


def test_a_key_is_made_for_its_owner_alone(command, here):
    status, out, err = command("key", "-o", "new")
    assert (status, err) == (0, "")
    assert " ".join(out.split()).startswith(
        "written new, readable by its owner alone attribute empty by default: with several columns under this key, name"
    )
    assert stat.S_IMODE((here / "new").stat().st_mode) == 0o600
    assert not any(form in out.encode() for form in forms(md.Key.read("new")))
    status, out, _ = command("key", "-o", "another", "--json")
    assert (status, json.loads(out)) == (0, {"schema": "mechdesign/key/1", "output": "another"})
    assert md.Key.read("new") != md.Key.read("another")


def test_a_key_is_never_replaced_or_printed(command, here):
    before = (here / "k").read_bytes()
    status, out, err = command("key", "-o", "k")
    assert (status, out) == (2, "")
    assert err.startswith("Error: k exists, and a key that is replaced is lost")
    assert (here / "k").read_bytes() == before
    for place in ("-", "/dev/stdout", "absent/k", "."):
        status, out, err = command("key", "-o", place)
        assert (status, out) == (2, "")
        assert err.count("\n") == 1
        assert "mechdesign-key" not in err


def test_reports_are_permanent(command, here):
    assert command(*privatize())[0] == 0
    assert command(*privatize("smokes", output="again.csv"))[0] == 0
    assert (here / "o.csv").read_bytes() == (here / "again.csv").read_bytes()
    mechanism, key = md.Mechanism.load("m.json"), md.Key.read("k")
    values = [INPUTS[i % 2] for i in range(200)]
    assert (here / "o.csv").read_text().split()[1:] == mechanism.privatize(values, key=key, ids=range(200))
    assert command(*privatize("smokes", "--attribute", "smokes", output="named.csv"))[0] == 0
    named = mechanism.privatize(values, key=key.for_attribute("smokes"), ids=range(200))
    assert (here / "named.csv").read_text().split()[1:] == named
    assert (here / "named.csv").read_bytes() != (here / "o.csv").read_bytes()


def test_reports_that_exist_are_refused_for_the_reason_that_is_true(command, here):
    command(*privatize())
    before = (here / "o.csv").read_bytes()
    for key, why in (
        ("k", "with the same mechanism, key, attribute and ids a value gets the same report"),
        (None, "two"),
    ):
        status, _, err = command(*privatize(key=key))
        assert (status, err.count("\n")) == (2, 1)
        assert f"o.csv exists, and an earlier draw is replaced only on request: {why}" in err
        assert "give another name, or give --overwrite" in err
    assert command(*privatize("smokes", "--overwrite"))[0] == 0
    assert (here / "o.csv").read_bytes() == before


def test_the_columns_of_one_mechanism_share_their_reports_unless_they_are_named(command, here):
    values = [line.split(",") for line in (here / "r.csv").read_text().split()[1:]]
    equal = np.array([smokes == drinks for _, smokes, drinks in values])

    def reports(column, *more):
        command(*privatize(column, *more, "--overwrite"))
        return np.array((here / "o.csv").read_text().split()[1:])

    assert (reports("smokes") == reports("drinks"))[equal].all()
    one, other = (reports(name, "--attribute", name) for name in ("smokes", "drinks"))
    # Independent reports about equal values agree with probability 5 / 8.
    assert abs((one == other)[equal].mean() - 5 / 8) < 6 * np.sqrt(15 / 64 / equal.sum())


def test_what_is_said(command):
    status, out, err = command(*privatize())
    told = " ".join(out.split())
    assert (status, err) == (0, "")
    assert "the same id and category always get the same report" in told
    assert "none given; another column reported by this mechanism under this key needs --attribute" in told
    assert "T values leak at most T x 1.098612289 nats" in told
    assert "a report that differs tells that the category does" in told
    assert md.Mechanism.load("m.json").fingerprint in out.replace("\n", "").replace(" ", "")
    _, out, _ = command(*privatize("smokes", "--keep", "person", "--json", output="p.csv"))
    found = json.loads(out)
    assert (found["permanent"], found["id"], found["attribute"], found["keep"]) == (True, "person", "", ["person"])
    assert found["leakage_of_two_values"] == pytest.approx(2 * np.log(3))
    assert found["fingerprint"] == md.Mechanism.load("m.json").fingerprint


def test_a_mechanism_with_zeros_has_no_bound_for_two_values(command, here):
    (here / "r.csv").write_text("person,x\n1,a\n2,b\n")
    _, out, _ = command(*privatize("x", "--mechanism", "zeros.json"))
    assert "there is no bound on the leakage of two categories: some reports rule categories out" in " ".join(
        out.split()
    )
    _, out, _ = command(*privatize("x", "--mechanism", "zeros.json", "--json", "--overwrite"))
    assert json.loads(out)["leakage_of_two_values"] is None


def test_without_a_key_nothing_is_said_of_permanence(command):
    _, out, _ = command(*privatize("smokes", "--json", key=None))
    assert not {"permanent", "id", "attribute", "leakage_of_two_values"} & set(json.loads(out))


@pytest.mark.parametrize(
    ("arguments", "code", "shown"),
    [
        (
            privatize("smokes", "--id", "person", key=None),
            "usage",
            "--id belongs to --key-file, the key of permanent reports",
        ),
        (privatize("smokes", "--attribute", "a", key=None), "usage", "--attribute belongs to --key-file"),
        (privatize("smokes", "--key-file", "k", key=None), "usage", "--key-file needs --id, the column that says whom"),
        (privatize("smokes", "--attribute", ""), "bad-label", ""),
        (privatize("person"), "column-twice", ""),
        (privatize("smokes", key="r.csv"), "key-exposed", ""),
        (privatize("smokes", key="absent"), "cannot-read", ""),
        (privatize("smokes", key="-"), "cannot-read", ""),
        (privatize("smokes", key="/dev/zero"), "cannot-read", ""),
        (privatize("smokes", key="."), "cannot-read", ""),
    ],
)
def test_bad_input(arguments, code, shown, refused, here):
    (here / "r.csv").chmod(0o644)
    refused(code, *arguments, shown=shown)


def test_a_key_that_others_can_read_is_refused_with_the_command_to_run(command, here):
    (here / "k").chmod(0o640)
    status, _, err = command(*privatize())
    assert status == 2
    assert err.endswith("make another key, or, if nobody has read it: chmod 600 k [key-exposed]\n")


def test_the_key_is_no_output(refused, here):
    (here / "k").rename(here / "k.csv")
    refused("same-file", *privatize("smokes", "--overwrite", output="k.csv", key="k.csv"), shown="k.csv")


@pytest.mark.parametrize("traceback", [False, True])
def test_nothing_shows_the_key(traceback, command, here, monkeypatch):
    if traceback:
        monkeypatch.setenv("MECHDESIGN_TRACEBACK", "1")
    key = md.Key.read("k")
    said = []
    for number, more in enumerate(
        [
            (),
            ("--json",),
            ("--keep", "person"),
            ("--show-values",),
            ("--id", "nobody"),
            ("--attribute", "a"),
            ("--help",),
        ]
    ):
        for ending in ("csv", "parquet"):
            said += command(*privatize("smokes", *more, output=f"o{number}.{ending}"))[1:]
    (here / "r.csv").write_text("person,smokes\n,yes\n")
    said += command(*privatize())[1:]
    said += command(*privatize("smokes", output="-"))[1:]

    def broken(*_):
        raise RuntimeError("broken")

    monkeypatch.setattr("mechdesign.mechanism.reporting.PermanentReports.integers", broken)
    (here / "r.csv").write_text("person,smokes\n1,yes\n")
    status, out, err = command(*privatize())
    assert status == 70
    assert ("Traceback" in err) == traceback
    said += [out, err]
    written = [path.read_bytes() for path in here.iterdir() if path.name != "k"]
    assert len(written) >= 10
    for text in [*(part.encode() for part in said), *written]:
        assert not any(form in text for form in forms(key))


def test_a_key_file_of_another_kind_is_not_shown(command, here):
    (here / "password").write_text("correct horse battery staple")
    (here / "password").chmod(0o600)
    status, out, err = command(*privatize("smokes", key="password"))
    assert (status, out) == (2, "")
    told = "password is not a key file; give a key file, as `mechdesign key -o FILE` writes it"
    assert err == f"Error: {told} [wrong-file-format]\n"


def test_a_pipe_is_refused_at_once(refused, here):
    os.mkfifo(here / "pipe", 0o600)
    refused("cannot-read", *privatize("smokes", key="pipe"), shown="pipe")


def test_the_help_says_what_a_new_mechanism_is(command):
    _, out, _ = command("privatize", "--help")
    told = " ".join(out.split())
    assert (
        "another mechanism (redesigned, or with other categories), another key or another --attribute draws a second"
        in told
    )
    assert "a run may be repeated" in told


@pytest.mark.parametrize("engine", [(), pytest.param(("--jobs", "2"), marks=pytest.mark.slow)])
def test_the_parts_of_a_folder_have_the_reports_of_one_file(engine, command, here):
    (here / "parts").mkdir()
    header, *lines = (here / "r.csv").read_text().splitlines()
    for part in range(2):
        (here / "parts" / f"{part}.csv").write_text("\n".join([header, *lines[100 * part : 100 * part + 100], ""]))
    command(*privatize("smokes", "--attribute", "smokes"))
    arguments = privatize("smokes", "--attribute", "smokes", "--json", *engine, output="out")
    status, out, err = command(arguments[0], "parts", *arguments[2:])
    assert (status, err) == (0, "")
    found = json.loads(out)
    assert (found["permanent"], found["id"], found["attribute"]) == (True, "person", "smokes")
    reports = [line for part in range(2) for line in (here / "out" / f"{part}.csv").read_text().split()[1:]]
    assert reports == (here / "o.csv").read_text().split()[1:]
    written = [path.read_bytes() for path in (here / "out").iterdir()]
    assert not any(form in text for form in forms(md.Key.read("k")) for text in written)
    for other in (("--attribute", "drinks"), ()):
        arguments = privatize("smokes", *other, output="out")
        status, _, err = command(arguments[0], "parts", *arguments[2:])
        assert status == 2
        assert "another key or attribute (by the fingerprint of both)" in err
