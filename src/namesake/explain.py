"""Explanations of scores: one row per candidate and scorer, with the evidence and its sources (docs/explanations.md).

Evidence of the text has a row only if it contributes to the score.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import fields
from difflib import get_close_matches
from functools import cache
from typing import Any

import numpy as np
import pyarrow as pa
from msgspec import to_builtins

from namesake import rank
from namesake.articles.schema import SPANS
from namesake.decide import NOT_A_PERSON
from namesake.errors import did_you_mean
from namesake.kb.names.normalise import normalise
from namesake.kb.records import about as about_entity
from namesake.kernels.kinds import KINDS
from namesake.scorers import Candidate, named
from namesake.scorers.evidence_shown import Match, Page, Reading, Source
from namesake.scoring import DECISION, Scored

SOURCE = pa.struct([(field.name, pa.string()) for field in fields(Source)])
_COUNTS = [(name, pa.int32()) for name in ("more_spans", "more_sources")]
MATCH = pa.struct([("word", pa.string()), ("spans", SPANS), ("sources", pa.list_(SOURCE)), *_COUNTS])
"""The dataclasses `Source` and `Match` as Arrow types."""
_TEXT, _NUMBER = pa.string(), pa.float64()
_NAME = {"article_id": _TEXT, "name": _TEXT, "spans": SPANS, "title_spans": SPANS}
_CANDIDATE = {"qid": _TEXT, "label": _TEXT, "description": _TEXT, "kind": _TEXT, "rank": pa.int32(), "score": _NUMBER}
_DECISION = {"confidence": _NUMBER, "margin": _NUMBER, "tie_break": _TEXT, "reason": _TEXT}
_PART = {"part": _TEXT, "role": _TEXT, "value": _NUMBER, "weight": _NUMBER, "contribution": _NUMBER}
EXPLANATION = pa.schema(_NAME | _CANDIDATE | _DECISION | _PART | {"matches": pa.list_(MATCH)})
"""The columns of an explanation, which docs/formats.md describes."""

Row = dict[str, Any]

MOST_NAMES = 10  # names of a text that a message lists


def explain(scored: Scored, name: str | None = None, most: int | None = None) -> pa.Table:
    """The explanation of every mention, or of those with this name; with `most`, only the best candidates and NIL."""
    return pa.Table.from_pylist(list(explanation_rows(scored, name, most)), EXPLANATION)


def explanation_rows(scored: Scored, name: str | None = None, most: int | None = None) -> Iterator[Row]:
    """The rows of `explain` one by one. Missing fields are null in the table."""
    page = cache(lambda article: Page(scored.batch, article))
    for mention in mentions_called(scored, name):
        yield from _mention_rows(scored, Reading(page(int(scored.batch.article[mention])), mention), most)


def mentions_called(scored: Scored, name: str | None) -> list[int]:
    """The mentions, or those with this name in some place: also Jordan for Michael Jordan, in any case."""
    batch = scored.batch
    if name is None:
        return list(range(len(batch.mentions)))
    called, names = normalise(name), [{one} for one in batch.names.to_pylist()]
    for column, lists in ((batch.texts, batch.placed.span_lists), (batch.titles, batch.placed.title_lists)):
        texts = column.to_pylist()
        for article, spans, own in zip(batch.article.tolist(), lists.to_pylist(), names, strict=True):
            own.update(texts[article][start:end] for start, end in spans or ())
    return [m for m, own in enumerate(names) if called in map(normalise, own)]


def no_such_name(name: str, names: Iterable[str]) -> str:
    """The message for a name that a text does not have; `names` are those that it has."""
    known = sorted(set(names))
    return f"no name {name!r}{did_you_mean(name, known)}; {names_of_text(known, name)}"


def names_of_text(names: Iterable[str], near: str | None = None) -> str:
    """The names of a text for a message: all if they are few, else a count and those most similar to `near`."""
    known = sorted(set(names))
    if len(known) <= MOST_NAMES:
        return f"its names are: {', '.join(known) or 'none'}"
    close = get_close_matches(near or "", known, MOST_NAMES, cutoff=0.5)
    listed = close or known[:MOST_NAMES]
    return f"it has {len(known):,} names, {'among them' if close else 'the first are'}: {', '.join(listed)}, …"


def _mention_rows(scored: Scored, reading: Reading, most: int | None) -> Iterator[Row]:
    """The rows of a mention, best candidate first; NIL comes after candidates with the same score."""
    m, batch, combined = reading.mention, scored.batch, scored.combined
    first, second, decided = (int(each[m]) for each in scored.top)
    begin, end = batch.offsets[m : m + 2].tolist()
    keys = (key[begin:end] for key in combined.keys)
    ranked: list[int | None] = (begin + rank.order(np.array([0, end - begin]), *keys)).tolist()
    no_person = scored.decision.reason[m] == NOT_A_PERSON
    if combined.nil is not None and ranked:
        better = int((combined.total[begin:end] >= combined.nil[m]).sum())
        ranked.insert(0 if no_person else better, None)
    left_out = set() if most is None else set([at for at in ranked if at is not None][most:])
    shared = {
        "article_id": batch.ids[reading.article].as_py(),
        "name": reading.name,
        "spans": reading.spans,
        "title_spans": batch.placed.title_lists[m].as_py(),
        "margin": float(combined.total[first] - combined.total[second]) if second >= 0 else None,
        "tie_break": [*combined.names, "position"][decided] if decided > 0 else None,
        "reason": scored.decision.reason_of(m),
    }
    for place, at in enumerate(ranked, 1):
        if at is None:
            sure = 1.0 if no_person else float(scored.probabilities[1][m]) if scored.probabilities else None
            yield from _nil_rows(scored, reading, shared | {"rank": place, "confidence": sure}, end - begin == 1)
        elif at not in left_out:
            sure = 0.0 if no_person else float(scored.probabilities[0][at]) if scored.probabilities else None
            yield from _candidate_rows(scored, Candidate(reading, at), shared | {"rank": place, "confidence": sure})


def _nil_rows(scored: Scored, reading: Reading, shared: Row, single: bool) -> Iterator[Row]:
    """The rows of NIL: its doubts, or the constant of the recipe."""
    rule, m, summands = scored.recipe.decide, reading.mention, scored.nil_parts
    assert rule is not None
    assert scored.combined.nil is not None
    about, rows = shared | {"score": float(scored.combined.nil[m])}, []
    counted = [part for part in rule.parts if part.name in summands]
    for name in dict.fromkeys(part.doubt for part in counted):
        parts = [part for part in counted if part.doubt == name]
        weight = sum(part.weight for part in parts if part.above is None or summands[part.name][m])
        contribution = sum(summands[part.name][m] for part in parts)
        matches = named(name, "doubt").matches(reading)
        rows.append(_part_row(about, name, scored.doubts[name][m], weight, contribution, matches))
    if not rows:
        constant = "alone" if single and rule.alone is not None else "nil"
        number = float(summands[constant][m])
        rows = [_part_row(about | {"score": number}, constant, number, 1.0, number)]
    yield from [row for row in rows if row["contribution"]] or rows[:1]
    yield from _decision_rows(scored, m, summands, m, about)


def _part_row(about: Row, part: str, value: float, weight: float, added: float, matches: Iterable[Match] = ()) -> Row:
    """The row of a part that adds `added` to a score."""
    numbers = {"value": float(value), "weight": float(weight), "contribution": float(added)}
    return about | {"part": part, "role": "part", **numbers, "matches": to_builtins(list(matches))}


def _decision_rows(scored: Scored, mention: int, parts: Mapping[str, Any], at: int, about: Row) -> Iterator[Row]:
    """The row of a decision about a candidate or NIL, with its file and line, reviewer and time."""
    decided, added = scored.batch.decided, float(parts[DECISION][at]) if DECISION in parts else 0.0
    if added and decided is not None and (placed := decided.placed(mention)) is not None:
        said = " ".join(filter(None, [placed.where, placed.decision.by, placed.decision.at]))
        match = Match(sources=[Source("decision", value=said)])
        yield _part_row(about, DECISION, 1.0 if added > 0 else -1.0, abs(added), added, [match])


def _candidate_rows(scored: Scored, candidate: Candidate, shared: Row) -> Iterator[Row]:
    """The rows of a candidate: its parts, then its tie-breakers."""
    combined, kb, at, row = scored.combined, scored.batch.kb, candidate.number, candidate.row
    reading = candidate.reading
    about = shared | {"qid": kb.ids.text(int(scored.batch.qids[at])), "score": float(combined.total[at])}
    if row >= 0:
        about |= {"label": kb.label(row), "description": about_entity(kb, row), "kind": kb.kind_of(row).name}
    kind = scored.batch.kinds[at]
    for name in dict.fromkeys(part.source for part in scored.recipe.parts):
        parts = [part for part in scored.recipe.parts if part.source == name]
        evidence = bool(parts[0].evidence)
        numbers, number = (scored.doubts, reading.mention) if evidence else (scored.scores, at)
        if name not in numbers:  # the KB lacks its data, or another part replaces it
            continue
        shares = {part.name: float(scored.contributions[part.name][at]) for part in parts}
        contribution = sum(shares.values())
        if evidence and not contribution:
            continue
        matches = named(name, "doubt").matches(reading) if evidence else named(name).matches(candidate)
        if contribution and kind >= 0 and any(kind in part.kinds_of(key) for part in parts for key in part.by_kind):
            matches = [*matches, Match(sources=[Source("kind", value=KINDS[kind])])]
        weight = sum(float(part.weight_of(kind)) for part in parts if part.above is None or shares[part.name])
        yield _part_row(about, name, numbers[name][number], weight, contribution, matches)
    yield from _decision_rows(scored, reading.mention, scored.contributions, at, about)
    for name, key in combined.ties.items():
        yield about | {"part": name, "role": "tie-break", "value": float(key[at])}
