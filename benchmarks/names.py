"""Names: how fast the index builds, finds and reads raw text, and how much of what Quotebank knows it finds.

    python -m benchmarks.names [KB | --names 10000000]

Needs ../shared beside the project; builds a KB of its slice unless one is given. With `--names` an index of that many
made-up names is built in memory instead, and its time and peak memory are reported.
"""

from __future__ import annotations

import argparse
import gzip
import json
import resource
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from namesake.arrays import one_chunk
from namesake.articles.rejects import Rejects
from namesake.formats import read_articles
from namesake.formats.link_writers import LinkWriter
from namesake.kb.build import build
from namesake.kb.columns.column_files import Ragged, Strings
from namesake.kb.names.build_index import EntityNames, build_names
from namesake.kb.names.index import NameIndex
from namesake.kb.names.normalise import normalise
from namesake.kb.store import KB
from namesake.language import English
from namesake.linker import Linker
from namesake.names.candidates import candidates
from namesake.names.mentions import found_mentions

QUOTEBANK = Path(__file__).resolve().parents[2] / "shared" / "quotebank"
SLICE = QUOTEBANK.parent / "wikidata" / "slice.json.gz"

Row = tuple[str, str]


def best(run: Callable[[], object], tries: int = 7) -> float:
    """The fewest seconds of processor time that a run took, once warm."""
    run()
    seconds = []
    for _ in range(tries):
        begin = time.thread_time()
        run()
        seconds.append(time.thread_time() - begin)
    return min(seconds)


def quotebank_names() -> list[tuple[str, set[int]]]:
    """Names as Quotebank spells them, with the numbers of their candidates."""
    lines = (QUOTEBANK / "speaker_names.tsv").read_text().splitlines()
    pairs = (line.split("\t") for line in lines)
    return [(name, {int(qid[1:]) for qid in qids.replace(",", " ").split()}) for name, qids in pairs]


def article_names() -> list[tuple[str, set[int]]]:
    with gzip.open(QUOTEBANK / "articles.jsonl.gz") as lines:
        articles = [json.loads(line) for line in lines]
    return [(n["name"], {int(qid[1:]) for qid in n["ids"]}) for article in articles for n in article["names"]]


def speed(kb: KB) -> Iterator[Row]:
    labels = kb.item_labels.take(kb.entity_item.astype(np.int64))
    texts, aliases = kb.alias_texts, kb.aliases
    seconds = best(lambda: build_names(EntityNames.of(English, labels, aliases, texts)), 3)
    yield f"build the index: {len(labels):,} labels, {len(texts):,} aliases", f"{seconds:.2f} s"
    seconds = best(lambda: kb.names.lookup_many(labels.data, labels.offsets))
    yield "look up a name", f"{seconds / len(labels) * 1e9:.0f} ns"
    asked = Strings.of(name for name, _ in quotebank_names())
    seconds = best(lambda: candidates(kb.names, asked.data, asked.offsets, variants="always"), 3)
    yield "look up a name and its variants", f"{seconds / len(asked) * 1e6:.1f} µs"


def reading(kb: KB) -> Iterator[Row]:
    tables = list(read_articles(QUOTEBANK / "articles.jsonl.gz", Rejects()))
    given = pa.concat_tables(tables * 5).combine_chunks()
    place = given.schema.get_field_index("mentions")
    field = given.schema.field(place)
    raw = given.set_column(place, field, pa.nulls(len(given), field.type))
    linker = Linker(kb)
    per_article = 1e6 / len(given)
    link = best(lambda: linker.link(given)) * per_article
    texts = one_chunk(raw.column("text"))
    find_names = best(lambda: found_mentions(texts, kb)) * per_article
    whole = best(lambda: linker.link(raw)) * per_article
    yield "link an article, names given", f"{link:.0f} µs"
    yield "find the names of an article", f"{find_names:.0f} µs"
    yield "raw text against names given, Arrow to Arrow", f"{whole / link:.2f} times"
    with TemporaryDirectory() as folder:
        for name, table in (("given", given), ("raw", raw)):
            pq.write_table(table, Path(folder) / f"{name}.parquet")
        seconds = {name: best(lambda name=name: to_parquet(linker, Path(folder), name)) for name in ("given", "raw")}
    yield "raw text against names given, Parquet in and out", f"{seconds['raw'] / seconds['given']:.2f} times"


def to_parquet(linker: Linker, folder: Path, name: str) -> None:
    with LinkWriter(folder / "links.parquet", linker.metadata) as writer:
        for table in read_articles(folder / f"{name}.parquet", Rejects()):
            writer.write(linker.link(table))


def end_to_end(kb: KB) -> Iterator[Row]:
    """Links from raw text alone, on gold mentions whose entity the KB has: P@1 of the first candidate, by recipe."""
    with gzip.open(QUOTEBANK / "articles.jsonl.gz") as lines:
        ids = {(a["articleID"], n["name"]): n["ids"] for a in map(json.loads, lines) for n in a["names"]}
    gold = [json.loads(line) for line in (QUOTEBANK / "gold.jsonl").read_text().splitlines()]
    table = pa.concat_tables(read_articles(QUOTEBANK / "articles.jsonl.gz", Rejects()))
    place = table.schema.get_field_index("mentions")
    raw = table.set_column(place, table.schema.field(place), pa.nulls(len(table), table.schema.field(place).type))
    for recipe in ("default", "uiscore-paper", "eeiscore-paper", "iscore-paper", "pr_wp-paper", "ns-paper"):
        found = {
            (x["article_id"], bare(normalise(x["name"]))): x["best"] for x in Linker(kb, recipe).link(raw).to_pylist()
        }
        hits: dict[str, list[bool]] = {"entity and a rival known": [], "all candidates known": []}
        for row in gold:
            given = ids[row["articleID"], row["name"]]
            known = kb.rows(np.array([int(qid[1:]) for qid in given])) >= 0
            if row["gold"] is None or not known[row["gold"]]:
                continue
            hit = found.get((row["articleID"], bare(normalise(row["name"])))) == given[row["gold"]]
            if known.sum() > 1:
                hits["entity and a rival known"].append(hit)
            if known.all():
                hits["all candidates known"].append(hit)
        counts = ", ".join(f"{what}: {np.mean(h):.3f} of {len(h)}" for what, h in hits.items())
        yield f"linked from raw text, {recipe}", counts


