"""What is not a path is refused by every public function that takes one."""

import pytest
from refusals import raises

import mechdesign as md
from mechdesign import deploy, windows
from mechdesign.mechanism import read_matrix
from mechdesign.optimize.kept.result_folder import ResultFolder
from mechdesign.sweeps import read_sweep


def mechanism():
    return md.Mechanism([[3, 1], [1, 3]], 2, md.Guarantee("log(3)", md.L1Ball(["1/2", "1/2"], 2, labels=["a", "b"])))


def problem_file():
    return md.ProblemFile("t", md.DesignProblem(md.L1Ball(["1/2", "1/2"], 2), 1, md.MutualInformation()))


RECORDS = deploy.RecordFile("records.csv", "x")
TAKE_A_PATH = {
    "Mechanism.load": md.Mechanism.load,
    "Mechanism.save": lambda path: mechanism().save(path),
    "Key.read": md.Key.read,
    "Key.write": lambda path: md.Key(bytes(range(32))).write(path),
    "KeyFile": lambda path: md.KeyFile(path).read(),
    "read_problem": md.read_problem,
    "write_problem": lambda path: md.write_problem(path, problem_file()),
    "RecordFile": lambda path: deploy.RecordFile(path, "x"),
    "ReportFile": deploy.ReportFile,
    "privatize_file": lambda path: deploy.privatize_file(RECORDS, mechanism(), path),
    "privatize_dataset": lambda path: deploy.privatize_dataset(RECORDS, mechanism(), path),
    "read_matrix": read_matrix,
    "read_sweep": read_sweep,
    "ResultFolder": ResultFolder.opened,
    "windows.load": windows.WindowMechanism.load,
    "windows.save": lambda path: windows.WindowMechanism.save(None, path),
}


@pytest.mark.parametrize("take", TAKE_A_PATH.values(), ids=TAKE_A_PATH)
def test_what_is_not_a_path_is_refused(take, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "records.csv").write_text("x\na\n")
    for given in (None, 5, b"a file"):
        with raises("wrong-type", f"the path is of type {type(given).__name__}; give text or a pathlib.Path"):
            take(given)
