"""The tolerances of the tests, each with its name."""

ALGEBRA = 1e-12  # two ways to compute the same number in floats
SOLVER = 1e-7  # a number that a solver returned, beside one that it did not
CERTIFIED = 1e-8  # two certified optima of the same problem
