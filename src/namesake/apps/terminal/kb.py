"""Entities, manifests and build summaries, drawn for a terminal."""

from __future__ import annotations

from itertools import groupby, islice
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec
from rich import box
from rich.console import Console, Group, RenderableType
from rich.panel import Panel
from rich.table import Table
from rich.text import Text

from namesake.kb.dump.rejected_lines import NAMED
from namesake.kb.manifest import REJECTS, Manifest, Reject
from namesake.kb.records import gist, no_label, years
from namesake.printable import counted, one_line

if TYPE_CHECKING:
    from namesake.kb.records import ColumnSize, Entity, Statement

VALUES_SHOWN = 8
REJECTS_SHOWN = 5
NAMESAKES_SHOWN = 50


def draw_info(path: Path, manifest: Manifest, console: Console) -> None:
    """What a KB holds, as a panel."""
    size = sum((path / name).stat().st_size for name in manifest.files if (path / name).is_file())
    counts = ("entities", "people", "items", "statements", "names", "words")
    rows = [(name, f"{getattr(manifest, name):,}") for name in counts]
    rows.append(("rejected", counted(manifest.rejected, "line")))
    rows += [(f"  {reason}", f"{count:,}") for reason, count in manifest.rejected_reasons.items()]
    if manifest.superseded:
        rows.append(("superseded", f"{manifest.superseded:,} items of earlier dumps"))
    if manifest.dates_dropped:
        rows.append(("left out", counted(manifest.dates_dropped, "impossible date")))
    rows += [("kept", manifest.keep), ("words as", manifest.words_how), ("ranks", "\n".join(manifest.ranks))]
    rows += [("dumps", "\n".join(manifest.dumps)), ("dump date", manifest.dump_date or "unknown")]
    rows += [("built", manifest.created), ("size", f"{size / 1e6:,.1f} MB")]
    console.print(Panel(_pairs(rows), title=Text(str(path)), title_align="left", expand=False))


def draw_columns(columns: list[ColumnSize], console: Console) -> None:
    """Every column of a KB: what it is and how large."""
    table = Table(box=box.SIMPLE_HEAD)
    table.add_column("column", style="cyan", no_wrap=True)
    table.add_column("type", no_wrap=True)
    table.add_column("rows", justify="right", no_wrap=True)
    table.add_column("MB", justify="right", no_wrap=True)
    table.add_column("meaning", ratio=1)
    for column in columns:
        kind = column.dtype if column.kind == "array" else column.kind
        table.add_row(column.attribute, kind, f"{column.rows:,}", f"{column.bytes / 1e6:,.1f}", Text(column.meaning))
    console.print(table)


def draw_entity(entity: Entity, console: Console) -> None:
    """One entity: who, when, how known, and every statement."""
    parts: list[RenderableType] = []
    if entity.description:
        parts.append(Text(one_line(entity.description), style="italic"))
    if entity.aliases:
        parts.append(Text("also " + " · ".join(map(one_line, entity.aliases)), style="dim"))
    if entity.paragraph:
        parts.append(Text(one_line(entity.paragraph)))
    parts.append(_pairs([("lived", lifetime(entity)), *_fame(entity)]))
    if entity.statements:
        parts.append(_statements(entity.statements))
    title = Text.assemble((one_line(entity.label) or "(no label)", "bold"), " ", (entity.qid, "cyan"))
    console.print(Panel(Group(*parts), title=title, title_align="left", expand=False))


def draw_namesakes(kb: Path, name: str, entities: list[Entity], total: int, console: Console) -> None:
    """Those who bear a name, the best known first, and how many there are in all."""
    console.print(Text(f"{total:,} are called {one_line(name)}", style="bold"))
    table = Table(box=box.SIMPLE_HEAD, expand=True)
    table.add_column("QID", style="cyan", no_wrap=True)
    table.add_column("who", ratio=1)
    table.add_column("lived", no_wrap=True)
    table.add_column("sitelinks", justify="right", no_wrap=True)
    for entity in entities:
        about = Text(one_line(entity.label) or "(no label)", style="bold")
        if entity.description or gist(entity.statements):
            about = Text.assemble(
                about, ", ", one_line(entity.description) or (one_line(gist(entity.statements)), "dim")
            )
        table.add_row(
            entity.qid, about, years(entity.birth, entity.death), f"{entity.sitelinks:,}" if entity.sitelinks else ""
        )
    console.print(table)
    if total > len(entities):
        console.print(Text(f"and {total - len(entities):,} more: --json lists them all", style="dim"))
    console.print(Text(f"One of them in full: namesake kb show {kb} {entities[0].qid}", style="dim"), soft_wrap=True)


