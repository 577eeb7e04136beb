"""``mechdesign schema``."""

from __future__ import annotations

import click

from mechdesign.cli.json_output import print_object, print_output
from mechdesign.cli.output import print_facts


@click.command("schema")
@click.argument("name", metavar="[NAME]", required=False)
@click.option("--json", "as_json", is_flag=True, help="Print the names as one JSON object; a schema is JSON anyway.")
def schema_command(*, name: str | None, as_json: bool) -> None:
    """Print the JSON Schema (draft 2020-12) of a file, or of what a command prints with --json.

    \b
    Examples:
      mechdesign schema
      mechdesign schema mechanism > mechanism.schema.json
      mechdesign schema mechdesign/estimate/1

    NAME is a name from the list that is printed without one, or what the key "schema" of a file or of an output says.
    Problem files and sweep files are TOML; their schemas are about the JSON with the same tables, in which dates do
    not occur. What a schema accepts may be refused all the same: rows that do not sum to 2^bits, a false guarantee.
    """  # noqa: D301 - click's mark for a paragraph that is not wrapped
    from mechdesign.schemas import described, document
    from mechdesign.schemas.outputs import SchemaName, SchemasOutput

    if name is not None:
        print_object(document(name))
        return
    entries = described()
    if as_json:
        print_output(SchemasOutput(schemas=list(map(SchemaName.built_from, entries))))
    else:
        print_facts([(entry.name, entry.what) for entry in entries])
