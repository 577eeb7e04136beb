"""JSON Schemas (draft 2020-12) of the files that are read and written, and of what commands print with ``--json``."""

from mechdesign.schemas.documents import Described, described, document

__all__ = ["Described", "described", "document"]


def __dir__() -> list[str]:
    return __all__
