"""The proof that the high privacy form around an l1 ball is optimal, step by step in exact arithmetic."""

import math
from dataclasses import dataclass
from fractions import Fraction

import pytest
from exact_rays import greatest_reduced_cost, rays_of_ball
from flint import Ordering, arb, fmpz_mpoly, fmpz_mpoly_ctx
from hypothesis import assume, example, given
from hypothesis import strategies as st

import mechdesign as md
from mechdesign.numerics.exact import arb_of, working_precision
from mechdesign.optimize.closed_form import high_privacy_ball
from mechdesign.optimize.closed_form.form import exact_cone
from mechdesign.optimize.column_generation import ColumnGeneration
from mechdesign.optimize.pricing import pricing_for

THIRD = Fraction(1, 3)


@dataclass(frozen=True)
class Quotient:
    """A quotient of polynomials, not reduced, so that denominators stay products of positive factors."""

    over: fmpz_mpoly
    under: fmpz_mpoly

    def __add__(self, other):
        return Quotient(self.over * other.under + other.over * self.under, self.under * other.under)

    def __sub__(self, other):
        return Quotient(self.over * other.under - other.over * self.under, self.under * other.under)

    def __mul__(self, other):
        return Quotient(self.over * other.over, self.under * other.under)

    def __truediv__(self, other):
        return Quotient(self.over * other.under, self.under * other.over)


def sides(p, x, a, one):
    """Return the left sides of the two last inequalities and their right side, of Fractions or of quotients."""
    two = one + one
    six = two + two + two
    y = (p + x) / ((one - p) * (a + x))
    K = one / two + y * (one - two * a) / six + y * y * (one - (two + one) * a * (one - a)) / (six + six)
    middle = two * (one + x) * a * a / ((a + x) * (two * a + x))
    alone = a * (one - a) / (a + x)
    return K * middle, K * alone, x * p * (one - p) * (two - p) / (two * (p + x) * (p + x))


def test_the_last_inequalities_are_polynomials_without_a_negative_coefficient():
    P, M, R, U, V = fmpz_mpoly_ctx.get(("P", "M", "R", "U", "V"), Ordering.lex).gens()
    whole = 3 * P + 2 * M + R
    left_of_it = P + 2 * M + R  # 1 - 2 p, times the whole
    one = Quotient(whole**0, whole**0)
    p, a, x = Quotient(P, whole), Quotient(P + M, whole), Quotient(V * P, (U + V) * left_of_it)
    assert one.over * whole - p.over * 2 == left_of_it
    *lefts, right = sides(p, x, a, one)
    for left in lefts:
        difference = left.over * right.under - right.over * left.under
        for positive in (left.under, right.under, difference):
            assert len(positive) > 0
            assert min(positive.coeffs()) > 0


def test_with_one_term_less_of_the_series_the_first_inequality_is_false():
    """So coefficients are not nonnegative whatever is written: 1/2 + y (1 - 2 a) / 6 is too little for K."""
    p = Fraction(1, 1000)
    first, _, right = sides(p, p, p, Fraction(1))
    assert first > right
    K = Fraction(1, 2) + (1 - 2 * p) / (1 - p) / 6
    whole = Fraction(1, 2) + (1 - 2 * p) / (1 - p) / 6 + (1 - 3 * p * (1 - p)) / (1 - p) ** 2 / 12
    assert first / whole * K < right


unit = st.fractions(0, 1)


def g(q, x):
    return q * (1 - q) / (q + x)


def mean_kernel(q, x, d):
    """Return K(q) of mutual information as a ball: the utility of the column of a set, over ``d^2 g(q) / (q + x)``."""
    low, high = 1 - d * (1 - q) / (q + x), 1 + d * q / (q + x)
    utility = arb(0) if low == 0 else arb_of(q * low) * arb_of(low).log()
    utility += arb_of((1 - q) * high) * arb_of(high).log()
    return utility / arb_of(d**2 * g(q, x) / (q + x))


@st.composite
def three_numbers(draw):
    """Draw p, x and a of the last step, its borders among them."""
    p = draw(st.one_of(st.fractions(Fraction(1, 1000), THIRD), st.just(THIRD)))
    return p, draw(unit) * p / (1 - 2 * p), p + draw(unit) ** 3 * (1 - 3 * p) / 2


