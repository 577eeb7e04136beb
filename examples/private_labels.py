"""Train on private labels: the occupation of Adult, by the other columns, with scikit-learn.

    python examples/private_labels.py adult.data

The file is that of the UCI Machine Learning Repository (doi:10.24432/C5XW20). Labels are reported through a
mechanism, and a ridge regression on unbiased one-hot labels predicts them: but for a constant its squared error has the
mean that it has with the true labels. Needs the extra `sklearn`. The priors are those of the training labels, for a
comparison on one file; a deployment takes a separate sample.
"""

import csv
import sys

import numpy as np
from sklearn.linear_model import Ridge
from sklearn.preprocessing import OneHotEncoder

import mechdesign as md

RIDGES = (10.0, 100.0, 1000.0)
CATEGORIES = (1, 3, 5, 7, 8, 9, 14)  # workclass, education, marital status, relationship, race, sex, income
RARE = 500  # records: occupations with fewer are left out


def mechanisms(labels, epsilon):
    """Return mechanisms for labels 0 to N - 1, by name."""
    counts = np.bincount(labels).tolist()
    ball, everyone = md.L1Ball.from_counts(counts, delta=1e-9), md.L1Ball.from_counts(counts, radius=2)
    found = {
        "PML, least error": (ball, md.EstimationError()),
        "LDP, least error": (everyone, md.EstimationError()),
    }
    designs = {name: md.design(md.DesignProblem(known, epsilon, goal)) for name, (known, goal) in found.items()}
    size = len(counts)
    e = np.exp(epsilon)
    response = (np.ones((size, size)) + (e - 1) * np.eye(size)) / (e + size - 1)
    made = {name: design.mechanism for name, design in designs.items()}
    return made | {"randomized response": md.Mechanism.repaired(response, md.Guarantee(epsilon, everyone)).mechanism}


def test_error(features, targets, test, true):
    """Return the share of wrong labels, with the ridge that fits targets that were held back best."""
    kept = len(features) * 3 // 4
    models = [Ridge(alpha=ridge).fit(features[:kept], targets[:kept]) for ridge in RIDGES]
    losses = [np.mean((model.predict(features[kept:]) - targets[kept:]) ** 2) for model in models]
    return float(np.mean(models[int(np.argmin(losses))].predict(test).argmax(axis=1) != true))


def errors(features, labels, epsilon, rng):
    """Return the test error without privacy and of each mechanism; a quarter of the records is for the test."""
    order = rng.permutation(len(labels))
    fit, test = np.split(order, [len(order) * 3 // 4])
    size = labels.max() + 1
    found = {"no privacy": test_error(features[fit], np.eye(size)[labels[fit]], features[test], labels[test])}
    for name, mechanism in mechanisms(labels[fit], epsilon).items():
        K = mechanism.matrix.cumsum(axis=1)[labels[fit]]
        reports = (rng.uniform(size=(len(fit), 1)) > K[:, :-1]).sum(axis=1)  # floats: for a simulation alone
        targets = md.debias_labels(mechanism).targets[reports]
        found[name] = test_error(features[fit], targets, features[test], labels[test])
    return found


def adult(path):
    """Return features and occupations of a file of Adult."""
    with open(path, newline="") as file:  # noqa: PTH123 - as short as it can be
        rows = [row for row in csv.reader(file, skipinitialspace=True) if len(row) == 15 and row[6] != "?"]
    _, codes = np.unique([row[6] for row in rows], return_inverse=True)
    common = np.flatnonzero(np.bincount(codes) >= RARE)
    kept = np.isin(codes, common)
    table = np.array(rows)[kept]
    numbers = table[:, [0, 12]].astype(float)
    numbers = (numbers - numbers.mean(axis=0)) / numbers.std(axis=0)
    coded = OneHotEncoder(sparse_output=False).fit_transform(table[:, CATEGORIES])
    return np.hstack([numbers, numbers**2, coded]), np.searchsorted(common, codes[kept])


if __name__ == "__main__":
    for name, error in errors(*adult(sys.argv[1]), 1, np.random.default_rng(0)).items():
        print(f"{name:22}{error:.3f}")
