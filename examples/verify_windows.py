"""Prove the promise of a file of windows with the standard library alone: `python verify_windows.py FILE [SAMPLE]`.

Every bucket must lie in as many windows of its seed as any other, and every window hold as many units of the samples
as the tail of a binomial law (or Hoeffding's bound, where samples count in part) asks for. SAMPLE is JSON, counts by
string, from which the evidence is counted anew; without it that of the file is taken as given, and the line says so.
Status 0: proved, and one line says what; 1: false; 2: malformed. Where strings lie is read by the client's own code, so
that the proof is about what clients report: report_windows.py, report.py and verify.py stand beside this file."""

import decimal, hashlib, itertools, json, math, re, sys, zlib
from base64 import b64decode
from fractions import Fraction
from pathlib import Path

from report_windows import Windows, normal, print_of
from verify import exp_promised, fields, is_rare, need, parsed, rational, shown, text

ONE = 1 << 60  # the denominator of shares

def whole(value, greatest, name):
    return need(type(value) is int and 1 <= value <= greatest, f"{name} is from 1 to {greatest}") or value

# 1. What a window must hold.
def shares(top):  # the probability of a uniform window, and the share of the population that a window must hold
    b, cap = exp_promised(top["epsilon"]), None if top["cap"] is None else exp_promised(top["cap"])
    need(cap is None or cap > b, "the cap is above epsilon")
    a = Fraction(math.ceil(b / cap * ONE), ONE) if cap else 0
    return a, Fraction(math.ceil((1 - a) / (b - a) * ONE), ONE)
def check_threshold(facts, share, arcs, units):  # it must be the least number of units that proves
    m, stated, greatest = facts["samples"], whole(facts["threshold"], 1 << 62, "threshold"), facts["samples"] * units
    if facts["delta"] is None:
        need(stated == math.ceil(m * share), "the threshold is not that of a known population")
        return
    level, is_proof = rational(text(facts["delta"])) / arcs, is_rare if units == 1 else is_seldom
    need(0 <= level * arcs < 1, "delta is from 0 to 1")
    need(level and share < 1 and stated <= greatest, "no number of units proves this", 1)
    need(is_proof(m, stated, share, level), f"{stated} units of the samples are not rare enough", 1)
    need(not is_proof(m, stated - 1, share, level), "the threshold is not the least one")
def is_seldom(m, units, share, level):  # exp(-m KL(part || share)) <= level, the part being units of 2^-20 sample
    part = Fraction(units, m << 20)
    terms = [x * log_down(x / y) for x, y in ((part, share), (1 - part, 1 - share)) if x]
    return part > share and m * sum(terms) >= -log_down(level)
def log_down(x):  # below log x: `decimal` rounds each of the two logarithms correctly, here to 99 digits
    with decimal.localcontext() as context:
        context.prec = 99
        found = decimal.Decimal(x.numerator).ln() - decimal.Decimal(x.denominator).ln()
    return Fraction(found) - Fraction(1, 10**90)

# 2. What windows hold: stated in the file, or added up from buckets that are stated, or counted anew.
def inflated(packed, most):
    reader = zlib.decompressobj()
    try:
        content = reader.decompress(b64decode(text(packed, 1 << 29), validate=True), most + 1)
    except zlib.error:
        content = b""
    need(0 < len(content) <= most and reader.eof and not reader.unused_data, f"up to {most} bytes are asked for")
    return content
def stated_sums(packed, windows, least):  # byte by byte, the least of all windows first, above what they must hold
    total = sum(map(len, windows.ends))
    content = inflated(packed, 7 * total)
    need(len(content) % total == 0, f"{total} numbers are asked for")
    numbers = (int.from_bytes(content[i::total], "little") + least for i in range(total))
    return [[*itertools.islice(numbers, len(ends))] for ends in windows.ends]
def stated_rows(packed, windows):
    size = 8 * windows.seeds * windows.buckets
    content = inflated(packed, size)
    need(len(content) == size, f"{size} bytes are asked for")
    cells = [int.from_bytes(content[i : i + 8], "little", signed=True) for i in range(0, size, 8)]
    return [cells[i : i + windows.buckets] for i in range(0, len(cells), windows.buckets)]
def counted_rows(sample, windows, m, units):
    counts = {}
    for string, count in sample.items():
        name = normal(string, windows.form)
        need(name and type(count) is int and count >= 0, "the sample is counts by string")
        counts[print_of(name)] = counts.get(print_of(name), 0) + count
    need(sum(counts.values()) == m, f"the sample does not have {m} records", 1)
    return [counted_row(counts, windows, seed, units) for seed in range(windows.seeds)]
