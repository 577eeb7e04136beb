"""What verify.py reads beside itself where a file needs it: hulls, products, secrets, and limits from samples."""

from decimal import MAX_EMAX, MIN_EMIN, ROUND_CEILING, Context, Decimal, localcontext
from fractions import Fraction
from functools import cache
from itertools import accumulate

from verify import above, exp_down, fields, integers, items, known, labels, need, prior, rational, shares, text, vector

UP = Context(60, ROUND_CEILING, MIN_EMIN, MAX_EMAX)  # every result is rounded up
UNIT = 10**15  # radii that are derived from samples are multiples of its inverse


def hull(table, names):
    """Mixtures of priors: h is the least of their means."""
    a = fields(table, "priors", "weights")
    need(sum(map(len, items(a["priors"], list))) <= 10**6, "there are too many probabilities")
    priors = [prior(values) for values in a["priors"]]
    need({*map(len, priors)} == {len(names)} and all(map(any, zip(*priors))), "a symbol lacks a probability above 0")
    integers([q for Q in priors for q in Q], 3000)
    if a["weights"] is not None:  # at which utility is measured
        weights = prior(a["weights"]) if len(priors) > 1 else vector(a["weights"])
        need(len(weights) == len(priors) and sum(weights) == 1, "there is a weight for each prior")
    means = [above([(0, Q)])[0] for Q in priors]
    return lambda v: min(mean(v) for mean in means), None, None


def product(table, names):
    """Pairs: the first has a law in one set, and the second, given each value of the first, a law in another."""
    a = fields(table, "factors", "separator")
    first, second = map(dict, items(a["factors"], dict))
    need("secret" not in {*first, *second}, "a product is about the data themselves")
    rows, columns = labels(first.pop("inputs"), str), labels(second.pop("inputs"), str)
    need(len(rows) * len(columns) == len(names), "the inputs are all pairs")
    outer, inner, size = known(first, rows)[0], known(second, columns)[0], len(columns)
    need([i + text(a["separator"]) + j for i in rows for j in columns] == names, "a pair has another label")
    return lambda v: outer([inner(v[i : i + size]) for i in range(0, len(v), size)]), None, None


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
    need(all(map(any, zip(*rows))) and len(rows) * len(names) <= 10**6, "an unseen symbol, or too many")
    totals = [sum(row) for row in rows]
    laws = [[Fraction(n, sum(totals)) for n in totals], *laws]
    if a["limits"] is None:
        outer, *inner = (above([(0, law)])[0] for law in laws)
    else:
        need(len(items(a["limits"], dict)) == len(laws), "there is a set for the secret, and one for each value")
        outer, *inner = map(limit, a["limits"], laws, [totals, *rows], [values, *[names] * len(rows)])

    def means(v):
        return [h(v) for h in inner], [max(v) - h([max(v) - x for x in v]) for h in inner]

    def lifts(own, others):
        return [(x, [*others[:s], x, *others[s + 1 :]]) for s, x in enumerate(own)]

    return outer, lambda v: lifts(*means(v)[::-1]), lambda v: lifts(*means(v))


def limit(table, law, counts, names):
    need("factors" not in table and "secret" not in table, "a limit is not made of other sets")
    h, holds, evidence = known(table, names)
    need(holds, "a hull among limits is beyond this script", 3)
    need(holds(law) and evidence in (None, (counts, sum(counts))), "a limit is about other counts")
    return h


OTHERS = {"priors": hull, "factors": product, "secret": secret}


def are_supported(a, mark, box, lines):
    """Return whether limits hold but with probability delta, by Clopper and Pearson, or Weissman."""
    n, delta, size = a["samples"], rational(a["delta"]), len(a["counts"])
    need(type(n) is int and 1 <= n <= UNIT and 0 <= delta < 1 and a["counts"], "wrong samples or delta")
    need(a.get("bound") in (None, "weissman", "clopper-pearson"), "the bound is unknown")
    events = 2**size - 2
    if mark == "l1-box":
        delta /= 2
    if box:
        need(size <= 1000, "there are too many symbols")
        seen, level = [share * n for share in shares(a["counts"])], delta / (size * len(box))
        if not all(is_rare(n, k, q, level) for k, q in zip(seen, box[0])):
            return False
        if len(box) == 2 and not all(is_rare(n, n - k, 1 - q, level) for k, q in zip(seen, box[1])):
            return False
    if not lines or ("radius" in a and lines[0][1] == 1):
        return True
    if "radius" in a:
        t = Fraction(int(lines[0][1] * 2 * UNIT), 2 * UNIT)
        if "bound" in a and a["bound"] != "clopper-pearson":  # e^(-2 n t^2) for each event
            return exp_down(min(2 * n * t * t, Fraction(20_000))) * delta >= events
        lines, counts = [(1, t)], range(len(ways(n)))
    elif size <= 16 and sum(a["counts"]) == n:
        counts = {0}
        for count in a["counts"]:
            counts |= {k + count for k in counts}
    else:
        need(n <= 200_000, "there are too many samples")
        counts = range(n + 1)
    return all(is_rare(n, k, max(x * Fraction(k, n) - y for x, y in lines), delta / events) for k in counts)


@cache
def ways(n):
    """Return how often k of n can be chosen, k = 0 to n, rounded up."""
    need(n <= 400_000, f"limits that were derived from {n} samples are beyond this script", 3)
    with localcontext(UP):
        return [*accumulate(range(n), lambda found, k: found * (n - k) / (k + 1), initial=Decimal(1))]


def power(x, k):
    return power(x * x, k // 2) * (x if k % 2 else 1) if k else Decimal(1)


def is_rare(n, k, q, level):
    """Return whether P[Bin(n, q) >= k] <= level is proved, for a level below 1/2."""
    if q <= 0 or k <= n * q:
        return q <= 0  # in the second case it is at least 1/2
    need(k == int(k), "limits derived from counts that were scaled to other samples are beyond this script", 3)
    k, binomials = int(k), ways(n)
    with localcontext(UP):
        x, y = (Decimal(p.numerator) / p.denominator for p in (q, 1 - q))
        odds, total = Decimal(q.numerator) / (q.denominator - q.numerator), Decimal(0)
        term = binomials[k] * power(x, k) * power(y, n - k)  # the probability of k
        for j in range(k, n + 1):
            ratio = odds * (n - j) / (j + 1)  # of the next term to this one; ratios fall
            if total + term / -(ratio - 1) <= level:  # a geometric series is above all that follows
                return True
            total, term = total + term, term * ratio
            if total > level:
                return False
    return False
