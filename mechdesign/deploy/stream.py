"""Privatize the records of a file into another file, in batches."""

from __future__ import annotations

import csv
import io
import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np

from mechdesign.data.alphabet import Codes
from mechdesign.data.checks import check_kind
from mechdesign.data.files import accepted_ending, check_absent, check_path, check_places, written_atomically
from mechdesign.data.ids import Ids
from mechdesign.data.tables import BATCH_ROWS, Columns, index_from, is_text, open_columns
from mechdesign.deploy.repeated_ids import MOST_IDS, IdsSeen, PrivatizedFile
from mechdesign.errors import InputError, shorten
from mechdesign.mechanism.keys import GivenKey, checked_key
from mechdesign.mechanism.mechanism import check_mechanism
from mechdesign.mechanism.origin import METADATA
from mechdesign.mechanism.reporting import Deployed
from mechdesign.mechanism.sampler import random_bytes
from mechdesign.mechanism.words import second_run

ProgressCallback = Callable[[str], None]
ENDINGS = (".csv", ".parquet")
_SPECIAL = '",\r\n'  # a field of a CSV file that holds one of these needs quotes


@dataclass(frozen=True)
class RecordFile:
    """A column of records, or of reports, in a CSV or Parquet file.

    Attributes
    ----------
    path : path
        CSV in UTF-8, compressed or not, or Parquet.
    column : str
        The name of the column, or without a header its index from 0.
    header : bool
        Whether the first line of a CSV file names the columns.
    show_values : bool
        Whether messages print a record that is refused; by default they name only its row.
    """

    path: str | os.PathLike[str]
    column: str
    header: bool = True
    show_values: bool = False

    def __post_init__(self) -> None:
        check_path(self.path)
        check_kind(self.header, bool, "header", "True or False")

    @property
    def name(self) -> str:
        """The column's name; without a header its index, as text."""
        return self.named(self.column)

    def named(self, column: str) -> str:
        """Return the name of any column of the file; without a header its index, as text."""
        return column if self.header else str(index_from(column))

    @property
    def sources(self) -> tuple[str, ...]:
        """The columns that are read and not copied."""
        return (self.column,)

    @property
    def made(self) -> tuple[str, ...]:
        """The names of the columns of reports that are made from the records."""
        return (self.name,)

    def published(self, reports: Sequence[Any]) -> Sequence[Any]:
        """Return the columns of reports as they are written."""
        return reports

    def of_reports(self, path: str | os.PathLike[str]) -> RecordFile:
        """Return the file of the reports that are made from the records."""
        return replace(self, path=path)

    def written(self, columns: Columns, keep: Sequence[str]) -> Columns:
        """Return the columns that are written, those of the reports and those that are copied."""
        return columns.only([self.name, *map(self.named, keep)])

    def with_ids(self, others: Sequence[str], ids: str | None) -> list[str]:
        """Return columns, and that of the ids if it is not among them."""
        if ids is None:
            return list(others)
        if not isinstance(ids, str):
            raise InputError.wrong_type(f"ids is {shorten(ids)}; give the name of the column of ids")
        if self.named(ids) in map(self.named, self.sources):
            raise InputError.column_twice(
                f"the column {shorten(ids)} is that of the records and that of the ids; give a column that says whom "
                "the record is about"
            )
        return [*others, *([] if self.named(ids) in map(self.named, others) else [ids])]

    def ids_in(self, batch: Any, ids: str, before: int) -> Ids:
        """Return the ids of a batch, of which messages say the row."""
        return Ids(batch.column(self.named(ids)), lambda index: f"{self.path}, record {before + index + 1}: the id")

    def open(self, *others: str) -> Columns:
        """Open the column, together with other columns of the file."""
        return open_columns(
            self.path,
            [*self.sources, *others],
            header=self.header,
            show_values=self.show_values,
            encoded=self.sources,
        )

    def batches(self, columns: Columns, alphabet: Any) -> Iterator[tuple[Codes, Any]]:
        """Yield the codes of the column batch by batch, each with the batch itself.

        An integer in a Parquet file stands for the label that is its decimal text.

        Raises
        ------
        InputError
            Naming the file and the first record outside the categories, counted from 1.
        """
        before = 0
        named = replace(
            alphabet,
            where=lambda index: f"{self.path}, record {before + index + 1}",
            show_values=self.show_values,
        )
        for batch in columns.batches:
            yield self._codes(batch, named), batch
            before += batch.num_rows

    def _codes(self, batch: Any, alphabet: Any) -> Codes:
        codes: Codes = alphabet.codes_of_arrow(integers_as_text(batch.column(self.name)))
        return codes


