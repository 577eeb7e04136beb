"""Write the files of this kit, by the package: ``python -m conformance.make``.

Nothing is random: the same version writes the same bytes anywhere, but for what another zlib compresses to other bytes,
and a test compares them with those that are here.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

import mechdesign as md
from mechdesign.uncertainty import Box

FOLDER = Path(__file__).parent
WORD = 2**64
DRAWS = 10**6
SHORT = 1_000
KEY = bytes(range(200, 232))
SECOND = "mechdesign/mechanism/2"

INPUTS = (
    "spaces  within",
    'Zürich, "Höngg"',
    "日本\u2028語",
    "it's 50 % \\n",
    "__proto__",
    "0",
    "\ufeffmark",
    "e\u0301",
)
OUTPUTS = ('"quoted", and more', "x y", "é", "e\u0301", "toString", "1e3", "a\u2029b", "🂡")
LOG_9_7 = "0.25131442828090607768513773040187"  # log(9/7), of which the next digits are 16
# Each is like an input of some mechanism, or a name that an object has in some language.
STRANGERS = ("", " 0", "0 ", "00", "constructor", "__PROTO__", "é", "Zürich", "mark", "日本語", "e", "length")
IDS = (
    "ann", "Ann", "7", "07", "-7", "a\tb", "é", "e\u0301", "日本語", "🂡", "a b", "\ufeffann", "\u200bann", "\0",
    *("x" * length for length in (1, 60, 61, 62, 63, 64, 65, 126, 127, 128, 129, 188, 189, 256, 1000)), "é" * 300,
)  # fmt: skip
REFUSED_IDS = {
    "it is empty": b"",
    "white space at the start": b" ann",
    "white space at the end": b"ann\t",
    "an end of line at the end": b"ann\n",
    "U+0085 at the start": "\x85ann".encode(),
    "U+001F at the end": b"ann\x1f",
    "U+00A0 at the end": "ann\xa0".encode(),
    "U+2028 at the start": "\u2028ann".encode(),
    "U+3000 at the end": "ann\u3000".encode(),
    "it is not UTF-8": b"a\xffnn",
    "half of a surrogate pair is not UTF-8": b"a\xed\xa0\x80nn",
}
REFUSED_ATTRIBUTES = {
    "white space at the start": b" smokes",
    "white space at the end": b"smokes ",
    "white space alone": b" ",
    "U+00A0 at the start": "\xa0smokes".encode(),
    "U+3000 at the end": "smokes\u3000".encode(),
    "U+2028 at the end": "smokes\u2028".encode(),
    "a tab inside": b"smo\tkes",
    "an end of line at the end": b"smokes\n",
    "a zero byte": b"smokes\0",
    "a control character: U+007F": b"smo\x7fkes",
    "a control character: U+0085": "smo\x85kes".encode(),
    "it is not UTF-8": b"smo\xffkes",
    "half of a surrogate pair is not UTF-8": b"smo\xed\xa0\x80kes",
}


# Numbers


def words(state: int = 0) -> Iterator[int]:
    """Yield the words of SplitMix64, which README.md states."""
    while True:
        state = (state + 0x9E3779B97F4A7C15) % WORD
        mixed = (state ^ state >> 30) * 0xBF58476D1CE4E5B9 % WORD
        mixed = (mixed ^ mixed >> 27) * 0x94D049BB133111EB % WORD
        yield mixed ^ mixed >> 31


def many_words(size: int) -> np.ndarray[Any, np.dtype[np.uint64]]:
    """Return the first words of SplitMix64 from the state 0, at once."""
    with np.errstate(over="ignore"):
        state = np.arange(1, size + 1, dtype=np.uint64) * np.uint64(0x9E3779B97F4A7C15)
        mixed = (state ^ state >> np.uint64(30)) * np.uint64(0xBF58476D1CE4E5B9)
        mixed = (mixed ^ mixed >> np.uint64(27)) * np.uint64(0x94D049BB133111EB)
    return mixed ^ mixed >> np.uint64(31)


def cut_rows(rows: int, outputs: int, bits: int, seed: int) -> list[list[int]]:
    """Return rows of numerators between random cuts; a report of one in 2^bits is among them, and zeros may be."""
    draw = words(seed)
    found = []
    for i in range(rows):
        cuts = sorted(next(draw) % (2**bits + 1) for _ in range(outputs - 1))
        if i == 0:
            cuts[0] = 1
        if i == 1:
            cuts[-1] = cuts[-2] = 2**bits
        cuts.sort()
        found.append(np.diff([0, *cuts, 2**bits]).tolist())
    return found


# Mechanisms


def mechanisms() -> dict[str, md.Mechanism]:
    """Return the mechanisms by the names of their files. Their guarantees are loose: reports are what is tried."""

    def made(rows: list[list[int]], bits: int, promise: md.Guarantee, outputs: int) -> md.Mechanism:
        return md.Mechanism(np.array(rows), bits, promise, OUTPUTS[-outputs:])

    def known(size: int) -> md.L1Ball:
        return md.L1Ball([f"1/{size}"] * size, labels=INPUTS[-size:])

    counts = dict(zip(INPUTS[:4], (40_000, 30_000, 20_000, 10_000), strict=True))
    hull = md.ConvexHull([["1/2", "1/4", "1/4"], ["1/3", "1/3", "1/3"]], labels=INPUTS[:3])
    box = Box(["0.3", "0.2", "0.1"], ["0.6", "0.4", "0.4"], center=["0.5", "0.3", "0.2"], labels=list("äöü"))
    warner = md.Mechanism(
        np.array([[3, 1], [1, 3]]),
        2,
        md.Guarantee("log(3)", md.L1Ball(["1/2", "1/2"], 2, ["no", "yes"])),
        ("no", "yes"),
    )
    three = [[0, 3, 0, 5, 0], [1, 0, 3, 0, 4], [2, 2, 2, 2, 0], [0, 0, 1, 3, 4]]
    near = [[2**47 + 2**44 * (-1) ** (i + j) for j in range(2)] for i in range(4)]  # the greatest ratio is 9/7
    joint = [[4_000, 3_000, 2_000, 1_000], [1_000, 2_000, 3_000, 4_000]]
    about = md.SecretPromise(joint, labels=INPUTS[:4], delta="1e-9")
    return {
        "warner": warner,
        "one-bit": made([[1, 1, 0], [1, 0, 1], [0, 1, 1]], 1, md.Guarantee("log(3)", known(3)), 3),
        "three-bits": made(three, 3, md.Guarantee("3", md.L1Ball(["1/4"] * 4, "0.1", INPUTS[:4])), 5),
        "one-output": made([[2**16]] * 2, 16, md.Guarantee("0", known(2)), 1),
        "hull-17-bits": made(cut_rows(3, 4, 17, 1), 17, md.Guarantee("log(4)", hull), 4),
        "product": warner.product(made(cut_rows(2, 3, 7, 2), 7, md.Guarantee("log(2)", known(2)), 3)),
        "counts-32-bits": made(
            cut_rows(4, 5, 32, 3), 32, md.Guarantee("log(20)", md.L1Ball.from_counts(counts, delta="1e-9")), 5
        ),
        "box-33-bits": made(
            cut_rows(3, 6, 33, 4),
            33,
            md.Guarantee("log(10)", box),
            6,
        ),
        "both-sides-48-bits": made(near, 48, md.Guarantee("1", md.L1Ball(["1/4"] * 4, 2, INPUTS[:4]), "1"), 2),
        "all-52-bits": made(cut_rows(8, 8, 52, 5), 52, md.Guarantee("log(8)", known(8)), 8),
        "cap-48-bits": made(near, 48, md.Guarantee("log(9/8)", known(4), cap="log(9/7)"), 2),
        "secret-and-cap": made(near, 48, md.Guarantee("log(9/8)", about, cap="log(9/7)"), 2),
        "cap-as-a-decimal": made(near, 48, md.Guarantee("0.2", known(4), cap=f"{LOG_9_7}2"), 2),
    }


def other_writing(content: bytes) -> bytes:
    """Return a file of the same mechanism: a mark at the start, escapes, one line, keys in another order."""
    table = dict(reversed(json.loads(content).items()))
    return b"\xef\xbb\xbf" + json.dumps(table, separators=(",", ":")).encode().replace(b"/", b"\\/") + b"\r\n"


# Files to be refused


@dataclass
class Refused:
    """Files to be refused, each of which is a small change of one mechanism.

    Attributes
    ----------
    origin : bytes
        The file of the mechanism.
    contents : dict of str to bytes
        The files, by name.
    rows : list of dict
        What is wrong with each, and who refuses it: every consumer, those that prove caps, or ``mechdesign verify``.
    """

    origin: bytes
    contents: dict[str, bytes] = field(default_factory=dict)
    rows: list[dict[str, str]] = field(default_factory=list)

    @property
    def table(self) -> dict[str, Any]:
        """What the file of the mechanism holds."""
        return dict(json.loads(self.origin))

    def add(self, name: str, content: bytes, reason: str, by: str = "consumer") -> None:
        """Add a file as it is."""
        path = f"refused/{name}.json"
        self.contents[path] = content
        self.rows.append({"file": path, "by": by, "reason": reason})

    def change(self, name: str, reason: str, by: str = "consumer", without: str = "", **changes: Any) -> None:
        """Add the mechanism with other values of some keys, and without one of them."""
        table = {key: value for key, value in {**self.table, **changes}.items() if key != without}
        self.add(name, json.dumps(table, indent=1).encode() + b"\n", reason, by)

    def replaced(self, name: str, old: bytes, new: bytes, reason: str, by: str = "consumer") -> None:
        """Add the mechanism with other bytes in one place."""
        start, found, end = self.origin.partition(old)
        if not found:
            raise ValueError(old)
        self.add(name, start + new + end, reason, by)


def refused(warner: bytes) -> Refused:
    """Return the files to be refused."""
    made = Refused(warner)
    add_texts(made)
    add_numbers(made)
    add_labels(made)
    add_promises(made)
    add_caps(made)
    return made


def add_texts(made: Refused) -> None:
    """Add files that are not a table in JSON, in UTF-8."""
    warner = made.origin
    made.add("empty", b"", "not JSON")
    made.add("truncated", warner[: len(warner) // 2], "not JSON")
    made.add("two-values", warner + warner, "not JSON: two values")
    made.replaced("trailing-comma", b"[3, 1]", b"[3, 1,]", "not JSON: a comma at the end")
    made.replaced("leading-zero", b"[3, 1]", b"[03, 1]", "not JSON: a number that begins with zero")
    made.replaced("nan", b"[3, 1]", b"[NaN, 1]", "not JSON: NaN")
    made.replaced("comment", b'"bits"', b'/* */ "bits"', "not JSON: a comment")
    made.replaced("not-utf-8", b'"no"', b'"n\xff"', "not UTF-8")
    made.replaced("overlong-utf-8", b'"no"', b'"n\xc1\xaf"', "not UTF-8: a letter in more bytes than it needs")
    made.add("utf-16", warner.decode().encode("utf-16"), "not UTF-8")
    made.add("a-list", b"[]\n", "not a table")


def add_numbers(made: Refused) -> None:
    """Add files with another schema, other bits or numerators."""
    made.change("another-schema", "the schema is another", schema="mechdesign/mechanism/3")
    made.change("no-schema", "the schema is missing", without="schema")
    made.change("schema-in-a-list", "the schema is not text", schema=["mechdesign/mechanism/1"])
    made.change("no-inputs-key", "the inputs are missing", without="inputs")
    made.change("no-numerators", "the numerators are missing", without="numerators")
    made.change("no-bits", "the bits are missing", without="bits")
    made.change("bits-0", "bits are not 1 to 52", bits=0, numerators=[[1, 0], [0, 1]])
    made.change("bits-53", "bits are not 1 to 52", bits=53, numerators=[[2**52, 2**52]] * 2)
    made.change("bits-negative", "bits are not 1 to 52", bits=-2)
    made.change("bits-text", "bits are not a number", bits="2")
    made.change("bits-fraction", "bits are not whole", bits=1.5)
    made.change("sum-too-small", "a row does not sum to 2^bits", numerators=[[3, 1], [1, 2]])
    made.change("sum-too-large", "a row does not sum to 2^bits", numerators=[[3, 2], [1, 3]])
    made.change("negative", "a numerator is negative", numerators=[[5, -1], [1, 3]])
    made.change("fraction", "a numerator is not whole", numerators=[[2.5, 1.5], [1, 3]])
    made.change("text-numerator", "a numerator is not a number", numerators=[["3", 1], [1, 3]])
    made.change("true-numerator", "a numerator is not a number", numerators=[[3, True], [1, 3]])
    made.change("null-numerator", "a numerator is not a number", numerators=[[4, None], [1, 3]])
    made.change(
        "wraps-around", "a sum wraps around at 2^64", bits=52, numerators=[[2**63, 2**63 + 2**52], [2**51, 2**51]]
    )
    made.replaced("infinite", b"[3, 1]", b"[1e400, 1]", "a numerator is too large for a double")
    made.change("a-row-too-few", "as many rows as inputs are needed", numerators=[[3, 1]])
    made.change("a-row-too-many", "as many rows as inputs are needed", numerators=[[3, 1], [1, 3], [2, 2]])
    made.change("a-short-row", "a row has as many numerators as there are outputs", numerators=[[4], [1, 3]])
    made.change("a-long-row", "a row has as many numerators as there are outputs", numerators=[[3, 1, 0], [1, 3, 0]])
    made.change(
        "zero-column", "an output is never reported", outputs=["a", "b", "c"], numerators=[[3, 0, 1], [1, 0, 3]]
    )
    made.change("nothing", "there are no inputs", inputs=[], outputs=[], numerators=[])
    made.change("no-outputs", "there are no outputs", outputs=[], numerators=[[], []])


def add_labels(made: Refused) -> None:
    """Add files with labels that are refused."""
    made.change("input-twice", "an input occurs twice", inputs=["no", "no"])
    made.change("output-twice", "an output occurs twice", outputs=["no", "no"])
    made.change("empty-label", "a label is empty", inputs=["", "yes"])
    made.change("number-label", "a label is not text", inputs=[0, 1])
    made.change("labels-in-one-text", "the labels are not a list", inputs="ny")
    made.change("space-before", "white space at the start of a label", inputs=[" no", "yes"])
    made.change("space-after", "white space at the end of a label", outputs=["no", "yes\u3000"])
    made.change("end-of-line", "a control character in a label", outputs=["n\no", "yes"])
    made.change("tab", "a control character in a label", inputs=["n\to", "yes"])
    made.change("delete", "a control character in a label: U+007F", inputs=["n\x7fo", "yes"])
    made.change("c1", "a control character in a label: U+0085", outputs=["n\x85o", "yes"])
    made.replaced("half-a-pair", b'"no"', b'"n\\ud800"', "half of a surrogate pair in a label, which has no UTF-8")
    made.replaced("wrong-pair", b'"no"', b'"\\udc00\\ud800"', "halves of a surrogate pair in the wrong order")


def add_promises(made: Refused) -> None:
    """Add files that ``mechdesign verify`` refuses. Consumers may let them pass: they are for files it has proved."""
    promise = made.table["guarantee"]
    proof = "verify"
    made.change("false-guarantee", "the guarantee is false", proof, guarantee={**promise, "epsilon": "log(2)"})
    made.change("no-guarantee", "the guarantee is missing", proof, without="guarantee")
    made.change("unknown-key", "a key is unknown", proof, comment="hello")
    made.change("lower-in-the-first", "the first schema has no lower", proof, guarantee={**promise, "lower": "2"})
    made.change("no-lower-in-the-second", "the second schema has lower or cap", proof, schema=SECOND)
    made.replaced("key-twice", b'"bits": 2,', b'"bits": 3, "bits": 2,', "a key occurs twice", proof)
    made.replaced("decimal-bits", b'"bits": 2,', b'"bits": 2.0,', "a whole number is written as a decimal", proof)
    made.replaced(
        "lost-in-doubles", b"[3, 1]", b"[3.00000000000000000001, 1]", "a numerator is not whole, before rounding", proof
    )
    made.change("long-label", "a label is longer than 1,000 characters", proof, outputs=["n" * 1_001, "yes"])


def add_caps(made: Refused) -> None:
    """Add files that consumers refuse which prove caps, and others may let pass."""
    promise = made.table["guarantee"]
    made.change("cap-in-the-first", "the first schema has no cap", "cap", guarantee={**promise, "cap": "2"})
    near = {"bits": 4, "numerators": [[9, 7], [7, 9]]}
    wrong = {
        "cap-false": ("the cap is false", {"cap": "log(2.999999)"}, {}),
        "cap-false-in-the-last-digit": ("the cap is false", {"cap": f"{LOG_9_7}1"}, near),
        "cap-of-zero": ("the cap is false", {"cap": "0"}, {}),
        "cap-of-an-impossible-report": ("the cap is false", {"cap": "700"}, {"numerators": [[4, 0], [3, 1]]}),
        "cap-beside-lower": ("there are lower and cap", {"cap": "2", "lower": "2"}, {}),
        "cap-a-number": ("the cap is not text", {"cap": 2}, {}),
        "cap-negative": ("the cap is negative", {"cap": "-1"}, {}),
        "cap-large": ("the cap is above 700", {"cap": "700.1"}, {}),
        "cap-of-a-log-below-0": ("the cap is negative", {"cap": "log(8/9)"}, {}),
        "cap-over-zero": ("the cap is no number", {"cap": "log(9/0)"}, {}),
        "cap-in-words": ("the cap is no number", {"cap": "two"}, {}),
        "cap-infinite": ("the cap is no number", {"cap": "Infinity"}, {}),
    }
    for name, (reason, numbers, rows) in wrong.items():
        known = {"epsilon": "log(2)", "radius": "0", "center": ["1/2", "1/2"], **numbers}
        made.change(name, reason, "cap", schema=SECOND, guarantee=known, **rows)


# Reports


def at(mechanism: md.Mechanism, codes: list[int], drawn: Any) -> list[str]:
    """Return the reports to which words of 64 bits belong."""
    integers = (np.asarray(drawn, dtype=np.uint64) >> np.uint64(64 - mechanism.bits)).astype(np.int64)
    return [mechanism.outputs[k] for k in mechanism.sampler.outputs_at(np.array(codes), integers).tolist()]


def fresh_case(name: str, mechanism: md.Mechanism, seed: int) -> dict[str, Any]:
    """Return words at the edges of every output of some rows, words in between, and the reports of them."""
    unused = 64 - mechanism.bits
    codes, drawn = [], []
    for i, row in enumerate(mechanism.numerators.tolist()[:3]):
        edges = {0, 2**mechanism.bits, *np.cumsum(row).tolist()}
        for edge in sorted(edges):
            low = [(edge << unused) - 1] if edge else []
            drawn += low + ([edge << unused] if edge < 2**mechanism.bits else [])
            codes += [i] * (len(drawn) - len(codes))
    more = words(seed)
    drawn += [next(more) for _ in range(32)]
    codes += [k % len(mechanism.inputs) for k in range(32)]
    return {
        "mechanism": name,
        "bytes": b"".join(word.to_bytes(8, "little") for word in drawn).hex(),
        "inputs": [mechanism.inputs[code] for code in codes],
        "reports": at(mechanism, codes, drawn),
        "refused": [label for label in STRANGERS if label not in mechanism.inputs],
    }


def keyed_case(name: str, mechanism: md.Mechanism, attribute: str) -> dict[str, Any]:
    """Return permanent reports, and the hashes that they are drawn by."""
    key = md.Key(KEY).for_attribute(attribute) if attribute else md.Key(KEY)
    labels = [mechanism.inputs[k % len(mechanism.inputs)] for k in range(len(IDS))]
    text = [len(part.encode()).to_bytes(8, "little") + part.encode() for part in (attribute, *labels)]
    start = bytes.fromhex(mechanism.fingerprint) + text[0]
    hashes = [
        hashlib.blake2b(start + label + name.encode(), key=KEY, digest_size=8, person=b"mechdesign-key-1").hexdigest()
        for label, name in zip(text[1:], IDS, strict=True)
    ]
    return {
        "mechanism": name,
        "key": KEY.hex(),
        "attribute": attribute,
        "ids": list(IDS),
        "inputs": labels,
        "hashes": hashes,
        "reports": mechanism.privatize(labels, key=key, ids=list(IDS)),
    }


def stream(name: str, mechanism: md.Mechanism, draws: int, attribute: str | None) -> dict[str, Any]:
    """Return the hash of many reports; without an attribute they are fresh ones, by words of SplitMix64."""
    codes = np.arange(draws) % len(mechanism.inputs)
    case = {"mechanism": name, "draws": draws}
    if attribute is None:
        reports = at(mechanism, codes.tolist(), many_words(draws))
    else:
        key = md.Key(KEY).for_attribute(attribute) if attribute else md.Key(KEY)
        drawn = mechanism.privatize(codes, key=key, ids=[f"id {i}" for i in range(draws)], integers="codes")
        reports = [mechanism.outputs[k] for k in drawn.tolist()]
        case |= {"key": KEY.hex(), "attribute": attribute}
    return {**case, "sha256": hashlib.sha256("".join(f"{report}\n" for report in reports).encode()).hexdigest()}


def key_files() -> list[dict[str, str]]:
    """Return the bytes of key files: those to be read, with their keys, and those to be refused, with the reason."""
    line = b"mechdesign-key-1 " + KEY.hex().encode()
    read = [line, line + b"\n", line + b"\r\n"]
    wrong = {
        "it is empty": b"",
        "a digit too few": line[:-1] + b"\n",
        "a digit too many": line + b"0\n",
        "capital digits": line.upper().replace(b"MECHDESIGN-KEY", b"mechdesign-key") + b"\n",
        "another kind": line.replace(b"key-1", b"key-2") + b"\n",
        "two spaces": line.replace(b" ", b"  ") + b"\n",
        "a space at the end": line + b" \n",
        "two ends of line": line + b"\n\n",
        "only a carriage return at the end": line + b"\r",
        "two keys": line + b"\n" + line + b"\n",
        "a mark at the start": b"\xef\xbb\xbf" + line + b"\n",
        "a zero byte at the end": line + b"\0",
    }
    return [
        *({"bytes": content.hex(), "key": KEY.hex()} for content in read),
        *({"bytes": content.hex(), "reason": reason} for reason, content in wrong.items()),
    ]


# Files


def listing(rows: list[Any], *, only_ascii: bool = False) -> bytes:
    """Return a list of the kit as JSON, one line for each row."""
    return ("[\n" + ",\n".join(json.dumps(row, ensure_ascii=only_ascii) for row in rows) + "\n]\n").encode()


def small_files(saved: Callable[[md.Mechanism], bytes]) -> dict[str, bytes]:
    """Return all files but the list of streams, by their paths in the kit."""
    made = mechanisms()
    files = {f"mechanisms/{name}.json": saved(mechanism) for name, mechanism in made.items()}
    for name in ("warner", "all-52-bits"):
        files[f"mechanisms/{name}-rewritten.json"] = other_writing(files[f"mechanisms/{name}.json"])
    prints = {path: made[Path(path).stem.removesuffix("-rewritten")].fingerprint for path in sorted(files)}
    wrong = refused(files["mechanisms/warner.json"])
    paths = {name: f"mechanisms/{name}.json" for name in made}
    attributes = ["", "smokes", "été 🂡"]
    keyed = [keyed_case(paths[name], made[name], attributes[k % 3]) for k, name in enumerate(made)]
    return {
        **files,
        **wrong.contents,
        "fingerprints.json": listing([{"file": path, "fingerprint": each} for path, each in prints.items()]),
        "refused.json": listing(wrong.rows),
        "fresh.json": listing([fresh_case(paths[name], made[name], 9 + k) for k, name in enumerate(made)]),
        "keyed.json": listing(keyed, only_ascii=True),
        "ids.json": listing([{"reason": why, "bytes": name.hex()} for why, name in REFUSED_IDS.items()]),
        "attributes.json": listing([{"reason": why, "bytes": name.hex()} for why, name in REFUSED_ATTRIBUTES.items()]),
        "key-files.json": listing(key_files()),
    }


def short_streams() -> list[dict[str, Any]]:
    """Return the rows of a thousand draws each, fresh and permanent through every mechanism."""
    return [
        stream(f"mechanisms/{name}.json", mechanism, SHORT, attribute)
        for name, mechanism in mechanisms().items()
        for attribute in (None, "smokes")
    ]


def long_streams() -> list[dict[str, Any]]:
    """Return the rows of a million draws each."""
    made = mechanisms()
    wanted = (("three-bits", None), ("all-52-bits", None), ("all-52-bits", ""))
    return [stream(f"mechanisms/{name}.json", made[name], DRAWS, attribute) for name, attribute in wanted]


def saved_in(folder: Path) -> Callable[[md.Mechanism], bytes]:
    """Return what saves a mechanism in a folder for scratch, and gives its bytes."""

    def saved(mechanism: md.Mechanism) -> bytes:
        mechanism.save(folder / "mechanism.json")
        return (folder / "mechanism.json").read_bytes()

    return saved


def main() -> None:
    """Write all files."""
    import tempfile

    from conformance import make_prefixes, make_records, make_windows

    with tempfile.TemporaryDirectory() as scratch:
        files = small_files(saved_in(Path(scratch)))
    for room in (make_windows, make_prefixes, make_records):
        files |= room.small_files()
    files["streams.json"] = listing([*short_streams(), *long_streams()])
    files["windows-streams.json"] = listing([*make_windows.short_streams(), *make_windows.long_streams()])
    files["prefixes-streams.json"] = listing(make_prefixes.streams())
    files["records-streams.json"] = listing(make_records.streams())
    for path, content in files.items():
        (FOLDER / path).parent.mkdir(exist_ok=True)
        (FOLDER / path).write_bytes(content)


if __name__ == "__main__":
    main()
