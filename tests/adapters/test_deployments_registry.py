"""Drafts for the public registry of deployments: its fields, and honest words about what PML is."""

import json

import jsonschema

import mechdesign as md
from mechdesign.adapters.deployments_registry import ASKED, asked_of, registry_entry
from mechdesign.report import Origin

TEXT, NUMBER = {"type": "string", "minLength": 1}, {"type": "number"}


def choice(*values):
    return {"enum": list(values)}


def keys(required, **properties):
    return {"type": "object", "additionalProperties": False, "required": required.split(), "properties": properties}


def texts(names):
    return {"type": "array", "items": names, "minItems": 1}


# The fields and the choices that the registry accepted in July 2026, in our own words.
SCHEMA = keys(
    "url_slug status tier deployment",
    url_slug={"type": "string", "pattern": "^[a-z0-9-]+$"},
    status=choice("Draft"),
    tier=choice(1, 2, 3),
    deployment=keys(
        "basic",
        basic=keys(
            "name data_curators description intended_use data_product_type data_product_region publication_date",
            **dict.fromkeys(("name", "description", "intended_use", "data_product_region"), TEXT),
            data_curators=texts(TEXT),
            data_product_type=choice("Summary statistics", "Dataset", "Synthetic data", "Machine learning model"),
            publication_date={"type": "string", "format": "date"},
        ),
        dp_variant=keys(
            "",
            variant_name=choice("Pure DP", "Approximate DP", "Zero-concentrated DP", "Renyi DP", "Custom"),
            data_domain=TEXT,
            unprotected_quantities=TEXT,
        ),
        privacy_loss=keys(
            "",
            **dict.fromkeys(("privacy_unit", "privacy_unit_details", "privacy_parameters_details"), TEXT),
            privacy_parameters=keys("epsilon", epsilon=NUMBER, delta=NUMBER),
        ),
        deployment_model=keys(
            "",
            **dict.fromkeys(("model_name_details", "actors", "release_type_details"), TEXT),
            access_type=choice("Interactive", "Non-interactive"),
        ),
        accounting=keys("", post_processing=TEXT, composition=TEXT),
        implementation=keys("", preprocessing_and_hyperparameter_tuning=TEXT, mechanisms=TEXT, justification=TEXT),
        administrative=keys("registry_authors", sources=TEXT, notes=TEXT, registry_authors=texts(TEXT)),
    ),
)
COUNTS = {"walk": 420, "bus": 310, "car": 180, "bicycle": 90}


def drafted(mechanism, **options):
    entry = registry_entry(mechanism, Origin.of(b"{}"), **options)
    jsonschema.Draft7Validator(SCHEMA, format_checker=jsonschema.Draft7Validator.FORMAT_CHECKER).validate(entry)
    assert json.loads(json.dumps(entry)) == entry
    return entry["deployment"]


def designed(epsilon, cap=None, **ball):
    problem = md.DesignProblem(md.L1Ball.from_counts(COUNTS, **ball), epsilon, md.EstimationError(), cap=cap)
    return md.design(problem).mechanism


def test_pml_is_a_custom_variant_and_says_that_its_epsilon_is_none_of_differential_privacy():
    mechanism = designed(1, delta="1e-9")
    entry = drafted(mechanism, title="How people commute", found=md.verify(mechanism))
    assert entry["dp_variant"]["variant_name"] == "Custom"
    assert entry["privacy_loss"]["privacy_parameters"] == {"epsilon": 1.0, "delta": 1e-9}
    details = entry["privacy_loss"]["privacy_parameters_details"]
    for words in (
        "weaker than differential privacy",
        "not comparable",
        "not that of approximate DP",
        "no level of local",
    ):
        assert words in details
    assert "optimal within one part in a million" in entry["implementation"]["justification"]
    assert mechanism.fingerprint in entry["implementation"]["mechanisms"]
    assert entry["basic"]["name"] == "How people commute"


def test_a_promise_to_everyone_is_pure_dp_at_its_own_level():
    everyone = drafted(designed(1, radius=2))
    assert everyone["dp_variant"]["variant_name"] == "Pure DP"
    assert everyone["privacy_loss"]["privacy_parameters"] == {"epsilon": 1.0}
    capped = drafted(designed(1, cap=2, delta="1e-9"))
    assert capped["dp_variant"]["variant_name"] == "Pure DP"
    assert capped["privacy_loss"]["privacy_parameters"] == {"epsilon": 2.0}
    assert "delta is 1e-09" in capped["privacy_loss"]["privacy_parameters_details"]


def test_the_level_of_everyone_is_the_greatest_ratio_of_the_integers():
    mechanism = designed(1, cap=2, delta="1e-9")
    numerators = mechanism.numerators.astype(object)
    ratio = max(max(column) / min(column) for column in numerators.T.tolist())
    assert 7.38 < ratio <= 7.3891
    assert "local differential privacy with epsilon = 2, whatever" in str(drafted(mechanism))


def test_a_promise_about_a_secret_is_no_differential_privacy_of_the_record():
    secret = md.SecretPromise([[20, 10, 5, 5], [10, 15, 20, 15]], secret="sex", useful="occupation", known=True)
    mechanism = md.design(md.DesignProblem(secret, 1)).mechanism
    assert "sex" in drafted(mechanism)["privacy_loss"]["privacy_parameters_details"]
    assert drafted(mechanism)["dp_variant"]["variant_name"] == "Custom"


def test_every_open_text_is_named_in_the_notes():
    entry = drafted(designed(1, delta="1e-9"))
    paths = asked_of({"deployment": entry})
    assert len(paths) == json.dumps(entry).count(ASKED) == 17
    notes = entry["administrative"]["notes"]
    assert [path for path in paths if path not in notes] == []
    for left_out in ("publication_date", "model_name", "release_type", "data_source_type", "data_product_sector"):
        assert left_out in notes


def test_a_table_is_a_data_set():
    table = md.design_table(COUNTS, 1.5, delta="1e-9").mechanism
    assert drafted(table)["basic"]["data_product_type"] == "Dataset"
