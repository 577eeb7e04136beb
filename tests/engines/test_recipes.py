"""The recipes of docs/engines.md, run as they stand by the engines that are installed."""

import os
import pickle
import subprocess
import sys
from collections import Counter
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from markdown_it import MarkdownIt
from refusals import raises

import mechdesign as md
from mechdesign.deploy import manifest
from mechdesign.engine import tasks

ROOT = Path(__file__).parents[2]
SETTINGS = "Settings of Dask"
SHOWN = "/srv/survey"  # the folder of the page
LABELS = ("never", "sometimes", "often")
PARTS, ROWS = 4, 250
MANY = 20_000
RECIPES = {"polars": "polars", "DuckDB": "duckdb", "Dask DataFrame": "dask.dataframe", "Spark": "pyspark", "Ray": "ray"}
SLOW = {"Dask DataFrame", "Spark", "Ray"}  # they start processes


def blocks():
    """Return the Python of the page by the heading that it stands under."""
    found, heading, previous = {}, "", None
    for token in MarkdownIt().parse((ROOT / "docs" / "engines.md").read_text()):
        if previous == "heading_open":
            heading = token.content
        if token.type == "fence" and token.info == "python":
            assert heading not in found, heading
            found[heading] = token.content
        previous = token.type
    return found


BLOCKS = blocks()


class Survey:
    """A folder of parts, a mechanism, a key, and the module that workers import."""

    def __init__(self, folder):
        self.folder = folder
        (folder / "records").mkdir()
        rng = np.random.default_rng(1)
        for part in range(PARTS):
            self.write_part(part, np.array(LABELS)[rng.integers(0, len(LABELS), ROWS)].tolist())
        ball = md.L1Ball([0.5, 0.3, 0.2], 0.1, labels=LABELS)
        self.mechanism = md.design(md.DesignProblem(ball, 1)).mechanism
        self.mechanism.save(folder / "mechanism.json")
        (folder / "reporting.py").write_text(self.here(BLOCKS["Permanent reports"]))

    def write_part(self, part, answers):
        ids = range(part * ROWS, part * ROWS + len(answers))
        columns = {"id": ids, "week": [identity % 50 for identity in ids], "answer": answers, "income": answers}
        table = pa.table(
            columns, pa.schema([("id", "int64"), ("week", "int64"), ("answer", "string"), ("income", "string")])
        )
        pq.write_table(table, self.folder / "records" / f"part-{part}.parquet")

    def here(self, source):
        """Return a program of the page for this folder."""
        assert SHOWN in source
        return source.replace(SHOWN, str(self.folder))

    def run(self, heading, instead=("", "")):
        """Run a program of the page as a file, in a process of its own, with one text instead of another."""
        program = self.folder / "recipe.py"
        assert instead[0] in BLOCKS[heading]
        program.write_text(self.here(BLOCKS[heading].replace(*instead) if instead[0] else BLOCKS[heading]))
        environment = os.environ | {
            "PYTHONPATH": str(ROOT),
            "HOME": str(self.folder),
            "PYSPARK_PYTHON": sys.executable,
            "PYSPARK_SUBMIT_ARGS": "--master local[2] --conf spark.ui.enabled=false pyspark-shell",
            "SPARK_LOCAL_IP": "127.0.0.1",
            "RAY_USAGE_STATS_ENABLED": "0",
        }
        return subprocess.run(
            [sys.executable, str(program)],
            cwd=self.folder,
            env=environment,
            capture_output=True,
            text=True,
            check=False,
            timeout=900,
        )

    def records(self):
        return pq.read_table(self.folder / "records")

    def written(self):
        """Return how often each pair of a week and a report was written."""
        (place,) = (path for path in self.folder.glob("reports*") if path.suffix != ".key")
        table = pq.read_table(place, columns=["week", "answer"])
        return Counter(zip(*table.to_pydict().values(), strict=True))

    def expected(self):
        """Return what `written` returns of permanent reports."""
        records = self.records()
        key = md.Key.read(self.folder / "reports.key").for_attribute("answer")
        reports = self.mechanism.privatize(records["answer"], key=key, ids=records["id"])
        return Counter(zip(records["week"].to_pylist(), reports.to_pylist(), strict=True))


@pytest.fixture
def survey(tmp_path):
    found = Survey(tmp_path)
    md.Key.generate().write(tmp_path / "reports.key")
    return found


def recipes():
    """Return the recipes as parameters: those that start processes carry the marker of slow tests."""
    return [pytest.param(name, marks=[pytest.mark.slow] if name in SLOW else [], id=name) for name in RECIPES]


def needed(heading):
    """Skip the test of a recipe whose engine is not installed."""
    pytest.importorskip(RECIPES[heading], reason=f'{heading} is not installed (pip install ".[engines]")')


def test_numbers_of_the_plan_are_those_of_the_code():
    page = " ".join((ROOT / "docs" / "engines.md").read_text().split())
    assert f"*Tasks in flight.* At most {tasks._MOST_IN_FLIGHT} are" in page
    assert f"refused above {manifest._MOST_BYTES >> 20} MiB" in page


def test_every_recipe_is_run():
    others = {"A lazy column of fresh randomness is wrong", "Write parts at once", SETTINGS, "Permanent reports"}
    assert set(BLOCKS) == others | set(RECIPES)


