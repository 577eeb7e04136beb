"""The options that name the executor of a command."""

from __future__ import annotations

import click
import pytest
from click.testing import CliRunner

from mechdesign.cli.shared_options import NUMBER, WHOLE, engine_options


@click.command()
@engine_options
def told(*, jobs: int | None, scheduler: str | None) -> None:
    click.echo(f"{jobs} {scheduler}")


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        ([], "None None"),
        (["--jobs", "3"], "3 None"),
        (["--scheduler", "tcp://127.0.0.1:1"], "None tcp://127.0.0.1:1"),
    ],
)
def test_a_command_receives_jobs_and_scheduler(arguments: list[str], expected: str) -> None:
    done = CliRunner().invoke(told, arguments)
    assert done.exit_code == 0
    assert done.output.strip() == expected


@pytest.mark.parametrize("text", ["0.9_5", " 1", "1\n", "５", "١", ""])
def test_numbers_are_in_the_digits_0_to_9(text: str) -> None:
    for kind in (NUMBER, WHOLE):
        with pytest.raises(click.BadParameter, match="in the digits 0 to 9"):
            kind.convert(text, None, None)


def test_numbers_in_the_digits_0_to_9_are_taken() -> None:
    assert [NUMBER.convert(text, None, None) for text in ("-1.5e-3", ".5", "+2", "inf", 0.25)] == [
        -0.0015,
        0.5,
        2.0,
        float("inf"),
        0.25,
    ]
    assert [WHOLE.convert(text, None, None) for text in ("-1", "+2", 3)] == [-1, 2, 3]


def test_help_names_both_and_jobs_is_a_number() -> None:
    help_text = CliRunner().invoke(told, ["--help"]).output
    assert "--jobs N" in help_text
    assert "--scheduler ADDRESS" in help_text
    assert CliRunner().invoke(told, ["--jobs", "two"]).exit_code == 2
