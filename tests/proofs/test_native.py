"""The checker that Coq extracts says what the second verifier and the package say, and reads certificates back."""

import copy
import hashlib
import json
import random
import subprocess
from fractions import Fraction
from pathlib import Path

import files_of_secrets
import native
import pytest
from files_of_every_set import AVERAGE, SETS, content, document, just, learnt, limits_of
from files_of_secrets import SECRETS

import mechdesign as md
from mechdesign.errors import MechdesignError
from mechdesign.mechanism.mechanism_files import from_content
from mechdesign.proofs.coq_file import certificate
from mechdesign.proofs.read_back import from_file
from tests.fuzz.generators import damaged
from tests.fuzz.mechanism_files import mechanism_tables, shifted

ROOT = Path(__file__).parents[2]
# Coq compiles the proofs before it extracts the programs, which takes a quarter of a minute.
pytestmark = [pytest.mark.slow, pytest.mark.skipif(bool(native.LACKING), reason=native.REASON)]
KIT = sorted((ROOT / "conformance" / "mechanisms").glob("*.json"))
OTHERS = sorted({*(ROOT / "conformance" / "refused").glob("*.json"), *(ROOT / "tests").rglob("*.json")})
TINY = Fraction(1, 10**12)


@pytest.fixture
def verify(monkeypatch):
    monkeypatch.syspath_prepend(str(ROOT / "examples"))
    import verify

    return verify


@pytest.fixture
def asked(verify, tmp_path):
    """Return the status of a checker for the content of a file, after comparing it with the second verifier."""

    def ask(found, program=0):
        path = tmp_path / "m.json"
        path.write_bytes(found)
        return native.check_agrees(path, *verify.answer(path), program=program)

    return ask


def every_program():
    return range(len(native.programs()))


def at_their_border():
    """For each set: a file whose promise is just true, and one that asks for a part in 10^12 less; both sides, caps."""
    for name in SETS:
        e, low, cap = limits_of(name)
        for change, status in ((Fraction(0), 0), (TINY, 1)):
            yield status, content(name, just(e, change))
            yield status, content(name, just(e), lower=just(low, change))
            yield status, content(name, just(e), cap=just(cap, change))
            yield status, content(name, just(e), maximal_leakage=just(AVERAGE, change))


def secrets_at_their_border():
    """The same of each promise about a secret; one with a hull among its limits is beyond the second verifier."""
    for name in SECRETS:
        e, low, cap = files_of_secrets.limits_of(name)
        for change, status in ((Fraction(0), 0), (TINY, 1)):
            known = 3 if name == "other sets" else status
            yield known, files_of_secrets.content(name, just(e, change))
            yield known, files_of_secrets.content(name, just(e), lower=just(low, change))
            yield known, files_of_secrets.content(name, just(e), cap=just(cap, change))
            yield known, files_of_secrets.content(name, just(e), maximal_leakage=just(AVERAGE, change))


def test_the_kit_is_guaranteed_and_all_other_files_are_judged_alike(verify):
    assert len(KIT) >= 14
    for path in KIT:  # which the second verifier proves too, after seconds for the delta of one of them
        for program in every_program():
            assert native.check_agrees(path, "", 0, program=program) == 0
    assert len(OTHERS) > 50
    for path in OTHERS:
        native.check_agrees(path, *verify.answer(path))


def test_every_set_at_its_border(asked):
    for status, found in (*at_their_border(), *secrets_at_their_border()):
        for program in every_program():
            assert asked(found, program) == status


def changed(rng):
    """Return a file with some numbers a little larger or smaller, or with damage."""
    kind = rng.random()
    if kind < 0.3:
        return json.dumps(shifted(rng, rng.choice(mechanism_tables()))).encode()
    of, sets = rng.choice([(content, SETS), (content, SETS), (files_of_secrets.content, SECRETS)])
    table = json.loads(of(rng.choice(list(sets)), f"log({1 + rng.random() * 8:.3f})"))
    if rng.random() < 0.5:
        side = rng.choice(["lower", "cap", "maximal_leakage"])
        table["guarantee"][side] = rng.choice([f"{rng.random() * 4:.4f}", f"log({1 + rng.random() * 9:.3f})"])
        table["schema"] = "mechdesign/mechanism/2"
    for _ in range(rng.randint(0, 3)):
        table = nudged(rng, table)
    if kind > 0.7:
        return odd(rng, table)
    found = json.dumps(table).encode()
    return damaged(rng, found) if kind > 0.6 else found


