"""Every exact pricing of f-informations against exact rays, for numbers at the limits of floats."""

import math
import os
from fractions import Fraction

import exact_rays
import numpy as np
import pytest
from flint import arb
from hypothesis import example, given, settings
from hypothesis import strategies as st

import mechdesign as md
from mechdesign.errors import LimitError
from mechdesign.optimize.cone import effective_exp_epsilon
from mechdesign.optimize.pricing import ListedPricing, by_counts, check_listable, knapsack
from mechdesign.optimize.pricing.alike import alike, averaged
from mechdesign.optimize.pricing.boxes import price_by_boxes
from mechdesign.optimize.pricing.by_counts import CountPricing
from mechdesign.optimize.pricing.knapsack import KnapsackPricing

EXAMPLES = int(os.environ.get("MECHDESIGN_HOSTILE_EXAMPLES", "60"))
LITTLE = knapsack.Effort(1 << 6, 1 << 8, 1 << 8, 2)
MOST_COUNTED = 20_000  # in all: more takes tables of a size that a test need not fill
TIGHT = 1e-7


def _log(u):
    return u.log() if u > 0 else arb(0)


# Each utility with its f for balls of floats.
UTILITIES = {
    "mutual information": (md.MutualInformation(), lambda u: u * _log(u)),
    "chi-square": (md.ChiSquare(), lambda u: (u - 1) ** 2),
    "total variation": (md.TotalVariation(), lambda u: abs(u - 1) / 2),
    "squared Hellinger": (md.SquaredHellinger(), lambda u: (1 - u.sqrt()) ** 2),
    "square": (md.FInformation(lambda u: u**2 - 1), lambda u: u**2 - 1),
    "fourth power": (md.FInformation(lambda u: u**4 - 1), lambda u: u**4 - 1),
    "exponential": (md.FInformation(lambda u: np.expm1((u - 1) / 2)), lambda u: ((u - 1) / 2).expm1()),
    "huge at 0": (
        md.FInformation(lambda u: np.maximum(2.0**800 * (2.0**-10 - u), 0.0)),
        lambda u: (arb(2) ** 800 * (arb(2) ** -10 - u)).max(0),
    ),
    "steep at 0": (md.FInformation(lambda u: -np.log(u + 1e-300)), lambda u: -(u + arb(1e-300)).log()),
}

powers = st.integers(0, 200).map(lambda k: Fraction(1, 10**k))
ordinary_masses = st.integers(1, 99).map(Fraction)
tiny_masses = st.tuples(st.integers(1, 99), st.one_of(st.integers(0, 20), st.integers(0, 200))).map(
    lambda mk: Fraction(mk[0], 10 ** mk[1])
)
epsilons = st.one_of(
    st.sampled_from(["1", "20", "100", "200", "300", "350", "700", "log(2)", "log(4/3)", "1e-6"]),
    st.decimals("0.01", "700", places=2).map(str),
)


@st.composite
def priors(draw, most, masses=st.one_of(ordinary_masses, tiny_masses), zeros=True):
    weights = draw(st.lists(masses, min_size=2, max_size=most))
    if zeros and draw(st.integers(0, 3)) == 0:
        weights.append(Fraction(0))
    return tuple(weight / sum(weights) for weight in weights)


@st.composite
def radii(draw, center):
    least = min(p for p in center if p > 0)
    near = st.tuples(st.sampled_from([-1, 0, 1]), powers).map(lambda sp: sp[0] * sp[1])
    radius = draw(
        st.one_of(
            st.just(Fraction(0)),
            powers,
            near.map(lambda x: 2 * least * (1 + x)),
            near.map(lambda x: 2 - abs(x)),
            st.integers(1, 199).map(lambda k: Fraction(k, 100)),
        )
    )
    return min(radius, Fraction(2)) if radius > 0 or 0 not in center else Fraction(1, 10)


@st.composite
def multipliers(draw, center):
    """Of one scale or of every scale, of both signs, alike for all masses or not."""
    signed = st.floats(-1, 1, allow_subnormal=False)
    scale = st.integers(-300, 300).map(lambda k: 10.0**k)
    mild = st.sampled_from([0.0, 1e-3, 0.1, 1.0, 10.0])
    per_mass, shared = draw(st.booleans()), draw(st.one_of(scale, mild, mild))
    found = []
    for p in center:
        one = draw(signed) * (shared if draw(st.booleans()) else draw(st.one_of(scale, mild, mild)))
        found.append(one * float(p) if per_mass else one)
    return np.array(found)


