"""Prove a file of views of whole records with the standard library: `python verify_records.py records.json`.

Each person reports about one view of the record, drawn by weights that do not depend on the record. The report leaks
about the whole record what it leaks about the view, whatever the joint law is: the weight cancels in
max_x w K(r|f(x)) / E[w K(r|f(X))]. So each view is proved by itself, by verify.py, which stands beside this script,
and one of windows by verify_windows.py; epsilon of the whole is the greatest, as is a cap that every view has, and
delta, a union bound, the sum of the deltas of the views.
Two views in l1 balls that share attributes must have a law of these in common, which the balls allow where estimates
are no farther apart than both radii; of other sets single cells are compared. Whether any law has three views or more
takes a linear program: not asked here.
Status 0: proved, and one line says what; 1: false; 2: malformed; 3: undecided. Optimality is not looked at."""

import itertools, math, sys
from decimal import Decimal
from fractions import Fraction
from operator import mul
from pathlib import Path

from verify import exp_promised, fields, is_supported, items, known, labels, need, parsed, prove, rational, shown, text

PROMISED = ("epsilon", "lower", "cap", "maximal_leakage")
JOINT = " & "  # between the labels of several attributes in the label of their combination

def sum_of(found):  # of the deltas of sets, None where one has none; sets of all priors need none
    deltas = [delta for every, delta in found if not every]
    return None if not deltas or None in deltas else min(sum(deltas), Fraction(1))

def stated_by(own):  # the delta that stands in the table of a set, or in the table within it
    limits = next((value for value in own.values() if isinstance(value, dict)), own)
    return None if limits.get("delta") is None else rational(limits["delta"])

def delta_of(own, names):  # whether a set holds all priors, and its delta, None where it has none
    if "sets" in own:
        found = [delta_of(each, names) for each in own["sets"]]
        covers = found if own.get("cover") is None else [delta_of(own["cover"], names)]
        return any(every for every, _ in covers), sum_of(found)
    if "factors" in own:
        tables = [{**each} for each in own["factors"]]
        found = [delta_of(each, each.pop("inputs")) for each in tables]
        return all(every for every, _ in found), sum_of(found)
    delta = stated_by(own)
    if "radius" in own:
        return rational(own["radius"]) == 2, delta
    h, others = known(own, names)[0], range(len(names))
    return all(h([int(j != i) for j in others]) == 0 for i in others), delta

def view(part):  # return name, attributes, weight, labels by attribute, e^epsilon and delta, after the proof
    a = fields(part, "name attributes weight mechanism", "merged")
    (name,), attributes = labels([text(a["name"], 1000)], str), labels(a["attributes"], str)
    need(len(attributes) > 0 and type(a["weight"]) is int and a["weight"] >= 1, "a view needs attributes and a weight")
    mechanism = a["mechanism"]
    if isinstance(mechanism, dict) and mechanism.get("schema") == "mechdesign/windows/1":
        from verify_windows import prove_table
        need(len(attributes) == 1 and a["merged"] is None, "a view of windows shows one attribute, and merges nothing")
        prove_table(mechanism)
        delta = False, stated_by({"evidence": mechanism["evidence"]})
        return name, attributes, a["weight"], [], exp_promised(mechanism["epsilon"]), (*delta, False, None)
    prove(mechanism)
    names = mechanism["inputs"]
    merges = a["merged"] is not None
    need(not merges or (len(attributes) > 1 and a["merged"] in names), "what is merged is an input of a group")
    split = [label.split(JOINT) if len(attributes) > 1 else [label] for label in names]
    need(all(len(parts) == len(attributes) for parts in split), "a label of a view is not of so many attributes")
    own = split[names.index(a["merged"])] if merges else []
    need(all([parts[k] for parts in split].count(label) == 1 for k, label in enumerate(own)),
         "the merged combination shares a label with another")
    if merges and "counts" in mechanism["guarantee"] and mechanism["guarantee"].get("delta") is not None:
        g = mechanism["guarantee"]  # the counts have chosen what is merged: delta is that of all combinations apart
        apart = max(math.prod(len({*column}) - 1 for column in zip(*split)), len(names))
        held = is_supported(sum(g["counts"]), rational(g["delta"]), apart, rational(g["radius"]) / 2, g.get("bound"),
                            [*g["counts"], *[0] * (apart - len(names))])
        need(held is not False, "delta is false: the radius is not that of all combinations, of which some are merged",
             1)
    for own in {own for parts in split for own in parts} if len(attributes) > 1 else ():
        need(labels([own], str) and JOINT not in f" {own} ", "a label could be read as others")
    guarantee = {**mechanism["guarantee"]}
    if "secret" in guarantee:
        about = guarantee["secret"]
        need(about["useful"] == "+".join(attributes), "the data of a promise about a secret are not those of its view")
        limits = about.get("limits")
        for s, value in enumerate(map(str, about["values"]) if about["name"] in attributes else ()):
            place = attributes.index(about["name"])  # given a value of the secret, cells show it, or are merged
            others = [int(label != a["merged"] and of[place] != value) for label, of in zip(names, split)]
            least = known(limits[s + 1], names)[0](others) if limits else sum(map(mul, about["counts"][s], others))
            need(least == 0, "the view shows the secret, and no law of the promise agrees with what it shows")
        delta = sum_of([(False, stated_by(each)) for each in limits or []])
        secret, delta = (about["name"], {*map(str, about["values"])}), (False, delta)
    else:
        secret = delta = None
    epsilon = exp_promised(guarantee["epsilon"])
    guarantee = {key: guarantee[key] for key in guarantee if key not in PROMISED}
    return (name, attributes, a["weight"], list(zip(attributes, zip(*split))),
            epsilon, (*(delta or delta_of(guarantee, names)), merges, secret))

