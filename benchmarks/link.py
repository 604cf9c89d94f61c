"""How fast articles are linked on one core, beside plain Python and the bare text pass; how that grows; in what memory.

    python -m benchmarks.link [--kb KB] [--only speed raw plain growth sizes memory] [--repeat 20]
    python -m benchmarks.link --only sizes --kb SMALL --other-kbs LARGE LARGER
    python -m benchmarks.link --only memory --articles 100000 1000000

The articles are the paper's 300 from Quotebank, repeated; the recipe is uiscore-paper, and `raw` compares it with the
default one on given names and on bare texts, in which it finds the names itself. Other work on the machine
slows the clock more than it slows the process, so CPU time is measured beside it, and what is compared runs in turns.
"""

from __future__ import annotations

import argparse
import cProfile
import os
import pstats
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from benchmarks.text import ARTICLES, lexicon_of
from namesake.arrays import one_chunk, text_buffers
from namesake.articles.article import Article, Mention
from namesake.articles.builder import ArticleBuilder
from namesake.articles.rejects import Rejects
from namesake.formats import read_articles
from namesake.formats.link_writers import LinkWriter
from namesake.kb.store import KB
from namesake.linker import Linker

SLICE = ARTICLES.parents[1] / "wikidata" / "slice.json.gz"
STAGES = {
    "read Parquet": ("read_row_groups",),
    "words and sentences of the text": ("analyse",),
    "spans to bytes": ("characters_to_bytes",),
    "words near a name": ("narrow_contexts",),
    "IScore, NIScore": ("overlap",),
    "EEIScore": ("shared_statements",),
    "QIDs to rows": ("parse_qids", "find"),
    "write Parquet": ("write_table",),
}
"""Where the time goes: the functions whose own time is a stage; what is left is the rest."""


class Taken(NamedTuple):
    """Seconds by the clock and of the processor."""

    wall: float
    cpu: float


def timed(run: Callable[[], object]) -> Taken:
    wall, cpu = time.perf_counter(), time.process_time()
    run()
    return Taken(time.perf_counter() - wall, time.process_time() - cpu)


def in_turns(runs: list[Callable[[], object]], tries: int) -> list[Taken]:
    """The best of several tries of each, taken in turns so that all meet the same weather."""
    for run in runs:
        run()
    rounds = [[timed(run) for run in runs] for _ in range(tries)]
    return [Taken(min(t.wall for t in times), min(t.cpu for t in times)) for times in zip(*rounds, strict=True)]


def quotebank(path: Path) -> pa.Table:
    return pa.concat_tables(read_articles(path, Rejects())).combine_chunks()


def table(title: str, headings: list[str], rows: list[list[str]]) -> None:
    print(f"\n{title}\n\n| {' | '.join(headings)} |\n|---|{'--:|' * (len(headings) - 1)}")
    for row in rows:
        print(f"| {' | '.join(row)} |")


@contextmanager
def one_core() -> Iterator[None]:
    """Keep this process on one of its cores."""
    before = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {max(before)})
    try:
        yield
    finally:
        os.sched_setaffinity(0, before)


# the whole road
def whole_run(linker: Linker, articles: Path, out: Path) -> None:
    """Parquet in, links out, as `namesake link` does it on one thread."""
    rejects = Rejects()
    with LinkWriter(out, linker.metadata) as writer:
        for batch in read_articles(articles, rejects):
            writer.write(linker.link(batch, rejects=rejects))


def speed(kb: Path, articles: pa.Table, repeat: int, folder: Path) -> None:
    """Articles a second, the ratio to the bare pass, and where the time goes."""
    linker = Linker(kb, "uiscore-paper")
    given, out = folder / "articles.parquet", folder / "links.parquet"
    many = pa.concat_tables([articles] * repeat).combine_chunks()
    pq.write_table(many, given)
    data, offsets = text_buffers(one_chunk(many.column("text")))
    lexicon = lexicon_of(kb, data, offsets)

    def run() -> None:
        whole_run(linker, given, out)

    total, link, bare = in_turns([run, lambda: linker.link(many), lambda: lexicon.analyse(data, offsets)], 7)
    count = many.num_rows
    rows = [
        [
            name,
            f"{count / t.wall:,.0f}",
            f"{count / t.cpu:,.0f}",
            f"{t.cpu / count * 1e6:.1f}",
            f"{t.cpu / bare.cpu:.2f}",
        ]
        for name, t in (("tokenise and look up", bare), ("link, Arrow to Arrow", link), ("Parquet in and out", total))
    ]
    size = f"{count:,} articles, {len(data) / 1e6:.0f} MB of text"
    table(size, ["one core", "articles/s", "by CPU time", "CPU µs", "ratio"], rows)
    own = own_shares(run)
    shares = {stage: sum(own[name] for name in names) for stage, names in STAGES.items()}
    shares["the rest"] = 1 - sum(shares.values())
    table("where the time goes", ["stage", "share"], [[stage, f"{share:.1%}"] for stage, share in shares.items()])


