"""One reader of CSV files: held against the csv module, whatever the file and wherever its blocks end."""

import bz2
import csv
import gzip
import io
import sys
import threading

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from refusals import raises

from mechdesign import InputError
from mechdesign.data import csv_blocks, tables
from mechdesign.data.counts import read_counts
from mechdesign.data.csv_blocks import WHITE_SPACE, Block, blocks, other_separator, rows
from mechdesign.data.tables import open_columns
from mechdesign.mechanism.matrix_files import read_matrix

SIGNS = st.text(st.sampled_from('ab",\n\r \té\u3000\x1c'), max_size=12)


def columns_of(path, *, width, header=False, size=None):
    """All columns of a file, as lists."""
    opened = open_columns(path, [str(place) for place in range(width)], header=header, block_bytes=size)
    batches = list(opened.batches)
    return [[value for batch in batches for value in batch.column(place).to_pylist()] for place in range(width)]


def as_rows(columns):
    return [list(row) for row in zip(*columns, strict=True)]


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    return tmp_path_factory.mktemp("csv") / "t.csv"


def written(field, style):
    """A field as some writer has it; without quotes only where it needs none."""
    if style == "plain" and not set(field) & set('",\r\n'):
        return field
    return (" " * style.count(" ")) + '"' + field.replace('"', '""') + '"'


@st.composite
def files(draw):
    """The records of a file, and its lines as written."""
    width = draw(st.integers(1, 3))
    styles = st.sampled_from(["plain", "plain", "quoted", " quoted"])
    records, lines = [], []
    for _ in range(draw(st.integers(0, 6))):
        fields = draw(st.lists(SIGNS, min_size=width, max_size=width))
        line = ",".join(written(field, draw(styles)) for field in fields)
        records.append([field.strip() for field in fields])
        lines.append(line + draw(st.sampled_from(["\n", "\r\n"])))
        if width > 1 and draw(st.integers(0, 4)) == 0:
            lines.append("\n")
    if lines and lines[-1] not in ("\n", "\r\n") and lines[-1].strip("\r\n") and draw(st.booleans()):
        lines[-1] = lines[-1].rstrip("\n").removesuffix("\r") if lines[-1].endswith("\n") else lines[-1]
    return width, records, lines


@pytest.mark.slow
@given(files(), st.integers(0, 40), st.booleans())
def test_what_writers_write_is_read_wherever_blocks_end(place, file, room, marked):
    width, records, lines = file
    place.write_bytes((b"\xef\xbb\xbf" if marked else b"") + "".join(lines).encode())
    size = max([len(line.encode()) + 1 for line in lines] + [3]) + room
    if not records:
        return
    first = next((line for line in lines if line.strip("\r\n")), "")
    if not first:
        assert columns_of(place, width=1, size=size) == [[record[0] for record in records]]
        return
    if other_separator(records[0]):  # what looks like a file of another separator is refused
        with raises("unknown-column"):
            columns_of(place, width=width, size=size)
        return
    assert as_rows(columns_of(place, width=width, size=size)) == records
    found = [record.fields for record in rows(place, size)]
    assert [fields or [""] for fields in found if fields or width == 1] == records


def has_stray(text):
    """Whether a quote stands within a field without quotes, or a carriage return outside quotes ends no line."""
    state = "start"
    for sign, following in zip(text, [*text[1:], " "], strict=False):
        if state == "quoted":
            state = "closing" if sign == '"' else "quoted"
            continue
        if sign == '"':
            if state == "plain":
                return True
            state = "quoted"
        elif sign == "\r" and following != "\n":
            return True
        elif sign in ",\r\n":
            state = "start"
        elif sign != " " or state != "start":
            state = "plain"
    return False


@given(st.text(st.sampled_from('aab"",,\n\n\r ü\0'), max_size=30), st.booleans())
@example('a,b\nc"d,e\n"f",g\n', False)
@example('a\n"b""\nc\n', False)
@example("a\rb\n", False)
@example('a,"b"c\n', False)
@example('a,b\n"c\n', True)
@example('"a\rb",c\r\nd,e', True)
def test_the_reader_agrees_with_the_csv_module_on_any_text(place, text, marked):
    place.write_bytes((b"\xef\xbb\xbf" if marked else b"") + text.encode())
    try:
        expected = [
            [field.strip() for field in row]
            for row in csv.reader(io.StringIO(text, newline=""), skipinitialspace=True, strict=True)
        ]
    except csv.Error:
        expected = None
    width = next((len(row) for row in expected or () if row), 1)
    if expected is not None:
        expected = [row or [""] for row in expected if row or width == 1]
    if "\0" in text or expected is None or has_stray(text) or any(len(row) != width for row in expected):
        with raises("malformed-table"):
            columns_of(place, width=width, size=100)
    elif not text:
        with raises("nothing-given"):
            columns_of(place, width=1)
    else:
        assert as_rows(columns_of(place, width=width, size=100)) == expected


