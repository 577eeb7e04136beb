"""The Python surface: what is called with bad values raises an error of the package's own, or none."""

from __future__ import annotations

import datetime
import decimal
import fractions
import math
import random
import traceback
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

import mechdesign as md

Random = random.Random
_PACKAGE = Path(md.__file__).parent


def attack(name: str, seed: str) -> int:
    """Make one attack and print what is wrong with the error that comes of it; all others are let through."""
    try:
        ATTACKS[name](Random(seed))
    except md.MechdesignError as error:
        message = str(error)
        if not message or "\n" in message or len(message) > 2_000:
            print(f"{type(error).__name__}: the message is not one short line: {message[:300]!r}")
    except Exception as error:  # noqa: BLE001 - whatever is not the package's own is what is looked for
        frames = traceback.extract_tb(error.__traceback__)
        if frames[-1].filename != __file__ or isinstance(error, TypeError):  # else a user's function raised it
            inner = next((frame for frame in reversed(frames) if _PACKAGE in Path(frame.filename).parents), frames[-1])
            where = f"{Path(inner.filename).name}:{inner.lineno} in {inner.name}"
            print(f"{type(error).__name__} at {where}: {' '.join(str(error).split())[:200]}")
    return 0


# Values that are wrong somewhere


def scalar(rng: Random) -> Any:
    """Return a number, or what might be taken for one."""
    return rng.choice(
        [
            *(
                0,
                1,
                -1,
                2,
                0.5,
                -0.0,
                1e-300,
                5e-324,
                1e308,
                math.inf,
                -math.inf,
                math.nan,
                True,
                None,
                "",
                "a",
                "1/3",
                "log(2)",
            ),
            *(
                10**30,
                2**63,
                -(2**64),
                "1e400",
                "nan",
                b"1",
                [],
                [1],
                (),
                {},
                {1},
                object(),
                1j,
                fractions.Fraction(1, 3),
            ),
            *(
                decimal.Decimal("0.1"),
                decimal.Decimal("nan"),
                decimal.Decimal("sNaN"),
                decimal.Decimal("1e999999"),
                10**5000,
            ),
            *(np.float32(0.1), np.float64("nan"), np.int8(-3), np.uint64(2**64 - 1), np.bool_(True), np.array(1.0)),
            *(np.array([1.0]), np.float16(0.5), np.longdouble(1) / 3, np.datetime64("2020"), datetime.date(2020, 1, 1)),
            *(md.Epsilon.of("1"), lambda x: x, int, range(3), "9" * 5000, "\ud800", np.str_("0.5"), np.ma.masked),
        ]
    )


def word(rng: Random) -> str:
    """Return a text where a name is expected."""
    return rng.choice(["", "a", "x" * 300, "\ud800", "a\x00b", "\u202e", ".", "/", "\n", "codes", "population", "b"])


def array(rng: Random) -> Any:
    """Return a vector or a matrix, in any container, with any entries."""
    import pandas as pd
    import polars as pl
    import pyarrow as pa

    rows, columns = rng.randint(0, 4), rng.randint(0, 4)
    numbers = np.array([[rng.choice([0, 1, 0.5, 0.25, rng.random()]) for _ in range(columns)] for _ in range(rows)])
    numbers = numbers.astype(float).reshape(rows, columns)
    if rng.random() < 0.4 and numbers.size and numbers.sum(axis=1).all():
        numbers = numbers / numbers.sum(axis=1, keepdims=True)
    if rng.random() < 0.3 and numbers.size:
        numbers[rng.randrange(rows), rng.randrange(columns)] = rng.choice(
            [math.nan, math.inf, -1, 1e308, -1e308, 5e-324, 1e-200]
        )
    vector = numbers[0] if rows and rng.random() < 0.5 else numbers
    made = rng.choice(
        [
            np.asarray,
            lambda x: x.tolist(),
            lambda x: x.astype(object),
            lambda x: x.astype(str),
            lambda x: x.astype("f4"),
            lambda x: x.astype(complex),
            lambda x: np.ma.masked_less(x, 0.3),
            lambda x: np.asfortranarray(x)[::-1],
            lambda x: np.array(x, dtype=np.longdouble),
            lambda x: [*x.tolist(), scalar(rng)],
            lambda x: dict(enumerate(x.tolist())),
            lambda x: x[None],
            lambda x: (pd.Series if x.ndim == 1 else pd.DataFrame)(x),
            lambda x: (pl.Series if x.ndim == 1 else pl.DataFrame)(x),
            lambda x: pa.array(x.tolist()),
            lambda x: iter(x.tolist()),
            lambda x: (row for row in x.tolist()),
            lambda x: scalar(rng),
            lambda x: np.asmatrix(x) if rng.random() < 0 else x.tolist(),
        ]
    )
    return made(vector)