def own_shares(run: Callable[[], object]) -> Counter[str]:
    """Of each function called, the share of the time spent in it and not in what it calls."""
    profile = cProfile.Profile()
    profile.runcall(run)
    own: Counter[str] = Counter()
    for (_, _, name), taken in pstats.Stats(profile).stats.items():  # type: ignore[attr-defined]
        own[name] += taken[2]
    everything = sum(own.values())
    return Counter({name: seconds / everything for name, seconds in own.items()})


def raw(kb: Path, articles: pa.Table, repeat: int, folder: Path) -> None:
    """The default recipe beside the paper's, with names given and with names to be found; Parquet in and out."""
    many = pa.concat_tables([articles] * repeat).combine_chunks()
    given, bare, out = folder / "articles.parquet", folder / "bare.parquet", folder / "links.parquet"
    pq.write_table(many, given)
    pq.write_table(many.select(["id", "text", "date"]), bare)
    paper, default = Linker(kb, "uiscore-paper"), Linker(kb)
    runs = {
        "uiscore-paper, given names": lambda: whole_run(paper, given, out),
        "default, given names": lambda: whole_run(default, given, out),
        "default, bare text": lambda: whole_run(default, bare, out),
    }
    taken = in_turns(list(runs.values()), 5)
    count = many.num_rows
    rows = [
        [name, f"{count / t.cpu:,.0f}", f"{t.cpu / count * 1e6:.1f}", f"{t.cpu / taken[1].cpu:.2f}"]
        for name, t in zip(runs, taken, strict=True)
    ]
    table(f"{count:,} articles, Parquet in and out", ["one core", "articles/s by CPU time", "CPU µs", "ratio"], rows)
    per_article = taken[2].cpu / count * 1e6
    shares = own_shares(runs["default, bare text"]).most_common(25)
    parts = [[name, f"{share:.1%}", f"{share * per_article:.1f}"] for name, share in shares]
    table("where the time goes in bare text", ["function", "share", "CPU µs"], parts)


# beside plain Python
def plain(kb: Path, articles: pa.Table, dump: Path, most: int = 20) -> None:
    """The method in plain Python on NLTK's tokens and stems (tests/oracle.py), on some of the articles."""
    from benchmarks.plain import PlainLinker

    some = articles.slice(0, most)
    records = some.to_pylist()
    plain_linker = PlainLinker(dump, records)
    linker = Linker(kb, "uiscore-paper")
    many = pa.concat_tables([some] * 50).combine_chunks()
    anew, kept, ours = in_turns(
        [
            lambda: plain_linker.link(records, keep=False),
            lambda: plain_linker.link(records, keep=True),
            lambda: linker.link(many),
        ],
        3,
    )
    agree = plain_linker.link(records, keep=True) == linker.link(some, scores=True).column("score").to_pylist()
    each = ours.cpu / many.num_rows
    rows = [
        [name, f"{seconds * 1e3:.3f}", f"{seconds / each:,.0f}"]
        for name, seconds in (
            ("plain Python, words of an entity made anew", anew.cpu / len(records)),
            ("plain Python, words of an entity kept", kept.cpu / len(records)),
            ("namesake", each),
        )
    ]
    title = f"{len(records)} articles; the scores {'are equal' if agree else 'DIFFER'}"
    table(title, ["", "CPU ms per article", "times as long"], rows)


# how it grows
def growth(kb: Path, articles: pa.Table) -> None:
    """Cost against the length of the text and the number of candidates."""
    linker = Linker(kb, "uiscore-paper")
    some = [a for a in articles.to_pylist() if len(a["text"]) < 6000][:100] * 8
    rows = []
    for times in (1, 2, 4, 8, 16):
        longer = article_table([a | {"text": (a["text"] + "\n") * times} for a in some])
        [taken] = in_turns([lambda longer=longer: linker.link(longer)], 5)
        size = sum(len(a["text"].encode()) + 1 for a in some) * times
        rows.append(
            [f"{size / len(some) / 1e3:.1f}", f"{taken.cpu / len(some) * 1e6:.1f}", f"{taken.cpu / size * 1e9:.2f}"]
        )
    table("cost by length of text", ["KB of text", "CPU µs per article", "ns per byte"], rows)
    rng = np.random.default_rng(1)
    text, rows = some[0] | {"mentions": None}, []
    for count in (1, 10, 100, 1000, 5000):
        drawn = [random_candidates(linker.kb, count, rng) for _ in range(20)]
        mentions = [{"name": "x y", "spans": [[0, 1]], "candidates": ids} for ids in drawn]
        crowded = article_table([text | {"mentions": mentions}] * 10)
        [taken] = in_turns([lambda crowded=crowded: linker.link(crowded)], 5)
        rows.append([f"{count:,}", f"{taken.cpu / 10 * 1e6:.0f}", f"{taken.cpu / (200 * count) * 1e9:.0f}"])
    table("cost by candidates, 20 mentions per article", ["candidates", "CPU µs per article", "ns per candidate"], rows)


