"""`namesake kb`: build a knowledge base from a dump, and inspect it."""

import time
from pathlib import Path
from typing import Annotated, Literal

import msgspec
import numpy as np
import typer

import namesake
from namesake.apps.cli import common
from namesake.apps.terminal import Console
from namesake.apps.terminal import kb as drawn
from namesake.errors import NamesakeError
from namesake.files import keep_apart
from namesake.kb.columns.column_files import Strings
from namesake.kb.manifest import read_manifest
from namesake.kb.own.records import read_records
from namesake.kb.records import describe, describe_columns, look_up
from namesake.kb.store import KB
from namesake.kinds import kind_counts
from namesake.machine import named_kb
from namesake.printable import counted
from namesake.progress import reporter

group = common.group("Build a knowledge base from a Wikidata dump, and inspect it.")

SUGGESTED = 3  # similar names that are suggested for a name that is not in the KB
LONGEST = 30  # maximum length of a word for which misspellings are tried
KbPath = Annotated[Path, typer.Argument(metavar="KB", help="Folder of the KB, made by `namesake kb build`.")]


@group.command()
def build(
    dumps: Annotated[list[str], typer.Argument(metavar="DUMP")],
    out: common.Out,
    keep: Annotated[str | None, typer.Option(metavar="KINDS")] = None,
    wikipedia: Path | None = None,
    ranks: Annotated[list[str] | None, typer.Option(metavar="SOURCE=FILE")] = None,
    language: str = "en",
    words: Literal["stem", "lemma", "none"] = "stem",
    workers: Annotated[int | None, typer.Option(min=1)] = None,
    memory: Annotated[str | None, typer.Option(metavar="SIZE")] = None,
    force: bool = False,
    updatable: bool = False,
    deleted: Annotated[Path | None, typer.Option(metavar="IDS")] = None,
) -> None:
    """Build a KB from Wikidata dumps, within a limit of memory."""
    settings = locals()
    common.load_kernels()
    from namesake.kb.dump.ranks import parse_options

    began = time.monotonic()
    with common.resumable():
        manifest = namesake.build_kb(**settings | {"ranks": parse_options(ranks or [])}, reporter=reporter())
    drawn.draw_summary(out, manifest, time.monotonic() - began, Console(stderr=True))


@group.command()
def update(
    kb: KbPath,
    changes: Annotated[list[str] | None, typer.Argument(metavar="CHANGES")] = None,
    out: common.OptionalOut = None,
    deleted: Annotated[Path | None, typer.Option(metavar="IDS")] = None,
    workers: Annotated[int | None, typer.Option(min=1)] = None,
    memory: Annotated[str | None, typer.Option(metavar="SIZE")] = None,
    force: bool = False,
) -> None:
    """Add changes to a KB that was built with --updatable. The same command resumes a stopped update."""
    settings = locals()
    common.load_kernels()
    began = time.monotonic()
    with common.resumable():
        manifest = namesake.update_kb(**settings | {"changes": changes or ()}, reporter=reporter())
    drawn.draw_summary(out or kb, manifest, time.monotonic() - began, Console(stderr=True))
    if records := read_records(out or kb):
        from namesake.own_entities import proposals

        for line in proposals(KB.open(out or kb), {record.id for record in records}):
            common.say(line)


@group.command()
def diff(
    old: Annotated[Path, typer.Argument(metavar="OLD")],
    new: Annotated[Path, typer.Argument(metavar="NEW")],
    out: common.OptionalOut = None,
) -> None:
    """List what changed between two KBs: added, removed, merged and relabelled entities, and aliases."""
    common.load_kernels()
    from namesake.formats.table_files import write_rows, writer_suffix

    if out:
        writer_suffix(out)
        keep_apart([out], [old, new])
    changes = namesake.diff_kbs(old, new)
    if out:
        write_rows(changes, out, from_kb=("label", "before", "after"))
    drawn.draw_diff(changes, Console(stderr=out is not None))


@group.command()
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
    """Add your own entities to a KB, and aliases for its entities. `kb undo` takes an addition back."""
    settings = {key: value for key, value in locals().items() if key not in ("kb", "entities", "type")}
    types = common.properties(type)
    common.load_kernels()
    added = namesake.add_entities(kb, entities, **settings, type=types, say=common.say)
    changed = f", {counted(added.changed, 'entity', 'entities')} changed" if added.changed else ""
    common.say(f"{kb}: {counted(added.entities, 'own entity', 'own entities')} added{changed}")


@group.command()
def remove(kb: KbPath, ids: Annotated[list[str], typer.Argument(metavar="ID")]) -> None:
    """Remove own entities from a KB, or the aliases that you added to an entity of Wikidata."""
    common.load_kernels()
    common.say(f"{kb}: {counted(namesake.remove_entities(kb, ids), 'row')} removed")


@group.command("list")
def list_(kb: KbPath, own: Annotated[bool, typer.Option("--own")] = False, as_json: common.Json = False) -> None:
    """List the own entities of a KB, and the aliases and corrections for entities of Wikidata."""
    if not own:
        raise NamesakeError("name what to list: --own lists what was added with `namesake kb add`")
    read_manifest(kb)
    records = read_records(kb)
    if as_json:
        common.print_json(records)
        return
    for record in records:
        labels = [label.value for label in record.labels.values()][:1]
        named = "; ".join([*labels, *record.other_names, *(f"never {name}" for name in record.never)])
        print(f"{record.id}\t{record.kind or '-'}\t{named}")


