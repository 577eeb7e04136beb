r"""CSV files as blocks of whole records, and the definition of a CSV file for every reader of the package.

* It is UTF-8 without NUL characters; a byte order mark at its start is skipped. Lines end with LF or CR LF; any other
  carriage return is malformed outside quotes, since programs differ on whether it ends a line.
* Fields are separated by commas, and every record has as many as the first. A field in quotes may hold any character; a
  quote in it is doubled. Only spaces may stand before its opening quote, and nothing after its closing quote. A field
  without quotes may not hold a quote, since programs differ on what it would mean.
* White space around a field is dropped, inside quotes or not. White space is what `str.strip` removes.
* In a file of one column an empty line is a record whose field is empty, since writers put a null in this way. In a
  file of more columns no writer puts a record in this way, and empty lines are skipped. The line end of the last line
  does not begin another record.
* A record with its line end must fit into a block, and a line of column names into 1 MiB.

`Block.records` reads a block by this definition. pyarrow is faster and accepts more, so it reads only those blocks
that both are certain to read alike; tests compare the two.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from mechdesign.errors import InputError

BLOCK_BYTES = 1 << 22
HEADER_BYTES = 1 << 20
WHITE_SPACE = (
    "\t\n\v\f\r\x1c\x1d\x1e\x1f \x85\xa0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a"
    "\u2028\u2029\u202f\u205f\u3000"
)
"""What `str.strip` removes."""

COMPRESSIONS = {".gz": "gzip", ".bz2": "bz2", ".zst": "zstd"}
_MARK = b"\xef\xbb\xbf"
_FIELD = re.compile(r' *"([^"]*+(?:""[^"]*+)*+)"|([^",\r\n]*+)')
_END = re.compile(r",|\r?\n|\Z")
_OTHER_SIGNS = {";": "semicolons", "\t": "tabs", "|": "vertical bars"}
_COMMA, _QUOTE, _LINE_FEED, _RETURN = b',"\n\r'

_FIRST_PRINTABLE, _LAST_PRINTABLE = 33, 126
_PIECE_BYTES = 1 << 18  # compared at a time: arrays of this size stay in the cache, and their memory is reused

Signs = NDArray[np.uint8]
Words = NDArray[np.uint64]


class CsvRecord(NamedTuple):
    """A record, with its place in a block.

    Attributes
    ----------
    line : int
        The line of the file on which it begins, counted from 1.
    fields : list of str
        The fields, without white space around them; an empty list for an empty line.
    end : int
        Where the next record begins, in characters from the start of the block.
    """

    line: int
    fields: list[str]
    end: int


@dataclass(frozen=True, eq=False)
class Block:
    """Consecutive whole records of a file.

    Attributes
    ----------
    source : str
        The file, for messages.
    data : bytes
        The records, in UTF-8.
    line : int
        The line of the file on which they begin, counted from 1.
    """

    source: str
    data: bytes
    line: int

    def lines(self) -> int:
        """Return how many lines end in the block."""
        return _count(np.frombuffer(self.data, np.uint8), _LINE_FEED)

    def after(self, record: CsvRecord) -> Block:
        """Return the part of the block that follows one of its records."""
        text = self.data.decode()[: record.end]
        return Block(self.source, self.data[len(text.encode()) :], self.line + text.count("\n"))

    def has_quotes(self) -> bool:
        """Return whether there is a quote in the block."""
        return b'"' in self.data

    def is_simple(self) -> bool:
        """Return whether all readers are certain to read the block alike, apart from the number of fields."""
        data = self.data
        if b"\0" in data or data.startswith(_MARK):  # pyarrow drops a mark at the start of its input
            return False
        if self.has_quotes():
            return _is_unambiguous(data)
        return b"\r" not in data or data.count(b"\r") == data.count(b"\r\n")

    def records(self) -> Iterator[CsvRecord]:
        """Yield the records of the block, and its empty lines.

        Raises
        ------
        InputError
            Naming the line that is malformed.
        """
        text, start, line = self.data.decode(), 0, self.line
        if "\0" in text:
            raise _malformed(self.source, line + text.count("\n", 0, text.index("\0")), "a NUL character")
        while start < len(text):
            end = text.find("\n", start) + 1 or len(text)
            row = text[start:end]
            if '"' in row or ("\r" in row and "\r" in row.removesuffix("\r\n")):
                fields, end = self._fields(text, start, line)
            else:  # the sign by sign reading of most records would take four times as long
                fields = [] if row in {"\n", "\r\n"} else list(map(str.strip, row.split(",")))
            yield CsvRecord(line, fields, end)
            line += text.count("\n", start, end)
            start = end

    def _fields(self, text: str, start: int, line: int) -> tuple[list[str], int]:
        """Return the fields of the record that begins at ``start`` and is not an empty line, and where it ends."""
        fields, position, separator = [], start, ","
        while separator == ",":
            field = _FIELD.match(text, position)
            end = None if field is None else _END.match(text, field.end())
            if field is None or end is None:
                at = position if field is None else field.end()
                raise _malformed(self.source, line + text.count("\n", start, at), _flaw(text, position, at))
            quoted, plain = field.groups()
            fields.append((plain if quoted is None else quoted.replace('""', '"')).strip())
            position, separator = end.end(), end.group()
        return fields, position


def blocks(path: str | os.PathLike[str], size: int = BLOCK_BYTES) -> Iterator[Block]:
    """Yield a CSV file in blocks; its ending says whether it is compressed (``.gz``, ``.bz2``, ``.zst``).

    Raises
    ------
    InputError
        Naming the line of a record that is longer than a block, or the line that is not UTF-8.
    """
    source, line, is_last = str(path), 1, False
    buffer = bytearray(max(size, len(_MARK)))  # its first ``held`` bytes are the start of a record
    view = memoryview(buffer)
    with _opened(path) as stream:
        begun = _filled(stream, view[: len(_MARK)])
        held = 0 if buffer.startswith(_MARK) else begun
        while not is_last:
            filled = held + _filled(stream, view[held:])
            is_last = filled < len(buffer)
            end = filled if is_last else _last_end(buffer)
            if not end and not is_last:
                raise InputError.malformed_table(
                    f"{source} is malformed, line {line}: the record that begins here is longer than {size:,} bytes, "
                    "or a quote in it is not closed; accepted: shorter records, whose quotes are closed"
                )
            block = Block(source, bytes(view[:end]), line)
            _check_encoding(block)
            line, held = line + block.lines(), filled - end
            view[:held] = bytes(view[end:filled])
            if end:
                yield block


def rows(path: str | os.PathLike[str], size: int = BLOCK_BYTES) -> Iterator[CsvRecord]:
    """Yield the records of a CSV file and its empty lines, one by one: for small files.

    Raises
    ------
    InputError
        Naming the line that is malformed.
    """
    for block in blocks(path, size):
        yield from block.records()


def other_separator(fields: list[str]) -> str:
    """Return what a message adds about a line of one field that signs other than commas separate; else nothing.

    Examples
    --------
    >>> other_separator(["id;answer"]), other_separator(["id", "answer"])
    ('; its fields are separated by semicolons: write the file with commas', '')
    """
    signs = (name for sign, name in _OTHER_SIGNS.items() if len(fields) == 1 and sign in fields[0])
    name = next(signs, None)
    return "" if name is None else f"; its fields are separated by {name}: write the file with commas"


def field_count_error(source: str, record: CsvRecord, expected: int) -> InputError:
    """Return the error for a record whose number of fields differs from that of the first record."""
    found = len(record.fields)
    return InputError.malformed_table(
        f"{source} is malformed, line {record.line}: {found} field{'s' if found > 1 else ''}, while the first line has "
        f"{expected}; accepted: as many fields in every line, separated by commas"
    )


@contextmanager
def _opened(path: str | os.PathLike[str]) -> Iterator[Any]:
    """Open a file for reading, and decompress it if its ending says that it is compressed."""
    import pyarrow as pa

    compression = COMPRESSIONS.get(Path(path).suffix)
    with Path(path).open("rb", buffering=0) as file:
        if compression is None:
            yield file
        else:
            with pa.input_stream(file, compression=compression) as stream:
                yield stream


def _filled(stream: Any, place: memoryview) -> int:
    """Fill a buffer with bytes, and return how many were read: fewer than it holds only at the end of the file."""
    done = 0
    while done < len(place) and (more := stream.readinto(place[done:])):
        done += more
    return done


def _last_end(buffer: bytearray) -> int:
    """Return where the last complete record of a buffer ends; 0 if no record ends in it.

    A line end after an odd number of quotes is inside a field, provided that every quote before it is allowed at its
    place. A quote that is not allowed is found when its block is read.
    """
    end = buffer.rfind(b"\n") + 1
    if end == 0 or b'"' not in buffer:
        return end
    is_inside = _count(np.frombuffer(buffer, np.uint8, end), _QUOTE) % 2 == 1
    while is_inside:
        opening = buffer.rfind(b'"', 0, end)
        end = buffer.rfind(b"\n", 0, opening) + 1
        is_inside = buffer.count(b'"', end, opening) % 2 == 1
    return end


def _is_unambiguous(data: bytes) -> bool:
    """Return whether every quote begins or ends a field or is doubled in one, and every CR outside quotes ends a line.

    Each byte becomes a bit of a word, lowest bit first, so that one operation treats 64 bytes.
    """
    signs = np.frombuffer(data, np.uint8)
    quotes, ends = _as_bits(signs, _QUOTE), _as_bits(signs, _COMMA, _LINE_FEED)
    inside = _parity(quotes)  # from an opening quote up to the last sign before the closing one
    may_open = _to_next(ends | quotes)
    may_open[0] |= np.uint64(1)  # nothing precedes the first sign
    if has_returns := b"\r" in data:
        returns = _as_bits(signs, _RETURN)
        ends |= returns
    may_close = _to_last(ends | quotes)
    last, bit = divmod(signs.size - 1, 64)
    may_close[last] |= np.uint64(1 << bit)  # and nothing follows the last
    bad = (quotes & inside & ~may_open) | (quotes & ~inside & ~may_close)
    if has_returns:
        bad |= returns & ~inside & ~_to_last(_as_bits(signs, _LINE_FEED))
    return not bad.any() and not int(inside[last]) >> bit & 1


def _count(signs: Signs, sign: int) -> int:
    """Return how often a sign occurs."""
    starts = range(0, signs.size, _PIECE_BYTES)
    return sum(int(np.count_nonzero(signs[start : start + _PIECE_BYTES] == sign)) for start in starts)


def _as_bits(signs: Signs, *wanted: int) -> Words:
    """Return a bit for every sign: whether it is one of the wanted signs. Bits after the last sign are 0."""
    packed = np.zeros(-(-signs.size // 64) * 8, np.uint8)
    for start in range(0, signs.size, _PIECE_BYTES):
        piece = signs[start : start + _PIECE_BYTES]
        found = piece == wanted[0]
        for sign in wanted[1:]:
            found |= piece == sign
        bits = np.packbits(found, bitorder="little")
        packed[start // 8 : start // 8 + bits.size] = bits
    return packed.view("<u8")


def _to_next(words: Words) -> Words:
    """Return the words with every bit moved to the next place."""
    moved = words << np.uint64(1)
    moved[1:] |= words[:-1] >> np.uint64(63)
    return moved


def _to_last(words: Words) -> Words:
    """Return the words with every bit moved to the place before."""
    moved = words >> np.uint64(1)
    moved[:-1] |= words[1:] << np.uint64(63)
    return moved


def _parity(words: Words) -> Words:
    """Return at every place whether the number of bits set up to and including it is odd."""
    odd, moved = words.copy(), np.empty_like(words)
    for places in (1, 2, 4, 8, 16, 32):
        np.left_shift(odd, np.uint64(places), out=moved)
        odd ^= moved
    before = np.bitwise_xor.accumulate(odd >> np.uint64(63))
    odd[1:] ^= np.uint64(0) - before[:-1]  # all ones after an odd number
    return odd


def has_no_space(signs: Signs) -> bool:
    """Return whether all bytes are printable characters of ASCII, from 33 to 126, none of which is white space.

    Examples
    --------
    >>> has_no_space(np.frombuffer(b"a,b", np.uint8)), has_no_space(np.frombuffer(b"a b", np.uint8))
    (True, False)
    """
    return not signs.size or bool(signs.min() >= _FIRST_PRINTABLE and signs.max() <= _LAST_PRINTABLE)


def _check_encoding(block: Block) -> None:
    if block.data.isascii():
        return
    try:
        block.data.decode()
    except UnicodeDecodeError as error:
        line = block.line + block.data.count(b"\n", 0, error.start)
        raise InputError.not_utf8(f"{block.source} is not UTF-8 (line {line}); convert it to UTF-8") from None


def _flaw(text: str, start: int, at: int) -> str:
    """Return what is wrong with a field that begins at ``start`` and is malformed at ``at``."""
    if text[at] == "\r":
        return "a carriage return that ends no line"
    if text[at] != '"':
        return "text after a closing quote"
    return "a quote that is not closed" if not text[start:at].strip(" ") else "a quote within a field without quotes"


def _malformed(source: str, line: int, flaw: str) -> InputError:
    return InputError.malformed_table(
        f"{source} is malformed, line {line}: {flaw}; accepted: CSV with quotes around whole fields, quotes in them "
        "doubled, and lines that end with LF or CR LF"
    )
