"""How fast text becomes word ids, on one core: the bare tokenise-and-look-up pass, and its parts.

    python -m benchmarks.text [--kb KB] [--articles ../shared/quotebank/articles.jsonl.gz] [--repeat 10]

Without a KB the articles' own words serve as the lexicon: then every word is known, which is the most to write.
"""

from __future__ import annotations

import argparse
import gzip
import json
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np

from namesake.arrays import Int64, UInt8
from namesake.kb.columns import KBColumns
from namesake.kb.columns.words import index_words
from namesake.kb.store import KB
from namesake.language import English
from namesake.text import Lexicon, pack, tokenize

ARTICLES = Path(__file__).resolve().parents[2] / "shared" / "quotebank" / "articles.jsonl.gz"


def read_texts(path: Path = ARTICLES, repeat: int = 1) -> tuple[UInt8, Int64]:
    """The contents of Quotebank articles, several times over, in Arrow's layout."""
    with gzip.open(path, "rt") as lines:
        texts = [json.loads(line)["content"] for line in lines]
    return pack(texts * repeat)


def bare_pass(lexicon: Lexicon, data: UInt8, offsets: Int64, tries: int = 7) -> float:
    """Seconds of one tokenise-and-look-up pass over the texts, the best of several, with the lexicon warmed up."""
    return best(lambda: lexicon.analyse(data, offsets), tries)


def best(run: Callable[[], object], tries: int) -> float:
    run()
    seconds = []
    for _ in range(tries):
        begin = time.perf_counter()
        run()
        seconds.append(time.perf_counter() - begin)
    return min(seconds)


def lexicon_of(kb: Path | None, data: UInt8, offsets: Int64) -> Lexicon:
    """The lexicon of a KB, or of the texts' own words."""
    if kb is None:
        made, _ = index_words([(data, offsets)], English)
        columns = KBColumns.surface_hash, KBColumns.surface_word, KBColumns.stem_hash, KBColumns.stem_word
        return Lexicon([made[column] for column in columns], English)
    return KB.open(kb).lexicon()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kb", type=Path)
    parser.add_argument("--articles", type=Path, default=ARTICLES)
    parser.add_argument("--repeat", type=int, default=10)
    options = parser.parse_args()
    once = read_texts(options.articles)
    lexicon = lexicon_of(options.kb, *once)
    data, offsets = read_texts(options.articles, options.repeat)
    articles, size = len(offsets) - 1, len(data)
    single = [np.array(edges) for edges in zip(once[1][:-1], once[1][1:], strict=True)]
    rows = [
        (
            "tokenise, sentences",
            best(lambda: tokenize(data, offsets, English), 7),
            articles,
            size,
        ),
        ("tokenise, sentences, look up", bare_pass(lexicon, data, offsets), articles, size),
        (
            "the same, one article a call",
            best(lambda: [lexicon.analyse(once[0], edges) for edges in single], 7),
            len(single),
            len(once[0]),
        ),
        ("index (vocabulary, tables, sets)", best(lambda: index_words([(data, offsets)], English), 3), articles, size),
    ]
    print(f"{articles} articles, {size / 1e6:.1f} MB\n\n| pass | MB/s | µs per article |\n|---|---:|---:|")
    for name, seconds, count, volume in rows:
        print(f"| {name} | {volume / seconds / 1e6:.0f} | {seconds / count * 1e6:.1f} |")


if __name__ == "__main__":
    main()