NUMBERS = (
    *("0", "-0", "1e400", "1e401", "1e-400", "1.0", "1e0", "2/4", "+1/2", "1 / 2", "log( 2 )", "LOG(2)", "log(1e304)"),
    *("log(1e305)", "700.0", f"700.{'0' * 30}1", "\u0661", "1_0", ".5", "5.e-1", f"0.{'3' * 1990}", f"0.{'3' * 2005}"),
    *("1/0", "1\n", "\u20281", "01/02", "1e-0400", "log(0.5)", "nan", ""),
)
RAW = (
    *(
        "-0",
        "-0.0",
        "1e400",
        "0e999999",
        "1.0",
        "1e0",
        "true",
        "null",
        "[null]",
        '{"a":null}',
        "NaN",
        "-Infinity",
        "01",
    ),
    *("+1", ".5", "1.", "9" * 20, "9" * 21, "9223372036854775808", '"1"', f"1{'0' * 25}", f"0.{'1' * 400}"),
    *(f"1e{'0' * 25}1", '"\\u0031"', '"\\ud800"'),
)
LABELS = (
    *("e\u0301", "\u00e9", " a", "a\u200b", "\ufeffa", "a\u2028b", "\x7f", 1, True, None, "\U0001f600" * 1001),
    *("\ud800", "", "0", 10**20),
)


def odd(rng, table):
    """Return a file that two readers might read differently."""
    places = [place for place in places_of(table) if not isinstance(place[0][place[1]], (dict, list))]
    labels = [place for place in places if isinstance(place[0], list) and isinstance(place[0][place[1]], str)]
    kind, (where, key), (names, at) = rng.randrange(7), rng.choice(places), rng.choice(labels)
    if kind == 0:
        where[key] = rng.choice(NUMBERS)
    elif kind == 1:
        names[at] = rng.choice(LABELS)
    elif kind == 2:
        where[key] = "\u2620"
        return json.dumps(table).replace('"\\u2620"', rng.choice(RAW)).encode()
    elif kind == 3:
        where, key = rng.choice(list(places_of(table)))
        where[key] = None
    elif kind == 4:
        tables = [table, *(at[key] for at, key in places_of(table) if isinstance(at[key], dict))]
        rng.choice(tables).setdefault(rng.choice(["cap", "delta", "cover", "weights", "limits", "x", "secret"]), None)
    text = json.dumps(table)
    if kind == 5:  # a key twice, written in two ways
        twice = rng.choice(["epsilon", "bits", "guarantee", "radius", "counts", "schema"])
        again = rng.choice([twice, f"\\u{ord(twice[0]):04x}{twice[1:]}"])
        return text.replace(f'"{twice}":', f'"{again}": null, "{twice}":', 1).encode()
    before, after = (
        rng.choice([b"\xef\xbb\xbf", b" \r\n", b"\x0c", b"\xc2\xa0", b"\0"]) if kind == 6 else b"" for _ in range(2)
    )
    return before + text.encode() + after


def places_of(table):
    for key, value in list(table.items() if isinstance(table, dict) else enumerate(table)):
        yield table, key
        if isinstance(value, (dict, list)):
            yield from places_of(value)


