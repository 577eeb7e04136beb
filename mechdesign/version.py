"""The version of the software, for all layers."""

__version__ = "0.1.0"
