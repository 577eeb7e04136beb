"""Prove the promise of a file of windows with the standard library alone: `python verify_windows.py FILE [SAMPLE]`.

Every bucket must lie in as many windows of its seed as any other, and every window hold as many units of the samples
as the tail of a binomial law (or Hoeffding's bound, where samples count in part) asks for. SAMPLE is JSON, counts by
string, from which the evidence is counted anew; without it that of the file is taken as given, and the line says so.
Status 0: proved, and one line says what; 1: false; 2: malformed. verify.py stands beside it."""

# fmt: off
import base64, hashlib, itertools, json, math, sys, unicodedata, zlib
from fractions import Fraction
from pathlib import Path

from verify import exp_promised, fields, is_rare, need, rational, shown, table, text

ONE, M64 = 1 << 60, (1 << 64) - 1

def whole(value, low, high, name):
    return need(type(value) is int and low <= value <= high, f"{name} is not from {low} to {high}") or value
def inflated(packed, most):
    need(isinstance(packed, str), "packed numbers are text")
    reader = zlib.decompressobj()
    try:
        content = reader.decompress(base64.b64decode(packed, validate=True), most + 1)
    except (ValueError, zlib.error):
        content = b""
    need(0 < len(content) <= most and reader.eof and not reader.unused_data, f"up to {most} bytes are asked for")
    return content
def numbers(packed, size, count):  # whole numbers of some bytes each, the least byte first
    content = inflated(packed, size * count)
    need(len(content) == size * count, f"{count} numbers are asked for")
    return [int.from_bytes(content[i : i + size], "little", signed=size == 8) for i in range(0, size * count, size)]
# 1. Where a seed puts strings.
def digest(content, size):
    return hashlib.blake2b(content, digest_size=size, person=b"windows1").digest()
def place(words, string):
    z = words[0] * int.from_bytes(digest(string.encode(), 8), "little") + words[1] & M64
    return (z ^ z >> 33) * 0xFF51AFD7ED558CCD & M64
def scaled(z, size):
    return (z >> 32) * size >> 32