def draw_summary(path: Path, manifest: Manifest, seconds: float, console: Console) -> None:
    """What a build made, and what it had to set aside."""

    def line(text: str, style: str = "") -> None:
        console.print(one_line(text), style=style, highlight=False, markup=False, soft_wrap=True)

    line(
        f"{path}: {counted(manifest.entities, 'entity', 'entities')} ({counted(manifest.people, 'person', 'people')}), "
        f"{counted(manifest.statements, 'statement')}, {counted(manifest.names, 'name')}, "
        f"{counted(manifest.words, 'word')} in {seconds:.1f} s"
    )
    if not manifest.entities and manifest.keep == "people":
        line(f"nobody among its {manifest.items:,} items is a person (P31 = Q5): --keep all keeps them all", "yellow")
    if manifest.entities and "wikipedia: none" not in manifest.ranks:
        from namesake.kb.store import KB

        ranked = int((KB.open(path).pagerank_wikipedia > 0).sum())
        if ranked < manifest.entities / 2:
            line(
                f"only {ranked:,} entities have a Wikipedia rank: recipes with PR_WP take the others for unknown",
                "yellow",
            )
    if manifest.superseded:
        line(f"{manifest.superseded:,} items count as a later dump has them", "yellow")
    if manifest.dates_dropped:
        line(f"{manifest.dates_dropped:,} dates that name no possible day are left out", "yellow")
    if manifest.rejected:
        reasons = ", ".join(f"{count:,} × {reason}" for reason, count in manifest.rejected_reasons.items())
        line(f"{manifest.rejected:,} set aside: {reasons}", "yellow")
        with (path / REJECTS).open("rb") as rejects:
            for reject in islice(rejects, REJECTS_SHOWN):
                record = msgspec.json.decode(reject, type=Reject)
                line(f"  {record.file}:{record.line}: {record.reason}", "dim")
        which = "all of them" if manifest.rejected <= NAMED else f"the first {NAMED:,} of them"
        line(f"  {which}: {path / REJECTS}", "dim")


def lifetime(entity: Entity) -> str:
    """Such as 1961-08-04 – , 1900 – 1980, or nothing."""
    if not entity.birth and not entity.death:
        return ""
    return f"{entity.birth or '?'} – {entity.death or ''}".strip()


def _fame(entity: Entity) -> list[tuple[str, str]]:
    rows = [("sitelinks (NS)", f"{entity.sitelinks:,}"), ("properties (NP)", f"{entity.properties:,}")]
    ranks = (("Wikidata", entity.pagerank_wikidata), ("Wikipedia", entity.pagerank_wikipedia))
    rows.append(("PageRank", ", ".join(f"{source} {rank:.3f}" for source, rank in ranks if rank)))
    if entity.title:
        rows.append(("Wikipedia", entity.title))
    return rows


def _statements(statements: list[Statement]) -> Table:
    """One line per property, with its values."""
    table = Table(box=box.SIMPLE_HEAD)
    table.add_column("property", style="green", overflow="fold")
    table.add_column("", style="dim", no_wrap=True)
    table.add_column("values", overflow="fold")
    for key, group in groupby(statements, key=lambda statement: statement.property):
        same = list(group)
        shown = [_value(statement) for statement in same[:VALUES_SHOWN]]
        if len(same) > VALUES_SHOWN:
            shown.append(Text(f"and {len(same) - VALUES_SHOWN} more", style="dim"))
        table.add_row(Text(same[0].property_label), key, Text(", ").join(shown))
    return table


def _value(statement: Statement) -> Text:
    """A value as a reader wants it: its label, its years, its QID in the background."""
    text = Text(statement.label or no_label(statement.value))
    if statement.start or statement.end:
        text.append(f" {(statement.start or '')[:-6]}–{(statement.end or '')[:-6]}")
    if statement.label and statement.value != statement.label:
        text.append(f" {statement.value}", style="dim")
    return text


def _pairs(rows: list[tuple[str, str]]) -> Table:
    table = Table.grid(padding=(0, 2))
    table.add_column(style="dim")
    table.add_column(overflow="fold")
    for name, value in rows:
        if value:
            table.add_row(name, Text(value))
    return table
