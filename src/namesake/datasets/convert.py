"""A data set as our articles and gold: read, joined with its truth, resolved against a KB, written."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from namesake.arrays import text_buffers
from namesake.articles.article import Article, Mention
from namesake.datasets.labelled import Labelled, Truth, check_gold
from namesake.errors import NamesakeError
from namesake.evaluation.gold import GoldRow
from namesake.files import create, keep_apart, kind, published
from namesake.kb.store import KB

BATCH = 5000  # articles for which the KB's titles are gone through once

Counts = Counter[str]
"""How many `articles`, `mentions`, truths of each kind, and names that were `numbered`."""


def convert(
    labelled: Iterable[Labelled], kb: KB | None, articles: Path, gold: Path, inputs: Iterable[Path] = ()
) -> Counts:
    """Write articles and gold as JSON lines; neither file appears unless both are whole.

    `inputs` are the files that are read meanwhile: none of them is overwritten.
    """
    for path in (articles, gold):
        if kind(path) not in {".jsonl", ".ndjson"}:
            raise NamesakeError(f"{path}: articles and gold are written as .jsonl, .jsonl.gz, .jsonl.bz2 or .jsonl.zst")
    keep_apart([articles, gold], inputs)
    counts: Counts = Counter()
    seen: set[str] = set()
    with (
        published(articles) as articles_partial,
        published(gold) as gold_partial,
        create(articles_partial, articles.suffix) as article_lines,
        create(gold_partial, gold.suffix) as gold_lines,
    ):
        for one in resolved(labelled, kb):
            if one.article.id in seen:
                raise NamesakeError(f"article {one.article.id} stands twice in the data set")
            seen.add(one.article.id)
            article_lines.write(msgspec.json.encode(_article_row(one.article)) + b"\n")
            gold_lines.writelines(msgspec.json.encode(_gold_row(one.article.id, t)) + b"\n" for t in one.truths)
            counts.update(truth.kind for truth in one.truths)
            counts["numbered"] += sum(truth.name != truth.surface for truth in one.truths)
            counts["mentions"] += len(one.article.mentions or ())
            counts["articles"] += 1
    return counts


def _article_row(article: Article) -> dict[str, Any]:
    """Our plain layout, without what is not known."""
    known = {"id": article.id, "text": article.text, "title": article.title, "date": article.date}
    mentions = [
        {"name": m.name, "spans": m.spans} | ({} if m.candidates is None else {"candidates": m.candidates})
        for m in article.mentions or ()
    ]
    return {key: value for key, value in known.items() if value is not None} | {"mentions": mentions}


def _gold_row(article: str, truth: Truth) -> dict[str, Any]:
    """A row as `evaluate` reads it; `truth` tells an unresolved title from nobody, which are both null."""
    row = {"articleID": article, "name": truth.name, "gold": truth.gold, "split": None, "difficulty": None}
    return row | dict(truth.columns) | {"title": truth.title, "surface": truth.surface, "truth": truth.kind}


# truth that is kept in a file of its own


def with_truth(labelled: Iterable[Labelled], rows: Sequence[GoldRow]) -> Iterator[Labelled]:
    """Articles with the truth of a gold file instead of their own; a row without its mention is refused."""
    by_article: dict[str, list[GoldRow]] = {}
    for row in rows:
        by_article.setdefault(row.mention[0], []).append(row)
    for one in labelled:
        given = by_article.pop(one.article.id, [])
        mentions = {mention.name: mention for mention in reversed(one.article.mentions or ())}
        yield replace(one, truths=[_truth(one.article, mentions, row) for row in given])
    for article, lost in by_article.items():
        raise NamesakeError(f"gold for {lost[0].mention[1]!r} in article {article}, but there is no such article")


def _truth(article: Article, mentions: Mapping[str, Mention], row: GoldRow) -> Truth:
    name = row.mention[1]
    where = f"article {article.id}"
    mention = mentions.get(name)
    if mention is None:
        raise NamesakeError(f"{where}: gold for {name!r}, but it has no such mention")
    check_gold(row.gold, mention.candidates, name, where)
    return Truth(name, name, row.gold, None, row.columns)


# what a KB knows


def resolved(labelled: Iterable[Labelled], kb: KB | None) -> Iterator[Labelled]:
    """Articles with what a KB makes of their titles and names (see `resolve`); without one as they are."""
    if kb is None:
        yield from labelled
        return
    rest = iter(labelled)
    while batch := list(islice(rest, BATCH)):
        yield from resolve(batch, kb)


def resolve(labelled: Sequence[Labelled], kb: KB) -> list[Labelled]:
    """Titles become the QIDs of their entities, and mentions without candidates get those who bear their name.

    The candidates are looked up by the plain name, since a numbered one (`Japan #2`) is nobody's.
    """
    wanted = {truth.title for one in labelled for truth in one.truths if truth.gold is None and truth.title}
    qids = titles_to_qids(wanted, kb)
    bearers = _bearers(labelled, kb)
    return [
        Labelled(
            replace(one.article, mentions=[_candidates(m, t.surface, bearers) for m, t in _pairs(one)]),
            [replace(t, gold=qids.get(t.title or "")) if t.gold is None else t for t in one.truths],
        )
        for one in labelled
    ]


def titles_to_qids(titles: Iterable[str], kb: KB) -> dict[str, str]:
    """The QIDs of Wikipedia titles, as far as the KB has them, in one pass over its column of titles."""
    wanted = pa.array(sorted(title for title in titles if title), pa.large_string())
    place = pc.index_in(kb.titles.arrow(), value_set=wanted)
    rows = np.flatnonzero(place.is_valid().to_numpy(zero_copy_only=False))
    found = place.take(pa.array(rows)).to_pylist()
    return {wanted[at].as_py(): f"Q{kb.qids[row]}" for at, row in zip(found, rows, strict=True)}


def _bearers(labelled: Sequence[Labelled], kb: KB) -> dict[str, list[str]]:
    """The candidates of every name that has none given."""
    names = sorted({t.surface for one in labelled for m, t in _pairs(one) if m.candidates is None})
    indptr, rows, _ = kb.names.lookup_many(*text_buffers(pa.array(names, pa.string())))
    return {
        name: [f"Q{qid}" for qid in kb.qids[rows[start:end]]]
        for name, start, end in zip(names, indptr[:-1], indptr[1:], strict=True)
    }


def _pairs(one: Labelled) -> Iterator[tuple[Mention, Truth]]:
    """Each mention with its truth; a mention without one is its own surface."""
    truths = {truth.name: truth for truth in one.truths}
    for mention in one.article.mentions or ():
        yield mention, truths.get(mention.name) or Truth(mention.name, mention.name, None)


def _candidates(mention: Mention, surface: str, bearers: Mapping[str, list[str]]) -> Mention:
    return mention if mention.candidates is not None else replace(mention, candidates=bearers[surface])
