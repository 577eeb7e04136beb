import json
import math
import re
import subprocess
import sys
from types import SimpleNamespace

import pytest
from numpy.testing import assert_allclose, assert_array_equal
from refusals import without_steps

from mechdesign import LimitError, Mechanism
from mechdesign.comparison import cap_prices

COUNTS = {"low": 50, "middle": 30, "high": 20}
PROBLEM = """
title = "Three levels"
epsilon = "1"
[prior]
delta = 0.01
bound = "weissman"
[prior.counts]
low = 50
middle = 30
high = 20
"""
SHARPER = ["--epsilon", "1", "--delta", "0.01"]
OPTIONS = [*SHARPER, "--bound", "weissman", "--utility", "mutual-information"]
CONTRACT = {
    *("value", "upper_bound", "gap", "unit", "utility", "epsilon", "delta", "radius", "inputs", "outputs", "leakage"),
    *("method", "seconds", "closed_form", "certified", "schema"),
}


@pytest.fixture
def here(here):
    (here / "problem.toml").write_text(PROBLEM, encoding="utf-8")
    lines = [f"{label},{count}" for label, count in COUNTS.items()]
    (here / "counts.csv").write_text("\n".join(["level,people", *lines]), encoding="utf-8")
    records = [label for label, count in reversed(COUNTS.items()) for _ in range(count)]
    lines = [f"{index},{label}" for index, label in enumerate(records)]
    (here / "headerless.csv").write_text("\n".join(lines), encoding="utf-8")
    (here / "named.csv").write_text("\n".join(["id, level", *lines]), encoding="utf-8")
    return here


@pytest.fixture
def designed(command, here):
    assert command("design", "problem.toml", "-o", "m.json")[0] == 0
    return here / "m.json"


def edit(path, change):
    table = json.loads(path.read_text(encoding="utf-8"))
    change(table)
    path.write_text(json.dumps(table), encoding="utf-8")


def failing(error):
    def fail(*arguments, **options):
        raise error

    return fail


# design

SOURCES = [
    ["problem.toml"],
    ["--counts", "counts.csv", *OPTIONS],
    ["--data", "named.csv", "--column", "level", *OPTIONS],
    ["--data", "headerless.csv", "--no-header", "--column", "1", *OPTIONS],
]


@pytest.mark.parametrize("source", SOURCES, ids=" ".join)
def test_every_source_gives_the_same_design(command, here, source):
    status, out, err = command("design", *source, "-o", "m.json", "--json")
    assert status == 0
    assert err.startswith("Note: the categories are the 3 labels" if "--data" in source else "")
    record = json.loads(out)
    assert record["certified"] is True
    assert record["inputs"] == ["low", "middle", "high"]
    assert_allclose(record["value"], 0.4565639467888, rtol=1e-9)
    mechanism = Mechanism.load(here / "m.json")
    assert mechanism.guarantee.uncertainty.evidence.counts == (50, 30, 20)
    assert mechanism.provenance.problem == record["title"]
    assert command("verify", "m.json")[0] == 0


def test_headerless_counts(command, here):
    (here / "counts.csv").write_text("low,50\nmiddle,30\nhigh,20\n", encoding="utf-8")
    status, out, _ = command("design", "--counts", "counts.csv", "--no-header", *OPTIONS, "--json")
    assert status == 0
    assert_allclose(json.loads(out)["value"], 0.4565639467888, rtol=1e-9)


def test_counts_keep_the_order_of_their_file(command, here):
    (here / "counts.csv").write_text("level,people\nhigh,20\nlow,50\nmiddle,30\n", encoding="utf-8")
    _, out, _ = command("design", "--counts", "counts.csv", *OPTIONS, "--json")
    assert json.loads(out)["inputs"] == ["high", "low", "middle"]


def test_json_of_a_design_has_the_keys_of_the_contract(command, here):
    status, out, _ = command("design", "problem.toml", "-o", "m.json", "--json")
    record = json.loads(out)
    mechanism = Mechanism.load(here / "m.json")
    assert status == 0
    assert record.keys() >= CONTRACT
    assert record["schema"] == "mechdesign/design/1"
    assert (record["unit"], record["utility"], record["epsilon"], record["delta"]) == (
        *("nats", "mutual-information", 1.0, 0.01),
    )
    assert 0 <= record["gap"] <= 1e-6 * record["value"]
    assert record["gap"] == record["upper_bound"] - record["value"]
    assert record["radius"] == mechanism.radius
    assert record["outputs"] == list(mechanism.outputs)
    assert record["leakage"] == mechanism.leakage <= 1
    assert (record["value"], record["upper_bound"]) == (mechanism.optimality.value, mechanism.optimality.bound)
    assert record["seconds"] >= 0
    assert record["output"] == "m.json"