@st.composite
def balls(draw, most=4):
    center = draw(priors(most))
    return md.L1Ball(center, draw(radii(center))), draw(multipliers(center))


@st.composite
def counted(draw):
    found = draw(priors(4, ordinary_masses))
    return md.L1Ball(found, draw(radii(found))), draw(multipliers(found))


@st.composite
def hulls(draw):
    size = draw(st.integers(2, 3))
    rows = draw(st.lists(priors(size, zeros=False), min_size=1, max_size=3))
    rows = [row for row in rows if len(row) == len(rows[0])]
    hull = md.ConvexHull(rows)
    return hull, draw(multipliers(hull.center))


def exact(known, epsilon, f, lam):
    """The bound of utility that lambda proves, exactly; a little less where f is irrational."""
    e = md.Epsilon.of(epsilon).exp_down if hasattr(md, "Epsilon") else md.DesignProblem(known, epsilon).epsilon.exp_down
    if isinstance(known, md.L1Ball):
        rays = exact_rays.rays_of_ball(known.center, known.radius, e)
    else:
        rays = exact_rays.rays_of_hull(known.priors, known.center, e)
    return sum(map(Fraction, lam.tolist())) + exact_rays.greatest_reduced_cost(known.center, rays, f, lam.tolist())


def holds(price, lam, truth):
    return price.upper == math.inf or sum(map(Fraction, lam.tolist())) + Fraction(price.upper) >= truth


def reached(known, epsilon, utility):
    e = effective_exp_epsilon(md.DesignProblem(known, epsilon, utility))
    return e if e > 1 else None


def check_ball(ball, epsilon, name, lam):
    """Hold the list, the search and, for counts, the tables against exact rays; return their prices and the truth."""
    utility, f = UTILITIES[name]
    e = reached(ball, epsilon, utility)
    if e is None or not np.isfinite(lam).all():
        return
    listed = ListedPricing(check_listable(ball, e), utility).price(lam)
    assert holds(listed, lam, exact(ball, epsilon, f, lam))
    # These two use averages over symbols that are alike.
    even = averaged(lam, alike(ball.center))[0]
    truth = exact(ball, epsilon, f, even)
    others = [KnapsackPricing(ball, e, utility)]
    if sum(ball.weights) <= MOST_COUNTED:
        others.append(CountPricing(ball, e, utility))
    for pricing in others:
        assert holds(pricing.price(lam, thorough=False), lam, truth), pricing.method


@pytest.fixture(autouse=True, scope="module")
def little_effort():
    """A bound holds however little is looked at, and so many examples must be quick."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(knapsack, "_GUESSED", LITTLE)
        patch.setattr(knapsack, "_QUICK", LITTLE)
        patch.setattr(by_counts, "_FEW_BLOCKS", 500)
        yield


@settings(max_examples=EXAMPLES)
@given(balls(), epsilons, st.sampled_from(sorted(UTILITIES)))
@example((md.L1Ball(["0.9994", "0.0006"], "1/7"), np.array([0.3, 0.1]) * [0.9994, 0.0006]), "300", "chi-square")
def test_every_pricing_of_balls_bounds_the_exact_rays(instance, epsilon, name):
    check_ball(*instance[:1], epsilon, name, instance[1])


@settings(max_examples=EXAMPLES)
@given(counted(), epsilons, st.sampled_from(sorted(UTILITIES)))
def test_every_pricing_of_counts_bounds_the_exact_rays(instance, epsilon, name):
    check_ball(*instance[:1], epsilon, name, instance[1])


@settings(max_examples=EXAMPLES)
@given(hulls(), epsilons, st.sampled_from(sorted(UTILITIES)))
def test_every_pricing_of_hulls_bounds_the_exact_rays(instance, epsilon, name):
    hull, lam = instance
    utility, f = UTILITIES[name]
    e = reached(hull, epsilon, utility)
    if e is None:
        return
    truth = exact(hull, epsilon, f, lam)
    assert holds(price_by_boxes(hull, e, utility, lam, most_nodes=12), lam, truth)
    try:
        rays = check_listable(hull, e)
    except LimitError:
        return  # ratios of probabilities that no float holds
    assert holds(ListedPricing(rays, utility).price(lam), lam, truth)