@given(three_numbers(), unit)
def test_the_greatest_epsilon_is_the_worst_and_the_series_is_below_it(numbers, share):
    p, x, a = numbers
    assume(x > 0)
    assume(share > Fraction(1, 1000))
    most = (p + x) / (1 - p)
    with working_precision():
        worst = mean_kernel(a, x, most) / mean_kernel(p, x, most)
        assert not mean_kernel(a, x, share * most) / mean_kernel(p, x, share * most) < worst
        middle, alone, right = (arb_of(side) for side in sides(p, x, a, Fraction(1)))
        K, at_p = mean_kernel(a, x, most), mean_kernel(p, x, most)
        wanted = arb_of(x * g(p, x) / (p + x)) * at_p
        assert not wanted > right
        assert not K * arb_of(g(a, x)) < alone
        assert not K * arb_of(2 * g(a, x) - g(2 * a, x)) < middle
        assert not arb_of(min(g(a, x), 2 * g(a, x) - g(2 * a, x))) * K < wanted


def information(u):
    """Return ``u log u`` of a ball."""
    return arb(0) if u == 0 else u * u.log()


FUNCTIONS = {md.MutualInformation: information, md.ChiSquare: lambda u: (u - 1) ** 2}


def worth_of_mass(q, x, d, f):
    """Return H of the proof for a set of mass q as a ball."""
    low, high = 1 - d * (1 - q) / (q + x), 1 + d * q / (q + x)
    return arb_of(q + x) * (arb_of(q) * f(arb_of(low)) + arb_of(1 - q) * f(arb_of(high)))


def dual_of_the_proof(P, t, e, f):
    """Return C and lambda as balls."""
    x, d = e * t, e - 1
    H = [worth_of_mass(p, x, d, f) for p in P]
    C = sum(H, arb(0)) / arb_of(1 + len(P) * x)
    return C, [(C * arb_of(p + x) - h) / arb_of(d) for p, h in zip(P, H, strict=True)]


@pytest.mark.sampled
@pytest.mark.parametrize("utility", FUNCTIONS)
@given(st.lists(st.integers(1, 40), min_size=3, max_size=6), unit, unit)
@example([1, 1, 1], Fraction(1), Fraction(1))
@example([1, 1, 38], Fraction(1), Fraction(1))
@example([20, 20, 21, 22, 22], Fraction(1), Fraction(1))
@example([100, 104, 112, 120, 120], Fraction(1), Fraction(1))
def test_no_set_is_worth_more_than_the_dual_says(utility, counts, wide, strong):
    f = FUNCTIONS[utility]
    P = [Fraction(count, sum(counts)) for count in counts]
    t = wide * min(P)
    e = 1 + strong * (1 / (1 - min(P) - t) - 1)
    assume(e > 1)
    x, d = e * t, e - 1
    with working_precision(256):
        C, lam = dual_of_the_proof(P, t, e, f)
        for chosen in range(1, (1 << len(P)) - 1):
            inside = [bool(chosen >> j & 1) for j in range(len(P))]
            q = sum(p for p, here in zip(P, inside, strict=True) if here)
            w = [-d * (1 - q) / (q + x) if here else d * q / (q + x) for here in inside]
            assert (1 + x) * max(w) - x * min(w) == d
            assert min(w) >= -1
            worth = sum((arb_of(p) * f(arb_of(1 + each)) for p, each in zip(P, w, strict=True)), arb(0))
            bound = C + sum((arb_of(each) * y for each, y in zip(w, lam, strict=True)), arb(0))
            assert worth.overlaps(bound) if sum(inside) == 1 else worth < bound or (t == 0 and worth.overlaps(bound))


def squared_hellinger(u):
    return (u.sqrt() - 1) ** 2


def at_the_greatest_epsilon(p):
    """Return x and d for t = p, where epsilon is the greatest that the theorem takes."""
    e = 1 / (1 - 2 * p)
    return e * p, e - 1


def test_the_bound_of_c_does_not_prove_squared_hellinger():
    p, a = Fraction(1, 13), Fraction(6, 13)
    x, d = at_the_greatest_epsilon(p)
    with working_precision(256):
        H = {q: worth_of_mass(q, x, d, squared_hellinger) for q in (p, a, 2 * a)}
        ratio = (2 * H[a] - H[2 * a]) / (arb_of(x / (p + x)) * H[p])
        assert arb("0.9895") < ratio < arb("0.9896")


