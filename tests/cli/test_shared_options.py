"""The options that name the executor of a command."""

from __future__ import annotations

import click
import pytest
from click.testing import CliRunner

from mechdesign.cli.shared_options import engine_options


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


def test_help_names_both_and_jobs_is_a_number() -> None:
    help_text = CliRunner().invoke(told, ["--help"]).output
    assert "--jobs N" in help_text
    assert "--scheduler ADDRESS" in help_text
    assert CliRunner().invoke(told, ["--jobs", "two"]).exit_code == 2
