"""Files of views of whole records, as JSON: of every set, with deltas, bins and merged combinations; changed ones."""

import copy
import functools
from fractions import Fraction

import mechdesign as md
from mechdesign.records.record_views import MERGED

PAIRS = ["f & low", "f & high", "m & low", "m & high"]
REST = f"{MERGED} & {MERGED}"
CENTER, OTHER = ["0.4", "3/10", "0.2", "0.1"], ["0.45", "0.25", "0.1", "0.2"]  # seven of ten are women
LIMITS = {"lower": ["0.3", "0.2", "1/7", "0"], "upper": ["0.5", "0.5", "0.5", "0.3"], "center": CENTER}
LOW, HIGH = {"lower": ["0.6", "0.2"], "upper": ["0.8", "0.4"]}, {"lower": ["0.71", "0.1"], "upper": ["0.9", "0.29"]}
SEX, PAY = {"center": ["0.7", "0.3"], "radius": "1/10"}, {"center": ["1/4", "3/4"], "radius": "2"}
OF_PAIRS = (
    {"center": CENTER, "radius": "0.1"},
    {"counts": [40, 30, 20, 10], "radius": "0"},
    {"counts": [40, 30, 20, 10], "radius": "2"},
    {"priors": [CENTER, OTHER]},
    {"box": LIMITS},
    {"lower-limits": {"lower": LIMITS["lower"], "center": CENTER}},
    {"l1-box": {**LIMITS, "radius": "0.15"}},
    {"relative-ball": {"alpha": "9/10", "gamma": "0.01", "center": CENTER}},
    {"event-set": {"alphas": ["9/10", "1"], "gammas": ["0.01", "1/9"], "center": CENTER}},
    {"factors": [{"inputs": ["f", "m"], **SEX}, {"inputs": ["low", "high"], **PAY}], "separator": " & "},
    {"sets": [{"center": CENTER, "radius": "0.1"}, {"center": OTHER, "radius": "0"}]},
    {"sets": [{"center": CENTER, "radius": "0.1"}], "cover": {"center": OTHER, "radius": "1"}},
)
OF_SEXES = (
    *({"center": ["0.7", "0.3"], "radius": radius} for radius in ("0", "0.3")),
    *({"center": ["0.6", "0.4"], "radius": radius} for radius in ("0.1", "1/5", "0.3", "2")),
    {"counts": [7, 3], "radius": "1/100"},
    {"priors": [["0.7", "0.3"], ["0.5", "0.5"]]},
    {"box": {**LOW, "center": ["0.7", "0.3"]}},
    {"box": {**HIGH, "center": ["0.8", "0.2"]}},
    {"event-set": {"alphas": ["1"], "gammas": ["1/100"], "center": ["0.69", "0.31"]}},
    {"relative-ball": {"alpha": "1/2", "gamma": "0", "center": ["0.9", "0.1"]}},
    {"sets": [{"center": ["0.2", "0.8"], "radius": "1/10"}, {"center": ["0.7", "0.3"], "radius": "0"}]},
    {"box": {"lower": ["0", "0"], "upper": ["1", "1"], "center": ["0.7", "0.3"]}},
)


def learnt(counts, delta, apart=None, **evidence):
    """An l1 ball around counts: the least one, or the one of more categories."""
    return {"counts": list(counts), "samples": sum(counts), "delta": delta, "bound": "clopper-pearson", **evidence,
            "radius": _radius(tuple(counts), delta, apart or len(counts))}  # fmt: skip


@functools.cache
def _radius(counts, delta, apart):
    known = md.L1Ball.from_counts([*counts, *[0] * (apart - len(counts))], delta=delta, bound="clopper-pearson")
    return str(known.radius)


def view(attributes, labels, known, weight, epsilon="log(3)", **others):
    """A view whose mechanism tells one label of k with probability k/(2k - 1) or less, and each other one as often."""
    size = len(labels)
    bits = (4 * size).bit_length()
    rows = [[2] * size for _ in labels]
    for k, row in enumerate(rows):
        row[k] += 2**bits - sum(row)
    sides = others.pop("sides", {})
    mechanism = {"schema": f"mechdesign/mechanism/{1 + len(sides)}", "inputs": labels, "outputs": list(labels),
                 "bits": bits, "numerators": rows, "guarantee": {"epsilon": epsilon, **sides, **known}}  # fmt: skip
    return {"name": "+".join(attributes), "attributes": attributes, "weight": weight, "mechanism": mechanism, **others}


def file_of(parts, epsilon="log(20)", **others):
    bits = sum(part["weight"] for part in parts).bit_length()
    parts[0]["weight"] += 2**bits - sum(part["weight"] for part in parts)
    return {"schema": "mechdesign/records/1", "epsilon": epsilon, "weight_bits": bits, "parts": parts, **others}


