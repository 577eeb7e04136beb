"""Registrations that end with a test."""

from contextlib import contextmanager
from unittest.mock import patch

from mechdesign.uncertainty import registry as sets
from mechdesign.utility import registry as utilities


@contextmanager
def separate_registries():
    """What is registered within is forgotten at the end."""
    with patch.dict(sets._registered), patch.dict(utilities._registered):
        yield
