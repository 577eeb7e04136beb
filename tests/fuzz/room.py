"""A folder of its own for every input, and the processes that inputs run in."""

from __future__ import annotations

import contextlib
import os
import pickle
import shutil
import signal
import socket
import stat
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from multiprocessing.connection import Connection
from pathlib import Path

_WORKER = Path(__file__).with_name("worker.py")
_ROOT = Path(__file__).resolve().parents[2]
_IDLE_SECONDS = 8  # without a tick of processor time: it waits for what never comes
_LONGEST_SECONDS = 240
_COMMAND = "from mechdesign.cli import main; main()"

Run = Callable[[Sequence[str]], "Result"]


@dataclass(frozen=True)
class Place:
    """What a name stands for if not for a regular file: a folder, a pipe, a socket, a device or a link."""

    kind: str
    target: str = ""

    def make(self, path: Path) -> None:
        """Put it there."""
        if self.kind == "folder":
            path.mkdir()
        elif self.kind == "pipe":
            os.mkfifo(path)
        elif self.kind == "socket":
            with socket.socket(socket.AF_UNIX) as made, contextlib.chdir(path.parent):
                made.bind(path.name)
        elif self.kind == "device":  # the null device, under another name
            os.mknod(path, stat.S_IFCHR | 0o666, os.makedev(1, 3))
        elif self.kind == "link":
            path.symlink_to(self.target)
        else:
            path.hardlink_to(path.with_name(self.target))


@dataclass(frozen=True)
class Result:
    """What a command did.

    Attributes
    ----------
    status : int or None
        Its exit status; None if it had none.
    stdout, stderr : bytes
        What it printed.
    ended : str
        How it ended, if not by a status.
    """

    status: int | None
    stdout: bytes
    stderr: bytes
    ended: str = ""
    seconds: float = 0.0


@dataclass(frozen=True)
class Case:
    """A command line, and the folder that it finds.

    Attributes
    ----------
    arguments : sequence of str
        The command line.
    files : mapping from str to bytes
        Regular files.
    places : mapping from str to Place
        What else is there.
    outputs : sequence of str
        Names that the command is asked to write to.
    stdin : bytes
        Standard input.
    check : callable, optional
        Receives the folder, the result and a function that runs further commands there; yields what is wrong.
    fresh : bool
        Whether a process of its own is started.
    environment : mapping
        Of a process of its own.
    stdout : str
        Where the standard output of a process of its own goes: a path, or "closed".
    gone : bool
        Whether the folder is removed before a process of its own begins.
    """

    arguments: Sequence[str]
    files: Mapping[str, bytes] = field(default_factory=dict)
    places: Mapping[str, Place] = field(default_factory=dict)
    outputs: Sequence[str] = ()
    stdin: bytes = b""
    check: Callable[[Path, Result, Run], Iterable[str]] | None = None
    fresh: bool = False
    environment: Mapping[str, str] = field(default_factory=dict)
    stdout: str = ""
    gone: bool = False

    def fill(self, folder: Path) -> None:
        """Make the folder's files and places."""
        for name, content in self.files.items():
            _path(folder, name).write_bytes(content)
        for name, place in self.places.items():
            place.make(_path(folder, name))


def _path(folder: Path, name: str) -> Path:
    return folder / name


Entry = tuple[str, int, bytes]
Snapshot = dict[str, Entry]


def snapshot(folder: Path) -> Snapshot:
    """Return what a folder holds: of every name its kind, its permissions, and its content or target."""
    found: Snapshot = {}
    for entry in sorted(os.scandir(folder), key=lambda entry: entry.name):
        mode = entry.stat(follow_symlinks=False).st_mode
        if stat.S_ISREG(mode):
            content = Path(entry.path).read_bytes()
        elif stat.S_ISLNK(mode):
            content = os.fsencode(os.readlink(entry.path))  # noqa: PTH115 - as text, be it a path or none
        else:
            content = b""
        found[entry.name] = (_KINDS.get(stat.S_IFMT(mode), "other"), stat.S_IMODE(mode), content)
    return found


_KINDS = {
    stat.S_IFREG: "file",
    stat.S_IFDIR: "folder",
    stat.S_IFLNK: "link",
    stat.S_IFIFO: "pipe",
    stat.S_IFSOCK: "socket",
    stat.S_IFCHR: "device",
}