def some_file(rng):
    """Return a file of some views, which is right in form; its promise may be false."""
    epsilon = rng.choice(["log(20)", "log(20)", "2.995732273553991", "log(5)", "log(4)", "1.6"])
    delta = "1e-3"
    parts = [
        view(["sex", "pay"], PAIRS, rng.choice(OF_PAIRS), 1, epsilon),
        view(["sex"], rng.choice([["f", "m"], ["m", "f"]]), rng.choice(OF_SEXES), 2, epsilon),
        view(["age"], ["under 18", "18 to under 65.5", "65.5 or more"], learnt((60, 100, 40), delta), 1, epsilon),
        view(["a", "b"], ["x & u", "y & v", "y & u", REST], learnt((50, 40, 20, 0), delta, 4), 3, epsilon, merged=REST),
        view(["drinks"], ["no", "yes"], {"counts": [500, 500], "radius": "2"}, 1, epsilon),
        view(
            ["c", "d"],
            [f"{c} & {d}" for c in "cd" for d in ("u", "v")],
            {"counts": [9, 8, 7, 6], "radius": "1/3"},
            1,
            epsilon,
        ),
    ]
    chosen = rng.sample(parts, rng.randint(1, 5))
    deltas = sum("delta" in part["mechanism"]["guarantee"] for part in chosen)
    sure = {"drinks"} | {part["name"] for part in chosen if part["mechanism"]["guarantee"].get("radius") == "2"}
    told = deltas and deltas == sum(part["name"] not in sure for part in chosen)
    others = {"delta": str(deltas * Fraction(delta))} if told else {}
    if "age" in [part["name"] for part in chosen] and rng.random() < 0.7:
        others["bins"] = {"age": [18, 65.5]}
    rng.shuffle(chosen)
    return copy.deepcopy(file_of(chosen, rng.choice(["log(20)", epsilon]), **others))


def changed(rng, table):
    """Return a file of records that promises, weighs, names, shows or merges a little more or less, or otherwise."""
    table = copy.deepcopy(table)
    part, other = rng.choice(table["parts"]), rng.choice(table["parts"])
    mechanism = part["mechanism"]
    kind = rng.randrange(16)
    if kind == 0:
        step = rng.choice([-1, 1])
        part["weight"], other["weight"] = part["weight"] + step, other["weight"] - step * rng.choice([0, 1, 1])
    elif kind == 1:
        table["epsilon"] = rng.choice([mechanism["guarantee"]["epsilon"], "log(19)", "log(21)", "3", "log(5/2)"])
    elif kind == 2:
        stated = table.get("delta")
        table["delta"] = rng.choice(
            [None, "0", "1", "1e-3", "2e-3", "3e-3", "0.001999", f"{stated}", "1/500", "-1", 0.5]
        )
    elif kind == 3:
        part["attributes"] = rng.choice(
            [other["attributes"], part["attributes"][::-1], ["sex"], ["z"], ["b", "sex"], []]
        )
    elif kind == 4:
        labels = mechanism["inputs"]
        labels[rng.randrange(len(labels))] = rng.choice(
            ["f & & low", "f & low & x", "f&low", "& & low", "f & low &", "x & v", "z & z", " & ", "f", "y & w"]
        )  # fmt: skip
    elif kind == 5:
        part["merged"] = rng.choice([None, *mechanism["inputs"], "w & w", 3, ""])
    elif kind == 6:
        table["parts"].remove(part)
    elif kind == 7:
        table["parts"].append(copy.deepcopy(part))
    elif kind == 8:
        edges = rng.choice(
            [[18, 65.5], [18.0, 65.5], [18, 66], [65.5, 18], [1e16, 2e16], [-0.0, 65.5], [], [18, 65.5, 65.5]]
        )
        table["bins"] = {rng.choice(["age", "age", "sex"]): edges}
    elif kind == 9:
        table["weight_bits"] += rng.choice([-1, 1])
    elif kind == 10:
        counts = mechanism["guarantee"].get("counts", [0])
        counts[rng.randrange(len(counts))] += rng.choice([-1, 1, 5, 100])
    elif kind == 11:
        mechanism["guarantee"] = {"epsilon": "log(20)", **rng.choice([*OF_PAIRS, *OF_SEXES])}
    elif kind == 12:
        row = rng.choice(mechanism["numerators"])
        one, two = rng.randrange(len(row)), rng.randrange(len(row))
        row[one], row[two] = row[one] - 1, row[two] + 1
    elif kind == 13 and "radius" in mechanism["guarantee"]:
        radius = Fraction(mechanism["guarantee"]["radius"]) + rng.choice([-1, 1]) * Fraction(
            1, 10 ** rng.randrange(1, 16)
        )
        mechanism["guarantee"]["radius"] = str(radius)
    elif kind == 14:
        side = rng.choice(["cap", "lower", "maximal_leakage"])
        mechanism["guarantee"][side] = rng.choice(["log(2)", "log(5)", "log(20)", "log(100)"])
        mechanism["schema"] = "mechdesign/mechanism/2"
    else:
        part["name"] = rng.choice([other["name"], "", " a", "another", 7, "x" * 1001])
    return table
