"""Which links of the sample are not what its author expects, and why: for a demo that does not hide them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
from rich.console import Console
from rich.padding import Padding
from rich.text import Text

from namesake.apps.terminal.links import NAME_STYLE, number
from namesake.drawing.theme import percent
from namesake.evaluation.gold import GoldRow
from namesake.kb.records import about
from namesake.linker import Linker
from namesake.printable import one_line

Row = dict[str, Any]
TELLING = 2  # parts that are named as the reason


def show_mistakes(linker: Linker, articles: pa.Table, gold: Sequence[GoldRow], console: Console) -> None:
    """How many links are as expected; each of the others beside the right answer, with what made the difference."""
    truth = {row.mention: row.gold for row in gold}
    links = {(row["article_id"], row["name"]): row for row in linker.link(articles).to_pylist()}
    wrong = [mention for mention, qid in truth.items() if links[mention]["qid"] != qid]
    line = f"{len(truth) - len(wrong)} of {len(truth)} are as they should be. "
    console.print(Text(line + ("Wrong are:" if wrong else ""), style="bold"))
    for article, name in wrong:
        one = articles.filter(pc.equal(articles.column("id"), article))
        link, right = links[article, name], truth[article, name]
        head = Text.assemble((one_line(name), NAME_STYLE), (f" in {one_line(article)}", "dim"))
        if link["qid"] is None:
            said = f"is linked to nobody ({link['reason']})"
        else:
            said = f"is linked to {_who(linker, link['qid'])}, {percent(link['confidence'])} sure"
        meant = "nobody" if right is None else _who(linker, str(right))
        console.print(Padding(Text.assemble(head, f" {said}; meant is {meant}."), (0, 0, 0, 3)))
        why = _why(linker, linker.explain(one, name).to_pylist(), link["qid"], right)
        console.print(Padding(Text(why, style="dim"), (0, 0, 1, 5)))


def _who(linker: Linker, qid: str) -> str:
    at = linker.kb.row(qid)
    what = one_line(about(linker.kb, at)) if at >= 0 else "not in this KB"
    return f"{qid}, {what}" if what else qid


def _why(linker: Linker, rows: list[Row], said: str | None, right: object) -> str:
    """What spoke for the wrong answer, part by part, and how much the KB knows of both."""
    chosen, meant = ([row for row in rows if row["qid"] == qid and row["role"] == "part"] for qid in (said, right))
    if not chosen or not meant or right is None:
        return "Why: the KB has nobody better."
    total = f"{number(chosen[0]['score'])} against {number(meant[0]['score'])}"
    if said is None:
        known = _statements(linker, str(right))
        return f"Why: “none of them” scores {total} for the right one, of whom the KB has only {known}."
    parts = {row["part"]: row["contribution"] for row in meant}
    ahead = sorted(chosen, key=lambda row: parts[row["part"]] - row["contribution"])[:TELLING]
    gaps = (f"{row['part']} {number(row['contribution'])} against {number(parts[row['part']])}" for row in ahead)
    known = " and ".join(_statements(linker, str(qid)) for qid in (said, right))
    return f"Why: it scores {total}, above all by {', '.join(gaps)}; the KB has {known} of the two."


def _statements(linker: Linker, qid: str) -> str:
    at = linker.kb.row(qid)
    count = len(linker.kb.statements[at]) if at >= 0 else 0
    return "1 statement" if count == 1 else f"{count} statements"
