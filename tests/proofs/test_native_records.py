"""Files of views of whole records: the checker that Coq extracts says what the second verifier and the package say."""

import json
from fractions import Fraction
from itertools import pairwise
from pathlib import Path
from random import Random

import native
import pytest
from files_of_records import OF_PAIRS, OF_SEXES, PAIRS, REST, changed, file_of, learnt, some_file, view

from mechdesign.errors import MechdesignError
from mechdesign.records import RecordMechanism
from mechdesign.records.record_mechanism_files import from_content, record_json
from mechdesign.records.record_secret import tables_of
from mechdesign.records.shared_tables import shared_tables
from tests.examples.test_verify_records import other_sets
from tests.fuzz.generators import damaged
from tests.proofs.test_native import odd
from tests.records.made import both, survey
from tests.records.test_record_files import HOSTILE
from tests.records.test_record_files import learnt as learnt_views

ROOT = Path(__file__).parents[2]
pytestmark = [pytest.mark.slow, pytest.mark.skipif(bool(native.LACKING), reason=native.REASON)]
KIT = sorted(ROOT.glob("conformance/records*/*.json"))


@pytest.fixture
def asked(monkeypatch, tmp_path):
    """Return the status of a program, or of every one, for a file, and the words, as the second verifier judges it."""
    monkeypatch.syspath_prepend(str(ROOT / "examples"))
    import verify_records

    def ask(found, programs=None):
        path = tmp_path / "r.json"
        path.write_bytes(found if isinstance(found, bytes) else json.dumps(found).encode())
        told = verify_records.answer(path)
        (status,) = {native.check_agrees(path, *told, program=k) for k in range(programs or len(native.programs()))}
        return status, native.run(path)[0]

    return ask


def package(found):
    """Return the status of the package: views are proved, and the tables that two of them share are compared."""
    try:
        made = from_content(found, "r.json", RecordMechanism)
    except MechdesignError as error:
        return error.exit_status
    told = tables_of([(part.name, part.attributes, part.mechanism.guarantee.uncertainty) for part in made.listed])
    return int(any(table.contradicts for table in shared_tables(list(told))))


def test_the_conformance_kit(asked):
    assert len(KIT) > 60
    found = {path.stem: asked(path.read_bytes()) for path in KIT if path.parent.name == "records"}
    assert {name: status for name, (status, _) in found.items()} == {
        **dict.fromkeys(["bins", "one-view", "rare-views"], 0),
        "mixed": 1,
        **dict.fromkeys(["merged", "strings", "secret"], 3),
    }
    statuses = [asked(path.read_bytes())[0] for path in KIT if path.parent.name == "records-refused"]
    assert len(statuses) > 50
    assert 0 not in statuses
    assert statuses.count(3) == 10  # with windows among the views, or about a secret


def test_views_of_every_set(asked):
    for made in (both(), learnt_views(), survey(), *other_sets()):
        status, words = asked(record_json(made))
        assert status == 0
        about = f"guaranteed: epsilon = {made.guarantee.epsilon} about the whole record, which reports one of"
        assert words.startswith(f"{about} {len(made.parts)} views")
        assert ("delta = " in words) == (made.guarantee.delta is not None)
    for known in OF_PAIRS:
        assert asked(file_of([view(["sex", "pay"], PAIRS, known, 1, "log(20)")]))[0] == 0
    for known in OF_SEXES:
        assert asked(file_of([view(["sex"], ["f", "m"], known, 1, "log(20)")]))[0] == 0


@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_file_is_refused(asked, name):
    file = json.loads(record_json(learnt_views()))
    HOSTILE[name][0](file)
    assert asked(file)[0] == HOSTILE[name][1].exit_status


