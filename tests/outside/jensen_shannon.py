"""An f-information outside the package: the Jensen-Shannon divergence of joint distribution and marginals."""

import numpy as np

from mechdesign.numerics.exact import xlogx
from mechdesign.utility import NamedInformation, register


@register
class JensenShannon(NamedInformation):
    """Jensen-Shannon information: ``f(u) = (u log u - (1 + u) log((1 + u) / 2)) / 2``."""

    name = "jensen-shannon"
    unit = "nats"

    @staticmethod
    def f(u):
        return (xlogx(u) - (1 + u) * np.log((1 + u) / 2)) / 2

    @staticmethod
    def derivative(u):
        with np.errstate(divide="ignore"):
            return np.log(2 * u / (1 + u)) / 2
