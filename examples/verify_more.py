"""What verify.py reads beside itself where the set is not an l1 ball around counts: balls around given probabilities,
limits, hulls, products, secrets, unions.

A reader returns what `ball` returns; in place of whether a prior is in it, a secret has lifts, and others have None.
"""

from decimal import Decimal
from fractions import Fraction
from math import lcm

from verify import are_rare, ball, failure, fields, is_rare, is_supported, items, known, labels, need
from verify import rational, samples_of, shares, shown, sums_of, text
from verify_union import union

LIMITS = {"box": "lower upper", "lower-limits": "lower", "l1-box": "lower upper radius",
          "relative-ball": "alpha gamma", "event-set": "alphas gammas"}
CERTAIN = None, None, True, None

def vector(values, greatest=1):
    numbers = [rational(value) for value in items(values, str, int, Decimal)]
    return need(all(0 <= x <= greatest for x in numbers), "a number is out of range") or numbers

def integers(numbers, digits):
    """Return numbers over their common denominator, and that."""
    common = 1
    for x in numbers:
        need((common := lcm(common, x.denominator)) < 10**digits, "a common denominator is too long")
    return [x.numerator * (common // x.denominator) for x in numbers], common

def prior(values):
    """Return the shares of weights, whose sum may miss 1 by 1e-9."""
    weights, common = integers(vector(values, 2), 900)
    need(len(weights) > 1 and abs(Fraction(sum(weights), common) - 1) <= Fraction(1e-9), "probabilities sum to 1")
    return [Fraction(weight, total) for total in [sum(weights)] for weight in weights]

def behind(a):
    """Return the samples behind delta: the total of the counts, or as many as somebody asserts beside a center."""
    if a["counts"] is None:
        return samples_of(a["asserted_samples"], a["samples"], a["delta"])
    n = samples_of(a["samples"], a["asserted_samples"], a["delta"])
    return need(n in (None, sum(a["counts"])), "delta is false: the counts are of other samples", 1) or n

def centered(table, names):
    """Balls around given probabilities."""
    a = fields(table, "center radius", "samples asserted_samples delta bound")
    n = samples_of(a["asserted_samples"], a["samples"], a["delta"], a["bound"])
    return ball(prior(a["center"]), a, n, len(names), "its center")

def above(pieces):
    """Take all Q with Q(S) >= f(S) for each set S of symbols: a piece (s, a) asks for Q(S) >= a(S) - s, and f(S) is the
    greatest of these and 0. With v falling, and S_k its first k symbols, <Q, v> = sum (v_k - v_k+1) Q(S_k) is at least
    that sum with f for Q. It is h(v), as these f are supermodular; were one not, it would be less: still a proof.
    """
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

def limits(table, names):
    """Boxes, lower limits, relative balls, sets of events."""
    mark = next(mark for mark in LIMITS if mark in table)
    a = fields(fields(table, mark)[mark], LIMITS[mark], "center counts samples asserted_samples delta")
    P = prior(a["center"]) if a["counts"] is None else shares(need(a["center"] is None, "two estimates") or a["counts"])
    box = [vector(a[key]) for key in ("lower", "upper") if key in a]
    alphas, gammas = (vector(a.get(key + "s", [a[key]] if key in a else []), 10**6) for key in ("alpha", "gamma"))
    if "radius" in a:  # sum |Q - P| <= r is Q(S) >= P(S) - r/2
        alphas, gammas = [Fraction(1)], [x / 2 for x in vector([a["radius"]], 2)]
    need(all(len(x) == len(names) for x in (P, *box)) and len(alphas) == len(gammas), "numbers are missing")
    need((box or alphas) and all(alphas) and len(alphas) * len(P) <= 100_000, "there are no pieces, or too many")
    pieces = [*zip([0, sum(box[-1]) - 1], box)] if box else []
    pieces += [(gamma, [alpha * p for p in P]) for alpha, gamma in zip(alphas, gammas)]
    least, holds = above(pieces)
    need(holds(P), "the estimate is outside")
    need(all(sum(row) - slack - min(row) < 1 for slack, row in pieces), "a category has probability 0 in the whole set")
    words = ", ".join(f"{key} = {shown(a[key])}" for key in ("radius", "alpha", "gamma") if key in a)
    words = f"in its {mark}" + f" ({words})" * (words != "")
    n = behind(a)
    if n is None:
        return least, holds, CERTAIN, words
    proved = are_supported(P, n, rational(a["delta"]), box, [*zip(alphas, gammas)], "radius" in a, a["counts"])
    need(proved is not False, "delta is false: the samples do not support the limits", 1)
    return least, holds, (a["samples"], a["delta"], proved, a["asserted_samples"]), words

def are_supported(P, n, delta, box, lines, is_ball, counts):
    """Do limits of symbols, and lines below those of all events, hold but with probability delta? None: undecided."""
    need(not box or len(P) <= 1000, "there are too many categories")
    delta = delta / 2 if box and lines else delta
    seen = [p * n for p in P]
    claims = [(n - k, 1 - q) if upper else (k, q) for upper, row in enumerate(box) for k, q in zip(seen, row)]
    undecided = [0 < n * q < k and (k != int(k) or n > 10**12) for k, q in claims]
    if not all(later or is_rare(n, int(k), q, delta / len(claims)) for later, (k, q) in zip(undecided, claims)):
        return False
    if is_ball or not lines:
        bound = "observed-sums" if counts else "clopper-pearson"
        proved = not lines or is_supported(n, delta, len(P), lines[0][1], bound, counts)
        return None if proved and any(undecided) else proved
    listed = len(P) <= 16 and all(k == int(k) for k in seen)
    need(listed or n <= 200_000, "there are too many samples")
    ks = sums_of([*map(int, seen)]) if listed else range(n + 1)
    level = delta / (2 ** len(P) - 2)
    return are_rare(n, ks, lambda k: max(x * Fraction(k, n) - y for x, y in lines), level)

def check_weights(values, size):
    """Check the weights at which utility is measured, if there are any."""
    weights = None if values is None else prior(values) if size > 1 else vector(values)
    need(weights is None or (len(weights) == size and sum(weights) == 1), "there is a weight for each prior, or set")

def hull(table, names):
    """Mixtures of priors: h is the least of their means."""
    a = fields(table, "priors", "weights")
    need(sum(map(len, items(a["priors"], list))) <= 10**6, "there are too many probabilities")
    priors = [prior(values) for values in a["priors"]]
    need({*map(len, priors)} == {len(names)} and all(map(any, zip(*priors))), "a category lacks a probability above 0")
    integers([q for Q in priors for q in Q], 3000)
    check_weights(a["weights"], len(priors))
    means = [above([(0, Q)])[0] for Q in priors]
    words = f"that mixes its {len(priors)} priors"
    return lambda v: min(mean(v) for mean in means), None, CERTAIN, words

def product(table, names):
    """Pairs: the first has a law in one set, and the second, given each value of the first, a law in another."""
    a = fields(table, "factors", "separator")
    first, second = map(dict, items(a["factors"], dict))
    need("secret" not in {*first, *second}, "a product is about the data themselves")
    rows, columns = labels(first.pop("inputs"), str), labels(second.pop("inputs"), str)
    need(len(rows) * len(columns) == len(names), "the inputs are all pairs")
    (outer, _, about, words), (inner, _, also, more) = known(first, rows), known(second, columns)
    size = len(columns)
    need([i + text(a["separator"]) + j for i in rows for j in columns] == names, "a pair has another label")
    words = f"whose first factor is one {words}{failure(*about)}; the second, given the first, is one {more}"
    words += failure(*also)
    return lambda v: outer([inner(v[i : i + size]) for i in range(0, len(v), size)]), None, CERTAIN, words

def secret(table, names):
    """A secret, whose law is in one set, and the law of the data given each of its values in another.

    Let l_s and g_s be the least and the greatest mean of v given s. The greatest lift of s is g_s / h(u), u having g_s
    at s and l_t elsewhere, with h of the set for the secret; the least is l_s / H(u), with l and g exchanged.
    """
    a = fields(fields(table, "secret")["secret"], "name useful values counts", "limits not_protected")
    need(a["name"] != a["useful"] and all(text(a[key], 200) for key in ("name", "useful")), "two columns have names")
    need(a["not_protected"] is None or text(a["not_protected"]) is not None, "not_protected is a text")
    values, rows = labels(a["values"], str, int), items(a["counts"], list)
    laws = [shares(row) for row in rows]
    need(1 < len(rows) == len(values) <= 1000 and {*map(len, rows)} == {len(names)}, "a row for each value")
    need(all(map(any, zip(*rows))) and len(rows) * len(names) <= 10**6, "an unseen category, or too many")
    totals = [sum(row) for row in rows]
    laws = [[Fraction(n, sum(totals)) for n in totals], *laws]
    about, words = CERTAIN, "of its counts, about the secret"
    if a["limits"] is None:
        outer, *inner = (above([(0, law)])[0] for law in laws)
    else:
        need(len(items(a["limits"], dict)) == len(laws), "there is a set for the secret, and one for each value")
        found = [*map(limit, a["limits"], laws, [totals, *rows], [values, *[names] * len(rows)])]
        outer, *inner = (h for h, _ in found)
        words = "within its limits of the counts, about the secret"
        deltas = [rational(delta) for _, (_, delta, _, _) in found if delta is not None]
        asserted = next((n for _, (_, _, _, n) in found if n is not None), None)
        proved = all(proved for _, (_, _, proved, _) in found)
        about = None, sum(deltas) if deltas else None, proved, asserted

    def means(v):
        return [h(v) for h in inner], [max(v) - h([max(v) - x for x in v]) for h in inner]

    def lifts(own, others):
        return [(x, [*others[:s], x, *others[s + 1 :]]) for s, x in enumerate(own)]

    return outer, (lambda v: lifts(*means(v)[::-1]), lambda v: lifts(*means(v))), about, words

def limit(table, law, counts, names):
    need(not {"sets", "factors", "secret"} & {*table}, "a limit is not made of other sets")
    h, holds, about, _ = known(table, names)
    need(holds, "a hull among limits is beyond this script", 3)
    own = next((value for value in table.values() if isinstance(value, dict)), table)
    need(holds(law) and own.get("counts") in (None, counts), "a limit is about other counts")
    return h, about

OTHERS = {"center": centered, **dict.fromkeys(LIMITS, limits), "priors": hull, "factors": product, "secret": secret,
          "sets": union}

def other(table, names):
    marks = [mark for mark in OTHERS if mark in table]
    need(len(marks) == 1, f"a set is one of counts, {', '.join(OTHERS)}; given: {marks}")
    return OTHERS[marks[0]](table, names)