@pytest.mark.sampled
@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (["--epsilon", "log(3)", "--known"], {"epsilon": math.log(3), "delta": None, "radius": 0.0}),
        (["--epsilon", "1", "--radius", "0.2"], {"delta": None, "radius": 0.2}),
        (["--epsilon", "1", "--radius", "2"], {"delta": None, "radius": 2.0}),
        (["--epsilon", "1", "--delta", "0"], {"delta": 0.0, "radius": 2.0}),
        (["--epsilon", "0", "--known", "--utility", "mutual-information"], {"epsilon": 0.0, "leakage": 0.0}),
        (["--epsilon", "1", "--known", "--utility", "chi-square"], {"utility": "chi-square", "unit": "1"}),
        (["--epsilon", "1", "--known", "--utility", "total-variation"], {"utility": "total-variation", "unit": "1"}),
        (
            ["--epsilon", "1", "--known", "--utility", "squared-hellinger"],
            {"utility": "squared-hellinger", "unit": "1"},
        ),
        (["--epsilon", "1", "--known", "--utility", "hamming-accuracy"], {"utility": "hamming-accuracy", "unit": "1"}),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_options_say_what_is_known_promised_and_wanted(command, arguments, expected):
    status, out, err = command("design", "--counts", "counts.csv", *arguments, "--json", "-o", "m.json")
    assert (status, err) == (0, "")
    record = json.loads(out)
    assert {key: record[key] for key in expected} == expected
    assert record["certified"] is True
    assert command("verify", "m.json")[0] == 0


@pytest.mark.parametrize("samples", ["70", "101", "1000000000"])
def test_samples_that_the_counts_do_not_show_are_refused(command, refused, samples):
    options = ("--counts", "counts.csv", *OPTIONS, "-o", "m.json", "--samples", samples)
    refused("evidence-contradicts", "design", *options, shown=samples)
    assert command("design", "--counts", "counts.csv", *OPTIONS, "--samples", "100", "-o", "m.json")[0] == 0


def test_the_bound_of_the_paper_makes_a_larger_ball(command):
    _, plain, _ = command("design", "--counts", "counts.csv", *SHARPER, "--json", "-o", "m.json")
    _, out, _ = command("design", "--counts", "counts.csv", *SHARPER, "--bound", "weissman", "--json", "-o", "w.json")
    _, named, _ = command("design", "--counts", "counts.csv", *SHARPER, "--bound", "clopper-pearson", "--json")
    assert json.loads(plain)["radius"] < json.loads(named)["radius"] < json.loads(out)["radius"]
    assert [command("verify", name)[0] for name in ("m.json", "w.json")] == [0, 0]
    status, _, err = command("design", "--counts", "counts.csv", *SHARPER, "--bound", "x")
    assert (status, "the bound is 'x'; accepted: observed-sums, clopper-pearson, weissman" in err) == (2, True)


def test_a_closed_form_is_shown_beside_the_design(command, here):
    (here / "even.csv").write_text("side,n\nheads,1\ntails,1\n", encoding="utf-8")
    _, out, _ = command("design", "--counts", "even.csv", "--epsilon", "log(3/2)", "--known", "--json")
    form = json.loads(out)["closed_form"]
    assert form.keys() >= {"theorem", "value", "difference"}
    assert_allclose(form["difference"], 0, atol=1e-9)
    _, out, _ = command("design", "--counts", "even.csv", "--epsilon", "log(3/2)", "--known")
    assert "closed form" in out


def test_a_design_is_told_in_words(command):
    status, out, err = command("design", "problem.toml", "-o", "m.json")
    assert (status, err) == (0, "")
    for part in ("Three levels", "PML with epsilon = 1", "optimal (certified)", "0.01", "proved in exact", "m.json"):
        assert part in out


def test_a_design_is_compared_on_demand(command):
    status, out, _ = command("design", "problem.toml", "--compare", "--json")
    assert status == 0
    assert json.loads(out)["comparison"]["k_ary_randomized_response"] < json.loads(out)["value"]
    status, out, _ = command("design", "problem.toml", "--compare")
    assert status == 0
    assert "k-ary randomized response" in out


