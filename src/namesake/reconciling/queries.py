"""Cells of a table as queries: names as people write them there, the kind of a column, and rows as articles."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from urllib.parse import unquote

import numpy as np
import pyarrow as pa

from namesake.arrays import Float64
from namesake.articles.schema import ARTICLES
from namesake.batch import Query
from namesake.kb.columns import Strings
from namesake.kb.kinds import HeadNouns
from namesake.kb.names.normalise import normalise
from namesake.kb.store import KB
from namesake.kernels.kinds import OTHER, PERSON
from namesake.kinds import kinds, parse_kinds
from namesake.linker import Linker
from namesake.scorers.value_lookup import find_property

_SURROGATES = re.compile("[\ud800-\udfff]")
_SUFFIX = re.compile(r"(?:jr|sr|ii|iii|iv|v|esq|m\.?d|ph\.?\s?d|mba|cpa|obe|cbe|mbe|kbe|mp|qc|kc)\.?", re.I)
_FULL_STOP = re.compile(r"([a-z0-9)])[.!?]*[\t\n\f\r ]*[.!?\n\r][\t\n\f\r ]*")
"""The end of a sentence within a cell, but not the end of an abbreviation such as U.S."""
_QID = re.compile(r"(?:(?:https?://)?(?:www\.|m\.)?wikidata\.org/(?:wiki|entity)/|wd:)?(Q[1-9][0-9]{0,17})", re.I)
_WIKIPEDIA = re.compile(r"(?:https?://)?en\.(?:m\.)?wikipedia\.org/wiki/([^?#\s]+).*", re.I)
_REMARK = re.compile(r"(.*\S)\s*[(\[]([^()\[\]]+)[)\]]")
STYLES = frozenset({"the", "rt", "right", "hon", "honourable", "honorable", "his", "her", "excellency", "h", "e"})
"""Words before names, beside the titles of the language: The Rt Hon Boris Johnson."""
SAMPLE = 200  # distinct names that the guess of a kind reads
MOST = 0.6  # the share of the names, weighted by fame, from which a kind is that of the column
WITH_HEADING = 0.2  # the same for the kind that the heading names, such as Company


def stated_qid(kb: KB, cell: str) -> str | None:
    """The QID that a cell states: a QID, an address of Wikidata, or one of Wikipedia whose entity the KB has."""
    cell = cell.strip()
    if found := _QID.fullmatch(cell):
        return found[1].upper()
    if not (title := _title(cell)):
        return None
    names = [title, *(form for form, _ in _forms(kb, title))]
    rows = (int(row) for name in names for row in kb.names.lookup(name)[0])
    return next((kb.ids.text(int(kb.qids[row])) for row in rows if kb.titles[row] == title), None)


def usual_form(kb: KB, name: str) -> tuple[str, str]:
    """A name in a form that the KB has, if there is one, without the remark in brackets behind it; and the remark."""
    name = _title(name) or name
    if not name or len(kb.names.lookup(name)[0]):
        return name, ""
    forms = list(_forms(kb, name))
    found = next((one for one in forms if len(kb.names.lookup(one[0])[0])), None)
    return found or (forms[0] if forms and forms[0][1] else (name, ""))


def _title(cell: str) -> str:
    """The title of an address of Wikipedia; else an empty text."""
    found = _WIKIPEDIA.fullmatch(cell.strip())
    return unquote(found[1]).replace("_", " ").strip() if found else ""


def _forms(kb: KB, name: str) -> Iterator[tuple[str, str]]:
    """Other forms of a name, each with the remark that it leaves out."""
    remark = ""
    if found := _REMARK.fullmatch(name):
        name, remark = found[1], found[2].strip()
        yield name, remark
    words = name.split()
    while len(words) > 1 and normalise(words[0]) in STYLES | kb.language.honorifics:
        words.pop(0)
        yield " ".join(words), remark
    if len(words) in (2, 3):
        yield " ".join([*words[1:], words[0]]), remark  # Obama Barack
        yield " ".join([words[-1], *words[:-1]]), remark


def plain_name(name: str) -> str:
    """The name as in a text: "Jordan, Michael" becomes Michael Jordan; "Michael Jordan, Jr." is unchanged."""
    name = " ".join(_SURROGATES.sub("\ufffd", name).split())
    last, comma, first = name.partition(",")
    first = first.strip()
    if not comma or not last.strip() or not first or "," in first or _SUFFIX.fullmatch(first):
        return name
    return f"{first} {last.strip()}"


def plain_query(kb: KB, query: Query, kinds: tuple[int, ...] | None = None) -> Query:
    """The query with its name as in a text (`usual_form`), and with the values of unknown properties among its words.

    Entities that are not people may have a comma in their names: "Apple, Inc." stays, and of "Springfield, Illinois"
    the second part becomes a word about the first, unless the KB has the whole name.
    """
    name, words = " ".join(_SURROGATES.sub("\ufffd", query.name).split()), [query.context]
    if "," not in name:
        name, remark = usual_form(kb, name)
        words = [remark, *words]
    if kb.manifest.people == len(kb):
        name = plain_name(name)
    elif "," in name and not len(kb.names.lookup(name)[0]):
        turned = plain_name(name) if kinds is None or PERSON in kinds else name
        head, _, tail = (part.strip() for part in name.partition(","))
        if turned != name and (kinds == (PERSON,) or len(kb.names.lookup(turned)[0])):
            name = turned
        elif head and not kb.language.legal_forms.issuperset(normalise(tail).split()):
            name, words = head, [tail, *words]
    if kinds is not None and PERSON not in kinds:  # before a colon, "Inc." is another word than "Inc"
        name = name.rstrip(".") or name
    words += [value.strip() for called, value in query.values if find_property(kb, called) is None]
    return replace(query, name=name, context=", ".join(filter(None, words)))


def articles_of(queries: Sequence[Query]) -> pa.Table:
    """One article per query: the name, which is the only mention, and all cells as one sentence about the entity."""
    rows = []
    for at, query in enumerate(queries):
        name, context = query.name, _SURROGATES.sub("\ufffd", query.context)
        mentions = [{"name": name, "spans": [[0, len(name)]]}] if name else []
        text = _FULL_STOP.sub(r"\1; ", context)
        rows.append({"id": str(at), "text": f"{name}: {text}", "date": query.date, "mentions": mentions})
    return pa.Table.from_pylist(rows, ARTICLES)


def kinds_of_column(
    linker: Linker, kind: str | Iterable[str] | None, names: Sequence[str], heading: str, say: Callable[[str], None]
) -> tuple[int, ...] | None:
    """The kinds to match: `kind`, else those of the linker, else a guess, which `say` reports; None: all kinds."""
    if kind is not None:
        return parse_kinds(kind)
    if linker.kinds is not None or len(linker.kb.kinds) == 1:
        return linker.kinds
    shares = shares_of_kinds(linker.kb, names)
    [named] = HeadNouns(linker.kb.language)(Strings.of([heading.replace("_", " ")])).tolist()
    best = int(np.argmax(shares))
    if OTHER < named < len(shares) and shares[named] >= WITH_HEADING:  # "surname" and "gene" are no kinds
        best = named
    elif best == OTHER or shares[best] < MOST:
        say("matching entities of every kind (no kind has most of the names; `kind=` chooses one)")
        return None
    say(f"matching {kinds()[best].plural} (guessed from the column; `kind=` changes it)")
    return (best,)


def shares_of_kinds(kb: KB, names: Sequence[str]) -> Float64:
    """The share of each kind in some names: for a name, in the fame of the most famous entities of each kind."""
    distinct = list(dict.fromkeys(filter(None, names)))
    asked = Strings.of(distinct[:: -(-len(distinct) // SAMPLE) or 1])
    ends, rows, _ = kb.names.lookup_many(asked.data, asked.offsets)
    fame = np.zeros((len(asked), len(kinds())))
    name = np.repeat(np.arange(len(asked)), np.diff(ends))
    np.maximum.at(fame, (name, kb.kind[rows]), 1.0 + kb.sitelinks[rows])
    fame = fame[fame.any(axis=1)]
    shares: Float64 = (fame / fame.sum(axis=1, keepdims=True)).sum(axis=0) / max(len(fame), 1)
    return shares
