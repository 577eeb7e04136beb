"""The command line: one file a command."""

from mechdesign.cli.entry_point import main

__all__ = ["main"]


def __dir__() -> list[str]:
    return __all__