@dataclass(frozen=True)
class ReportFile:
    """A file to which reports are written.

    Attributes
    ----------
    path : path
        ``.csv`` or ``.parquet``. It has a header if the source has one. ``-`` is CSV on standard output, where an
        error may leave a part.
    keep : sequence of str
        Other columns to be copied. All remaining columns are dropped, and so are the metadata of columns. An index of
        pandas (``__index_level_0__``) is copied as it is. **What is kept can undo the privacy**: the guarantee holds
        for the report alone, not for the report together with columns that depend on the record.
    overwrite : bool
        Whether an existing file is replaced. Each run draws new reports, and two published runs leak more than one;
        with a key they are the same reports again, by the same mechanism, key, attribute and ids.
    """

    path: str | os.PathLike[str]
    keep: Sequence[str] = ()
    overwrite: bool = False

    def __post_init__(self) -> None:
        check_path(self.path)
        check_kind(self.overwrite, bool, "overwrite", "True or False")
        if isinstance(self.keep, str) or not isinstance(self.keep, Iterable):  # letters of a name are not columns
            raise InputError.wrong_type(
                f"keep is {shorten(self.keep)}; give a list of names of columns, such as ['week']"
            )

    @classmethod
    def of(cls, output: ReportFile | str | os.PathLike[str]) -> ReportFile:
        """Return the file itself, or for a path a file with no other columns, which replaces nothing."""
        return output if isinstance(output, ReportFile) else cls(output)

    def checked_ending(self, source: str | os.PathLike[str], *, permanent: bool) -> str:
        """Return the ending of the path, after checking that the file may be written and is not the source."""
        ending = accepted_ending(self.path, ENDINGS)
        check_places([self.path], [source])
        if not self.overwrite:
            check_absent(self.path, second_run(permanent=permanent), "allow it (overwrite=True)")
        return ending


