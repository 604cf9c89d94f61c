"""Names as people write them in tables: a QID or an address, titles before a name, the surname first, a remark."""

import re
from collections.abc import Iterator
from urllib.parse import unquote

from namesake.kb.names.normalise import normalise
from namesake.kb.store import KB

_QID = re.compile(r"(?:(?:https?://)?(?:www\.|m\.)?wikidata\.org/(?:wiki|entity)/|wd:)?(Q[1-9][0-9]{0,17})", re.I)
_WIKIPEDIA = re.compile(r"(?:https?://)?en\.(?:m\.)?wikipedia\.org/wiki/([^?#\s]+).*", re.I)
_REMARK = re.compile(r"(.*\S)\s*[(\[]([^()\[\]]+)[)\]]")
STYLES = frozenset({"the", "rt", "right", "hon", "honourable", "honorable", "his", "her", "excellency", "h", "e"})
"""Words before names, beside the titles of the language: The Rt Hon Boris Johnson."""


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
    """A name in a form that the KB has, and the remark that stood in brackets behind it.

    A name that the KB has is unchanged, as is one that it has in none of these forms, apart from the remark.
    """
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