@pytest.mark.parametrize("ending", [".json", ".npz", ".csv"])
def test_each_ending_has_its_format(command, here, designed, ending):
    status, out, _ = command("design", "problem.toml", "-o", f"again{ending}")
    assert status == 0
    assert f"again{ending}" in out
    if ending == ".csv":
        rows = (here / "again.csv").read_text(encoding="utf-8").splitlines()
        assert [row.split(",")[0] for row in rows] == ["numerators over 2^48", *COUNTS]
    else:
        assert_array_equal(Mechanism.load(here / f"again{ending}").numerators, Mechanism.load(designed).numerators)
        assert command("verify", f"again{ending}")[0] == 0


def test_without_an_output_nothing_is_written(command, here):
    before = sorted(here.iterdir())
    assert command("design", "problem.toml")[0] == 0
    assert sorted(here.iterdir()) == before


def test_a_hull_and_a_gain_matrix(command, here):
    (here / "hull.toml").write_text(
        'title = "hull"\nepsilon = 0.7\nutility = "expected-gain"\n[prior]\nlabels = ["a", "b"]\n'
        "priors = [[0.5, 0.5], [0.3, 0.7]]\n[gain]\nmatrix = [[1, 0], [0, 2]]\n",
        encoding="utf-8",
    )
    status, out, _ = command("design", "hull.toml", "-o", "hull.json", "--json")
    assert status == 0
    assert (json.loads(out)["radius"], json.loads(out)["inputs"]) == (None, ["a", "b"])
    status, out, _ = command("verify", "hull.json")
    assert status == 0
    assert "every mixture of 2 priors" in out


@pytest.mark.combined
@pytest.mark.parametrize("epsilon", ["1e-9", "1e-15", "1e-17", "1e-39"])
@pytest.mark.parametrize("utility", ["mutual-information", "hamming-accuracy"])
def test_epsilon_may_be_as_small_as_one_likes(command, epsilon, utility):
    arguments = ["--counts", "counts.csv", "--epsilon", epsilon, "--known", "--utility", utility]
    status, _, err = command("design", *arguments, "-o", "m.json")
    assert (status, err) == (0, "")
    assert command("verify", "m.json")[0] == 0


def test_a_design_for_the_ball_as_printed_verifies(command, here):
    (here / "printed.toml").write_text(
        'title = "t"\nepsilon = 2.38\n[prior]\nradius = 0.22\nwithin_simplex = false\n'
        "[prior.counts]\na = 1\nb = 51\nc = 75\nd = 95\n",
        encoding="utf-8",
    )
    assert command("design", "printed.toml", "-o", "m.json")[0] == 0
    status, out, err = command("verify", "m.json")
    assert (status, err) == (0, "")
    assert "all claims hold" in out


# Limits


def test_a_check_that_ends_at_its_limit_is_undecided(command, here):
    priors = [[f"{k}/351" for k in range(1, 27)], [f"{27 - k}/351" for k in range(1, 27)]]
    (here / "hull.toml").write_text(f'title = "t"\nepsilon = 1\n[prior]\npriors = {priors}\n', encoding="utf-8")
    assert command("design", "hull.toml", "-o", "m.json", "--time-limit", "0", "--keep-partial")[0] == 3
    status, out, err = command("verify", "m.json", "--time-limit", "0")
    assert (status, out) == (3, "")
    assert "the guarantee holds" in err
    status, out, _ = command("verify", "m.json", "--time-limit", "0", "--json")
    assert (status, json.loads(out)["error"]["code"]) == (3, "bound-not-recomputed")
    assert command("verify", "m.json", "--time-limit", "0", "--guarantee-only")[0] == 0


def test_what_is_not_certified_is_not_written(command, here):
    (here / "m.json").write_bytes(b"what stood here")
    status, out, err = command("design", "problem.toml", "--bits", "3", "-o", "m.json")
    assert status == 3
    assert "NOT certified" in out
    assert err.startswith("Error: the gap ")
    assert all(part in err for part in ("m.json was not written", "--keep-partial", "--bits", "--tol"))
    assert err.count("\n") == 1
    assert (here / "m.json").read_bytes() == b"what stood here"