def nudged(rng, table):
    """Return a table with one number changed, or units of a row moved."""
    table = copy.deepcopy(table)
    if rng.random() < 0.4:
        row = rng.choice(table["numerators"])
        one, other = rng.randrange(4), rng.randrange(4)
        step = min(row[one], rng.choice([1, 2, 5]))
        row[one], row[other] = row[one] - step, row[other] + step
        return table
    places = []

    def numbers(where):
        for key, value in where.items() if isinstance(where, dict) else enumerate(where):
            if isinstance(value, (dict, list)):
                numbers(value)
            elif key not in {"epsilon", "lower", "cap", "maximal_leakage", "separator"} and where is not table[
                "guarantee"
            ].get("names"):
                places.append((where, key))

    numbers(table["guarantee"])
    where, key = rng.choice(places)
    if isinstance(where[key], int):
        where[key] = max(0, where[key] + rng.choice([-1, 1, 10]))
    elif "/" in where[key] or where[key].replace(".", "").isdigit():
        where[key] = str(Fraction(where[key]) + Fraction(rng.choice([-1, 1]), rng.choice([100, 10**6, 10**10])))
    return table


@pytest.mark.parametrize("rounds", [300, 10_000])
def test_files_that_were_changed(rounds, asked):
    rng, statuses = random.Random(rounds), []
    for _ in range(rounds):
        found = changed(rng)
        if found[:2] == b"PK":
            continue
        statuses.append(asked(found))
        try:
            md.Mechanism(*from_content(found, "m.json"))
            package = 0
        except MechdesignError as error:
            package = error.exit_status
        if package != statuses[-1] and {package, statuses[-1]} != {1, 2}:
            # of an optimality that it does not read, a delta that is taken as given, or a hull among limits of a secret
            assert any(key in found for key in (b"optimality", b"delta", b"limits")), found
    assert min(statuses.count(status) for status in (0, 1, 2)) > rounds / 12


def test_a_refusal_names_an_output_and_an_input(tmp_path):
    path = tmp_path / "m.json"
    path.write_bytes(content("known", "log(9/4)"))
    told = "the guarantee is false: that of output 'c' at the input '1-0', and of 1 more"
    for program in every_program():
        assert native.run(path, program=program) == (told, 1)
    e, _, _ = files_of_secrets.limits_of("known")
    for found, words in (
        (files_of_secrets.content("known", just(e, TINY)), "that of output 'a' at the secret value 'f'"),
        (files_of_secrets.content("known", just(e), cap="2"), "the cap of output 'a', and of 3 more"),
        (
            files_of_secrets.content("known", just(e), maximal_leakage="0.8"),
            "the maximal leakage of all outputs together",
        ),
        (content("known", maximal_leakage="0.8"), "the maximal leakage of all outputs together"),
    ):
        path.write_bytes(found)
        assert native.run(path) == (f"the guarantee is false: {words}", 1)


# Deltas.

STEP = Fraction(1, 10**15)


@pytest.mark.parametrize(
    ("samples", "size", "delta", "bound"),
    [
        (2_000, 16, "1e-9", "clopper-pearson"),
        (2_000, 16, "1e-9", "weissman"),
        (300, 2, "0.4", "clopper-pearson"),
        (300, 40, "1e-200", "clopper-pearson"),
        (7, 3, "0.1", "clopper-pearson"),
        (2, 2, "0.7", "weissman"),
        (48_842, 16, "1e-9", "clopper-pearson"),
        (48_842, 16, "1e-9", "weissman"),
        (200_000, 16, "1e-9", "clopper-pearson"),
        (20_000, 2, "0.4", "clopper-pearson"),
    ],
)
def test_the_least_radius_is_proved_and_no_smaller_one(samples, size, delta, bound, asked, tmp_path):
    table = json.loads(learnt([samples, *[0] * (size - 1)], delta))
    radius = md.L1Ball.from_counts([samples, *[0] * (size - 1)], delta=delta, bound=bound).radius
    for change, status in ((0, 0), (STEP, 1), (STEP / 10, 1), (-STEP / 10, 0)):
        own = {**table["guarantee"], "bound": bound, "radius": str(radius - change)}
        found = json.dumps({**table, "guarantee": {**own, "epsilon": "700"}}).encode()
        for program in every_program():
            assert asked(found, program) == status
            told, _ = native.run(tmp_path / "m.json", program=program)
            assert told.endswith(f"by {samples} samples" if status == 0 else "the samples do not support the radius")


