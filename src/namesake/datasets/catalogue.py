"""The catalogue of data sets (`catalogue.toml`), downloads, and conversion to articles and gold."""

from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import replace
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any, TypeVar

import msgspec
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from namesake.arrays import text_buffers
from namesake.articles.rejects import NoRejects, Rejects
from namesake.datasets import corpus_formats
from namesake.datasets.corpus_formats import LabelledArticle, Reader, Truth, check_gold, gold_qid, json_reader
from namesake.datasets.nif import read_nif, write_nif
from namesake.errors import NamesakeError
from namesake.evaluation.gold import GoldRow, read_gold
from namesake.files import keep_apart, kind
from namesake.files.download import download
from namesake.files.outputs import written
from namesake.kb.store import KB
from namesake.progress import Reporter

T = TypeVar("T")
Labelled = Iterable[LabelledArticle]
Writer = Callable[[LabelledArticle], bytes]
READERS: dict[str, Reader] = {  # by name, for `namesake datasets convert --reader`
    "nelight": json_reader(corpus_formats.Quotebank),
    "aida-json": json_reader(corpus_formats.AidaJson),
    "aida-tsv": corpus_formats.read_aida_tsv,
    "elevant": json_reader(corpus_formats.Elevant),
    "elevant-links": json_reader(corpus_formats.ElevantLinks),
    "nif": read_nif,
    "plain": json_reader(corpus_formats.Plain),
    "zelda": json_reader(corpus_formats.Zelda),
}


class DatasetEntry(msgspec.Struct, frozen=True):
    """A data set: `url` is the file itself, `home` the page about it. None: the source does not state it."""

    name: str
    what: str
    reader: str
    home: str
    url: str | None = None
    licence: str | None = None
    checksum: str | None = None  # `sha256:…` of the file at `url`
    note: str = ""


_FILE = Path(__file__).parent / "catalogue.toml"
DATASETS = tuple(msgspec.toml.decode(_FILE.read_bytes(), type=dict[str, list[DatasetEntry]])["dataset"])


def list_datasets() -> tuple[DatasetEntry, ...]:
    """Return the data sets that can be read, with their addresses, licences and readers."""
    return DATASETS


def find_dataset(name: str) -> DatasetEntry:
    """Return the data set with this name."""
    return find({one.name: one for one in DATASETS}, name, "data set")


def find(known: Mapping[str, T], name: str, what: str) -> T:
    """Return what has this name; an unknown name is an error."""
    if name not in known:
        raise NamesakeError(f"no {what} {name!r}; there are: {', '.join(known)}")
    return known[name]


def get_dataset(name: str, folder: str | Path, progress: Reporter | None = None) -> tuple[Path, str]:
    """Download a data set from its owners, and return the file and its checksum.

    Args:
        name: a name of `list_datasets()`.
        folder: the folder of the file, created if necessary. A complete file there is checked and kept.
        progress: receives the progress of the download.
    """
    one = find_dataset(name)
    if one.url is None:
        raise NamesakeError(f"{name} has no address to download it from: {one.note} (see {one.home})")
    return download(one.url, Path(folder), one.checksum, (progress or Reporter()).advance)


LINKER = "namesake"  # the linker that ELEVANT's linked articles name
BATCH = 5000  # articles for which the KB's titles are searched once
LINES = (".jsonl", ".ndjson")

Counts = Counter[str]
"""The number of `articles`, `mentions`, truths by kind (`entity`, `nil`, `unresolved`), and `numbered` names."""


