"""Prove the guarantee of a mechanism file with the standard library alone: `python verify.py mechanism.json`.

Each column v of the numerators must have max v <= e^epsilon h(v), with `lower` min v >= e^-lower H(v), with `cap` min v
>= e^-cap max v; with `maximal_leakage` the sum of all max v is at most e^maximal_leakage 2^bits. h and H are the least
and the greatest mean over an l1 ball around counts. Delta must be true, to 10^10 samples. Other sets need other files.
Status 0: proved, and one line says what; 1: false; 2: malformed; 3: undecided. Optimality is not looked at."""

import decimal, itertools, json, math, pathlib, re, sys
from fractions import Fraction
def need(condition, message, status=2):
    if not condition:
        raise RuntimeError(message, status)
# 1. Reading. Nothing is converted silently, numbers are as they are written, and what is unknown is refused.
def table(pairs):
    return need(len(pairs) == len(dict(pairs)) <= 100, "a key occurs twice, or there are over 100") or dict(pairs)
def fields(table, needed, others=""):  # of the others, an absent one is None
    full = {**dict.fromkeys(others.split()), **table}
    return need({*full} == {*f"{needed} {others}".split()}, f"a table has the keys {needed}, perhaps {others}") or full
def items(given, *kinds):
    return need(type(given) is list and len(given) <= 10_000 and {*map(type, given)} <= {*kinds}, "wrong list") or given
def text(value, longest=2000):  # half of a letter has no bytes
    return need(isinstance(value, str) and len(value) <= longest, "not a text") or value.encode().decode()
def labels(values, *kinds):
    names = [text(str(name), 1000) for name in items(values, *kinds)]
    clean = all(x and x == x.strip() and not re.search("[\0-\x1f\x7f-\x9f]", x) for x in names)
    return need(clean and len({*names}) == len(names), "labels are printable, and differ") or names
def rational(value):  # a decimal, such as 1e-9; in a text also a ratio, such as 9/8
    match = re.fullmatch(r"(?a:[+-]?(?:\d+/\d+|(?:\d+\.?\d*|\.\d+)(?:[eE]([+-]?\d{1,4}))?))", text(str(value)).strip())
    return need(match and abs(int(match[1] or 0)) <= 400, f"not a number: {value!s:.40}") or Fraction(match[0])
def shown(value):  # to 28 digits
    return f"{decimal.Decimal(rational(value).numerator) / rational(value).denominator:g}"
def shares(counts):
    need(len(items(counts, int)) > 1 and 0 <= min(counts) <= max(counts) <= 10**15 and any(counts), "wrong counts")
    return [Fraction(count, total) for total in [sum(counts)] for count in counts]
def exp_down(x):  # below e^x = 1 + x/1 (1 + x/2 (1 + ...)): each step is rounded down
    total = one = 1 << 256
    for k in range(3 * int(x) + 200, 0, -1):
        total = one + total * x.numerator // (x.denominator * k)
    return Fraction(total, one)
def exp_promised(value):
    log = re.fullmatch(r"log\(\s*([^()]+?)\s*\)", text(value).strip())
    x = rational(log[1] if log else value)
    return need(1 <= x <= 10**304 if log else 0 <= x <= 700, "epsilon is from 0 to 700") or (x if log else exp_down(x))