def test_the_samples_of_adult_take_milliseconds(asked):
    for bound in ("clopper-pearson", "weissman"):
        known = md.L1Ball.from_counts([24_000, 24_842], delta="1e-9", bound=bound)
        for change, status in ((0, 0), (STEP, 1)):
            own = {"counts": [24_000, 24_842], "samples": 48_842, "delta": "1e-9", "bound": bound}
            assert asked(two_inputs({**own, "radius": str(known.radius - change)})) == status


def test_a_large_radius_takes_no_longer(tmp_path):
    """Tails of 10^-100,000 are compared as powers of two, not digit by digit."""
    guarantee = {
        "counts": [200_000, 1],
        "samples": 200_001,
        "delta": "1e-9",
        "bound": "clopper-pearson",
        "radius": "1.9",
    }
    (tmp_path / "m.json").write_bytes(two_inputs(guarantee))
    assert native.run(tmp_path / "m.json")[0].endswith("by 200001 samples")


def two_inputs(guarantee):
    table = {"inputs": ["0", "1"], "outputs": ["a", "b"], "bits": 1, "numerators": [[1, 1], [1, 1]]}
    return json.dumps(
        {**table, "schema": "mechdesign/mechanism/1", "guarantee": {"epsilon": "1", **guarantee}}
    ).encode()


@pytest.mark.parametrize(
    ("status", "ends", "changes"),
    [
        (0, "by 2 samples", {"delta": "0.500001"}),
        (1, "do not support the radius", {"delta": "0.499999"}),
        (0, "delta = 0 by 2 samples", {"delta": "0", "radius": "2"}),
        (1, "do not support the radius", {"delta": "0"}),
        (1, "do not support the radius", {"radius": "0"}),
        (1, "do not support the radius", {"radius": "1e-16"}),
        (0, "by 2 samples", {"delta": "1e-9", "bound": "observed-sums"}),
        (0, "by 2 samples", {"delta": "0.500001", "bound": "observed-sums"}),
        (1, "do not support the radius", {"counts": [2, 0], "delta": "0.499999", "bound": "observed-sums"}),
        (1, "do not support the radius", {"delta": "0.500001", "bound": "weissman"}),
        (0, "is taken as given", {"counts": [10**6, 1], "samples": 10**6 + 1}),
        (0, "by 2 samples (asserted, not shown)", {"counts": None, "center": ["1/2", "1/2"], "samples": None,
                                                   "asserted_samples": 2, "delta": 0.5e0}),
        (2, "not a number: x", {"delta": "x"}),
    ],
)  # fmt: skip
def test_deltas_of_two_draws(status, ends, changes, asked, tmp_path):
    """At l1 distance 1 both of two draws are of one kind with probability 1/4 at most."""
    ball = {"counts": [1, 1], "samples": 2, "delta": "0.5", "bound": "clopper-pearson", "radius": "1", **changes}
    found = two_inputs({key: value for key, value in ball.items() if value is not None})
    for program in every_program():
        asked(found, program)
        told, found_status = native.run(tmp_path / "m.json", program=program)
        assert (found_status, told.endswith(ends)) == (status, True), told


@pytest.mark.parametrize(
    ("counts", "delta"),
    [([30, 6, 4], "6e-2"), ([0, 3, 9, 200, 77], "1e-3"), ([41_762, 4_685, 1_519, 470, 406], "1e-9"),
     ([1, 2, 4] * 7, "1e-9"), ([29_170, *range(0, 164, 4)], "1e-9")],
    ids=len,
)  # fmt: skip
def test_the_sums_of_observed_counts_are_decided(counts, delta, asked):
    known, size = md.L1Ball.from_counts(counts, delta=delta), len(counts)
    table = json.loads(learnt(counts, delta, bound="observed-sums"))
    for change, status in ((0, 0), (STEP, 1), (Fraction(1, 1000), 1)):
        own = {**table["guarantee"], "radius": str(known.radius - change), "epsilon": "700"}
        found = json.dumps({**table, "guarantee": own}).encode()
        for program in every_program() if sum(counts) < 1000 and size < 9 else (0,):
            assert asked(found, program) == status


