"""The greatest of the probabilities that verify.py needs for a radius by Clopper and Pearson, with many samples.

Let F(k) = P[Bin(n, k/n - t) >= k], t being half the radius. If t >= 2/n, then F rises, and then falls, in k > n t: the
proof is in docs/mathematics.md, "Samples and radii". So F is greatest where this turns, and no other k is looked at.
"""

from fractions import Fraction


# fmt: off
def sums(n, k, a, b, weight):
    """Bound the sum of the weights of k, k + 1, .., n, that of k being given: the next is (n - j) a / ((j + 1) b) times
    that of j. It is rounded down for one bound, and up for the other, which ends in a geometric series."""
    low, high, less, more = 0, 0, weight, weight
    for j in range(k, n + 1):
        low, high, last, up, down = low + less, high + more, more, (n - j) * a, (j + 1) * b
        less, more = less * up // down, -(-more * up // down)
        if up < down and more == last:
            return low, high + more * up // (down - up) + 1
    return low, high

def tail(n, k, t):  # F(k) is between these two
    q, one = Fraction(k, n) - t, 1 << 256
    a, b = q.numerator, q.denominator - q.numerator
    (low, high), (less, more) = sums(n, k, a, b, one), sums(n, n - k, b, a, one)  # both have k
    return Fraction(low, low + more - one), Fraction(high, high + less - one)

def are_all_rare(n, t, level):
    """Is F(k) <= level for all k? None if that was not decided."""
    if n > 10**10:
        return None
    if n * t < 2:  # the proof is not for this t, and one k with a greater probability is enough to say no
        return False if n > 5 and tail(n, n // 2, t)[0] > level else None
    low, high = int(n * t) + 1, n  # the greatest is between them, and near this, as an expansion says:
    near = [int(Fraction(n, 2) + 2 * n * t / 3 + 1 / (12 * t)) + step for step in (-2, 2, -50, 50, -2500, 2500)]
    while low < high:
        k = next((k for k in near if low <= k < high), (low + high) // 2)
        here, after = tail(n, k, t), tail(n, k + 1, t)
        if here[1] > after[0] and here[0] < after[1]:
            return None
        low, high = (k + 1, high) if here[1] <= after[0] else (low, k)
    return tail(n, low, t)[1] <= level