def convert_dataset(
    file: str | Path,
    reader: str,
    *,
    articles: str | Path | None = None,
    gold: str | Path | None = None,
    to: str | None = None,
    out: str | Path | None = None,
    truth: str | Path | None = None,
    kb: KB | str | Path | None = None,
    rejects: Rejects | None = None,
) -> Counts:
    """Convert a file of a data set to articles and gold, or to one file of another format.

    Args:
        file: a file of the data set.
        reader: the name of the format, such as `zelda` (`list_datasets()` has the reader of each data set).
        articles: the articles to write, for `link`.
        gold: the gold to write, for `evaluate`.
        to: instead of `articles` and `gold`, the format of `out`: `plain`, `quotebank`, `elevant` or `nif`.
        out: the file to write in that format.
        truth: a gold file to read, if the data set stores its truth in a file of its own.
        kb: resolves page titles to QIDs, and gives candidates to mentions without any.
        rejects: collects annotations that are not scored; without it, the first of them is an error.
    """
    known = kb if kb is None or isinstance(kb, KB) else KB.open(kb)
    found = find(READERS, reader, "reader")(Path(file), NoRejects() if rejects is None else rejects)
    if truth is not None:
        found = with_truth(found, read_gold(Path(truth)))
    inputs = [Path(file), *([Path(truth)] if truth else []), *([known.path] if known else [])]
    if articles and gold and not (to or out):
        outputs = [Path(articles), Path(gold)]
    elif to and out and not (articles or gold):
        outputs = [Path(out)]
    else:
        raise NamesakeError("no output: give `articles=` and `gold=`, or `to=` and `out=`")
    return write(resolved(found, known), outputs, to, inputs)


def write(labelled: Labelled, paths: Sequence[Path], to: str | None = None, inputs: Iterable[Path] = ()) -> Counts:
    """Write articles with their truth to one file in the format `to`, by default to a file of articles and one of gold.

    The files appear only when all of them are complete.
    """
    writer, suffixes = find(WRITERS, to, "format") if to else (partial(write_plain, with_gold=False), LINES)
    for path in paths:
        if kind(path) not in suffixes:
            what, forms = f"{to} is" if to else "articles and gold are", " or ".join(suffixes)
            raise NamesakeError(f"{path}: {what} written as {forms}, also with .gz, .bz2 or .zst")
    keep_apart(paths, inputs)
    counts: Counts = Counter()
    seen: set[str] = set()
    with ExitStack() as stack:
        files = [stack.enter_context(written(path)) for path in paths]
        for one in labelled:
            if one.article.id in seen:
                raise NamesakeError(f"article {one.article.id} appears twice in the data set")
            seen.add(one.article.id)
            for file, put in zip(files, (writer, _gold_lines), strict=False):
                file.write(put(one))
            counts.update(truth.kind for truth in one.truths)
            counts["numbered"] += sum(truth.name != truth.surface for truth in one.truths)
            counts["mentions"] += len(one.article.mentions or ())
            counts["articles"] += 1
    return counts


def _gold_lines(one: LabelledArticle) -> bytes:
    """Rows for `evaluate`. The column `truth` distinguishes unresolved titles from NIL, which are both null."""
    lines = []
    for truth in one.truths:
        row = {"articleID": one.article.id, "name": truth.name, "gold": truth.gold, "split": None, "difficulty": None}
        more = {"title": truth.title, "surface": truth.surface, "truth": truth.kind}
        lines.append(msgspec.json.encode({**row, **truth.columns, **more}) + b"\n")
    return b"".join(lines)


def with_truth(labelled: Iterable[LabelledArticle], rows: Sequence[GoldRow]) -> Iterator[LabelledArticle]:
    """Replace the truth of articles by the rows of a gold file; a row without its mention is an error."""
    by_article: dict[str, list[GoldRow]] = {}
    for row in rows:
        by_article.setdefault(row.mention[0], []).append(row)
    for one in labelled:
        mentions = {mention.name: mention for mention in reversed(one.article.mentions or ())}
        truths = []
        for row in by_article.pop(one.article.id, []):
            name, where = row.mention[1], f"article {one.article.id}"
            if name not in mentions:
                raise NamesakeError(f"{where}: gold for {name!r}, but it has no such mention")
            check_gold(row.gold, mentions[name].candidates, name, where)
            truths.append(Truth(name, name, row.gold, None, row.columns))
        yield replace(one, truths=truths)
    for article, lost in by_article.items():
        raise NamesakeError(f"gold for {lost[0].mention[1]!r} in article {article}, but there is no such article")