def test_a_tail_that_is_its_level_supports_a_radius(asked):
    """Of one draw, 3/2 with delta 1/2: equal numbers are told apart from unequal ones."""
    ball = {"counts": [1, 0], "samples": 1, "delta": "0.5", "bound": "clopper-pearson"}
    assert asked(two_inputs({**ball, "radius": "1.5"})) == 0
    assert asked(two_inputs({**ball, "radius": str(Fraction(3, 2) - STEP)})) == 1


def test_balls_inside_other_sets_have_deltas_too(asked, tmp_path):
    path = tmp_path / "m.json"
    ball = {"counts": [1, 1], "samples": 2, "delta": "0.5", "bound": "clopper-pearson", "radius": "1"}
    given = {**ball, "counts": [10**6, 1], "samples": 10**6 + 1, "delta": "0.1"}
    union = "in one of its 2 sets or mixed from these; of the deltas of 2 sets, {} are taken as given"
    for sets, said in (([ball, ball], 0), ([ball, given], 1)):
        assert asked(two_inputs({"sets": sets})) == 0
        assert native.run(path)[0].endswith(union.format(said))
    assert asked(two_inputs({"sets": [ball, {**ball, "delta": "0.4"}]})) == 1
    first, second = ({**each, "inputs": ["0", "1"]} for each in (ball, given))
    assert asked(content({"factors": [first, second], "separator": "-"}, "700")) == 0
    told = "given the first, is one within 1 (l1) of its counts; delta = 0.1 by 1000001 samples is taken as given"
    assert native.run(path)[0].endswith(told)
    assert "within 1 (l1) of its counts; delta = 0.5 by 2 samples; the second" in native.run(path)[0]


@pytest.mark.parametrize(("number", "status"), [("0.5e0000000000000000000000", 0), ("5e-00000000000000000000001", 0),
                                                ("0.5e" + "9" * 19, 2), ("5e-" + "0" * 30 + "401", 2)])  # fmt: skip
def test_an_exponent_may_begin_with_zeros(number, status, asked):
    ball = {"counts": [1, 1], "samples": 2, "delta": 77, "bound": "clopper-pearson", "radius": "1"}
    assert asked(two_inputs(ball).replace(b"77", number.encode())) == status


@pytest.mark.parametrize(
    ("schema", "kind"),
    [("windows", "windows"), ("prefix-windows", "windows of prefixes")],
)
def test_files_of_other_kinds_are_refused_by_name(tmp_path, schema, kind):
    path = tmp_path / "m.json"
    path.write_text(json.dumps({"schema": f"mechdesign/{schema}/1", "epsilon": "1"}))
    for program in every_program():
        told, status = native.run(path, program=program)
        assert (status, told.startswith(f"the file holds {kind}, which this program does not decide")) == (2, True)


def test_more_symbols_than_the_kernel_is_given(tmp_path):
    """Randomized response on 400 symbols, known to be equally likely: the greatest lift is 400 (2^20 - 399) / 2^20."""
    size, stay = 400, 2**20 - 399
    table = document(content("ball"))
    table |= {"inputs": [f"x{i}" for i in range(size)], "outputs": [f"y{i}" for i in range(size)], "bits": 20}
    table["numerators"] = [[stay if i == j else 1 for j in range(size)] for i in range(size)]
    worst = Fraction(size * stay, 2**20)
    for change, status in ((0, 0), (TINY, 1)):
        epsilon = f"log({worst * (1 - change)})"
        table["guarantee"] = {"epsilon": epsilon, "radius": "0", "counts": [1] * size}
        (tmp_path / "m.json").write_text(json.dumps(table))
        told, found = native.run(tmp_path / "m.json")
        assert found == status
    assert told == "the guarantee is false: that of output 'y0' at the input 'x0', and of 399 more"


