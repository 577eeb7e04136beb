"""Files of other tools: what they mean, and one line for what cannot be meant."""

import gzip
import io
from fractions import Fraction

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from refusals import raises

import mechdesign as md
from mechdesign.mechanism import read_matrix


@pytest.fixture
def file(tmp_path):
    def write(content, name="m.csv"):
        path = tmp_path / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path

    return write


def test_csv_with_labels(file):
    found = read_matrix(file(',no,yes\n"low, or none",0.9,0.1\nhigh,1/3,2/3\n')).matrix
    assert (found.inputs, found.outputs) == (("low, or none", "high"), ("no", "yes"))
    assert found.weights == ((9, 1), (1, 2))
    assert found.numbers == "decimals as written"
    named = read_matrix(file("level,no,yes\n1,0.9,0.1\n2,5e-1,.5\n\n")).matrix
    assert (named.inputs, named.outputs) == (("1", "2"), ("no", "yes"))


def test_csv_without_labels(file):
    found = read_matrix(file("0.9,0.1\n0.25,0.75\n")).matrix
    assert (found.inputs, found.outputs, found.weights) == (None, None, ((9, 1), (1, 3)))
    assert read_matrix(file(gzip.compress(b"0.9,0.1\n0.25,0.75\n"), "m.csv.gz")).matrix.weights == found.weights
    buffer = io.StringIO()
    np.savetxt(buffer, [[0.9, 0.1], [0.25, 0.75]], delimiter=",")  # 9.000000000000000222e-01
    assert_array_equal(read_matrix(file(buffer.getvalue())).matrix.matrix, found.matrix)


def test_pandas_writes_what_is_read(file):
    import pandas as pd

    table = pd.DataFrame([[0.9, 0.1], [0.2, 0.8]], index=["a", "b"], columns=["no", "yes"])
    found = read_matrix(file(table.to_csv())).matrix
    assert (found.inputs, found.outputs) == (("a", "b"), ("no", "yes"))
    assert found.weights == ((9, 1), (1, 4))


def test_arrays_of_numpy(file, tmp_path):
    matrix = np.array([[0.9, 0.1], [0.2, 0.8]])
    np.save(tmp_path / "m.npy", matrix)
    np.savez(tmp_path / "one.npz", C=matrix)
    np.savez_compressed(tmp_path / "labelled.npz", matrix=matrix, inputs=["a", "b"], outputs=["no", "yes"])
    np.savez(tmp_path / "whole.npz", matrix=np.array([[3, 1], [1, 3]]), other=np.ones(3))
    first = read_matrix(tmp_path / "m.npy").matrix
    assert_array_equal(first.matrix, matrix)
    assert first.numbers == "floats, each the rational that it is"
    assert read_matrix(tmp_path / "one.npz").matrix.weights == first.weights
    labelled = read_matrix(tmp_path / "labelled.npz").matrix
    assert (labelled.inputs, labelled.outputs) == (("a", "b"), ("no", "yes"))
    assert labelled.weights == first.weights
    assert read_matrix(tmp_path / "whole.npz").matrix.weights == ((3, 1), (1, 3))


OPENDP = (  # as OpenDP 0.16 serializes it
    '{"__function__": "make_randomized_response", "__module__": "measurements", "__kwargs__": {"categories": '
    '["low", "middle", "high"], "prob": 0.6, "T": "String"}, "__version__": "0.16.0"}'
)


def test_randomized_response_of_opendp(file):
    found = read_matrix(file(OPENDP, "m.json")).matrix
    assert found.inputs == found.outputs == ("low", "middle", "high")
    assert found.weights == ((3, 1, 1), (1, 3, 1), (1, 1, 3))


@pytest.mark.parametrize(
    ("old", "new", "code"),
    [
        ("make_randomized_response", "make_laplace", "wrong-file-format"),
        ("0.6", "1.5", "not-probabilities"),
        ("0.6", "NaN", "not-a-number"),
        ('"middle"', '"low"', "label-twice"),
        ('["low", "middle", "high"]', '"low"', "bad-field"),
        ('"T": "String"}', '"T": ' + "[" * 100_000, "wrong-file-format"),
        ("0.6", " " * 2**20 + "0.6", "file-too-large"),
    ],
)
def test_hostile_files_of_opendp_are_refused(file, old, new, code):
    with raises(code):
        read_matrix(file(OPENDP.replace(old, new, 1), "m.json"))


