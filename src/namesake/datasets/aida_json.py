"""AIDA-CoNLL as the paper's authors store it: a JSON list of records like Quotebank's (see `nelight`).

Here a name is one occurrence and carries its number (`japan0`, `japan1`). Its mention is named after the text it
covers, and the authors' name is the column `original`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import msgspec

from namesake.articles.rejects import Rejects
from namesake.datasets.labelled import Labelled, Occurrence, covered, label
from namesake.datasets.nelight import Name, characters, records, token_spans
from namesake.errors import NamesakeError


def read_aida_json(path: Path, rejects: Rejects) -> Iterator[Labelled]:
    """The authors' articles, with one mention for each occurrence."""
    for where, record in records(path):
        tokens = token_spans(record.content)
        occurrences = []
        for name in record.names:
            spans = [characters(span, tokens, name.name, where) for span in name.offsets]
            if not spans:
                raise NamesakeError(f"{where}: name {name.name!r} has no offsets")
            _check_name(name.name, covered(record.content, spans), where)
            columns = {**name.columns, "original": name.name}
            occurrences.append(Occurrence(spans, _given_gold(name, where), None, name.answers, columns))
        yield label(record.article([]), occurrences, where)


def _given_gold(name: Name, where: str) -> int | str | None:
    if name.gold is msgspec.UNSET:
        raise NamesakeError(f"{where}: name {name.name!r} has no `gold`; null says that nobody is right")
    return name.gold


def _check_name(name: str, surface: str, where: str) -> None:
    """Refuse a name that is not its surface and a number: its offsets count something else."""
    if not re.fullmatch(re.escape(_letters(surface)) + r"\d+", _letters(name)):
        raise NamesakeError(f"{where}: name {name!r} is not {surface!r}, which its span covers, with a number")


def _letters(text: str) -> str:
    return re.sub(r"[\W_]", "", text.casefold())