def test_what_is_not_certified_is_kept_on_demand(command, here):
    status, out, err = command("design", "problem.toml", "--bits", "3", "-o", "m.json", "--keep-partial", "--json")
    record = json.loads(out)
    assert (status, record["certified"], record["bits"], record["output"]) == (3, False, 3, "m.json")
    assert "m.json was written all the same" in err
    assert Mechanism.load(here / "m.json").bits == 3
    assert command("verify", "m.json")[0] == 0  # what it promises and the bound it states are true


def test_nothing_is_said_to_be_written_where_nothing_was(command, here):
    status, out, err = command("design", "problem.toml", "--bits", "3", "-o", "m.json", "--json")
    assert (status, json.loads(out)["output"]) == (3, None)
    assert not (here / "m.json").exists()
    status, _, err = command("design", "problem.toml", "--bits", "3")
    assert status == 3
    assert "written" not in err


def test_a_larger_tol_certifies_a_coarser_mechanism(command):
    status, out, err = command("design", "problem.toml", "--bits", "8", "--tol", "0.5", "--json")
    assert (status, err) == (0, "")
    assert json.loads(out)["certified"] is True


THIRTY = "\n".join(f"level {index},{7 * index + 11}" for index in range(30))


def test_thirty_symbols_are_certified(command, here):
    (here / "thirty.csv").write_text(THIRTY, encoding="utf-8")
    status, out, _ = command("design", "--counts", "thirty.csv", "--no-header", *OPTIONS, "-o", "m.json", "--compare")
    assert status == 0
    assert "optimal (certified)" in out
    assert "best LDP mechanism (certified)" in out
    status, out, _ = command("verify", "m.json")
    assert status == 0
    assert "subset-sum tables over the counts" in " ".join(out.split())


def test_a_merged_design_says_which_symbols_are_alike(command, here):
    (here / "thirty.csv").write_text(THIRTY, encoding="utf-8")
    arguments = ["design", "--counts", "thirty.csv", "--no-header", *OPTIONS, "--tol", "0.05"]
    status, out, _ = command(*arguments, "--merge", "-o", "m.json")
    told = " ".join(out.split())
    assert status == 0
    assert "30 categories share" in told
    assert "within 0.05 of the optimum (certified)" in told  # a wide tolerance does not make it optimal
    assert "optimal (certified)" not in told
    assert "reports do not tell categories with the same row apart" in told
    status, out, _ = command(*arguments, "--merge", "--json")
    groups = json.loads(out)["merged"]
    assert ", ".join(groups[0][:8]) in told
    mechanism = json.loads((here / "m.json").read_text(encoding="utf-8"))
    assert len(mechanism["outputs"]) <= 30 - sum(len(group) - 1 for group in groups)
    for choice in ([], ["--no-merge"]):
        status, out, _ = command(*arguments, *choice, "--json")
        assert (status, json.loads(out)["merged"]) == (0, None)
    assert "share" not in command(*arguments, "--no-merge")[1]


def test_a_time_limit_keeps_nothing_unless_asked_to(command, here):
    (here / "thirty.csv").write_text(THIRTY, encoding="utf-8")
    arguments = ["design", "--counts", "thirty.csv", "--no-header", *OPTIONS, "-o", "m.json", "--time-limit", "0"]
    status, out, err = command(*arguments)
    assert status == 3
    assert "NOT certified" in out
    assert "(time limit)" in err
    assert "a larger --time-limit or --tol" in err
    assert not (here / "m.json").exists()
    status, out, _ = command(*arguments, "--keep-partial", "--json")
    record = json.loads(out)
    assert status == 3
    assert (record["certified"], record["stopped"], record["output"]) == (False, "time limit", "m.json")
    assert 0 < record["gap"] < 0.1
    status, out, _ = command("verify", "m.json")
    assert status == 0
    said = re.search(r"within ([0-9.e-]+) of the optimum", out)
    assert record["gap"] / record["value"] <= float(said[1]) < 0.1


@pytest.mark.parametrize(("limit", "left"), [("30", [28.0]), ("1", []), (None, [None])])
def test_a_design_and_the_price_of_a_cap_share_the_time_limit(command, here, monkeypatch, limit, left):
    def late(problem, **options):
        clock.append(2.0)  # seconds that the design takes
        return design(problem, **options)

    def priced(problem, *, time_limit, **options):
        limits.append(time_limit)
        return design(problem, time_limit=time_limit, **options)

    clock, limits, design = [0.0], [], cap_prices.design
    monkeypatch.setattr("mechdesign.cli.design.design", late)
    monkeypatch.setattr("mechdesign.cli.design.time", SimpleNamespace(perf_counter=lambda: sum(clock)))
    monkeypatch.setattr(cap_prices, "design", priced)
    options = [] if limit is None else ["--time-limit", limit]
    status, out, _ = command("design", "--counts", "counts.csv", *OPTIONS, *options)
    assert status == 0
    assert limits == left
    assert ("--cap" in out) == bool(left)


