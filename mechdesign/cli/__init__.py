"""The command line: one file a command."""

from mechdesign.cli.main import main

__all__ = ["main"]


def __dir__() -> list[str]:
    return __all__
