"""The types of arrays, and arrays that cannot be written to."""

from __future__ import annotations

from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Scalar = TypeVar("Scalar", bound=np.generic)


def frozen(array: NDArray[Scalar]) -> NDArray[Scalar]:
    """Return a copy that stands on immutable bytes, so that not even its flag can be set to writeable.

    Examples
    --------
    >>> frozen(np.array([1, 2])).flags.writeable
    False
    """
    copy: NDArray[Any] = np.frombuffer(np.ascontiguousarray(array).tobytes(), dtype=array.dtype)
    return copy.reshape(array.shape)
