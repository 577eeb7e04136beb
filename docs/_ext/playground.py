"""Designs on a grid for the playground, made by this package when the site is built: no program designs in the page."""

import itertools
import json
from pathlib import Path

import mechdesign as md
from mechdesign.comparison import equal_local_epsilon
from mechdesign.mechanism.mechanism_files import to_json

EXAMPLES = {
    "smoking: 3 categories, 1,000 answers": {"never": 812, "former": 150, "current": 38},
    "commute: 4 categories, 1,000 answers": {"walk": 420, "bus": 310, "car": 180, "bicycle": 90},
    "relationship in Adult: 6 categories, 48,842 records": {
        "Husband": 19716,
        "Not-in-family": 12583,
        "Own-child": 7581,
        "Unmarried": 5125,
        "Wife": 2331,
        "Other-relative": 1506,
    },
}
EPSILONS = ("0.5", "1", "1.5", "2")
DELTAS = ("1e-9", "1e-3")
UTILITIES = {
    "least error of shares": md.EstimationError(),
    "most information": md.MutualInformation(),
}
STANDARD_ERROR = "0.01"
FILE = "playground-data.js"


def made(counts, epsilon, delta, utility):
    """Return what the page shows of one design, with its file as `Mechanism.save` writes it."""
    solved = md.design(md.DesignProblem(md.L1Ball.from_counts(counts, delta=delta), epsilon, utility))
    mechanism, comparison = solved.mechanism, md.compare(solved)
    plan = md.plan_reports(solved, standard_error=STANDARD_ERROR)
    return {
        "categories": mechanism.inputs,
        "outputs": mechanism.outputs,
        "shares": mechanism.guarantee.uncertainty.prior.tolist(),
        "matrix": mechanism.matrix.tolist(),
        "leakage": mechanism.leakage,
        "certified": solved.certified,
        "value": solved.value,
        "unit": solved.unit,
        "values": [[row.name, row.value] for row in comparison.rivals.values()],
        "respondents": [[row.name, plan.needed(row.largest)] for row in plan.mechanisms],
        "equal": equal_local_epsilon(solved) if comparison.of_errors else None,
        "file": to_json(mechanism.parts).decode(),
    }


def grid(examples=EXAMPLES, epsilons=EPSILONS, deltas=DELTAS, utilities=UTILITIES):
    """Return all designs by what a reader chooses, and the choices."""
    designs = {
        "|".join(chosen): made(examples[chosen[0]], chosen[1], chosen[2], utilities[chosen[3]])
        for chosen in itertools.product(examples, epsilons, deltas, utilities)
    }
    choices = {"counts": list(examples), "epsilon": list(epsilons), "delta": list(deltas), "objective": list(utilities)}
    return {"choices": choices, "designs": designs}


def script(found):
    """Return designs as a script, which a page may load from a file too."""
    return f"window.MECHDESIGN_PLAYGROUND = {json.dumps(found).replace('</', '<' + chr(92) + '/')};\n"


def write(app, error):
    """Write the designs beside the pages that were built."""
    if error is None and app.builder.name == "html":
        (Path(app.outdir) / "_static" / FILE).write_text(script(grid()), encoding="utf-8")


def setup(app):
    """Register with Sphinx."""
    app.connect("build-finished", write)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
