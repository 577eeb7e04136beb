"""The bound holds for any dual vector, is tight at the right one, and fails to be confirmed where it is false."""

import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from refusals import raises
from strategies import F_INFORMATIONS, balls, epsilons, random_ball
from tolerances import CERTIFIED

import mechdesign as md
from mechdesign.optimize import certificate
from mechdesign.optimize.pricing import price_by_guess, price_by_listing
from mechdesign.optimize.pricing.listing import reduced_costs
from mechdesign.optimize.rays import Rays

GAIN = md.ExpectedGain([[1, 0, 0, 0.5, 0.2], [0, 1, 0.3, 0, 0.2], [0.4] * 5, [0, 0, 1, 1, 0]])


@given(balls(), epsilons, st.sampled_from(F_INFORMATIONS), st.integers(0, 2**32))
def test_any_dual_vector_bounds_the_optimum(ball, epsilon, utility, seed):
    problem = md.DesignProblem(ball, epsilon, utility)
    solved = md.design(problem)
    rng = np.random.default_rng(seed)
    for scale in (0.0, 0.01, 1.0):
        multipliers = solved.certificate.multipliers + scale * rng.standard_normal(ball.size)
        assert md.optimize.certify(problem, multipliers).upper_bound >= solved.value


@pytest.mark.sampled
@pytest.mark.parametrize("most", [1, 20, 4_000_000])
@given(balls(2, 9), st.sampled_from(F_INFORMATIONS))
def test_full_disclosure_is_the_utility_of_every_category_alone(most, ball, utility):
    """Symbols of equal probability together and in blocks of columns, against all columns one by one."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(certificate, "_MOST_ENTRIES", most)
        disclosed = certificate.full_disclosure(md.DesignProblem(ball, 1, utility))
    P = ball.prior
    alone = [p * utility.mu(np.eye(P.size)[:, [i]] / p, P)[0] for i, p in enumerate(P) if p > 0]
    assert disclosed >= math.fsum(alone)
    assert disclosed == pytest.approx(math.fsum(alone), rel=1e-12, abs=1e-13)


@given(balls(least=5), epsilons, st.integers(0, 2**32))
def test_guesses_and_rays_price_alike(ball, epsilon, seed):
    exp_epsilon = float(md.Epsilon.of(epsilon).exp_down)
    multipliers = np.random.default_rng(seed).standard_normal(5) * 0.3
    for utility in (GAIN, md.HammingAccuracy()):
        by_guess = price_by_guess(ball, exp_epsilon, utility, multipliers).upper
        constant = utility.mu(np.ones((5, 1)), ball.prior)[0] - multipliers.sum()
        rays = Rays(ball, exp_epsilon)
        costs = [cost.max() for _, cost in reduced_costs(rays, utility, multipliers)]
        greatest = max([*costs, constant])
        # Symbols without mass are reached through the radius alone, which a solver's tolerance is divided by.
        loss = 1e-7 if 0 not in ball.center else 1e-8 / float(ball.half_radius)
        np.testing.assert_allclose(by_guess, greatest, atol=loss)
        assert by_guess >= greatest - 1e-14
        assert price_by_listing(rays, utility, multipliers).upper >= max([*costs, -np.inf])


def test_guesses_are_priced_over_a_hull():
    hull = md.ConvexHull([["0.5", "0.3", "0.2"], ["0.2", "0.2", "0.6"]])
    problem = md.DesignProblem(hull, "0.8", md.HammingAccuracy())
    solved = md.design(problem)
    assert solved.certified
    single = md.DesignProblem(md.L1Ball(hull.center), "0.8", md.HammingAccuracy())
    assert solved.value <= md.design(single).upper_bound


class MissesColumns(Rays):
    """A list of rays with a third of them lost."""

    def with_errors(self, kinds):
        for columns, errors in super().with_errors(kinds):
            yield columns[:, ::3], errors[:, ::3]


def test_a_pricing_that_misses_columns_gives_a_bound_that_verification_refuses(monkeypatch):
    ball = random_ball(np.random.default_rng(7), 5, "0.05")
    problem = md.DesignProblem(ball, 1)
    honest = md.design(problem)
    multipliers = np.zeros(5)
    with monkeypatch.context() as patch:
        lossy = "mechdesign.optimize.pricing.choice.check_listable"
        patch.setattr(lossy, lambda known, exp_epsilon, _least_lift=None: MissesColumns(known, exp_epsilon))
        false_bound = md.optimize.certify(problem, multipliers).upper_bound
    true_bound = md.optimize.certify(problem, multipliers).upper_bound
    assert false_bound < true_bound
    claim = replace(honest.mechanism.optimality, bound=false_bound, multipliers=tuple(multipliers))
    with raises("optimality-false"):
        md.verify(replace(honest.mechanism, optimality=claim))


def test_verification_confirms_the_honest_and_refuses_the_altered():
    ball = random_ball(np.random.default_rng(7), 5, "0.05")
    for utility in (md.MutualInformation(), md.HammingAccuracy()):
        mechanism = md.design(md.DesignProblem(ball, 1, utility)).mechanism
        assert md.verify(mechanism).certificate.upper_bound <= mechanism.optimality.bound
        claim = mechanism.optimality
        lower = replace(claim, bound=claim.bound - 1e-9)
        with raises("optimality-false"):
            md.verify(replace(mechanism, optimality=lower))
        higher = replace(claim, value=claim.value + 1e-9)
        with raises("optimality-false"):
            md.verify(replace(mechanism, optimality=higher))
        moved = replace(claim, multipliers=tuple(x + 0.01 * k for k, x in enumerate(claim.multipliers)))
        with raises("optimality-false"):
            md.verify(replace(mechanism, optimality=moved))


def test_a_claim_for_a_smaller_radius_is_private_but_not_optimal():
    """A ball inside the designed one has better mechanisms, so that the stored bound is false for it."""
    ball = md.L1Ball(["0.5", "0.3", "0.2"], "0.2")
    mechanism = md.design(md.DesignProblem(ball, 1)).mechanism
    smaller = replace(mechanism, guarantee=md.Guarantee(mechanism.guarantee.epsilon, ball.with_radius("0.1")))
    assert smaller.proof.holds
    with raises("optimality-false"):
        md.verify(smaller)


def test_the_bound_at_the_optimal_dual_vector_is_tight():
    rng = np.random.default_rng(3)
    for radius in ("0", "0.1", "1", "2"):
        solved = md.design(md.DesignProblem(random_ball(rng, 6, radius), 1))
        assert 0 <= solved.gap <= CERTIFIED


def test_without_a_claim_only_the_guarantee_is_verified():
    ball = md.L1Ball([0.5, 0.5])
    mechanism = md.Mechanism.from_matrix([[0.5], [0.5]] @ np.ones((1, 2)), md.Guarantee(md.Epsilon.of(1), ball))
    assert md.verify(mechanism).certificate is None


@pytest.mark.parametrize("multipliers", [[0.0], [0.0, np.nan], [[0.0, 0.0]]])
def test_a_dual_vector_of_the_wrong_shape_is_refused(multipliers):
    with raises("wrong-size", "accepted: (2"):
        md.optimize.certify(md.DesignProblem(md.L1Ball([0.5, 0.5]), 1), multipliers)


def test_a_value_above_its_own_bound_is_refused_however_close():
    mechanism = md.design(md.DesignProblem(md.L1Ball(["0.5", "0.5"]), 0)).mechanism
    claim = replace(mechanism.optimality, value=1e-16, bound=md.verify(mechanism).certificate.upper_bound)
    with raises("optimality-false"):
        md.verify(replace(mechanism, optimality=claim))


@pytest.mark.parametrize("epsilon", [0, 1])
@pytest.mark.parametrize("utility", [md.MutualInformation(), md.HammingAccuracy()], ids=lambda u: u.name)
def test_multipliers_beyond_floats_prove_no_more_than_full_disclosure(epsilon, utility):
    from mechdesign.optimize.certificate import full_disclosure

    problem = md.DesignProblem(md.L1Ball(["0.5", "0.3", "0.2"]), epsilon, utility)
    for multipliers in ([1.7e308] * 3, [1.7e308, -1.7e308, 1.0]):
        bound = md.optimize.certify(problem, multipliers).upper_bound
        assert md.design(problem).value <= bound <= full_disclosure(problem)


def test_reduced_costs_beyond_floats_prove_nothing():
    gain = md.ExpectedGain([["-1e300"] * 3, ["0"] * 3, ["1"] * 3])
    known = md.L1Ball(["0.5", "0.3", "0.2"])
    with np.errstate(over="ignore"):
        price = price_by_guess(known, np.e, gain, np.array([1.7976931348623157e308, -1.7e308, 0.0]))
    assert price.upper == np.inf