def privatize_file(  # noqa: PLR0913 - permanent reports take a key and ids where fresh ones take rng
    records: RecordFile,
    mechanism: Deployed,
    output: ReportFile | str | os.PathLike[str],
    *,
    key: GivenKey | None = None,
    ids: str | None = None,
    unknown: str | None = None,
    missing: str | None = None,
    rng: np.random.Generator | None = None,
    progress: ProgressCallback | None = None,
) -> PrivatizedFile:
    r"""Replace a column of records by reports, and write it to another file.

    The file is read in batches, so that files of any size fit into memory. The output is either complete or absent.

    Parameters
    ----------
    records : RecordFile
        The source and its column, which holds labels of the mechanism's inputs.
    mechanism : Mechanism or WindowMechanism
        Its inputs are the categories; windows take any text.
    output : ReportFile or path
        Where the reports go. A path stands for a `ReportFile` that copies no other column and replaces no file.
    key : Key, KeyFile or path, optional
        As in `Mechanism.privatize`: with a key reports are permanent.
    ids : str, optional
        The column of ids, which ``key`` needs: a name, or without a header an index from 0. It is written only if the
        output keeps it, and then tells whose report each is: reports on several attributes, or of several days, can
        be linked by it.
    unknown, missing, rng
        As in `Mechanism.privatize`.
    progress : callable, optional
        Receives a line on progress after each batch.

    Returns
    -------
    PrivatizedFile
        How many records there are, and how many ids have several of them.

    Raises
    ------
    InputError
        For arguments in another order, unreadable or malformed input, a record outside the categories or an id that is
        refused (its row is named), an output that cannot be written, exists already or is the input, or a full disk. No
        file is then left under the name of the output.

    Examples
    --------
    >>> import mechdesign as md, tempfile, pathlib
    >>> ball = md.L1Ball([0.6, 0.4], radius=0.1, labels=["no", "yes"])
    >>> mechanism = md.design(md.DesignProblem(ball, epsilon=1)).mechanism
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     source, output = pathlib.Path(folder, "records.csv"), pathlib.Path(folder, "reports.csv")
    ...     _ = source.write_text("answer\nyes\nno\n")
    ...     done = privatize_file(RecordFile(source, "answer"), mechanism, output)
    ...     done.records, output.read_text().splitlines()[0]
    (2, 'answer')
    """
    check_arguments("privatize_file(records, mechanism, output)", records, mechanism)
    target = ReportFile.of(output)
    ending = target.checked_ending(records.path, permanent=key is not None)
    alphabet = mechanism.alphabet(unknown, missing)
    draw = mechanism.drawing(random_bytes(rng), checked_key(rng, key, ids))
    _refuse_secret(records, mechanism, target)
    columns = records.open(*records.with_ids(target.keep, ids))
    written = records.written(columns, target.keep)
    done, seen = 0, IdsSeen(MOST_IDS)
    with (
        written_atomically(target.path, overwrite=target.overwrite) as file,
        _writer(ending, file, written, records, mechanism) as write,
    ):
        for codes, batch in records.batches(columns, alphabet):
            names = None if ids is None else records.ids_in(batch, ids, done)
            reports = dict(zip(records.made, records.published(mechanism.named(draw(codes, names))), strict=True))
            if names is not None:
                seen.first(names.texts(0, len(names)), codes)
            write({name: reports[name] if name in reports else batch.column(name) for name in written.names})
            done += len(codes)
            if progress is not None:
                progress(f"privatizing: {done:,} records")
    return PrivatizedFile(done, seen.repeated, len(seen.changed))


def _refuse_secret(records: RecordFile, mechanism: Deployed, target: ReportFile) -> None:
    """Refuse to copy the column that a promise about a secret protects, also in the name of a folder."""
    if (secret := mechanism.guarantee.secret) is None:
        return
    folders = [part.partition("=") for part in Path(target.path).parts[:-1]]
    in_folders = {name for name, sign, _ in folders if sign}
    if secret in in_folders.union(target.keep, (f"column {records.named(name)}" for name in target.keep)):
        raise InputError.column_twice(
            f"the column {shorten(secret)} cannot stand beside the reports, nor in names of folders: the promise is "
            "about it alone, and a copy would undo it; leave it out"
        )


def check_arguments(call: str, records: object, mechanism: object) -> None:
    """Refuse what stands at another place than a call has it.

    Raises
    ------
    InputError
        Naming the call.
    """
    if not isinstance(records, RecordFile):
        raise InputError.wrong_type(f"records is of type {type(records).__name__}; give a RecordFile, as in {call}")
    check_mechanism(mechanism, f"mechanism in {call}", deployed=True)


def integers_as_text(records: Any) -> Any:
    """Return a column in which integers are their decimal text."""
    import pyarrow as pa

    return records.cast(pa.string()) if pa.types.is_integer(records.type) else records


