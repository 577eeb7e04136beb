"""Designs whose least utility over a set of priors is as great as can be, with a certificate.

For every mechanism and every mixture w of priors Q_k of the set, the least utility is at most ``sum_k w_k U(Q_k)``.
That is a utility like any other: a sum over columns of ``mu_w(v) = sum_k w_k mu(v, Q_k)``, sublinear in v. So lambda
proves ``sum(lambda) + max { mu_w(v) - <lambda, v> : v in the cone, <P, v> = 1 }`` for it, and with it for the least
utility; and some w and lambda prove the optimum (docs/mathematics.md).
"""
