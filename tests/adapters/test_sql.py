"""Reports in SQL: every integer gets the output of the numerators, in SQLite, DuckDB and PostgreSQL."""

import csv
import os
import shutil
import sqlite3
import subprocess
import tempfile
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from refusals import raises

import mechdesign as md
from mechdesign.adapters import create_table, cumulative_table, register_duckdb, report_query

LABELS = ["never", "don't know", 'a "b"']


def small(bits=5):
    promise = md.Guarantee("log(9)", md.L1Ball([0.5, 0.3, 0.2], radius=2, labels=LABELS))
    numerators = np.array([[18, 2, 12], [2, 18, 12], [6, 6, 20]]) << (bits - 5)
    return md.Mechanism(numerators, bits, promise, ["n", "it's", "o"])


def designed():
    ball = md.L1Ball.from_counts(dict(zip(LABELS, (812, 150, 38), strict=True)), delta="1e-9")
    return md.design(md.DesignProblem(ball, 1, md.EstimationError())).mechanism


class SQLite:
    def __init__(self):
        self.connection = sqlite3.connect(":memory:")

    def run(self, statements):
        self.connection.executescript(statements)

    def rows(self, query):
        return self.connection.execute(query).fetchall()

    def fill(self, rows):
        self.run('CREATE TABLE "records" ("week" BIGINT, "answer" VARCHAR, "draw" BIGINT)')
        self.connection.executemany("INSERT INTO records VALUES (?, ?, ?)", rows)


class DuckDB(SQLite):
    def __init__(self):
        self.connection = pytest.importorskip("duckdb", reason='pip install ".[duckdb]"').connect()

    def run(self, statements):
        self.connection.execute(statements)


class PostgreSQL:
    """A server of its own in a scratch folder, behind a socket there; NULL is printed as a tab."""

    def __init__(self, folder, programs):
        self.folder, self.programs = folder, programs
        self.owner = {"user": "postgres"} if os.geteuid() == 0 else {}  # it refuses to run as root
        if self.owner:
            shutil.chown(folder, "postgres")
        self.call("initdb", "-D", f"{folder}/data", "-A", "trust", "-U", "tester", "-E", "UTF8", "--no-sync")
        options = f"-k {folder} -c listen_addresses= -c fsync=off"
        self.call("pg_ctl", "-D", f"{folder}/data", "-o", options, "-l", f"{folder}/log", "-w", "start")

    def call(self, program, *arguments):
        subprocess.run([self.programs / program, *arguments], check=True, stdout=subprocess.DEVNULL, **self.owner)

    def psql(self, text):
        command = ["psql", "-X", "-q", "-v", "ON_ERROR_STOP=1", "-h", str(self.folder), "-U", "tester", "postgres"]
        return subprocess.run(command, input=text, check=True, capture_output=True, text=True, cwd="/").stdout

    def run(self, statements):
        self.psql(statements)

    def rows(self, query):
        printed = self.psql(f"COPY ({query}) TO STDOUT (FORMAT csv, NULL E'\\t');")
        return [(int(week), None if report == "\t" else report) for week, report in csv.reader(printed.splitlines())]

    def fill(self, rows):
        values = ", ".join(f"({week}, {_quoted(answer)}, {draw})" for week, answer, draw in rows)
        self.run(
            'CREATE TABLE "records" ("week" BIGINT, "answer" VARCHAR, "draw" BIGINT);\n'
            f"INSERT INTO records VALUES {values};"
        )

    def stop(self):
        self.call("pg_ctl", "-D", f"{self.folder}/data", "-m", "immediate", "stop")


def _quoted(text):
    return "NULL" if text is None else "'" + text.replace("'", "''") + "'"


@pytest.fixture(params=["SQLite", "DuckDB", pytest.param("PostgreSQL", marks=pytest.mark.slow)])
def engine(request):
    if request.param != "PostgreSQL":
        yield {"SQLite": SQLite, "DuckDB": DuckDB}[request.param]
        return
    places = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"))
    if not places or shutil.which("psql") is None:
        pytest.skip("apt-get install postgresql")
    with tempfile.TemporaryDirectory(prefix="pg") as folder:  # a short path: the socket stands in it
        database = PostgreSQL(Path(folder), places[-1].parent)
        try:
            yield lambda: database
        finally:
            database.stop()


