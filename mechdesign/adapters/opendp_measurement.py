"""A mechanism as a measurement of OpenDP, honest about what it promises."""

from __future__ import annotations

from typing import Any

from mechdesign.mechanism import Mechanism
from mechdesign.mechanism.mechanism import check_mechanism
from mechdesign.mechanism.words import promise
from mechdesign.numerics.exact import float_up


def measurement(mechanism: Mechanism, *, local: bool = False) -> Any:
    """Return a mechanism as an OpenDP measurement of one category.

    Its divergence is the mechanism's own: pointwise maximal leakage for the priors of the guarantee, which OpenDP
    knows by name only, so that it composes with nothing else. With ``local=True`` the divergence is OpenDP's
    ``max_divergence``: the level of local differential privacy that the integers have, for every prior.

    Parameters
    ----------
    mechanism : Mechanism
        Reports are drawn from its integers, with the secure randomness of the operating system.
    local : bool
        Whether the privacy map states the level of local differential privacy.

    Returns
    -------
    opendp.Measurement
        From a category to a report; the distance of inputs is the discrete one, 0 for the same category and 1 for
        others. The map of PML states the proved leakage for distance 1; it is about the priors of the guarantee, and
        the name of the divergence says which.

    Raises
    ------
    InputError
        For ``local=True`` where a report rules a category out, so that there is no level.

    Notes
    -----
    OpenDP's features ``contrib`` and ``honest-but-curious`` have to be enabled.
    """
    import opendp.prelude as dp

    from mechdesign.errors import InputError

    check_mechanism(mechanism)
    if local and mechanism.level is None:
        raise InputError.conflicting_arguments(
            "local=True states a level of local differential privacy, and a report of this mechanism rules a category "
            "out; leave it out, or design with a cap"
        )
    inputs = frozenset(mechanism.inputs)
    bound = float_up(mechanism.level) if local and mechanism.level is not None else mechanism.leakage
    divergence = (
        dp.max_divergence()
        if local
        else dp.user_divergence(f"pointwise maximal leakage: {promise(mechanism.guarantee)}")
    )
    # The level is about any two categories, the leakage about a single report: both are reached at distance 1.
    return dp.m.make_user_measurement(
        input_domain=dp.user_domain("one category of the mechanism", lambda value: value in inputs),
        input_metric=dp.discrete_distance(),
        output_measure=divergence,
        function=lambda value: mechanism.privatize([value])[0],
        privacy_map=lambda distance: bound if distance else 0.0,
    )