@pytest.mark.parametrize("rounds", [600])
def test_files_that_were_changed(asked, rounds):
    rng, statuses = Random(rounds), []
    while len(statuses) < rounds:
        table = some_file(rng)
        for _ in range(rng.choice([0, 0, 1, 1, 2])):
            table = changed(rng, table) if table["parts"] else table
        kind = rng.random()
        found = odd(rng, table) if kind < 0.1 and table["parts"] else json.dumps(table).encode()
        found = damaged(rng, found) if kind > 0.9 else found
        if found[:2] == b"PK":
            continue
        statuses.append(asked(found, programs=None if len(statuses) < 60 else 1)[0])
        if package(found) != statuses[-1]:
            assert {package(found), statuses[-1]} == {1, 2}, found
    assert min(statuses.count(status) for status in (0, 1, 2)) > rounds / 8


TINY = Fraction(1, 10**30)
TWO = [view(["smokes"], ["no", "yes"], learnt((500, 500), "1e-3"), 1, "log(5)"),
       view(["drinks"], ["no", "yes"], learnt((400, 600), "1e-9"), 3, "log(4)")]  # fmt: skip
SUM = Fraction("1e-3") + Fraction("1e-9")


@pytest.mark.parametrize(
    ("status", "words", "changes"),
    [
        (0, "one of 2 views, for every joint law whose views lie in their sets; delta = 1000001/1000000000", {}),
        (0, "", {"delta": str(SUM + TINY)}),
        (1, "delta is that of the views", {"delta": str(SUM - TINY)}),
        (1, "delta is that of the views", {"delta": None}),
        (2, "delta is from 0 to 1", {"delta": "1"}),
        (2, "something is not a text", {"delta": 0.5}),
        (0, "epsilon = log(5000001/1000000)", {"epsilon": "log(5000001/1000000)"}),
        (1, "epsilon is below that of a view", {"epsilon": "log(4999999/1000000)"}),
        (1, "epsilon is below that of a view", {"epsilon": "1.6094379124341003"}),
        (0, "", {"epsilon": "1.6094379124341004"}),
        (2, "the weights do not sum to 2^weight_bits", {"weight_bits": 4}),
        (2, "wrong weight_bits, or number of views", {"weight_bits": 53}),
        (2, "wrong weight_bits, or number of views", {"parts": []}),
        (2, "the secret is that of the views", {"secret": "smokes"}),
        (2, "the schema is unknown", {"schema": "mechdesign/records/2"}),
        (2, "something is not a table", {"bins": []}),
        (2, "no view has the labels of the bins", {"bins": {"smokes": [1]}}),
    ],
)
def test_the_whole_promises_what_its_views_do(asked, status, words, changes):
    found, told = asked({**file_of(json.loads(json.dumps(TWO)), "log(5)", delta=str(SUM)), **changes})
    assert found == status
    assert words in told


def test_the_deltas_of_views_sum_below_one(asked):
    parts = [view([name], ["0", "1"], learnt((9, 8), "1/2"), 1, "log(20)") for name in "ab"]
    assert asked(file_of(parts, delta="999/1000")) == (2, "the deltas of the views sum to 1 or more")


def test_a_delta_that_is_not_decided_is_said_to_be_taken_as_given(asked):
    box = {"box": {"lower": ["0.6", "0.1"], "upper": ["0.9", "0.4"], "counts": [750, 250], "samples": 1000}}
    box["box"]["delta"] = "1e-3"
    parts = [view(["sex"], ["f", "m"], box, 1, "log(20)"), TWO[1]]
    status, words = asked(file_of(json.loads(json.dumps(parts)), delta="2e-3"))
    assert status == 0
    assert words.endswith("; delta = 2e-3; of the deltas of 1 of them, some are taken as given")


def test_a_refusal_names_an_output_and_a_view(asked):
    parts = json.loads(json.dumps(TWO))
    parts[1]["mechanism"]["guarantee"]["epsilon"] = "0.1"
    told = "the guarantee is false: that of output 'no' of the view 'drinks'"
    assert asked(file_of(parts, "log(5)", delta="0.01")) == (1, told)
    parts[0]["mechanism"]["guarantee"]["epsilon"] = "0.1"
    assert asked(file_of(parts, "log(5)", delta="0.01"))[1].endswith("of the view 'smokes', and of 1 more")


