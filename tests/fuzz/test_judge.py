"""The judge bites: each way in which a command may break the contract is told."""

import json
from fractions import Fraction

import pytest

from . import claims, contract, mechanism_files, reports
from . import room as room_module
from .room import Case, Place, Result, Room, snapshot

OLD = {"a.csv": ("file", 0o644, b"old"), "in.csv": ("file", 0o644, b"in"), "pipe": ("pipe", 0o644, b"")}
CASE = Case(["privatize", "in.csv", "-o", "a.csv", "--overwrite"], outputs=["a.csv"])


def told(case=CASE, status=0, stdout=b"", stderr=b"", ended="", after=None):
    result = Result(status, stdout, stderr, ended)
    return [*contract.of_result(case, result), *contract.of_files(case, result, OLD, OLD if after is None else after)]


def test_what_keeps_the_contract_is_not_told():
    assert told() == []
    assert told(status=2, stderr=b"Error: bad\n") == []
    assert told(status=3, stderr=b"   1.0 s  proving\nError: limit\n") == []
    assert told(after=OLD | {"a.csv": ("file", 0o644, b"new")}) == []


@pytest.mark.parametrize(
    ("broken", "part"),
    [
        ({"status": 70, "stderr": b"Error: internal error\n"}, "exit status is 70"),
        ({"status": None, "ended": "waits for ever, and was killed"}, "waits for ever"),
        ({"status": None, "ended": "Traceback\nValueError: x"}, "ValueError: x"),
        ({"status": 0, "stderr": b"RuntimeWarning: x\n"}, "with ['RuntimeWarning: x'] on standard error"),
        ({"status": 0, "stderr": b"Error: bad\n"}, "exit status is 0, with"),
        ({"status": 2, "stderr": b""}, "0 lines on standard error"),
        ({"status": 2, "stderr": b"Error: bad\nmore\n"}, "2 lines on standard error"),
        ({"status": 2, "stderr": b"Error: bad\n", "stdout": b"half"}, "on standard output"),
        ({"status": 2, "stderr": b"Error: \xff\n"}, "not UTF-8"),
        ({"status": 2, "stderr": "Error: \u202e\n".encode()}, "not printable"),
        ({"status": 2, "stderr": b"Error: " + b"x" * 5000 + b"\n"}, "a line of"),
        ({"stdout": b"\xff"}, "standard output is not UTF-8"),
        ({"after": OLD | {".1234.tmp": ("file", 0o600, b"")}}, "left behind"),
        ({"after": {name: OLD[name] for name in ("a.csv", "pipe")}}, "'in.csv' is gone"),
        ({"after": OLD | {"in.csv": ("file", 0o644, b"out")}}, "was changed, and is not an output"),
        ({"after": OLD | {"a.csv": ("file", 0o600, b"new")}}, "other permissions"),
        (
            {"status": 2, "stderr": b"Error: bad\n", "after": OLD | {"a.csv": ("file", 0o644, b"ne")}},
            "with exit status 2",
        ),
        ({"case": Case(["design", "-o", "pipe"], outputs=["pipe"])}, "the output 'pipe' is pipe"),
        ({"case": Case(["plan"]), "status": 1, "stderr": b"Error: x\n"}, "where nothing was claimed"),
        ({"case": Case(["plan", "--json"]), "stdout": b"{"}, "not JSON"),
        ({"case": Case(["plan", "--json"]), "stdout": b'{"a": NaN}'}, "not JSON"),
        ({"case": Case(["plan", "--json"]), "stdout": b"[]"}, "not an object with a schema"),
        ({"case": Case(["plan", "--json"]), "stdout": b"{} {}"}, "not JSON"),
        ({"case": Case(["plan", "--json"]), "status": 2, "stderr": b"Error: x\n", "stdout": b""}, "not JSON"),
        (
            {"case": Case(["plan", "--json"]), "status": 2, "stderr": b"Error: x\n", "stdout": b'{"schema": "s"}'},
            "the exit status is 2, and --json printed",
        ),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_a_broken_contract_is_told(broken, part):
    assert any(part in one for one in told(**broken)), told(**broken)


def test_an_input_or_an_old_file_that_is_replaced_is_told():
    after = OLD | {"in.csv": ("file", 0o644, b"out")}
    own = Case(["estimate", "in.csv", "-o", "in.csv"], outputs=["in.csv"])
    assert told(own, after=after) == ["the input 'in.csv' was overwritten"]
    after = OLD | {"a.csv": ("file", 0o644, b"new")}
    twice = Case(["privatize", "in.csv", "-o", "a.csv"], outputs=["a.csv"])
    assert told(twice, after=after) == ["'a.csv' was there, and was replaced without --overwrite"]
    piped = Case(["design", "-o", "pipe"], outputs=["pipe"])
    assert told(piped, after=OLD | {"pipe": ("file", 0o644, b"new")}) == ["'pipe', a pipe, was replaced by a file"]


def test_links_are_followed():
    before = OLD | {"link": ("link", 0o777, b"in.csv")}
    after = before | {"in.csv": ("file", 0o644, b"new")}
    case = Case(["estimate", "in.csv", "-o", "link"], outputs=["link"])
    assert [*contract.of_files(case, Result(0, b"", b""), before, after)] == ["the input 'in.csv' was overwritten"]


@pytest.mark.parametrize("kind", ["folder", "pipe", "socket", "link", "hard"])
def test_places_are_made_and_seen(tmp_path, kind):
    (tmp_path / "other").write_bytes(b"x")
    Place(kind, "other").make(tmp_path / "made")
    expected = {"hard": ("file", b"x"), "link": ("link", b"other")}.get(kind, (kind, b""))
    assert (snapshot(tmp_path)["made"][0], snapshot(tmp_path)["made"][2]) == expected


# The oracle of guarantees


@pytest.mark.parametrize("index", range(8))
def test_true_claims_pass_and_false_ones_do_not(index):
    table = mechanism_files.mechanism_tables()[index]
    assert claims.false_claims(json.dumps(table).encode()) == []
    rows, promise = table["numerators"], table["guarantee"]
    if len(rows[0]) > 1:
        false = table | {"guarantee": promise | {"epsilon": "0.001"}}
        assert any("leaks more" in one for one in claims.false_claims(json.dumps(false).encode()))
    short = table | {"numerators": [[rows[0][0] + 1, *rows[0][1:]], *rows[1:]]}
    assert any("sums to" in one for one in claims.false_claims(json.dumps(short).encode()))
    if "delta" in promise:
        narrow = table | {"guarantee": promise | {"radius": "0.01"}}
        assert any("is below" in one for one in claims.false_claims(json.dumps(narrow).encode()))


def test_the_least_mean_over_a_ball_is_that_of_a_linear_program():
    from scipy.optimize import linprog

    center, column = [Fraction(1, 2), Fraction(3, 10), Fraction(1, 5)], [Fraction(3), Fraction(1), Fraction(2)]
    for radius in (Fraction(0), Fraction(1, 10), Fraction(6, 5), Fraction(2)):
        p = [float(x) for x in center]
        v = [float(x) for x in column]
        # Q = P + up - down, with up and down of half the radius each
        bounds = [(0, None)] * 3 + [(0, q) for q in p]
        found = linprog(
            v + [-x for x in v],
            A_ub=[[1, 1, 1, 0, 0, 0]],
            b_ub=[float(radius) / 2],
            A_eq=[[1, 1, 1, -1, -1, -1]],
            b_eq=[0],
            bounds=bounds,
        )
        expected = sum(x * y for x, y in zip(p, v, strict=True)) + found.fun
        assert float(claims.least_mean(column, center, radius / 2)) == pytest.approx(expected, abs=1e-9)


# The reference for CSV


@pytest.mark.parametrize(
    ("text", "column", "expected"),
    [
        ("x\na\nb\n", "x", ["a", "b"]),
        ("x\na\n\nb", "x", ["a", "", "b"]),
        ('x,y\n" a ",1\r\n"b,c",2\r\n', "x", ["a", "b,c"]),
        ("a,1\n\nb,2\n", 0, ["a", "b"]),
        ('x\n"a\n', "x", None),
        ("x,y\na\n", "x", None),
        ("x,x\na,b\n", "x", None),
    ],
)
def test_csv_as_python_reads_it(text, column, expected):
    assert reports.read_csv(text, column) == expected


# Processes that do not come back


@pytest.mark.slow
def test_a_process_that_dies_or_never_ends_is_told(monkeypatch):
    monkeypatch.setattr(room_module, "_IDLE_SECONDS", 1)
    with Room() as room:
        (room.base / "sub").mkdir()
        assert room.command(["plan", "--categories", "2"], room.base / "sub").status == 2
        answer = room._answer(("command", ["verify", "/dev/stdin"], "/nonexistent", ["/dev/null"] * 3))
        assert answer[0] is None
        assert "died" in answer[1]
        Place("pipe").make(room.base / "pipe")
        answer = room._answer(("command", [], str(room.base), [str(room.base / "pipe"), "/dev/null", "/dev/null"]))
        assert answer[0] is None
        assert "waits for ever" in answer[1]
        assert room.command(["--version"], room.base / "sub").status == 0
