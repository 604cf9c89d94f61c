"""The candidates of one name side by side: who they are, how sure we are of each, and why."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape
from itertools import groupby
from typing import TYPE_CHECKING, Any

from namesake.drawing.evidence import Evidence, Shared, evidence
from namesake.drawing.meanings import REASONS, percent
from namesake.drawing.text import wikidata
from namesake.drawing.waterfall import extent, waterfall
from namesake.printable import one_line

if TYPE_CHECKING:
    from namesake.kb.records import Found

Row = Mapping[str, Any]

SHOWN = 5
"""People; "none of them" comes on top."""
LINES = 5
"""Of what matched, of each kind."""


def by_candidate(rows: Sequence[Row]) -> list[list[Row]]:
    """The rows of one name's explanation, candidate by candidate, best first."""
    return [list(group) for _, group in groupby(rows, key=lambda row: row["rank"])]


def shown(rows: Sequence[Row], most: int = SHOWN) -> list[list[Row]]:
    """The first candidates, and "none of them" wherever it stands."""
    candidates = by_candidate(rows)
    people = [candidate for candidate in candidates if candidate[0]["qid"] is not None]
    return [candidate for candidate in candidates if candidate not in people[most:]]


def side_by_side(rows: Sequence[Row], text: str, people: Mapping[str, Found], total: int | None = None) -> str:
    """Cards of the first candidates of one name, drawn to one scale; `total` is how many candidates there are."""
    candidates = shown(rows)
    scale = extent(candidates)
    cards = "".join(_card(candidate, text, people, scale) for candidate in candidates)
    left = (total or 0) - sum(candidate[0]["qid"] is not None for candidate in candidates)
    more = f'<p class="soft">… and {left:,} more who bear the name.</p>' if left > 0 else ""
    return f'<div class="candidates">{cards}</div>{more}'


def verdict(link: Row) -> str:
    """One sentence: whom the name means and how sure that is, or why it is nobody we can name."""
    if link["qid"] is None:
        why = REASONS.get(link["reason"], one_line(link["reason"]))
        best = f" The best is {wikidata(link['best'], link.get('best_label'))}" if link["best"] else ""
        sure = f", {percent(link['confidence'])} likely." if best and link["confidence"] is not None else best and "."
        return f'<p class="verdict"><b class="nobody">Nobody</b>: {escape(why)}.{best}{sure}</p>'
    sure = "" if link["confidence"] is None else f", {percent(link['confidence'])} sure"
    how = "the only candidate" if link["margin"] is None else "ahead of all others"
    if link["tie_break"]:
        how = f"scores tie, {escape(link['tie_break'])} decided"
    return f'<p class="verdict">{wikidata(link["qid"], link.get("label"))}: {how}{sure}.</p>'


def _card(rows: Sequence[Row], text: str, people: Mapping[str, Found], scale: tuple[float, float]) -> str:
    first = rows[0]
    found = evidence(rows, text)
    at = " ".join(str(start) for start, _ in found.spans)
    kinds = ["candidate", *["best"] * (first["rank"] == 1), *["none"] * (first["qid"] is None)]
    return (
        f'<article class="{" ".join(kinds)}" data-qid="{escape(first["qid"] or "")}" data-words="{at}">'
        f"{_who(first, people)}{_likelihood(first['confidence'])}{waterfall(rows, scale)}{_evidence(found)}</article>"
    )


def _who(first: Row, people: Mapping[str, Found]) -> str:
    if first["qid"] is None:
        about = "Somebody whom the knowledge base does not have, or no person at all."
        return f'<h3><span class="nobody">none of them</span></h3><p class="about">{about}</p>'
    person = people.get(first["qid"])
    label = one_line(first["label"]) or "not in this knowledge base"
    about = one_line(person.description if person else first["description"])
    years = f'<span class="years">{escape(person.years)}</span>' if person and person.years else ""
    code = f'<span class="code">{escape(first["qid"])}</span>'
    return (
        f"<h3>{wikidata(first['qid'], label)}</h3>"
        f'<p class="about">{escape(about)}</p><p class="soft">{" · ".join(filter(None, (years, code)))}</p>'
    )


def _likelihood(confidence: float | None) -> str:
    """A bar as long as the probability."""
    if confidence is None:
        return ""
    return (
        '<p class="likelihood"><svg viewBox="0 0 100 6" preserveAspectRatio="none" aria-hidden="true">'
        '<rect class="whole" width="100" height="6"/>'
        f'<rect class="part" width="{100 * confidence:.1f}" height="6"/></svg> <b>{percent(confidence)}</b></p>'
    )


def _evidence(found: Evidence) -> str:
    """What matched: words by their sources, statements shared with people of the text, other notes."""
    telling = [_statement(one) for one in found.shared if not one.common]
    common = [_statement(one) for one in found.shared if one.common]
    facts = "1 common fact" if len(common) == 1 else f"{len(common)} common facts"
    notes = f'<p class="soft">{escape("; ".join(found.notes))}</p>' if found.notes else ""
    return (
        _list("Words of the text", [_words(*one) for one in found.words])
        + _list("Shared with people in the text", telling)
        + (_folded(f"{facts} shared", common) if common else "")
        + notes
    )


def _list(heading: str, items: Sequence[str]) -> str:
    """A list under its heading; what is too much unfolds. One more is not worth a fold."""
    if not items:
        return ""
    cut = LINES if len(items) > LINES + 1 else len(items)
    more = _folded(f"{len(items) - cut} more", items[cut:]) if items[cut:] else ""
    return f"<h4>{heading}</h4><ul>{''.join(items[:cut])}</ul>{more}"


def _folded(summary: str, items: Sequence[str]) -> str:
    return f"<details><summary>{summary}</summary><ul>{''.join(items)}</ul></details>"


def _words(source: str, words: Sequence[str]) -> str:
    """Words as the text has them, and where the candidate has them from."""
    these = ", ".join(f'<span class="match">{escape(word)}</span>' for word in words)
    return f"<li>{these}" + (f' <span class="soft">← {escape(source)}</span>' if source else "") + "</li>"


def _statement(one: Shared) -> str:
    people = ", ".join(wikidata(qid, label) for qid, label in one.people)
    people += f" and {one.more:,} more" if one.more else ""
    what = f'<span class="soft">{escape(one.property)}:</span> {escape(one.value)}'
    return f'<li>{what} <span class="soft">with</span> {people}</li>'
