import csv
import io
import json
import zipfile
from fractions import Fraction

import numpy as np
import pytest
from edits import set_key
from numpy.testing import assert_array_equal
from refusals import raises

from mechdesign import (
    ConvexHull,
    Epsilon,
    EstimationError,
    ExpectedDistortion,
    ExpectedGain,
    FInformation,
    Guarantee,
    GuaranteeError,
    HammingAccuracy,
    InputError,
    L1Ball,
    Mechanism,
    MutualInformation,
    UncertaintySet,
)
from mechdesign.data import archives
from mechdesign.mechanism import Optimality, Provenance, mechanism_files
from mechdesign.numerics.quadratic_form import QuadraticForm
from mechdesign.uncertainty.radii import radius_exact

COUNTS = {"low": 50, "middle": 30, "high": 20}
NUMERATORS = np.array([[5, 2, 1], [2, 5, 1], [2, 2, 4]])  # over 2^3; leaks at most log(4), for any prior
AWKWARD = Optimality(MutualInformation(), 0.1 + 0.2, 1.7976931348623157e308, (5e-324, -0.0, -1 / 3))


def mechanism(uncertainty=None, epsilon="1.5", optimality=AWKWARD, title="", outputs=(), bits=3):
    ball = L1Ball.from_counts(COUNTS, delta="0.01", bound="weissman") if uncertainty is None else uncertainty
    origin = Provenance("0.1.0", "by hand", title)
    promise = Guarantee(Epsilon.of(epsilon), ball)
    return Mechanism(NUMERATORS << (bits - 3), bits, promise, outputs, optimality, origin)


def assert_same(found, expected):
    assert_array_equal(found.numerators, expected.numerators)
    assert found.numerators.dtype == np.int64
    assert found.matrix.tobytes() == expected.matrix.tobytes()
    assert (found.bits, found.inputs, found.outputs) == (expected.bits, expected.inputs, expected.outputs)
    assert found.guarantee == expected.guarantee
    assert found.provenance == expected.provenance
    assert repr(found.optimality) == repr(expected.optimality)  # repr tells -0.0 from 0.0
    assert found.optimality == expected.optimality


@pytest.fixture
def path(tmp_path):
    return tmp_path / "m.json"


@pytest.fixture
def edited(path):
    def load_edited(edit):
        mechanism().save(path)
        table = json.loads(path.read_text(encoding="utf-8"))
        edit(table)
        path.write_text(json.dumps(table), encoding="utf-8")
        return Mechanism.load(path)

    return load_edited


@pytest.fixture
def rewritten(path):
    def load_rewritten(old, new):
        mechanism().save(path)
        text = path.read_bytes()
        assert text.count(old) == 1
        path.write_bytes(text.replace(old, new))
        return Mechanism.load(path)

    return load_rewritten


# Round trips

EVERY_KIND = [
    {},
    {"epsilon": "log(4)"},
    {"uncertainty": L1Ball.from_counts(COUNTS, known=True)},
    {"uncertainty": L1Ball.from_counts(COUNTS, radius="1/3")},
    {"uncertainty": L1Ball.from_counts(COUNTS, delta=0)},
    {"uncertainty": L1Ball.from_probabilities(["0.5", "0.3", "0.2"], delta="1/7", samples=70, labels=list(COUNTS))},
    {"uncertainty": L1Ball(["0.3333333333", "0.3333333333", "0.3333333333"], 2, ['"quoted"', "naïve, \u2028x", "x"])},
    {"uncertainty": ConvexHull([["1/3", "1/3", "1/3"], [0.5, 0.25, 0.25]], weights=["1/7", "6/7"])},
    {"optimality": None},
    {"optimality": Optimality(MutualInformation(), 0.5, 0.75, (0.0, 1.0, 2.0), within_simplex=False)},
    {"optimality": Optimality(ExpectedGain([["1/3", 0, 1]]), -1.0, 2.0, (0.0, 1.0, 2.0))},
    {"optimality": Optimality(ExpectedDistortion([[0.1, 0, 1]] * 2), 1e-320, 2.0, (0.0, 1.0, 2.0))},
    {"optimality": Optimality(EstimationError(), 3.0, 2.0, (0.0, 1.0, 2.0), form=QuadraticForm(np.arange(3.0), 0.5))},
    {
        "optimality": Optimality(
            EstimationError("prefix"), 3.0, 2.0, (0.0,) * 3, form=QuadraticForm.of_matrix(np.eye(3))
        )
    },
    {
        "optimality": Optimality(
            EstimationError("scores=0,0.1,1/3"), 3.0, 2.0, (0.0,) * 3, form=QuadraticForm(np.ones(3))
        )
    },
    {"optimality": Optimality(HammingAccuracy(), 0.0, 1.0, (0.0, 1.0, 1e-300))},
    {"title": '"numerators": []', "outputs": ("a", '"numerators": []', "ü")},
    {"bits": 52, "optimality": None},
]


