"""Mechanisms whose reports estimate frequencies with the least error."""
