"""What notebooks show: fragments of HTML with their own style, which need nothing from the page around them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from html import escape
from typing import TYPE_CHECKING, Any

from namesake.drawing.candidates import side_by_side, verdict
from namesake.drawing.style import style_sheet
from namesake.drawing.text import marked, name_marks

if TYPE_CHECKING:
    from namesake.kb.records import Found

Row = Mapping[str, Any]

BOX = ".namesake" * 3
"""The selector of our box: three times, since notebooks stripe and colour whatever tables and links they show."""
_OWN = """
@ { padding: 1rem 1.2rem; border-radius: .6rem; border: 1px solid var(--rule); max-width: 70rem; }
@ h2 { font-size: 1.15rem; margin: 0 0 .5rem; }
@ .text { max-width: 46rem; }
@ details.why { margin-top: .8rem; border-top: 1px solid var(--rule); padding-top: .6rem; }
@ details.why > summary { cursor: pointer; font-weight: 600; }
@ dl { display: grid; grid-template-columns: max-content 1fr; gap: .1rem 1rem; margin: 0; }
@ dt { color: var(--soft); } @ dd { margin: 0; }
""".replace("@", BOX)


def fragment(inner: str) -> str:
    """HTML in a box of ours with its style."""
    return f'<div class="namesake"><style>{style_sheet(BOX)}{_OWN}</style>{inner}</div>'


def text_with_links(text: str, title: str | None, links: Sequence[Row]) -> str:
    """A text and its title with every name marked, each with a link to Wikidata."""
    heading = f"<h2>{marked(title, name_marks(links, 'title_spans'))}</h2>" if title else ""
    return f'{heading}<div class="text">{marked(text, name_marks(links))}</div>'


def links_html(text: str, title: str | None, links: Sequence[Row]) -> str:
    """What a list of links shows."""
    return fragment(text_with_links(text, title, links))


def explanation_html(
    text: str,
    title: str | None,
    links: Sequence[Row],
    explained: Sequence[Sequence[Row]],
    people: Mapping[str, Found],
) -> str:
    """The text with its names marked, then each name with its candidates; a name alone is open, others unfold."""
    alone = " open" if len(links) == 1 else ""
    names = "".join(
        f'<details class="why"{alone}><summary>{escape(link["name"])}</summary>{verdict(link)}'
        f"{side_by_side(rows, text, people, link.get('candidates'))}</details>"
        for link, rows in zip(links, explained, strict=True)
    )
    return fragment(text_with_links(text, title, links) + names)


def facts_html(title: str, facts: Iterable[tuple[str, str]]) -> str:
    """A heading and what there is to know, line by line."""
    rows = "".join(f"<dt>{escape(name)}</dt><dd>{escape(value)}</dd>" for name, value in facts if value)
    return fragment(f"<h2>{escape(title)}</h2><dl>{rows}</dl>")
