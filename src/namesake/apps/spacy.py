"""Namesake as a spaCy component: `nlp.add_pipe("namesake", config={"kb": "kb"})`.

The component links the names that an earlier component found, or finds names itself if there are none. Importing this
module registers the factory and its scorer. If Namesake is installed, spaCy imports it through an entry point.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from hashlib import sha256
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any
from weakref import WeakSet

import msgspec
import pyarrow as pa

from namesake.apps.sample_kb import sample_kb
from namesake.articles.article import located
from namesake.articles.days import date_text
from namesake.articles.schema import ARTICLES
from namesake.errors import NamesakeError
from namesake.kb.kinds import head_words
from namesake.kb.names.normalise import normalise
from namesake.kb.records import values_of
from namesake.kb.store import KB
from namesake.kernels.dump.wikidata import INSTANCE_OF
from namesake.kinds import ner_labels
from namesake.linker import Linker
from namesake.machine import named_kb
from namesake.names.hypotheses import group_spans
from namesake.names.sources import trimmed
from namesake.recipe import Recipe

if TYPE_CHECKING:
    from spacy.language import Language
    from spacy.tokens import Doc, Span
    from spacy.training import Example

KEY = "namesake"  # name of the factory, of the data in `doc.user_data`, and of the attribute `span._.namesake`
DEMONYM = "NORP"
NIL = "NIL"  # `kb_id_` of NIL in spaCy's own linker; ours leaves it empty by default. The scorer treats both as NIL.
SCORER = "namesake.linker_scorer.v1"

Row = dict[str, Any]
STATE = "namesake.json"

_pipes: WeakSet[NamesakePipe] = WeakSet()
"""All live pipes: a document stores which of them linked it, and asks that one for explanations."""


class Given(msgspec.Struct, frozen=True):
    """The config of the pipe: folder of the KB, recipe, threshold, kinds."""

    kb: str | None = None
    recipe: str = "default"
    threshold: float | str | None = None
    kinds: str | None = None


class State(msgspec.Struct, frozen=True):
    """What is saved: the path of the KB, which is not copied, and the whole recipe."""

    given: Given
    kb: str
    recipe: str


@dataclass(frozen=True)
class Candidate:
    """A candidate of a name; `qid` is None for NIL."""

    qid: str | None
    label: str | None
    description: str | None
    score: float
    confidence: float | None
    kind: str | None


class SpanLink:
    """The link of the name at a span. Candidates and explanation are computed on each access."""

    name: str
    qid: str | None
    kind: str | None
    best: str | None
    score: float | None
    confidence: float | None
    known: float | None
    reason: str | None
    spans: list[tuple[int, int]]

    def __init__(self, row: Row, article: pa.Table, linker: Linker | None) -> None:
        vars(self).update((field, row[field]) for field in SpanLink.__annotations__)
        self.spans = [(start, end) for start, end in row["spans"]]
        self._article, self._linker = article, linker

    def __repr__(self) -> str:
        who = self.qid or f"NIL: {self.reason}"
        sure = "" if self.confidence is None else f", confidence {self.confidence:.2f}"
        return f"<{self.name} → {who}{sure}>"

    @property
    def explanation(self) -> pa.Table:
        """One row per candidate and part, as in `Linker.explain`."""
        if self._linker is None:
            raise NamesakeError("the pipe that linked this document no longer exists: run it through a pipe again")
        rows = self._linker.explain(self._article, self.name)
        same = [spans == [list(span) for span in self.spans] for spans in rows.column("spans").to_pylist()]
        return rows.filter(pa.array(same, pa.bool_()))

    @property
    def candidates(self) -> list[Candidate]:
        """The candidates, including NIL, the best first."""
        fields = ["rank", "qid", "label", "description", "score", "confidence", "kind"]
        rows = self.explanation.select(fields).to_pylist()
        return [Candidate(*list(row.values())[1:]) for row in {row["rank"]: row for row in rows}.values()]


def row_of(rows: Sequence[Row], start: int, end: int) -> Row | None:
    """The link whose name is at [start, end) of the text: the one that shares most characters with it."""
    shared = [max((min(e, end) - max(s, start) for s, e in row["spans"]), default=0) for row in rows]
    at = max(range(len(rows)), key=shared.__getitem__, default=None)
    return rows[at] if at is not None and shared[at] > 0 else None


class NamesakePipe:
    """A component that sets `ent.kb_id_` of names to a QID; made by `nlp.add_pipe("namesake")`.

    `kb` is the folder of the KB, and `kinds` are the kinds of entities to link to. `label` is the label of names that
    the component finds itself, by default that of their kind; without `find_names` it finds none. `nil` is the `kb_id_`
    of NIL. `scorer` measures links for `nlp.evaluate`.
    """

    def __init__(
        self,
        nlp: Language,
        name: str,
        kb: str | None,
        recipe: str,
        threshold: float | str | None,
        kinds: str | None,
        label: str | None,
        find_names: bool,
        nil: str,
        scorer: Callable[..., dict[str, Any]] | None,
    ) -> None:
        self.given = Given(kb, recipe, threshold, kinds)
        self.label, self.find_names, self.nil, self.scorer = label, find_names, nil, scorer
        if (folder := kb or named_kb()) is None:
            warning = "no KB is named, so only the people of the sample can be linked; name one with"
            warnings.warn(f'{warning} config={{"kb": "FOLDER"}}', UserWarning, stacklevel=2)
        self._take(Linker(folder or sample_kb(), recipe, threshold, kinds=kinds))

    def __call__(self, doc: Doc) -> Doc:
        """Link the names of one document."""
        return self._link([doc])[0]

    def pipe(self, stream: Iterable[Doc], *, batch_size: int = 128) -> Iterator[Doc]:
        """Link documents in batches."""
        docs = iter(stream)
        while batch := list(islice(docs, batch_size)):
            yield from self._link(batch)

    def score(self, examples: Iterable[Example], **options: Any) -> dict[str, Any]:
        """Precision, recall and F1 of the links, for `nlp.evaluate`."""
        return {} if self.scorer is None else self.scorer(examples, **options)

    def to_bytes(self, *, exclude: Iterable[str] = ()) -> bytes:
        """The path of the KB and the recipe, serialised."""
        place = str(self.linker.kb.path.absolute())
        return msgspec.json.encode(State(self.given, place, self.linker.recipe.toml()))

    def from_bytes(self, data: bytes, *, exclude: Iterable[str] = ()) -> NamesakePipe:
        """Load what `to_bytes` returned. KB, recipe, threshold and kinds in this pipe's own config take precedence."""
        try:
            state = msgspec.json.decode(data, type=State)
        except msgspec.MsgspecError as problem:
            raise NamesakeError(f"{STATE} of this pipeline is damaged ({problem}): save it again") from None
        same = (self.given.recipe, self.given.threshold) == (state.given.recipe, state.given.threshold)
        recipe = Recipe.parse(state.recipe, STATE) if same else self.linker.recipe
        self._take(Linker(self.given.kb or state.kb, recipe, kinds=self.given.kinds or state.given.kinds))
        return self

    def to_disk(self, path: str | Path, *, exclude: Iterable[str] = ()) -> None:
        """Write the state into the folder `path`; the KB is not copied."""
        folder = Path(path)
        folder.mkdir(parents=True, exist_ok=True)
        (folder / STATE).write_bytes(self.to_bytes())

    def from_disk(self, path: str | Path, *, exclude: Iterable[str] = ()) -> NamesakePipe:
        """Read what `to_disk` wrote."""
        return self.from_bytes((Path(path) / STATE).read_bytes())

    def _take(self, linker: Linker) -> None:
        self.linker, self.labels = linker, ner_labels(linker.kb.kinds)
        recipe = sha256(linker.recipe.toml().encode()).hexdigest()
        self.made_by = f"{linker.kb.path.absolute()} {recipe} {linker.kind_names or ''}"
        _pipes.add(self)

    def _link(self, docs: Sequence[Doc]) -> list[Doc]:
        """Set the entities of documents, and store their links in them."""
        given = [_given_mentions(doc, self.labels, self.find_names) for doc in docs]
        links = self.linker.link(_articles(docs, given))
        rows: list[list[Row]] = [[] for _ in docs]
        for row in links.drop_columns(["title_spans", "extra"]).to_pylist():
            rows[int(row["article_id"])].append(row)
        for doc, mentions, own in zip(docs, given, rows, strict=True):
            if mentions is None or doc._.namesake_mentions is not None:
                self._add_names(doc, own)
            by_place = {(start, end): row for row in own for start, end in row["spans"]}
            for ent in doc.ents:
                if ent.label_ in {*self.labels, self.label}:
                    at = trimmed(ent.text, ent.start_char)
                    row = by_place.get(at) or row_of(own, ent.start_char, ent.end_char)
                    for token in ent:
                        token.ent_kb_id_ = (row["qid"] if row else None) or self.nil
            doc.user_data[KEY] = {"by": self.made_by, "found": mentions is None, "rows": own}
        return list(docs)

    def _add_names(self, doc: Doc, rows: list[Row]) -> None:
        """Add entities for names that were found or given as text; existing entities stay unchanged."""
        from spacy.util import filter_spans

        taken = {token.i for ent in doc.ents for token in ent}
        spans = [
            doc.char_span(start, end, label=label, kb_id=row["qid"] or self.nil, alignment_mode="expand")
            for row in rows
            for start, end in row["spans"]
            for label in [self.label or ner_label(self.linker.kb, row["best"], doc.text[start:end])]
        ]
        free = [span for span in spans if span is not None and taken.isdisjoint(range(span.start, span.end))]
        doc.set_ents(filter_spans(free), default="unmodified")


