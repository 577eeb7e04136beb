"""Columns as frames of the libraries that are there."""

import importlib.util

import pandas as pd
import polars as pl
import pytest
from refusals import raises

from mechdesign.display.frames import frame

COLUMNS = {"label": ["a", "b"], "value": [0.25, None]}


def test_each_library_gets_the_same_table() -> None:
    assert (
        frame(COLUMNS, "pandas").to_dict("list")["label"] == frame(COLUMNS, "polars").to_dict(as_series=False)["label"]
    )
    assert isinstance(frame(COLUMNS), pd.DataFrame)
    assert isinstance(frame(COLUMNS, "polars"), pl.DataFrame)
    assert frame(COLUMNS, "polars")["value"].null_count() == frame(COLUMNS)["value"].isna().sum() == 1


@pytest.mark.parametrize("missing", [("pandas",), ("pandas", "polars")])
def test_a_library_that_is_not_there(missing: tuple[str, ...], monkeypatch: pytest.MonkeyPatch) -> None:
    found = importlib.util.find_spec
    monkeypatch.setattr("mechdesign.display.frames.find_spec", lambda name: None if name in missing else found(name))
    with raises("missing-package"):
        frame(COLUMNS, "pandas")
    if "polars" in missing:
        with raises("missing-package", "pandas or polars"):
            frame(COLUMNS)
    else:
        assert isinstance(frame(COLUMNS), pl.DataFrame)


def test_another_library() -> None:
    with raises("unknown-choice", "pandas, polars"):
        frame(COLUMNS, "numpy")