@contextmanager
def _writer(
    ending: str, file: BinaryIO, columns: Columns, records: RecordFile, mechanism: Deployed
) -> Iterator[Callable[[Any], None]]:
    """Yield a function that writes the columns of a batch, with reports of the mechanism."""
    import pyarrow as pa

    if ending == ".parquet":
        with _parquet_writer(file, columns, records, mechanism.fingerprint) as write:
            yield lambda batch: write(pa.record_batch(batch))
        return
    schema = _csv_schema(columns, records)
    if records.header:
        line = io.StringIO(newline="")
        csv.writer(line, lineterminator="\n").writerow(columns.names)
        file.write(line.getvalue().encode())
    kept = [field.name for field in schema if field.name not in records.made and is_text(field.type)]
    quoted = any(character in label for label in mechanism.outputs for character in _SPECIAL)
    yield lambda batch: _write_csv(pa.record_batch(batch).cast(schema), file, kept, quoted=quoted)


@contextmanager
def _parquet_writer(
    file: BinaryIO, columns: Columns, records: RecordFile, fingerprint: str
) -> Iterator[Callable[[Any], None]]:
    """Yield a function that writes a batch to a Parquet file whose row groups have the same size for every source.

    Batches end where the blocks or row groups of the source end, and the metadata of fields come from the source as
    well. Both could disclose something of the dropped columns, so neither is copied. The field of the reports has the
    fingerprint of the mechanism that made them. They have no statistics, of which the least and the greatest report
    tell nothing and cost a third of the time of writing.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    schema = pa.schema([field.remove_metadata() for field in columns.schema])
    for name in records.made:
        reports = pa.field(name, pa.string(), metadata={METADATA: fingerprint})
        schema = schema.set(schema.get_field_index(name), reports)
    waiting: list[Any] = []

    def write(batch: Any) -> None:
        waiting.append(batch.cast(schema))
        if sum(map(len, waiting)) >= BATCH_ROWS:
            table = pa.Table.from_batches(waiting)
            whole = len(table) // BATCH_ROWS * BATCH_ROWS
            writer.write_table(table.slice(0, whole).unify_dictionaries(), BATCH_ROWS)
            waiting[:] = table.slice(whole).to_batches()

    kept = [name for name in schema.names if name not in records.made]
    with pq.ParquetWriter(file, schema, write_statistics=kept or False) as writer:
        yield write
        if any(map(len, waiting)):
            writer.write_table(pa.Table.from_batches(waiting).unify_dictionaries(), BATCH_ROWS)


def _csv_schema(columns: Columns, records: RecordFile) -> Any:
    """Return the schema with plain text for encoded text, after checking that CSV holds all its types."""
    import pyarrow as pa
    import pyarrow.csv as pa_csv

    fields = []
    for field in columns.schema:
        kind = field.type.value_type if pa.types.is_dictionary(field.type) else field.type
        kind = pa.string() if pa.types.is_string_view(kind) or field.name in records.made else kind
        try:
            if pa.types.is_binary(kind) or pa.types.is_large_binary(kind) or pa.types.is_fixed_size_binary(kind):
                raise pa.ArrowInvalid("bytes are not text")
            pa_csv.write_csv(pa.schema([pa.field("x", kind)]).empty_table(), io.BytesIO())
        except pa.ArrowException as error:
            raise InputError.wrong_column_type(
                f"{records.path}: the column {shorten(field.name)} is of type {field.type}, which CSV does not hold "
                f"({shorten(str(error), 80)}); leave it out, or give a .parquet output"
            ) from None
        fields.append(pa.field(field.name, kind))
    return pa.schema(fields)


def _write_csv(batch: Any, file: BinaryIO, kept: Sequence[str], *, quoted: bool) -> None:
    """Write the rows of a batch, with quotes if a report or a field of the kept text columns needs them."""
    import pyarrow.compute as pc
    import pyarrow.csv as pa_csv

    pattern = f"[{_SPECIAL}]"
    special = quoted or any(pc.any(pc.match_substring_regex(batch.column(name), pattern)).as_py() for name in kept)
    style = "needed" if special else "none"
    pa_csv.write_csv(batch, file, pa_csv.WriteOptions(include_header=False, quoting_style=style))
