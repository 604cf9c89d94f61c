"""`namesake datasets`: what data sets there are, fetch one, turn one into articles and gold."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from namesake.apps.cli.output import named_kb, report_rejects, say
from namesake.printable import counted

if TYPE_CHECKING:
    from collections import Counter

datasets = typer.Typer(
    name="datasets",
    help="Data sets with gold: list them, fetch one, convert one.",
    no_args_is_help=True,
    add_completion=False,
)


@datasets.command("list")
def show() -> None:
    """List the data sets that can be read, with their licences and where they come from.

    Example: namesake datasets list
    """
    from rich.markup import escape
    from rich.padding import Padding

    from namesake.apps.terminal.console import Console
    from namesake.datasets.catalogue import list_datasets

    console = Console()
    for one in list_datasets():
        fetched = "" if one.url else ", not to be fetched"
        licence = f"licence {one.licence}" if one.licence else "licence not stated"
        console.print(f"[bold]{one.name}[/]  [dim]reader {one.reader}, {escape(licence)}{fetched}[/]", highlight=False)
        about = f"{one.what}; {one.note}" if one.note else one.what
        console.print(Padding(escape(f"{about}\n{one.home}"), (0, 0, 0, 4)), highlight=False)


@datasets.command()
def get(
    name: Annotated[str, typer.Argument(help="a name from `namesake datasets list`")],
    out: Annotated[Path, typer.Option("--out", "-o", help="folder for the file; made if need be")],
) -> None:
    """Fetch a data set from where its owners keep it.

    Example: namesake datasets get news-fair --out data/
    """
    from namesake.datasets.catalogue import find_dataset, get_dataset
    from namesake.progress import reporter

    one, progress = find_dataset(name), reporter()
    with progress.stage(f"fetching {name}"):
        file, checksum = get_dataset(name, out, progress)
    trust = "as on record" if one.checksum else "none is on record: compare it with a copy you trust"
    say(f"{file}: {file.stat().st_size:,} bytes, {checksum} ({trust})")
    say(f"licence: {one.licence or 'not stated by its owners: ask them'}; more: {one.home}")
    if one.note:
        say(f"note: {one.note}")
    say(f"next: namesake datasets convert FILE --reader {one.reader} --articles A.jsonl --gold G.jsonl")


@datasets.command()
def convert(
    file: Annotated[Path, typer.Argument(help="a file of the data set (.gz .bz2 .zst)")],
    reader: Annotated[str, typer.Option("--reader", help="who reads the file: see `namesake datasets list`")],
    articles: Annotated[
        Path | None, typer.Option("--articles", help="articles to write, .jsonl[.gz|.bz2|.zst]; with --gold")
    ] = None,
    gold: Annotated[Path | None, typer.Option("--gold", help="gold to write, .jsonl[.gz|.bz2|.zst]")] = None,
    to: Annotated[
        str | None, typer.Option("--to", help="one file with both: plain, quotebank, elevant (linked articles) or nif")
    ] = None,
    out: Annotated[Path | None, typer.Option("--out", "-o", help="that file: .jsonl, for nif .ttl")] = None,
    truth: Annotated[
        Path | None, typer.Option("--truth", help="gold to read, where the data set keeps it in a file of its own")
    ] = None,
    kb: Annotated[
        Path | None,
        typer.Option("--kb", help="KB that turns titles into QIDs and names into candidates; default: $NAMESAKE_KB"),
    ] = None,
) -> None:
    """Turn a data set into articles for `namesake link` and gold for `namesake evaluate`, or into another format.

    Example: namesake datasets convert test.jsonl --reader zelda --kb kb/ --articles a.jsonl --gold g.jsonl
    """
    from namesake.articles.rejects import Rejects
    from namesake.datasets.convert import convert_dataset

    kb = named_kb(kb)
    with Rejects() as rejects:
        counts = convert_dataset(
            file, reader, articles=articles, gold=gold, to=to, out=out, truth=truth, kb=kb, rejects=rejects
        )
    _report(counts, kb is not None)
    report_rejects(rejects)


def _report(counts: Counter[str], with_kb: bool) -> None:
    """What came out, and what a careful reader should know about it."""
    say(
        f"{counted(counts['articles'], 'article')}, {counted(counts['mentions'], 'mention')}: "
        f"{counts['entity']:,} with an entity, "
        f"{counts['nil']:,} with nobody, {counts['unresolved']:,} with a title that is not resolved",
    )
    if counts["unresolved"]:
        why = "the KB has no entity of that title" if with_kb else "give --kb"
        say(f"unresolved: {why}; their gold is null, and their column `truth` says so")
    if counts["numbered"] and not with_kb:
        say(f"{counts['numbered']:,} names come again and are numbered; --kb gives them their candidates")