class Room:
    """Runs cases, in a worker that is kept as long as it lives, or in processes of their own."""

    def __init__(self) -> None:
        self.base = Path(tempfile.mkdtemp(prefix="fuzz-"))
        self._worker: subprocess.Popen[bytes] | None = None
        self._send: Connection | None = None
        self._receive: Connection | None = None
        self._number = 0

    def __enter__(self) -> Room:
        return self

    def __exit__(self, *_: object) -> None:
        self._stop()
        shutil.rmtree(self.base, ignore_errors=True)

    @contextlib.contextmanager
    def folder(self, case: Case) -> Iterator[Path]:
        """Yield a folder with the case's files, and remove it afterwards."""
        self._number += 1
        folder = self.base / str(self._number)
        folder.mkdir()
        try:
            case.fill(folder)
            yield folder
        finally:
            shutil.rmtree(folder, ignore_errors=True)

    def run(self, case: Case, folder: Path) -> Result:
        """Run the case's command in its folder."""
        if case.fresh:
            return self._run_fresh(case, folder)
        return self.command(list(case.arguments), folder, case.stdin)

    def command(self, arguments: Sequence[str], folder: Path, stdin: bytes = b"") -> Result:
        """Run a command line in a folder."""
        return self._ask("command", list(arguments), folder, stdin)

    def surface(self, name: str, seed: str) -> Result:
        """Run one attack on the Python surface."""
        return self._ask("surface", (name, seed), self.base, b"")

    def _ask(self, kind: str, argument: object, folder: Path, stdin: bytes) -> Result:
        streams = [self.base / name for name in ("stdin", "stdout", "stderr")]
        streams[0].write_bytes(stdin)
        status, ended, seconds = self._answer((kind, argument, str(folder), [str(path) for path in streams]))
        out, err = (path.read_bytes() if path.exists() else b"" for path in streams[1:])
        return Result(status, out, err, ended, seconds)

    def _answer(self, request: object) -> tuple[int | None, str, float]:
        if self._worker is None:
            self._start()
        assert self._worker is not None
        assert self._send is not None
        assert self._receive is not None
        self._send.send_bytes(pickle.dumps(request))
        started = ticked = time.monotonic()
        ticks = -1
        while not self._receive.poll(1):
            now = time.monotonic()
            if ticks != (latest := _ticks(self._worker.pid)):
                ticks, ticked = latest, now
            if now - ticked > _IDLE_SECONDS or now - started > _LONGEST_SECONDS:
                self._stop()
                return None, "waits for ever, and was killed", now - started
        try:
            answer: tuple[int | None, str, float] = self._receive.recv()
        except EOFError:
            ended = -(self._worker.wait() or 0)
            self._stop()
            name = signal.Signals(ended).name if ended > 0 else f"exit {-ended}"
            why = "takes more than 20 s of processor time" if name == "SIGPROF" else f"the process died ({name})"
            return None, why, time.monotonic() - started
        return answer

    def _start(self) -> None:
        inward, self._send = _pipe()
        self._receive, outward = _pipe()
        environment = {**os.environ, "PYTHONPATH": str(_ROOT), "OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}
        self._worker = subprocess.Popen(
            [sys.executable, str(_WORKER), str(inward.fileno()), str(outward.fileno())],
            pass_fds=(inward.fileno(), outward.fileno()),
            cwd=self.base,
            env=environment,
        )
        inward.close()
        outward.close()

    def _stop(self) -> None:
        for end in (self._send, self._receive):
            if end is not None:
                end.close()
        if self._worker is not None:
            self._worker.kill()
            self._worker.wait()
        self._worker = self._send = self._receive = None

    def _run_fresh(self, case: Case, folder: Path) -> Result:
        environment = {**os.environ, "PYTHONPATH": str(_ROOT), **case.environment}
        out, err = self.base / "fresh.out", self.base / "fresh.err"
        where = Path(case.stdout) if case.stdout not in {"", "closed"} else out

        def prepare() -> None:
            if case.gone:
                folder.rmdir()
            if case.stdout == "closed":
                os.close(1)

        out.write_bytes(b"")
        started = time.monotonic()
        with where.open("wb") as to, err.open("wb") as errors:
            try:
                done = subprocess.run(
                    [sys.executable, "-c", _COMMAND, *case.arguments],
                    input=case.stdin,
                    stdout=to,
                    stderr=errors,
                    cwd=folder,
                    env=environment,
                    timeout=_LONGEST_SECONDS,
                    preexec_fn=prepare if case.gone or case.stdout == "closed" else None,
                    check=False,
                )
                status, ended = done.returncode, ""
            except subprocess.TimeoutExpired:
                status, ended = None, "waits for ever, and was killed"
        return Result(status, out.read_bytes(), err.read_bytes(), ended, time.monotonic() - started)


def _pipe() -> tuple[Connection, Connection]:
    reader, writer = os.pipe()
    return Connection(reader, writable=False), Connection(writer, readable=False)


def _ticks(pid: int) -> int:
    """Return the processor time of a process, in ticks of the kernel; where there is no /proc, a number that grows."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()
    except OSError:
        return time.monotonic_ns()
    return int(fields[11]) + int(fields[12])
