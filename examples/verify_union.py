"""What verify_more.py reads beside itself where several sets hold at once, such as one for each group of records."""

from verify import fields, items, known, labels, need, rational, shares, shown


def union(table, names):
    """Priors in one of several sets, and their mixtures: h is the least of the h of these sets.

    A cover is a ball that holds them all, if its radius is not below |C - P| + r of each of them; h is then its own.
    """
    from verify_more import check_weights, prior, vector

    a = fields(table, "sets", "names weights cover")
    sets = items(a["sets"], dict)
    need(0 < len(sets) <= 500 and len(sets) * len(names) <= 200_000, "there are no sets, or too many")
    need(all(not {"sets", "factors", "secret"} & {*each} for each in [*sets, a["cover"] or {}]), "a set holds others")
    found, K = [known(each, names) for each in sets], len(sets)
    need(a["names"] is None or len(labels(a["names"], str, int)) == K, "there is a name for each set")
    check_weights(a["weights"], K)
    counted, given, proved, assumed = zip(*(about for _, _, about, _ in found))
    deltas, samples = [rational(delta) for delta in given if delta is not None], sum(n or 0 for n in counted)
    asserted = sum(n or 0 for n in assumed) or None
    words = f"in one of its {K} sets or mixed from these"
    means = [h for h, _, _, _ in found]
    if a["cover"] is not None:
        need(all("radius" in each for each in [*sets, a["cover"]]), "a cover and what it holds are balls")
        (center, radius), *balls = [(prior(each["center"]) if "center" in each else shares(each["counts"]),
                                     vector([each["radius"]], 2)[0]) for each in [a["cover"], *sets]]
        means = [known(a["cover"], names)[0]]
        reach = [min(2, r + sum(abs(c - p) for c, p in zip(center, P))) for P, r in balls]
        need(max(reach) <= radius, "the cover does not hold each set", 1)
        words = f"within {shown(radius)} (l1) of the center of the ball that holds its {K} sets"
    def least(v):
        return min(h(v) for h in means)
    if not deltas:
        return least, None, (None, None, True, None), words
    words += f" (delta of one by itself: {shown(max(deltas))}; of all at once as follows)"
    return least, None, (samples or None, min(sum(deltas), 1), all(proved), asserted), words