@pytest.mark.parametrize(
    ("many", "times", "least", "below"),
    [
        (1, Fraction(13, 10), "1.9", "2"),
        (10, Fraction(23, 10), "1.28", "1.3"),
        (100, Fraction(19, 4), "1.06", "1.07"),
        (10**6, Fraction(97), "1.00014", "1.00015"),
        (10**9, Fraction(956), "1.000001434", "1.000001435"),
    ],
)
def test_with_c_itself_squared_hellinger_has_no_margin(many, times, least, below):
    """Many categories of mass p = t and two of a multiple: the set of these two is the one that is nearly too much."""
    p = 1 / (many + 2 * times)
    a, (x, d) = times * p, at_the_greatest_epsilon(p)
    with working_precision(256):
        H = {q: worth_of_mass(q, x, d, squared_hellinger) for q in (p, a, 2 * a)}
        C = (many * H[p] + 2 * H[a]) / arb_of(1 + (many + 2) * x)
        assert arb(least) < (2 * H[a] - H[2 * a]) / (arb_of(x) * C) < arb(below)


@given(
    st.lists(st.integers(1, 300), min_size=2, max_size=4),
    st.lists(st.integers(1, 300), min_size=1, max_size=6),
    unit,
    unit,
)
@example([6, 6], [1], Fraction(1), Fraction(1))
@example([20, 20], [2, 3], Fraction(1), Fraction(1))
@example([60, 60], [10, 11], Fraction(1), Fraction(1))
def test_the_categories_beside_a_set_are_worst_at_the_least_mass(within, beside, wide, strong):
    """Where the bound of C does not prove the set, as in the examples; the number of the others need not be whole."""
    whole, least = sum(within) + sum(beside), min(*within, *beside)
    p, q, k = Fraction(least, whole), Fraction(sum(within), whole), len(within)
    assume(3 * p <= 1)
    t = p * wide
    d = (p + t) / (1 - p - t) * strong
    x = (1 + d) * t
    with working_precision(256):
        H = {n: worth_of_mass(Fraction(n, whole), x, d, squared_hellinger) for n in {*within, *beside}}
        gained = sum((H[n] for n in within), arb(0)) - worth_of_mass(q, x, d, squared_hellinger)
        light = worth_of_mass(p, x, d, squared_hellinger)

        def left(total, number):
            C = (sum((H[n] for n in within), arb(0)) + total) / arb_of(1 + (k + number) * x)
            return arb_of(1 + (k + number) * x) * (gained - (k - 1) * arb_of(x) * C)

        given_others = left(sum((H[n] for n in beside), arb(0)), Fraction(len(beside)))
        number = (1 - q) / p
        at_least_mass = left(light * arb_of(number), number)
        proved = gained - (k - 1) * arb_of(x / (p + x)) * light
        assert proved >= 0 or not at_least_mass > given_others + arb("1e-60")
        assert proved >= 0 or at_least_mass > 0


AT_THE_BORDER = [
    (counts, wide, strong)
    for counts in ([1, 1, 1], [2, 3, 5], [1, 1, 18], [6, 6, 7, 8], [1, 1, 1, 1], [1, 1, 9, 9], [5, 5, 5, 6, 6])
    for wide, strong in ((1, 1), (1, Fraction(1, 20)), (Fraction(1, 3), 1), (Fraction(99, 100), Fraction(99, 100)))
]


@pytest.mark.combined
@pytest.mark.parametrize("utility", FUNCTIONS)
@pytest.mark.parametrize(("counts", "wide", "strong"), AT_THE_BORDER)
def test_no_ray_of_the_whole_list_is_worth_more_than_the_dual_says(utility, counts, wide, strong):
    """A witness that knows nothing of the polytope of the proof: all rays of kinds A to D in rationals."""
    f = FUNCTIONS[utility]
    P = [Fraction(count, sum(counts)) for count in counts]
    t = wide * min(P)
    e = 1 + strong * (1 / (1 - min(P) - t) - 1)
    problem = md.DesignProblem(md.L1Ball(P, 2 * t), f"log({e})", utility())
    assert high_privacy_ball.applies(exact_cone(problem))
    form = high_privacy_ball.solve(problem)
    assert form.optimal
    with working_precision(256):
        C, lam = dual_of_the_proof(P, t, e, f)
        multipliers = [Fraction(float((y + C * arb_of(p)).mid())) for y, p in zip(lam, P, strict=True)]
    above = greatest_reduced_cost(P, rays_of_ball(P, 2 * t, e), f, multipliers)
    value = problem.utility.value(form.matrix, problem.uncertainty.center)
    assert abs(float(sum(multipliers) + above) - value) < 1e-13
    assert abs(float(above)) < 1e-13