@pytest.mark.parametrize("limit", ["-1", "nan"])
def test_a_time_limit_that_is_none_is_refused(limit, refused, here):
    (here / "thirty.csv").write_text(THIRTY, encoding="utf-8")
    refused("out-of-range", "design", "--counts", "thirty.csv", "--no-header", *OPTIONS, "--time-limit", limit)


@pytest.mark.parametrize("flags", [[], ["--json"]])
def test_compare_says_why_it_is_not_certified(command, here, flags):
    (here / "thirty.csv").write_text(THIRTY, encoding="utf-8")
    arguments = ["compare", "--counts", "thirty.csv", "--no-header", *OPTIONS, "--time-limit", "0"]
    status, out, err = command(*arguments, *flags)
    assert status == 3
    assert json.loads(out)["design"]["certified"] is False if flags else "NOT certified" in out
    assert re.fullmatch(
        r"Error: this design is not certified: the gap \S+ is not within tol 1e-06 \(time limit\); .*\n", err
    )


@pytest.mark.parametrize("before", [False, True], ids=["new", "in the way"])
@pytest.mark.parametrize("flags", [[], ["--keep-partial"]], ids=["plain", "partial"])
def test_an_interrupt_leaves_the_best_mechanism_so_far(command, here, monkeypatch, flags, before):
    """A file that is there is replaced only where that is asked for: it may be certified."""
    from mechdesign.optimize.master import Master

    solve, solved = Master.solve, []

    def interrupted(self):
        solve(self)
        solved.append(self)
        if len(solved) == 4:
            raise KeyboardInterrupt

    monkeypatch.setattr(Master, "solve", interrupted)
    (here / "thirty.csv").write_text(THIRTY, encoding="utf-8")
    if before:
        (here / "m.json").write_text("before", encoding="utf-8")
    arguments = ["design", "--counts", "thirty.csv", "--no-header", *OPTIONS, "-o", "m.json", *flags]
    status, _, err = command(*arguments)
    assert status == 3
    assert "(interrupted)" in err
    written = bool(flags) or not before
    assert ("m.json was written all the same" in err) == written
    assert ("m.json was not written (see --keep-partial)" in err) == (not written)
    assert (here / "m.json").read_text(encoding="utf-8") == "before" or command("verify", "m.json")[0] == 0
    assert written != ((here / "m.json").read_text(encoding="utf-8") == "before")


# verify


def test_verify_confirms_every_claim(command, designed):
    status, out, err = command("verify", designed, "--json")
    record = json.loads(out)
    assert (status, err) == (0, "")
    assert record["schema"] == "mechdesign/verification/1"
    assert record["holds"] is True
    assert record["optimality"]["recomputed_upper_bound"] <= record["optimality"]["upper_bound"]
    status, out, err = command("verify", designed)
    assert (status, err) == (0, "")
    assert "all claims hold" in out


def test_a_bound_that_says_little_is_shown_beside_the_one_that_the_gap_is_to(command, designed):
    assert "better than claimed" not in command("verify", designed)[1]
    edit(designed, set_claim("upper_bound", 1e300))
    status, out, _ = command("verify", designed)
    words = " ".join(out.split())
    assert status == 0
    assert "upper bound 1e+300 nats" in words
    assert "nats, better than claimed; the gap is to it" in words


def test_a_file_without_optimality_verifies_with_no_optimality_claimed(command, designed):
    edit(designed, lambda table: table.pop("optimality"))
    status, out, _ = command("verify", designed)
    assert status == 0
    assert "no optimality claimed" in out
    status, out, _ = command("verify", designed, "--json")
    assert (status, json.loads(out)["optimality"]) == (0, None)


def set_claim(key, value):
    return lambda table: table["optimality"].update({key: value})


def set_promise(key, value):
    return lambda table: table["guarantee"].update({key: value})