def loads(file, number, counts, units):  # what each bucket of a seed holds of the counts
    q, heavy, found = file["buckets"], file["heavy"], [0] * file["buckets"]
    two = digest(file["master"].encode() + number.to_bytes(8, "little"), 16)
    words = int.from_bytes(two[:8], "little") | 1, int.from_bytes(two[8:], "little")
    arcs, total, light = [], 0, 0
    if heavy:
        order = sorted(zip(heavy["strings"], heavy["units"]), key=lambda pair: place(words, pair[0]))
        total, light = sum(heavy["units"]), heavy["light_units"] if number < heavy["one_layer"] else 0
        at = 0 if light else (words[1] >> 17) % total
        for string, length in order:
            arcs.append((string, length, scaled(place(words, string), light), at))
            at += length
    size = total + light
    for string, length, point, before in arcs:
        first, count = (point + before) % size, counts.get(string, 0) * units
        for bucket in range(first * q // size, 2 * q if first + length > size else q):
            low, high = (-(-(b % q) * size // q) + b // q * size for b in (bucket, bucket + 1))
            if low >= first + length:
                break
            found[bucket % q] += max(0, min(high, first + length) - max(low, first)) * count // length
    names = {string for string, *_ in arcs}
    for string, count in counts.items():
        if string not in names:
            z = place(words, string)
            point = scaled(z, light)
            shift = sum(length for _, length, above, _ in arcs if above <= point)
            found[(point + shift) * q // size if light else scaled(z, q)] += count * units
    return found
# 2. What a window must hold.
def threshold(file, promise, seeds):
    facts, b, cap = file["evidence"], promise, file["cap"] and exp_promised(file["cap"])
    need(b > 1 and (not cap or cap > b), "epsilon is above 0, and the cap above epsilon")
    a = Fraction(math.ceil(b / cap * ONE), ONE) if cap else 0
    need(file["floor"] in (None, str(a * ONE)), "the floor is not that of epsilon and cap")
    share, m = Fraction(math.ceil((1 - a) / (b - a) * ONE), ONE), facts["samples"]
    if facts["delta"] is None:
        return math.ceil(m * share)
    level = rational(facts["delta"]) / (seeds * file["buckets"] * (file["buckets"] - 1))
    stated = whole(facts["threshold"], 1, m << 20, "threshold")
    if file["heavy"] is None:
        need(stated <= m and is_rare(m, stated, share, level), f"{stated} of {m} samples are not rare enough", 1)
    else:
        part = Fraction(stated, m << 20)
        need(share < part <= 1 and rare(m, part, share, level), f"{stated} units are not rare enough", 1)
    return stated
def rare(m, part, share, level):  # exp(-m KL(part || share)) <= level, by rationals outward
    least = sum(part_ * log_down(part_ / share_) for part_, share_ in ((part, share), (1 - part, 1 - share)) if part_)
    return m * least >= -log_down(level)
def log_down(x):  # below log x: x = 2^k y, y in [1, 2), and log y = 2 artanh((y - 1)/(y + 1)), each term rounded down
    k = x.numerator.bit_length() - x.denominator.bit_length()
    y = x / Fraction(2) ** k
    k, y = (k - 1, y * 2) if y < 1 else (k, y)
    return k * LOG2[k < 0] + series((y - 1) / (y + 1))[0]
def series(z):  # below and above 2 artanh z, 0 <= z <= 1/3
    scale, total = 1 << 256, 0
    power = z.numerator * scale // z.denominator
    square, j = power * power // scale, 0
    while power > 1:
        total, power, j = total + power // (2 * j + 1), power * square // scale, j + 1
    return Fraction(2 * total, scale), Fraction(2 * (total + 4 * j + 8), scale)
LOG2 = series(Fraction(1, 3))
# 3. The proof.
def recounted(top, sample, m, units):
    folded = {}
    for string, count in sample.items():
        name = unicodedata.normalize("NFC", string).strip()
        name = name if top["form"] == "nfc" else unicodedata.normalize("NFC", name.casefold())
        folded[name] = folded.get(name, 0) + whole(count, 0, m, "a count")
    need(sum(folded.values()) == m, f"the sample does not have {m} records", 1)
    return [loads(top, number, folded, units) for number in range(top["seeds"])]
def prove(content, sample=None):
    return prove_table(json.loads(content, object_pairs_hook=table), sample)
def prove_table(found, sample=None):
    top = fields(found, "schema epsilon master seeds buckets form windows evidence", "cap floor heavy")
    need(top["schema"] == "mechdesign/windows/1", "not a file of windows")
    q, seeds = whole(top["buckets"], 2, 1 << 16, "buckets"), whole(top["seeds"], 1, 100_000, "seeds")
    need(q * seeds <= 1 << 27 and top["form"] in ("nfc", "nfc-casefold"), "too many buckets, or another form")
    text(top["master"], 1000)
    top["evidence"] = facts = fields(top["evidence"], "samples threshold sha256", "delta any_seed held units")
    m = whole(facts["samples"], 1, 10**10, "samples")
    if top["heavy"] is not None:
        top["heavy"] = heavy = fields(top["heavy"], "strings units light_units source one_layer")
        text(heavy["source"], 1000)
        strings = [text(string, 10**6) for string in heavy["strings"]]
        need(0 < len({*strings}) == len(strings) == len(heavy["units"]) <= 200, "heavy strings differ, with units each")
        for units in (*heavy["units"], heavy["light_units"] // 2):
            whole(units, 0, 1 << 31, "units")
        need(min(heavy["units"]) > 0 < heavy["light_units"] and whole(heavy["one_layer"], 1, seeds, "seeds"), "units")
    delta = facts["delta"] and rational(facts["delta"])
    need(facts["any_seed"] in (None, False, delta is not None) and (not delta or delta < 1), "wrong delta or any_seed")
    least = threshold(top, exp_promised(top["epsilon"]), 1 << 64 if facts["any_seed"] else seeds)
    units = 1 << 20 if top["heavy"] and delta else 1
    packed = fields(top["windows"], "counts starts lengths")
    counts, starts = ([*numbers(packed[key], 2, seeds)] for key in ("counts", "starts"))
    lengths = iter(numbers(packed["lengths"], 2, sum(counts) + seeds))
    need(None in (facts["held"], facts["units"]), "evidence has held and units")
    rows = recounted(top, sample, m, units) if sample is not None else None
    if sample is None and facts["units"] is not None:
        cells = numbers(facts["units"], 8, seeds * q)
        rows = [cells[i : i + q] for i in range(0, seeds * q, q)]
    held, sha, total = iter([]), hashlib.sha256(), sum(counts) + seeds
    if rows is None:  # of each window: byte by byte, the least of all windows first, above what it must hold
        need(facts["held"] is not None, "the file has no evidence; give the sample")
        content = inflated(facts["held"], 7 * total)
        need(len(content) % total == 0, f"{total} numbers are asked for")
        held = iter([int.from_bytes(content[i::total], "little") + least for i in range(total)])
    for number in range(seeds):
        row, at, sums, way = rows[number] if rows else [0] * q, starts[number], [], 0
        sha.update(b"".join(cell.to_bytes(8, "little", signed=True) for cell in row))
        before = [0, *itertools.accumulate(row + row)]
        need(at < q, "a window begins outside of the circle")
        for _ in range(counts[number] + 1):
            length = next(lengths) + 1
            need(length <= q, "a window is longer than the circle")
            sums.append(next(held, before[at + length] - before[at]))
            need(sums[-1] >= least, f"seed {number}: a window holds less than {least} units", 1)
            at, way = (at + length) % q, way + length
        need(at == starts[number] and sum(sums) % (way // q) == 0, f"seed {number}: the windows do not close", 1)
        need(min(row) >= 0 and sum(sums) <= way // q * m * units, f"seed {number}: more than {m} samples", 1)
    need(not rows or sha.hexdigest() == facts["sha256"], "the evidence is not that of the digest", 1)
    cap = f", and {top['cap']}-LDP" if top["cap"] is not None else ""
    learnt = "whose distribution is known" if delta is None else f"with probability 1 - {shown(delta)}"
    told = "counted anew" if sample is not None else "taken as the file has them"
    learnt += f", heavy strings from {top['heavy']['source']!r}" if top["heavy"] and delta else ""
    return f"proved: PML with epsilon = {top['epsilon']}{cap}, {m} samples {learnt}; the samples were {told}"

if __name__ == "__main__":
    try:
        content, *sample = (Path(path).read_bytes() for path in sys.argv[1:])
        print(prove(content, dict(json.loads(sample[0])) if sample else None))
    except RuntimeError as error:
        sys.exit(print(error.args[0]) or error.args[1])
    except (OSError, ValueError, ArithmeticError, LookupError, TypeError, RecursionError) as error:
        sys.exit(print(f"malformed: {error}") or 2)
