"""Entities, manifests and build summaries, drawn in a terminal."""

from collections import Counter
from itertools import groupby, islice
from pathlib import Path

import msgspec
import pyarrow as pa
from rich.console import Console, Group, RenderableType
from rich.panel import Panel
from rich.table import Column, Table
from rich.text import Text

from namesake.apps.terminal import table
from namesake.kb.manifest import NAMED, OWN_FILE, REJECTS, SOURCES, Manifest, Reject, Update
from namesake.kb.own.records import read_records
from namesake.kb.records import ColumnSize, Entity, Statement, gist, no_label, years
from namesake.kinds import ALL, kind_counts, listed
from namesake.printable import counted, one_line

SHOWN = 5  # rejected lines, updates, and examples of each kind of change
VALUES_SHOWN, NAMESAKES_SHOWN = 8, 50


def draw_info(path: Path, manifest: Manifest, console: Console) -> None:
    """Print what a KB contains, as a panel."""
    size = sum((path / name).stat().st_size for name in manifest.files if (path / name).is_file())
    rows = [("entities", f"{manifest.entities:,}")]
    rows += [(f"  {kind.plural}", f"{manifest.kinds[kind.name]:,}") for kind in listed(manifest.kinds)]
    rows += [(name, f"{getattr(manifest, name):,}") for name in ("items", "statements", "names", "words")]
    rows.append(("rejected", counted(manifest.rejected, "line")))
    rows += [(f"  {reason}", f"{count:,}") for reason, count in manifest.rejected_reasons.items()]
    if manifest.superseded:
        rows.append(("superseded", counted(manifest.superseded, "record") + " of items"))
    if manifest.dates_dropped:
        rows.append(("dropped", counted(manifest.dates_dropped, "impossible date")))
    kept = manifest.keep.replace(",", ", ")
    rows += [("kept", kept), ("words as", manifest.words_how), ("ranks", "\n".join(manifest.ranks))]
    rows += [("dumps", "\n".join(manifest.dumps)), ("dump date", manifest.dump_date or "unknown")]
    rows += [("built", manifest.created), ("size", f"{size / 1e6:,.1f} MB")]
    if OWN_FILE in manifest.files:
        rows.append(("own", counted(len(read_records(path)), "row") + " of `namesake kb add`"))
    if manifest.sources:
        sources = sum((path / name).stat().st_size for name in manifest.files if name.startswith(SOURCES))
        rows.append(("updatable", f"yes; {sources / 1e6:,.1f} MB are kept for updates"))
        rows.append(("generation", f"{manifest.generation:,}"))
    rows += [(f"  {update.date}", update_text(update)) for update in manifest.updates[-SHOWN:]]
    console.print(Panel(_pairs(rows), title=Text(str(path)), title_align="left", expand=False))


def draw_diff(changes: pa.Table, console: Console) -> None:
    """Print how many changes of each kind there are, with some examples."""
    rows: list[list[str | Text]] = []
    start = 0
    for change, number in Counter(changes["change"].to_pylist()).items():  # rows are ordered by change
        examples = changes.slice(start, min(number, SHOWN)).to_pylist()
        start += number
        for shown, one in enumerate(examples):
            what = " → ".join(one_line(one[side]) for side in ("before", "after") if one[side])
            who = one_line(one["label"]) or "(no label)"
            rows.append(["" if shown else change, "" if shown else f"{number:,}", one["qid"], who, what])
    console.print(table(["change", "number", "QID", "label", "before → after"], rows, (0, 2, 3, 4)))
    if not rows:
        console.print("nothing changed")


def draw_columns(columns: list[ColumnSize], console: Console) -> None:
    """Print every column of a KB with its type, size and meaning."""
    rows = []
    for one in columns:
        kind = one.dtype if one.kind == "array" else one.kind
        rows.append([one.attribute, kind, f"{one.rows:,}", f"{one.bytes / 1e6:,.1f}", one.meaning])
    console.print(table(["column", "type", "rows", "MB", "meaning"], rows, (0, 1, 4)))


def draw_entity(entity: Entity, console: Console) -> None:
    """Print one entity: description, dates, ranks and statements."""
    parts: list[RenderableType] = []
    if entity.description:
        parts.append(Text(one_line(entity.description), style="italic"))
    if entity.aliases:
        parts.append(Text("also " + " · ".join(map(one_line, entity.aliases)), style="dim"))
    if entity.paragraph:
        parts.append(Text(one_line(entity.paragraph)))
    lived = f"{entity.birth or '?'} – {entity.death or ''}".strip() if entity.birth or entity.death else ""
    ranks = (("Wikidata", entity.pagerank_wikidata), ("Wikipedia", entity.pagerank_wikipedia))
    pagerank = ", ".join(f"{source} {rank:.3f}" for source, rank in ranks if rank)
    rows = [("kind", entity.kind), ("dates", lived), ("sitelinks (NS)", f"{entity.sitelinks:,}")]
    rows += [("properties (NP)", f"{entity.properties:,}"), ("PageRank", pagerank), ("Wikipedia", entity.title or "")]
    parts.append(_pairs(rows))
    if entity.statements:
        parts.append(_statements(entity.statements))
    title = Text.assemble((one_line(entity.label) or "(no label)", "bold"), " ", (entity.qid, "cyan"))
    console.print(Panel(Group(*parts), title=title, title_align="left", expand=False))


