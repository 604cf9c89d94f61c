"""How well the mention's name, and a name beside it, match the names of an entity in the KB."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

from namesake.arrays import Bool, Int64, indptr
from namesake.kernels.names.constants import FIRST_NAME, OF_TEAMS, SHORT, SHORT_FORMS, SIMILAR
from namesake.scorers.evidence_shown import Candidate, Match, Page, Source
from namesake.scorers.registry import DOUBTS, ByClass, Scores, scorer

if TYPE_CHECKING:
    from namesake.batch import Batch
    from namesake.kb.store import KB

LABEL, VARIANT, WORST = 0.99, 0.8, 0.05
"""Match qualities: a label from the first, a variant below the second; lower ones count as the third."""
PART, BEGINNING = 0.85, 0.75
"""Match qualities below which a name of several words is a part, or the beginning, of the entity's name."""

LARGER = (17, 131, 159, 276)
"""Properties whose value is a larger place: country, located in, headquarters, location."""


@scorer("AliasName", early=True, aliases=("Alias",))
def alias_name(batch: Batch) -> Scores:
    """-1 if the mention's name is an alias or a shorter form of the label (0.8 ≤ match quality < 1), else 0."""
    return -((batch.quality >= VARIANT) & (batch.quality < LABEL)).astype(np.float64)


@scorer("VariantName", early=True, aliases=("Variant",))
def variant_name(batch: Batch) -> Scores:
    """-1 if the mention's name is a variant or a part of the entity's, or none of its names (quality < 0.8), else 0."""
    return -(batch.quality < VARIANT).astype(np.float64)


@scorer("NameMatchQuality", early=True, aliases=("Quality",))
def name_match_quality(batch: Batch) -> Scores:
    """log(quality of the name's match), at least log(0.05); the quality is 1 for the entity's label."""
    return np.log(np.maximum(batch.quality, WORST))


@scorer("PartialName", early=True)
def partial_name(batch: Batch) -> Scores:
    """-1 if a name of several words is part or a variant of the entity's name and the label of another candidate."""
    return -_label_of_another(batch, PART).astype(np.float64)


def full_names(candidate: Candidate) -> Iterator[Match]:
    """The longer names by which the article mentions the candidate elsewhere."""
    reading, batch = candidate.reading, candidate.reading.batch
    is_shorter = batch.tokens[reading.mention] == 1 or batch.once(_beginnings)[candidate.number]
    if is_shorter and candidate.row != batch.anchors[reading.mention]:
        for mention in reading.page.once(_full_mentions).get(candidate.row, ()):
            yield Match(sources=[Source("named in full", value=batch.names[mention].as_py())])


def _full_mentions(page: Page) -> dict[int, list[int]]:
    """The mentions of an article with the full name of an entity, by its row."""
    first, last = page.batch.articles[page.article : page.article + 2].tolist()
    found: dict[int, list[int]] = {}
    for mention, row in enumerate(_named_fully(page.batch)[first:last].tolist(), first):
        found.setdefault(row, []).append(mention)
    return found


@scorer("NamedInFull", early=True, anchors=True, explain=full_names)
def named_in_full(batch: Batch) -> Scores:
    """1 for one word of an entity that the article names in full elsewhere, -1 for the beginning of its name, else 0.

    "Jobs" after "Steve Jobs"; but beside "Martin Luther King", "Martin Luther" is another candidate, whose label it is.
    """
    found = batch.mentions.context
    if found is not None:
        return found.in_text.astype(np.float64)
    full, begins = _named_fully(batch), batch.once(_beginnings)
    asked = np.flatnonzero(((batch.tokens == 1)[batch.mention] | begins) & (batch.rows >= 0))
    mention = batch.mention[asked]
    elsewhere = np.isin(batch.article[mention] << 32 | batch.rows[asked], (batch.article << 32 | full)[full >= 0])
    elsewhere &= batch.rows[asked] != batch.anchors[mention]
    scores = np.zeros(len(batch.rows))
    scores[asked] = np.where(elsewhere, np.where(begins[asked], -1.0, 1.0), 0.0)
    return scores


def _named_fully(batch: Batch) -> Int64:
    """The entity row of each mention that is an anchor and has a name of several words, else -1."""
    return np.where(batch.tokens > 1, batch.anchors, -1)


def _beginnings(batch: Batch, kb: KB) -> Bool:
    """Whether a name is only the beginning of a candidate's name, and the label of another candidate."""
    return _label_of_another(batch, BEGINNING)