def good_ball(rng: Random, size: int = 3) -> md.L1Ball:
    """Return a ball that is right."""
    return md.L1Ball.from_counts([rng.randint(1, 9) for _ in range(size)], radius=rng.choice(["0", "0.1", "1", "2"]))


def good_prior(rng: Random, size: int = 3) -> Any:
    """Return a prior that is right."""
    weights = np.array([rng.random() + 0.01 for _ in range(size)])
    return weights / weights.sum()


def good_matrix(rng: Random, size: int = 3) -> Any:
    """Return a mechanism as floats."""
    matrix = np.array([[rng.random() + 0.01 for _ in range(rng.choice([size]))] for _ in range(size)])
    return matrix / matrix.sum(axis=1, keepdims=True)


def one_of(rng: Random, good: Any) -> Any:
    """Return what is right, or anything."""
    kind = rng.random()
    return good if kind < 0.5 else array(rng) if kind < 0.75 else scalar(rng)


# Attacks


def sets(rng: Random) -> None:
    """Sets of priors, and what they are asked."""
    size = rng.randint(1, 4)
    names = one_of(rng, [f"v{i}" for i in range(size)])
    kind = rng.randrange(6)
    known: Any
    if kind == 0:
        known = md.L1Ball(one_of(rng, good_prior(rng, size)), one_of(rng, "0.1"), names)
    elif kind == 1:
        known = md.L1Ball.from_counts(
            one_of(rng, [1, 2, 3]), delta=one_of(rng, None), radius=one_of(rng, "0.1"), samples=one_of(rng, None)
        )
    elif kind == 2:
        known = md.L1Ball.from_samples(one_of(rng, ["a", "b", "a"]), delta=one_of(rng, "0.1"))
    elif kind == 3:
        known = md.ConvexHull(one_of(rng, [["1/2", "1/2"], ["1/3", "2/3"]]), one_of(rng, None), one_of(rng, None))
    elif kind == 4:
        known = md.ProductSet(one_of(rng, good_ball(rng)), one_of(rng, good_ball(rng)), one_of(rng, " & "))
    else:
        known = good_ball(rng)
    known.worst_mean(one_of(rng, [0.1, 0.2, 0.3]))
    known.as_matrix(one_of(rng, good_matrix(rng)))


def from_matrix(rng: Random) -> None:
    """Matrices for mechanisms, and integers."""
    promise = md.Guarantee(md.Epsilon.of("1"), good_ball(rng))
    outputs = rng.choice([None, ["a", "b", "c"], one_of(rng, ["a", "b", "c"])])
    if rng.random() < 0.7:
        md.Mechanism.from_matrix(one_of(rng, good_matrix(rng)), promise, bits=one_of(rng, 48), outputs=outputs)
    else:
        integers = np.full((3, 2), 2, dtype=np.int64)
        md.Mechanism(one_of(rng, integers), one_of(rng, 2), promise, () if outputs is None else outputs)


