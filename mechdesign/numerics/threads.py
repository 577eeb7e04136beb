"""How many threads linear algebra takes."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from typing import Any


@contextmanager
def one_thread() -> Iterator[None]:
    """Keep linear algebra to one thread within a block.

    For matrices of a few thousand rows several threads save little time on an idle machine. On a busy one they wait
    for each other: programs have taken twenty times as long.

    Examples
    --------
    >>> with one_thread():
    ...     pass
    """
    with _libraries().limit(limits=1, user_api="blas"):
        yield


@cache
def _libraries() -> Any:
    """Return the libraries of linear algebra, which are looked for once: that takes a millisecond."""
    import scipy.linalg  # noqa: F401 - only libraries that are loaded are found
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController()