def test_what_is_told_of_a_promise(tmp_path):
    path = tmp_path / "m.json"
    path.write_bytes(content("relative ball", " log( 9 )\n", lower="log(81)"))
    told = "guaranteed: epsilon = log( 9 ) and lower = log(81) at every prior in its relative-ball (alpha = 9/10, "
    assert native.run(path) == (f"{told}gamma = 0.01)", 0)
    samples = {"counts": [40, 30, 20, 10], "radius": "1", "samples": 100, "delta": "1e-3", "bound": "weissman"}
    path.write_bytes(content(samples))
    told = "guaranteed: epsilon = log(9) at every prior within 1 (l1) of its counts; "
    assert native.run(path) == (f"{told}delta = 1e-3 by 100 samples", 0)
    path.write_bytes(content({**samples, "samples": 101}))
    assert native.run(path) == ("delta is false: the counts are of other samples", 1)
    path.write_bytes(content({"secret": {"name": "s"}}))
    assert native.run(path)[1] == 2
    path.write_bytes(files_of_secrets.content("known", "log(9)", cap="log(9)"))
    told = "guaranteed: epsilon = log(9) and cap = log(9) at every prior of its counts, about the secret"
    assert native.run(path) == (told, 0)
    path.write_bytes(files_of_secrets.content("other sets"))
    assert native.run(path)[0].startswith("a hull among limits is beyond this program; mechdesign verify")
    path.write_bytes(content({**SETS["ball"], "maximal_leakage": "1"}))
    assert native.run(path)[1] == 2  # of the first schema
    path.write_bytes(path.read_bytes().replace(b"mechanism/1", b"mechanism/2"))
    told = "guaranteed: epsilon = log(9) and maximal leakage = 1 at every prior within 0.1 (l1) of its center"
    assert native.run(path) == (told, 0)
    path.write_bytes(content({**SETS["ball"], "maximal_leakage": None}))
    assert native.run(path)[1] == 0
    path.write_bytes(b"PK\3\4")
    assert native.run(path) == ("an NPZ file is beyond this program: give the JSON", 3)


@pytest.mark.parametrize(
    "found",
    [
        b"",
        b"[" * 10**6,
        b'{"a":' * 10**5,
        b"\xff",
        b"\xed\xa0\x80",
        b"[1e" + b"9" * 30 + b"]",
        b'"\\ud800',
        b"[NaN]",
        b"\0",
    ],
    ids=range(9),
)
def test_what_is_no_json_is_malformed_in_one_line(found, tmp_path):
    (tmp_path / "m.json").write_bytes(found)
    for program in every_program():
        told, status = native.run(tmp_path / "m.json", program=program)
        assert status == 2
        assert told.startswith("this is not a mechanism file (")


