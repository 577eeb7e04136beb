"""The containers of labels that are accepted, each made from a list of text."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa

CONTAINERS = [
    list,
    tuple,
    iter,
    np.array,
    lambda r: np.array(r, dtype=object),
    lambda r: np.array(r, dtype=np.dtypes.StringDType()),
    pd.Series,
    lambda r: pd.Series(r, dtype=object),
    lambda r: pd.Series(r, dtype="category"),
    lambda r: pd.Series(r, dtype="string"),
    pl.Series,
    lambda r: pl.Series("x", r, dtype=pl.Categorical),
    pa.array,
    lambda r: pa.array(["x", *r], type=pa.large_string())[1:],
    lambda r: pa.array(r, type=pa.string_view()),
    lambda r: pa.array(r).dictionary_encode(),
    lambda r: pa.chunked_array([r[:1], r[1:]]),
]
