"""Designs of least estimation error: interior points over rays, and certified lower bounds."""