@pytest.mark.parametrize(
    ("change", "part"),
    [
        (lambda table: set_claim("upper_bound", table["optimality"]["value"] - 1e-3)(table), "the stored upper bound"),
        (set_claim("upper_bound", -5.0), "the stored upper bound is -5"),
        (lambda table: set_claim("value", table["optimality"]["value"] + 1e-9)(table), "the stored value"),
        (lambda table: set_claim("value", table["optimality"]["value"] - 1e-9)(table), "the stored value"),
        (set_claim("lambda", [0.0, 0.0, 0.0]), "lambda proves no less"),
        (set_claim("lambda", [1e300, -1e300, 0.0]), "lambda proves no less"),
        (set_claim("utility", "chi-square"), "the stored value"),
        (set_promise("epsilon", "1.5"), "the stored upper bound"),
        (set_promise("epsilon", "0.9"), "the guarantee is false"),
        (set_promise("radius", "0.1"), "the claimed delta is false"),
        (set_promise("samples", 50), "the claimed delta is false"),
        (lambda table: table["numerators"].__setitem__(0, [2**48, 0, 0]), "the guarantee is false"),
    ],
)
def test_a_false_claim_ends_with_status_1(command, designed, change, part):
    edit(designed, change)
    for flags in ([], ["--json"]):
        status, out, err = command("verify", designed, *flags)
        assert status == 1
        assert err.startswith("Error: ")
        assert err.count("\n") == 1
        assert part in err
        if not flags:
            assert out == ""
            continue
        record = json.loads(out)
        assert (record["schema"], record["holds"]) == ("mechdesign/verification/1", False)
        assert record["false"] == ("guarantee" if "guarantee" in part or "delta" in part else "optimality")
        assert f"Error: {record['error']['message']} [{record['error']['code']}]\n" == err


@pytest.mark.combined
@pytest.mark.parametrize("utility", ["mutual-information", "hamming-accuracy"])
@pytest.mark.parametrize(
    "multipliers",
    [
        [1.0, -3e307, -9e307, -3e307, 1.7e308, 9e307],  # products with columns are infinite both ways
        [1.7e308, 1.7e308, 1.7e308, 0.0, 0.0, 0.0],
        [1.7e308, -1.7e308, 0.0, 0.0, 0.0, 0.0],
    ],
)
def test_no_bound_hides_behind_multipliers_that_overflow(command, here, utility, multipliers):
    (here / "six.csv").write_text("".join(f"{index},1\n" for index in range(6)), encoding="utf-8")
    source = ["--counts", "six.csv", "--no-header", "--epsilon", "2", "--radius", "2", "--utility", utility]
    assert command("design", *source, "-o", "m.json")[0] == 0
    edit(here / "m.json", set_claim("lambda", multipliers))
    edit(here / "m.json", set_claim("upper_bound", -5.0))
    status, out, err = command("verify", "m.json")
    assert status in {1, 2, 3}, err
    assert out == ""


# compare


def test_compare_has_three_mechanisms_beside_each_other(command):
    status, out, err = command("compare", "problem.toml", "--json")
    record = json.loads(out)
    assert (status, err) == (0, "")
    assert record["schema"] == "mechdesign/comparison/1"
    assert record["title"] == "Three levels"
    assert record["unit"] == "nats"
    assert record["k_ary_randomized_response"] <= record["best_ldp"] + 1e-12
    assert record["best_ldp"] <= record["best_ldp_upper_bound"] <= record["value"]
    assert record["best_ldp_certified"] is True
    assert record["best_ldp_missing"] is None
    assert record["design"].keys() >= CONTRACT - {"schema"}
    assert record["design"]["value"] == record["value"]


def test_compare_prints_a_table(command):
    status, out, _ = command("compare", "--counts", "counts.csv", *OPTIONS)
    assert status == 0
    for part in ("this design", "best LDP mechanism (certified)", "k-ary randomized response", "100.0%"):
        assert part in out


def test_compare_says_why_a_number_is_missing(command, monkeypatch):
    monkeypatch.setattr("mechdesign.comparison.rivals.design", failing(LimitError("too many rays")))
    status, out, _ = command("compare", "problem.toml", "--json")
    record = json.loads(out)
    assert (status, record["best_ldp"], record["best_ldp_missing"]) == (0, None, "too many rays")
    status, out, _ = command("compare", "problem.toml")
    assert status == 0
    assert "not computed" in out
    assert "best LDP mechanism: too many rays" in out


