"""Reconciliation: the entity of each row of a table, by its name, words and values.

Rows become articles whose only mention is the name. They are scored like other mentions; parts of the recipe
`reconcile` score the cells.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from copy import copy
from dataclasses import dataclass, replace
from functools import cache, cached_property
from urllib.parse import unquote

import numpy as np
import pyarrow as pa

from namesake import rank
from namesake.arrays import Float64, Int64, arrow_numbers, indptr, one_chunk, text_buffers
from namesake.articles.schema import ARTICLES
from namesake.batch import Query
from namesake.decide import ANSWERED, REASONS
from namesake.decisions.lookup import NIL, OfRows
from namesake.kb.columns import Strings
from namesake.kb.kinds import HeadNouns
from namesake.kb.names.normalise import normalise
from namesake.kb.records import about
from namesake.kb.store import KB
from namesake.kernels.kinds import KINDS, OTHER, PERSON
from namesake.kernels.names.constants import ACRONYM
from namesake.kinds import kinds as every_kind
from namesake.kinds import parse_kinds
from namesake.linker import Linker
from namesake.names.candidates import Candidates, Variants, best_matches, candidates
from namesake.names.mentions import Mentions, given_mentions
from namesake.recipe import Recipe
from namesake.scorers.table_rows import ENTITY_TYPE, PROPERTY_VALUES, WORDS_NOT_SHARED, values_by_property
from namesake.scorers.value_lookup import find_property
from namesake.scoring import Scored

__all__ = ["Candidate", "Query", "reconcile_queries"]

TABLE_SCORERS = (WORDS_NOT_SHARED, ENTITY_TYPE, PROPERTY_VALUES)
VALUES = f"{PROPERTY_VALUES}: "  # the prefix of the parts of PropertyValues, one for each property
SHORT_QUALITY = np.array([0.75, 0.85, 0.6, 0.5, 0.6, 0.7, 0.75])
"""Match qualities of the short forms of entities that are not people, from `ACRONYM` on; tables lack the others."""
NO_LEGAL_FORM = 0.9  # the factor of the match quality for a name without its legal form: Exxon Mobil Corp.
AT_ONCE = 2048  # rows that are scored together
_load = cache(Recipe.load)
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


# cells as queries
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
    say(f"matching {every_kind()[best].plural} (guessed from the column; `kind=` changes it)")
    return (best,)


def shares_of_kinds(kb: KB, names: Sequence[str]) -> Float64:
    """The share of each kind in some names: for a name, in the fame of the most famous entities of each kind."""
    distinct = list(dict.fromkeys(filter(None, names)))
    asked = Strings.of(distinct[:: -(-len(distinct) // SAMPLE) or 1])
    ends, rows, _ = kb.names.lookup_many(asked.data, asked.offsets)
    fame = np.zeros((len(asked), len(every_kind())))
    name = np.repeat(np.arange(len(asked)), np.diff(ends))
    np.maximum.at(fame, (name, kb.kind[rows]), 1.0 + kb.sitelinks[rows])
    fame = fame[fame.any(axis=1)]
    shares: Float64 = (fame / fame.sum(axis=1, keepdims=True)).sum(axis=0) / max(len(fame), 1)
    return shares


# candidates
@dataclass(frozen=True)
class Candidate:
    """An entity that a row may mean."""

    qid: str
    label: str
    description: str  # the KB's description, or else occupation and country
    score: float
    confidence: float | None  # P(this candidate is right); None if the recipe has no `[decide]` table
    matched: bool  # whether this is the answer: the first of the candidates, with enough confidence
    parts: dict[str, float]  # the summands of the score: the recipe's parts, with one for each property of the query


@dataclass(frozen=True)
class Reconciled:
    """Some queries with the candidates of each, as flat arrays; query q has the mention `mention[q]`, or -1."""

    scored: Scored
    mention: Int64

    @cached_property
    def order(self) -> Int64:
        """The candidates of each mention, best first."""
        return rank.order(self.scored.batch.offsets, *self.scored.combined.keys)

    @cached_property
    def parts(self) -> dict[str, Float64]:
        """The summands of the candidates' scores: the recipe's parts, with one for each property of the queries."""
        parts = dict(self.scored.contributions)
        if parts.pop(PROPERTY_VALUES, None) is not None:
            [part] = [part for part in self.scored.recipe.parts if part.scorer == PROPERTY_VALUES]
            weight, values = part.weight_of(self.scored.batch.kinds), values_by_property(self.scored.batch)
            parts |= {f"{VALUES}{name}": weight * odds for name, odds in values.items()}
        return parts

    def as_decided(self, query: int) -> bool | None:
        """Whether a query would have the decided answer without the decision; None if there is no decision."""
        mention, decided = int(self.mention[query]), self.scored.batch.decided
        if mention < 0 or decided is None or not decided.settled[mention]:
            return None
        plain = self._without_decisions
        answered = plain.decision.reason[mention] == ANSWERED
        return bool(decided.entity[mention] == (plain.batch.qids[plain.top[0][mention]] if answered else NIL))

    @cached_property
    def _without_decisions(self) -> Scored:
        batch = copy(self.scored.batch)
        batch.decided = None
        return Scored.of(batch, self.scored.recipe, self.scored.scores, self.scored.doubts)

    def best(self, query: int, limit: int) -> list[int]:
        """The best candidates of a query, by their place in the flat arrays."""
        mention = int(self.mention[query])
        if mention < 0:
            return []
        begin, end = self.scored.batch.offsets[mention : mention + 2].tolist()
        return [int(at) for at in self.order[begin : min(end, begin + limit)]]

    def who(self, kb: KB, candidate: int, matched: bool = True) -> Candidate:
        """One candidate, by its place in the flat arrays."""
        row, sure = int(self.scored.batch.rows[candidate]), self.scored.probabilities
        return Candidate(
            qid=kb.ids.text(int(self.scored.batch.qids[candidate])),
            label=kb.label(row) if row >= 0 else "",
            description=about(kb, row) if row >= 0 else "",
            score=float(self.scored.combined.total[candidate]),
            confidence=None if sure is None else float(sure[0][candidate]),
            matched=matched,
            parts={name: float(added[candidate]) for name, added in self.parts.items() if added[candidate]},
        )

    def candidates(self, kb: KB, query: int, limit: int) -> list[Candidate]:
        """The best candidates of a query."""
        answered = self.reason(query) is None
        best = enumerate(self.best(query, limit))
        return [self.who(kb, at, matched=answered and place == 0) for place, at in best]

    def reason(self, query: int) -> str | None:
        """Why a query has no answer; None if it has one."""
        mention = int(self.mention[query])
        return REASONS[0] if mention < 0 else self.scored.decision.reason_of(mention)


def reconcile_queries(
    linker: Linker, queries: Sequence[Query], limit: int = 5, kind: str | Iterable[str] | None = None
) -> list[list[Candidate]]:
    """The candidates of each query, best first.

    Args:
        linker: its KB and recipe. The parts of the recipe `reconcile` for a row's cells are added (`table_recipe`).
        queries: the rows. Values of a property that the KB does not have are read as words about the entity.
        limit: the number of candidates per query.
        kind: the kinds of the candidates, such as "organisation" or "people,places"; None: those of the linker.
    """
    found, kinds = [], None if kind is None else parse_kinds(kind)
    for begin in range(0, len(queries), AT_ONCE):
        judged = judge(linker, queries[begin : begin + AT_ONCE], kinds)
        found += [judged.candidates(linker.kb, query, limit) for query in range(len(judged.mention))]
    return found


def judge(
    linker: Linker, queries: Sequence[Query], kinds: tuple[int, ...] | None = None, of_rows: OfRows | None = None
) -> Reconciled:
    """Score the candidates of some queries, at most AT_ONCE, in one batch; `of_rows` are the decisions about each."""
    kinds = linker.kinds if kinds is None else kinds
    rows = [plain_query(linker.kb, query, kinds) for query in queries]
    articles = articles_of(rows)
    mentions = articles.column("mentions")

    def source(texts: pa.Array, kb: KB, titles: pa.Array, variants: Variants) -> Mentions:
        given = given_mentions(one_chunk(mentions), texts, kb, "never")
        offsets, found, quality = candidates_of(kb, given.names, variants, kinds)
        return replace(given, offsets=offsets, qids=kb.qids[found], rows=found.astype(np.int64), quality=quality)

    nameless = articles.set_column(4, ARTICLES.field("mentions"), pa.nulls(len(rows), mentions.type))
    scored = linker.scored(nameless, table_recipe(linker.recipe), rows, source, of_rows)
    return Reconciled(scored, scored.batch.mention_of_row)


def candidates_of(kb: KB, names: pa.StringArray, variants: Variants, kinds: tuple[int, ...] | None) -> Candidates:
    """The entities of some kinds (None: all) for each name of a table, best match first; short forms are variants."""
    found = _kept(kb, kinds, candidates(kb.names, *text_buffers(names)))
    every, without = np.arange(len(names)), np.diff(found.indptr) == 0
    asked = every[(without | (variants == "always")) & (variants != "never")]
    if not len(asked):
        return found
    some = names.take(arrow_numbers(asked))
    more = _kept(kb, kinds, candidates(kb.names, *text_buffers(some), variants="always"))
    short = _kept(kb, [one for one in kinds or range(len(KINDS)) if one != PERSON], _short_forms(kb, some))
    parts = [(every, found), (asked, more), (asked, short)]
    name = np.concatenate([np.repeat(which, np.diff(one.indptr)) for which, one in parts])
    rows, quality = (np.concatenate([getattr(one, field) for _, one in parts]) for field in ("rows", "quality"))
    name, rows, quality = best_matches(name, rows, quality)
    order = np.lexsort((rows, -quality, name))
    return Candidates(np.searchsorted(name, np.arange(len(names) + 1)), rows[order], quality[order])


def _kept(kb: KB, kinds: Sequence[int] | None, found: Candidates) -> Candidates:
    """The candidates of some kinds."""
    if kinds is None:
        return found
    own = np.isin(kb.kind[found.rows], kinds)
    return Candidates(indptr(own)[found.indptr], found.rows[own], found.quality[own])


def _short_forms(kb: KB, names: pa.StringArray) -> Candidates:
    """The entities that are not people and have a name as a short form, or have it without its legal form."""
    asked = Strings.of([_without_legal_form(kb, name) for name in names.to_pylist()])
    bare = candidates(kb.names, asked.data, asked.offsets)
    rows = np.split(bare.rows, bare.indptr[1:-1])
    quality = np.split(NO_LEGAL_FORM * bare.quality, bare.indptr[1:-1])
    for at in range(len(asked)):
        if form := kb.names.short_form(asked[at]):
            of_other = (form.forms >= ACRONYM) & (form.forms < ACRONYM + len(SHORT_QUALITY))
            rows[at] = np.append(rows[at], form.rows[of_other])
            quality[at] = np.append(quality[at], SHORT_QUALITY[form.forms[of_other] - ACRONYM])
    return Candidates(indptr([*map(len, rows)]), np.concatenate(rows), np.concatenate(quality))


def _without_legal_form(kb: KB, name: str) -> str:
    """The normalised name without an article before it and legal forms behind: "the boeing co" becomes boeing."""
    words = normalise(name).split()
    while len(words) > 1 and words[-1] in kb.language.legal_forms:
        words.pop()
    return " ".join(words[1:] if len(words) > 1 and words[0] == kb.language.article else words)


def table_recipe(recipe: Recipe) -> Recipe:
    """The recipe with the table scorers of the recipe `reconcile`, unless it already has one of them."""
    if set(recipe.scorers) & set(TABLE_SCORERS):
        return recipe  # WordsNotShared and GivenName are log-odds, so they are for recipes with a `[decide]` table
    wanted = (*TABLE_SCORERS, "GivenName") if recipe.decide is not None else (PROPERTY_VALUES, ENTITY_TYPE)
    return recipe.replace(parts=(*recipe.parts, *(part for part in _load("reconcile").parts if part.source in wanted)))