@pytest.mark.parametrize("ending", ["json", "npz", "csv"])
def test_files_of_mechanisms(tmp_path, ending):
    ball = md.L1Ball([0.5, 0.3, 0.2], radius="0.1", labels=["a", "b", "c"])
    mechanism = md.design(md.DesignProblem(ball, 1)).mechanism
    mechanism.save(tmp_path / f"m.{ending}")
    found = read_matrix(tmp_path / f"m.{ending}")
    assert found.matrix.greatest_ratio(ball) == max(mechanism.proof.ratios)
    assert (found.matrix.inputs, found.matrix.outputs) == (mechanism.inputs, mechanism.outputs)
    assert_array_equal(found.matrix.matrix, mechanism.matrix)
    assert (found.uncertainty is None) == (ending == "csv")


def test_a_mechanism_file_whose_guarantee_is_false_is_read(tmp_path):
    promise = md.Guarantee("log(3)", md.L1Ball([0.5, 0.5], 2))
    md.Mechanism(np.array([[3, 1], [1, 3]]), 2, promise).save(tmp_path / "m.json")
    text = (tmp_path / "m.json").read_text().replace("log(3)", "log(2)")
    (tmp_path / "m.json").write_text(text)
    with raises("guarantee-false"):
        md.Mechanism.load(tmp_path / "m.json")
    found = read_matrix(tmp_path / "m.json")
    assert found.matrix.greatest_ratio(found.uncertainty) == Fraction(3)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("", "there are no rows"),
        ("\n\n", "there are no rows"),
        ("0.5,0.5\n0.5\n", "line 2: 1 field, while the first line has 2"),
        ("0.5,nan\n0.5,0.5\n", "line 1, column 2, is 'nan'"),
        ("nan,0.5\n0.5,0.5\n", "line 1, column 1, is 'nan'"),
        ("0.5,0.5\n1e999,0\n", "line 2, column 1, is '1e999'"),
        ("0.5,0.5\n-0.5,1.5\n", "has -0.5 in row 2, column 1"),
        ("0.5,0.5\n0.5,0.4\n", "row 2 of the matrix sums to 0.9"),
        (",y,y\na,0.5,0.5\nb,0.5,0.5\n", "labels of outputs, in the first line: the label 'y' occurs twice"),
        (",y,z\na,0.5,0.5\na,0.5,0.5\n", "labels of inputs, in the first column: the label 'a' occurs twice"),
        (",y,\na,0.5,0.5\nb,0.5,0.5\n", "labels of outputs, in the first line: a label is empty"),
        (",y,z\na,0.5,0.5\n", "1 rows of 2 entries"),
        (",y,z\na,0.5,x\nb,1,0\n", "line 2, column 3, is not a number"),
        ("0.5 0.5\n0.5 0.5\n", "line 1 has one field"),
        (b"\xff\xfe0.5", "not UTF-8"),
        (b'{"schema": 1}', "m.csv"),
        (b"{", "is not JSON"),
        (b'["__function__"]', "it is None of OpenDP"),
        (b"PK\x03\x04garbage", "is not an NPZ file"),
        (b"\x93NUMPY\x01\x00garbage", "is not an NPY file"),
        ("9" * 3000 + ",0\n0,1\n", "a text of 3000 characters"),
    ],
)
def test_hostile_files_are_refused_in_one_line(file, content, message):
    path = file(content)
    with pytest.raises(md.InputError) as refused:
        read_matrix(path)
    assert message in str(refused.value)
    assert "m.csv" in str(refused.value)
    assert "\n" not in str(refused.value)


def test_archives_that_hold_no_matrix(tmp_path):
    np.savez(tmp_path / "two.npz", a=np.eye(2), b=np.eye(2))
    with raises("wrong-file-format", match="it holds a, b; accepted: one array"):
        read_matrix(tmp_path / "two.npz")
    np.savez(tmp_path / "objects.npz", a=np.array([[None]], dtype=object))
    with raises("wrong-file-format", match="is not an NPZ file"):
        read_matrix(tmp_path / "objects.npz")
    np.savez(tmp_path / "labels.npz", matrix=np.eye(2), inputs=["a"])
    with raises("wrong-size", match="labels of inputs: there are 1 labels for 2 categories"):
        read_matrix(tmp_path / "labels.npz")
    np.save(tmp_path / "huge.npy", np.zeros(1))
    header = (tmp_path / "huge.npy").read_bytes().replace(b"(1,), }          ", b"(99999999, 9999), }")[:128]
    (tmp_path / "huge.npy").write_bytes(header)
    with raises("wrong-file-format", match="huge"):
        read_matrix(tmp_path / "huge.npy")


def test_too_many_entries_are_refused_while_they_are_read(file, monkeypatch):
    from mechdesign.mechanism import matrix_files

    monkeypatch.setattr(matrix_files, "MOST_ENTRIES", 10)
    monkeypatch.setattr(matrix_files, "MOST_SIDE", 1)
    with raises("too-much-work", "than 10"):
        read_matrix(file("1,0\n" * 10))


def test_a_folder_is_refused(tmp_path):
    with raises("cannot-read"):
        read_matrix(tmp_path)
