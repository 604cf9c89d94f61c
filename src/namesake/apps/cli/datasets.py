"""`namesake datasets` (data sets with gold) and `namesake quotebank` (the corpus of quotations)."""

from pathlib import Path
from typing import Annotated, Any

import typer

import namesake
from namesake.apps.cli import common
from namesake.machine import named_kb
from namesake.printable import counted
from namesake.progress import reporter

datasets = common.group("List, download and convert data sets with gold.")
quotebank = common.group("Process Quotebank, the corpus of quotations.")
quotebank.callback()(lambda: None)  # with it, a group of one command stays a group


@datasets.command("list")
def show() -> None:
    """List the data sets that Namesake can read, with licences and sources."""
    from rich.markup import escape
    from rich.padding import Padding

    from namesake.apps.terminal import Console

    console = Console()
    for one in namesake.list_datasets():
        fetched = "" if one.url else ", cannot be downloaded"
        licence = f"licence {one.licence}" if one.licence else "licence not stated"
        console.print(f"[bold]{one.name}[/]  [dim]reader {one.reader}, {escape(licence)}{fetched}[/]", highlight=False)
        about = f"{one.what}; {one.note}" if one.note else one.what
        console.print(Padding(escape(f"{about}\n{one.home}"), (0, 0, 0, 4)), highlight=False)


@datasets.command()
def get(name: str, out: common.Out) -> None:
    """Download a data set from its owners."""
    from namesake.datasets.catalogue import find_dataset

    one, progress = find_dataset(name), reporter()
    with progress.stage(f"downloading {name}"):
        found, checksum = namesake.get_dataset(name, out, progress)
    trust = "as recorded" if one.checksum else "no checksum is recorded: compare it with a copy that you trust"
    common.say(f"{found}: {found.stat().st_size:,} bytes, {checksum} ({trust})")
    common.say(f"licence: {one.licence or 'not stated by its owners: ask them'}; more: {one.home}")
    if one.note:
        common.say(f"note: {one.note}")
    common.say(f"next: namesake datasets convert FILE --reader {one.reader} --articles A.jsonl --gold G.jsonl")


@datasets.command()
def convert(
    file: Path,
    reader: Annotated[str, typer.Option()],
    articles: Path | None = None,
    gold: Path | None = None,
    to: str | None = None,
    out: common.OptionalOut = None,
    truth: Path | None = None,
    kb: Path | None = None,
) -> None:
    """Convert a data set to articles for `namesake link` and gold for `namesake eval`, or to another format."""
    settings = locals() | {"kb": kb or named_kb()}
    with common.reported_rejects() as rejects:
        counts = namesake.convert_dataset(**settings, rejects=rejects)
        many = f"{counted(counts['articles'], 'article')}, {counted(counts['mentions'], 'mention')}"
        nil = f"{counts['nil']:,} NIL, {counts['unresolved']:,} with a title that could not be resolved"
        common.say(f"{many}: {counts['entity']:,} with an entity, {nil}")
        if counts["unresolved"]:
            why = "the KB has no entity with that title" if settings["kb"] else "give --kb"
            common.say(f"unresolved: {why}; their gold is null, and their column `truth` says `unresolved`")
        if counts["numbered"] and not settings["kb"]:
            many = counted(counts["numbered"], "name occurs", "names occur")
            common.say(f"{many} more than once; the repetitions are numbered, and --kb gives them their candidates")


@quotebank.command()
def disambiguate(
    quotes: list[Path],
    out: common.Out,
    articles: list[Path] | None = None,
    kb: Path | None = None,
    recipe: common.Recipe = "default",
    threshold: str | None = None,
    threads: common.Threads = 0,
) -> None:
    """Link the speaker of each quotation: one row per quotation, with QID, confidence and reason."""
    linker, articles = common.open_linker(kb, recipe, threshold), articles or []
    with common.reported_rejects(out) as rejects:
        given: dict[str, Any] = {"rejects": rejects, "reporter": reporter()}
        tally = namesake.disambiguate(linker, quotes, out, articles=articles, threads=threads, **given)
        reasons = ", ".join(f"{count:,} × {reason}" for reason, count in tally.reasons.most_common())
        many = f"{counted(tally.quotes, 'quotation')}, {counted(tally.linked, 'speaker')} linked"
        others = f"; others: {reasons}" if reasons else ""
        common.say(f"{out}: {many}, {tally.by_articles:,} by their articles{others}")