def recall(kb: KB) -> Iterator[Row]:
    for what, pairs in (("speaker names", quotebank_names()), ("names of the 300 articles", article_names())):
        asked = Strings.of(name for name, _ in pairs)
        in_kb = [{int(row) for row in kb.rows(np.array(sorted(qids), np.int64)) if row >= 0} for _, qids in pairs]
        for variants in ("never", "missing", "always"):
            indptr, rows, _ = candidates(kb.names, asked.data, asked.offsets, variants=variants)
            found = [set(rows[indptr[i] : indptr[i + 1]].tolist()) for i in range(len(pairs))]
            asked_for = [(want, got) for want, got in zip(in_kb, found, strict=True) if want]
            names = sum(bool(want & got) for want, got in asked_for) / len(asked_for)
            total = sum(len(want) for want, _ in asked_for)
            right = sum(len(want & got) for want, got in asked_for)
            extra = sum(len(got - want) for want, got in asked_for)
            row = f"{names:.2%} of {len(asked_for):,} names, {right / total:.2%} of {total:,} candidates"
            yield f"{what}, variants {variants}", f"{row}, {extra:,} others"


def detection(kb: KB) -> Iterator[Row]:
    with gzip.open(QUOTEBANK / "articles.jsonl.gz") as lines:
        articles = [json.loads(line) for line in lines]
    raw = pa.table({"id": [str(n) for n in range(len(articles))], "text": [a["content"] for a in articles]})
    found: dict[int, list[dict]] = {}
    for link in Linker(kb).link(raw, scores=True).to_pylist():
        found.setdefault(int(link["article_id"]), []).append(link)
    for phases in ("ABC", "D", "E", "ABCDE"):
        count: Counter[str] = Counter()
        for place, article in enumerate(articles):
            if article["phase"] not in phases:
                continue
            listed = {bare(normalise(n["name"])): {int(qid[1:]) for qid in n["ids"]} for n in article["names"]}
            gold = {name for name, qids in listed.items() if (kb.rows(np.array(sorted(qids), np.int64)) >= 0).any()}
            here = found.get(place, [])
            got = {bare(normalise(link["name"])) for link in here}
            meant = {int(one["qid"][1:]) for link in here for one in link["candidates"]}
            count["gold"] += len(gold)
            count["found"] += len(gold & got)
            count["others"] += len(got - set(listed))
            count["meant"] += sum(bool(listed[name] & meant) for name in gold)
        precision = count["found"] / (count["found"] + count["others"])
        row = f"recall {count['found'] / count['gold']:.2%} of {count['gold']}, precision {precision:.2%}, "
        yield f"names in raw text, phases {phases}", row + f"a listed candidate {count['meant'] / count['gold']:.2%}"


def bare(name: str) -> str:
    """A name without its titles, as Quotebank counts it: "president barack obama" is "barack obama"."""
    words = name.split()
    while len(words) > 2 and words[-1] in English.suffixes:
        words = words[:-1]
    while len(words) > 2 and words[0] in English.honorifics:
        words = words[1:]
    return " ".join(words)


def many(count: int) -> Iterator[Row]:
    """An index of made-up names: two tokens of a large vocabulary each."""
    random = np.random.default_rng(1)
    letters = random.integers(97, 123, (200_000, 7), np.uint8)
    whole = np.full((count, 15), ord(" "), np.uint8)
    whole[:, :7] = letters[random.integers(0, 20_000, count)]
    whole[:, 8:] = letters[random.integers(0, 200_000, count)]
    labels = Strings(np.arange(count + 1, dtype=np.int64) * 15, whole.ravel())
    nobody = Ragged(np.zeros(count + 1, np.int64), np.empty(0, np.int32))
    begin = time.perf_counter()
    columns = build_names(EntityNames.of(English, labels, nobody, Strings.of([])))
    seconds = time.perf_counter() - begin
    arrays = [array for column, value in columns.items() for array in column.arrays(value).values()]
    size = sum(array.nbytes for array in arrays)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    yield f"build an index of {len(columns[NameIndex.texts]):,} names", f"{seconds:.1f} s"
    yield "its size on disk, peak memory of the process", f"{size / 2**20:.0f} MB, {peak:.0f} MB"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("kb", type=Path, nargs="?", help="a KB of the slice with ranks; without it one is built")
    parser.add_argument("--names", type=int, help="only an index of so many made-up names")
    options = parser.parse_args()
    if options.names:
        show(many(options.names))
        return
    with TemporaryDirectory() as folder:
        path = options.kb or Path(folder) / "kb"
        if options.kb is None:
            build([SLICE], path, keep="people", ranks={"wikipedia": QUOTEBANK / "wikipedia.rank.tsv"})
        kb = KB.open(path)
        for part in (speed, reading, recall, detection, end_to_end):
            show(part(kb))


def show(rows: Iterable[Row]) -> None:
    for what, value in rows:
        print(f"| {what} | {value} |", flush=True)


if __name__ == "__main__":
    main()
