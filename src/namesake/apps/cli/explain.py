"""`namesake explain`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from namesake.apps.cli import options
from namesake.apps.cli.link import Date, Id, Mentions, Text, Title, reading_of
from namesake.apps.cli.output import default_kb, report_rejects, warn_of_sample
from namesake.errors import NamesakeError


def explain(
    articles: Annotated[
        Path, typer.Argument(help="JSONL, JSON, CSV, TSV or .txt (also .gz .bz2 .zst) or Parquet file")
    ],
    article: Annotated[
        str | None, typer.Option("--article", help="the article's id, where the file has more than one with the name")
    ] = None,
    name: Annotated[str | None, typer.Option("--name", help="only who is called so in some place")] = None,
    kb: options.Kb = None,
    recipe: options.Recipe = "default",
    threshold: options.Threshold = None,
    mentions: Mentions = "names",
    text: Text = None,
    id: Id = None,
    title: Title = None,
    date: Date = None,
    encoding: options.Encoding = None,
    all: Annotated[bool, typer.Option("--all", help="every candidate, every match, the whole text")] = False,
    json: Annotated[bool, typer.Option("--json", help="rows for programs: one for each candidate and part")] = False,
) -> None:
    """Show why each name of an article was linked as it was.

    Example: namesake explain news.jsonl.gz --article a17 --name "John Smith" --kb kb/
    """
    folder = default_kb(kb)
    from namesake import Linker
    from namesake.articles.rejects import Rejects
    from namesake.engines.article_files import find_article, find_named
    from namesake.explain import names_of_text, no_such_name

    linker = Linker(folder, recipe, options.threshold_of(threshold), mentions)
    warn_of_sample(folder, kb, [articles])
    with Rejects() as rejects:
        reading, date = reading_of([articles], text, id, title, date, encoding, None)
        if article is None and name is not None:
            table = find_named(linker, articles, name, rejects, date, reading)
        else:
            table = find_article(articles, article, rejects, date, reading)
    rows = linker.explain(table, name)
    if not rows.num_rows:
        names = linker.link(table).column("name").to_pylist()
        if name is not None and not linker.naming(table, name).num_rows:
            raise NamesakeError(f"article {table.column('id')[0]}: {no_such_name(name, names)}")
        wanted = f"no candidates for {name!r}" if name else "no mention with candidates"
        raise NamesakeError(f"article {table.column('id')[0]}: {wanted}; {names_of_text(names, name)}")
    if json:
        import msgspec

        print(msgspec.json.format(msgspec.json.encode(rows.to_pylist()), indent=2).decode())
    else:
        from namesake.apps.terminal.console import Console
        from namesake.apps.terminal.explanation import show_explanation

        show_explanation(table, rows, Console(), all)
    report_rejects(rejects)
