"""The imports that go up, which the contract of the layers names with their reasons."""

import tomllib
from pathlib import Path

ROOT = Path(__file__).parents[2]


def upward_imports():
    """Return the pairs of modules (importer, imported) that the contract of the layers lets pass."""
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["importlinter"]["contracts"]
    layers = next(contract for contract in settings if contract["type"] == "layers")
    return {tuple(line.split(" -> ")) for line in layers.get("ignore_imports", [])}
