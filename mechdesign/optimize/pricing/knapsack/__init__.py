"""Exact pricing of f-informations over l1 balls whose prior is not a vector of counts of a moderate total.

The reduced cost of an extreme ray depends on its sets through their masses and their multipliers, and falls when the
multipliers rise. If sets may hold a symbol in part, the least lambda(S) for a mass is the fractional knapsack: convex,
piecewise linear, with symbols taken in the order of ``lambda_i / P_i``. It bounds the reduced costs closely. The loss
of a set against that bound is a sum over symbols: ``|lambda_i - slope P_i|`` for each symbol that is in the set
although the slope leaves it out, or is left out although the slope takes it. So the sets whose columns are above a
level have a mass in a known window and a small total loss. They are enumerated by halves (Horowitz and Sahni, Journal
of the ACM 1974): the choices of small loss of either half of the symbols, sorted by mass. The level is lowered until a
column reaches it, or until too many sets are left above the next level; then the level is the bound.

Reduced costs are multiplied by the mass ``Q`` of columns that are scaled so that lambda(S) has a constant factor.
Then their other terms are convex functions of the mass of S, times masses, and chords bound them to second order.

A kind of rays is a class. It returns bounds and the columns it found (`kind.Batch`); the search keeps them.
"""

from mechdesign.optimize.pricing.knapsack.knapsack_search import KnapsackPricing

__all__ = ["KnapsackPricing"]