@pytest.mark.slow
def test_workers_have_the_settings(tmp_path):
    pytest.importorskip("distributed")
    program = tmp_path / "settings.py"
    program.write_text(
        f"{BLOCKS[SETTINGS]}\n"
        "import os\n"
        "from distributed import Client\n"
        "def told():\n"
        "    sizes = [os.environ[f'MALLOC_{name}_THRESHOLD_'] for name in ('TRIM', 'MMAP')]\n"
        "    return dask.config.get('distributed.worker.profile.enabled'), *map(int, sizes)\n"
        "if __name__ == '__main__':\n"
        "    with Client(n_workers=1, threads_per_worker=1, dashboard_address='127.0.0.1:0') as client:\n"
        "        print(*client.run(told).values())\n"
    )
    done = subprocess.run([sys.executable, str(program)], check=True, capture_output=True, text=True, timeout=600)
    assert done.stdout.strip() == str((False, 2**28, 2**27))


@pytest.mark.parametrize("heading", recipes())
def test_a_recipe_gives_every_record_its_permanent_report(survey, heading):
    needed(heading)
    done = survey.run(heading)
    assert done.returncode == 0, done.stderr
    assert survey.written() == survey.expected()
    # The key is not in anything that the engine printed or left behind.
    secret = (survey.folder / "reports.key").read_text().strip()
    assert secret not in done.stdout + done.stderr
    assert secret.split()[-1] not in done.stdout + done.stderr


@pytest.mark.parametrize("heading", recipes())
def test_a_recipe_refuses_a_null(survey, heading):
    refused(survey, heading, None, "is missing")


@pytest.mark.parametrize("heading", ["polars", "DuckDB", pytest.param("Spark", marks=pytest.mark.slow)])
def test_a_recipe_refuses_an_unknown_label_and_does_not_print_it(survey, heading):
    assert "rarely" not in refused(survey, heading, "rarely", "is not among the categories")


def refused(survey, heading, bad, why):
    """Return what a recipe prints about a value that it refuses."""
    needed(heading)
    survey.write_part(2, ["often", bad, "never"])
    done = survey.run(heading)
    assert done.returncode != 0
    told = done.stdout + done.stderr
    assert why in told
    return told


def test_duckdb_draws_once_for_all_records_with_one_value(survey):
    """Why fresh randomness is wrong there even if it is computed once."""
    needed("DuckDB")
    import duckdb

    survey.write_part(0, (LABELS * MANY)[:MANY])
    drawn = []

    def fresh(answers):
        drawn.append(len(answers))
        return survey.mechanism.privatize(answers)

    with duckdb.connect() as connection:
        connection.create_function("fresh", fresh, ["VARCHAR"], "VARCHAR", type="arrow", null_handling="special")
        records = connection.read_parquet(str(survey.folder / "records" / "part-0.parquet"))
        groups = records.aggregate("answer, fresh(answer) AS report, count(*)", "answer, report").fetchall()
    assert sum(count for *_, count in groups) == MANY
    # Each answer has one report, however many records have it.
    assert len(groups) == sum(drawn) == len(LABELS)


def test_duckdb_reports_null_for_null_unless_it_is_told_otherwise(survey):
    """Why the recipe says null_handling: without it everyone sees who gave no answer."""
    needed("DuckDB")
    survey.write_part(2, ["often", None, "never"])
    told = survey.run("DuckDB", instead=(', null_handling="special"', ""))
    assert told.returncode == 0, told.stderr
    assert sum(count for (_, report), count in survey.written().items() if report is None) == 1


def test_what_the_page_says_of_other_values(survey):
    """Null ids, integers that are labels, and mechanisms that are pickled."""
    key = md.Key.read(survey.folder / "reports.key")
    with raises("missing-value", "ids[1]"):
        survey.mechanism.privatize(pa.array(["often", "never"]), key=key, ids=pa.array([1, None]))
    copy = pickle.loads(pickle.dumps(survey.mechanism))
    ids = list(range(100))
    assert copy.proof.holds
    assert copy.privatize(["often"] * 100, key=key, ids=ids) == survey.mechanism.privatize(
        ["often"] * 100, key=key, ids=ids
    )
    ball = md.L1Ball([0.5, 0.5], 0.1, labels=["1", "2"])
    of_integers = md.design(md.DesignProblem(ball, 1)).mechanism
    as_text = of_integers.privatize(["1", "2"] * 50, key=key, ids=ids)
    found = of_integers.privatize(pa.array([1, 2] * 50), key=key, ids=ids, integers="labels")
    assert found.to_pylist() == as_text


@pytest.mark.slow
def test_a_lazy_column_draws_again_each_time_it_is_computed(survey):
    pytest.importorskip("polars")
    done = survey.run("A lazy column of fresh randomness is wrong")
    assert done.returncode == 0, done.stderr
    twice = int(done.stdout.split()[0])
    assert done.stdout.endswith("records have two different reports\n")
    assert PARTS * ROWS / 20 < twice < PARTS * ROWS


def test_a_lazy_column_of_dask_draws_again_too_and_permanent_reports_do_not(survey):
    dataframes = pytest.importorskip("dask.dataframe")
    records = dataframes.read_parquet(survey.folder / "records", columns=["id", "answer"])
    mechanism, key = survey.mechanism, survey.folder / "reports.key"

    def fresh(part):
        return mechanism.privatize(part["answer"])

    def permanent(part):
        return mechanism.privatize(part["answer"], key=key, ids=part["id"])

    def computed_twice(function):
        lazy = records.map_partitions(function, meta=("answer", "string"))
        return [lazy.compute(scheduler="synchronous").tolist() for _ in range(2)]

    first, second = computed_twice(fresh)
    assert first != second
    first, second = computed_twice(permanent)
    assert first == second


@pytest.mark.slow
def test_parts_are_written_once(survey):
    pytest.importorskip("distributed")
    done = survey.run("Write parts at once")
    assert done.returncode == 0, done.stderr
    before = survey.written()
    assert sum(before.values()) == PARTS * ROWS
    assert survey.run("Write parts at once").returncode == 0
    assert survey.written() == before
