"""`namesake link` and `namesake explain`."""

from __future__ import annotations

import gc
import time
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import pyarrow as pa
import pyarrow.compute as pc
import typer
from rich.console import Console

from namesake.errors import NamesakeError

if TYPE_CHECKING:
    from namesake.articles.rejects import Rejects

ArticlesArgument = Annotated[
    list[Path],
    typer.Argument(help="JSONL or .txt (also .gz .bz2 .zst) or Parquet files; - reads JSON lines from standard input"),
]
KbOption = Annotated[
    Path | None, typer.Option("--kb", help="folder made by `namesake kb build`; default: the embedded sample")
]
RecipeOption = Annotated[str, typer.Option("--recipe", help="a shipped recipe's name, or a .toml file")]
ThresholdOption = Annotated[
    float | None, typer.Option("--threshold", min=0, max=1, help="answer only with at least this confidence")
]
DateOption = Annotated[str | None, typer.Option("--date", help="ISO date of the articles that have none")]


def register(app: typer.Typer) -> None:
    """Mount the commands."""
    app.command()(link)
    app.command()(explain)


def link(
    articles: ArticlesArgument,
    out: Annotated[
        Path | None,
        typer.Option("--out", "-o", help=".parquet or .jsonl[.gz|.bz2|.zst]; without it, a table is printed"),
    ] = None,
    kb: KbOption = None,
    recipe: RecipeOption = "default",
    scores: Annotated[bool, typer.Option("--scores", help="also write every candidate with its scores")] = False,
    threshold: ThresholdOption = None,
    date: DateOption = None,
    threads: Annotated[int, typer.Option("--threads", min=0, help="0: one a core")] = 0,
) -> None:
    """Link the names in articles to Wikidata.

    Example: namesake link news.jsonl.gz --kb kb/ -o links.parquet
    """
    from namesake.apps.cli.main import default_kb
    from namesake.articles.rejects import Rejects
    from namesake.engines.local import link_tables
    from namesake.formats.links import LinkWriter
    from namesake.linker import Linker
    from namesake.machine import cores
    from namesake.progress import reporter

    console = Console(stderr=True)
    if scores and out is None:
        raise NamesakeError("--scores is for files: name one with -o, or see `namesake explain`")
    linker = Linker(default_kb(kb), recipe, threshold)
    if out is None:
        from namesake.apps.terminal.links import show_links
        from namesake.apps.terminal.text import show_text

        with Rejects() as rejects:
            for path in articles:
                for table in _tables([path], rejects, date):
                    if ".txt" in path.suffixes:
                        show_text(linker, table, Console())
                    show_links(linker, table, Console(), rejects)
        _report_rejects(rejects, console)
        return
    if out.exists() and any(path.exists() and path.samefile(out) for path in articles):
        raise NamesakeError(f"{out} is one of the articles' files: write the links to another")
    rejects_path = out.with_name(out.name + ".rejects.jsonl")
    began = time.perf_counter()
    seen = linked = 0
    progress = reporter(console)
    gc.freeze()  # what is loaded stays: the collector need not look at it for every thousand articles
    with Rejects(rejects_path) as rejects, LinkWriter(out, linker.metadata) as writer, progress.stage("linking"):
        writer.write(linker.nothing(scores))
        for count, links in link_tables(linker, _tables(articles, rejects, date), threads or cores(), scores, rejects):
            writer.write(links)
            seen += count
            linked += links.num_rows - links.column("qid").null_count
            progress.advance(None, seen, "articles")
    rate = seen / max(time.perf_counter() - began, 1e-9)
    console.print(
        f"{out}: {writer.rows:,} mentions of {seen:,} articles, {linked:,} linked, {rate:,.0f} articles/s",
        highlight=False,
        soft_wrap=True,
    )
    _report_rejects(rejects, console)


def explain(
    articles: Annotated[Path, typer.Argument(help="JSONL or .txt (also .gz .bz2 .zst) or Parquet file")],
    article: Annotated[str, typer.Option("--article", help="the article's id; of a .txt file its name")],
    name: Annotated[str | None, typer.Option("--name", help="only the mention with this name")] = None,
    kb: KbOption = None,
    recipe: RecipeOption = "default",
    threshold: ThresholdOption = None,
    date: DateOption = None,
    all: Annotated[bool, typer.Option("--all", help="every candidate, every match, the whole text")] = False,
    json: Annotated[bool, typer.Option("--json", help="rows for programs: one a candidate and part")] = False,
) -> None:
    """Show why each name of an article was linked as it was.

    Example: namesake explain news.jsonl.gz --article a17 --name "John Smith" --kb kb/
    """
    from namesake.apps.cli.main import default_kb
    from namesake.apps.terminal.explanation import show_explanation
    from namesake.linker import Linker

    linker = Linker(default_kb(kb), recipe, threshold)
    table = _find(articles, article, date)
    rows = linker.explain(table, name)
    if not rows.num_rows:
        known = ", ".join(sorted(set(linker.link(table).column("name").to_pylist()))) or "none"
        wanted = f"no candidates for {name!r}" if name else "no mention with candidates"
        raise NamesakeError(f"article {article}: {wanted}; its names are: {known}")
    if json:
        import msgspec

        print(msgspec.json.format(msgspec.json.encode(rows.to_pylist()), indent=2).decode())
    else:
        show_explanation(table, rows, Console(), all)


def _tables(paths: list[Path], rejects: Rejects, date: str | None = None) -> Iterator[pa.Table]:
    """The articles of all files; `date` is that of those without one. Dates that cannot be read are counted."""
    from namesake.batch import UNDATED, day_number
    from namesake.formats import read_articles

    if date is not None and day_number(date) == UNDATED:
        raise NamesakeError(f"--date {date}: not a date; write it as 2016-12-26, 2016-12 or 2016")
    for path in paths:
        for table in read_articles(path, rejects):
            if date is not None:
                place = table.schema.get_field_index("date")
                table = table.set_column(place, table.schema.field(place), table.column("date").fill_null(date))
            for count in pc.value_counts(table.column("date")):
                text = count["values"].as_py()
                if text is not None and day_number(text) == UNDATED:
                    rejects.unread_dates[text] += count["counts"].as_py()
            yield table


def _find(path: Path, article: str, date: str | None) -> pa.Table:
    from namesake.articles.rejects import Rejects

    for table in _tables([path], Rejects(), date):
        found = table.filter(pc.equal(table.column("id"), article))
        if found.num_rows:
            return found.slice(0, 1)
    raise NamesakeError(f"{path}: no article with the id {article!r}")


def _report_rejects(rejects: Rejects, console: Console) -> None:
    if rejects.unread_dates:
        example, _ = rejects.unread_dates.most_common(1)[0]
        undated = (
            f"articles that count as undated: {rejects.unread_dates.total():,}; {example!r} cannot be read as a date"
        )
        console.print(undated, highlight=False, markup=False, soft_wrap=True)
    if not rejects.count:
        return
    where = f", all of them in {rejects.path}" if rejects.path else ""
    console.print(f"{rejects.count:,} set aside{where}:", highlight=False, soft_wrap=True)
    for reject in rejects.first:
        console.print(f"  {reject}", highlight=False, markup=False, soft_wrap=True)
