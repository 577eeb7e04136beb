"""Keys of permanent reports: made, written and read so that nobody else reads them, and never shown."""

from __future__ import annotations

import hashlib
import hmac
import os
import re
import secrets
import stat
from dataclasses import dataclass, field
from pathlib import Path
from typing import NoReturn, Self, SupportsIndex

from mechdesign.data.files import STANDARD, check_path, written_atomically
from mechdesign.data.labels import canonical_label
from mechdesign.data.reading import check_regular
from mechdesign.errors import InputError, printable

KEY_BYTES = 32
_FORMAT = re.compile(rb"mechdesign-key-1 ([0-9a-f]{64})(?:\r?\n)?")
_A_KEY = re.compile(rb"(.*mechdesign-key-1 .*|\s*[0-9a-fA-F]{64}\s*)", re.DOTALL)
_MOST_BYTES = 1_024
_PERSON = b"mechdesign-name1"  # the personalization of BLAKE2b: nothing else is hashed by it
_READ_BY_OTHERS = stat.S_IRWXG | stat.S_IRWXO
_WANTED = "a key file, as `mechdesign key -o FILE` writes it"


STAYS = (
    "a key does not leave its process, since what is sent to others may be written to logs and disks; give the path of "
    "its file, or KeyFile(path, attribute), which each process reads"
)


class Key:
    """The key from which permanent reports are drawn (`Mechanism.privatize`).

    Whoever has the key learns from a report what the mechanism hides, as far as report and id say. It is never
    shown: not by ``repr`` or ``vars``, in a message, in a traceback or in a file of reports. It is not pickled either:
    what is sent to other processes, by pools or by schedulers, may end up in logs and on disks. Give tasks the path of
    the key file, or a `KeyFile`. Copies of a key are the key itself.

    Parameters
    ----------
    secret : bytes
        32 bytes, drawn at random: use `generate` or `read`.
    attribute : str
        What the reports are about, where several attributes are reported under one key; see `for_attribute`.

    Raises
    ------
    InputError
        For anything but 32 bytes; the message does not print it.

    Examples
    --------
    >>> key = Key.generate()
    >>> key, key.for_attribute("smokes")
    (Key(...), Key(..., attribute='smokes'))
    """

    __slots__ = ("__attribute", "__secret")  # without a dictionary of attributes, which others might print

    def __init__(self, secret: bytes, attribute: str = "") -> None:
        self.__secret, self.__attribute = secret, ""
        del secret  # for tracebacks that show local variables
        if not isinstance(self.__secret, bytes):
            raise InputError.wrong_type(
                f"the key is a {type(self.__secret).__name__}; give Key.generate() or Key.read(path)"
            )
        if len(self.__secret) != KEY_BYTES:
            raise InputError.wrong_size(
                f"the key has {len(self.__secret)} bytes; accepted: {KEY_BYTES}, as Key.generate() draws"
            )
        self.__attribute = canonical_label(attribute) if attribute != "" else ""

    @property
    def secret(self) -> bytes:
        """The 32 bytes."""
        return self.__secret

    @property
    def attribute(self) -> str:
        """What the reports are about; empty without a name."""
        return self.__attribute

    def __copy__(self) -> Self:
        return self

    def __deepcopy__(self, memo: object) -> Self:
        return self

    def __getstate__(self) -> NoReturn:
        raise InputError.key_exposed(STAYS)

    def __reduce_ex__(self, protocol: SupportsIndex) -> NoReturn:
        raise InputError.key_exposed(STAYS)

    def __repr__(self) -> str:
        return f"Key(..., attribute={self.attribute!r})" if self.attribute else "Key(...)"

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Key):
            return NotImplemented
        return hmac.compare_digest(self.secret, other.secret) and self.attribute == other.attribute

    def __hash__(self) -> int:
        return hash((self.secret, self.attribute))

    @property
    def fingerprint(self) -> str:
        """16 hexadecimal digits by which keys, with their attributes, are told apart; they may be shown.

        Examples
        --------
        >>> Key(bytes(32)).fingerprint == Key(bytes(32)).for_attribute("smokes").fingerprint
        False
        """
        hashed = hashlib.blake2b(self.attribute.encode(), digest_size=8, key=self.secret, person=_PERSON)
        return hashed.hexdigest()

    @classmethod
    def generate(cls) -> Key:
        """Return a new key, from the operating system's secure randomness.

        Examples
        --------
        >>> Key.generate() == Key.generate()
        False
        """
        return cls(secrets.token_bytes(KEY_BYTES))

    def for_attribute(self, name: str) -> Key:
        """Return the same key for the reports about one attribute, which are independent of those about others.

        Two columns that are reported by the same mechanism, under the same key and the same ids, would share their
        randomness: equal values would have equal reports, so that two reports that differ tell for certain that the
        values differ. A name for each attribute prevents that. Another name for the same attribute draws other
        reports, which are second reports.

        Parameters
        ----------
        name : str
            Any label, such as the name of the column.

        Raises
        ------
        InputError
            If it cannot be a label.

        Examples
        --------
        >>> Key.generate().for_attribute("smokes").attribute
        'smokes'
        """
        return type(self)(self.secret, canonical_label(name))

    @classmethod
    def read(cls, path: str | os.PathLike[str]) -> Key:
        """Read a key file that nobody else can read.

        Parameters
        ----------
        path : path
            A regular file, or a link to one. It belongs to the user who reads it or to root; root may read any. On
            Windows, whose permissions are others, neither is checked.

        Raises
        ------
        InputError
            If it is no key file, can be read or written by group or others, or belongs to somebody else. No message
            prints any of its content.

        Examples
        --------
        >>> import tempfile, pathlib
        >>> key = Key.generate()
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     key.write(pathlib.Path(folder, "key"))
        ...     Key.read(pathlib.Path(folder, "key")) == key
        True
        """
        check_path(path)
        if _A_KEY.fullmatch(os.fsencode(path)) and not os.path.lexists(path):
            raise InputError.key_exposed(
                "a key is given where its file belongs; it is not printed here: give the path of its file"
            )
        check_regular(path, _WANTED)
        found = _FORMAT.fullmatch(_content(path))
        if found is None:
            raise InputError.wrong_file_format(f"{_name(path)} is not a key file; give {_WANTED}")
        return cls(bytes.fromhex(found[1].decode()))

    def write(self, path: str | os.PathLike[str]) -> None:
        """Write the key to a new file that only its owner can read and write; the attribute is not written.

        Raises
        ------
        InputError
            If the file exists, or cannot be written: a key that is lost cannot be made again, and a key is never
            written to standard output.
        """
        check_path(path)
        if str(path) == STANDARD:
            raise InputError.key_exposed(
                "a key is not written to standard output, where others may see it; give a path"
            )
        if os.path.lexists(path):
            raise InputError.file_exists(
                f"{_name(path)} exists, and a key that is replaced is lost: reports under another key are second "
                "reports; give another name, or keep this key"
            )
        with written_atomically(path, overwrite=False, mode=0o600) as file:
            file.write(b"mechdesign-key-1 %s\n" % self.secret.hex().encode())


