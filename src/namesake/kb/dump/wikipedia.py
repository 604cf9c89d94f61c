"""Wikipedia's CirrusSearch content dump: first paragraphs, and PR_WP from the links between pages.

The dump alternates index and document lines. Pages and links are stored as 64-bit hashes of their titles while the file
is read, and matched at its end: memory grows with the number of pages, not with the text.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import msgspec
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from namesake.arrays import Float64, Int64, UInt64, arrow_texts, positions, text_buffers
from namesake.errors import NamesakeError
from namesake.files.lines import Meter
from namesake.kb.columns import Ragged, Strings, large
from namesake.kb.dump.chunks import Chunk, read_chunks
from namesake.kb.dump.ranks import incoming, pagerank
from namesake.kb.ids import QID
from namesake.kb.manifest import Reject, Rejects
from namesake.kb.publish.draft import Spill
from namesake.kernels.hash import hash_each
from namesake.progress import Reporter

ARTICLES = 0  # the namespace of encyclopedic pages


class _Redirect(msgspec.Struct):
    title: str
    namespace: int = ARTICLES


class _Page(msgspec.Struct):
    title: str | None = None
    namespace: int = ARTICLES
    wikibase_item: str | None = None
    opening_text: str | None = None
    outgoing_link: list[str] = []
    redirect: list[_Redirect] = []


DECODER = msgspec.json.Decoder(_Page)


class Wikipedia(NamedTuple):
    """The first paragraph of each entity's page, which may be empty, and PR_WP; None if no page has a link."""

    paragraphs: Strings
    ranks: Float64 | None = None


@dataclass
class Reader:
    """Takes chunks of the dump in their order, then returns what they contain about the entities `qids` (ascending)."""

    qids: Int64
    spill: Spill
    rejects: Rejects
    pages: int = 0

    def read(self, path: Path, workers: int, reporter: Reporter) -> None:
        """Read the CirrusSearch content dump `path`; bzip2 is decompressed on `workers` cores."""
        with Meter([path]) as meter:
            for chunk in read_chunks([path], workers):
                self.add(chunk)
                reporter.advance(meter.fraction(), self.pages, "pages")
        if not self.pages:
            raise NamesakeError(f"{path} has no pages: is it a CirrusSearch content dump?")

    def add(self, chunk: Chunk) -> None:
        """Store the pages of a chunk: names, links, and the paragraphs of entities."""
        pages = [page for page in self._decode(chunk) if page.title and page.namespace == ARTICLES]
        names = [
            [page.title or "", *(other.title for other in page.redirect if other.namespace == ARTICLES)]
            for page in pages
        ]
        numbers = np.arange(self.pages, self.pages + len(pages), dtype=np.int32)
        self.spill.append("page.name", _hashes(name for of_page in names for name in of_page))
        self.spill.append("page.of_name", np.repeat(numbers, [len(of_page) for of_page in names]))
        self.spill.append("page.link", _hashes(link for page in pages for link in page.outgoing_link))
        self.spill.append("page.links", np.array([len(page.outgoing_link) for page in pages], np.int32))
        items = [page.wikibase_item or "" for page in pages]
        qids = np.array([int(item[1:]) if QID.fullmatch(item) else -1 for item in items], np.int64)
        entity = positions(self.qids, qids)
        texts = Strings.of((pages[i].opening_text or "").strip() for i in np.flatnonzero(entity >= 0))
        self.spill.append("page.entity", entity.astype(np.int32))
        self.spill.append("paragraph.size", np.diff(texts.offsets))
        self.spill.append("paragraph.bytes", texts.data)
        self.pages += len(pages)

    def _decode(self, chunk: Chunk) -> Iterable[_Page]:
        if chunk.problem:
            self.rejects.add([Reject(chunk.file, chunk.first_line, chunk.problem)])
        for number, line in enumerate(chunk.text[: chunk.size].split(b"\n"), chunk.first_line):
            if not line.strip() or line.startswith(b'{"index"'):
                continue
            try:
                yield DECODER.decode(line)
            except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as problem:
                self.rejects.add([Reject(chunk.file, number, f"not a Wikipedia page: {problem}")])

    def finish(self) -> Wikipedia:
        """Match links with pages, rank the pages, and assign everything to the entities."""
        entity = self.spill.column("page.entity")
        own = np.flatnonzero(entity >= 0)
        ranks = None
        if len(self.spill.column("page.link")):
            rank, ranks = pagerank(self._links()), np.zeros(len(self.qids), np.float64)
            np.maximum.at(ranks, entity[own], rank[own])
        texts = Strings(large.running(self.spill.column("paragraph.size")), self.spill.column("paragraph.bytes"))
        of_entity = np.full(len(self.qids), -1, np.int64)
        of_entity[entity[own][::-1]] = np.arange(len(own))[::-1]  # the first of several pages
        return Wikipedia(texts.take(of_entity), ranks)

    def _links(self) -> Ragged:
        """The pages that link to each page, through redirects; links to unknown pages are left out."""
        names, page = self.spill.column("page.name"), self.spill.column("page.of_name")
        order = np.argsort(names, kind="stable")
        names, page = names[order], np.append(page[order], np.int32(-1))  # the last one is for unknown names
        links = self.spill.column("page.link")
        target = large.computed(np.int32, 32, lambda wanted: page[positions(names, wanted)], links)
        indptr = large.running(self.spill.column("page.links"))
        return incoming(indptr, target, np.arange(self.pages, dtype=np.int32), self.pages)


def _hashes(titles: Iterable[str]) -> UInt64:
    """The hash of each title; links may have underscores instead of spaces."""
    texts = pc.replace_substring(arrow_texts(list(titles), pa.large_string()), "_", " ")
    hashes: UInt64 = hash_each(*text_buffers(texts))
    return hashes
