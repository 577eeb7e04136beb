"""Designs that a folder keeps: what they are found by, and the proof of what is found."""