@dataclass(frozen=True)
class KeyFile:
    """The file of a key, which is read only where reports are drawn, such as in the processes of an executor.

    Parameters
    ----------
    path : path
        As for `Key.read`.
    attribute : str
        As for `Key.for_attribute`; empty for none.
    fingerprint : str
        That of the key which is expected there, with its attribute; empty for any. The same path may lead to another
        key later, or on another machine, and reports under another key are second reports.

    Examples
    --------
    >>> KeyFile("survey.key", "smokes")
    KeyFile(path='survey.key', attribute='smokes')
    """

    path: str | os.PathLike[str]
    attribute: str = ""
    fingerprint: str = field(default="", repr=False)

    def read(self) -> Key:
        """Return the key in the file.

        Raises
        ------
        InputError
            As `Key.read` and `Key.for_attribute`; if the key is not the one that is expected.
        """
        key = Key.read(self.path)
        key = key.for_attribute(self.attribute) if self.attribute != "" else key
        if self.fingerprint not in {"", key.fingerprint}:
            raise InputError.second_report(
                f"{_name(self.path)} holds the key with the fingerprint {key.fingerprint}, and this run began with "
                f"{self.fingerprint}; reports under another key are second reports: put the same key there, on every "
                "machine"
            )
        return key


GivenKey = Key | KeyFile | str | os.PathLike[str]


def checked_key(rng: object, key: GivenKey | None, ids: object) -> Key | None:
    """Return the key of permanent reports, which are drawn from a key and ids; None for fresh reports.

    Raises
    ------
    InputError
        If one of the two is missing, if a generator is given as well, and as `key_of`.
    """
    if key is None and ids is None:
        return None
    if key is None:
        raise InputError.missing_argument(
            "ids are given without a key; give the key of permanent reports too, or leave ids out"
        )
    if ids is None:
        raise InputError.missing_argument("a key is given without ids; permanent reports need an id for each record")
    if rng is not None:
        raise InputError.conflicting_arguments(
            "a key and rng are given; permanent reports take no randomness but the key: leave rng out"
        )
    return key_of(key)


def key_of(given: GivenKey) -> Key:
    """Return a key that is given as such, or by its file.

    Raises
    ------
    InputError
        As `Key.read`; for anything else, without printing it.
    """
    if isinstance(given, KeyFile):
        return given.read()
    if isinstance(given, str | os.PathLike):
        return Key.read(given)
    if not isinstance(given, Key):
        raise InputError.wrong_type(f"key is a {type(given).__name__}; accepted: a Key, or the path of a key file")
    return given


def _content(path: str | os.PathLike[str]) -> bytes:
    """Return the first bytes of a file, after checking whose it is and who else can read it."""
    flags = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_BINARY", 0)
    try:
        # The file that is opened is the one that is checked, whatever is put under its name meanwhile.
        with os.fdopen(os.open(path, flags), "rb") as file:
            status = os.fstat(file.fileno())
            if not stat.S_ISREG(status.st_mode):
                raise InputError.cannot_read(
                    f"cannot read {_name(path)}: it is a directory, a device or a pipe; give {_WANTED}"
                )
            if hasattr(os, "geteuid"):
                _check_private(path, status, os.geteuid())
            return file.read(_MOST_BYTES)
    except OSError as error:
        raise InputError.cannot_read(f"cannot read {_name(path)}: {error.strerror or error}; give {_WANTED}") from error


def _check_private(path: str | os.PathLike[str], status: os.stat_result, user: int) -> None:
    if status.st_mode & _READ_BY_OTHERS:
        raise InputError.key_exposed(
            f"{_name(path)} can be read or written by others (mode {stat.S_IMODE(status.st_mode):04o}), who could have "
            f"read the key; make another key, or, if nobody has read it: chmod 600 {_name(path)}"
        )
    if status.st_uid not in {user, 0} and user != 0:
        raise InputError.key_exposed(
            f"{_name(path)} belongs to another user, who knows the key; give {_WANTED} by this user"
        )


def _name(path: str | os.PathLike[str]) -> str:
    return printable(str(Path(path)))
