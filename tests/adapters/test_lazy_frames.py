"""The expression of polars: the same reports however often, and in whatever parts, a lazy frame computes them."""

import pytest
from refusals import raises

import mechdesign as md
from mechdesign.adapters import reported

pl = pytest.importorskip("polars")
LABELS = ["never", "former", "current"]


@pytest.fixture(scope="module")
def mechanism():
    ball = md.L1Ball.from_counts(dict(zip(LABELS, (812, 150, 38), strict=True)), delta="1e-9")
    return md.design(md.DesignProblem(ball, 1)).mechanism


@pytest.fixture
def people():
    return pl.LazyFrame({"id": range(5000), "answer": [LABELS[k % 3] for k in range(5000)], "week": [1] * 5000})


def test_all_ways_to_compute_a_plan_give_the_reports_of_the_mechanism(mechanism, people, tmp_path):
    key = md.Key.generate().for_attribute("answer")
    plan = people.select("week", reported("answer", "id", mechanism, key))
    frame = people.collect()
    expected = mechanism.privatize(frame["answer"], key=key, ids=frame["id"])
    assert plan.collect_schema()["answer"] == pl.String
    assert plan.collect()["answer"].to_list() == expected.to_list()
    people.select(pl.col("id"), reported("answer", "id", mechanism, key)).sink_parquet(tmp_path / "r.parquet")
    written = pl.read_parquet(tmp_path / "r.parquet").sort("id")
    assert written["answer"].to_list() == expected.to_list()
    late = people.filter(pl.col("id") >= 4000).with_columns(reported("answer", "id", mechanism, key)).collect()
    assert late["answer"].to_list() == expected.to_list()[4000:]
    assert people.head(0).select(reported("answer", "id", mechanism, key)).collect().shape == (0, 1)


def test_what_cannot_be_reported_is_refused(mechanism, people):
    key = md.Key.generate()
    with raises("wrong-type"):
        reported("answer", "id", mechanism, None)
    with raises("wrong-type"):
        reported(pl.col("answer"), "id", mechanism, key)
    with pytest.raises((md.InputError, pl.exceptions.ComputeError), match="not among the categories"):
        people.with_columns(answer=pl.lit("other")).select(reported("answer", "id", mechanism, key)).collect()
    plan = people.with_columns(answer=pl.lit("other")).select(reported("answer", "id", mechanism, key, unknown="never"))
    assert plan.collect().height == 5000


def test_names_are_taken_as_they_are(mechanism, people):
    """`pl.col` would take the first as a pattern, for the column that it fits, and the second as all columns."""
    key = md.Key.generate()
    plain = people.select(reported("answer", "id", mechanism, key)).collect()
    for name in ("^answer$", "*"):
        found = people.rename({"answer": name}).select(reported(name, "id", mechanism, key)).collect()
        assert found.rename({name: "answer"}).equals(plain)
        with pytest.raises(pl.exceptions.ColumnNotFoundError):
            people.select(reported(name, "id", mechanism, key)).collect()
