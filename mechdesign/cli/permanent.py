"""The options of permanent reports, and what commands say of them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import click

from mechdesign.deploy.repeated_ids import leakage_of_values
from mechdesign.display.numbers import text_above
from mechdesign.mechanism import Key, KeyFile
from mechdesign.mechanism.reporting import Deployed


@dataclass(frozen=True)
class Permanent:
    """The options ``--key-file``, ``--id`` and ``--attribute``, checked against each other."""

    key_file: str | None
    ids: str | None
    attribute: str | None

    def __post_init__(self) -> None:
        if self.key_file is None:
            for option, value in (("--id", self.ids), ("--attribute", self.attribute)):
                if value is not None:
                    raise click.UsageError(f"{option} belongs to --key-file, the key of permanent reports; give both")
        elif self.ids is None:
            raise click.UsageError("--key-file needs --id, the column that says whom a record is about")

    def key(self) -> KeyFile | None:
        """Return the file of the key, after reading it once; None for fresh reports."""
        if self.key_file is None:
            return None
        key = Key.read(self.key_file)
        key = key if self.attribute is None else key.for_attribute(self.attribute)
        return KeyFile(self.key_file, key.attribute, key.fingerprint)

    def facts(self, mechanism: Deployed, repeated: int, changed: int) -> list[tuple[str, str]]:
        """Return what people read of permanent reports; nothing for fresh ones.

        Parameters
        ----------
        mechanism : Mechanism or WindowMechanism
            What they are drawn from.
        repeated, changed : int
            As in `PrivatizedFile`.
        """
        if self.key_file is None:
            return []
        unnamed = "none given; another column reported by this mechanism under this key needs --attribute"
        lines = [
            ("permanent", "the same id and category always get the same report, under this key and attribute"),
            ("attribute", self.attribute or unnamed),
            ("fingerprint", mechanism.fingerprint),
            ("if values change", _several_values(mechanism)),
        ]
        if repeated:
            first = "the first report of each id counts in an estimate with --id"
            lines.append(("repeated ids", f"records about an id that came before: {repeated:,}; {first}"))
        if changed:
            lines.append(
                ("SEVERAL VALUES", f"ids with more than one value here: {changed:,}, which leak as said above")
            )
        return lines

    def keys(self, mechanism: Deployed, repeated: int, changed: int) -> dict[str, Any]:
        """Return the keys of an output about permanent reports; none for fresh ones."""
        if self.key_file is None:
            return {}
        two = None if len(mechanism.inputs) < 2 else leakage_of_values(mechanism, 2)
        return {
            "permanent": True,
            "id": self.ids,
            "attribute": self.attribute or "",
            "leakage_of_two_values": two,
            "repeated_ids": repeated,
            "changed_ids": changed,
        }


def permanent_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Give a command the options of `Permanent`, which it receives as one object named ``permanent``."""

    def wrapped(*, key_file: str | None, ids: str | None, attribute: str | None, **values: Any) -> Any:
        return command(permanent=Permanent(key_file, ids, attribute), **values)

    wrapped.__doc__ = command.__doc__
    wrapped.__dict__.update(vars(command))  # the options that stand below
    decorated: Callable[..., Any] = wrapped
    for option in reversed(_OPTIONS):
        decorated = option(decorated)
    return decorated


def _several_values(mechanism: Deployed) -> str:
    """Return what reports about different values of one id leak."""
    if len(mechanism.inputs) < 2:
        return "there is one input alone"
    two = leakage_of_values(mechanism, 2)
    text = "a report that differs tells that the category does, and"
    if two is None:
        return f"{text} there is no bound on the leakage of two categories: some reports rule categories out"
    return (
        f"{text} the reports about T values leak at most T x {text_above(two / 2, 10)} nats, whatever the distribution"
    )


_OPTIONS: tuple[Callable[[Any], Any], ...] = (
    click.option(
        "--key-file",
        metavar="KEY",
        help="Draw permanent reports from this key, which `mechdesign key` makes: the same id and category always get "
        "the same report. Needs --id.",
    ),
    click.option(
        "--id",
        "ids",
        metavar="COLUMN",
        help="The column that says whom a record is about, for --key-file: text or integers, taken as they are. It is "
        "written only if --keep names it; reports of one id, on several days or attributes, can then be linked.",
    ),
    click.option(
        "--attribute",
        metavar="NAME",
        help="What the records say, for --key-file: any text, always the same for the same attribute. Needed where "
        "several columns are reported by one mechanism under one key; without it they share their randomness.",
    ),
)