@given(st.text(st.sampled_from('a",\n\r'), min_size=60, max_size=140), st.sampled_from([8, 64, 1 << 18]))
def test_what_is_simple_is_read_alike_by_arrow(text, piece):
    block = Block("t", text.encode(), 1)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(csv_blocks, "_PIECE_BYTES", piece)
        assert block.lines() == text.count("\n")
        is_simple = block.is_simple()
    assert is_simple == block.is_simple()
    if not is_simple:
        return
    read = list(block.records())  # so it is not malformed
    width = max((len(record.fields) for record in read), default=0)
    if width and all(len(record.fields) == width for record in read if record.fields):
        table = tables._parsed(block, width, range(width))
        expected = [record.fields or [""] for record in read if record.fields or width == 1]
        assert [[value.strip() for value in row.values()] for row in table.to_pylist()] == expected


def test_simple_blocks_go_to_arrow():
    # Otherwise the test above would hold for nothing.
    for text in ("a,b\nc,d\n", '"a","b,\n"\r\n"","""x"""\r\n', 'a,"b"', '"a\rb",c\n' * 50, "a\n\nb\n"):
        assert Block("t", text.encode(), 1).is_simple()
    for text in ('a, "b"\n', 'a"b\n', '"a', '"a"b\n', "a\rb\n", '"a"\rb\n', "a\0\n", "x" * 64 + '"' + "x" * 64):
        assert not Block("t", text.encode(), 1).is_simple()


def test_white_space_is_that_of_strip():
    every = [chr(code) for code in range(sys.maxunicode + 1)]
    assert {sign for sign in every if not sign.strip()} == set(WHITE_SPACE)


@pytest.mark.parametrize("quote", ["", '"'])
def test_every_white_space_around_fields_is_dropped_and_no_other_sign(place, quote):
    around = ["\u200b", "\ufeff", "\x7f", *WHITE_SPACE.replace("\r", "").replace("\n", "").replace(" ", "")]
    place.write_text("k,v\n" + "".join(f"{i},{quote}{sign}x{sign}{quote}\n" for i, sign in enumerate(around)))
    values = [v for batch in open_columns(place, ["v"]).batches for v in batch.column(0).to_pylist()]
    assert values == [f"{sign}x{sign}".strip() for sign in around]
    assert values[:4] == ["\u200bx\u200b", "\ufeffx\ufeff", "\x7fx\x7f", "x"]


@pytest.mark.slow
def test_texts_are_copied_only_where_white_space_may_be_around_one():
    plain = pa.array(["a", "", "!~"])
    assert tables._trimmed(plain) is plain
    assert tables._trimmed(pa.array([""])).to_pylist() == [""]
    for sign in map(chr, range(1 << 16)):
        if not "\ud800" <= sign <= "\udfff":
            assert tables._trimmed(pa.array(["a", f"{sign}x{sign}"])).to_pylist() == ["a", f"{sign}x{sign}".strip()]


@pytest.mark.parametrize("content", [b"k\na\n\nb\n", b"k\r\na\r\n\r\nb\r\n", b"k\na\n\nb", b'k\na\n""\nb\n'])
def test_an_empty_line_of_one_column_is_a_missing_record(place, content):
    place.write_bytes(content)
    (batch,) = open_columns(place, ["k"]).batches
    assert batch.column(0).to_pylist() == ["a", "", "b"]


def test_the_end_of_the_last_line_is_no_record_and_a_line_after_it_is_one(place):
    for content, expected in ((b"k\na\n", ["a"]), (b"k\na", ["a"]), (b"k\na\n\n", ["a", ""]), (b"k\n\n", [""])):
        place.write_bytes(content)
        assert columns_of_one(place) == expected
    place.write_bytes(b"\n\na\n")
    assert columns_of(place, width=1) == [["", "", "a"]]


def columns_of_one(path):
    return [value for batch in open_columns(path, ["k"]).batches for value in batch.column(0).to_pylist()]


@pytest.mark.parametrize(("header", "size"), [("x\n", None), ("x\n", 6), ("", 6), ("\ufeffx\n", 7)])
def test_only_the_first_mark_of_a_file_is_skipped(place, header, size):
    """Also where a block of records begins with one."""
    records = ["\ufeffa", "b", "\ufeff", "\ufeffc", "\ufeff"]
    if not header:
        records[:0] = ["a"]
    place.write_text(header + "".join(f"{record}\n" for record in records), encoding="utf-8")
    if header:
        opened = open_columns(place, ["x"], block_bytes=size)
        assert [value for batch in opened.batches for value in batch.column(0).to_pylist()] == records
    else:
        assert columns_of(place, width=1, size=size) == [records]