def tables_of(part):  # what a view says of tables; a promise about a secret says the law of the secret too
    own, of, names = part["mechanism"]["guarantee"], part["attributes"], part["mechanism"]["inputs"]
    about = own.get("secret")
    def table(attributes, labels, law):
        return {**part, "attributes": attributes, "mechanism": {"inputs": labels, "guarantee": law}}
    if about is None:
        return [part]
    values, counts, name = [str(value) for value in about["values"]], about["counts"], about["name"]
    if about.get("limits") is not None:
        return [table([name], values, about["limits"][0])]
    other = {"counts": [*map(sum, counts)], "radius": "0"}, {"counts": [*map(sum, zip(*counts))], "radius": "0"}
    if name in of or any(JOINT in f" {label} " for label in [*values, *(names if len(of) == 1 else ())]):
        return [table(of, names, other[1]), *([] if name in of else [table([name], values, other[0])])]
    cells = [f"{value}{JOINT}{label}" for value in values for label in names]
    pairs = {"counts": [*itertools.chain(*counts)], "radius": "0"}
    return [table([name, *of], cells, pairs), table([name], values, other[0])]

def check_shared(told):  # sums of the masses of cells are no farther apart than the laws of the views
    balls = [table for table in told if "radius" in table["mechanism"]["guarantee"]]
    for pair in itertools.combinations(balls, 2):
        both, away, allowed = [name for name in pair[0]["attributes"] if name in pair[1]["attributes"]], {}, 0
        for part, sign in zip(pair if both else (), (1, -1)):
            of, own = part["attributes"], part["mechanism"]["guarantee"]
            masses = [rational(x) for x in own.get("counts") or own["center"]]
            allowed += rational(own["radius"])
            for label, mass in zip(part["mechanism"]["inputs"], masses):
                split = str(label).split(JOINT) if len(of) > 1 else [str(label)]
                cell = tuple(split[of.index(name)] for name in both)
                away[cell] = away.get(cell, 0) + sign * mass / sum(masses)
        need(sum(map(abs, away.values())) <= allowed,
             f"no law has the tables of the views {pair[0]['name']} and {pair[1]['name']} of what they share", 1)

def mean_of(mechanism):  # return what the set gives some labels, which are marked by ones, at least
    own, names = mechanism["guarantee"], mechanism["inputs"]
    if "radius" not in own:
        return known({key: own[key] for key in own if key not in PROMISED}, names)[0]
    half, masses = rational(own["radius"]) / 2, [rational(x) for x in own.get("counts") or own["center"]]
    return lambda ones: min(ones) or max(0, sum(map(mul, masses, ones)) / Fraction(sum(masses)) - half)

def check_cells(told):  # where a set is not an l1 ball: no view has a cell of what it shares less often than another
    shown = [{*part["attributes"]} for part in told]
    tables = {frozenset(one & other) for one, other in itertools.combinations(shown, 2) if one & other}
    for both in map(sorted, tables):
        own = [part for part in told if {*both} <= {*part["attributes"]}]
        cells, limits = [], {}
        for of, names in ((part["attributes"], part["mechanism"]["inputs"]) for part in own):
            split = [label.split(JOINT) if len(of) > 1 else [label] for label in names]
            cells.append([tuple(labels[of.index(name)] for name in both) for labels in split])
        if all("radius" in part["mechanism"]["guarantee"] for part in own):
            continue
        for h, found in zip([mean_of(part["mechanism"]) for part in own], cells):
            for cell in {*itertools.chain(*cells)}:
                ones = [int(each == cell) for each in found]
                limits.setdefault(cell, []).append((h(ones), 1 - h([1 - each for each in ones])))
        need(all(max(low for low, _ in each) <= min(high for _, high in each) for each in limits.values()),
             f"no law has what all views say of {' and '.join(both)}", 1)

