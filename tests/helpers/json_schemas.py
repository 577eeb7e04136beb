"""Values held against the JSON Schemas of the package, and outputs against their models too."""

import functools

from jsonschema import Draft202012Validator

from mechdesign.schemas import described, document

MODELS = {carried: entry.models for entry in described() if entry.is_open for carried in entry.carries}


@functools.cache
def validator(name):
    return Draft202012Validator(document(name))


def accepts(name, value):
    """Return whether a schema accepts a value."""
    return validator(name).is_valid(value)


def check_output(value):
    """Fail unless what a command printed fits its schema, and has no key that the schema does not name."""
    validator(value["schema"]).validate(value)
    own = dict(value)
    schema = own.pop("schema")
    closed = [model for model in MODELS[schema] if set(own) <= keys(model)]
    assert len(closed) == 1, f"{schema} has keys that its schema does not name"
    closed[0].model_validate(own)
    return schema


def keys(model):
    return {field.alias or name for name, field in model.model_fields.items()}