def test_it_is_proved_while_the_radius_is_small_and_for_the_utilities_of_the_theorem():
    own = md.FInformation(lambda u: abs(u - 1) / 2, name="mutual-information")
    for radius, utility, proved in (
        ("0.4", md.ChiSquare(), True),
        ("0.42", md.ChiSquare(), False),
        ("0.4", md.MutualInformation(), True),
        ("0.42", md.MutualInformation(), False),
        ("0.4", md.SquaredHellinger(), False),
        ("0.4", own, False),
    ):
        form = high_privacy_ball.solve(md.DesignProblem(md.L1Ball(["0.5", "0.3", "0.2"], radius), "0.2", utility))
        assert form.optimal is proved


def test_one_function_of_the_integral_alone_has_a_better_mechanism():
    """``(u - 1)^2 / (1 + s (u - 1))`` with s near 1, so that m is not of the kind that the theorem asks for."""
    s = 0.99
    counts = [5, 5, 5, 5, 5, 6, 6, 6]
    ball = md.L1Ball.from_counts(counts, radius="10/43")
    steep = md.FInformation(lambda u: (u - 1) ** 2 / (1 + s * (u - 1)))
    problem = md.DesignProblem(ball, "log(43/33)", steep)
    form = high_privacy_ball.solve(problem)
    assert not form.optimal
    assert problem.utility.value(form.matrix, ball.center) == pytest.approx(7.4436, abs=5e-5)
    assert md.design(problem).value == pytest.approx(8.1892, abs=5e-5)


def many_symbols(radius, utility, size=16, share=0.9):
    """Return a problem at high privacy; the radius is in units of the least probability."""
    counts = [60 + 7 * j % 41 for j in range(size)]
    p = Fraction(min(counts), sum(counts))
    t = radius * p / 2
    return md.DesignProblem(md.L1Ball.from_counts(counts, radius=2 * t), share * math.log(1 / (1 - p - t)), utility)


@pytest.mark.sampled
@pytest.mark.parametrize(
    ("radius", "utility"),
    [(1, md.MutualInformation()), (2, md.ChiSquare()), (0, md.SquaredHellinger()), (0, md.TotalVariation())],
    ids=lambda choice: getattr(choice, "name", None),
)
def test_many_symbols_take_the_form_with_the_bound_of_exact_pricing(radius, utility):
    problem = many_symbols(radius, utility)
    solved = md.design(problem)
    assert solved.method.startswith("closed form, priced by subset-sum tables")
    assert solved.certified
    assert solved.iterations == 0
    tables = pricing_for(problem.uncertainty, float(problem.epsilon.exp_down), utility)
    searched = ColumnGeneration(problem, tables, str).solve(1e-6, None)
    found = utility.value(searched.matrix, problem.uncertainty.center)
    assert found == pytest.approx(solved.value, abs=2e-9)
    assert found <= solved.upper_bound + 1e-12


@pytest.mark.sampled
@pytest.mark.parametrize(
    ("problem", "merge"),
    [
        (many_symbols(1, md.TotalVariation()), None),
        (many_symbols(Fraction(21, 10), md.MutualInformation()), None),
        (many_symbols(1, md.MutualInformation(), share=1.1), None),
        (many_symbols(1, md.MutualInformation()), True),
    ],
    ids=["total variation", "wide", "beyond its epsilon", "merged at once"],
)
def test_the_search_stays_where_the_theorem_does_not_reach(problem, merge):
    assert md.design(problem, merge=merge).method.startswith("column generation")


def test_a_dual_vector_that_pricing_does_not_confirm_is_not_taken(monkeypatch):
    monkeypatch.setattr(high_privacy_ball, "multipliers", lambda given, _: 0.002 * given.P.astype(float))
    solved = md.design(many_symbols(1, md.MutualInformation()))
    assert solved.method.startswith("column generation")
    assert solved.certified


@pytest.mark.slow
def test_a_thousand_symbols_are_certified():
    solved = md.design(many_symbols(1, md.MutualInformation(), size=1000))
    assert solved.certified
    assert solved.iterations == 0
