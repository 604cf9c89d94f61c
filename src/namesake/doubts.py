"""Evidence for NIL ("not in the knowledge base"), called doubts for short: one number for each mention.

A recipe weighs doubts as it weighs scorers; their sum is the score of NIL (`decide.py`). Most of them come from the
text around a name that the detector found, and are 0 for names that an article lists. Importing this module loads no
compiled code.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow.compute as pc

from namesake import text_evidence  # which declares more evidence
from namesake.arrays import take_rows
from namesake.kinds import PEOPLE
from namesake.scorers.evidence_shown import Match, Reading, Source
from namesake.scorers.popularity import fames
from namesake.scorers.registry import DOUBTS, Need, Scores, doubt
from namesake.text_evidence import t

if TYPE_CHECKING:
    from namesake.batch import Batch
    from namesake.kb.store import KB
    from namesake.kernels.names.expected import WordCounts
    from namesake.language import Language
    from namesake.names.hypotheses import Found

__all__ = ["DOUBTS", "doubt", "text_evidence"]

POPULATION = 500_000.0
"""ExpectedNamesakes counts among this many people, or those of the KB if it has fewer."""
FLOOR = np.exp(-5.0)
"""Added to the expected number of people: rarer names make no difference."""
MOST_COUNTED = 20
"""Entities with a name that NamesakeCount and CandidateCount count."""
MIDDLE = 1000.0
"""A middle token that at least one label in this many has does not make a name rarer."""

TOKENS = Need("counts of the tokens of names (`kb build` makes them)", lambda kb: len(kb.names.token_hashes) > 0)


# the name and its article
@doubt("Constant")
def constant(batch: Batch) -> Scores:
    """1 for every mention."""
    return np.ones(len(batch.names))


@doubt("GivenName")
def given_name(batch: Batch) -> Scores:
    """1 for a name that the article or the table lists, 0 for one that was found in the text."""
    return np.full(len(batch.names), float(batch.mentions.context is None))


def token_counts(reading: Reading) -> Iterator[Match]:
    """How many people's labels begin with the name's first token, and how many end with its last."""
    first, _, last = reading.batch.once(_token_counts)
    if first[reading.mention] >= 0:
        for source, count in (("begins names", first), ("ends names", last)):
            yield Match(sources=[Source(source, value=str(int(count[reading.mention])))])


@doubt("ExpectedNamesakes", needs=TOKENS, explain=token_counts, aliases=("Expected",))
def expected_namesakes(batch: Batch, kb: KB) -> Scores:
    """log(E + e⁻⁵), E: people of half a million with such a name by chance, (F + ½)(L + ½) / P; 0 for one word.

    F and L of the P labels with two or more tokens begin with the first and end with the last token; a middle token
    that is rarer than one in a thousand reduces E. If the text names several people with a surname in full, the full
    name with the most common first name counts.
    """
    first, middle, last = batch.once(_token_counts)
    people = max(_labels(kb), 1)
    expected = (first + 0.5) * (last + 0.5) / people * min(POPULATION / people, 1.0)
    rare = np.where(middle < 0, 1.0, np.minimum(1.0, (middle + 0.5) / people * MIDDLE))
    return np.where(first < 0, 0.0, np.log(np.where(first < 0, 1.0, expected * rare) + FLOOR))


def _token_counts(batch: Batch, kb: KB) -> tuple[Scores, Scores, Scores]:
    """For each mention, the labels that begin with its first token, have its rarest middle token, end with its last."""
    from namesake.kernels.names.expected import count_labels
    from namesake.kernels.names.index import token_hashes

    names, found = kb.names, batch.mentions.context
    known = names.token_hashes, names.token_first, names.token_middle, names.token_last
    if found is None:
        ends = np.zeros(len(batch.names) + 1, np.int64)
        hashes = token_hashes(batch.spelled.data, batch.spelled.offsets, ends)
    else:
        ends, hashes = found.name_hashes
    counts: tuple[Scores, Scores, Scores] = count_labels(hashes, ends, *known)
    return counts


@lru_cache(maxsize=4)
def _labels(kb: KB) -> float:
    """How many people's labels have two or more tokens: each has one first token."""
    return float(kb.names.token_first.sum())


@doubt("ArticleLength", aliases=("Length",))
def article_length(batch: Batch, kb: KB) -> Scores:
    """log(1 + distinct words of the article that are in the KB), without those of the name."""
    from namesake.kernels.link.word_sums import distinct_words
    from namesake.kernels.types import Ragged

    texts, names = (Ragged(of.indptr, of.word) for of in (batch.words, batch.name_words))
    counts: Scores = distinct_words(texts, batch.article, names, len(kb.words))
    return np.log1p(counts)


@doubt("NameFame")
def name_fame(batch: Batch, kb: KB) -> Scores:
    """log(1 + Σ NS) over the candidates: beside `Fame` in the scores, a candidate's share of the name's fame counts.

    A candidate that AlreadyLinked excludes does not count.
    """
    if not len(kb.sitelinks):
        return np.zeros(len(batch.names))
    from namesake.kernels.link.candidate_tables import pages_of_names

    pages: Scores = pages_of_names(batch.offsets, batch.rows, batch.taken, kb.sitelinks)
    return np.log1p(pages)


# names that were found in the text
def _in_byline(found: Found) -> Any:
    """Whether each span follows "By" at the start of a sentence, or "Photo by"."""
    opens = found.has_mark(found.first - 1, t.AT_START) & found.has_capital(found.first - 1)
    return found.is_before(t.BY) & (opens | found.is_listed(found.first - 2, t.CREDIT))


