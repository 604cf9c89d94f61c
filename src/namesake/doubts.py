"""Evidence for NIL ("not in the knowledge base"), called doubts for short: one number for each mention.

A recipe weighs doubts as it weighs scorers; their sum is the score of NIL (`decide.py`). Most of them come from the
text around a name that the detector found, and are 0 for names that an article lists. Importing this module loads no
compiled code.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np
import pyarrow.compute as pc

from namesake import text_evidence  # which declares more evidence
from namesake.arrays import Bool, take_rows
from namesake.kernels.names.constants import SHORT
from namesake.kinds import PEOPLE
from namesake.rank import reduce_mentions
from namesake.scorers.evidence_shown import Match, Reading, Source
from namesake.scorers.popularity import fames, sitelinks
from namesake.scorers.registry import DOUBTS, Need, Scores, Signal, doubt
from namesake.text_evidence import t

if TYPE_CHECKING:
    from namesake.batch import Batch
    from namesake.kb.store import KB
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
    return np.ones(len(batch.mentions))


@doubt("GivenName")
def given_name(batch: Batch) -> Scores:
    """1 for a name that the article or the table lists, 0 for one that was found in the text."""
    return np.full(len(batch.mentions), float(batch.mentions.context is None))


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
        ends = np.zeros(len(batch.mentions) + 1, np.int64)
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
    """log(1 + distinct words of the article that are in the KB)."""
    from namesake.kernels.link.word_sums import distinct_words
    from namesake.kernels.types import Ragged

    counts: Scores = np.log1p(distinct_words(Ragged(batch.words.indptr, batch.words.word), len(kb.words)))
    return counts[batch.article]


@doubt("NameFame")
def name_fame(batch: Batch) -> Scores:
    """log(1 + Σ NS) over the candidates: beside `Fame` in the scores, a candidate's share of the name's fame counts.

    A candidate that AlreadyLinked excludes does not count.
    """
    excluded = batch.rows == np.repeat(batch.taken, np.diff(batch.offsets))
    return np.log1p(reduce_mentions(np.add, np.where(excluded, 0.0, sitelinks(batch)), batch.offsets, 0.0))


# names that were found in the text
def _of_found(
    name: str, *aliases: str, needs: Need | None = None
) -> Callable[[Callable[[Batch, Found], Scores]], Signal]:
    """Declare a function of a batch and the names found in its texts as evidence; names that articles list have 0."""

    def declare(function: Callable[[Batch, Found], Scores]) -> Signal:
        def of_batch(batch: Batch) -> Scores:
            found = batch.mentions.context
            return np.zeros(len(batch.mentions)) if found is None else function(batch, found)

        of_batch.__doc__ = function.__doc__
        return doubt(name, needs=needs, aliases=aliases)(of_batch)

    return declare


@_of_found("Byline")
def byline(batch: Batch, found: Found) -> Scores:
    """1 for the author of the text (By …, Photo by …, …/AP) if no candidate is described as a journalist, else 0.

    Authors are seldom written about, so a famous name in a byline is that of another person.
    """
    texts, kb = found.texts, batch.kb
    spans = np.flatnonzero(found.has("before", "BY"))  # few
    before = found.first[spans] - 1
    opens = texts.marks[before] & (t.AT_START | t.HAS_CAPITAL) == t.AT_START | t.HAS_CAPITAL
    credit = (before > texts.indptr[found.span_text[spans]]) & (texts.classes[before - 1] & np.uint32(t.CREDIT) != 0)
    stands = np.zeros(len(found))
    stands[np.searchsorted(found.span_indptr, spans[opens | credit], side="right") - 1] = 1.0
    asked = np.flatnonzero(stands)
    if not len(asked) or not kb.language.journalists:
        return stands
    offsets, candidate = take_rows(batch.offsets, asked)
    described = pc.match_substring_regex(kb.descriptions.take(batch.rows[candidate]).arrow(), _as_words(kb.language))
    journalists = described.fill_null(False).to_numpy(zero_copy_only=False)
    stands[np.repeat(asked, np.diff(offsets))[journalists]] = 0.0
    return stands


@lru_cache(maxsize=4)
def _as_words(language: Language) -> str:
    """A regular expression for one of the language's words for journalists, between spaces or commas, in any case."""
    end = r"[\s\x0b\x1c-\x1f\x85\p{Z},]"
    return rf"(?i)(?:^|{end})(?:{'|'.join(map(re.escape, sorted(language.journalists)))})(?:$|{end})"


