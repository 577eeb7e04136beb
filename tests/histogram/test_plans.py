"""A mechanism is one class: `release`, the record and the command line follow from what it declares."""

import json
from dataclasses import FrozenInstanceError, fields, replace
from fractions import Fraction
from typing import ClassVar

import click
import numpy as np
import pytest
from refusals import raises

import mechdesign as md
from mechdesign.cli import histogram as commands
from mechdesign.histogram import GshmPlan, LaplacePlan, TopKPlan, release
from mechdesign.histogram.registry import PLANS
from mechdesign.uncertainty import ConvexHull, L1Ball


class SilentPlan(GshmPlan):
    """A mechanism that is defined here alone: no noise, and the threshold."""

    name: ClassVar[str] = "silent"
    meanings: ClassVar[dict[str, str]] = {**GshmPlan.meanings, "tau": "in silence"}

    def noisy(self, counts, source):
        support = np.flatnonzero(counts)
        return self.above(support, counts[support].astype(float))


SPARSE = {"epsilon": 1, "sigma": 8, "tau": 60}


def test_a_new_mechanism_is_one_class(tmp_path, monkeypatch, capsys):
    plan = SilentPlan.of(2, **SPARSE)
    released = release({"a": 900, "b": 61, "c": 62}, plan, allow_float_noise=True)
    assert released.counts == {"a": 900, "c": 62}
    assert json.loads(released.record.to_json())["mechanism"] == "silent"

    monkeypatch.chdir(tmp_path)
    (tmp_path / "counts.csv").write_text("label,count\na,900\nb,61\n")
    command = commands._command(SilentPlan)
    assert isinstance(command, click.Command)
    given = ["-k", "2", "--epsilon", "1", "--sigma", "8", "--tau", "60"]
    command.main([*given, "counts.csv", "--allow-float-noise", "-o", "out.csv"], standalone_mode=False)
    assert (tmp_path / "out.csv").read_text() == "label,count\na,900.0\n"
    shown = capsys.readouterr().out
    assert "silent" in shown
    assert "60: in silence" in shown


def test_the_command_line_has_a_command_for_each_registered_mechanism():
    names = [kind.name for kind in PLANS]
    assert list(commands.histogram_command.commands) == names
    assert len(set(names)) == len(names)
    for kind in PLANS:
        assert f"  {kind.name:<8}  {kind.usage.choice}\n" in commands.histogram_command.help
        assert commands.histogram_command.commands[kind.name].short_help == kind.usage.summary


MADE = [
    *(kind.of(epsilon=1) if kind is LaplacePlan else kind.of(3, **SPARSE) for kind in PLANS),
    TopKPlan.of(3, **SPARSE, value_sigma=5),
]


@pytest.mark.parametrize("plan", MADE, ids=lambda plan: plan.name)
def test_a_plan_is_frozen_exact_and_says_what_its_parameters_mean(plan):
    with pytest.raises(FrozenInstanceError):
        plan.delta = 0
    used = {name: value for name, value in plan.parameters.items() if value is not None}
    assert used.keys() <= plan.meanings.keys()
    assert all(type(value) in (int, Fraction) for value in (*used.values(), plan.delta))
    assert {field.name for field in fields(plan)} >= {"epsilon", "delta", "analysis", *plan.parameters}
    record = plan.record()
    assert {name: getattr(record, name) for name in used} == used
    assert (record.mechanism, record.randomness, record.post_processing) == (plan.name, None, None)


def test_the_bins_of_an_estimate_belong_to_the_plan():
    ball = L1Ball.from_counts({"a": 600, "b": 400}, delta="1e-3")
    plan = LaplacePlan.of(epsilon=1, alpha=ball)
    assert plan.bins == ("a", "b")
    assert LaplacePlan.of(epsilon=1, alpha="0.1").bins is None
    with raises("labels-differ", "bin 'c'", "histogram"):
        release({"a": 1, "b": 1, "c": 0}, plan, allow_float_noise=True)
    free = replace(plan, known_bins=None)
    assert release({"a": 1, "c": 1}, free, allow_float_noise=True).counts.keys() == {"a", "c"}


def test_a_set_that_is_not_a_ball_is_not_an_alpha():
    with raises("not-a-number", "alpha"):
        LaplacePlan.of(epsilon=1, alpha=ConvexHull([[0.5, 0.5], [0.4, 0.6]]))


def test_public_names_are_sorted_and_listed():
    assert dir(md.histogram) == sorted(set(md.histogram.__all__))
    assert len(dir(md.histogram)) == len(md.histogram.__all__)
    assert all(hasattr(md.histogram, name) for name in md.histogram.__all__)
    verbs = [name for name in md.histogram.__all__ if name.startswith(("plan", "release"))]
    assert verbs == ["release"]
