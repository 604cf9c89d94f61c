"""`namesake link` and `namesake explain`."""

from __future__ import annotations

import gc
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from namesake.apps.cli import options
from namesake.apps.cli.link_outputs import is_folder, link_into_file, link_into_folder, link_on_spark, print_links
from namesake.apps.cli.output import open_linker, print_json, reported_rejects, say
from namesake.errors import NamesakeError, did_you_mean
from namesake.formats import stdin_formats

if TYPE_CHECKING:
    from namesake.formats.field_names import Reading

STDIN_FORMATS = stdin_formats()
LINK_FORMATS = ("jsonl", "csv", "tsv", "parquet")


def link(
    articles: list[str],
    to: Annotated[str | None, typer.Option("--out", "-o")] = None,
    kb: Path | None = None,
    recipe: options.Recipe = "default",
    scores: bool = False,
    threshold: str | None = None,
    mentions: str = "names",
    text: str | None = None,
    id: str | None = None,
    title: str | None = None,
    date: str | None = None,
    encoding: str | None = None,
    format: str | None = None,
    to_format: Annotated[str | None, typer.Option("--to")] = None,
    flat: bool = False,
    threads: options.Threads = 0,
    workers: Annotated[int | None, typer.Option(min=1)] = None,
    engine: Literal["local", "spark"] = "local",
    master: str | None = None,
    max_line: Annotated[int, typer.Option(min=1, max=1024)] = 256,
) -> None:
    """Link the names in articles to Wikidata entities.

    A stopped run into a folder is resumed by the same command.

    Example: namesake link news.jsonl.gz --kb kb/ -o links.parquet

    Args:
        articles: Files of articles (JSONL, JSON, CSV, TSV or .txt, also .gz .bz2 .zst, or Parquet), folders of them, or
            patterns; - is standard input.
        to: Output: a file .parquet, .jsonl, .csv or .tsv (also .gz .bz2 .zst), a folder DIR/, or - for standard output.
            By default the links are printed as tables.
        scores: Also write every candidate with its scores.
        format: Format of standard input: text, csv, tsv, json or jsonl. The default is jsonl. The format of a file
            follows from its suffix.
        to_format: Format of the links: jsonl, csv, tsv or parquet. The default follows from the suffix of --out; for
            -o - it is jsonl.
        flat: Write one row per occurrence of a name, with start and end.
        workers: Number of processes that link into a folder. The default is one per core.
        engine: Where a run into a folder is executed: on this machine, or on Spark.
        master: Master of Spark, such as local\\[2] or spark://host:7077.
        max_line: Maximum size of one line or .txt file, in MB.
    """
    given = locals()
    if to is None and (scores or flat or to_format):
        option = "--scores applies" if scores else "--flat and --to apply"
        other = "use `namesake explain`" if scores else "-o - for standard output"
        raise NamesakeError(f"{option} to output files: name one with -o, or {other}")
    _check_format("--to", to_format, LINK_FORMATS, "links")
    settings: dict[str, Any] = {"scores": scores, "date": date, "most_line": max_line << 20}
    if engine == "spark":
        _check_spark(given | {"to": to_format, "mentions": mentions != "names"})
        settings |= {"master": master, "recipe": recipe, "threshold": options.threshold_of(threshold)}
        link_on_spark(articles, kb, to, settings)
        return
    if master is not None:
        raise NamesakeError("--master applies to Spark only: add --engine spark")
    paths = [Path(one) for one in articles]
    linker = open_linker(kb, recipe, threshold, mentions, paths)
    settings["reading"], settings["date"] = _reading(paths, given)
    if to is None:
        print_links(linker, paths, settings)
        return
    gc.freeze()  # nothing that is loaded now will be freed, so the collector need not examine it again
    if is_folder(to):
        if flat or to_format:
            raise NamesakeError("--flat and --to apply to a file of links, such as -o links.csv, not to a folder")
        link_into_folder(linker, paths, Path(to), settings | {"workers": workers or 0})
        return
    if workers is not None:
        raise NamesakeError("--workers applies to a folder, such as -o DIR/; for a file use --threads")
    settings |= {"threads": threads, "one_per_span": flat, "format": to_format}
    link_into_file(linker, paths, Path(to), settings)