def leakages(rng: Random) -> None:
    """Functions of a mechanism and a prior or a set."""
    matrix, prior, ball = one_of(rng, good_matrix(rng)), one_of(rng, good_prior(rng)), good_ball(rng)
    calls: list[Callable[[], Any]] = [
        lambda: md.leakage(matrix, prior),
        lambda: md.epsilon_min(matrix, prior),
        lambda: md.pml.information_density(matrix, prior),
        lambda: md.pml.lower_leakage(matrix, prior),
        lambda: md.pml.leakage_tail(matrix, prior, scalar(rng)),
        lambda: md.pml.epsilon_at(matrix, prior, scalar(rng)),
        lambda: md.pml.tail_after_post_processing(matrix, prior, scalar(rng)),
        lambda: md.pml.epsilon_after_post_processing(matrix, prior, scalar(rng)),
        lambda: md.pml.certify_tail(matrix, prior, scalar(rng), one_of(rng, [1, 0, "2"])),
        lambda: md.pml.tail_after_post_processing(matrix, ball, scalar(rng)),
        lambda: md.pml.epsilon_after_post_processing(matrix, ball, scalar(rng)),
        lambda: md.pml.certify_tail(matrix, ball, scalar(rng), one_of(rng, [1, 0, "2"] * 2)),
        lambda: md.additive_noise.ordered_laplace_epsilon(scalar(rng), one_of(rng, [0, 1, 3]), ball),
        lambda: md.additive_noise.ordered_laplace_scale(scalar(rng), one_of(rng, [0, "1/2", 3]), prior),
        lambda: md.additive_noise.ordered_laplace_matrix(scalar(rng), one_of(rng, [0, "1/2", 3])),
        lambda: md.additive_noise.ordered_geometric_epsilon(scalar(rng), one_of(rng, [0, 1, 3]), ball),
        lambda: md.additive_noise.ordered_geometric_ratio(scalar(rng), one_of(rng, [0, 1, 3]), ball),
        lambda: md.additive_noise.ordered_gaussian_delta(scalar(rng), scalar(rng), one_of(rng, [0, 1, 3]), ball),
        lambda: md.leakage_capacity(matrix, ball),
        lambda: md.pml.worst_case_leakage(matrix, ball),
        lambda: md.pml.leakage_sensitivity(matrix, prior, ball),
        lambda: md.pml.output_sensitivity(matrix, prior, ball),
        lambda: md.pml.lipschitz_bound(matrix, ball),
        lambda: md.pml.epsilon_max(prior),
        lambda: md.pml.privacy_regions(prior),
        lambda: md.pml.privacy_region(prior, scalar(rng)),
        lambda: md.pml.most_zeros_in_a_column(prior, scalar(rng)),
        lambda: md.pml.sensitivity_bound(one_of(rng, "1"), one_of(rng, "0.1"), prior),
        lambda: md.pml.sensitivity_bound_first_region(one_of(rng, "0.1"), one_of(rng, "0.1"), scalar(rng)),
        lambda: md.pml.sensitivity_bound_any_region(one_of(rng, "1"), scalar(rng)),
        lambda: md.pml.leakage_bound_elsewhere(scalar(rng), scalar(rng)),
        lambda: md.uncertainty.kappa(prior),
        lambda: md.uncertainty.phi(scalar(rng)),
    ]
    rng.choice(calls)()


def planning(rng: Random) -> None:
    """Functions of numbers."""
    calls: list[Callable[[], Any]] = [
        lambda: md.weissman_radius(one_of(rng, 100), one_of(rng, 3), one_of(rng, "0.1")),
        lambda: md.uncertainty.failure_probability(one_of(rng, 100), one_of(rng, 3), one_of(rng, "0.1")),
        lambda: md.uncertainty.required_samples(one_of(rng, 3), one_of(rng, "0.1"), one_of(rng, "0.1")),
        lambda: md.uncertainty.refined_radius(one_of(rng, [5, 3]), one_of(rng, "0.1")),
        lambda: md.planning.plan(
            one_of(rng, 3), samples=one_of(rng, 100), epsilon=one_of(rng, "1"), delta=one_of(rng, "0.1")
        ),
        lambda: md.planning.plan(
            one_of(rng, 3), epsilon=one_of(rng, "1"), guaranteed=one_of(rng, "2"), delta=one_of(rng, "0.1")
        ),
        lambda: md.planning.delta_min(one_of(rng, "1"), one_of(rng, "2"), one_of(rng, 100), one_of(rng, 3)),
        lambda: md.planning.guaranteed_epsilon(one_of(rng, "1"), one_of(rng, "0.1"), one_of(rng, 100), one_of(rng, 3)),
        lambda: md.planning.samples_for(one_of(rng, "1"), one_of(rng, "2"), one_of(rng, "0.1"), one_of(rng, 3)),
        lambda: md.planning.design_epsilon(one_of(rng, "2"), one_of(rng, "0.1"), one_of(rng, 100), one_of(rng, 3)),
        lambda: md.Epsilon.of(scalar(rng)),
        lambda: md.additive_noise.laplace_epsilon(scalar(rng), one_of(rng, "0.3")),
        lambda: md.additive_noise.laplace_scale(scalar(rng), one_of(rng, "0.3")),
        lambda: md.additive_noise.gaussian_delta(scalar(rng), one_of(rng, 1.0), one_of(rng, "0.3")),
        lambda: md.additive_noise.pldp_sigma(one_of(rng, "1"), one_of(rng, "0.3")),
        lambda: md.histogram.laplace_scale(scalar(rng), one_of(rng, 0)),
        lambda: md.histogram.laplace_epsilon(scalar(rng), one_of(rng, 0)),
        lambda: md.histogram.gshm_delta(one_of(rng, 3), one_of(rng, 5.0), one_of(rng, 40.0), one_of(rng, "1")),
        lambda: md.histogram.gshm_threshold(one_of(rng, 3), one_of(rng, 5.0), one_of(rng, "1"), one_of(rng, "1e-6")),
        lambda: md.histogram.discrete_delta(one_of(rng, 3), one_of(rng, "5"), one_of(rng, "40"), one_of(rng, "1")),
        lambda: md.histogram.DiscretePlan.of(one_of(rng, 3), epsilon=one_of(rng, "1"), delta=one_of(rng, "1e-6")),
        lambda: md.histogram.discrete_gaussian(one_of(rng, "2"), one_of(rng, 10)),
        lambda: md.histogram.top_k_counts(one_of(rng, np.array([3, 2, 1])), one_of(rng, 1)),
        lambda: md.histogram.LaplacePlan.of(epsilon=one_of(rng, "1"), alpha=one_of(rng, 0), scale=one_of(rng, None)),
    ]
    rng.choice(calls)()


