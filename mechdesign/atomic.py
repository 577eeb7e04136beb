"""Files that are either whole or absent."""

from __future__ import annotations

import os
import secrets
from pathlib import Path

from mechdesign.errors import InputError


def write_atomically(path: str | os.PathLike[str], content: bytes) -> None:
    """Write a file beside its place, then rename it, so that no half of it is ever seen.

    Raises
    ------
    InputError
        If the folder does not exist or cannot be written; what stood at ``path`` is untouched.
    """
    target = Path(path)
    beside = target.with_name(f".{target.name}.{secrets.token_hex(8)}")
    try:
        with beside.open("xb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        beside.replace(target)
    except OSError as error:
        raise InputError(f"cannot write {target}: {error.strerror}; give a path in a writable folder") from error
    finally:
        beside.unlink(missing_ok=True)