@group.command()
def undo(kb: KbPath) -> None:
    """Take back the last `namesake kb add`."""
    common.load_kernels()
    common.say(f"{kb}: {counted(namesake.undo_addition(kb), 'row')} of the last addition removed")


@group.command()
def info(
    kb: Annotated[Path | None, typer.Argument(metavar="KB")] = None,
    as_json: common.Json = False,
    verify: bool = False,
    columns: bool = False,
) -> None:
    """Show what a KB contains and how it was built."""
    kb = _named(kb)
    manifest = read_manifest(kb)
    if verify:
        KB.open(kb).verify()
    if columns:
        described = describe_columns(KB.open(kb))
        common.print_json(described) if as_json else drawn.draw_columns(described, Console())
    elif as_json:
        common.print_json({name: value for name, value in msgspec.to_builtins(manifest).items() if name != "files"})
    else:
        drawn.draw_info(kb, manifest, Console())


@group.command()
def embed(
    kb: KbPath,
    encoder: Annotated[str, typer.Option()],
    device: str | None = None,
    truncate: bool = False,
    force: bool = False,
) -> None:
    """Add vectors of its texts to a KB, for CSE, NCSE and CSSVE. The same command resumes a stopped run."""
    settings = locals()
    common.load_kernels()
    with common.resumable():
        made = namesake.embed(**settings, reporter=reporter())
    which = f"{made.entities:,} entities and {made.values:,} values"
    common.say(f"{kb}: {which} have vectors of {made.dimension} dimensions")


@group.command()
def walk(
    kb: KbPath,
    dimensions: common.Positive = 64,
    walks: common.Positive = 5,
    length: common.Positive = 20,
    window: common.Positive = 5,
    seed: Annotated[int, typer.Option(min=0)] = 1,
    force: bool = False,
) -> None:
    """Add DeepWalk vectors of its graph to a KB, for Eigen. The same seed gives the same vectors."""
    settings = locals()
    common.load_kernels()
    made = namesake.walk(**settings, reporter=reporter())
    common.say(f"{kb}: {made.entities:,} entities have vectors of {made.dimension} dimensions from random walks")


@group.command()
def show(asked: Annotated[list[str], typer.Argument(metavar="[KB] QID|NAME")], as_json: common.Json = False) -> None:
    """Show the entity with a QID, or all entities with a name."""
    if len(asked) > 2:
        raise NamesakeError(f'{asked[2]}: only one name is allowed; put quotes around several words: "Tim Wheeler"')
    *folder, who = asked
    kb = _named(Path(folder[0]) if folder else None)
    common.load_kernels()
    opened = KB.open(kb)
    try:
        rows = look_up(opened, who)
    except NamesakeError as problem:
        near = " or ".join(map(repr, _near_names(opened, who)))
        raise NamesakeError(f"{problem} (did you mean {near}?)" if near else str(problem)) from None
    entities = [describe(opened, row) for row in (rows if as_json else rows[: drawn.NAMESAKES_SHOWN])]
    if as_json:
        common.print_json(entities)
    elif len(entities) == 1:
        drawn.draw_entity(entities[0], Console())
    else:
        drawn.draw_namesakes(kb, who.strip(), entities, len(rows), Console())


def _near_names(kb: KB, name: str) -> list[str]:
    """Labels of the most prominent entities with a similar name: a short form, a variant, or one letter different."""
    from namesake.kb.names.normalise import normalise
    from namesake.names.candidates import candidates

    asked, short, tokens = Strings.of([name]), kb.names.short_form(name), normalise(name).split()
    close = [] if short is None else [short.rows]
    close += [candidates(kb.names, asked.data, asked.offsets, variants="missing").rows]
    if len(tokens) > 1 and max(len(tokens[0]), len(tokens[-1])) <= LONGEST:
        for right, wrong in ((tokens[0], tokens[-1]), (tokens[-1], tokens[0])):
            for less in (wrong, *(wrong[:at] + wrong[at + 1 :] for at in range(len(wrong)))):
                close += [kb.names.entities[int(found)] for found in kb.names.misspelled(right, less)]
    rows = np.unique(np.concatenate(close))
    best_known = rows[np.argsort(-kb.sitelinks[rows], kind="stable")].tolist()
    return list(dict.fromkeys(kb.label(row) for row in best_known))[:SUGGESTED]


def _named(kb: Path | None) -> Path:
    if (named := kb or named_kb()) is None:
        raise NamesakeError("no KB is named: give its folder, or set NAMESAKE_KB to it")
    return named


@group.command()
def pack(kb: KbPath, out: common.Out) -> None:
    """Pack a KB into one file, after checking its files against their digests."""
    checksum = namesake.pack_kb(kb, out, reporter())
    common.say(f"{out}: {out.stat().st_size:,} bytes, {checksum}")
    common.say(f"unpack it with `namesake kb get {out} --checksum {checksum}`")


@group.command()
def get(
    source: Annotated[str, typer.Argument(metavar="FILE|URL")],
    out: common.OptionalOut = None,
    checksum: str | None = None,
    force: bool = False,
) -> None:
    """Unpack a KB from a file or an address, and check it. An interrupted download is resumed."""
    settings = locals()
    common.load_kernels()
    began = time.monotonic()
    folder, manifest = namesake.get_kb(**settings, reporter=reporter())
    seconds = time.monotonic() - began
    common.say(f"{folder}: {manifest.entities:,} entities ({kind_counts(manifest.kinds)}) in {seconds:.1f} s")
    common.say(f"use it with --kb {folder}, or for all commands with NAMESAKE_KB={folder.absolute()}")
