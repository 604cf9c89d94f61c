"""Evidence for NIL ("not in the knowledge base"), called doubts for short: one number for each mention.

A recipe weighs doubts as it weighs scorers; their sum is the score of NIL (`decide.py`). Most of them come from the
text around a name that the detector found, and are 0 for names that an article lists. Importing this module loads no
compiled code.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np
import pyarrow.compute as pc

from namesake.arrays import take_rows
from namesake.scorers.evidence_shown import Match, Reading, Source
from namesake.scorers.registry import DOUBTS, Need, Scores, doubt
from namesake.scorers.word_overlap import beyond_chance

if TYPE_CHECKING:
    from namesake.batch import Batch
    from namesake.kb.store import KB
    from namesake.language import Language

__all__ = ["DOUBTS", "doubt"]

POPULATION = 500_000.0
"""ExpectedNamesakes counts among this many people, or those of the KB if it has fewer."""
FLOOR = np.exp(-5.0)
"""Added to the expected number of people: rarer names make no difference."""
MIDDLE = 1000.0
"""A middle token that at least one label in this many has does not make a name rarer."""
FAMOUS, NEAR = 100.0, 100
"""The fame from which a name of one word is famous; the bytes within which another name is near."""

TOKENS = Need("counts of the tokens of names (`kb build` makes them)", lambda kb: len(kb.names.token_hashes) > 0)


# the name and its article
@doubt("Constant")
def constant(batch: Batch) -> Scores:
    """1 for every mention."""
    return np.ones(len(batch.names))


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
    from namesake.kernels.names.expected import Counts, count_labels

    names = kb.names
    known = Counts(names.token_hashes, names.token_first, names.token_middle, names.token_last)
    counts: tuple[Scores, Scores, Scores] = count_labels(batch.spelled.data, batch.spelled.offsets, known)
    return counts


@lru_cache(maxsize=4)
def _labels(kb: KB) -> float:
    """How many people's labels have two or more tokens: each has one first token."""
    return float(kb.names.token_first.sum())


@doubt("ArticleLength", aliases=("Length",))
def article_length(batch: Batch) -> Scores:
    """log(1 + distinct words of the article that are in the KB), without those of the name."""
    counts: Scores = batch.once(beyond_chance).words
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


# the text around a name that the detector found
def _evidence(name: str, former: str, field: str, formula: str, logarithm: bool = False) -> None:
    """Declare a field of the detector's evidence, or log(1 + field), as a doubt; for a rule, 1 for names it found."""

    def read(batch: Batch) -> Scores:
        found = batch.mentions.evidence
        numbers = np.asarray(getattr(found, field) if hasattr(found, field) else found.found_by(field), np.float64)
        return np.log1p(numbers) if logarithm else numbers

    doubt(name, formula=formula, aliases=(former,))(read)


_evidence("NameContinues", "GoesOn", "goes_on", "Share of the full spans before a last name: Paul Simon | Smith.")
_evidence("FirstNameBefore", "Comes", "comes", "Share of the full spans after a first name: Mary | Ann Smith.")
_evidence("SuffixAfter", "Suffix", "suffix", "Share of the full spans before Jr., II … that is not part of the name.")


@doubt("Byline")
def byline(batch: Batch, kb: KB) -> Scores:
    """1 for the author of the text (By …, Photo by …, …/AP) if no candidate is described as a journalist, else 0.

    Authors are seldom written about, so a famous name in a byline is that of another person.
    """
    stands = batch.mentions.evidence.byline.astype(np.float64)
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


_evidence(
    *("OtherEntityFame", "Thing", "thing"),
    "log(1 + fame) of the most famous entity with this name that is not a person; 0 without one.",
    logarithm=True,
)


@doubt("OtherEntityShare", aliases=("ThingShare",))
def other_entity_share(batch: Batch) -> Scores:
    """log(1 + fame of that entity / fame of the best person), for names of one word: Paris, Jordan, Houston."""
    evidence = None
    best = np.maximum(evidence.best.astype(np.float64), 0.1)
    return np.where(evidence.found_by("one"), np.log1p(evidence.thing / best), 0.0)


_evidence(
    *("LowercaseUse", "Lower", "lower"),
    "log(1 + how often a name of one word is in lower case in the KB's descriptions).",
    logarithm=True,
)
_evidence("PlaceContext", "Place", "place", '1 for one word after "in" or in a dateline, 0.5 after "to" and "from".')


@doubt("OneWord")
def one_word(batch: Batch) -> Scores:
    """1 for a name of one word without its full form in the text."""
    return batch.mentions.evidence.found_by("one").astype(np.float64)


_evidence("NamesakeCount", "Bearers", "bearers", "log(1 + number of entities with a name of one word).", logarithm=True)


@doubt("FamousNearby")
def famous_nearby(batch: Batch) -> Scores:
    """1 for a famous name of one word within 100 bytes of another one (Roosevelt and Churchill), else 0.

    A name is famous if its best-known person has a fame of 100 or more, and no entity of another kind with that name
    has half as much.
    """
    mentions, near = batch.mentions, np.zeros(len(batch.names))
    best, thing = mentions.evidence.best, mentions.evidence.thing
    famous = mentions.evidence.found_by("one") & (best >= FAMOUS) & (2 * thing < best)
    whose = np.repeat(np.arange(len(famous)), np.diff(mentions.span_indptr))
    starts, ends = mentions.byte_spans.T
    spans = np.flatnonzero(famous[whose])
    spans = spans[np.lexsort([starts[spans], batch.article[whose[spans]]])]
    one, other = spans[:-1], spans[1:]
    together = (whose[one] != whose[other]) & (batch.article[whose[one]] == batch.article[whose[other]])
    together &= starts[other] - ends[one] < NEAR
    near[whose[one[together]]] = near[whose[other[together]]] = 1.0
    return near


@doubt("FirstNameOnly", aliases=("FirstName",))
def first_name_only(batch: Batch) -> Scores:
    """1 for one word that is the first name of the best person with it."""

    from namesake.kernels.names.constants import FIRST_NAME

    evidence = None
    first: Scores = (evidence.found_by("one") & (evidence.form == FIRST_NAME)).astype(np.float64)
    return first


_evidence("RoleBefore", "Role", "role", "1 for a role before a name of one word: striker Messi.")
_evidence("TitleBefore", "Title", "titled", "1 for a title before a name of one word: President Bush.")
_evidence("VariantMatch", "Wide", "wide", "1 for a part of a longer name: Siméon Poisson.")
_evidence("ExtraWords", "Dropped", "dropped", "1 if the text has more words than the KB's name: Frank Anthony Wilczek.")
_evidence("Misspelling", "Spelled", "spelled", "1 for another spelling than the KB's.")