def test_two_views_share_a_law(asked):
    """People of one table move until the two are farther apart than both radii; of limits cells are compared."""
    for more, expected in ((0, 0), (100, 0), (101, 1)):
        pairs = {"counts": [300 + more, 200, 250 - more, 250], "radius": "1/10"}
        parts = [view(["sex", "pay"], PAIRS, pairs, 1, "log(20)")]
        parts.append(view(["sex"], ["m", "f"], {"counts": [500, 500], "radius": "1/10"}, 1, "log(20)"))
        status, words = asked(file_of(parts))
        assert status == expected
        assert status == 0 or words == "no law has the tables of the views sex+pay and sex of what they share"
    hull = {"priors": [["0.1", "0.1", "0.4", "0.4"], ["0.3", "0.3", "0.2", "0.2"]]}
    for lower, expected in (("0.6", 0), ("0.600000000001", 1)):
        box = {"box": {"lower": [lower, "0"], "upper": ["1", "1"], "center": ["0.7", "0.3"]}}
        parts = [view(["sex", "pay"], PAIRS, hull, 1, "log(20)"), view(["sex"], ["f", "m"], box, 1, "log(20)")]
        status, words = asked(file_of(parts))
        assert status == expected
        assert status == 0 or words == "no law has what all views say of sex"


def test_a_radius_of_the_merged_categories_alone_is_refused(asked):
    """Six combinations of two columns and one for others, from which the counts have chosen."""
    labels, counts = ["x & u", "y & v", "z & w", REST], (50, 40, 20, 0)
    for apart, expected in ((9, 0), (4, 1)):
        known = learnt(counts, "1e-3", apart)
        status, words = asked(file_of([view(["a", "b"], labels, known, 1, "700", merged=REST)], "700", delta="1e-3"))
        assert status == expected
        assert status == 0 or words.startswith("delta is false: the radius is not that of all combinations")
    labels = [f"{k} & {k}" for k in range(101)] + [REST]
    known = learnt((*[1] * 101, 0), "1e-3")
    told = "a view that merges so many combinations is beyond this program; mechdesign verify decides it"
    parts = [view(["a", "b"], labels, known, 1, "700", merged=REST)]
    assert asked(file_of(parts, "700", delta="1e-3")) == (3, told)


def test_edges_of_bins_are_printed_as_python_prints_them(asked):
    rng = Random(1)
    fixed = [
        5e-324,
        1e-5,
        0.0001,
        0.00012,
        0.1,
        1 / 3,
        1.0,
        100.0,
        12345.678,
        123456789012345.6,
        9999999999999998.0,
        1e16,
        1.5e16,
    ]
    fixed += [1e22, 1.7976931348623157e308, 123e21]
    drawn = [rng.choice([-1, 1]) * rng.random() * 10 ** rng.uniform(-20, 20) for _ in range(100)]
    edges = sorted({*fixed, *(-edge for edge in fixed), 0.0, *drawn})
    ends = [str(edge).removesuffix(".0") for edge in edges]
    labels = [
        f"under {ends[0]}",
        *(f"{low} to under {high}" for low, high in pairwise(ends)),
        f"{ends[-1]} or more",
    ]
    parts = [view(["x"], labels, {"counts": [1] * len(labels), "radius": "2"}, 1, "log(400)")]
    made = file_of(parts, "log(400)", bins={"x": edges})
    assert asked(made)[0] == 0
    made["bins"] = {"x": [*edges[:-1], edges[-1] / 2]}
    assert asked(made) == (2, "no view has the labels of the bins")


def test_a_file_of_records_has_no_certificate_here(tmp_path):
    path = tmp_path / "r.json"
    path.write_bytes(record_json(both()))
    told = "the file holds views of records, and a file of one mechanism is wanted here"
    assert native.run("--canonical", path) == (told, 2)


def test_a_view_of_many_symbols(asked):
    known = {"counts": [1] * 300, "radius": "1/10"}
    status, _ = asked(file_of([view(["x"], [f"x{k}" for k in range(300)], known, 1, "7"), TWO[1] | {"weight": 1}], "7"))
    assert status == 0  # with no delta of the whole, since one view has none