# 2. Samples. That Q(S) >= q, for a set S that was seen k times of n, is wrong with probability P[Bin(n, q) >= k].
def is_rare(n, k, q, level):
    """Is P[Bin(n, q) >= k] <= level? Let k have the weight 2^96. From it the ratios of next weights fall on both sides.
    Those above are rounded up, and end in a geometric series; those below are rounded down, and end if they suffice."""
    if q <= 0 or k <= n * q or not level:
        return q <= 0  # in the second case the probability is at least 1/2
    a, b, i, j, last, above, lower, upper = q.numerator, q.denominator - q.numerator, k, k, 0, 0, 1 << 96, 1 << 96
    while upper != last:  # which is the weight of j; it falls until it is rounded to what it was
        above, last, upper, j = above + upper, upper, -(-upper * (n - j) * a // ((j + 1) * b)), j + 1
    above -= -upper * (j + 1) * b // ((j + 1) * b - (n - j) * a)  # rounded up
    below, enough = -lower, -(-above * (level.denominator - level.numerator) // level.numerator)
    while lower and below < enough:
        below, lower, i = below + lower, lower * i * b // ((n - i + 1) * a), i - 1
    return below >= enough
def change(n, T, i, j):  # the sign of all F(k + 1) - F(k), k = i..j, or 0: "The sign of one step" in mathematics.md
    m, M = (T / (y - T) + (T + 1) / (n - x + T) for x, y in ((i, j), (j, i)))
    C, c = (x / (x - T + d)**2 + (n - 1 - x) / (n - y + T - 1 + d)**2 for x, y, d in ((i, j, 0), (j, i, 1)))
    rises = min(2 * m, 3) >= C and T / (n - j) < m/2 + m**2/6 + m**3/24 - C * (Fraction(1, 6) + m/8 + m**2/20)
    return rises - (M < 4 and T / (n - i) > M/2 + M**2/6 + M**3/(24 - 6 * M) - min(c, 4 * m)/6)
def are_rare(n, ks, q, level, T=0, before=0, after=0):  # for these rising k, and a rising q(k), perhaps (k - T)/n
    a, b, m = ks[0], ks[-1], len(ks) // 2  # F(k) = P[Bin(n, q(k)) >= k] may be greater beside them:
    low = T and ((T < a < after and change(n, T, a, after - 1) > 0) or (before > T and change(n, T, before, b - 1) < 0))
    return low or is_rare(n, a, q(b), level) or (m > 0 and are_rare(n, ks[:m], q, level, T, before, ks[m])
                                                 and are_rare(n, ks[m:], q, level, T, ks[m - 1], after))
def sums_of(counts):  # how often the sets of symbols but that of all were seen; nothing if these are over a million
    sums = {0}
    for k in counts:
        sums |= {k + other for other in sums if len(sums) <= 10**6}
    return () if len(sums) > 10**6 else sorted(sums - {sum(counts)} if min(counts) else sums)
def is_supported(n, delta, size, half, bound, counts=None):  # Q(S) >= k/n - half for 2^size - 2 sets S; None: undecided
    half, level = Fraction(int(half * 2 * 10**15), 2 * 10**15), delta / (2**size - 2)  # radii are multiples of 1e-15
    need(bound in (None, "weissman", "clopper-pearson", counts and "observed-sums"), "an unknown bound")
    need(not counts or n == sum(counts), "delta is false: the counts are of other samples", 1)
    sure = half == 1 or exp_down(min(2 * n * half * half, Fraction(20_000))) * level >= 1  # e^(-2 n half^2) for each
    def hold(ks):
        return are_rare(n, ks, lambda k: Fraction(k, n) - half, level, n * half) if 0 < len(ks) <= 10**10 else None
    any_counts = sure or (bound in ("observed-sums", "clopper-pearson") and hold(range(n + 1)))
    return hold(sums_of(counts)) if not any_counts and bound == "observed-sums" else any_counts
def samples_of(n, other, delta, bound=None):  # those of counts, or asserted ones; the other ones are None
    right = delta is bound is None if n is None else type(n) is int and 0 < n <= 10**15 and 0 <= rational(delta) < 1
    return need(right and other is None, "delta, from 0 to 1, needs samples: those of counts, or asserted ones") or n
# 3. The set: its h, whether a prior is in it, the samples, delta and asserted samples behind it, and words.
def known(table, names):
    if "counts" not in table or "center" in table:
        import verify_more
        return verify_more.other(table, names)
    a = fields(table, "counts radius", "samples asserted_samples delta bound")
    P, n = shares(a["counts"]), samples_of(a["samples"], a["asserted_samples"], a["delta"], a["bound"])
    return ball(P, a, n, len(names), "its counts")
def ball(P, a, n, size, whose):
    """Where sum |Q - P| <= radius, Q(S) >= P(S) - radius/2 for each set S of symbols. With v falling, and S_k its first
    k symbols, <Q, v> = sum (v_k - v_k+1) Q(S_k): this sum with the greater of P(S_k) - radius/2 and 0 is h(v)."""
    half = rational(text(a["radius"])) / 2
    common = math.lcm(half.denominator, *(p.denominator for p in P))
    need(len(P) == size and 0 <= half <= 1 and min(P) + half > 0 and common < 10**3000, "wrong numbers")
    proved = n is None or is_supported(n, rational(a["delta"]), size, half, a["bound"], a.get("counts"))
    need(proved is not False, "delta is false: the samples do not support the radius", 1)
    slack, *masses = (int(x * common) for x in (half, *P))
    def h(v):
        order = sorted(range(size), key=v.__getitem__, reverse=True)
        steps = zip(order, order[1:], itertools.accumulate(masses[i] for i in order))
        return min(v) + Fraction(sum((v[i] - v[j]) * max(0, mass - slack) for i, j, mass in steps)) / common
    return (h, lambda Q: sum(abs(p - q) for p, q in zip(P, Q)) <= 2 * half,
            (a["samples"], a["delta"], proved, a["asserted_samples"]), f"within {shown(a['radius'])} (l1) of {whose}")
def failure(samples, delta, proved, asserted):  # what is said of delta
    by = "".join(f" by {n} samples{how}" for n, how in ((samples, ""), (asserted, " (asserted, not shown)")) if n)
    return "" if delta is None else f"; delta = {shown(delta)}{by}" + " is taken as given" * (not proved)
# 4. The proof.
def parsed(content):
    need(content[:2] != b"PK", "an NPZ file is beyond this script: give the JSON", 3)
    need(len(content) <= (192 if content.isascii() else 48) << 20 and content.count(b":") <= 10**6 and
         sum(map(content.count, (b",", b"[", b"{"))) <= 11 * 10**6, "the file is too long")
    return json.loads(content.decode("utf-8-sig"), parse_float=decimal.Decimal, parse_int=lambda x: int(text(x, 20)),
                      parse_constant=rational, object_pairs_hook=table)
def prove(a):  # return words for what is proved, or raise an error
    a = fields(a, "schema inputs outputs bits numerators guarantee", "optimality provenance table")
    rows, names, bits = [items(row, int) for row in items(a["numerators"], list)], labels(a["inputs"], str), a["bits"]
    promise = dict(a["guarantee"])
    epsilon, beside = promise.pop("epsilon"), {x: promise.pop(x, None) for x in ("lower", "cap", "maximal_leakage")}
    others = [f" and {x.replace('_', ' ')} = {y}" for x, y in beside.items() if y is not None]
    need({*map(len, rows)} == {len(labels(a["outputs"], str))} and len(rows) == len(names) and type(bits) is int and
         1 <= bits <= 52 and all(abs(x) < 1 << 63 for row in rows for x in row), "numerators or bits are wrong")
    need(len(others) < 2 and a["schema"] == f"mechdesign/mechanism/{1 + len(others)}", "a schema for another guarantee")
    h, lifts, about, words = known(promise, names)
    raised, lowered = lifts if "secret" in promise else (lambda v: [(max(v), v)], lambda v: [(min(v), v)])
    e, less, most, total = (None if x is None else exp_promised(x) for x in (epsilon, *beside.values()))
    need(all(min(x) >= 0 and sum(x) == 1 << bits for x in rows) and all(map(any, zip(*rows))), "a wrong row, or column")
    for v in zip(*rows):  # no greatest lift, x / h(u), is above e^epsilon, and no least one, x / H(u), below e^-lower
        need(all(x <= e * h(u) for x, u in raised(v)), "the guarantee is false", 1)
        below = less is None or all(x * less >= max(u) - h([max(u) - y for y in u]) for x, u in lowered(v))
        need(below and (not most or max(v) <= most * min(v)), "the promise from below, or the cap, is false", 1)
    need(total is None or sum(map(max, zip(*rows))) <= total * 2**bits, "the maximal leakage is false", 1)
    words += failure(*about) + "; constraints of a table are not looked at" * (a["table"] is not None)
    return f"proved: epsilon = {epsilon}{''.join(others)} at every prior {words}"
def answer(path):
    try:
        return " ".join(prove(parsed(pathlib.Path(path).read_bytes())).split()), 0
    except ImportError as error:
        return f"this needs {error.name}.py, which is not beside this script", 3
    except (OSError, ValueError, TypeError, LookupError, ArithmeticError, RecursionError) as error:
        return f"this is not a mechanism file ({error})", 2
    except RuntimeError as stop:
        return stop.args
if __name__ == "__main__":
    message, status = answer(sys.argv[1]) if len(sys.argv) == 2 else (__doc__, 2)
    sys.exit(print(message) or status)