@_of_found("OtherEntityFame", "Thing")
def other_entity_fame(batch: Batch, found: Found) -> Scores:
    """log(1 + fame) of the most famous item with this name that is not among the KB's entities; 0 without one."""
    return np.log1p(found.other_fame)


@_of_found("OtherEntityShare", "ThingShare")
def other_entity_share(batch: Batch, found: Found) -> Scores:
    """log(1 + fame of that item / fame of the most famous candidate): Paris, Jordan, Houston."""
    return np.log1p(found.other_fame / _best_fame(batch))


@_of_found("KindsMissing")
def kinds_missing(batch: Batch, found: Found) -> Scores:
    """1 for a name found in the text if the KB has people only: most names in a text mean other entities."""
    return np.full(len(found), float(batch.kb.manifest.keep == PEOPLE))


@_of_found("OtherPlace")
def other_place(batch: Batch, found: Found) -> Scores:
    """Share of the spans after "in", "to" and the like, if an item that is no entity of the KB has this name."""
    return np.where(found.other_fame > 0, found.share("before", "IN_PLACE", "TO_PLACE"), 0.0)


def _best_fame(batch: Batch, kept: Bool | None = None) -> Scores:
    """The fame of the most famous candidate of each mention, or of those that are kept; at least 0.1."""
    from namesake.kernels.link.candidate_tables import largest_of

    fame = batch.once(fames)
    fame = fame if kept is None else np.where(kept, fame, 0.0)
    largest: Scores = largest_of(batch.offsets, fame, np.full(len(batch.mentions), 0.1))
    return largest


@_of_found("BestFame")
def best_fame(batch: Batch, found: Found) -> Scores:
    """log(1 + fame) of the most famous entity with exactly this name, for names found in the text; else 0."""
    return np.log1p(_best_fame(batch, found.forms < SHORT))


@_of_found("NamesakeCount", "Bearers")
def namesake_count(batch: Batch, found: Found) -> Scores:
    """log(1 + number of entities with exactly this name, at most 20), for names found in the text; else 0."""
    return np.log1p(np.minimum(found.namesakes, MOST_COUNTED))


@_of_found("CandidateCount")
def candidate_count(batch: Batch, found: Found) -> Scores:
    """log(1 + number of entities with this name or short form, at most 20), for names found in the text; else 0."""
    return np.log1p(np.minimum(found.listed, MOST_COUNTED))


def _word_counts(batch: Batch, kb: KB) -> list[Scores]:
    """How the KB's names and descriptions use the words of names, in logarithms."""
    from namesake.kernels.names.expected import count_words

    found, names = batch.mentions.context, kb.names
    assert found is not None
    tables = names.token_hashes, names.token_first, names.token_lower
    counts = count_words(found.texts.hashes, found.first[found.leads], found.end[found.leads], *tables)
    return [np.log1p(count) for count in counts]


@_of_found("LowercaseUse", "Lower", needs=TOKENS)
def lowercase_use(batch: Batch, found: Found) -> Scores:
    """log(1 + how often the KB's descriptions have the name's word in lower case), of its words the rarest."""
    return batch.once(_word_counts)[1]


@_of_found("BeginsNames", needs=TOKENS)
def begins_names(batch: Batch, found: Found) -> Scores:
    """log(1 + labels of people that begin with the name's first word)."""
    return batch.once(_word_counts)[0]