def _label_of_another(batch: Batch, below: float) -> Bool:
    """Whether a name of several words matches a candidate less well than `below`, and is the label of another one."""
    from namesake.kernels.link.candidate_tables import largest_of

    quality, several = batch.quality, batch.tokens > 1
    has_label = largest_of(batch.offsets, quality, np.zeros(len(several))) >= LABEL
    others: Bool = np.repeat(has_label & several, np.diff(batch.offsets)) & (quality < below)
    return others


def _declare_form(name: str, form: int, description: str) -> None:
    """Declare a scorer for a form of names: -1 for a candidate of which the name in the text is such a form."""

    def of_form(batch: Batch) -> Scores | ByClass:
        found = batch.mentions.context
        return np.zeros(len(batch.rows)) if found is None else ByClass(-np.eye(SIMILAR + 1)[form], found.forms)

    scorer(name, formula=f"-1 if the name in the text is {description}, else 0.", early=True)(of_form)


for _number, (_name, _description) in enumerate(SHORT_FORMS.items()):
    _declare_form(_name, SHORT + _number, _description)
_declare_form("SimilarName", SIMILAR, "a variant or misspelling")


@scorer("FirstNameAfterIn", early=True)
def first_name_after_in(batch: Batch) -> Scores:
    """-1 if the name is the entity's first name after a word such as "in" or "to": Paris Hilton flew to Paris."""
    found = batch.mentions.context
    if found is None:
        return np.zeros(len(batch.rows))

    asked = np.flatnonzero(found.forms == SHORT + FIRST_NAME)
    scores = np.zeros(len(batch.rows))
    before = found.share("before", "IN_PLACE", "TO_PLACE")
    scores[asked] = -before[np.searchsorted(batch.offsets, asked, side="right") - 1]
    return scores


@scorer("TeamInSport", early=True)
def team_in_sport(batch: Batch) -> Scores:
    """SportWords of the text if the name is a place, an adjective or a nickname of the team, else 0."""
    found = batch.mentions.context
    if found is None:
        return np.zeros(len(batch.rows))
    of_team = np.isin(np.arange(SIMILAR + 1), np.add(OF_TEAMS, SHORT))[found.forms]
    return np.repeat(DOUBTS["SportWords"](batch), np.diff(batch.offsets)) * of_team


def excluded_by_the_text(candidate: Candidate) -> Iterator[Match]:
    """The name, if the text says that it means another entity than this one."""
    reading = candidate.reading
    if reading.batch.taken[reading.mention] == candidate.row:
        yield Match(sources=[Source("another of the name", value=reading.name)])


@scorer("AlreadyLinked", explain=excluded_by_the_text, aliases=("Taken",))
def already_linked(batch: Batch) -> Scores:
    """-1 for the best candidate of the article's first mention with this name, if the text says "the other"; else 0."""
    excluded: Scores = -((batch.rows == batch.taken[batch.mention]) & (batch.rows >= 0)).astype(np.float64)
    return excluded


# names of places with those that contain them, such as "Springfield, Illinois"
@scorer("InNextPlace")
def in_next_place(batch: Batch) -> Scores:
    """1 if a comma and the name of a place that contains the candidate follow: Springfield, Illinois; else 0."""
    return batch.once(_contained)[0].astype(np.float64)


@scorer("ContainsPlaceBefore")
def contains_place_before(batch: Batch) -> Scores:
    """1 if the name of an entity in this place and a comma precede: Illinois in Springfield, Illinois; else 0."""
    return batch.once(_contained)[1].astype(np.float64)


def _contained(batch: Batch, kb: KB) -> tuple[Bool, Bool]:
    """Whether each candidate is in a candidate of the name after a comma, and whether it contains one before."""
    from namesake.kernels.link.larger_places import Places, contained

    found = batch.mentions.context
    if found is None:
        return np.zeros(len(batch.rows), np.bool_), np.zeros(len(batch.rows), np.bool_)
    mention, order = np.repeat(np.arange(len(found)), np.diff(found.span_indptr)), np.argsort(found.first)
    before = np.flatnonzero(found.is_behind_comma(found.end))
    low, high = (np.searchsorted(found.first[order], found.end[before], side) for side in ("left", "right"))
    ends = indptr(high - low)
    after = order[np.arange(ends[-1]) + np.repeat(low - ends[:-1], high - low)]
    pairs = mention[np.repeat(before, high - low)], mention[after]
    larger = np.searchsorted(kb.pair_property, [(which, which + 1) for which in LARGER])
    places = Places(kb.statements.indptr, kb.statements.values, larger, kb.pair_value, kb.entity_item)
    inside: tuple[Bool, Bool] = contained(*pairs, batch.offsets, batch.rows, places)
    return inside