def draw_namesakes(kb: Path, name: str, entities: list[Entity], total: int, console: Console) -> None:
    """Print the entities with a name, the most prominent first, and their total number."""
    console.print(Text(f"{counted(total, 'entity', 'entities')} named {one_line(name)}", style="bold"))
    rows: list[list[str | Text]] = []
    for entity in entities:
        who = Text(one_line(entity.label) or "(no label)", style="bold")
        if what := one_line(entity.description or gist(entity.statements)):
            who = Text.assemble(who, ", ", (what, "" if entity.description else "dim"))
        sitelinks = f"{entity.sitelinks:,}" if entity.sitelinks else ""
        rows.append([entity.qid, who, entity.kind, years(entity.birth, entity.death), sitelinks])
    columns = ["QID", "entity", "kind", "years", "sitelinks"]
    if not any(row[3] for row in rows):  # no dates
        columns, rows = [*columns[:3], columns[4]], [[*row[:3], row[4]] for row in rows]
    console.print(table(columns, rows, range(len(columns) - 1)))
    if total > len(entities):
        console.print(Text(f"and {total - len(entities):,} more; --json lists all of them", style="dim"))
    hint = f"To show one of them in full: namesake kb show {kb} {entities[0].qid}"
    console.print(Text(hint, style="dim"), soft_wrap=True)


def update_text(update: Update) -> str:
    """The counts of an update."""
    counts = ("added", "changed", "deleted", "redirected", "outdated")
    return ", ".join(f"{getattr(update, name):,} {name}" for name in counts if getattr(update, name)) or "no change"


def draw_summary(path: Path, manifest: Manifest, seconds: float, console: Console) -> None:
    """Print what a build made, and what it rejected."""

    def line(text: str, style: str = "") -> None:
        console.print(one_line(text), style=style, highlight=False, markup=False, soft_wrap=True)

    line(
        f"{path}: {counted(manifest.entities, 'entity', 'entities')} ({kind_counts(manifest.kinds)}), "
        f"{counted(manifest.statements, 'statement')}, {counted(manifest.names, 'name')}, "
        f"{counted(manifest.words, 'word')} in {seconds:.1f} s"
    )
    if not manifest.entities and manifest.keep != ALL:
        line(f"none of the {manifest.items:,} items is kept (--keep {manifest.keep}); --keep all keeps all", "yellow")
    if manifest.entities and "wikipedia: none" not in manifest.ranks:
        from namesake.kb.store import KB

        ranked = int((KB.open(path).pagerank_wikipedia > 0).sum())
        if ranked < manifest.entities / 2:
            effect = "recipes that use PR_WP treat the others as unknown"
            line(f"only {ranked:,} entities have a Wikipedia rank; {effect}", "yellow")
    if manifest.updates:
        line(f"generation {manifest.generation:,}: {update_text(manifest.updates[-1])}")
    elif manifest.superseded:
        line(f"{manifest.superseded:,} records of items do not count: they were replaced or deleted later", "yellow")
    if manifest.dates_dropped:
        dates = counted(manifest.dates_dropped, "impossible date was", "impossible dates were")
        line(f"{dates} dropped", "yellow")
    if manifest.rejected:
        reasons = ", ".join(f"{count:,} × {reason}" for reason, count in manifest.rejected_reasons.items())
        line(f"{manifest.rejected:,} rejected: {reasons}", "yellow")
        with (path / REJECTS).open("rb") as rejects:
            for reject in islice(rejects, SHOWN):
                record = msgspec.json.decode(reject, type=Reject)
                line(f"  {record.file}:{record.line}: {record.reason}", "dim")
        which = "all of them" if manifest.rejected <= NAMED else f"the first {NAMED:,} of them"
        line(f"  {which}: {path / REJECTS}", "dim")


def _statements(statements: list[Statement]) -> Table:
    """One line per property, with its values."""
    rows: list[list[str | Text]] = []
    for key, group in groupby(statements, key=lambda statement: statement.property):
        same = list(group)
        shown = list(map(_value, same[:VALUES_SHOWN]))
        if len(same) > VALUES_SHOWN:
            shown.append(Text(f"and {len(same) - VALUES_SHOWN} more", style="dim"))
        rows.append([same[0].property_label, Text(key, style="dim"), Text(", ").join(shown)])
    return table(["property", "", "values"], rows, range(3))


def _value(statement: Statement) -> Text:
    """A value: its label, its years, and its QID in the background."""
    text = Text(statement.label or no_label(statement.value))
    if statement.start or statement.end:
        text.append(f" {(statement.start or '')[:-6]}–{(statement.end or '')[:-6]}")
    if statement.label and statement.value != statement.label:
        text.append(f" {statement.value}", style="dim")
    return text


def _pairs(rows: list[tuple[str, str]]) -> Table:
    table = Table.grid(padding=(0, 2))
    table.columns.extend([Column(style="dim"), Column(overflow="fold")])
    for name, value in rows:
        if value:
            table.add_row(name, Text(value))
    return table