def check_bins(bins, alphabets):  # the labels of bins are among those of the views
    for name, given in bins.items():
        edges = [float(edge) + 0.0 for edge in items(given, int, Decimal)]
        need(1 <= len(edges) <= 9_999 and all(map(math.isfinite, edges)), "edges of bins are finite numbers")
        need(all(low < high for low, high in zip(edges, edges[1:])), "edges of bins increase")
        ends = [repr(edge).removesuffix(".0") for edge in edges]
        between = [f"{low} to under {high}" for low, high in zip(ends, ends[1:])]
        made = {f"under {ends[0]}", *between, f"{ends[-1]} or more"}
        need(made <= {*alphabets.get(name, ())}, "no view has the labels of the bins")

def prove_records(content):  # return words for what is proved, or raise an error
    a = fields(parsed(content), "schema epsilon weight_bits parts", "delta bins optimality secret")
    need(a["schema"] == "mechdesign/records/1", "the schema is unknown")
    bits, parts = a["weight_bits"], items(a["parts"], dict)
    need(type(bits) is int and 1 <= bits <= 52 and 1 <= len(parts) <= 1000, "wrong weight_bits, or number of views")
    views = [view(part) for part in parts]
    need(len({name for name, *_ in views}) == len(views), "two views have one name")
    need(len({tuple(sorted(of)) for _, of, *_ in views}) == len(views), "two views show the same attributes")
    need(sum(weight for _, _, weight, *_ in views) == 1 << bits, "the weights do not sum to 2^weight_bits")
    alphabets = {}
    for _, _, _, columns, *_ in views:
        for attribute, found in columns:
            alphabets.setdefault(attribute, {}).update(dict.fromkeys(found))
    secrets = [secret for *_, (*_, secret) in views if secret is not None]
    need(all(each == secrets[0] for each in secrets), "views promise about two secrets, or have other values of one")
    need(a["secret"] == (secrets[0][0] if secrets else None), "the secret is that of the views")
    need(not secrets or a["optimality"] is None, "the bound is for promises about the whole record")
    for name, of, *_, (_, _, merges, _) in views:
        rest = {each for other, shown, *_ in views if other != name for each in shown}
        need(not merges or not rest & {*of}, "a view that merges combinations shares an attribute with another")
    free = [of[0] for _, of, _, columns, *_ in views if not columns]
    need(all(name not in alphabets for name in free), "an attribute of windows is shown by another view")
    need(all(math.prod(len(alphabets[name]) for name in of if name not in free) <= 10**7 for _, of, *_ in views),
         "a view is too large")
    told = [part for part, (*_, columns, _, (every, *_)) in zip(parts, views) if columns and not every]
    told = [table for part in told for table in tables_of(part)]
    check_shared(told)
    check_cells(told)
    if a["bins"] is not None:
        need(isinstance(a["bins"], dict), "bins are a table")
        check_bins(a["bins"], alphabets)
    greatest = max(e for *_, e, _ in views)
    need(exp_promised(text(a["epsilon"])) >= greatest, "epsilon is below that of a view", 1)
    total = sum_of([found[:2] for *_, found in views])
    need(total is None or total < 1, "the deltas of the views sum to 1 or more")
    stated = None if a["delta"] is None else rational(text(a["delta"]))
    need(stated is None or 0 <= stated < 1, "delta is from 0 to 1")
    need((stated is None) == (total is None) and (total is None or stated >= total), "delta is that of the views", 1)
    caps = [part["mechanism"].get("guarantee", part["mechanism"]).get("cap") for part in parts]  # proved by view()
    cap = "" if None in caps else f"; cap = {max(caps, key=exp_promised)} for any two records"
    failure = "" if stated is None else f"; delta = {shown(a['delta'])}"
    whose = f"the attribute {a['secret']!r} alone, not about the rest of the" if secrets else "the whole"
    return (f"proved: epsilon = {a['epsilon']} about {whose} record, which reports one of {len(views)} views, "
            f"for every joint law whose views lie in their sets{cap}{failure}")

def answer(path):
    try:
        return " ".join(prove_records(Path(path).read_bytes()).split()), 0
    except ImportError as error:
        return f"this needs {error.name}.py, which is not beside this script", 3
    except (OSError, ValueError, TypeError, LookupError, ArithmeticError, RecursionError) as error:
        return f"this is not a file of records ({error})", 2
    except RuntimeError as stop:
        return stop.args

if __name__ == "__main__":
    message, status = answer(sys.argv[1]) if len(sys.argv) == 2 else (__doc__, 2)
    sys.exit(print(message) or status)
