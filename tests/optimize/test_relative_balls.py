"""Relative balls by lists, tables and the knapsack, against their lower probability and blind columns."""

from fractions import Fraction

import numpy as np
import pytest
from refusals import raises

import mechdesign as md
from mechdesign.optimize.closed_form import closed_forms
from mechdesign.optimize.closed_form.form import fractions
from mechdesign.optimize.l1_cone import L1Cone
from mechdesign.optimize.lower_rays import LowerRays
from mechdesign.optimize.pricing import price_by_listing
from mechdesign.optimize.pricing.by_counts import CountPricing
from mechdesign.optimize.pricing.knapsack import KnapsackPricing
from mechdesign.optimize.pricing.price import averaged, equal_groups
from mechdesign.optimize.rays import Rays
from mechdesign.uncertainty import EventSet, RelativeBall


def some_ball(rng, size):
    """A ball with small denominators: ties, symbols without mass, gamma = 0 and gamma = alpha - 1 are common."""
    while True:
        weights = rng.integers(0 if rng.random() < 0.3 else 1, 8, size)
        weights[0] += 1
        alpha = Fraction(int(rng.integers(1, 31)), int(rng.choice([7, 10, 20])))
        gamma = max(Fraction(0), alpha - 1) + Fraction(int(rng.choice([0, 0, 1, 2, 3, 5, 8])), 20)
        try:
            return RelativeBall([Fraction(int(w), int(weights.sum())) for w in weights], alpha, gamma)
        except md.InputError:  # a symbol has probability 0 under every prior
            continue


def cone_of(known, e):
    """The cone in Fractions."""
    alpha, gamma = known.line
    P = fractions(known.center)
    return L1Cone(P, gamma / alpha, e, alpha=alpha, u=(1 + gamma) / alpha - 1)


def test_columns_of_all_kinds_are_in_the_cone_and_those_of_the_lower_probability_on_its_border():
    rng = np.random.default_rng(1)
    for _ in range(120):
        known, e = some_ball(rng, int(rng.integers(2, 5))), Fraction(int(rng.integers(9, 40)), 8)
        cone, size = cone_of(known, e), known.size

        def slack(column, known=known, e=e):
            common = np.lcm.reduce([x.denominator for x in column])
            whole = [int(x * common) for x in column]
            return e * known.exact_support(whole) - max(whole)

        for mask in range(1, 2**size - 1):
            inside = [bool(mask >> i & 1) for i in range(size)]
            mass = sum((p for p, i in zip(known.center, inside, strict=True) if i), Fraction(0))
            if cone.heaviest_cd <= mass <= cone.heaviest_ab:
                off = cone.off_a(mass, 1 - mass)
                on, whole_off = cone.whole_a(mass)
                assert slack([cone.c if i else off for i in inside]) == 0
                assert on * off == cone.c * whole_off
                assert mass * on + (1 - mass) * whole_off == cone.mass_of_whole_a(mass)
                for f in (k for k, i in enumerate(inside) if not i and known.center[k] > 0):
                    x = cone.between_b(mass, known.center[f])
                    if x <= cone.c:
                        least = slack([x if k == f else cone.c * i for k, i in enumerate(inside)])
                        assert least == 0 if sum(inside) < size - 1 else least >= 0
            if cone.has_cd and mass <= cone.heaviest_cd:
                assert slack([cone.e if i else Fraction(1) for i in inside]) == 0
                for more in range(2**size - 1):
                    if more & mask == mask and more != mask:
                        b = sum((known.center[i] for i in range(size) if more >> i & 1), Fraction(0))
                        if b >= cone.lightest_support_c:
                            top = cone.top_c(b)
                            assert top >= 1
                            assert slack([top if i else Fraction(more >> k & 1) for k, i in enumerate(inside)]) == 0


@pytest.mark.parametrize("alpha", [Fraction(1), Fraction(7, 10), Fraction(13, 10)])
def test_between_its_limits_a_set_has_any_mass(alpha):
    gamma = max(Fraction(0), alpha - 1) + Fraction(1, 10)
    known = RelativeBall(["0.5", "0.3", "0.2"], alpha, gamma)
    cone = cone_of(known, Fraction(2))
    # The least and the greatest mass of the first symbol.
    assert known.exact_support([1, 0, 0]) == alpha * (known.center[0] - cone.t)
    assert 1 - known.exact_support([0, 1, 1]) == alpha * (known.center[0] + cone.u)


def compared(seed, instances, sizes, utilities, pricings):
    rng = np.random.default_rng(seed)
    for _ in range(instances):
        known, e = (
            some_ball(rng, int(rng.integers(*sizes))),
            float(rng.choice([1.125, 1.5, 2.0, 2.5, 4.0, 20.0, 100.0])),
        )
        multipliers = averaged(rng.normal(size=known.size) * rng.choice([0.1, 1.0, 0.0]), equal_groups(known.center))[0]
        for utility in utilities:
            exact = price_by_listing(LowerRays(known, e), utility, multipliers).upper
            for price in pricings:
                assert price(known, e, utility, multipliers) == pytest.approx(exact, rel=1e-9, abs=1e-9), (known, e)


def by_list(known, e, utility, multipliers):
    return price_by_listing(Rays(known, e), utility, multipliers).upper


def by_tables(known, e, utility, multipliers):
    return CountPricing(known, e, utility).price(multipliers).upper


def by_knapsack(known, e, utility, multipliers):
    return KnapsackPricing(known, e, utility).price(multipliers).upper


def test_lists_and_tables_agree_with_the_rays_of_the_lower_probability():
    compared(2, 80, (2, 6), [md.MutualInformation()], [by_list, by_tables])