@doubt("Byline")
def byline(batch: Batch, kb: KB) -> Scores:
    """1 for the author of the text (By …, Photo by …, …/AP) if no candidate is described as a journalist, else 0.

    Authors are seldom written about, so a famous name in a byline is that of another person.
    """
    stands = (batch.of_text(_in_byline) > 0).astype(np.float64)
    asked, texts = np.flatnonzero(stands), kb.descriptions
    if not len(asked) or not kb.language.journalists:
        return stands
    offsets, candidate = take_rows(batch.offsets, asked)
    described = pc.match_substring_regex(texts.take(batch.rows[candidate]).arrow(), _as_words(kb.language))
    found = np.repeat(asked, np.diff(offsets))[described.fill_null(False).to_numpy(zero_copy_only=False)]
    stands[found] = 0.0
    return stands


@lru_cache(maxsize=4)
def _as_words(language: Language) -> str:
    """A regular expression for one of the language's words for journalists, between spaces or commas, in any case."""
    end = r"[\s\x0b\x1c-\x1f\x85\p{Z},]"
    return rf"(?i)(?:^|{end})(?:{'|'.join(map(re.escape, sorted(language.journalists)))})(?:$|{end})"


@doubt("OtherEntityFame", aliases=("Thing",))
def other_entity_fame(batch: Batch) -> Scores:
    """log(1 + fame) of the most famous item with this name that is not among the KB's entities; 0 without one."""
    found = batch.mentions.context
    return np.zeros(len(batch.names)) if found is None else np.log1p(found.other_fame)


@doubt("OtherEntityShare", aliases=("ThingShare",))
def other_entity_share(batch: Batch, kb: KB) -> Scores:
    """log(1 + fame of that item / fame of the most famous candidate): Paris, Jordan, Houston."""
    found = batch.mentions.context
    return np.zeros(len(batch.names)) if found is None else np.log1p(found.other_fame / _best_fame(batch, kb))


@doubt("KindsMissing")
def kinds_missing(batch: Batch, kb: KB) -> Scores:
    """1 for a name found in the text if the KB has people only: most names in a text mean other entities."""
    missing = batch.mentions.context is not None and kb.manifest.keep == PEOPLE
    return np.full(len(batch.names), float(missing))


@doubt("OtherPlace")
def other_place(batch: Batch) -> Scores:
    """Share of the spans after "in", "to" and the like, if an item that is no entity of the KB has this name."""
    found = batch.mentions.context
    if found is None:
        return np.zeros(len(batch.names))
    return np.where(found.other_fame > 0, found.mean(found.is_before(t.IN_PLACE | t.TO_PLACE)), 0.0)


def _best_fame(batch: Batch, kb: KB, kept: Any = None) -> Scores:
    """The fame of the most famous candidate of each mention, or of those that are kept; at least 0.1."""
    from namesake.kernels.link.candidate_tables import largest_of

    fame = batch.once(fames)
    largest: Scores = largest_of(
        batch.offsets, fame if kept is None else np.where(kept, fame, 0.0), np.full(len(batch.names), 0.1)
    )
    return largest


@doubt("BestFame")
def best_fame(batch: Batch, kb: KB) -> Scores:
    """log(1 + fame) of the most famous entity with exactly this name, for names found in the text; else 0."""
    from namesake.kernels.names.constants import SHORT

    found = batch.mentions.context
    return np.zeros(len(batch.names)) if found is None else np.log1p(_best_fame(batch, kb, found.forms < SHORT))


@doubt("NamesakeCount", aliases=("Bearers",))
def namesake_count(batch: Batch) -> Scores:
    """log(1 + number of entities with exactly this name, at most 20), for names found in the text; else 0."""
    found = batch.mentions.context
    return np.zeros(len(batch.names)) if found is None else np.log1p(np.minimum(found.namesakes, MOST_COUNTED))


@doubt("CandidateCount")
def candidate_count(batch: Batch) -> Scores:
    """log(1 + number of entities with this name or short form, at most 20), for names found in the text; else 0."""
    found = batch.mentions.context
    return np.zeros(len(batch.names)) if found is None else np.log1p(np.minimum(found.listed, MOST_COUNTED))


def _word_counts(batch: Batch, kb: KB) -> WordCounts | None:
    """How the KB's names and descriptions use the words of names."""
    from namesake.kernels.names.expected import count_words

    found = batch.mentions.context
    if found is None:
        return None
    names = kb.names
    tables = names.token_hashes, names.token_first, names.token_lower
    counts: WordCounts = count_words(found.texts.hashes, found.first[found.leads], found.end[found.leads], *tables)
    return counts


def _word_count(name: str, field: str, formula: str, *aliases: str) -> None:
    """Declare log(1 + a field of the counts of a name's words) as evidence for NIL; 0 for names that articles list."""

    def read(batch: Batch) -> Scores:
        counts = batch.once(_word_counts)
        return np.zeros(len(batch.names)) if counts is None else np.log1p(getattr(counts, field))

    doubt(name, formula=formula, needs=TOKENS, aliases=aliases)(read)


_word_count(
    *("LowercaseUse", "least_lower"),
    "log(1 + how often the KB's descriptions have the name's word in lower case), of its words the rarest.",
    "Lower",
)
_word_count("BeginsNames", "first_names", "log(1 + labels of people that begin with the name's first word).")
