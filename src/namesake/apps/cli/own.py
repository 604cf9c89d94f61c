"""`namesake kb add`, `remove`, `list` and `undo`: own entities of a KB."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from namesake.apps.cli import common
from namesake.errors import NamesakeError
from namesake.printable import counted

KbPath = Annotated[Path, typer.Argument(metavar="KB", help="Folder of the KB, made by `namesake kb build`.")]


def add(
    kb: KbPath,
    entities: Annotated[Path, typer.Argument(metavar="FILE")],
    id_prefix: Annotated[str, typer.Option()],
    id: str | None = None,
    name: str | None = None,
    aliases: str | None = None,
    description: str | None = None,
    never: str | None = None,
    kind: str | None = None,
    type: list[str] | None = None,
    own_iri: str = "",
    encoding: str | None = None,
) -> None:
    """Add your own entities to a KB, and aliases for its entities. `kb undo` takes an addition back.

    Example: namesake kb add kb/ staff.csv --id-prefix acme --kind person --type employer=Firm

    Args:
        entities: CSV, TSV, JSONL, JSON or Parquet file with one row per entity, or records in Wikidata's JSON.
        id_prefix: Prefix of the ids, such as acme for acme:jane-doe.
        id: Column of ids. The default is `id`, or ids are made of the names. A row whose id is a QID only adds aliases.
        name: Column of names. The default is `name`.
        aliases: Column of other names, separated by | or ;. The default is `aliases`.
        description: Column of descriptions. The default is `description`.
        never: Column of names that never mean the entity of the row. The default is `never`.
        kind: Kind of all entities, such as person or organisation. By default it is in the column `kind`, or follows
            from statements and descriptions.
        type: Property and its column, such as employer=Firm or P108=Firm; repeatable. Values are QIDs, own ids, dates,
            or names, which are resolved and reported.
        own_iri: Prefix of the IRIs of own entities, in NIF and OpenRefine. The default is that of the last
            addition, or urn:namesake:.
        encoding: Encoding of CSV and TSV files, such as cp1252. The default is UTF-8.
    """
    settings = {key: value for key, value in locals().items() if key not in ("kb", "entities", "type")}
    types: dict[str, list[str]] = {}
    for text in type or ():
        prop, _, column = (part.strip() for part in text.partition("="))
        if not prop or not column:
            raise NamesakeError(f"--type {text}: write it as property=column, such as employer=Firm")
        types.setdefault(prop, []).append(column)
    common.load_kernels()
    from namesake import add_entities

    added = add_entities(kb, entities, **settings, type=types, say=common.say)
    changed = f", {counted(added.changed, 'entity', 'entities')} changed" if added.changed else ""
    common.say(f"{kb}: {counted(added.entities, 'own entity', 'own entities')} added{changed}")


def remove(kb: KbPath, ids: Annotated[list[str], typer.Argument(metavar="ID")]) -> None:
    """Remove own entities from a KB, or the aliases that you added to an entity of Wikidata.

    Example: namesake kb remove kb/ acme:jane-doe

    Args:
        ids: Ids such as acme:jane-doe, or QIDs.
    """
    common.load_kernels()
    from namesake import remove_entities

    common.say(f"{kb}: {counted(remove_entities(kb, ids), 'row')} removed")


def list_(kb: KbPath, own: Annotated[bool, typer.Option("--own")] = False, as_json: common.Json = False) -> None:
    """List the own entities of a KB, and the aliases and corrections for entities of Wikidata.

    Example: namesake kb list kb/ --own

    Args:
        own: List what was added with `namesake kb add`.
    """
    if not own:
        raise NamesakeError("name what to list: --own lists what was added with `namesake kb add`")
    from namesake.kb.manifest import read_manifest
    from namesake.kb.own.records import read_records

    read_manifest(kb)
    records = read_records(kb)
    if as_json:
        common.print_json(records)
        return
    for record in records:
        labels = [label.value for label in record.labels.values()][:1]
        named = "; ".join([*labels, *record.other_names, *(f"never {name}" for name in record.never)])
        print(f"{record.id}\t{record.kind or '-'}\t{named}")


def undo(kb: KbPath) -> None:
    """Take back the last `namesake kb add`.

    Example: namesake kb undo kb/
    """
    common.load_kernels()
    from namesake import undo_addition

    common.say(f"{kb}: {counted(undo_addition(kb), 'row')} of the last addition removed")


def propose(kb: Path) -> None:
    """Print a line for each own entity of a KB that Wikidata may have as well."""
    from namesake.kb.own.records import read_records

    if records := read_records(kb):
        from namesake import KB
        from namesake.own_entities import proposals

        for line in proposals(KB.open(kb), {record.id for record in records}):
            common.say(line)
