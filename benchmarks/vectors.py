"""What scores from vectors cost on one core: CSSVE, Eigen and static CSE, per mention.

`python -m benchmarks.vectors [KB ARTICLES]`: a KB with vectors; without one, the sample's, with random word vectors.
"""

from __future__ import annotations

import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import re
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import pyarrow as pa

from namesake import KB, Linker, Recipe
from namesake.articles.rejects import Rejects
from namesake.batch import Batch
from namesake.formats import read_articles
from namesake.kb.build import build
from namesake.kb.vectors.make import embed, encoder_of, walk
from namesake.recipe import Part
from namesake.sample import ARTICLES, DUMP
from namesake.scorers import SCORERS
from namesake.settings import Neural, Settings

DIMENSION = 300


def main() -> None:
    given = [argument for argument in sys.argv[1:] if not argument.startswith("-")]
    with tempfile.TemporaryDirectory() as folder:
        kb = KB.open(given[0]) if given else sample_kb(Path(folder))
        tables = list(read_articles(Path(given[1]) if given else ARTICLES, Rejects()))
        table = pa.concat_tables(tables if given else tables * 20)
        measure(kb, table)


def sample_kb(folder: Path) -> KB:
    """The sample's KB with random vectors of its words, and with walks."""
    build([DUMP], folder / "kb", keep="people")
    words = sorted(set(re.findall(r"\w+", (ARTICLES.read_text() + DUMP.read_text()).lower())))
    vectors = np.random.default_rng(0).normal(size=(len(words), DIMENSION))
    np.savez(folder / "words.npz", words=np.array(words), vectors=vectors)
    embed(folder / "kb", f"static:{folder / 'words.npz'}")
    walk(folder / "kb")
    return KB.open(folder / "kb")


def measure(kb: KB, table: pa.Table) -> None:
    batch = Linker(kb, Recipe("all", (Part("NS"),))).scored(table).batch
    mentions, candidates = len(batch.names), len(batch.rows)
    print(f"{table.num_rows:,} articles, {mentions:,} mentions, {candidates:,} candidates\n")
    print("| score | dimensions | a mention |\n|---|---:|---:|")
    text, graph = kb.text_vectors.manifest.dimension, kb.walk_vectors.manifest.dimension
    batch.settings = Settings()
    row("CSSVE, all anchors", text, batch, "CSSVE", mentions)
    for source, dimension in (("walk", graph), ("text", text)):
        batch.settings = Settings(neural=Neural(themes_from=source))
        row(f"Eigen, {source} vectors", dimension, batch, "Eigen", mentions)
    if encoder_of(kb).name.startswith("static:"):
        taken = row("CSE, static", text, batch, "CSE", mentions)
        print(f"\nCSE, static: {1e6 * taken / table.num_rows:.0f} µs an article")


def row(what: str, dimension: int, batch: Batch, name: str, mentions: int) -> float:
    taken = []
    for _ in range(4):  # the first compiles and warms
        began = time.perf_counter()
        SCORERS[name](batch)
        taken.append(time.perf_counter() - began)
    print(f"| {what} | {dimension} | {1e6 * min(taken) / mentions:.1f} µs |", flush=True)
    return min(taken)


if __name__ == "__main__":
    main()