def counted_row(counts, windows, seed, units):
    row, q, (_, firsts, _, _, size) = [0] * windows.buckets, windows.buckets, windows.circle(seed)
    for each, count in counts.items():
        if (heavy := windows.index.get(each)) is None:
            row[windows.bucket(seed, each)] += count * units
            continue
        first, length = firsts[heavy], windows.units[heavy]
        for bucket in range(first * q // size, (first + length - 1) * q // size + 1):
            low, high = (-(-edge * size // q) for edge in (bucket, bucket + 1))
            inside = min(high, first + length) - max(low, first)
            row[bucket % q] += inside * count * units // length
    return row
def sums_of(rows, windows, sha256):
    cells = b"".join(cell.to_bytes(8, "little", signed=True) for row in rows for cell in row)
    need(hashlib.sha256(cells).hexdigest() == sha256, "the evidence is not that of the digest", 1)
    need(all(min(row) >= 0 for row in rows), "a bucket holds less than nothing", 1)
    for row, start, ends in zip(rows, windows.starts, windows.ends):
        before, q = [0, *itertools.accumulate([*row[start:], *row[:start]])], len(row)
        held = [end // q * before[q] + before[end % q] for end in [0, *ends]]
        yield [high - low for low, high in zip(held, held[1:])]

# 3. The proof.
def prove(content, sample=None):  # return words for what is proved, or raise an error
    return prove_table(parsed(content), sample)
def prove_table(found, sample=None):  # the same of what the file holds
    top = fields(found, "schema epsilon master seeds buckets form windows evidence", "cap floor heavy")
    fields(top["windows"], "counts starts lengths")
    source = top["heavy"] and text(fields(top["heavy"], "strings units light_units source one_layer")["source"])
    a, share = shares(top)
    stated = None if top["cap"] is None else str(a * ONE)
    need(top["floor"] in (None, stated), "the floor is not that of epsilon and cap")
    windows = Windows(json.dumps({**top, "floor": stated}).encode())
    need(len(windows.index) == len(windows.strings), "two heavy strings have one fingerprint")
    facts = fields({"any_seed": False, **top["evidence"]}, "samples threshold sha256 any_seed", "delta held units")
    delta, m, q = facts["delta"], whole(facts["samples"], 10**10, "samples"), windows.buckets
    need(facts["any_seed"] is False or (facts["any_seed"] is True and delta is not None), "any_seed is for delta")
    need(re.fullmatch("[0-9a-f]{64}", text(facts["sha256"])), "a digest has 64 digits")
    units = 1 << 20 if windows.strings and delta is not None else 1
    check_threshold(facts, share, (1 << 64 if facts["any_seed"] else windows.seeds) * q * (q - 1), units)
    need(None in (facts["held"], facts["units"]), "evidence has held and units")
    if sample is not None or facts["units"] is not None:
        rows = stated_rows(facts["units"], windows) if sample is None else counted_rows(sample, windows, m, units)
        held = sums_of(rows, windows, facts["sha256"])
    else:
        need(facts["held"] is not None, "the file has no evidence; give the sample")
        held = stated_sums(facts["held"], windows, facts["threshold"])
    for seed, (ends, sums) in enumerate(zip(windows.ends, held)):
        rounds = ends[-1] // q
        need(min(sums) >= facts["threshold"], f"seed {seed}: a window holds less than {facts['threshold']} units", 1)
        need(sum(sums) % rounds == 0, f"seed {seed}: windows hold some samples more often than others", 1)
        borders = sorted({(end % q, y - end // q * (sum(sums) // rounds))
                          for end, y in zip([0, *ends], itertools.accumulate(sums, initial=0))})
        lie = all(x[0] < y[0] and x[1] <= y[1] for x, y in zip(borders, [*borders[1:], (q, sum(sums) // rounds)]))
        need(lie, f"seed {seed}: no samples lie in the windows as stated", 1)
        need(sum(sums) <= rounds * m * units, f"seed {seed}: more than {m} samples", 1)
    cap = "" if top["cap"] is None else f", and {top['cap']}-LDP"
    learnt = "whose distribution is known" if delta is None else f"with probability 1 - {shown(delta)}"
    learnt += f", heavy strings from {source!r}" if windows.strings and delta is not None else ""
    told = "taken as the file has them" if sample is None else "counted anew"
    return f"proved: PML with epsilon = {top['epsilon']}{cap}, {m} samples {learnt}; the samples were {told}"
def answer(path, *more):
    try:
        content, *sample = (Path(each).read_bytes() for each in (path, *more))
        return prove(content, dict(json.loads(sample[0])) if sample else None), 0
    except (OSError, ValueError, TypeError, LookupError, ArithmeticError, RecursionError) as error:
        return f"malformed: {error}", 2
    except RuntimeError as stop:
        return stop.args
if __name__ == "__main__":
    message, status = answer(*sys.argv[1:]) if len(sys.argv) in (2, 3) else (__doc__, 2)
    sys.exit(print(message) or status)