def records(rng: Random) -> None:
    """Records in every container, through the identity: they come back as they were, or are refused."""
    import pandas as pd
    import polars as pl
    import pyarrow as pa

    labels = ["a", "b", "c"]
    ball = md.L1Ball(["1/3"] * 3, 0, labels)
    identity = md.Mechanism(
        np.eye(3, dtype=np.int64) * 4, 2, md.Guarantee(md.Epsilon.of("log(3)"), ball), tuple(labels)
    )
    size = rng.randint(0, 5)
    plain: list[Any] = [rng.choice(labels) for _ in range(size)]
    if rng.random() < 0.3:
        plain = [rng.randrange(3) for _ in range(size)]
    texts = all(isinstance(value, str) for value in plain)
    wrong = rng.random() < 0.4
    if wrong:
        plain.insert(rng.randint(0, size), scalar(rng))
    mask = [rng.random() < 0.5 for _ in plain]
    containers: list[Callable[[], Any]] = [
        lambda: plain,
        lambda: tuple(plain),
        lambda: iter(plain),
        lambda: np.array(plain),
        lambda: np.array(plain, dtype=object),
        lambda: np.array(plain)[::-1],
        lambda: np.ma.array(plain, mask=mask),
        lambda: np.array(plain, dtype=rng.choice(["S1", "U1", "f8", "i1", "u8", "?", "c8", ">i4", ">U2", "M8[s]"])),
        lambda: np.array([plain]),
        lambda: pd.Series(plain),
        lambda: pd.Series(plain, dtype=rng.choice(["category", "string", "object", "Int64", "string[pyarrow]"])),
        lambda: pd.Series(plain, index=rng.sample(range(100), len(plain)), name="n"),
        lambda: pd.Categorical(plain),
        lambda: pd.Index(plain),
        lambda: pd.DataFrame({"a": plain}),
        lambda: pd.array(plain),
        lambda: pl.Series("n", plain),
        lambda: pl.Series(
            "n", plain, dtype=rng.choice([pl.Categorical, pl.String, pl.Enum(labels), pl.Int8, pl.Object])
        ),
        lambda: pl.DataFrame({"a": plain}),
        lambda: pa.array(plain),
        lambda: pa.array(plain).dictionary_encode(),
        lambda: pa.chunked_array([plain, plain]),
        lambda: pa.array(plain, mask=np.array(mask, dtype=bool)),
        lambda: pa.table({"a": plain}),
        lambda: pa.scalar("a"),
        lambda: dict.fromkeys(map(str, plain)),
        lambda: "abc",
    ]
    try:
        came = rng.choice(containers)()
    except BaseException:  # noqa: BLE001 - of the other package, which panics at such values
        return
    sized = hasattr(came, "__len__") or isinstance(came, Iterator)
    kept = list(came) if hasattr(came, "__len__") else plain
    options = {name: word(rng) for name in ("unknown", "missing", "integers") if rng.random() < 0.2}
    reports = identity.privatize(came, **options)
    if isinstance(came, np.ma.MaskedArray):
        if np.ma.getmaskarray(came).any() and not options:
            print(f"masked records were reported: {came!r} as {reports!r}")
    elif not options and not wrong and sized:
        listed = [getattr(value, "as_py", lambda value=value: value)() for value in reports]
        expected = [getattr(value, "as_py", lambda value=value: value)() for value in kept]
        if listed != expected:
            print(f"{came!r} was reported as {reports!r}")
    elif wrong and texts and not options and len(list(reports)) != len(kept):
        print(f"{came!r} was reported as {reports!r}")