def explain(
    articles: Path,
    article: str | None = None,
    name: str | None = None,
    kb: Path | None = None,
    recipe: options.Recipe = "default",
    threshold: str | None = None,
    mentions: str = "names",
    text: str | None = None,
    id: str | None = None,
    title: str | None = None,
    date: str | None = None,
    encoding: str | None = None,
    all: bool = False,
    json: options.Json = False,
) -> None:
    """Show why each name of an article was linked to its entity.

    Example: namesake explain news.jsonl.gz --article a17 --name "John Smith" --kb kb/

    Args:
        articles: File of articles: JSONL, JSON, CSV, TSV or .txt (also .gz .bz2 .zst) or Parquet.
        article: Id of the article. It is required if several articles contain the name.
        name: Explain only mentions with this name.
        all: Show every candidate, every match and the whole text.
    """
    given = locals()
    from namesake.engines.file_linker import find_article
    from namesake.explain import names_of_text, no_such_name

    linker = open_linker(kb, recipe, threshold, mentions, [articles])
    with reported_rejects() as rejects:
        reading, date = _reading([articles], given)
        table = find_article(linker, articles, article, name, rejects, date, reading)
        rows = linker.explain(table, name)
        if not rows.num_rows:
            names = linker.link(table).column("name").to_pylist()
            wanted = f"no candidates for {name!r}" if name else "no mention with candidates"
            problem = f"{wanted}; {names_of_text(names, name)}"
            if name is not None and not linker.naming(table, name).num_rows:
                problem = no_such_name(name, names)
            raise NamesakeError(f"article {table.column('id')[0]}: {problem}")
        if json:
            print_json(rows.to_pylist())
        else:
            from namesake.apps.terminal import Console
            from namesake.apps.terminal.explanation import show_explanation

            show_explanation(table, rows, Console(), all)


def _reading(articles: list[Path], given: Mapping[str, Any]) -> tuple[Reading, str | None]:
    """How to read the articles, and the date of undated ones: `--date` names a field unless it is a date."""
    from namesake.articles.days import HOW_TO_WRITE, is_written_as_date
    from namesake.formats.field_names import Reading

    date, format = given["date"], given.get("format")
    if format is not None and not any(str(path) == "-" for path in articles):
        raise NamesakeError(f"--format {format} applies to standard input (-); --to sets the format of the links")
    _check_format("--format", format, STDIN_FORMATS, "standard input")
    if date is not None and not date.strip():
        raise NamesakeError(f"--date is empty: name the field of the date, or write a date as {HOW_TO_WRITE}")
    is_field = date is not None and not is_written_as_date(date) and not date[:4].isdecimal()
    named = {name: given[name] for name in ("text", "id", "title", "encoding")}
    reading = Reading(**named, date=date if is_field else None, format=format, say=say)
    return reading, None if is_field else date


def _check_format(option: str, format: str | None, known: Sequence[str], what: str) -> None:
    if format is not None and format not in known:
        hint = did_you_mean(format, known)
        raise NamesakeError(f"{option} {format}: the formats of {what} are {', '.join(known)}{hint}")


def _check_spark(given: Mapping[str, object]) -> None:
    """Reject options that have no effect on Spark: it reads JSONL and Parquet in our layouts, and writes Parquet."""
    options = ("text", "id", "title", "encoding", "format", "to", "flat", "mentions", "workers", "threads")
    without_effect = [f"--{option}" for option in options if given[option]]
    if without_effect:
        raise NamesakeError(f"{', '.join(without_effect)}: not supported with --engine spark; see docs/spark.md")