def test_all_integers_together_give_exactly_the_numerators(engine):
    database, mechanism = engine(), small()
    database.run(create_table(mechanism))
    database.fill([(code, label, integer) for code, label in enumerate(LABELS) for integer in range(32)])
    counted = Counter(database.rows(report_query("answer", "draw", keep=("week",))))
    assert counted == {(i, mechanism.outputs[j]): n for (i, j), n in np.ndenumerate(mechanism.numerators)}


def test_limits_of_intervals_are_those_of_the_sampler(engine):
    """With 48 bits: the integers around every limit."""
    database, mechanism = engine(), designed()
    table = cumulative_table(mechanism).to_pylist()
    rows = [
        (mechanism.inputs.index(row["input"]), row["input"], integer)
        for row in table
        for integer in (row["low"], row["high"] - 1, (row["low"] + row["high"]) // 2)
    ]
    database.run(create_table(mechanism))
    database.fill(rows)
    codes, _, integers = zip(*rows, strict=True)
    outputs = mechanism.sampler.outputs_at(np.array(codes), np.array(integers))
    expected = Counter((code, mechanism.outputs[j]) for code, j in zip(codes, outputs.tolist(), strict=True))
    assert Counter(database.rows(report_query("answer", "draw", keep=("week",)))) == expected
    assert all(row["high"] <= 2**mechanism.bits for row in table)


def test_unknown_and_missing_categories_are_seen(engine):
    database = engine()
    database.run(create_table(small()))
    database.fill([(1, "other", 3), (2, None, 3), (3, "never", 3)])
    found = dict(database.rows(report_query("answer", "draw", keep=("week",))))
    assert found == {1: None, 2: None, 3: "n"}


def test_the_function_of_duckdb_reports_as_the_mechanism():
    database, mechanism = DuckDB(), designed()
    key = md.Key.generate().for_attribute("answer")
    register_duckdb(database.connection, mechanism, key=key)
    register_duckdb(database.connection, mechanism, "by_name", key=key, ids="VARCHAR")
    register_duckdb(database.connection, mechanism, "fresh")
    answers = [LABELS[k % 3] for k in range(3000)]
    database.run("CREATE TABLE people (id BIGINT, answer VARCHAR)")
    database.connection.executemany("INSERT INTO people VALUES (?, ?)", list(enumerate(answers)))
    expected = mechanism.privatize(answers, key=key, ids=list(range(3000)))
    both = database.rows("SELECT reported(answer, id), by_name(answer, id::VARCHAR) FROM people ORDER BY id")
    assert both == list(zip(expected, expected, strict=True))
    drawn = database.rows("SELECT answer, fresh(answer) FROM people")
    seen = Counter(report for answer, report in drawn if answer == LABELS[0])
    for name, p in zip(mechanism.outputs, mechanism.matrix[0], strict=True):
        assert abs(seen[name] - 1000 * p) <= 6 * np.sqrt(1000 * p * (1 - p)) + 1e-9
    assert len(seen) > 1  # equal categories are drawn apart
    with pytest.raises(Exception, match="missing"):
        database.rows("SELECT fresh(NULL)")


def test_names_that_sql_would_misread_are_quoted_or_refused():
    assert report_query('a"b', "draw").startswith('SELECT m."output" AS "a""b"')
    for name in ("", "a\x00b", 3):
        with raises("wrong-type"):
            report_query(name, "draw")
    promise = md.Guarantee("log(3)", md.L1Ball([0.5, 0.5], radius=2, labels=["a\\", "b"]))
    with raises("bad-label"):
        create_table(md.Mechanism(np.array([[3, 1], [1, 3]]), 2, promise))
    with raises("unknown-choice"):
        register_duckdb(None, small(), ids="DATE")
    with raises("wrong-type"):
        cumulative_table("mechanism")


@pytest.mark.parametrize("keep", [["answer"], ["week", "ANSWER"], ["Draw"]])
def test_neither_the_column_nor_the_integers_are_published_beside_the_reports(keep):
    with raises("conflicting-arguments", "tells the category"):
        report_query("answer", "draw", keep=keep)


def test_the_column_is_not_that_of_the_integers():
    with raises("conflicting-arguments", "column and integer are both 'draw'"):
        report_query("draw", "Draw")


def test_a_text_is_no_list_of_columns():
    with raises("wrong-type", "week"):
        report_query("answer", "draw", keep="week")
