"""Does the dump's own scanner earn its place? It beside msgspec's decoder and orjson, ISA-L under all three.

    python -m benchmarks.dump [--dumps ../shared/wikidata/slice.json.gz …] [--tries 3]

One core, in turns, the least CPU time of each. Dumps of another packing are packed with gzip first.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import IO, cast

import orjson
from isal import igzip

from namesake.files import open_lines
from namesake.kb.dump import repair
from namesake.kb.dump.chunks import Chunk, read_chunks
from namesake.kb.dump.parse import parse_chunk
from namesake.language import English

WIKIDATA = Path(__file__).resolve().parents[2] / "shared" / "wikidata"
SMALLEST = 200  # MB; a smaller dump is read several times
DUMPS = [WIKIDATA / "slice.json.gz", WIKIDATA / "full-records.json.bz2"]


def records(chunk: Chunk) -> Iterator[bytes]:
    """The lines of a chunk as a JSON decoder wants them."""
    for line in chunk.text[: chunk.size].split(b"\n"):
        if len(line) > 2:
            yield line.rstrip(b",\r")


def alone(chunk: Chunk) -> None:
    """Nothing: what reading and unpacking takes."""


def scanner(chunk: Chunk) -> None:
    parse_chunk(chunk, "people", English)


def repaired(chunk: Chunk) -> None:
    """What the build does first with a line that its scanner does not understand, for every line."""
    for line in records(chunk):
        repair.repair(line, English)


def orjson_dicts(chunk: Chunk) -> None:
    for line in records(chunk):
        orjson.loads(line)


MEASURED: dict[str, Callable[[Chunk], None]] = {
    "ISA-L alone": alone,
    "the scanner, to columns": scanner,
    "msgspec's decoder, to repaired lines and no further": repaired,
    "orjson, to dictionaries and no further": orjson_dicts,
}


def seconds(dumps: list[Path], work: Callable[[Chunk], None]) -> float:
    """CPU seconds of one pass over some dumps."""
    began = time.process_time()
    for chunk in read_chunks(dumps, 1):
        work(chunk)
    return time.process_time() - began


def gzipped(dump: Path, folder: Path) -> Path:
    """The dump itself, or a copy of it in gzip."""
    if dump.suffix == ".gz":
        return dump
    packed = folder / f"{dump.with_suffix('').name}.gz"
    with open_lines(dump) as lines, cast(IO[bytes], igzip.open(packed, "wb")) as out:
        out.writelines(lines)
    return packed


def report(dump: Path, tries: int) -> None:
    chunks = [(chunk.size, chunk.lines) for chunk in read_chunks([dump], 1)]
    size, lines = sum(size for size, _ in chunks) / 1e6, sum(lines for _, lines in chunks)
    times = max(1, round(SMALLEST / size))
    taken = [{name: seconds([dump] * times, work) / times for name, work in MEASURED.items()} for _ in range(tries)]
    least = {name: min(one[name] for one in taken) for name in MEASURED}
    unpacking, scanned = least["ISA-L alone"], least["the scanner, to columns"]
    print(f"| {dump.name}: {lines:,} lines, {size:,.0f} MB | CPU s | MB/s | times the scanner | without unpacking |")
    print("|---|--:|--:|--:|--:|")
    for name, took in least.items():
        beyond = f"{(took - unpacking) / (scanned - unpacking):.1f}" if took > unpacking else ""
        print(f"| {name} | {took:.3f} | {size / took:,.0f} | {took / scanned:.1f} | {beyond} |")
    print(flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--dumps", type=Path, nargs="+", default=DUMPS)
    parser.add_argument("--tries", type=int, default=3)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        for dump in given.dumps:
            report(gzipped(dump, Path(folder)), given.tries)


if __name__ == "__main__":
    main()