def test_an_empty_line_of_several_columns_is_no_record(place):
    place.write_bytes(b"1,a\n\n2,b\r\n\r\n\n,\n")
    assert as_rows(columns_of(place, width=2)) == [["1", "a"], ["2", "b"], ["", ""]]


def zstandard(path, mode):
    return pa.output_stream(path, compression="zstd")


@pytest.mark.parametrize(("ending", "opener"), [("gz", gzip.open), ("bz2", bz2.open), ("zst", zstandard)])
def test_compressed_files_are_read_by_everybody(tmp_path, ending, opener):
    from mechdesign.data.counts import count_column, read_counts

    with opener(str(tmp_path / f"t.csv.{ending}"), "wb") as file:
        file.write(b"k,n\na,2\nb,1\n")
    assert count_column(tmp_path / f"t.csv.{ending}", "k") == {"a": 1, "b": 1}
    assert read_counts(tmp_path / f"t.csv.{ending}") == {"a": 2, "b": 1}


@pytest.mark.parametrize(
    ("content", "part"),
    [
        (b'k,n\na,1\nb"c,2\nd"e,3\n', "malformed, line 3: a quote within a field without quotes"),
        (b'k,n\n"a",1\n"c,2\n', "malformed, line 3: a quote that is not closed"),
        (b'k,n\n"a" ,1\n', "malformed, line 2: text after a closing quote"),
        (b"k,n\na,1\nb\0,2\n", "malformed, line 3: a NUL character"),
        (b"k,n\ra,1\rb,2\r", "malformed, line 1: a carriage return that ends no line"),
        (b"k,n\na,1\n\xff,2\n", r"not UTF-8 \(line 3\)"),
        (b"k,n\na,1\nb\n", "malformed, line 3: 1 field, while the first line has 2"),
        (b"k,n\na,1\n   \n", "malformed, line 3: 1 field, while"),
        (b"k,n\na,1\n" + b"b" * (5 << 20) + b",2\n", "malformed, line 3: the record that begins here is longer than"),
    ],
)
def test_what_is_malformed_is_so_for_everybody_and_the_line_is_named(tmp_path, content, part):
    from mechdesign.data.counts import count_column, read_counts
    from mechdesign.deploy.report_counts import count_reports
    from mechdesign.deploy.stream import RecordFile

    path = tmp_path / "t.csv"
    path.write_bytes(content)
    readers = [
        lambda: count_column(path, "k"),
        lambda: read_counts(path),
        lambda: count_reports(RecordFile(path, "k"), ("a", "b")),
    ]
    for read in readers:
        # A table of counts says itself how many fields it has.
        told = "line 3: 1 field" if read is readers[1] and "1 field" in part else part
        with pytest.raises(InputError, match=told) as caught:
            read()
        assert "\n" not in str(caught.value)


def test_a_long_line_of_column_names_is_refused_rather_than_cut(place):
    names = [f"column number {i}" for i in range(60_000)]
    assert len(",".join(names)) > 1 << 20
    place.write_text(",".join(names) + "\n" + ",".join("x" * 60_000) + "\n")
    with raises("file-too-large", "line 1", "1,048,576"):
        open_columns(place, [names[-1]])
    place.write_text(",".join(names[:30_000]) + "\n" + ",".join("x" * 30_000) + "\n")
    (batch,) = open_columns(place, [names[29_999]]).batches
    assert batch.column(0).to_pylist() == ["x"]


def test_a_record_as_long_as_a_block_is_read_and_a_longer_one_refused_wherever_it_stands(place):
    for before in range(12):
        for length, fits in ((16, True), (17, False)):
            place.write_text("a\n" * before + "x" * (length - 1) + "\nb\n")
            if fits:
                assert columns_of(place, width=1, size=16) == [["a"] * before + ["x" * 15, "b"]]
            else:
                with raises("malformed-table", match=f"line {before + 1}: the record that begins here is longer"):
                    columns_of(place, width=1, size=16)


@pytest.mark.parametrize(
    "text",
    [
        "MYSSN-123,17\nMYSSN-456,18\n",  # a number is no name
        "MYSSN-123,low\nMYSSN-456,high\nMYSSN-789,low\n",  # a name does not stand below itself
        "MYSSN-123,MYSSN-123\nMYSSN-456,a\n",  # names differ
        "MYSSN-123,\nMYSSN-456,a\n",
        "MYSSN-123,low\n",  # nothing below tells what the line is
    ],
)
def test_a_first_line_that_is_a_record_is_shown_only_if_asked_for(place, text):
    place.write_text(text)
    hidden = r"the column '3' is missing in the first line; accepted: one of its 2 names \(show_values lists them\)"
    with raises("unknown-column", match=hidden) as caught:
        open_columns(place, ["3"])
    assert "SSN" not in str(caught.value)
    with raises("unknown-column", "'MYSSN-123', '"):
        open_columns(place, ["3"], show_values=True)