def ner_label(kb: KB, qid: str | None, written: str) -> str:
    """The label of a name with this best candidate, such as GPE, or NORP for "French"."""
    row = -1 if qid is None else kb.row(qid)
    if row < 0:
        return kb.kinds[0].ner[0]
    kind, place = kb.kind_of(row), normalise(kb.label(row))
    if DEMONYM in kind.ner and _is_demonym(normalise(written), place, kb.language.demonyms.get(place, frozenset())):
        return DEMONYM
    by_noun = {noun: label for label, nouns in kind.ner_nouns.items() for noun in nouns.split()}
    classes = [kb.item_labels[value] for value in values_of(kb, row, INSTANCE_OF) if value >= 0]
    for text in [*classes, kb.descriptions[row], kb.label(row)] if by_noun else ():
        for noun in reversed(head_words(text, kb.language)):
            if label := by_noun.get(noun) or by_noun.get(noun.removesuffix("s")):
                return label
    return kind.ner[0]


def _is_demonym(word: str, place: str, words: Iterable[str]) -> bool:
    """Whether a word is one of the adjectives and peoples of a place, not an abbreviation: these begin its label."""
    has_code = any(len(one) == 2 for one in words)  # states have a code of two letters, and abbreviations
    return len(word) > 3 and word in words and not (has_code and place.startswith(word))


