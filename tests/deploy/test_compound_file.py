"""Columns that a table publishes together, in files of both kinds, with keys and beside other columns."""

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from refusals import raises

import mechdesign as md
from mechdesign.data.compound import count_cells
from mechdesign.deploy import CompoundFile, ReportFile, privatize_file

CELLS = [("husband", 1)] * 40 + [("wife", 2)] * 30 + [("child", 1)] * 20 + [("child", 2)] * 10


@pytest.fixture
def source(tmp_path):
    roles, sexes = zip(*CELLS, strict=True)
    path = tmp_path / "people.parquet"
    table = {"id": [f"p{i}" for i in range(100)], "sex": sexes, "role": roles}
    pq.write_table(pa.table(table), path)
    return path


@pytest.fixture
def table(source):
    return md.design_table(count_cells(source, ["role", "sex"]), 1, known=True, columns=["role", "sex"]).mechanism


def test_integers_in_parquet_are_their_texts_and_published_columns_texts(source, table, tmp_path):
    assert table.compound == ("role", "sex")
    out = tmp_path / "out.parquet"
    done = privatize_file(CompoundFile.of(source, table.compound), table, ReportFile(out, keep=["id"]))
    assert done.records == 100
    found = pq.read_table(out).to_pydict()
    assert found["id"] == [f"p{i}" for i in range(100)]
    assert set(zip(found["role"], found["sex"], strict=True)) <= {(role, str(sex)) for role, sex in CELLS}


def test_permanent_reports_publish_the_same_again(source, table, tmp_path):
    outs = [tmp_path / name for name in ("1.csv", "2.csv")]
    key = md.Key(bytes(32), "role and sex")
    for out in outs:
        privatize_file(CompoundFile.of(source, table.compound), table, out, key=key, ids="id")
    assert outs[0].read_bytes() == outs[1].read_bytes()
    assert outs[0].read_text().splitlines()[0] == "sex,role"  # in the order of the file


def test_a_published_column_is_not_kept_besides(source, table, tmp_path):
    for kept, code in (("role", "column-twice"), ("sex", "column-twice")):
        with raises(code, kept):
            privatize_file(CompoundFile.of(source, table.compound), table, ReportFile(tmp_path / "o.csv", keep=[kept]))
    with raises("column-twice", "role"):
        key = md.Key(bytes(32), "a")
        privatize_file(CompoundFile.of(source, table.compound), table, tmp_path / "o.csv", key=key, ids="role")


def test_a_combination_that_the_table_lacks_is_refused_with_its_record(table, tmp_path):
    path = tmp_path / "other.csv"
    path.write_text("role,sex\nwife,2\nhusband,2\n")
    with raises("unknown-label", "record 2"):
        privatize_file(CompoundFile.of(path, table.compound), table, tmp_path / "out.csv")
    with raises("bad-label", "'husband & 1'"):
        md.design_table({"husband & 1": 5, "wife": 4}, 1, known=True, columns=["role", "sex", "age"])


@pytest.mark.parametrize("cell", [("wife &", "1"), ("wife", "& 1"), ("wife & 1", "1"), ("wife &", "& 1")])
def test_records_that_would_be_read_as_other_columns_are_refused(table, tmp_path, cell):
    """`wife &` beside `1` was published as `wife` beside `& 1`."""
    path = tmp_path / "other.csv"
    path.write_text("role,sex\nwife,2\n" + ",".join(cell) + "\n")
    with raises("unknown-label", "record 2"):
        privatize_file(CompoundFile.of(path, table.compound), table, tmp_path / "out.csv")
    with raises("ambiguous-labels" if " & ".join(cell).count(" & ") == 1 else "bad-label"):
        md.design_table({" & ".join(cell): 5, "wife & 1": 4}, 1, known=True, columns=["role", "sex"])