@pytest.mark.slow
def test_all_pricings_agree_for_all_utilities():
    utilities = [md.MutualInformation(), md.ChiSquare(), md.SquaredHellinger(), md.TotalVariation()]
    compared(3, 200, (2, 8), utilities, [by_list, by_tables])
    compared(4, 60, (2, 6), utilities[:2], [by_knapsack])


@pytest.mark.slow
def test_tables_and_the_knapsack_agree_for_thirteen_symbols():
    weights = [30, 21, 17, 13, 11, 8, 7, 5, 4, 3, 2, 2, 1]
    for alpha, gamma in ((Fraction(9, 10), Fraction(1, 50)), (Fraction(6, 5), Fraction(1, 5)), (Fraction(3, 4), 0)):
        known = RelativeBall([Fraction(w, sum(weights)) for w in weights], alpha, gamma)
        utility, multipliers = md.MutualInformation(), np.linspace(-0.2, 0.3, 13)
        tables = CountPricing(known, np.e, utility).price(multipliers).upper
        assert KnapsackPricing(known, np.e, utility).price(multipliers).upper == pytest.approx(tables, abs=1e-8)


def blind_columns(known, e, rng, many):
    """Columns of the cone that know nothing of its rays: random ones, drawn towards the constant column."""
    N = known.size
    columns = rng.choice([0.0, 0.0, 0.2, 0.6, 1.0], (N, many)) * rng.choice([1.0, 1.0, 0.9, 0.4], (N, many)) + 1e-12
    columns = columns / columns.max(axis=0)
    low, high = np.zeros(many), np.ones(many)
    for _ in range(50):
        middle = (low + high) / 2
        mixed = middle + (1 - middle) * columns
        inside = mixed.max(axis=0) <= e * known.support(mixed) * (1 - 1e-12)
        low, high = np.where(inside, low, middle), np.where(inside, middle, high)
    mixed = high + (1 - high) * columns
    return mixed / (known.prior @ mixed)


@pytest.mark.sampled
@pytest.mark.sampled
@pytest.mark.parametrize(("alpha", "gamma"), [("0.9", "0.02"), ("0.95", 0), ("1.2", "0.2"), ("1.05", "0.08")])
def test_one_hundred_symbols(alpha, gamma):
    rng = np.random.default_rng(5)
    weights = np.sort(rng.zipf(1.5, 400))
    weights = weights[weights < 3000][:100].tolist()
    known = RelativeBall([Fraction(w, sum(weights)) for w in weights], alpha, gamma)
    solved = md.design(md.DesignProblem(known, 1))
    assert solved.certified
    assert md.verify(solved.mechanism).optimal
    assert solved.mechanism.leakage <= 1
    # No column that is found blindly has a reduced cost above the one that the certificate rests on.
    lam = solved.certificate.multipliers
    blind = blind_columns(known, np.e, rng, 400)
    costs = md.MutualInformation().mu(blind, known.prior) - lam @ blind
    assert costs.max() <= solved.certificate.reduced_cost
    assert solved.method.endswith("subset-sum tables over the counts")


def test_symbols_can_be_merged_and_closed_forms_are_left_to_balls():
    weights = list(range(20, 120))
    known = RelativeBall([Fraction(w, sum(weights)) for w in weights], "0.9", "0.03")
    solved = md.design(md.DesignProblem(known, 1), merge=True, tol=1e-2)
    assert solved.certified
    assert solved.merged
    assert md.verify(solved.mechanism).proof.holds
    assert known.around(known.center[:0] + (Fraction(1, 2),) * 2).line == known.line
    assert closed_forms(md.DesignProblem(RelativeBall(["0.5", "0.5"], "0.9", 0), "log(9/8)")) == []


def test_alpha_one_is_solved_as_the_ball():
    known, ball = RelativeBall(["0.5", "0.3", "0.2"], 1, "0.05"), md.L1Ball(["0.5", "0.3", "0.2"], "0.1")
    told, own = (md.design(md.DesignProblem(given, 1)) for given in (known, ball))
    assert (told.value, told.bound) == (own.value, own.bound)
    assert RelativeBall(["0.5", "0.5"], 1, 3).l1_ball.holds_every_prior


def test_an_event_set_of_one_piece_is_priced_as_a_ball():
    weights = list(range(20, 40))
    center = [Fraction(w, sum(weights)) for w in weights]
    one, both = EventSet(center, ["0.9"], ["0.03"]), EventSet(center, ["0.9", 1], ["0.03", "0.1"])
    assert both.ball is None
    solved = md.design(md.DesignProblem(one, 1))
    assert solved.certified
    assert solved.value == md.design(md.DesignProblem(RelativeBall(center, "0.9", "0.03"), 1)).value


@pytest.mark.parametrize("alpha", [Fraction(1, 10**400), Fraction(1, 10**10), Fraction(1, 10**9), Fraction(10**6)])
def test_alpha_at_the_ends_of_what_is_accepted(alpha):
    known = RelativeBall(["0.5", "0.3", "0.2"], alpha, max(Fraction(0), alpha - 1))
    assert (known.ball is None) == (alpha < Fraction(1, 10**9))
    solved = md.design(md.DesignProblem(known, 1))
    assert solved.certified
    assert md.verify(solved.mechanism).optimal


def test_gamma_beyond_floats_is_refused():
    with raises("out-of-range", "1000000"):
        RelativeBall(["0.5", "0.5"], 1, 10**400)
    assert RelativeBall(["0.5", "0.5"], 1, 10**6).holds_every_prior
