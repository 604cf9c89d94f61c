"""`namesake kb`: build a knowledge base from a dump, and look into one."""

from __future__ import annotations

import time
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import msgspec
import typer

from namesake.apps.cli.output import load_kernels, say
from namesake.apps.terminal.console import Console
from namesake.apps.terminal.kb import (
    NAMESAKES_SHOWN,
    draw_columns,
    draw_entity,
    draw_info,
    draw_namesakes,
    draw_summary,
)
from namesake.kb.manifest import read_manifest

kb = typer.Typer(
    help="Build a knowledge base from a Wikidata dump, and look into it.", no_args_is_help=True, add_completion=False
)

KbPath = Annotated[Path, typer.Argument(metavar="KB", help="folder made by `namesake kb build`")]
AsJson = Annotated[bool, typer.Option("--json", help="print JSON for programs")]


class Keep(StrEnum):
    """Which items become entities."""

    people = "people"
    all = "all"


class Words(StrEnum):
    """How words are normalised."""

    stem = "stem"
    lemma = "lemma"
    none = "none"


@kb.command()
def build(
    dumps: Annotated[
        list[str], typer.Argument(metavar="DUMP", help=".json or JSONL, also .gz, .bz2, .zst; - for stdin")
    ],
    out: Annotated[Path, typer.Option("--out", "-o", help="the folder to make")],
    keep: Annotated[
        Keep, typer.Option(help="items that become entities; all others keep label and links")
    ] = Keep.people,
    wikipedia: Annotated[Path | None, typer.Option(help="CirrusSearch content dump: first paragraphs, PR_WP")] = None,
    ranks: Annotated[
        list[str] | None, typer.Option(metavar="SOURCE=FILE", help="ready-made ranks: wikidata=FILE, wikipedia=FILE")
    ] = None,
    language: Annotated[
        str, typer.Option(help="of labels, words and names, by its name in `namesake.language`")
    ] = "en",
    words: Annotated[
        Words, typer.Option(help="stems, lemmas (needs namesake\\[lemma]) or words as they are")
    ] = Words.stem,
    workers: Annotated[int | None, typer.Option(min=1, help="parsing threads; default: all cores")] = None,
    memory: Annotated[
        str | None, typer.Option(metavar="SIZE", help="memory to take, such as 8G; default: half of the machine's")
    ] = None,
    force: Annotated[
        bool, typer.Option("--force", help="replace the KB at --out when the new one is complete")
    ] = False,
) -> None:
    """Build a KB from Wikidata dumps, in as much memory as you give it.

    Example: namesake kb build latest-all.json.gz --out kb/
    """
    load_kernels()
    from namesake import build_kb
    from namesake.kb.ranks import parse_options
    from namesake.progress import reporter

    began = time.monotonic()
    try:
        manifest = build_kb(
            dumps,
            out,
            keep=keep.value,
            wikipedia=wikipedia,
            ranks=parse_options(ranks or []),
            language=language,
            words=words.value,
            workers=workers,
            memory=memory,
            force=force,
            reporter=reporter(),
        )
    except KeyboardInterrupt:
        say(f"namesake: stopped; {out} was not built and nothing is left of it")
        raise typer.Exit(130) from None
    draw_summary(out, manifest, time.monotonic() - began, Console(stderr=True))


@kb.command()
def info(
    kb: KbPath,
    as_json: AsJson = False,
    verify: Annotated[
        bool, typer.Option("--verify", help="also compare files with their digests, columns with what they may hold")
    ] = False,
    columns: Annotated[bool, typer.Option("--columns", help="list the columns with their sizes instead")] = False,
) -> None:
    """Say what a KB holds and how it was made.

    Example: namesake kb info kb/
    """
    manifest = read_manifest(kb)
    if verify:
        from namesake.kb.store import KB

        KB.open(kb).verify()
    if columns:
        _columns(kb, as_json)
    elif as_json:
        fields = msgspec.to_builtins(manifest)
        del fields["files"]
        typer.echo(msgspec.json.format(msgspec.json.encode(fields)).decode())
    else:
        draw_info(kb, manifest, Console())


def _columns(kb: Path, as_json: bool) -> None:
    from namesake.kb.show import describe_columns
    from namesake.kb.store import KB

    described = describe_columns(KB.open(kb))
    if as_json:
        typer.echo(msgspec.json.format(msgspec.json.encode(described)).decode())
    else:
        draw_columns(described, Console())


@kb.command()
def show(
    kb: KbPath,
    who: Annotated[str, typer.Argument(metavar="QID|NAME", help='such as Q42 or "Tim Wheeler"')],
    as_json: AsJson = False,
) -> None:
    """Show an entity by its QID, or everybody who bears a name.

    Example: namesake kb show kb/ "Tim Wheeler"
    """
    from namesake.kb.show import describe, look_up
    from namesake.kb.store import KB

    opened = KB.open(kb)
    rows = look_up(opened, who)
    entities = [describe(opened, row) for row in (rows if as_json else rows[:NAMESAKES_SHOWN])]
    if as_json:
        typer.echo(msgspec.json.format(msgspec.json.encode(entities)).decode())
    elif len(entities) == 1:
        draw_entity(entities[0], Console())
    else:
        draw_namesakes(kb, who.strip(), entities, len(rows), Console())