def test_what_is_no_file_and_what_is_no_command(tmp_path):
    assert native.run(tmp_path / "none.json")[1] == native.run(tmp_path)[1] == 2
    done = subprocess.run([native.programs()[0], "--help"], capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert "--read-back FILE.v FILE.json" in done.stdout
    assert [native.run("--version", program=program)[0] for program in every_program()][-1] == "integers: Coq"


# Certificates.


def test_the_canonical_form_is_that_of_the_package(tmp_path):
    """Two readers that share no line, in two languages."""
    files = [found for status, found in (*at_their_border(), *secrets_at_their_border()) if status < 3]
    files += [path.read_bytes() for path in KIT]
    large = {"center": [f"{7**200}/{7**200 + 3**300}", f"{3**300}/{7**200 + 3**300}", "0", "0"], "radius": "1e-100"}
    assert len({from_file(found) for found in files}) > 120
    for found in [*files, content({"sets": [SETS["box"], large]}, "12.5")]:
        path = tmp_path / "canonical.json"
        path.write_bytes(found)
        for program in every_program():
            assert native.run("--canonical", path, program=program) == (from_file(found), 0)


ANOTHER = "the certificate is about another file: "


def sha256(content):
    return hashlib.sha256(content).hexdigest()


def kept(folder, found):
    (folder / "M.json").write_bytes(found)
    (folder / "M.v").write_text(certificate(document(found), found))
    return folder / "M.v", folder / "M.json"


@pytest.mark.parametrize("name", [*SETS, *SECRETS][:-1])
def test_a_certificate_is_read_back(name, tmp_path):
    of = files_of_secrets.content if name in SECRETS else content
    found = of(name, "0.125", lower="log(9/8)")
    proof, file = kept(tmp_path, found)
    for program in every_program():
        told, status = native.run("--read-back", proof, file, program=program)
        assert status == 0
        assert told.endswith(", whose labels are not in it; coqc checks its proof")
    assert native.run("--canonical", proof) == (from_file(found), 0)
    file.write_bytes(of(name, "0.125", lower="log(10/8)"))
    told, status = native.run("--read-back", proof, file)
    assert status == 1
    assert told.startswith(ANOTHER)


@pytest.mark.parametrize("size", [0, 1, 54, 55, 56, 63, 64, 65, 1000])
def test_a_certificate_names_the_file_by_its_hash(size, tmp_path):
    """White space after a file leaves its term as it is, and its bytes are others."""
    found = content("ball", "0.125")
    proof, file = kept(tmp_path, found + b" " * (size + 64 - len(found) % 64))
    for program in every_program():
        assert native.run("--read-back", proof, file, program=program)[1] == 0
    other = file.read_bytes() + b"\n"
    named = f"it names the SHA-256 {sha256(file.read_bytes())}, and this one has {sha256(other)}"
    file.write_bytes(other)
    for program in every_program():
        assert native.run("--read-back", proof, file, program=program) == (f"{ANOTHER}{named}", 1)


def test_a_theorem_about_samples_is_read_back(tmp_path):
    proof, file = kept(tmp_path, learnt([40, 30, 20, 10], "1e-3"))
    text, text_of_file = proof.read_text(), file.read_bytes()
    for program in every_program():
        told, status = native.run("--read-back", proof, file, program=program)
        assert (status, told.endswith("100 samples support the radius with delta = 1/1000")) == (0, True)
    changes = {
        "End Samples.\n": "End Samples.\nDefinition x := 1.\n",
        "learnt the_file": "learnt the_other",
        "Fixpoint tail": "Fixpoint tail_",
        "Rise 52": "Rise (52)",
        "Module Samples.": "Axiom cheat : False.\nModule Samples.",
    }
    for old, new in changes.items():
        assert old in text
        proof.write_text(text.replace(old, new, 1))
        told, status = native.run("--read-back", proof, file)
        assert (status, told.startswith("the certificate is not that of these proofs")) == (1, True)
    for old, new in {"(ratio 1 1000)": "(ratio 1 10)", "(Z.to_nat 100)": "(Z.to_nat 99)"}.items():
        assert old in text
        proof.write_text(text.replace(old, new))
        told, status = native.run("--read-back", proof, file)
        assert (status, told) == (1, f"{ANOTHER}it has other samples, or another delta")
    proof.write_text(text)
    own = {"samples": 100, "delta": "1/1000", "bound": "clopper-pearson"}
    asserted = {"asserted_samples": 100, "delta": "1/1000"}
    for changes in ({**own, "delta": "1e-9"}, {**own, "samples": 10, "counts": [4, 3, 2, 1]}, asserted, {}, own):
        table = {"counts": [40, 30, 20, 10], "radius": document(text_of_file)["guarantee"]["radius"], **changes}
        if "samples" not in changes:
            table["center"] = ["0.4", "0.3", "0.2", "0.1"]
            del table["counts"]
        file.write_text(json.dumps({**document(text_of_file), "guarantee": {"epsilon": "log(9)", **table}}))
        proof.write_text(text.replace(sha256(text_of_file), sha256(file.read_bytes())))
        for program in every_program():
            told, status = native.run("--read-back", proof, file, program=program)
            assert (status, told.startswith(ANOTHER)) == ((0, False) if changes is own else (1, True)), told


def test_a_theorem_about_counts_is_read_back(tmp_path):
    proof, file = kept(tmp_path, learnt([30, 6, 4], "6e-2", bound="observed-sums"))
    text = proof.read_text()
    for program in every_program():
        told, status = native.run("--read-back", proof, file, program=program)
        assert (status, told.endswith("also that the counts of 40 samples support the radius with delta = 3/50")) == (
            0,
            True,
        )
    changes = {
        "learnt_from_counts the_file": "learnt the_file",
        "counts_supported the_file": "radius_supported the_file",
        "[Gap 9; Rare": "[Gap (9); Rare",
        "contradicted N Q a l = false -> ball": "contradicted N Q a l = true -> ball",
    }
    for old, new in changes.items():
        assert old in text
        proof.write_text(text.replace(old, new, 1))
        told, status = native.run("--read-back", proof, file)
        assert (status, told.startswith("the certificate is not that of these proofs")) == (1, True)
    for old, new in {"(ratio 3 50)": "(ratio 3 40)", "(Z.to_nat 40)": "(Z.to_nat 39)"}.items():
        proof.write_text(text.replace(old, new))
        told, status = native.run("--read-back", proof, file)
        assert (status, told) == (1, f"{ANOTHER}it has other samples, or another delta")


EDITS = {
    "the hash of the file": ("SHA-256\n   ", "SHA-256\n   x"),
    "a definition": ("K x y <= exp eps * mean", "K x y <= exp (2 * eps) * mean"),
    "the test": ("Definition check (f : file) : bool :=\n", "Definition check (f : file) : bool := true ||\n"),
    "the theorem": ("Theorem the_promise_holds : promise the_file.", "Theorem the_promise_holds : True."),
    "an axiom": ("Module Certificate.\n", "Module Certificate.\nAxiom cheat : False.\n"),
    "a notation": ("Open Scope Z_scope.\nDefinition the_file", 'Notation "9" := 8.\nDefinition the_file'),
    "more at the end": ("End Certificate.\n", "End Certificate.\nDefinition the_file := 1.\n"),
    "less at the end": ("Print Assumptions the_promise_holds.\nEnd Certificate.\n", ""),
    "a comment in the term": ("File 4 4 4", "File (* *) 4 4 4"),
    "a hexadecimal number": ("[[9; 3", "[[0x9; 3"),
    "a scope": ("[[9; 3", "[[9%nat; 3"),
    "an entry": ("[[9; 3; 3; 1]", "[[9; 3; 2; 2]"),
    "one row less": ("; [1; 3; 3; 9]]", "]"),
    "the radius": ("Ball [4; 3; 2; 1] 1 10", "Ball [4; 3; 2; 1] 0 10"),
    "a denominator of 0": ("Ball [4; 3; 2; 1] 1 10", "Ball [4; 3; 2; 1] 1 0"),
    "epsilon": ("(Log 9 1)", "(Nats 9 1)"),
    "a cap": ("None None", "None (Some (Log 9 1))"),
}


@pytest.mark.parametrize("name", EDITS)
def test_a_certificate_that_was_edited_is_found(name, tmp_path):
    proof, file = kept(tmp_path, content("ball"))
    old, new = EDITS[name]
    text = proof.read_text()
    assert text.count(old) == 1
    proof.write_text(text.replace(old, new))
    told, status = native.run("--read-back", proof, file)
    assert status in {1, 2}
    assert told.startswith(("the certificate ", "the term ", "the rows ", "this is not"))


def test_an_integer_is_written_in_one_way():
    """Equal terms have one canonical form: a fraction that is not in lowest terms is the same promise."""
    path = native.BUILD / "Lowest.v"
    found = content("ball")
    path.write_text(certificate(document(found), found).replace("Ball [4; 3; 2; 1] 1 10", "Ball [8; 6; 4; 2] 2 20"))
    assert native.run("--canonical", path) == (from_file(found), 0)