def article_table(records: list[dict]) -> pa.Table:
    builder = ArticleBuilder()
    for record in records:
        mentions = [Mention(m["name"], [tuple(s) for s in m["spans"]], m["candidates"]) for m in record["mentions"]]
        builder.add(Article(record["id"], record["text"], mentions=mentions))
    return builder.table()


def random_candidates(kb: KB, count: int, rng: np.random.Generator) -> list[str]:
    return [f"Q{qid}" for qid in kb.qids[rng.integers(0, len(kb), count)]]


def sizes(kbs: list[Path], articles: pa.Table, repeat: int) -> None:
    """The same texts and as many candidates, drawn at random from KBs of different sizes."""
    rows, runs = [], []
    for path in kbs:
        linker = Linker(path, "uiscore-paper")
        rng = np.random.default_rng(1)
        records = articles.to_pylist()
        for mention in (m for record in records for m in record["mentions"]):
            mention["candidates"] = random_candidates(linker.kb, len(mention["candidates"]), rng)
        many = pa.concat_tables([article_table(records)] * repeat).combine_chunks()
        runs.append((linker, many, lambda linker=linker, many=many: linker.link(many)))
    for (linker, many, _), taken in zip(runs, in_turns([run for *_, run in runs], 5), strict=True):
        size = sum(f.stat().st_size for f in linker.kb.path.iterdir()) / 2**20
        rows.append([f"{len(linker.kb):,}", f"{size:,.0f}", f"{taken.cpu / many.num_rows * 1e6:.1f}"])
    table("cost by size of the KB, candidates at random", ["people", "MB on disk", "CPU µs per article"], rows)


# in what memory
def memory(kb: Path, articles: pa.Table, counts: list[int], folder: Path) -> None:
    """Peak memory of the command itself, for more and more articles."""
    rows = []
    for count in counts:
        given = folder / f"{count}.parquet"
        with pq.ParquetWriter(given, articles.schema) as writer:
            for _ in range(-(-count // (10 * articles.num_rows))):
                writer.write_table(pa.concat_tables([articles] * 10).combine_chunks())
        program = "from namesake.apps.cli.main import main; main()"
        options = ["link", str(given), "--kb", str(kb), "-o", str(folder / "o.parquet"), "--recipe", "uiscore-paper"]
        began = time.perf_counter()
        child = subprocess.Popen([sys.executable, "-c", program, *options, "--threads", "1"], stderr=subprocess.DEVNULL)
        _, status, used = os.wait4(child.pid, 0)
        assert status == 0, f"namesake link ended with {status}"
        linked = pq.ParquetFile(given).metadata.num_rows
        took = time.perf_counter() - began
        cpu = used.ru_utime + used.ru_stime
        rows.append(
            [f"{linked:,}", f"{used.ru_maxrss / 1024:,.0f}", f"{took:.1f}", f"{cpu:.1f}", f"{linked / cpu:,.0f}"]
        )
        given.unlink()
    headings = ["articles", "peak MB, KB included", "seconds", "CPU seconds", "articles/s by CPU time"]
    table("`namesake link`, start to end, one thread", headings, rows)


def slice_kb(folder: Path) -> Path:
    from namesake.kb.build import build

    build([SLICE], folder / "kb", keep="people")
    return folder / "kb"


def main() -> None:
    parts = ["speed", "raw", "plain", "growth", "sizes", "memory"]
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kb", type=Path, help="a KB of the slice; without it one is built")
    parser.add_argument("--only", nargs="+", choices=parts, default=parts)
    parser.add_argument("--repeat", type=int, default=20)
    parser.add_argument("--other-kbs", type=Path, nargs="*", default=[], help="KBs of other sizes")
    parser.add_argument("--articles", type=int, nargs="+", default=[50_000, 100_000, 200_000])
    options = parser.parse_args()
    articles = quotebank(ARTICLES)
    with tempfile.TemporaryDirectory() as name, one_core():
        folder = Path(name)
        kb = options.kb or slice_kb(folder)
        for part in options.only:
            if part == "speed":
                speed(kb, articles, options.repeat, folder)
            elif part == "raw":
                raw(kb, articles, options.repeat, folder)
            elif part == "plain":
                plain(kb, articles, SLICE)
            elif part == "growth":
                growth(kb, articles)
            elif part == "sizes":
                sizes([kb, *options.other_kbs], articles, max(options.repeat // 4, 1))
            else:
                memory(kb, articles, options.articles, folder)


if __name__ == "__main__":
    main()