def _given_mentions(doc: Doc, labels: frozenset[str], find_names: bool) -> list[Row] | None:
    """The names given for the document, or its entities with these labels; None if names are to be found."""
    names = doc._.namesake_mentions
    if names is not None:
        if isinstance(names, str):
            raise TypeError(f"doc._.namesake_mentions must be a list of names, not the text {names!r:.60}")
        return [{"name": one.name, "spans": one.spans} for one in located(doc.text, names)]
    spans = [trimmed(ent.text, ent.start_char) for ent in doc.ents if ent.label_ in labels]
    groups = group_spans(doc.text, [span for span in spans if span[0] < span[1]])
    return None if find_names and not groups else [{"name": name, "spans": where} for name, where in groups]


def _articles(docs: Sequence[Doc], mentions: Sequence[list[Row] | None]) -> pa.Table:
    rows = [
        {"id": str(place), "text": doc.text, "date": date_text(doc._.namesake_date), "mentions": given}
        for place, (doc, given) in enumerate(zip(docs, mentions, strict=True))
    ]
    return pa.Table.from_pylist(rows, ARTICLES)


def _span_link(span: Span) -> SpanLink | None:
    """The value of `span._.namesake`: the link of the name at this span, or None."""
    known = span.doc.user_data.get(KEY)
    row = row_of(known["rows"], span.start_char, span.end_char) if known else None
    if known is None or row is None:
        return None
    mentions = None if known["found"] else [{"name": r["name"], "spans": r["spans"]} for r in known["rows"]]
    linker = next((pipe.linker for pipe in _pipes if pipe.made_by == known["by"]), None)
    return SpanLink(row, _articles([span.doc], [mentions]), linker)


make = NamesakePipe  # the factory, which the entry point of the package names


def _register() -> None:
    """Register the pipe, its scorer and its attributes in spaCy, if spaCy is installed."""
    try:
        from spacy.language import Language
        from spacy.scorer import Scorer
        from spacy.tokens import Doc, Span
        from spacy.util import registry
    except ImportError:
        return
    defaults: dict[str, Any] = {"kb": None, "recipe": "default", "threshold": None, "kinds": None, "label": None}
    defaults |= {"find_names": True, "nil": "", "scorer": {"@scorers": SCORER}}
    weights = {"nel_micro_f": 1.0, "nel_micro_p": None, "nel_micro_r": None}  # as for spaCy's own linker
    assigns = ["doc.ents", "token.ent_kb_id", "span._.namesake"]
    registry.scorers(SCORER, func=lambda: partial(Scorer.score_links, negative_labels=[NIL, ""]))
    Language.factory(KEY, default_config=defaults, assigns=assigns, default_score_weights=weights, func=make)
    Span.set_extension(KEY, getter=_span_link, force=True)
    for name in ("namesake_date", "namesake_mentions"):
        Doc.set_extension(name, default=None, force=True)


_register()
