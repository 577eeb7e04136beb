"""Prove the guarantee of a mechanism file with the standard library alone: `python verify.py mechanism.json`.

Each column v of the numerators must have max v <= e^epsilon h(v) and, with `lower`, min v >= e^-lower H(v); h and H are
the least and the greatest mean <Q, v> over the priors Q of the set. Status 0: proved; 1: false; 2: malformed; 3: beyond
this script. It ignores `optimality` and `provenance`; hulls, products, secrets, samples need verify_more.py too."""

# fmt: off
import json, re, sys
from decimal import Decimal
from fractions import Fraction
from math import lcm
from pathlib import Path

KINDS = {"center": "radius", "counts": "radius", "box": "lower upper", "lower-limits": "lower",
         "l1-box": "lower upper radius", "relative-ball": "alpha gamma", "event-set": "alphas gammas"}

def need(condition, message, status=2):
    if not condition:
        raise RuntimeError(message, status)

# Reading. Nothing is converted silently, numbers are as they are written, and what is unknown is refused.
def table(pairs):
    return need(len(pairs) == len(dict(pairs)) <= 100, "a key occurs twice, or there are over 100") or dict(pairs)
def fields(table, needed, others=""):  # of the others, an absent one is None
    needed, others = needed.split(), others.split()
    need(isinstance(table, dict) and {*needed} <= {*table} <= {*needed, *others}, f"keys: {needed}, perhaps {others}")
    return {**dict.fromkeys(others), **table}
def items(values, *kinds):
    need(isinstance(values, list) and len(values) <= 10_000 and {*map(type, values)} <= {*kinds}, "not such a list")
    return values
def text(value, longest=2000):
    need(isinstance(value, str) and len(value) <= longest and not re.search("[\ud800-\udfff]", value), "not a text")
    return value
def labels(values, *kinds):
    names = [text(str(name), 1000) for name in items(values, *kinds)]
    clean = all(x and x == x.strip() and not re.search("[\0-\x1f\x7f-\x9f]", x) for x in names)
    return need(clean and len({*names}) == len(names), "labels are printable, and differ") or names
def rational(value):  # a decimal, such as 1e-9; in a text also a ratio, such as 9/8
    value = text(str(value)).strip()
    match = re.fullmatch(r"[+-]?(?:[0-9]+/[0-9]+|(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE]([+-]?[0-9]{1,4}))?)", value)
    need(match and abs(int(match[1] or 0)) <= 400, f"not a number: {value:.40}")
    return Fraction(value)
def vector(values, greatest=1):
    numbers = [rational(value) for value in items(values, str, int, Decimal)]
    return need(all(0 <= x <= greatest for x in numbers), "a number is out of range") or numbers