@pytest.mark.combined
@pytest.mark.parametrize("parts", EVERY_KIND)
@pytest.mark.parametrize("ending", [".json", ".npz", ".JSON"])
def test_a_saved_mechanism_comes_back_bit_for_bit(tmp_path, parts, ending):
    saved = mechanism(**parts)
    first, second = tmp_path / f"first{ending}", tmp_path / "second.json"
    saved.save(first)
    found = Mechanism.load(first)
    assert_same(found, saved)
    found.save(second)
    assert second.read_bytes() == mechanism_files.to_json(saved.parts)
    assert sorted(p.name for p in tmp_path.iterdir()) == [f"first{ending}", "second.json"]


def test_what_kind_a_file_is_is_seen_in_it_and_not_in_its_name(tmp_path):
    mechanism().save(tmp_path / "m.npz")
    (tmp_path / "m.npz").rename(tmp_path / "m.json")
    assert_same(Mechanism.load(tmp_path / "m.json"), mechanism())


def test_a_file_without_optimality_and_provenance_loads(edited):
    found = edited(lambda table: [table.pop("optimality"), table.pop("provenance")])
    assert (found.optimality, found.provenance) == (None, None)
    assert found.proof.holds


def test_a_claim_for_a_utility_that_files_cannot_name_is_left_out(path):
    mine = FInformation(lambda u: (u - 1) ** 2, name="chi-square")
    mechanism(optimality=Optimality(mine, 0.1, 0.2, (0.0, 0.0, 0.0))).save(path)
    assert Mechanism.load(path).optimality is None


def test_integers_and_the_json_module_are_enough_to_rebuild_the_guarantee(path):
    mechanism().save(path)
    table = json.loads(path.read_bytes())
    total = 2 ** table["bits"]
    rows = [[Fraction(n, total) for n in row] for row in table["numerators"]]
    assert all(sum(row) == 1 for row in rows)
    assert [[float(p) for p in row] for row in rows] == mechanism().matrix.tolist()
    assert len(rows) == len(table["inputs"]) == len(table["guarantee"]["counts"])
    assert {len(row) for row in rows} == {len(table["outputs"])}

    counts = table["guarantee"]["counts"]
    prior = [Fraction(count, sum(counts)) for count in counts]
    ratios = []
    for column in zip(*rows, strict=True):
        left, worst = Fraction(table["guarantee"]["radius"]) / 2, list(prior)
        for i in sorted(range(len(column)), key=lambda i: -column[i]):
            moved = min(left, worst[i])
            worst[i] -= moved
            left -= moved
        mean = sum(p * v for p, v in zip(worst, column, strict=True)) + (1 - sum(worst)) * min(column)
        ratios.append(max(column) / mean)
    assert tuple(ratios) == mechanism().proof.ratios
    assert max(ratios) <= Epsilon.of(table["guarantee"]["epsilon"]).exp_down


def test_the_json_is_laid_out_as_documented(path):
    mechanism(title="a title").save(path)
    table = json.loads(path.read_bytes())
    assert list(table) == ["schema", "inputs", "outputs", "bits", "numerators", "guarantee", "optimality", "provenance"]
    assert table["schema"] == "mechdesign/mechanism/1"
    assert table["inputs"] == list(COUNTS)
    assert table["outputs"] == list(mechanism().outputs)
    assert table["guarantee"]["epsilon"] == "1.5"
    assert table["guarantee"]["delta"] == 0.01
    assert table["guarantee"]["bound"] == "weissman"
    assert Fraction(table["guarantee"]["radius"]) == L1Ball.from_counts(COUNTS, delta="0.01", bound="weissman").radius
    assert set(table["optimality"]) >= {"value", "upper_bound", "lambda", "utility"}
    assert table["provenance"] == {"version": "0.1.0", "method": "by hand", "problem": "a title"}
    assert b"\n  [5, 2, 1],\n" in path.read_bytes()  # one row a line


