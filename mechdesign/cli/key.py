"""``mechdesign key``."""

from __future__ import annotations

import click

from mechdesign.cli.json_output import Output, Text, print_output
from mechdesign.cli.output import print_facts
from mechdesign.mechanism import Key


class KeyOutput(Output):
    """`mechdesign key`."""

    carries = "mechdesign/key/1"

    output: Text


@click.command("key")
@click.option("-o", "--output", metavar="KEY", required=True, help="The file of the key, which must not exist.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
def key_command(*, output: str, as_json: bool) -> None:
    """Make a key for permanent reports, and write it to a file that only its owner can read.

    \b
    Example:
      mechdesign key -o survey.key
      mechdesign privatize records.csv --column smokes --id person \\
                           --mechanism smokes.json --key-file survey.key \\
                           -o reports.csv

    The key is drawn with the operating system's secure randomness and is never printed. Reports drawn with it
    protect records against everybody who lacks it, and nobody else: keep it from those who receive reports. Keep a
    copy: reports under another key are second reports. A file that exists is never replaced.
    """  # noqa: D301 - click's mark for a paragraph that is not wrapped
    Key.generate().write(output)
    if as_json:
        print_output(KeyOutput(output=output))
    else:
        attribute = "empty by default: with several columns under this key, name each one (privatize --attribute NAME)"
        print_facts([("written", f"{output}, readable by its owner alone"), ("attribute", attribute)])
