"""The checker that Coq extracts, built where its tools are installed."""

import fcntl
import functools
import shutil
import subprocess
from pathlib import Path

import mechdesign

SOURCES = Path(mechdesign.__file__).parent / "proofs" / "native"
BUILD = SOURCES.parents[2] / ".pytest_cache" / "d" / "native"
LACKING = [tool for tool in ("coqc", "ocamlopt", "make") if shutil.which(tool) is None]
REASON = f"not installed: {', '.join(LACKING)}"


@functools.cache
def programs():
    """Return the built programs, that with Coq's own integers last; none where a tool is missing."""
    if LACKING:
        return ()
    BUILD.mkdir(parents=True, exist_ok=True)
    with (BUILD / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)  # which another process may be building
        command = ["make", "-s", "-C", str(SOURCES), f"BUILD={BUILD}"]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return tuple(path for name in ("pmlcheck", "pmlcheck-plain") if (path := BUILD / name).exists())


def run(*arguments, program=0):
    """Return the line that a program prints, and its status."""
    done = subprocess.run([programs()[program], *arguments], capture_output=True, check=False)
    told = done.stdout.decode()
    assert done.stderr == b""
    assert told.count("\n") == 1 or "--canonical" in arguments
    return told.removesuffix("\n"), done.returncode


BEYOND_BOTH = ("a hull among limits is beyond this", "an NPZ file is beyond this")
BEYOND = ("a view of windows is beyond", "a promise of views about a secret is beyond", "a view that merges so many")


def check_agrees(path, told, status, program=0):
    """Check that a program says of a file what the second verifier has said of it; deltas it takes as given.

    Of a file that is malformed and whose promise is false either may be said.
    """
    words, found = run(path, program=program)
    if found == 0 and status == 1:
        assert told.startswith("delta is false"), (told, words)
        assert "taken as given" in words, words
    elif found == 3:
        assert words.startswith((*BEYOND_BOTH, *BEYOND)), words
        assert told.startswith(BEYOND_BOTH) or words.startswith(BEYOND), told
    elif {found, status} != {1, 2}:
        assert found == status, (words, told, path.read_bytes())
    assert words.startswith("guaranteed: ") == (found == 0)
    return found