def integers(numbers, digits):  # over their common denominator, and that
    common, most = 1, 10**digits
    for x in numbers:
        need((common := lcm(common, x.denominator)) < most, "a common denominator is too long")
    return [x.numerator * (common // x.denominator) for x in numbers], common
def shares(counts):
    need(len(items(counts, int)) > 1 and 0 <= min(counts) <= max(counts) <= 10**15 and any(counts), "wrong counts")
    return [Fraction(count, total) for total in [sum(counts)] for count in counts]
def prior(values):  # weights, whose sum may miss 1 by 1e-9
    weights, common = integers(vector(values, 2), 900)
    need(len(weights) > 1 and abs(Fraction(sum(weights), common) - 1) <= Fraction(1e-9), "probabilities sum to 1")
    return [Fraction(weight, total) for total in [sum(weights)] for weight in weights]
def exp_down(x):  # below e^x: terms of its series, all positive, each rounded down
    total, term, k = 0, 1 << 256, 0
    while term:
        total, k = total + term, k + 1
        term = term * x.numerator // (x.denominator * k)
    return Fraction(total, 1 << 256)
def exp_promised(value):
    log = re.fullmatch(r"log\(\s*([^()]+?)\s*\)", text(value).strip())
    x = rational(log[1] if log else value)
    return need(1 <= x <= 10**304 if log else 0 <= x <= 700, "epsilon is from 0 to 700") or (x if log else exp_down(x))
# Sets: h, and for limits also whether a prior is in the set, and the counts and samples behind it.
def above(pieces):
    """Take all Q with Q(S) >= f(S) for each set S of symbols: a piece (s, a) asks for Q(S) >= a(S) - s, and f(S) is the
    greatest of these and 0. With v falling, and S_k its first k symbols, <Q, v> = sum (v_k - v_k+1) Q(S_k) is at least
    that sum with f for Q. It is h(v), as these f are supermodular; were one not, it would be less: still a proof."""
    common = integers([x for slack, masses in pieces for x in (slack, *masses)], 3000)[1]
    rows = [[int(x * common) for x in (slack, *masses)] for slack, masses in pieces]
    def least(v):
        order = sorted(range(len(v)), key=v.__getitem__, reverse=True)
        sums, total = [-row[0] for row in rows], v[order[-1]] * common
        for i, after in zip(order, order[1:]):
            sums = [x + row[i + 1] for x, row in zip(sums, rows)]
            total += (v[i] - v[after]) * max(0, *sums)
        return Fraction(total) / common
    return least, lambda Q: all(sum(a - q for a, q in zip(row, Q) if a > q) <= slack for slack, row in pieces)
def limits(mark, table, size):  # balls, boxes, lower limits, sets of events
    own = table if mark in ("center", "counts") else fields(table, mark)[mark]
    a = fields(own, KINDS[mark], "center counts samples delta" + " bound" * (own is table))
    P = prior(a["center"]) if a["counts"] is None else shares(need(a["center"] is None, "two estimates") or a["counts"])
    box = [vector(a[key]) for key in ("lower", "upper") if key in a]
    lines = [vector(a.get(key + "s", [a[key]] if key in a else []), 10**6) for key in ("alpha", "gamma")]
    if "radius" in a:  # sum |Q - P| <= r is sum (P - Q)^+ <= r/2
        lines = [1], [x / 2 for x in vector([text(a["radius"]) if own is table else a["radius"]], 2)]
    need(all(len(x) == size for x in (P, *box)) and len(lines[0]) == len(lines[1]) and all(lines[0]) and
         (box or lines[0]) and len(lines[0]) * size <= 100_000, "numbers are missing, or there are too many")
    pieces = [*zip([0, sum(box[-1]) - 1], box)] if box else []
    pieces += [(gamma, [alpha * p for p in P]) for alpha, gamma in zip(*lines)]
    least, holds = above(pieces)
    need(holds(P) and all(sum(row) - slack - min(row) < 1 for slack, row in pieces),
         "the estimate is outside, or a symbol has probability 0 in the whole set")
    if a["delta"] is None:
        need(a["samples"] is a.get("bound") is None, "samples and bound belong to delta")
        return least, holds, (a["counts"], sum(a["counts"])) if mark == "counts" else None
    from verify_more import are_supported
    need(are_supported(a, mark, box, [*zip(*lines)]), "delta is false: the samples do not support the limits", 1)
    return least, holds, (a["counts"], a["samples"])
def known(table, names):
    marks = [mark for mark in (*KINDS, "priors", "factors", "secret") if mark in table]
    need(len(marks) == 1, f"a set is one of {', '.join(KINDS)}, priors, factors, secret; given: {marks}")
    if marks[0] in KINDS:
        return limits(marks[0], table, len(names))
    from verify_more import OTHERS
    return OTHERS[marks[0]](table, names)

def prove(content):  # or raise an error
    need(content[:2] != b"PK", "an NPZ file is beyond this script: give the JSON", 3)
    need(len(content) <= (192 if content.isascii() else 48) << 20 and content.count(b":") <= 10**6 and
         sum(map(content.count, (b",", b"[", b"{"))) <= 11 * 10**6, "the file is too long")
    a = json.loads(content.decode("utf-8-sig"), parse_float=Decimal, parse_int=lambda x: int(text(x, 20)),
                   parse_constant=rational, object_pairs_hook=table)
    a = fields(a, "schema inputs outputs bits numerators guarantee", "optimality provenance")
    rows, names, bits = [items(row, int) for row in items(a["numerators"], list)], labels(a["inputs"], str), a["bits"]
    promise = {"lower": None, **a["guarantee"]}
    epsilon, lower = text(promise.pop("epsilon")), promise.pop("lower")
    need({*map(len, rows)} == {len(items(a["outputs"], str))} and len(rows) == len(names) and type(bits) is int and
         1 <= bits <= 52 and all(abs(x) < 1 << 63 for row in rows for x in row), "numerators or bits are wrong")
    need(a["schema"] in ("mechdesign/mechanism/1", "mechdesign/mechanism/2"), "the schema is unknown")
    h, *lifts = known(promise, names)
    raised, lowered = lifts if "secret" in promise else (lambda v: [(max(v), v)], lambda v: [(min(v), v)])
    e, least = exp_promised(epsilon), None if lower is None else 1 / exp_promised(lower)
    need(a["schema"][-1] == "12"[lower is not None], "lower belongs to the second schema")
    need(all(min(row) >= 0 and sum(row) == 1 << bits for row in rows) and all(map(any, zip(*rows))) and
         labels(a["outputs"], str), "each row sums to 2^bits, and no column is zero")
    for v in zip(*rows):  # no greatest lift, x / h(u), is above e^epsilon, and no least one, x / H(u), below e^-lower
        need(all(x <= e * h(u) for x, u in raised(v)), "the guarantee is false", 1)
        need(least is None or all(x >= least * (max(u) - h([max(u) - y for y in u])) for x, u in lowered(v)),
             "the promise from below is false", 1)

def answer(path):
    try:
        prove(Path(path).read_bytes())
    except ImportError:
        return "this needs verify_more.py, which is not beside this script", 3
    except (OSError, ValueError, TypeError, LookupError, ArithmeticError, RecursionError) as error:
        return f"this is not a mechanism file ({error})", 2
    except RuntimeError as stop:
        return stop.args
    return "the guarantee is proved", 0

if __name__ == "__main__":
    message, status = answer(sys.argv[1]) if len(sys.argv) == 2 else (__doc__, 2)
    sys.exit(print(message) or status)
