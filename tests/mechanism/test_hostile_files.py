"""What a mechanism file of somebody else's can do at worst: be refused, on one line, soon."""

import io
import json
import os
import random
import struct
import subprocess
import sys
import zipfile
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest
from pydantic import ValidationError
from refusals import raises

from mechdesign import (
    ConvexHull,
    Epsilon,
    Guarantee,
    GuaranteeError,
    InputError,
    L1Ball,
    Mechanism,
    ProductSet,
    verify,
)
from mechdesign.cli.entry_point import run
from mechdesign.errors import MechdesignError, shorten
from mechdesign.mechanism import file_schema, mechanism_files
from mechdesign.numerics.exact import check_common_denominator
from mechdesign.uncertainty.codec import HullCodec, TableKind
from mechdesign.uncertainty.estimate_codecs import L1BallCodec

NUMERATORS = [[5, 2, 1], [2, 5, 1], [2, 2, 4]]  # over 2^3; leaks at most log(4), for any prior
LOCAL = {"epsilon": "1.5", "radius": "2", "counts": [5, 3, 2]}
ESCAPE, BIDI = "\x1b[2J", "\u202e"


def table(guarantee=None, size=3, outputs=None, **changes):
    """Return the table of a file: the matrix above, or the mechanism that reports nothing for another size."""
    rows = NUMERATORS if size == 3 and outputs is None else [[2**10 // (outputs or 1)] * (outputs or 1)] * size
    return {
        "schema": "mechdesign/mechanism/1",
        "inputs": [f"x{i}" for i in range(size)],
        "outputs": [f"y{j}" for j in range(len(rows[0]))],
        "bits": sum(rows[0]).bit_length() - 1,
        "numerators": rows,
        "guarantee": LOCAL if guarantee is None else guarantee,
    } | changes


def loaded(content):
    text = content if isinstance(content, bytes) else json.dumps(content).encode()
    return Mechanism(*mechanism_files.from_json(text, "the file"))


def refusal(content, kind=InputError):
    with pytest.raises(kind) as caught:
        loaded(content)
    message = str(caught.value)
    assert message.isprintable()
    assert len(message) < 500
    return message


def test_the_table_itself_is_accepted():
    assert loaded(table()).proof.holds
    assert loaded(table({"epsilon": "0", "radius": "2", "counts": [1] * 5}, size=5, outputs=4)).proof.holds


# Numbers that would grow while they are computed with


def without_common_factors(size, digits, seed=0):
    """Return probabilities that miss 1 by next to nothing, over denominators that share no factor."""
    random_ = random.Random(seed)
    drawn = [random_.randrange(10 ** (digits - 1), 10**digits) for _ in range(size)]
    return [f"{denominator // size}/{denominator}" for denominator in drawn]


def over_one(size, digits, seed=0):
    """Return probabilities over one denominator."""
    common = random.Random(seed).randrange(10 ** (digits - 1), 10**digits)
    first = [common // size + i for i in range(size - 1)]
    return [f"{x}/{common}" for x in [*first, common - sum(first)]]


def ball(center, radius="1/10"):
    return {"epsilon": "1", "radius": radius, "center": center}


@pytest.mark.parametrize(
    ("guarantee", "size", "part"),
    [
        (ball(without_common_factors(100, 20)), 100, "of the center has more than 900 digits"),
        (ball(without_common_factors(2_000, 990)), 2_000, "of the center has more than 900 digits"),
        (ball(["0." + "3" * 1_000 + "4", "0." + "6" * 1_001]), 2, "of the center has more than 900 digits"),
        ({"epsilon": "1", "priors": [without_common_factors(50, 30)] * 2}, 50, "of prior 1 has more than 900 digits"),
        (
            {"epsilon": "1", "priors": [["0.5", "0.5"]] * 1_000, "weights": without_common_factors(1_000, 990)},
            2,
            "of the weights has more than 900 digits",
        ),
        (
            {"epsilon": "1", "priors": [over_one(2, 800, seed) for seed in range(5)]},
            2,
            "of the priors has more than 3000 digits",
        ),
    ],
)
def test_a_common_denominator_beyond_bounds_is_refused(guarantee, size, part):
    assert part in refusal(table(guarantee, size, 1))


def test_the_bound_on_denominators_is_met_at_its_last_digit():
    check_common_denominator([10**899], "it")
    with raises("too-many-digits", "than 900"):
        check_common_denominator([10**900], "it")
    check_common_denominator([4, 6] * 10_000, "it", digits=2)
    with raises("too-many-digits", "of it", "than 1"):
        check_common_denominator([4, 6], "it", digits=1)


@pytest.mark.parametrize(
    ("guarantee", "size"),
    [
        (ball([repr(1 / 1_000)] * 1_000), 1_000),
        (ball([repr(float(p)) for p in np.random.default_rng(1).dirichlet(np.ones(500))]), 500),
        (ball(["1e-300", "1e-400", "0.5", "0.5"]), 4),
        (ball(over_one(300, 890), "0." + "0" * 399 + "1" * 400), 300),
        (
            {
                "epsilon": "1",
                "priors": np.random.default_rng(2).dirichlet([1] * 9, 50).astype(str).tolist(),
            },
            9,
        ),
    ],
)
def test_the_priors_of_honest_files_are_far_from_the_bounds_and_come_back(guarantee, size):
    found = loaded(table(guarantee, size, 1))
    again = mechanism_files.from_json(mechanism_files.to_json(found.parts), "again")
    assert again.guarantee == found.guarantee


def test_a_radius_of_many_digits_gives_the_support_function_of_the_set():
    random_ = random.Random(3)
    for _ in range(60):
        weights = [random_.choice([0, 1, 5, 10**40]) for _ in range(4)] + [1]
        prior = [Fraction(w, sum(weights)) for w in weights]
        radius = random_.choice([Fraction(random_.randrange(1, 2 * 10**500), 10**500), Fraction(2), Fraction(2, 3)])
        column = [random_.choice([0, 3, 3, 7, 10**15]) for _ in prior]
        # The linear program of the support function, at its breakpoints.
        t = radius / 2
        expected = max(
            sum(p * min(v, top) for p, v in zip(prior, column, strict=True)) - t * (top - min(column)) for top in column
        )
        assert L1Ball(prior, radius).exact_support(column) == expected
        printed = sum(p * v for p, v in zip(prior, column, strict=True)) - t * (max(column) - min(column))
        assert L1Ball(prior, radius, within_simplex=False).exact_support(column) == printed


def test_priors_over_different_denominators_give_the_least_mean():
    random_ = random.Random(4)
    priors = [[Fraction(text) for text in over_one(4, 30, seed)] for seed in range(6)]
    weights = [Fraction(text) for text in over_one(6, 40)]
    hull = ConvexHull(priors, weights)
    mixture = (sum(w * q for w, q in zip(weights, symbol, strict=True)) for symbol in zip(*priors, strict=True))
    assert hull.center == tuple(mixture)
    for _ in range(20):
        column = [random_.randrange(2**52) for _ in range(4)]
        means = [sum(q * v for q, v in zip(prior, column, strict=True)) for prior in priors]
        value, worst = hull.exact_worst_mean(column)
        assert value == hull.exact_support(column) == min(means)
        assert list(worst) == priors[means.index(min(means))]


@pytest.mark.parametrize(
    "guarantee",
    [
        LOCAL | {"epsilon": "\u0662"},
        LOCAL | {"epsilon": "log(\u0662)"},
        LOCAL | {"radius": "\u0662"},
        LOCAL | {"radius": "\u0662/\u0663"},
        LOCAL | {"samples": 10, "delta": "0.\u0662"},
        ball(["0.\u0662", "0.4", "0.4"]),
    ],
)
def test_digits_of_other_scripts_are_no_numbers(guarantee):
    assert int("\u0662") == 2  # Python would take them
    assert "\u0662" in refusal(table(guarantee))


# Proofs that would take long


def test_a_proof_that_would_take_long_is_not_begun(monkeypatch):
    many, few = [f"x{i}" for i in range(2_000)], ["a", "b"]
    factors = [
        {"inputs": many, "radius": "1", "counts": [1] * 2_000},
        {"inputs": few, "radius": "0.1", "center": over_one(2, 850)},
    ]
    pairs = [f"{first}&{second}" for first in many for second in few]
    hostile = table({"epsilon": "1", "separator": "&", "factors": factors}, 4_000, 256, inputs=pairs)
    monkeypatch.setattr("mechdesign.mechanism.mechanism.prove", pytest.fail)
    message = refusal(hostile)
    assert "256 outputs over ProductSet" in message
    assert "steps to prove; accepted: 2.5e+08" in message
    hull = {"epsilon": "1", "priors": [["0.01"] * 100] * 30}
    monkeypatch.setattr(file_schema, "_MOST_STEPS", 30 * 100 * 64 - 1)
    assert "64 outputs over ConvexHull(30 priors on 100 categories)" in refusal(table(hull, 100, 64))
    monkeypatch.undo()
    assert loaded(table(hull, 100, 64)).proof.holds


def test_thirty_priors_on_a_thousand_symbols_are_not_too_many():
    hull = ConvexHull([[f"{p:.17g}" for p in row] for row in np.random.default_rng(5).dirichlet(np.ones(1_000), 30)])
    assert 3_000 * hull.proof_effort().steps < file_schema._MOST_STEPS


def test_a_product_set_of_endless_fractions_is_not_made(monkeypatch):
    factors = [{"inputs": list(names), "radius": "0", "center": over_one(2, 890)} for names in ("ab", "cd")]
    factors[0]["radius"] = "1/" + "7" * 1_300
    product = {"epsilon": "1", "separator": "", "factors": factors}
    hostile = table(product, 4, 1, inputs=["ac", "ad", "bc", "bd"])
    monkeypatch.setattr(ProductSet, "__init__", pytest.fail)
    assert "digits together; accepted: 3000" in refusal(hostile)
    monkeypatch.undo()
    factors[0]["radius"] = "1/7"
    assert loaded(hostile).proof.holds


def test_what_would_take_long_to_prove_is_not_saved(monkeypatch):
    good = loaded(table())
    assert mechanism_files.to_json(good.parts)
    monkeypatch.setattr(file_schema, "_MOST_STEPS", 10)
    with raises("file-too-large", "the mechanism", "mechanism: 3", "L1Ball"):
        mechanism_files.to_json(good.parts)


def test_the_estimate_of_steps_grows_with_all_that_a_proof_takes():
    def steps(known):
        return known.proof_effort().steps

    few, many = over_one(50, 20), over_one(50, 880)
    assert steps(L1Ball(few)) < steps(L1Ball(few, 1)) < steps(L1Ball(many, 1))
    hull = ConvexHull([few] * 30)
    assert steps(hull) == pytest.approx(30 * steps(L1Ball(few)), rel=0.01)
    pairs = ProductSet(L1Ball(few, 1), L1Ball(["0.5", "0.5"], 1, ["a", "b"]))
    assert steps(pairs) > 5 * steps(L1Ball(over_one(100, 20), 1))
    assert pairs.proof_effort().digits == pytest.approx(20, abs=2)


# Texts that are long, deep, or full


@pytest.mark.parametrize(
    ("content", "part"),
    [
        (b"[" * 11_000_001, "holds about 11000001 values"),
        (b"[" + b"0," * 11_000_001 + b"0]", "holds about 11000002 values"),
        (b'{"a":' * 1_000_001, "holds 1000001 colons"),
        (b'{"a":"' + b":" * 1_000_001 + b'"}', "holds 1000002 colons"),
        (b"{" + b",".join(b'"k%d":0' % i for i in range(101)) + b"}", "a table has 101 keys; accepted: at most 100"),
        (b"{" + b",".join(b'"k%d":0' % i for i in range(50_000)) + b',"k49999":0}', "a table has 50001 keys"),
        (b"[" * 900_000, "nested too deeply"),
        (b'"' + b"a " * 5_000_000 + b'"', "'a a a a a a"),
        (b"0." + b"1" * 10_000_000, "the file is 0.1111"),
        (b"1" * 10_000_000, "is too long; accepted: 20 digits"),
        (json.dumps(table()).encode("utf-16"), "not UTF-8"),
        (b"\xef\xbb\xbf" * 2 + json.dumps(table()).encode(), "not JSON"),
    ],
    ids=range(12),
)
def test_a_text_that_is_long_or_deep_or_full_is_refused(content, part):
    assert part in refusal(content)


def test_values_are_counted_before_anything_is_parsed(monkeypatch):
    content = json.dumps(table()).encode()
    values = sum(map(content.count, (b",", b"[", b"{")))
    monkeypatch.setattr(mechanism_files, "_MOST_VALUES", values)
    assert loaded(content).proof.holds
    monkeypatch.setattr(mechanism_files, "_MOST_VALUES", values - 1)
    monkeypatch.setattr("mechdesign.mechanism.mechanism_files.json.loads", pytest.fail)
    assert f"about {values} values; accepted: at most {values - 1}" in refusal(content)


def test_letters_beyond_ascii_ask_for_a_shorter_text_or_escapes(monkeypatch):
    plain, other = (table(inputs=["a", "b", name]) for name in ("c", "\U0001f600"))
    text = json.dumps(other, ensure_ascii=False).encode()
    monkeypatch.setattr(mechanism_files, "_MOST_BYTES_OF_LETTERS", len(text))
    assert loaded(text).inputs == ("a", "b", "\U0001f600")
    monkeypatch.setattr(mechanism_files, "_MOST_BYTES_OF_LETTERS", len(text) - 1)
    assert f"at most {len(text) - 1} bytes, or such letters as \\u escapes" in refusal(text)
    assert loaded(plain | {"outputs": ["y" * 999, "z", "w"]}).proof.holds
    good = loaded(other)
    monkeypatch.setattr(mechanism_files, "_MOST_BYTES_OF_LETTERS", 20)
    saved = mechanism_files.to_json(good.parts)
    assert saved.isascii()
    assert mechanism_files.from_json(saved, "the file").inputs == good.inputs


def test_what_is_too_large_to_be_loaded_is_not_saved(monkeypatch):
    good = loaded(table())
    size = len(mechanism_files.to_json(good.parts))
    for name, bound in (("_MOST_BYTES", size - 1), ("_MOST_VALUES", 20), ("_MOST_VALUES", 8), ("_MOST_COLONS", 3)):
        with monkeypatch.context() as patch:
            patch.setattr(mechanism_files, name, bound)
            with pytest.raises(InputError, match=rf"{bound}"):
                mechanism_files.to_json(good.parts)
    monkeypatch.setattr(mechanism_files, "_MOST_BYTES", size)
    assert len(mechanism_files.to_json(good.parts)) == size


@pytest.mark.parametrize(
    "changes",
    [
        {"numerators": [[Decimal("0.5")] * 1_000] * 100},
        {"numerators": [["5"] * 1_000] * 100},
        {"inputs": [1] * 10_000},
    ],
)
def test_of_many_errors_one_is_looked_for(changes):
    with pytest.raises(ValidationError) as caught:
        file_schema.MechanismRecord.model_validate(table(**changes))
    assert caught.value.error_count() == 1


@pytest.mark.parametrize(
    ("codec", "given"),
    [
        (L1BallCodec(), {"radius": "1", "counts": ["1"] * 10_000}),
        (L1BallCodec(), {"radius": "1", "center": [None] * 10_000}),
        (HullCodec(), {"priors": [[None] * 1_000] * 1_000}),
    ],
)
def test_of_many_errors_in_a_set_one_is_looked_for(codec, given):
    with pytest.raises(ValidationError) as caught:
        codec.models[TableKind.GUARANTEE][0].model_validate(given)
    assert caught.value.error_count() == 1


@pytest.mark.parametrize(
    "changes",
    [
        {"guarantee": {"epsilon": "1", "priors": [["0.5"] * 1_001] * 1_000}},
        {"optimality": {"utility": "", "value": 0, "upper_bound": 0, "lambda": [], "matrix": [[0] * 10_000] * 101}},
    ],
)
def test_a_matrix_of_many_fractions_is_refused(changes):
    assert "at most 1000000 entries" in refusal(table(**changes))


def test_no_more_of_a_value_is_printed_than_a_message_shows():
    class Mine:
        def __repr__(self):
            pytest.fail("looked at")

    assert shorten([0] * 1_000 + [Mine()]).endswith("0, 0,...")
    assert shorten({"a": [[]] * 1_000, "b": Mine()}).startswith("{'a': [[], []")
    assert shorten(" " * 10**6).endswith("...")
    for value in ("it's", 'say "so"', [1, {"a": [None, "x\ny"]}], {}, (1, [2]), {"k" * 40: {1: 2}}, [[[1.5]]]):
        assert shorten(value) == " ".join(repr(value).split())


# What the largest files that are read take, in a process of their own

MEASURE = """
import resource, sys
from mechdesign import InputError, Mechanism
try:
    print(Mechanism.load(sys.argv[1]).proof.holds)
except InputError as error:
    print(error)
usage = resource.getrusage(resource.RUSAGE_SELF)
# Not ru_maxrss, which counts the memory of the process that started this one.
peak = next(line.split()[1] for line in open("/proc/self/status") if line.startswith("VmHWM"))
print(usage.ru_utime + usage.ru_stime, peak)
"""


def most_decimals():
    return '["x"' + ",0.12345678901234" * 10_900_000 + "]"


def most_strings():
    """Return strings whose letters take four bytes each."""
    return '["x"' + ',"\\ud83d\\ude00a"' * 10_900_000 + "]"


def an_emoji_before_decimals():
    return '["\U0001f600"' + ",0.12345678901234" * 10_900_000 + "]"


def largest_hull():
    """Return a hull of a thousand priors, gains as many, and nearly as many outputs as may be proved for it."""
    random_, size, outputs = random.Random(7), 1_000, 200

    def decimals(sum_to_one):
        cut = [random_.randrange(1, 10**14) for _ in range(size - 1)]
        return [f"0.{x:017d}" for x in [*cut, 10**17 - sum(cut) if sum_to_one else 1]]

    hull = {"epsilon": "1", "priors": [decimals(True) for _ in range(size)]}
    gains = claim(size) | {"utility": "expected-gain", "matrix": [decimals(False) for _ in range(size)]}
    row = [2**52 // outputs] * outputs
    row[0] += 2**52 - sum(row)
    return json.dumps(table(hull, size, 1, optimality=gains) | {
        "outputs": [f"y{j}" for j in range(outputs)], "bits": 52, "numerators": [row] * size,
    })  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize(
    ("worst", "told"),
    [
        (most_decimals, "the file is ['x', 0.1234"),
        (most_strings, "the file is ['x', '\U0001f600a'"),
        (an_emoji_before_decimals, "letters beyond ASCII"),
        (largest_hull, "True"),
    ],
)
def test_the_worst_files_known_take_two_gigabytes_and_a_minute_at_most(tmp_path, worst, told):
    (tmp_path / "m.json").write_text(worst(), encoding="utf-8")
    done = subprocess.run(
        [sys.executable, "-X", "utf8", "-c", MEASURE, str(tmp_path / "m.json")], capture_output=True, check=True
    )
    *message, usage = done.stdout.decode("utf-8").splitlines()
    seconds, kilobytes = map(float, usage.split())
    assert told in " ".join(message)
    assert kilobytes * 1024 < 2e9
    assert seconds < 60


# What a terminal would obey


@pytest.mark.parametrize("letter", [ESCAPE, "\x00", "\x7f", "\x9b31m", "\n", "\ud800"])
@pytest.mark.parametrize("key", ["inputs", "outputs"])
def test_labels_hold_nothing_that_a_terminal_obeys(letter, key):
    assert letter not in refusal(table() | {key: ["a", f"b{letter}", "c"]})


def test_labels_of_any_script_are_kept_as_they_are():
    # Right to left, a joiner that Persian needs, two ways to write the same letter.
    labels = ["\u05d0", "\u0645\u06cc\u200c\u0634\u0648\u062f", "\u00e9"], ["e\u0301", "\u00e9", "\U0001f600"]
    found = loaded(table() | {"inputs": labels[0], "outputs": labels[1]})
    assert (found.inputs, found.outputs) == (tuple(labels[0]), tuple(labels[1]))


@pytest.mark.parametrize("name", [f"a{ESCAPE}\n{BIDI}.json", "b\udcff.json"])
@pytest.mark.parametrize("content", [json.dumps(table()), "{}", None])
def test_a_name_of_a_file_is_printed_with_escapes(tmp_path, capsys, name, content):
    path = tmp_path / name
    if content is not None:
        path.write_text(content)
    assert run(["verify", str(path)]) == (0 if content == json.dumps(table()) else 2)
    captured = capsys.readouterr()
    lines = (captured.out + captured.err).splitlines()
    assert all(line.isprintable() for line in lines)
    # Lines are folded where they are long.
    assert ("\\x1b[2J\\n\\u202e.json" if ESCAPE in name else "b\\udcff.json") in "".join(map(str.strip, lines))


def test_texts_of_a_file_reach_no_terminal_unescaped(tmp_path, capsys):
    origin = {"version": ESCAPE, "method": ESCAPE, "problem": ESCAPE + BIDI}
    hostile = table(provenance=origin) | {f"{ESCAPE}{BIDI}": 1}
    assert "\\x1b[2J\\u202e" in refusal(hostile)
    del hostile[f"{ESCAPE}{BIDI}"]
    (tmp_path / "m.json").write_text(json.dumps(hostile))
    assert run(["verify", str(tmp_path / "m.json")]) == 0
    assert all(line.isprintable() for line in capsys.readouterr().out.splitlines())


# Paths that are no files


def test_devices_pipes_and_folders_are_not_opened(tmp_path, monkeypatch):
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "link").symlink_to("/dev/zero")
    (tmp_path / "loop").symlink_to(tmp_path / "loop")
    monkeypatch.setattr("pathlib.Path.open", pytest.fail)
    for path in ("/dev/zero", tmp_path, tmp_path / "pipe", tmp_path / "link"):
        with raises("cannot-read"):
            Mechanism.load(path)
    for path in (tmp_path / "loop", tmp_path / "absent", "nul\x00", "a" * 5_000):
        with raises("cannot-read"):
            Mechanism.load(path)


def test_no_more_is_read_than_a_file_may_have(tmp_path, monkeypatch):
    content = json.dumps(table()).encode()
    (tmp_path / "m.json").write_bytes(content)
    monkeypatch.setattr(mechanism_files, "_MOST_BYTES", len(content))
    assert Mechanism.load(tmp_path / "m.json").proof.holds
    (tmp_path / "m.json").write_bytes(content + b" ")
    with raises("file-too-large", match=f"more than {len(content)} bytes"):
        Mechanism.load(tmp_path / "m.json")


# NPZ


@pytest.fixture
def npz(tmp_path):
    """Write an archive with changed members, and load it."""

    def load(changes=(), method=zipfile.ZIP_DEFLATED):
        good = mechanism_files._to_npz(loaded(table()))
        with zipfile.ZipFile(io.BytesIO(good)) as archive:
            members = {name: archive.read(name) for name in archive.namelist()} | dict(changes)
        with zipfile.ZipFile(tmp_path / "m.npz", "w", method) as archive:
            for name, content in members.items():
                archive.writestr(name, content)
        return Mechanism.load(tmp_path / "m.npz")

    return load


def header(text):
    padded = text.encode().ljust(127) + b"\n"
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(padded)) + padded


def array(values, **options):
    buffer = io.BytesIO()
    np.save(buffer, np.array(values, **options))
    return buffer.getvalue()


FIELDS = "{'descr': %s, 'fortran_order': False, 'shape': %s, }"


@pytest.mark.parametrize(
    "content",
    [
        header(FIELDS % ("'<i8'", "(")),  # a header that is no Python, on which numpy's tokenizer fails
        header(")" * 40),
        header("-" * 5_000 + "1"),
        header("(" * 5_000),
        header("[]*" * 2_000),
        header(FIELDS % ("'<i8'", "(10**100,)")),
        header(FIELDS % ("'<i8'", f"({10**100},)")),
        header(FIELDS % ("'<i8'", f"({2**40}, {2**40})")),
        header(FIELDS % ("'<i8'", "(-1, 3)")),
        header(FIELDS % ("'<i8'", "(3.0, 3)")),
        header(FIELDS % ("'nonsense'", "(3, 3)")),
        header(FIELDS % ("'|O'", "(3, 3)")) + b"cos\nsystem\n(S'exit'\ntR.",
        header(FIELDS % ("'<i8'", "(3, 3)")),
        b"\x93NUMPY\x02\x00\xff\xff\xff\xff",
        b"\x93NUMPY\x09\x00",
        b"",
        b"cos\nsystem\n(S'exit'\ntR.",
        array(NUMERATORS, dtype=float),
        array(NUMERATORS, dtype=np.int32),
        array(NUMERATORS, dtype=str),
        array(NUMERATORS, dtype="M8[s]"),
        array([[(x,) for x in row] for row in NUMERATORS], dtype=[("a", "<i8")]),
        array([NUMERATORS]),
    ],
    ids=range(23),
)
@pytest.mark.filterwarnings("ignore:Reading")  # headers as Python 2 wrote them
def test_an_array_that_is_not_as_saved_is_refused(npz, content):
    with pytest.raises(InputError, match=r"m\.npz") as caught:
        npz({"numerators.npy": content})
    assert str(caught.value).isprintable()


def test_bytes_in_another_order_are_the_same_numbers(npz):
    assert npz({"numerators.npy": array(NUMERATORS, dtype=">i8")}).numerators.tolist() == NUMERATORS


@pytest.mark.parametrize(
    ("changes", "method", "part"),
    [
        ({"../../escaped.npy": b""}, zipfile.ZIP_STORED, "accepted: json, numerators, matrix"),
        ({"more.npz": b"PK"}, zipfile.ZIP_STORED, "accepted: json, numerators, matrix"),
        ({f"m{i}.npy": b"" for i in range(200)}, zipfile.ZIP_STORED, "holds very many files"),
        ({"json.npy": bytes(200 * 2**20)}, zipfile.ZIP_DEFLATED, "'json.npy' unpacks to 209715200 bytes"),
        ({}, zipfile.ZIP_BZIP2, "compressed in another way"),
        ({}, zipfile.ZIP_LZMA, "compressed in another way"),
    ],
)
def test_an_archive_that_is_not_as_saved_is_refused(npz, tmp_path, changes, method, part):
    with pytest.raises(InputError, match=r"m\.npz") as caught:
        npz(changes, method)
    assert part in str(caught.value)
    assert [path.name for path in tmp_path.iterdir()] == ["m.npz"]


@pytest.mark.filterwarnings("ignore:Duplicate name")
def test_a_member_that_occurs_twice_is_refused(tmp_path):
    good = mechanism_files._to_npz(loaded(table()))
    (tmp_path / "m.npz").write_bytes(good)
    with zipfile.ZipFile(tmp_path / "m.npz", "a") as archive:
        archive.writestr("json.npy", archive.read("json.npy"))
    with raises("damaged-file", "json, numerators, matrix"):
        Mechanism.load(tmp_path / "m.npz")


@pytest.mark.filterwarnings("ignore:Reading", "ignore:Data type alias")
@pytest.mark.parametrize("rounds", [150, pytest.param(400, marks=pytest.mark.slow)])
def test_headers_with_a_letter_changed_are_refused_or_unharmed(npz, rounds):
    random_, good, messages = random.Random(6), array(NUMERATORS), []
    for _ in range(rounds):
        damaged = bytearray(good)
        for _ in range(random_.choice([1, 2, 4])):
            damaged[random_.randrange(128)] = random_.choice(b"()[]{}',:0123456789-+<>|iufOVUSMmaT \x00\xff")
        try:
            found = npz({"numerators.npy": bytes(damaged)})
        except InputError as error:
            messages.append(str(error))
        else:
            assert found.numerators.tolist() == NUMERATORS
    assert len(messages) > rounds / 2
    assert not any("\n" in message for message in messages)


# Claims of optimality, which cost what they cost


def claim(size):
    return {"utility": "mutual-information", "value": 0, "upper_bound": 100, "lambda": [0] * size}


def test_a_claim_for_more_symbols_than_pricing_has_memory_for_is_not_checked(tmp_path, capsys):
    hostile = table({"epsilon": "1", "radius": "0.1", "counts": [1] * 3_001}, 3_001, 1, optimality=claim(3_001))
    mechanism = loaded(hostile)
    with raises("too-much-work", "3001", "3000"):
        verify(mechanism)
    (tmp_path / "m.json").write_text(json.dumps(hostile))
    assert run(["verify", str(tmp_path / "m.json")]) == 3
    assert "--guarantee-only" in capsys.readouterr().err


def test_a_guarantee_can_be_proved_without_looking_at_the_claim(tmp_path, capsys, monkeypatch):
    path = str(tmp_path / "m.json")
    (tmp_path / "m.json").write_text(json.dumps(table(optimality=claim(3) | {"value": 0.5})))
    assert run(["verify", path]) == 1
    assert "the stored value is 0.5" in capsys.readouterr().err
    monkeypatch.setattr("mechdesign.optimize.verification.certify", pytest.fail)
    assert run(["verify", path, "--guarantee-only"]) == 0
    out = capsys.readouterr().out
    assert "claimed, not checked" in out
    assert "the guarantee holds" in out
    assert "all claims" not in out
    assert run(["verify", path, "--guarantee-only", "--json"]) == 0
    record = json.loads(capsys.readouterr().out)
    assert record["optimality"] == {"utility": "mutual-information", "checked": False}
    (tmp_path / "m.json").write_text(json.dumps(table(LOCAL | {"epsilon": "1"}, optimality=claim(3))))
    assert run(["verify", path, "--guarantee-only"]) == 1
    assert "the guarantee is false" in capsys.readouterr().err
    (tmp_path / "m.json").write_text(json.dumps(table()))
    assert run(["verify", path, "--guarantee-only", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["optimality"] is None


# What is accepted is true

NASTY = [
    *(None, True, False, 0, -1, 1, 2, 3, 4, 8, 10**15, 10**18, 2**63, -(2**63), 0.5, 1.0, -0.0, 1e308, 5e-324),
    *("", "0", "-0", "1", "2", "2/1", "1/3", "0.5", "1.3", "log(1)", "log(1/2)", "log(9/8)", "log(3)", "log(0/1)"),
    *("-1", "1e-400", "1e400", "0x10", "1_0", " 1", "NaN", "inf", "log(log(2))", "x0", "y1", "x" * 1_001, ESCAPE, BIDI),
    *([], {}, [1], [[1]], ["1"], ["0.5", "0.3", "0.2"], [1, 1, 1], [5, 3, 2], [8, 0, 0], [0, 0, 8], [6, 1, 1]),
    *("mutual-information", "expected-gain", "mechdesign/mechanism/1"),
]
KEYS = ["radius", "delta", "samples", "counts", "center", "priors", "weights", "x"]
NUMBERS = {
    "epsilon": ["0.5", "1", "1.3", "log(3)", "2"],
    "radius": ["0", "1e-9", "1/3", "1", "1.99"],
    "samples": [1, 9, 11, 10**15],
    "delta": ["0", "0.01", "0.5"],
    "counts": [[8, 1, 1], [1, 0, 9], [10**15, 1, 1]],
    "center": [["0.9", "0.05", "0.05"], ["1e-9", "0.5", "0.5"]],
}
PROVED = LOCAL | {"epsilon": "1.39", "delta": "0.1", "samples": 10}
BASES = [
    table(PROVED, optimality=claim(3), provenance={"version": "1", "method": "by hand"}),
    table(ball(["0.5", "0.3", "0.2"], "0.4") | {"epsilon": "1.2"}),
    table({"epsilon": "0.7", "priors": [["1/2", "1/4", "1/4"], ["0.25", "0.5", "0.25"]], "weights": ["0.5", "0.5"]}),
]


def places(node, path=()):
    yield path
    keys = node if isinstance(node, dict) else range(len(node)) if isinstance(node, list) else ()
    for key in keys:
        yield from places(node[key], (*path, key))


def damage(edited, random_):
    """Change a file at one place, so that it is most often malformed."""
    *folder, last = random_.choice([path for path in places(edited) if path])
    node = edited
    for key in folder:
        node = node[key]
    what = random_.choice(["replace", "replace", "remove", "copy", "rename"])
    if what == "replace":
        node[last] = random_.choice(NASTY)
    elif what == "remove":
        del node[last]
    elif isinstance(node, list):
        node.insert(0, node[last])
    else:
        node[random_.choice(KEYS)] = node.pop(last)


def lie(edited, random_):
    """Change a number of a file, so that it is most often well-formed."""
    key = random_.choice([*sorted(NUMBERS.keys() & edited["guarantee"].keys()), "row"])
    if key != "row":
        edited["guarantee"][key] = random_.choice(NUMBERS[key])
        return
    row = random_.choice(edited["numerators"])
    first, second = random_.sample(range(3), 2)
    row[first], row[second] = row[first] + 1, row[second] - 1


def least_mean(guarantee, column):
    """Return h(v) from the numbers in a file, by the linear programs of the support functions."""
    if "priors" in guarantee:
        return min(sum(Fraction(q) * v for q, v in zip(prior, column, strict=True)) for prior in guarantee["priors"])
    weights = [Fraction(w) for w in guarantee.get("counts") or guarantee["center"]]
    t = Fraction(guarantee["radius"]) / 2
    return max(
        sum(w * min(v, top) for w, v in zip(weights, column, strict=True)) / sum(weights) - t * (top - min(column))
        for top in column
    )


@pytest.mark.parametrize("rounds", [1_000, pytest.param(4_000, marks=pytest.mark.slow)])
def test_whatever_is_accepted_of_changed_files_is_true(rounds):
    random_, accepted, messages = random.Random(7), 0, {InputError: [], GuaranteeError: []}
    for round_ in range(rounds):
        edited = json.loads(json.dumps(random_.choice(BASES)))
        for change in [damage] if round_ % 2 else [lie] * random_.choice([1, 2, 3]):
            change(edited, random_)
        try:
            loaded(edited)
        except (InputError, GuaranteeError) as error:
            messages[type(error)].append(str(error))
            continue
        accepted += 1
        guarantee, rows = edited["guarantee"], edited["numerators"]
        assert len(rows) == len(edited["inputs"]) == len(set(edited["inputs"]))
        assert all(type(x) is int and x >= 0 for row in rows for x in row)
        assert {sum(row) for row in rows} == {2 ** edited["bits"]}
        e = Epsilon.of(guarantee["epsilon"]).exp_down
        for column in zip(*rows, strict=True):
            assert 0 < max(column) <= e * least_mean(guarantee, column)
        if guarantee.get("delta") is not None:
            delta, n, N = float(Fraction(guarantee["delta"])), guarantee["samples"], len(rows)
            needed = np.sqrt(2 / n * (np.log(2**N - 2) - np.log(delta))) if delta > 0 else 2.0
            assert float(Fraction(guarantee["radius"])) >= min(2.0, needed) * (1 - 1e-12)
    assert min(accepted, len(messages[InputError]), len(messages[GuaranteeError])) > 50
    assert all(message.isprintable() for kind in messages.values() for message in kind)


def test_all_errors_of_loading_are_meant():
    assert issubclass(InputError, MechdesignError)
    assert issubclass(GuaranteeError, MechdesignError)
    with raises("guarantee-false"):
        Mechanism(np.array(NUMERATORS), 3, Guarantee(Epsilon.of("1"), L1Ball([0.5, 0.3, 0.2], 2)))


def test_a_promise_from_below_counts_as_twice_the_effort(monkeypatch):
    ball = L1Ball(["0.5", "0.3", "0.2"], "0.1")
    one, both = Guarantee(1, ball), Guarantee(1, ball, "1")
    monkeypatch.setattr(file_schema, "_MOST_STEPS", 5 * ball.proof_effort().steps * 3 // 2)
    file_schema._check_effort(one, 5, "m.json")
    with raises("file-too-large", "5"):
        file_schema._check_effort(both, 5, "m.json")