def resolved(labelled: Iterable[LabelledArticle], kb: KB | None) -> Iterator[LabelledArticle]:
    """Resolve titles to QIDs and give candidates to mentions without any; without a KB, articles stay unchanged."""
    if kb is None:
        yield from labelled
        return
    rest = iter(labelled)
    while batch := list(islice(rest, BATCH)):
        wanted = {truth.title for one in batch for truth in one.truths if truth.gold is None and truth.title}
        qids = titles_to_qids(wanted, kb)
        pairs = (pair for one in batch for pair in one.pairs())  # a numbered name (`Japan #2`) is not in the KB
        names = sorted({t.surface if t else m.name for m, t in pairs if m.candidates is None})
        offsets, rows, _ = kb.names.lookup_many(*text_buffers(pa.array(names, pa.string())))
        found = [kb.id_of(int(row)) for row in rows]
        candidates = {name: found[offsets[n] : offsets[n + 1]] for n, name in enumerate(names)}
        for one in batch:
            mentions = [
                replace(m, candidates=candidates[t.surface if t else m.name]) if m.candidates is None else m
                for m, t in one.pairs()
            ]
            truths = [replace(t, gold=qids.get(t.title or "")) if t.gold is None else t for t in one.truths]
            yield LabelledArticle(replace(one.article, mentions=mentions), truths)


def titles_to_qids(titles: Iterable[str], kb: KB) -> dict[str, str]:
    """Return the QIDs of the Wikipedia titles that the KB has, in one pass over its titles."""
    wanted = pa.array(sorted(title for title in titles if title), pa.large_string())
    place = pc.index_in(kb.titles.arrow(), value_set=wanted)
    rows = np.flatnonzero(place.is_valid().to_numpy(zero_copy_only=False))
    found = place.take(pa.array(rows)).to_pylist()
    return {wanted[at].as_py(): kb.id_of(int(row)) for at, row in zip(found, rows, strict=True)}


def present(**fields: Any) -> dict[str, Any]:
    """Return the fields that are not None."""
    return {name: value for name, value in fields.items() if value is not None}


def write_plain(one: LabelledArticle, with_gold: bool = True) -> bytes:
    """Write an article for the reader `plain`, and for `namesake link`."""
    article, mentions = one.article, []
    for mention, truth in one.pairs():
        fields = present(name=mention.name, spans=mention.spans, candidates=mention.candidates)
        gold = {"gold": gold_qid(mention, truth)} if with_gold and truth is not None else {}
        mentions.append(fields | gold)
    fields = present(id=article.id, text=article.text, title=article.title, date=article.date)
    return msgspec.json.encode(fields | {"mentions": mentions}) + b"\n"


def write_quotebank(one: LabelledArticle) -> bytes:
    """Write an article for the reader `nelight`. A span grows to the whitespace tokens that it touches."""
    article, names = one.article, []
    tokens = corpus_formats.token_spans(article.text)
    starts, ends = [start for start, _ in tokens], [end for _, end in tokens]
    for mention, truth in one.pairs():
        offsets = [(bisect_right(ends, start), bisect_left(starts, end)) for start, end in mention.spans]
        fields = present(name=mention.name, ids=mention.candidates) | {"offsets": offsets}
        names.append(fields if truth is None else fields | {"gold": truth.gold})
    fields = present(articleID=article.id, content=article.text, title=article.title, date=article.date)
    return msgspec.json.encode(fields | {"names": names}) + b"\n"


def write_elevant(one: LabelledArticle) -> bytes:
    """Write a linked article of ELEVANT: each occurrence is an entity mention, with the id null for NIL. No dates."""
    article = one.article
    mentions: list[dict[str, Any]] = []
    for mention, truth in one.pairs():
        qid = gold_qid(mention, truth)
        candidates = mention.candidates or ([] if qid is None else [qid])
        linked = {"recognized_by": LINKER, "id": qid, "linked_by": LINKER, "candidates": candidates}
        mentions += [{"span": span, **linked} for span in mention.spans]
    mentions.sort(key=lambda mention: mention["span"])
    fields = {"id": article.id, "title": article.title or "", "text": article.text, "entity_mentions": mentions}
    return msgspec.json.encode(fields | {"evaluation_span": [0, len(article.text)]}) + b"\n"


WRITERS: dict[str, tuple[Writer, tuple[str, ...]]] = {
    "plain": (write_plain, LINES),
    "quotebank": (write_quotebank, LINES),
    "elevant": (write_elevant, LINES),
    "nif": (write_nif, (".ttl", ".nif")),
}
"""The formats of `namesake datasets convert --to`: the writer, and the suffixes of its files."""