def utilities(rng: Random) -> None:
    """Utilities of a user's own and of matrices, designed for."""
    functions: list[Callable[[Any], Any]] = [
        lambda t: t * t * t,
        lambda t: -t * t,
        lambda t: t * math.log(t),
        np.log,
        lambda t: 1 / t,
        lambda t: float("nan"),
        lambda t: np.full_like(t, math.inf),
        lambda t: None,
        lambda t: "a",
        lambda t: t[0],
        lambda t: np.exp(1000 * t),
        lambda t: t.reshape(-1, 1),
        lambda t: (t - 1) ** 4,
        lambda t: np.sqrt(t - 5),
        lambda t: 1 / 0,
        lambda t: t.tolist(),
        lambda t: -abs(t - 1),
        lambda t: 1j * t,
        lambda t: np.where(t > 1, t, -t),
        lambda t: [],
    ]
    ball = good_ball(rng, rng.randint(2, 3))
    kind = rng.randrange(4)
    utility: Any
    if kind <= 1:
        utility = md.FInformation(
            one_of(rng, rng.choice(functions)), *([one_of(rng, "mine")] if rng.random() < 0.5 else [])
        )
    elif kind == 2:
        utility = md.ExpectedGain(one_of(rng, [[1, 0, -1], [0, 1, "1/3"]]))
    else:
        utility = md.ExpectedDistortion(one_of(rng, [[-1, 3, -1], [0, 1, 0.5]]))
    epsilon = one_of(rng, "1")
    found = md.design(md.DesignProblem(ball, epsilon, utility))
    if math.isnan(found.upper_bound) or found.value > found.upper_bound * (1 + 1e-9) + 1e-9:
        print(f"{utility!r} over {ball!r} at {epsilon!r}: value {found.value}, bound {found.upper_bound}")


def estimates(rng: Random) -> None:
    """Reports and counts of reports, estimated from."""
    promise = md.Guarantee(md.Epsilon.of("log(3)"), md.L1Ball(["0.5", "0.5"], 2, ["no", "yes"]))
    mechanism = md.Mechanism(np.array([[3, 1], [1, 3]]), 2, promise, ("n", "y"))
    reports = one_of(rng, rng.choice([["n", "y", "y"], {"n": 3, "y": 2}, [3, 2], np.array([1, 0, 1])]))
    options = {
        name: rng.choice(values)
        for name, values in {
            "method": ["least-squares", word(rng)],
            "of": ["records", word(rng)],
            "confidence": [0.9, scalar(rng)],
            "by": [one_of(rng, ["a", "b", None]), {word(rng): one_of(rng, [1, 2, 2])}, scalar(rng), [0.5, True, "a"]],
        }.items()
        if rng.random() < 0.3
    }
    md.estimate_frequencies(reports, mechanism, **options)


def compositions(rng: Random) -> None:
    """Mechanisms made from mechanisms."""
    promise = md.Guarantee(md.Epsilon.of("log(3)"), md.L1Ball(["0.5", "0.5"], 2, ["no", "yes"]))
    mechanism = md.Mechanism(np.array([[3, 1], [1, 3]]), 2, promise, ("n", "y"))
    calls: list[Callable[[], Any]] = [
        lambda: mechanism.then(one_of(rng, {"n": "a", "y": "a"})),
        lambda: mechanism.then(one_of(rng, [[1, 0], [0.5, 0.5]]), outputs=one_of(rng, None), bits=one_of(rng, None)),
        lambda: mechanism.product(mechanism, bits=one_of(rng, None), separator=one_of(rng, "+")),
        lambda: mechanism.repeated(one_of(rng, 2), bits=one_of(rng, None), separator=one_of(rng, "+")),
        lambda: md.design(
            md.DesignProblem(one_of(rng, good_ball(rng)), one_of(rng, 1.0)), bits=one_of(rng, 48), tol=one_of(rng, 1e-6)
        ),
        lambda: md.optimize.certify(md.DesignProblem(good_ball(rng), "1"), one_of(rng, [0.0, 0.0, 0.0])),
        lambda: md.Mechanism.load(word(rng)),
        lambda: md.read_problem(word(rng)),
        lambda: md.Guarantee(one_of(rng, md.Epsilon.of("1")), good_ball(rng)),
        lambda: md.Guarantee("1", good_ball(rng), one_of(rng, "1")),
        lambda: md.design(md.DesignProblem(good_ball(rng), "1", lower=one_of(rng, "0.5"))),
    ]
    rng.choice(calls)()


ATTACKS: dict[str, Callable[[Random], Any]] = {
    "sets": sets,
    "from_matrix": from_matrix,
    "leakages": leakages,
    "planning": planning,
    "records": records,
    "utilities": utilities,
    "estimates": estimates,
    "compositions": compositions,
}