# The group


def test_progress_goes_to_stderr_and_not_to_stdout(command, monkeypatch):
    monkeypatch.setattr("mechdesign.cli.progress._PATIENCE", 0)
    status, out, err = command("design", "problem.toml", "--json")
    assert status == 0
    assert json.loads(out)["certified"] is True
    assert "solving a linear program" in err
    assert "computing the bound" in err
    status, out, err = command("verify", "absent.json")
    assert (status, out) == (2, "")


def test_on_a_terminal_progress_is_shown_in_place(command, monkeypatch):
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setattr("mechdesign.cli.progress._PATIENCE", 0)
    monkeypatch.setattr("mechdesign.cli.progress.is_terminal", lambda console: True)
    status, out, err = command("design", "problem.toml", "--json")
    assert status == 0
    assert json.loads(out)["certified"] is True
    assert "\x1b[" in err


def test_a_file_gets_no_spinner_even_where_colours_are_forced(command, monkeypatch):
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setattr("mechdesign.cli.progress._PATIENCE", 0)
    _, _, err = command("design", "problem.toml", "--json")
    assert "\x1b[" not in err
    assert "solving a linear program" in err


def test_a_command_that_is_quick_says_nothing_of_its_progress(command):
    assert command("design", "problem.toml")[2] == ""


def test_help_and_version(command):
    for arguments in (["--help"], ["-h"], ["design", "--help"], ["verify", "--help"], ["compare", "--help"]):
        status, out, err = command(*arguments)
        assert (status, err) == (0, "")
        assert out.startswith("Usage: mechdesign")
    assert command("--version")[1].startswith("mechdesign, version ")


def test_a_package_that_is_not_installed_is_named(command, monkeypatch):
    missing = ModuleNotFoundError("No module named 'highspy._core'", name="highspy")
    monkeypatch.setattr("mechdesign.cli.design.design", failing(missing))
    status, out, err = command("design", "problem.toml")
    assert (status, out) == (3, "")
    assert err.startswith("Error: the package highspy is not installed, which this command needs; pip install")
    assert err.count("\n") == 1


def test_an_internal_error_has_a_status_of_its_own(command, here, monkeypatch):
    (here / "m.json").write_bytes(b"what stood here")
    monkeypatch.setattr("mechdesign.cli.design.design", failing(RuntimeError("a fault")))
    status, out, err = command("design", "problem.toml", "-o", "m.json")
    assert (status, out) == (70, "")
    assert err.startswith("Error: internal error (RuntimeError: a fault); set MECHDESIGN_TRACEBACK=1")
    assert err.count("\n") == 1
    assert (here / "m.json").read_bytes() == b"what stood here"


def test_the_traceback_of_an_internal_error_is_shown_on_demand(command, monkeypatch):
    monkeypatch.setattr("mechdesign.cli.design.design", failing(RuntimeError("a fault")))
    monkeypatch.setenv("MECHDESIGN_TRACEBACK", "1")
    status, _, err = command("design", "problem.toml")
    assert status == 70
    assert "Traceback (most recent call last)" in err
    assert "RuntimeError: a fault" in err


def test_the_message_of_an_internal_error_is_short(command, monkeypatch):
    monkeypatch.setattr("mechdesign.cli.design.design", failing(RuntimeError("a fault\n" * 1_000)))
    status, _, err = command("design", "problem.toml")
    assert status == 70
    assert err.count("\n") == 1
    assert len(err) < 500


def test_an_interruption_has_the_status_of_a_limit(command, here, monkeypatch):
    (here / "m.json").write_bytes(b"what stood here")
    monkeypatch.setattr("mechdesign.cli.design.design", failing(KeyboardInterrupt()))
    status, out, err = command("design", "problem.toml", "-o", "m.json")
    assert (status, out) == (3, "")
    assert err.endswith("[interrupted]\n")
    assert (here / "m.json").read_bytes() == b"what stood here"


@pytest.mark.parametrize("flags", [[], pytest.param(["--json"], marks=pytest.mark.slow)])
def test_a_reader_that_goes_away_is_no_false_claim(designed, flags):
    program = [
        sys.executable,
        "-c",
        "from mechdesign.cli import main; main()",
        "verify",
        str(designed),
        *flags,
    ]
    with subprocess.Popen(program, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        process.stdout.close()
        err = process.stderr.read()
    assert (process.returncode, without_steps(err)) == (0, [])