@pytest.mark.slow
def test_a_huge_value_in_parquet_is_refused_before_it_is_read(tmp_path):
    huge = pa.table({"k": ["a", "b"], "note": ["x" * (300 << 20), ""]})
    pq.write_table(huge, tmp_path / "t.parquet", compression="zstd")
    assert (tmp_path / "t.parquet").stat().st_size < 1 << 20
    del huge
    before = pa.default_memory_pool().bytes_allocated()
    with pytest.raises(InputError, match=r"'note' takes 314,57.* bytes uncompressed in row group 1; accepted: at most"):
        open_columns(tmp_path / "t.parquet", ["k", "note"])
    assert pa.default_memory_pool().bytes_allocated() <= before + (1 << 20)
    (batch,) = open_columns(tmp_path / "t.parquet", ["k"]).batches  # what is not wanted is not read
    assert batch.column(0).to_pylist() == ["a", "b"]


def test_the_size_of_a_parquet_column_is_looked_at_in_every_row_group(tmp_path, monkeypatch):
    monkeypatch.setattr(tables, "_CHUNK_BYTES", 10_000)
    values = pa.table({"s": pa.array([{"x": 1}] * 40), "k": ["a"] * 20 + ["b" * 1_000 + str(i) for i in range(20)]})
    pq.write_table(values, tmp_path / "t.parquet", row_group_size=20)
    with raises("file-too-large", "'k'", "group 2"):
        open_columns(tmp_path / "t.parquet", ["k"])
    pq.write_table(values.slice(0, 20), tmp_path / "t.parquet")
    assert sum(batch.num_rows for batch in open_columns(tmp_path / "t.parquet", ["k"]).batches) == 20


def test_errors_in_blocks_read_ahead_come_in_the_order_of_the_file(place):
    place.write_text("k,n\n" + "a,1\n" * 50 + "b\n" + "a,1\n" * 50 + 'c"d,1\n')
    batches = open_columns(place, ["k"], block_bytes=32).batches
    seen = []
    with raises("malformed-table", "line 52", "52: 1"):
        seen.extend(batch.num_rows for batch in batches)
    assert 40 <= sum(seen) <= 50


def test_lines_are_counted_over_blocks(place):
    place.write_text('"x\ny"\r\n' * 30 + "z\n")
    found = list(blocks(place, 20))
    assert len(found) > 10
    assert [record.line for block in found for record in block.records()] == [*range(1, 61, 2), 61]
    np.testing.assert_array_equal([csv_blocks._parity(np.array([w], "<u8"))[0] & 1 for w in (0, 1, 2)], [0, 1, 0])


def test_readers_that_nobody_needs_are_not_awaited():
    # The garbage collector closes what an error left open, in any thread: where it waits, a thread may wait for itself.
    going, ended = threading.Event(), threading.Event()
    found = tables._in_parallel(iter(range(100)), lambda block: block == 0 or going.wait(60))
    assert next(found) is True

    def close():
        found.close()
        ended.set()

    threading.Thread(target=close, daemon=True).start()
    try:
        assert ended.wait(10)
    finally:
        going.set()


def test_names_of_columns_are_listed(place):
    place.write_text("month,origin,dest\n1,LGA,MIA\n1,JFK,BOS\n")
    with raises("unknown-column", "'month', 'origin', 'dest'") as caught:
        open_columns(place, ["airport"])
    assert "LGA" not in str(caught.value)
    place.write_text("origin\nLGA\n")
    with raises("unknown-column", "'origin'"):
        open_columns(place, ["airport"])
    place.write_text("LGA\nLGA\n")
    with raises("unknown-column", "its one name (show_values lists them)"):
        open_columns(place, ["airport"])


@pytest.mark.parametrize(("sign", "name"), [(";", "semicolons"), ("\t", "tabs"), ("|", "vertical bars")])
def test_other_separators_are_recognised(place, sign, name):
    told = f"its fields are separated by {name}: write the file with commas"
    place.write_text(f"id{sign}level\n1{sign}low\n2{sign}high\n")
    with raises("unknown-column", match=told):
        open_columns(place, ["level"])
    with raises("unknown-column", match=rf"has 1 field, so there is no column 1; accepted: 0; {told}"):
        open_columns(place, ["1"], header=False)
    with raises("unknown-column", match=rf"{told}, or with a line of column names"):
        open_columns(place, ["0"], header=False)
    place.write_text(f"level\n1{sign}low\n")
    assert open_columns(place, ["level"]).names == ("level",)
    place.write_text(f"level{sign}people\nlow{sign}3\nhigh{sign}4\n")
    with raises("malformed-table", match=rf"line 1: 1 field \(show_values prints it\); accepted: two, .*{told}"):
        read_counts(place)
    with raises("malformed-table", match=told):
        read_matrix(place)