def test_npz_holds_the_json_beside_the_arrays(tmp_path):
    mechanism().save(tmp_path / "m.npz")
    with np.load(tmp_path / "m.npz", allow_pickle=False) as arrays:
        assert sorted(arrays.files) == ["json", "matrix", "numerators"]
        assert arrays["json"].tobytes() == mechanism_files.to_json(mechanism().parts)
        assert_array_equal(arrays["numerators"], NUMERATORS)
        assert_array_equal(arrays["matrix"], NUMERATORS / 8)


def test_csv_is_for_reading(tmp_path):
    named = mechanism(L1Ball(["0.5", "0.3", "0.2"], labels=["a,b", 'say "so"', "é"]), outputs=("y,1", "y2", "y3"))
    named.save(tmp_path / "m.csv")
    rows = list(csv.reader(io.StringIO((tmp_path / "m.csv").read_text(encoding="utf-8"))))
    assert rows[0] == ["numerators over 2^3", "y,1", "y2", "y3"]
    assert [row[0] for row in rows[1:]] == ["a,b", 'say "so"', "é"]
    assert [[int(n) for n in row[1:]] for row in rows[1:]] == NUMERATORS.tolist()
    with raises("wrong-file-format"):
        Mechanism.load(tmp_path / "m.csv")


# Saving


@pytest.mark.parametrize("name", ["m.txt", "m", "m.json.gz", "m.", ".json", "m.toml"])
def test_another_ending_is_refused_and_the_file_is_untouched(tmp_path, name):
    (tmp_path / name).write_bytes(b"what stood here")
    with raises("wrong-file-ending", ".json, .npz, .csv"):
        mechanism().save(tmp_path / name)
    assert (tmp_path / name).read_bytes() == b"what stood here"
    assert [p.name for p in tmp_path.iterdir()] == [name]


@pytest.mark.parametrize("ending", [".json", ".npz", ".csv"])
def test_a_place_that_cannot_be_written_is_refused(tmp_path, ending):
    with raises("cannot-write"):
        mechanism().save(tmp_path / "absent" / f"m{ending}")


def test_a_set_without_a_form_is_not_written(path):
    known = {"center": (Fraction(1, 3),) * 3, "labels": ("a", "b", "c")}
    methods = dict.fromkeys(UncertaintySet.__abstractmethods__)
    methods["exact_support"] = lambda self, column: Fraction(min(column))
    simplex = type("Simplex", (UncertaintySet,), methods | known)()
    with raises("no-file-format", "Simplex"):
        mechanism(simplex).save(path)
    assert not path.exists()


@pytest.mark.parametrize(
    "make",
    [
        pytest.param(lambda: mechanism(title="t" * 3_000), id="long title"),
        pytest.param(lambda: mechanism(L1Ball([0.5, 0.3, 0.2], "0." + "3" * 1_100)), id="long radius"),
        pytest.param(lambda: mechanism(L1Ball([0.5, 0.3, 0.2], labels=["\ud800", "b", "c"])), id="label"),
        pytest.param(lambda: mechanism(L1Ball([0.5, 0.3, 0.2], labels=[10**1_500, "b", "c"])), id="long integer"),
        pytest.param(lambda: mechanism(outputs=("\udfff", "b", "c")), id="output"),
        pytest.param(lambda: mechanism(title="\ud800"), id="title"),
    ],
)
def test_what_could_not_be_loaded_again_is_refused(path, make):
    with pytest.raises(InputError):
        make().save(path)
    assert not path.exists()


# Loading: malformed files


def drop_key(*keys):
    *folder, last = keys

    def edit(table):
        for key in folder:
            table = table[key]
        del table[last]

    return edit


def rename_key(old, new):
    def edit(table):
        table[new] = table.pop(old)

    return edit


def in_optimality(edit):
    return lambda table: edit(table["optimality"])


