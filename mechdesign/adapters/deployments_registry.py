"""An entry for the public registry of deployments of differential privacy (OpenDP), from a mechanism file.

The names are those of the registry's schema of July 2026. What the file cannot know is a text that begins with
`ASKED`; choices from a list that a person has to make are left out, and named in the notes. PML for a set of priors is
the variant "Custom", whose epsilon is not one of differential privacy; the details say so. A promise to everyone (all
priors, or a cap) is "Pure DP" at that level.
"""

from __future__ import annotations

import json
import re
from typing import Any

from mechdesign.display.numbers import up
from mechdesign.histogram.record import float_of_delta
from mechdesign.mechanism import Mechanism
from mechdesign.mechanism.words import certain_in_words, delta_in_words, not_protected, promise
from mechdesign.numerics.exact import float_up
from mechdesign.optimize import Verification, verify
from mechdesign.report.rendering import Origin, plain
from mechdesign.report.worth import claim_of
from mechdesign.version import __version__

ASKED = "TO FILL IN: "
"""How a text begins that a person has to replace."""
_CHOICES = {
    "deployment.basic.publication_date": "a date; 1900-01-01 stands for none",
    "deployment.basic.data_product_sector": "Technology, Healthcare, Education, Government, Energy or Finance",
    "deployment.deployment_model.model_name": "Local where reports are drawn on people's devices; Central where a "
    "curator draws them",
    "deployment.deployment_model.release_type": "One release or Many releases",
    "deployment.deployment_model.data_source_type": "Static or Dynamic",
}
_SHOWN = 50  # categories that are listed
_LONGEST_SLUG = 60


def registry_entry(
    mechanism: Mechanism, origin: Origin, *, title: str = "", found: Verification | None = None
) -> dict[str, Any]:
    """Return an entry for the registry, as JSON that is YAML too.

    Parameters
    ----------
    mechanism : Mechanism
    origin : Origin
        The file that it was read from.
    title : str
        The name of the data product; without it a person is asked for one.
    found : Verification, optional
        Of the claim of optimality; without it the entry says nothing of optimality.

    Examples
    --------
    >>> import mechdesign as md
    >>> everything = md.Guarantee("log(3)", md.L1Ball([0.5, 0.5], radius=2, labels=["no", "yes"]))
    >>> warner = md.Mechanism.from_matrix([[0.75, 0.25], [0.25, 0.75]], everything, outputs=["no", "yes"])
    >>> entry = registry_entry(warner, Origin.of(b"{}"))
    >>> entry["deployment"]["dp_variant"]["variant_name"], entry["deployment"]["basic"]["name"]
    ('Pure DP', 'TO FILL IN: the name of the data product')
    """
    slug = re.sub(r"[^a-z0-9]+", "-", title.lower())[:_LONGEST_SLUG].strip("-")
    deployment = {
        "basic": _basic(mechanism, plain(title)),
        "dp_variant": _variant(mechanism),
        "privacy_loss": _loss(mechanism),
        "deployment_model": _model(),
        "accounting": _accounting(mechanism),
        "implementation": _implementation(mechanism, origin, found),
        "administrative": {
            "sources": f"{ASKED}where the deployment is described, and where the mechanism file is published",
            "registry_authors": [f"{ASKED}who made this entry"],
        },
    }
    entry = {"url_slug": slug or "to-fill-in", "status": "Draft", "tier": 3, "deployment": deployment}
    asked = [*asked_of(entry), *(f"{path} ({choice})" for path, choice in _CHOICES.items())]
    deployment["administrative"]["notes"] = (
        f"Drafted from a mechanism file by mechdesign {__version__}. A person has to fill in: {'; '.join(asked)}."
    )
    return entry


def drafted_entry(mechanism: Mechanism, origin: Origin, title: str, *, check_optimality: bool) -> str:
    """Return the entry as text, with the claim of optimality checked again or left out."""
    found = verify(mechanism) if check_optimality else None
    return json.dumps(registry_entry(mechanism, origin, title=title, found=found), indent=2) + "\n"


def asked_of(entry: Any, path: str = "") -> list[str]:
    """Return the paths of the texts that a person has to replace.

    Examples
    --------
    >>> asked_of({"a": {"b": "TO FILL IN: c"}, "d": ["TO FILL IN: e", "f. TO FILL IN: g"]})
    ['a.b', 'd.0', 'd.1']
    """
    if isinstance(entry, str):
        return [path] if ASKED in entry else []
    inner = entry.items() if isinstance(entry, dict) else enumerate(entry) if isinstance(entry, list) else ()
    return [found for key, value in inner for found in asked_of(value, f"{path}.{key}" if path else str(key))]


def local_epsilon(mechanism: Mechanism) -> float | None:
    """Return the epsilon of local differential privacy that the guarantee promises everyone; None where it has none.

    A promise about a secret is about that attribute alone, so that it is none without a cap.
    """
    guarantee = mechanism.guarantee
    if guarantee.cap is not None:
        return float(guarantee.cap)
    known = guarantee.uncertainty
    return float(guarantee.epsilon) if known.protected.names is None and known.holds_every_prior else None


