"""Paragraphs and PR_WP from a CirrusSearch content dump, against networkx on the same pages."""

import gzip
import json
from pathlib import Path
from typing import Any

import networkx as nx
import numpy as np
import pytest

from namesake.errors import NamesakeError
from namesake.kb.build import build
from namesake.kb.dump.wikipedia import Reader, Wikipedia
from namesake.kb.manifest import Rejects
from namesake.kb.publish.draft import Spill
from namesake.kb.store import KB
from namesake.progress import Reporter
from namesake.sample import DUMP


def page(title: str, qid: str | None, text: str, links: list[str], redirects: list[str] = [], **more: Any) -> str:  # noqa: B006
    document = {"title": title, "namespace": 0, "opening_text": text, "outgoing_link": links, "text": "x" * 50}
    document["redirect"] = [{"namespace": 0, "title": redirect} for redirect in redirects]
    if qid:
        document["wikibase_item"] = qid
    return json.dumps(document | more, ensure_ascii=False)


PAGES = [
    page("Barack Obama", "Q76", "Barack Hussein Obama II is a politician.", ["Chicago", "Kenya", "Nowhere_at_all"]),
    page("Chicago", "Q1297", "Chicago is a city.", ["Barack_Obama", "Illinois", "Zürich"], ["Windy City", "Chi-town"]),
    page("Illinois", "Q1204", "Illinois is a state.", ["Windy_City", "Chicago", "Chi-town"]),
    page("Zürich", None, "Zürich is a city, too.", ["Illinois", "Zürich"]),
    page("Michelle Obama", "Q13133", " Michelle Obama is a lawyer. ", ["Barack_Obama", "Chicago"]),
    page("Talk:Illinois", "Q5", "Not an article.", ["Illinois"], namespace=1),
]


def cirrus(path: Path, pages: list[str]) -> Path:
    lines = [part for i, text in enumerate(pages) for part in (f'{{"index":{{"_type":"_doc","_id":"{i}"}}}}', text)]
    path.write_bytes(gzip.compress(("\n".join(lines) + "\n").encode()))
    return path


def read(tmp_path: Path, pages: list[str], qids: list[int], rejects: Rejects | None = None) -> Wikipedia:
    file = cirrus(tmp_path / "wiki.json.gz", pages)
    reader = Reader(np.array(qids, np.int64), Spill(tmp_path / "spill"), Rejects() if rejects is None else rejects)
    reader.read(file, 1, Reporter())
    return reader.finish()


def test_paragraphs_belong_to_the_entities_of_the_pages(tmp_path: Path) -> None:
    wiki = read(tmp_path, PAGES, [5, 42, 76, 13133])
    texts = [wiki.paragraphs[row] for row in range(4)]
    assert texts == ["", "", "Barack Hussein Obama II is a politician.", "Michelle Obama is a lawyer."]


def test_ranks_are_those_of_networkx_with_redirects_resolved(tmp_path: Path) -> None:
    wiki = read(tmp_path, PAGES, [5, 76, 1204, 1297, 13133])
    graph = nx.DiGraph()
    graph.add_edges_from(
        [("O", "C"), ("C", "O"), ("C", "I"), ("C", "Z"), ("I", "C"), ("Z", "I"), ("M", "O"), ("M", "C")]
    )
    expected = nx.pagerank(graph, tol=1e-12, max_iter=1000)
    assert wiki.ranks[0] == 0
    np.testing.assert_allclose(wiki.ranks[1:], [5 * expected[node] for node in "OICM"], rtol=1e-6)


def test_of_two_pages_for_one_item_the_first_speaks_and_the_better_rank_counts(tmp_path: Path) -> None:
    wiki = read(tmp_path, [*PAGES, page("Lakefront", "Q1297", "Another.", [])], [1297])
    alone = wiki.ranks[0]
    assert wiki.paragraphs[0] == "Chicago is a city."
    assert alone > 1


def test_bad_lines_are_set_aside(tmp_path: Path) -> None:
    rejects = Rejects()
    read(tmp_path, [*PAGES, '{"title": 7}', "{cut"], [76], rejects)
    assert [reject.line for reject in rejects.named] == [14, 16]


def test_a_file_without_pages_is_refused(tmp_path: Path) -> None:
    with pytest.raises(NamesakeError, match="CirrusSearch"):
        read(tmp_path, [page("Talk:X", None, "", [], namespace=1)], [76])


def test_the_build_takes_paragraphs_words_and_ranks(tmp_path: Path) -> None:
    build([DUMP], tmp_path / "plain", keep="people")
    known = KB.open(tmp_path / "plain").qids
    number = int(known[-1])
    pages = [*PAGES, page("X", f"Q{number}", "Seldom overrated juggler.", ["Chicago"]), "{cut"]
    file = cirrus(tmp_path / "wiki.json.gz", pages)
    manifest = build([DUMP], tmp_path / "kb", keep="people", wikipedia=file)
    kb = KB.open(tmp_path / "kb")
    row = int(kb.rows(np.array([number]))[0])
    assert kb.paragraphs[row] == "Seldom overrated juggler."
    assert {kb.words[int(word)] for word in kb.words_p[row]} == {"seldom", "overr", "juggler"}
    assert set(kb.qids[kb.pagerank_wikipedia > 0]) == {number} | ({76, 13133} & set(known))
    assert manifest.ranks[1] == f"wikipedia: computed from {file}"
    assert manifest.rejected_reasons == {"not a Wikipedia page": 1}