@pytest.mark.parametrize(
    ("edit", "parts"),
    [
        (set_key("numerators", 0, 0, 6), ["row 1 of the numerators sums to 9", "2^3 = 8"]),
        (set_key("numerators", 1, [9, -2, 1]), ["row 2, column 2 is -2", "0 or more"]),
        (set_key("numerators", 1, [10, -3, 1]), ["row 2, column 2 is -3"]),
        (set_key("numerators", [[8, 0, 0]] * 3), ["column 2 of the numerators is zero"]),
        (set_key("numerators", [[5, 2, 1], [2, 5, 1]]), ["3 inputs and 3 outputs"]),
        (set_key("numerators", 0, [5, 3]), ["3 inputs and 3 outputs"]),
        (set_key("numerators", []), ["3 inputs and 3 outputs"]),
        (set_key("numerators", 0, 0, 5.5), ["numerators.0.0", "5.5"]),
        (set_key("numerators", 0, 0, 5.0), ["numerators.0.0", "5.0"]),
        (set_key("numerators", 0, 0, "5"), ["numerators.0.0 is '5'"]),
        (set_key("numerators", 0, 0, True), ["numerators.0.0 is True"]),
        (set_key("numerators", 0, 0, None), ["numerators.0.0 is None"]),
        (set_key("numerators", 0, 0, 2**63), ["numerators.0.0 is 9223372036854775808"]),
        (set_key("numerators", 0, [2**62, 2**62, 2**62]), ["at most 2^3"]),
        (set_key("numerators", 0, 0, 10**20), ["is too long", "20 digits"]),
        (set_key("bits", 0), ["bits is 0"]),
        (set_key("bits", 53), ["bits is 53"]),
        (set_key("bits", -1), ["bits is -1"]),
        (set_key("bits", 4), ["row 1 of the numerators sums to 8", "2^4 = 16"]),
        (set_key("bits", 3.0), ["bits is 3.0"]),
        (set_key("bits", "3"), ["bits is '3'"]),
        (set_key("bits", True), ["bits is True"]),
        (set_key("inputs", ["a", "a", "b"]), ["'a' occurs twice"]),
        (set_key("inputs", ["a", "", "b"]), ["a label is empty"]),
        (set_key("inputs", [1, 2, 3]), ["inputs.0 is 1"]),
        (set_key("inputs", ["a", None, "b"]), ["inputs.1 is None"]),
        (set_key("inputs", ["a", "b" * 1_001, "c"]), ["1001 characters"]),
        (set_key("inputs", ["a", "\ud800", "b"]), ["\\ud800"]),
        (set_key("inputs", "abc"), ["inputs is 'abc'"]),
        (set_key("inputs", []), ["0 inputs"]),
        (set_key("outputs", ["a", "b", "a"]), ["'a' occurs twice"]),
        (set_key("outputs", ["a", "b"]), ["3 inputs and 2 outputs"]),
        (set_key("outputs", ["a", "b", "\udfff"]), ["\\udfff"]),
        (set_key("schema", "mechdesign/mechanism/2"), ["schema is 'mechdesign/mechanism/2'", "mechdesign/mechanism/1"]),
        (set_key("schema", 1), ["schema is 1"]),
        (drop_key("schema"), ["'schema' is missing"]),
        (rename_key("schema", "schema_name"), ["schema"]),
        (in_optimality(rename_key("lambda", "multipliers")), ["lambda"]),
        (set_key("comment", "hello"), ["'comment' is unknown", "accepted: bits, guarantee, inputs"]),
        (
            set_key("guarantee", "comment", "hello"),
            ["'guarantee.comment' is unknown", "accepted: asserted_samples, bound, center, counts"],
        ),
        (set_key("optimality", "comment", "hello"), ["'optimality.comment' is unknown", "lambda"]),
        (set_key("provenance", "comment", "hello"), ["'provenance.comment' is unknown"]),
        (drop_key("inputs"), ["'inputs' is missing"]),
        (drop_key("bits"), ["'bits' is missing"]),
        (drop_key("numerators"), ["'numerators' is missing"]),
        (drop_key("guarantee"), ["'guarantee' is missing"]),
        (drop_key("guarantee", "epsilon"), ["'guarantee.epsilon' is missing"]),
        (drop_key("guarantee", "radius"), ["'guarantee.radius' is missing"]),
        (drop_key("guarantee", "counts"), ["no set of priors"]),
        (drop_key("guarantee", "delta"), ["belong together"]),
        (drop_key("guarantee", "samples"), ["belong together"]),
        (drop_key("optimality", "lambda"), ["'optimality.lambda' is missing"]),
        (drop_key("optimality", "utility"), ["'optimality.utility' is missing"]),
        (set_key("guarantee", None), ["guarantee is None"]),
        (set_key("guarantee", "epsilon", 1.5), ["guarantee.epsilon", "1.5"]),
        (set_key("guarantee", "epsilon", "-1"), ["epsilon is '-1'"]),
        (set_key("guarantee", "epsilon", "inf"), ["epsilon is 'inf'"]),
        (set_key("guarantee", "epsilon", "1" * 2_001), ["guarantee.epsilon", "2000 characters"]),
        (set_key("guarantee", "radius", "3"), ["the radius is '3'"]),
        (set_key("guarantee", "radius", "1/0"), ["divides by zero"]),
        (set_key("guarantee", "radius", "NaN"), ["'NaN'"]),
        (set_key("guarantee", "delta", 1.5), ["delta is '1.5'"]),
        (set_key("guarantee", "delta", -0.1), ["delta is '-0.1'"]),
        (set_key("guarantee", "delta", "much"), ["delta is 'much'"]),
        (set_key("guarantee", "samples", 0), ["the number of samples is 0"]),
        (set_key("guarantee", "samples", 1.5), ["guarantee.samples"]),
        (set_key("guarantee", "counts", [50, 30]), ["2 counts for 3 inputs"]),
        (set_key("guarantee", "counts", [50, 30, 20, 1]), ["4 counts for 3 inputs"]),
        (set_key("guarantee", "counts", [50, 30, -20]), ["the count of 'high' is -20"]),
        (set_key("guarantee", "counts", [50, 30, 20.5]), ["guarantee.counts.2"]),
        (set_key("guarantee", "counts", [0, 0, 0]), ["all counts are 0"]),
        (set_key("guarantee", "center", ["0.5", "0.3", "0.2"]), ["give one of counts, center, box"]),
        (set_key("guarantee", {"epsilon": "1.5", "radius": "0"}), ["no set of priors"]),
        (set_key("guarantee", "weights", ["1"]), ["has weights beside counts"]),
        (
            set_key("guarantee", {"epsilon": "1.5", "radius": "2", "priors": [["0.5", "0.3", "0.2"]]}),
            ["has radius beside priors"],
        ),
        (set_key("guarantee", {"epsilon": "1.5", "radius": "0", "center": [1, 0, 0]}), ["'middle' has probability 0"]),
        (set_key("guarantee", {"epsilon": "1.5", "radius": "0", "center": ["1/2", "1/3"]}), ["the center sums to"]),
        (set_key("guarantee", {"epsilon": "1.5", "radius": "0", "center": ["1/2"] * 2}), ["3 labels for 2 categories"]),
        (set_key("guarantee", {"epsilon": "1.5", "radius": "0", "center": ["1e400", 1, 1]}), ["the center sums to"]),
        (set_key("guarantee", {"epsilon": "1.5", "priors": []}), ["no priors"]),
        (set_key("optimality", "utility", "entropy"), ["'entropy' is unknown"]),
        (set_key("optimality", "utility", "expected-gain"), ["'expected-gain' needs a matrix"]),
        (set_key("optimality", "matrix", [["1", "0", "0"]]), ["takes no matrix"]),
        (set_key("optimality", "lambda", [0.0, 0.0]), ["lambda has 2 entries", "3"]),
        (set_key("optimality", "lambda", 0, "0"), ["optimality.lambda.0 is '0'"]),
        (set_key("optimality", "value", None), ["optimality.value is None"]),
        (set_key("optimality", "value", True), ["optimality.value is True"]),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_an_edited_file_is_refused_on_one_line(edited, edit, parts):
    with pytest.raises(InputError) as caught:
        edited(edit)
    message = str(caught.value)
    assert all(part in message for part in parts), message
    assert "\n" not in message
    assert len(message) < 500


@pytest.mark.parametrize(
    ("old", "new", "parts"),
    [
        (b'"bits": 3', b'"bits": 3, "bits": 3', ["the key 'bits' occurs twice"]),
        (b'"delta": 0.01', b'"delta": 0.01, "delta": 0.5', ["the key 'delta' occurs twice"]),
        (b'"value": 0.30000000000000004', b'"value": NaN', ["NaN is not finite"]),
        (b'"value": 0.30000000000000004', b'"value": -Infinity', ["-Infinity is not finite"]),
        (b'"value": 0.30000000000000004', b'"value": 1e400', ["optimality.value", "finite"]),
        (b'"value": 0.30000000000000004', b'"value": 1e99999999999999999999', ["1e99999999999999999999"]),
        (b'"delta": 0.01', b'"delta": 1e-99999', ["delta is '1E-99999'"]),
        (b'"bits": 3', b'"bits": ' + b"9" * 5_000, ["is too long"]),
        (b'"samples": 100', b'"samples": ' + b"9" * 21, ["is too long"]),
        (b'"bits": 3', b'"bits": ' + b"[" * 100_000 + b"]" * 100_000, ["nested too deeply"]),
        (b'"bits": 3', b'"bits": ' + b'{"a":' * 100_000, ["nested too deeply"]),
        (b'"bits": 3', b'"bits": ' + b"[" * 100 + b"]" * 100, ["bits is [[["]),
        (b'"low"', b'"l\xf6w"', ["not UTF-8"]),
        (b'"low"', b"'low'", ["not JSON"]),
        (b'"bits": 3', b'"bits": 3,,', ["not JSON", "line 13"]),
        (b'"low"', b'"l\x00w"', ["not JSON"]),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_a_file_that_is_not_the_json_it_should_be_is_refused(rewritten, old, new, parts):
    with pytest.raises(InputError) as caught:
        rewritten(old, new)
    message = str(caught.value)
    assert all(part in message for part in parts), message
    assert "\n" not in message
    assert len(message) < 300


@pytest.mark.parametrize("content", [b"", b"null", b"3", b"[]", b'"text"', b"\xef\xbb\xbf{}", b"{", b"PK", b"\x80"])
def test_other_files_are_no_mechanisms(path, content):
    path.write_bytes(content)
    with pytest.raises(InputError, match=r"m\.json"):
        Mechanism.load(path)


def test_a_file_that_cannot_be_read_is_refused(tmp_path):
    with raises("cannot-read"):
        Mechanism.load(tmp_path / "absent.json")
    with raises("cannot-read"):
        Mechanism.load(tmp_path)


def test_an_enormous_file_is_refused_before_it_is_read(path):
    with path.open("wb") as file:
        file.truncate(mechanism_files._MOST_BYTES + 1)
    with raises("file-too-large"):
        Mechanism.load(path)


# Loading: well-formed files whose claims are false


@pytest.mark.parametrize(
    ("edit", "part"),
    [
        (set_key("guarantee", "epsilon", "0.9"), "above epsilon = 0.9"),
        (set_key("guarantee", "epsilon", "log(11/10)"), "the guarantee is false"),
        (set_key("numerators", 0, [8, 0, 0]), "output 'y2-3262e2' and 1 more"),
        (set_key("numerators", 2, [0, 2, 6]), "the guarantee is false"),
        (set_key("guarantee", "radius", "0"), "the radius 0 is below"),
        (set_key("guarantee", "radius", "0.35"), "the radius 0.35 is below"),
        (set_key("guarantee", "delta", 0.005), "which delta 0.005 needs with 100 samples"),
        (set_key("guarantee", "delta", 0), "below 2, which delta 0 needs"),
        (
            set_key("guarantee", "samples", 99),
            "claimed with 99 samples, and the counts are of 100; the claimed delta is false",
        ),
    ],
)
def test_a_false_claim_is_no_bad_input(edited, edit, part):
    with pytest.raises(GuaranteeError) as caught:
        edited(edit)
    assert part in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_radius_a_hair_below_what_delta_needs_is_refused(edited):
    radius = mechanism().guarantee.uncertainty.radius
    with raises("delta-false"):
        edited(set_key("guarantee", "radius", str(radius - Fraction(1, 10**15))))
    assert edited(set_key("guarantee", "radius", str(radius))).proof.holds
    assert edited(set_key("guarantee", "radius", str(radius + Fraction(1, 10**9)))).proof.holds


def test_other_counts_than_the_proof_was_made_for_are_refused(path):
    mechanism(L1Ball.from_counts(COUNTS, known=True), epsilon="log(5/2)").save(path)
    text = path.read_text(encoding="utf-8")
    path.write_text(text.replace("50,", "51,"), encoding="utf-8")
    with raises("guarantee-false", "output 'y3-3262e2' leak"):
        Mechanism.load(path)


def test_epsilon_a_hair_below_the_leakage_is_refused(tmp_path):
    tight = Mechanism(np.array([[3, 1], [1, 3]]), 2, Guarantee(Epsilon.of("log(3)"), L1Ball(["0.5", "0.5"], 2)))
    tight.save(tmp_path / "tight.json")
    text = (tmp_path / "tight.json").read_text(encoding="utf-8")
    below = f"log({3 * 10**40 - 1}/{10**40})"
    (tmp_path / "tight.json").write_text(text.replace("log(3)", below), encoding="utf-8")
    with raises("guarantee-false"):
        Mechanism.load(tmp_path / "tight.json")


def test_a_weaker_promise_than_proved_is_accepted(edited):
    assert edited(set_key("guarantee", "epsilon", "2")).proof.holds


# Loading: NPZ


def write_npz(path, **arrays):
    text = np.frombuffer(mechanism_files.to_json(mechanism().parts), dtype=np.uint8)
    content = {"json": text, "numerators": NUMERATORS, "matrix": NUMERATORS / 8} | arrays
    with path.open("wb") as file:
        np.savez(file, **{name: array for name, array in content.items() if array is not None})


@pytest.mark.parametrize(
    "arrays",
    [
        {"numerators": NUMERATORS + np.eye(3, dtype=np.int64)},
        {"numerators": NUMERATORS[:, ::-1]},
        {"numerators": NUMERATORS[:2]},
        {"matrix": np.nextafter(NUMERATORS / 8, 1)},
        {"matrix": np.full((3, 3), np.nan)},
    ],
)
def test_arrays_that_differ_from_the_json_are_refused(tmp_path, arrays):
    write_npz(tmp_path / "m.npz", **arrays)
    with raises("damaged-file"):
        Mechanism.load(tmp_path / "m.npz")


def test_a_false_guarantee_in_npz_is_a_false_claim(tmp_path):
    text = mechanism_files.to_json(mechanism().parts).replace(b'"epsilon": "1.5"', b'"epsilon": "0.5"')
    write_npz(tmp_path / "m.npz", json=np.frombuffer(text, dtype=np.uint8))
    with raises("guarantee-false"):
        Mechanism.load(tmp_path / "m.npz")


@pytest.mark.parametrize(
    ("arrays", "part"),
    [
        ({"numerators": NUMERATORS.astype(object)}, "pickle"),
        ({"json": np.array([{"schema": 1}], dtype=object)}, "pickle"),
        ({"json": None}, "accepted: json, numerators, matrix"),
        ({"matrix": None}, "accepted: json, numerators, matrix"),
        ({"more": np.zeros(1)}, "accepted: json, numerators, matrix"),
        ({"json": np.zeros(3)}, "as saved"),
        ({"json": np.zeros(3, dtype=np.uint8)}, "not JSON"),
    ],
)
def test_other_arrays_are_refused(tmp_path, arrays, part):
    write_npz(tmp_path / "m.npz", **arrays)
    with pytest.raises(InputError, match=r"m\.npz") as caught:
        Mechanism.load(tmp_path / "m.npz")
    assert part in str(caught.value)


def test_a_truncated_archive_is_refused(tmp_path):
    mechanism().save(tmp_path / "m.npz")
    content = (tmp_path / "m.npz").read_bytes()
    for length in range(2, len(content), 41):
        (tmp_path / "short.npz").write_bytes(content[:length])
        with raises("wrong-file-format", "an NPZ file"):
            Mechanism.load(tmp_path / "short.npz")


def test_a_damaged_archive_is_refused_or_unharmed(tmp_path):
    mechanism().save(tmp_path / "m.npz")
    content = (tmp_path / "m.npz").read_bytes()
    refused = 0
    for place in range(2, len(content), 7):
        damaged = bytearray(content)
        damaged[place] ^= 0xFF
        (tmp_path / "damaged.npz").write_bytes(bytes(damaged))
        try:
            assert_same(Mechanism.load(tmp_path / "damaged.npz"), mechanism())
        except InputError:
            refused += 1
    assert refused > 50


def test_members_that_are_no_arrays_are_refused(tmp_path):
    with zipfile.ZipFile(tmp_path / "m.npz", "w") as archive:
        for name in ("json", "numerators", "matrix"):
            archive.writestr(name, mechanism_files.to_json(mechanism().parts))
    with raises("damaged-file", "m.npz"):
        Mechanism.load(tmp_path / "m.npz")


def test_an_array_that_claims_more_than_memory_is_refused(tmp_path):
    header = b"{'descr': '|u1', 'fortran_order': False, 'shape': (1000000000000000,), }"
    array = b"\x93NUMPY\x01\x00" + (118).to_bytes(2, "little") + header.ljust(117) + b"\n"
    with zipfile.ZipFile(tmp_path / "m.npz", "w") as archive:
        for name in ("json.npy", "numerators.npy", "matrix.npy"):
            archive.writestr(name, array)
    with raises("wrong-file-format", "m.npz"):
        Mechanism.load(tmp_path / "m.npz")


def test_an_archive_that_unpacks_to_too_much_is_refused(tmp_path, monkeypatch):
    write_npz(tmp_path / "plain.npz", more=np.zeros(10**5, dtype=np.uint8))
    with (
        zipfile.ZipFile(tmp_path / "plain.npz") as plain,
        zipfile.ZipFile(tmp_path / "m.npz", "w", zipfile.ZIP_DEFLATED) as packed,
    ):
        for name in plain.namelist():
            packed.writestr(name, plain.read(name))
    monkeypatch.setattr(archives, "MOST_BYTES", 10**4)
    assert (tmp_path / "m.npz").stat().st_size < 10**4
    with raises("file-too-large"):
        Mechanism.load(tmp_path / "m.npz")


# The bound that made the radius


def sharper_file(path, edit):
    mechanism(L1Ball.from_counts(COUNTS, delta="0.01")).save(path)
    table = json.loads(path.read_text(encoding="utf-8"))
    edit(table["guarantee"])
    path.write_text(json.dumps(table), encoding="utf-8")
    return Mechanism.load(path)


def test_a_file_names_the_sharper_bound_and_derives_it_again(path):
    ball = sharper_file(path, lambda guarantee: None).guarantee.uncertainty
    assert json.loads(path.read_text(encoding="utf-8"))["guarantee"]["bound"] == "observed-sums"
    assert (ball.evidence.bound, ball.radius) == (
        "observed-sums",
        L1Ball.from_counts(ball.evidence.counts, delta="0.01").radius,
    )


def test_a_file_without_the_word_is_one_of_weissmans(edited):
    ball = edited(lambda table: table["guarantee"].pop("bound")).guarantee.uncertainty
    assert (ball.evidence.bound, ball.radius) == ("weissman", radius_exact(100, 3, "0.01", bound="weissman"))


@pytest.mark.parametrize(
    "edit",
    [
        lambda guarantee: guarantee.pop("bound"),
        lambda guarantee: guarantee.update(bound="weissman"),
        lambda guarantee: guarantee.update(radius=str(Fraction(guarantee["radius"]) - Fraction(1, 10**15))),
    ],
)
def test_a_radius_below_that_of_its_bound_is_a_false_claim(path, edit):
    with raises("delta-false"):
        sharper_file(path, edit)


@pytest.mark.parametrize(
    ("edit", "code"),
    [
        (
            lambda guarantee: guarantee.update(bound="hoeffding"),
            "unknown-choice",
        ),
        (lambda guarantee: guarantee.update(bound=1), "bad-field"),
        (lambda guarantee: (guarantee.pop("delta"), guarantee.pop("samples")), "key-out-of-place"),
    ],
)
def test_a_bound_that_is_not_one_is_refused(path, edit, code):
    with raises(code):
        sharper_file(path, edit)