def _basic(mechanism: Mechanism, name: str) -> dict[str, Any]:
    table = mechanism.table is not None
    made = "a column that is published with the same categories" if table else "shares that are estimated from reports"
    made_for = mechanism.provenance.problem if mechanism.provenance is not None else ""
    known_as = f" (the mechanism was designed for {plain(made_for)})" if made_for else ""
    return {
        "name": name or f"{ASKED}the name of the data product{known_as}",
        "data_curators": [f"{ASKED}who publishes the data product"],
        "description": f"{made[0].upper()}{made[1:]}. {ASKED}what the data are about",
        "intended_use": f"{ASKED}what the data product is for",
        "data_product_type": "Dataset" if table else "Summary statistics",
        "data_product_region": f"{ASKED}the region that the data describe, and whose laws apply",
        "publication_date": "1900-01-01",
    }


def _variant(mechanism: Mechanism) -> dict[str, str]:
    labels = mechanism.inputs
    listed = ", ".join(plain(label, 60) for label in labels[:_SHOWN])
    more = f" and {len(labels) - _SHOWN:,} more" if len(labels) > _SHOWN else ""
    besides = not_protected(mechanism.guarantee)
    return {
        "variant_name": "Custom" if local_epsilon(mechanism) is None else "Pure DP",
        "data_domain": f"A record has one of {len(labels):,} categories: {listed}{more}.",
        "unprotected_quantities": "The number of reports. The set of priors in the mechanism file, with the counts "
        f"that it was made from where it has any.{f' {besides}.' if besides else ''} {ASKED}columns, times and groups "
        "that are published beside the reports",
    }


def _loss(mechanism: Mechanism) -> dict[str, Any]:
    guarantee, local = mechanism.guarantee, local_epsilon(mechanism)
    known = guarantee.uncertainty
    parameters: dict[str, float] = {"epsilon": float(guarantee.epsilon) if local is None else local}
    details = [f"The promise: {promise(guarantee)}."]
    if local is None:
        details.append(
            "This epsilon bounds pointwise maximal leakage (PML): however an adversary guesses who knows the "
            "distribution, a report makes a right guess at most exp(epsilon) times as likely. This is weaker than "
            "differential privacy with the same epsilon, and the two numbers are not comparable."
        )
    if known.delta is not None:
        delta = float_of_delta(known.delta)
        details.append(
            f"For the set of priors delta is {delta:g}, which is not that of approximate DP: {delta_in_words(known)}."
        )
        if local is None:
            parameters["delta"] = delta
    details.append(_level(mechanism))
    certain = certain_in_words(mechanism)
    if certain is not None:
        details.append(f"{certain}.")
    unit = "Adjacent are any two categories of one record."
    if local is None:
        unit = "There are no adjacent datasets: PML compares a guess after the report with the same guess before it."
    return {
        "privacy_unit": "One report about one record",
        "privacy_unit_details": f"A report depends on one record alone. {unit} {ASKED}how many records a person "
        "may have",
        "privacy_parameters": parameters,
        "privacy_parameters_details": " ".join(details),
    }


def _level(mechanism: Mechanism) -> str:
    if mechanism.level is None:
        return "The mechanism keeps no level of local differential privacy: some reports rule a category out."
    return (
        "The integers of the mechanism keep local differential privacy with epsilon = "
        f"{up(float_up(mechanism.level), 6)}, whatever the distribution is."
    )


def _model() -> dict[str, str]:
    return {
        "model_name_details": f"Each record is replaced by a random report. {ASKED}by whom, and where",
        "actors": f"{ASKED}who sees records, who sees reports, and what is assumed of them",
        "release_type_details": f"{ASKED}how often people report, and whether a report is repeated from a key",
        "access_type": "Non-interactive",
    }


def _accounting(mechanism: Mechanism) -> dict[str, str]:
    table = mechanism.table is not None
    after = "None by this mechanism." if table else "Shares are estimated from reports alone, which costs no privacy."
    return {
        "post_processing": f"{after} {ASKED}what else is done with the reports",
        "composition": "None: the promise is for one report about one record. Further fresh reports about it leak "
        f"more, and epsilons of PML do not add up in general. {ASKED}how further reports are prevented or counted",
    }


def _implementation(mechanism: Mechanism, origin: Origin, found: Verification | None) -> dict[str, str]:
    rows, columns = mechanism.numerators.shape
    made, claim = mechanism.provenance, claim_of(mechanism, found)
    worth = ""
    if claim is not None:
        better = "the least" if claim.minimised else "the greatest"
        worth = f"The objective is {claim.words}"
        if claim.value is not None and claim.recomputed is not None:
            proved = "; optimal within one part in a million" if claim.optimal else ""
            worth += f": {claim.value:.6g}, with a bound of {claim.recomputed:.6g} on {better} possible one{proved}"
        worth += ". "
    by = f", designed by mechdesign {plain(made.version)} ({plain(made.method)})" if made is not None else ""
    return {
        "preprocessing_and_hyperparameter_tuning": f"{ASKED}where the sample behind the set of priors comes from, how "
        "it was protected, and how epsilon was tuned",
        "mechanisms": f"A matrix of {rows:,} categories by {columns:,} reports{by}. Its probabilities are integers "
        f"over 2^{mechanism.bits}, of which the promise is proved in exact arithmetic; mechdesign draws reports "
        "exactly from them, with secure randomness of the operating system. Nothing is claimed about the time of a "
        f"draw. SHA-256 of the file: {origin.digest}; fingerprint: {mechanism.fingerprint}. {ASKED}which program draws "
        "them, and who may read records",
        "justification": f"{worth}{ASKED}how the parameters were chosen, and by whom",
    }
