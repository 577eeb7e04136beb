"""The command line: one file a command."""

from mechdesign.cli.main import main

__all__ = ["main"]
