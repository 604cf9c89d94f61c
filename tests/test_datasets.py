"""Data sets: what the readers make of each format, what they refuse, how files are fetched and converted."""

import json
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator
from functools import partial
from hashlib import sha256
from http.server import BaseHTTPRequestHandler, SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from typer.testing import CliRunner

from namesake.apps.cli.commands import app
from namesake.articles.rejects import Rejects
from namesake.datasets.catalogue import (
    DATASETS,
    READERS,
    DatasetEntry,
    find,
    find_dataset,
    resolved,
    titles_to_qids,
    with_truth,
    write,
)
from namesake.datasets.corpus_formats import LabelledArticle, page_title
from namesake.datasets.nif import utf16_starts
from namesake.errors import NamesakeError
from namesake.evaluation.gold import read_gold
from namesake.files.download import download, file_name
from namesake.formats import read_articles
from namesake.kb.columns.column_files import Ragged, Strings
from namesake.kb.columns.layout import ENTITY, ITEM, NameColumns
from namesake.kb.names.build_index import EntityNames, build_names
from namesake.kb.publish.draft import Draft
from namesake.kb.store import KB
from namesake.language import English
from small_kb import manifest, write_rest

ASTRONAUT, REBEL = "Q104859", "Q173196"  # both are Michael Collins
ARMSTRONG, ALDRIN = "Q1615", "Q2252"
NAMESAKES = (
    "Michael Collins orbited the Moon in July 1969 . Another Michael Collins signed the Anglo-Irish Treaty in 1921 ."
)
NAMESAKE_SPANS = [(0, 15), (56, 71)]
MOON = "Neil Armstrong stepped onto the Moon first ; nineteen minutes later Buzz Aldrin joined him ."


def read(name: str, content: str | bytes, folder: Path, rejects: Rejects | None = None) -> list[LabelledArticle]:
    """What a reader makes of a file with this content."""
    path = folder / "data"
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return list(READERS[name](path, rejects or Rejects()))


def golds(one: LabelledArticle) -> list[tuple[str, Any, str | None]]:
    return [(truth.name, truth.gold, truth.title) for truth in one.truths]


def covers(one: LabelledArticle) -> list[str]:
    """What the first span of each mention covers."""
    return [one.article.text[slice(*m.spans[0])] for m in one.article.mentions or ()]


# each format, by example


def quotebank(**name: Any) -> str:
    names = [{"name": "michael collins", "ids": [ASTRONAUT, REBEL], "offsets": [[0, 2]]} | name]
    return json.dumps({"articleID": "a1", "content": NAMESAKES, "date": "1969-07-21", "title": "Moon", "names": names})


@pytest.mark.parametrize("layout", ["list", "lines"])
def test_nelight(layout: str, tmp_path: Path) -> None:
    record = quotebank(gold=0, split="tune", difficulty=None)
    [one] = read("nelight", f"[{record}]" if layout == "list" else f"\n{record}\n", tmp_path)
    assert (one.article.id, one.article.title, one.article.date) == ("a1", "Moon", "1969-07-21")
    assert golds(one) == [("michael collins", 0, None)]
    assert covers(one) == ["Michael Collins"]
    assert one.truths[0].columns == {"split": "tune", "difficulty": None}


def test_nelight_without_gold_has_no_truth(tmp_path: Path) -> None:
    assert read("nelight", quotebank(), tmp_path)[0].truths == []


def aida_json(*names: dict[str, Any]) -> str:
    return json.dumps([{"articleID": 7, "content": NAMESAKES, "names": list(names)}])


def test_aida_json_names_occurrences_after_the_text(tmp_path: Path) -> None:
    ids = [ASTRONAUT, REBEL]
    first = {"name": "michael collins0", "ids": ids, "offsets": [[0, 2]], "gold": 0}
    second = {"name": "michael collins1", "candidates": ids, "offsets": [[10, 12]], "gold": None}
    [one] = read("aida-json", aida_json(first, second), tmp_path)
    assert golds(one) == [("Michael Collins", 0, None), ("Michael Collins #2", None, None)]
    assert [truth.columns["original"] for truth in one.truths] == ["michael collins0", "michael collins1"]
    assert [truth.surface for truth in one.truths] == covers(one) == ["Michael Collins"] * 2
    assert [m.candidates for m in one.article.mentions or ()] == [ids, ids]
    assert [truth.kind for truth in one.truths] == ["entity", "nil"]


AIDA = """-DOCSTART- (1 MOON)
Neil\tB\tNeil Armstrong\tNeil_Armstrong\thttp://en.wikipedia.org/wiki/Neil_Armstrong\t1\t/m/0
Armstrong\tI\tNeil Armstrong\tNeil_Armstrong\thttp://en.wikipedia.org/wiki/Neil_Armstrong\t1\t/m/0
met
Michael\tB\tMichael Collins\tMichael_Collins_\\u0028astronaut\\u0029
Collins\tI\tMichael Collins\tMichael_Collins_\\u0028astronaut\\u0029
.

Collins\tB\tCollins\tX\thttp://en.wikipedia.org/wiki/Michael_Collins_%28astronaut%29\t1
laughed

-DOCSTART- (1163testb TREATY)
Mary\tB\tMary\t--NME--
Ann\tB\tAnn\t--NME--
left
"""


def test_aida_tsv(tmp_path: Path) -> None:
    moon, treaty = read("aida-tsv", AIDA, tmp_path)
    assert moon.article.text == "Neil Armstrong met Michael Collins .\nCollins laughed"
    astronaut = "Michael Collins (astronaut)"
    assert golds(moon) == [
        ("Neil Armstrong", None, "Neil Armstrong"),
        ("Michael Collins", None, astronaut),
        ("Collins", None, astronaut),
    ]
    assert covers(moon) == ["Neil Armstrong", "Michael Collins", "Collins"]
    assert {truth.kind for truth in moon.truths} == {"unresolved"}
    assert (treaty.article.id, covers(treaty)) == ("1163testb TREATY", ["Mary", "Ann"])
    assert [(truth.kind, truth.columns["split"]) for truth in treaty.truths] == [("nil", "testb")] * 2
    assert moon.truths[0].columns["split"] == "train"


def test_aida_tsv_sets_aside_a_mention_that_says_nothing(tmp_path: Path) -> None:
    lines = "-DOCSTART- (1 X)\nBuzz\tB\tBuzz Aldrin\tnull\nAldrin\tI\tBuzz Aldrin\tnull\nran\n"
    rejects = Rejects()
    [one] = read("aida-tsv", lines, tmp_path, rejects)
    assert (one.article.text, one.truths) == ("Buzz Aldrin ran", [])
    assert (rejects.count, rejects.first[0].line, rejects.first[0].article_id) == (1, 2, "1 X")


def elevant(*labels: dict[str, Any], **fields: Any) -> str:
    return json.dumps({"id": 3, "title": "", "text": MOON, "labels": list(labels)} | fields)


def test_elevant(tmp_path: Path) -> None:
    labels = [
        {"id": 0, "span": [0, 14], "entity_id": ARMSTRONG, "name": "Neil Armstrong", "type": "Q5"},
        {"id": 1, "span": [68, 79], "entity_id": "Unknown", "parent": None, "children": [2], "optional": False},
        {"id": 2, "span": [68, 72], "entity_id": ALDRIN, "parent": 1},
        {"id": 3, "span": [32, 36], "entity_id": "Unknown", "optional": True},
        {"id": 4, "span": [45, 61], "entity_id": "Unknown", "type": "QUANTITY"},
    ]
    rejects = Rejects()
    [one] = read("elevant", elevant(*labels, evaluation_span=[0, 80]), tmp_path, rejects)
    assert golds(one) == [("Neil Armstrong", ARMSTRONG, None), ("Buzz Aldrin", None, None)]
    assert one.truths[0].columns == {"type": "Q5"}
    assert rejects.reasons == {"an optional label": 2, "a label nested in another": 1}


def test_elevant_leaves_out_what_lies_outside_the_evaluation_span(tmp_path: Path) -> None:
    label = {"span": [68, 79], "entity_id": ALDRIN}
    rejects = Rejects()
    assert read("elevant", elevant(label, evaluation_span=[0, 60]), tmp_path, rejects)[0].truths == []
    assert rejects.count == 1


def zelda(**fields: Any) -> str:
    titles = ["Michael Collins (astronaut)", "Michael_Collins_(Irish_leader)"]
    record = {"id": "z", "text": NAMESAKES, "index": NAMESAKE_SPANS}
    return json.dumps(record | {"wikipedia_titles": titles, "wikipedia_ids": [11, 12]} | fields)


def test_zelda(tmp_path: Path) -> None:
    [one] = read("zelda", zelda(), tmp_path)
    assert golds(one) == [
        ("Michael Collins", None, "Michael Collins (astronaut)"),
        ("Michael Collins #2", None, "Michael Collins (Irish leader)"),
    ]
    assert [truth.columns for truth in one.truths] == [{"page": "11"}, {"page": "12"}]


PREFIXES = """
@prefix nif: <http://persistence.uni-leipzig.org/nlp2rdf/ontologies/nif-core#> .
@prefix itsrdf: <http://www.w3.org/2005/11/its/rdf#> .
@prefix owl: <http://www.w3.org/2002/07/owl#> .
@prefix xsd: <http://www.w3.org/2001/XMLSchema#> .
@base <http://example.org/> .
"""


def context(text: str, node: str = "doc") -> str:
    return f"<{node}> a nif:String , nif:Context ; nif:isString {json.dumps(text)}@en .\n"


def phrase(node: str, span: tuple[int, int], reference: str, anchor: str | None = None, doc: str = "doc") -> str:
    anchored = "" if anchor is None else f"nif:anchorOf {json.dumps(anchor)}^^xsd:string ;"
    return (
        f"<{node}> a nif:Phrase ; {anchored} nif:beginIndex {span[0]} ;"
        f' nif:endIndex "{span[1]}"^^xsd:nonNegativeInteger ;\n nif:referenceContext <{doc}> ; {reference} .\n'
    )


@pytest.mark.parametrize(
    ("reference", "gold", "title", "kind"),
    [
        (f"itsrdf:taIdentRef <http://www.wikidata.org/entity/{ARMSTRONG}>", ARMSTRONG, None, "entity"),
        ("itsrdf:taIdentRef <http://dbpedia.org/resource/Neil_Armstrong>", None, "Neil Armstrong", "unresolved"),
        ("itsrdf:taIdentRef <https://en.wikipedia.org/wiki/Neil%20Armstrong>", None, "Neil Armstrong", "unresolved"),
        ("itsrdf:taIdentRef <http://aksw.org/notInWiki/Neil>", None, None, "nil"),
        (
            f"itsrdf:taIdentRef <http://dbpedia.org/resource/X> , <https://www.wikidata.org/entity/{ARMSTRONG}>",
            ARMSTRONG,
            None,
            "entity",
        ),
        ("itsrdf:taIdentRef <local/known>", None, "Neil Armstrong", "unresolved"),
        ("itsrdf:taIdentRef <local/new>", None, None, "nil"),
        (
            "itsrdf:taIdentRef <http://de.dbpedia.org/resource/Neil>",
            None,
            "http://de.dbpedia.org/resource/Neil",
            "unresolved",
        ),
    ],
)
def test_nif_references(reference: str, gold: str | None, title: str | None, kind: str, tmp_path: Path) -> None:
    local = (
        "<local/known> a owl:Individual ; owl:sameAs <http://dbpedia.org/resource/Neil_Armstrong> .\n"
        "<local/new> a owl:Individual .\n"
    )
    content = PREFIXES + phrase("p", (0, 14), reference, "Neil Armstrong") + context(MOON) + local
    [one] = read("nif", content, tmp_path)
    assert golds(one) == [("Neil Armstrong", gold, title)]
    assert (one.article.id, one.truths[0].kind) == ("http://example.org/doc", kind)


def test_nif_leaves_words_and_sentences_alone_and_sorts_mentions(tmp_path: Path) -> None:
    identity = "itsrdf:taIdentRef <http://www.wikidata.org/entity/{}>"
    content = (
        PREFIXES
        + context(MOON)
        + phrase("late", (68, 79), identity.format(ALDRIN))
        + phrase("early", (0, 14), identity.format(ARMSTRONG))
        + phrase("word", (0, 4), 'nif:posTag "NNP"')
    )
    assert golds(read("nif", content, tmp_path)[0]) == [
        ("Neil Armstrong", ARMSTRONG, None),
        ("Buzz Aldrin", ALDRIN, None),
    ]


def test_nif_counts_as_java_does_where_only_that_fits(tmp_path: Path) -> None:
    text = "🚀 Buzz Aldrin 🚀 waved"
    identity = f"itsrdf:taIdentRef <http://www.wikidata.org/entity/{ALDRIN}>"
    content = PREFIXES + context(text) + phrase("p", (3, 14), identity, "Buzz Aldrin")
    assert covers(read("nif", content, tmp_path)[0]) == ["Buzz Aldrin"]


@given(text=st.text(alphabet="a🚀é", min_size=1, max_size=8), data=st.data())
def test_nif_places_in_utf_16_are_those_of_the_encoded_text(text: str, data: st.DataObject) -> None:
    start = data.draw(st.integers(0, len(text)))
    unit = len(text[:start].encode("utf-16-le")) // 2
    assert np.searchsorted(utf16_starts(text), unit) == start


def test_nif_sets_aside_an_annotation_that_covers_other_text(tmp_path: Path) -> None:
    identity = f"itsrdf:taIdentRef <http://www.wikidata.org/entity/{ALDRIN}>"
    rejects = Rejects()
    content = PREFIXES + context(MOON) + phrase("p", (1, 12), identity, "Buzz Aldrin")
    assert read("nif", content, tmp_path, rejects)[0].truths == []
    assert (rejects.count, rejects.first[0].article_id) == (1, "http://example.org/p")


# spans always cover the mention: one document, written in every format


class Made(NamedTuple):
    """A document: its tokens, and spans of tokens that are mentions."""

    tokens: list[str]
    mentions: list[tuple[int, int]]

    @property
    def text(self) -> str:
        return " ".join(self.tokens)

    @property
    def surfaces(self) -> list[str]:
        return [" ".join(self.tokens[start:end]) for start, end in self.mentions]

    @property
    def spans(self) -> list[tuple[int, int]]:
        begins = [len(" ".join([*self.tokens[:start], ""])) if start else 0 for start, _ in self.mentions]
        return [(begin, begin + len(s)) for begin, s in zip(begins, self.surfaces, strict=True)]


token = st.one_of(
    st.sampled_from(["Japan", "O'Neill", '"', "\\", "🚀", "é", "İ", "#2"]),
    st.text(st.characters(exclude_categories=["C", "Z"]), min_size=1, max_size=5),
)


@st.composite
def documents(draw: st.DrawFn) -> Made:
    tokens = draw(st.lists(token, min_size=1, max_size=12))
    cuts = sorted(draw(st.sets(st.integers(0, len(tokens)), max_size=8)))
    return Made(tokens, list(zip(cuts[::2], cuts[1::2], strict=False)))


def as_aida_json(made: Made) -> str:
    names = [
        {"name": f"{surface.lower()}{i}", "ids": [ARMSTRONG], "offsets": [span], "gold": 0}
        for i, (surface, span) in enumerate(zip(made.surfaces, made.mentions, strict=True))
    ]
    return json.dumps([{"articleID": "a", "content": made.text, "names": names}])


def as_aida_tsv(made: Made) -> str:
    lines = ["-DOCSTART- (1 X)"]
    for i, word in enumerate(made.tokens):
        tags = [("B" if i == start else "I") for start, end in made.mentions if start <= i < end]
        lines.append("\t".join([word, tags[0], "whole", "--NME--"]) if tags else word)
    return "\n".join(lines) + "\n"


def as_elevant(made: Made) -> str:
    labels = [{"span": span, "entity_id": ARMSTRONG} for span in made.spans]
    return json.dumps({"id": 1, "text": made.text, "labels": labels})


def as_zelda(made: Made) -> str:
    count = len(made.mentions)
    links = {"index": made.spans, "wikipedia_titles": ["X"] * count, "wikipedia_ids": [1] * count}
    return json.dumps({"id": 1, "text": made.text, **links})


def as_nif(made: Made) -> str:
    identity = f"itsrdf:taIdentRef <http://www.wikidata.org/entity/{ARMSTRONG}>"
    phrases = [
        phrase(f"p{i}", span, identity, surface)
        for i, (surface, span) in enumerate(zip(made.surfaces, made.spans, strict=True))
    ]
    return PREFIXES + context(made.text) + "".join(phrases)


@pytest.mark.parametrize(
    ("name", "write"),
    [
        ("aida-json", as_aida_json),
        ("aida-tsv", as_aida_tsv),
        ("elevant", as_elevant),
        ("zelda", as_zelda),
        ("nif", as_nif),
    ],
)
@settings(deadline=None, max_examples=60)
@given(made=documents())
def test_spans_cover_the_surface_and_names_are_unique(name: str, write: Callable[[Made], str], made: Made) -> None:
    with tempfile.TemporaryDirectory() as folder:
        [one] = read(name, write(made), Path(folder))
    assert one.article.text == made.text
    assert covers(one) == [truth.surface for truth in one.truths] == made.surfaces
    names = [m.name for m in one.article.mentions or ()]
    assert names == [truth.name for truth in one.truths]
    assert len(set(names)) == len(names)
    assert all(n == s or n.startswith(f"{s} #") for n, s in zip(names, made.surfaces, strict=True))


# Turtle


@given(text=st.text(st.characters(exclude_categories=["Cs"]), min_size=1), plain=st.booleans())
@settings(max_examples=30)
def test_turtle_literals_are_jsons(text: str, plain: bool) -> None:
    literal = json.dumps(text, ensure_ascii=not plain)
    if plain:
        literal = literal.replace("\x7f", "\\u007f")
    with tempfile.TemporaryDirectory() as folder:
        [one] = read("nif", f"{PREFIXES}<doc> a nif:Context ; nif:isString {literal} .", Path(folder))
    assert one.article.text == text


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('<s> <p>\n "open .', "line [12]: "),
        ("\n\nex:a ex:b ex:c .", "line 3: .*prefix ex: has not been declared"),
        ("<s> 42 <o> .", "line 1: not Turtle"),
        (r'<s> <p> "\q" .', "line 1: "),
    ],
)
def test_broken_turtle_is_named_by_its_line(text: str, message: str, tmp_path: Path) -> None:
    with pytest.raises(NamesakeError, match=message):
        read("nif", text, tmp_path)


def test_without_the_extra_it_says_what_to_install(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setitem(sys.modules, "pyoxigraph", None)
    with pytest.raises(NamesakeError, match=r"^NIF corpora need pyoxigraph: .* `nif` \(.* -e '\.\[nif\]'\)$"):
        read("nif", PREFIXES + context(MOON), tmp_path)


# bad input


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("nelight", "", "no articles"),
        ("elevant", "", "no articles"),
        ("zelda", "\n\n", "no articles"),
        ("nelight", "[{]", "not a JSON array"),
        ("nelight", '{"articleID": "a1", "names": []}', r"line 1: .*content"),
        ("nelight", quotebank(gold=2), r"line 1: gold of 'michael collins' is candidate 2.*2 candidates"),
        ("nelight", quotebank(gold="Collins"), "not an index, a QID or null"),
        ("nelight", quotebank(offsets=[[0, 99]]), r"\[0, 99\] of 'michael collins' does not fit"),
        ("nelight", quotebank().replace('"names": [', '"names": [{"name": "michael collins"}, '), "two names"),
        ("nelight", b"\xff\xfe", "not an article"),
        ("aida-json", aida_json({"name": "x0", "offsets": [[0, 1]]}), "'x0' is not 'Michael'"),
        ("aida-json", aida_json({"name": "michael0", "offsets": [[0, 1]]}), r"article 1: .* has no `gold`"),
        ("aida-json", aida_json({"name": "michael0", "gold": None}), "has no offsets"),
        ("aida-json", aida_json({"name": "michael0", "offsets": [[0, 1]], "gold": 0}), "has 0 candidates"),
        ("aida-tsv", "", "no -DOCSTART-"),
        ("aida-tsv", "Neil\n", "line 1: a token before"),
        ("aida-tsv", "-DOCSTART- (1 X)\nNeil\tI\tNeil\tNeil\n", "line 2: 'Neil' continues a mention"),
        ("aida-tsv", "-DOCSTART- (1 X)\nNeil\tB\tNeil\n", "line 2: .* 3 columns"),
        ("aida-tsv", "-DOCSTART- (1 X)\n5\tNeil_Armstrong\tx\n", "line 2: .*annotations alone"),
        ("aida-tsv", b"-DOCSTART- (1 X)\n\xff\n", "line 2: not UTF-8"),
        ("elevant", '\n{"id": 1}', "line 2: .*text"),
        ("elevant", elevant({"span": [0, 999], "entity_id": ARMSTRONG}), r"line 1: span \[0, 999\] does not fit"),
        ("elevant", elevant({"span": [4, 4], "entity_id": ARMSTRONG}), r"span \[4, 4\] does not fit"),
        ("elevant", elevant({"span": [0, 4], "entity_id": "Neil"}), "gold of 'Neil' is 'Neil'"),
        ("zelda", zelda(wikipedia_ids=[1]), "line 1: 2 spans, 2 titles and 1 page ids"),
        ("zelda", zelda(index=[[-1, 2], [0, 2]]), r"span \[-1, 2\] does not fit"),
        ("zelda", zelda(text=None), "line 1: not a ZELDA document"),
        ("nif", PREFIXES, "no nif:Context"),
        ("nif", PREFIXES + "<doc> a nif:Context ; nif:isString ", "line [78]: not Turtle"),
        ("nif", PREFIXES + context(MOON) + "<p> itsrdf:taIdentRef <x> .", "no nif:referenceContext"),
        (
            "nif",
            PREFIXES + context(MOON) + phrase("p", (0, 4), "itsrdf:taIdentRef <x>", doc="other"),
            r"annotation http://example.org/p: its context http://example.org/other is not in the file",
        ),
        (
            "nif",
            PREFIXES + context(MOON) + phrase("p", (0, 999), "itsrdf:taIdentRef <x>"),
            r"article http://example.org/doc: span \[0, 999\] does not fit",
        ),
        ("nif", b"\xff", "not UTF-8"),
    ],
)
def test_bad_input_is_named(name: str, content: str | bytes, message: str, tmp_path: Path) -> None:
    with pytest.raises(NamesakeError, match=message) as error:
        read(name, content, tmp_path)
    assert str(tmp_path / "data") in str(error.value)
    assert "\n" not in str(error.value)


def test_a_file_that_is_not_there_is_named(tmp_path: Path) -> None:
    for one in READERS.values():
        with pytest.raises(NamesakeError, match="no such file"):
            list(one(tmp_path / "absent", Rejects()))


# conversion


PEOPLE = [
    (ARMSTRONG, "Neil Armstrong", "Neil Armstrong"),
    (ALDRIN, "Buzz Aldrin", "Buzz Aldrin"),
    (ASTRONAUT, "Michael Collins", "Michael Collins (astronaut)"),
    (REBEL, "Michael Collins", "Michael Collins (Irish leader)"),
]


@pytest.fixture(scope="module")
def kb(tmp_path_factory: pytest.TempPathFactory) -> KB:
    """Four people by label and page, and one without a page (Mahatma Gandhi): what titles and names need."""
    rows = sorted([*((int(qid[1:]), label, title) for qid, label, title in PEOPLE), (1001, "Mahatma Gandhi", "")])
    nothing = Ragged(np.zeros(len(rows) + 1, np.int64), np.empty(0, np.int32))
    with Draft(tmp_path_factory.mktemp("datasets") / "kb", False) as draft:
        draft.write(KB.qids, np.array([qid for qid, _, _ in rows], np.int64))
        draft.write(KB.titles, Strings.of(title for _, _, title in rows))
        made = build_names(EntityNames.of(English, Strings.of(label for _, label, _ in rows), nothing, Strings.of(())))
        draft.write_all(made)
        draft.write(KB.item_qids, np.array([qid for qid, _, _ in rows], np.int64))
        names = len(made[NameColumns.texts])
        write_rest(draft, {ENTITY: len(rows), ITEM: len(rows)})
        draft.publish(manifest(entities=len(rows), items=len(rows), names=names))
        return KB.open(draft.out)


@pytest.mark.parametrize(
    ("address", "title"),
    [
        ("Michael_Collins_%28astronaut%29#Career", "Michael Collins (astronaut)"),
        ("michael  collins", "Michael collins"),
        ("AT&T", "AT&T"),
        ("C%C3%A9line_Dion", "Céline Dion"),
    ],
)
def test_page_titles(address: str, title: str) -> None:
    assert page_title(address) == title


def test_titles_become_qids_and_names_get_candidates(kb: KB, tmp_path: Path) -> None:
    [one] = resolved(read("zelda", zelda(), tmp_path), kb)
    assert [truth.gold for truth in one.truths] == [ASTRONAUT, REBEL]
    given = [m.candidates for m in one.article.mentions or ()]
    assert given[0] == given[1]
    assert {ASTRONAUT, REBEL} <= set(given[0] or ())


def test_a_title_the_kb_lacks_stays_unresolved(kb: KB, tmp_path: Path) -> None:
    [one] = resolved(read("zelda", zelda(wikipedia_titles=["No such page", ""]), tmp_path), kb)
    assert [truth.kind for truth in one.truths] == ["unresolved", "nil"]


def test_an_entity_without_a_page_is_never_found(kb: KB) -> None:
    assert titles_to_qids(["No such page", "Buzz Aldrin", ""], kb) == {"Buzz Aldrin": ALDRIN}
    assert titles_to_qids([], kb) == {}


def test_converted_files_are_what_link_and_evaluate_read(kb: KB, tmp_path: Path) -> None:
    articles, gold = tmp_path / "a.jsonl.gz", tmp_path / "g.jsonl"
    counts = write(resolved(read("zelda", zelda(), tmp_path), kb), [articles, gold])
    assert counts == {"articles": 1, "mentions": 2, "entity": 2, "numbered": 1}
    rejects = Rejects()
    [table] = read_articles(articles, rejects)
    assert rejects.count == 0
    [row] = table.to_pylist()
    assert (row["id"], row["text"]) == ("z", NAMESAKES)
    assert [m["spans"] for m in row["mentions"]] == [[list(span)] for span in NAMESAKE_SPANS]
    rows = read_gold(gold)
    assert [(r.mention, r.gold) for r in rows] == [
        (("z", "Michael Collins"), ASTRONAUT),
        (("z", "Michael Collins #2"), REBEL),
    ]
    assert rows[1].columns | {"page": "12"} == rows[1].columns
    assert {r.columns["truth"] for r in rows} == {"entity"}


def test_conversion_leaves_nothing_behind_when_it_fails(tmp_path: Path) -> None:
    articles, gold = tmp_path / "a.jsonl", tmp_path / "g.jsonl"
    path = tmp_path / "twice.jsonl"
    path.write_text(zelda() + "\n" + zelda() + "\n")
    with pytest.raises(NamesakeError, match="article z appears twice"):
        write(READERS["zelda"](path, Rejects()), [articles, gold])
    with pytest.raises(NamesakeError, match=r"a\.csv: articles and gold are written as"):
        write([], [tmp_path / "a.csv", gold])
    with pytest.raises(NamesakeError, match="are one file"):
        write([], [gold, gold])
    assert list(tmp_path.iterdir()) == [path]


def test_truth_from_a_file_of_its_own(tmp_path: Path) -> None:
    articles = read("nelight", quotebank(), tmp_path)
    truth = tmp_path / "gold.jsonl"
    row = {"articleID": "a1", "name": "michael collins", "gold": 1, "split": "test"}
    truth.write_text(json.dumps(row))
    [one] = with_truth(articles, read_gold(truth))
    assert golds(one) == [("michael collins", 1, None)]
    assert one.truths[0].columns["split"] == "test"
    for change, message in [
        ({"gold": 2}, "article a1: gold of 'michael collins' is candidate 2"),
        ({"name": "neil armstrong"}, "article a1: gold for 'neil armstrong', but it has no such mention"),
        ({"articleID": "a2"}, "in article a2, but there is no such article"),
    ]:
        truth.write_text(json.dumps(row | change))
        with pytest.raises(NamesakeError, match=message):
            list(with_truth(articles, read_gold(truth)))


def test_the_papers_articles(shared: Path, tmp_path: Path) -> None:
    """All 300 articles: gold comes out as it went in, spans as the articles' own reader has them."""
    source, truth = shared / "quotebank" / "articles.jsonl.gz", shared / "quotebank" / "gold.jsonl"
    articles, gold = tmp_path / "a.jsonl", tmp_path / "g.jsonl"
    counts = write(with_truth(READERS["nelight"](source, Rejects()), read_gold(truth)), [articles, gold])
    assert counts["articles"] == 300
    assert [(r.mention, r.gold) for r in sorted(read_gold(gold), key=lambda r: r.mention)] == [
        (r.mention, r.gold) for r in sorted(read_gold(truth), key=lambda r: r.mention)
    ]
    [theirs], [ours] = (list(read_articles(path, Rejects())) for path in (source, articles))
    assert ours.column("mentions").to_pylist() == theirs.column("mentions").to_pylist()


# downloads


@pytest.fixture
def served(tmp_path: Path) -> Iterator[tuple[str, Path]]:
    """A folder served on loopback."""
    folder = tmp_path / "served"
    folder.mkdir()
    quiet = type("Quiet", (SimpleHTTPRequestHandler,), {"log_message": lambda *_: None})
    with serving(partial(quiet, directory=str(folder))) as address:  # type: ignore[arg-type]
        yield address, folder


class Truncated(BaseHTTPRequestHandler):
    """Promises more than it sends."""

    def do_GET(self) -> None:
        self.send_response(200)
        self.send_header("Content-Length", "100")
        self.end_headers()
        self.wfile.write(b"short")

    def log_message(self, format: str, *args: Any) -> None:
        """Silence."""


class serving:  # noqa: N801 - reads as a verb
    """A web server for the time of a block."""

    def __init__(self, handler: Any) -> None:
        self.server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
        self.thread = threading.Thread(target=self.server.serve_forever)

    def __enter__(self) -> str:
        self.thread.start()
        return f"http://127.0.0.1:{self.server.server_port}"

    def __exit__(self, *_: object) -> None:
        self.server.shutdown()
        self.server.server_close()
        self.thread.join()


def silent(fraction: float | None, count: int, unit: str) -> None:
    """No progress."""


DATA = bytes(range(256)) * 10_000
CHECKSUM = f"sha256:{sha256(DATA).hexdigest()}"


@pytest.mark.parametrize("scheme", ["file", "http"])
def test_download(scheme: str, served: tuple[str, Path], tmp_path: Path) -> None:
    address, folder = served
    (folder / "set 1.ttl").write_bytes(DATA)
    url = f"{address}/set%201.ttl" if scheme == "http" else (folder / "set 1.ttl").as_uri()
    heard: list[tuple[float | None, int]] = []
    out = tmp_path / "new" / "folder"
    file, checksum = download(url, out, CHECKSUM, lambda fraction, count, _: heard.append((fraction, count)))
    assert (file, file.read_bytes(), checksum) == (out / "set 1.ttl", DATA, CHECKSUM)
    assert heard[-1] == (1.0, len(DATA))
    assert len(heard) == 3
    (folder / "set 1.ttl").unlink()
    assert download(url, out, CHECKSUM, silent) == (file, CHECKSUM)  # kept, not fetched again
    with pytest.raises(NamesakeError, match="exists and is another file"):
        download(url, out, "sha256:0", silent)


def test_a_download_with_another_checksum_leaves_nothing(served: tuple[str, Path], tmp_path: Path) -> None:
    address, folder = served
    (folder / "x").write_bytes(DATA)
    with pytest.raises(NamesakeError, match=f"{CHECKSUM}, not sha256:0; nothing was kept"):
        download(f"{address}/x", tmp_path / "out", "sha256:0", silent)
    assert list((tmp_path / "out").iterdir()) == []


def test_a_download_cut_short_leaves_nothing(tmp_path: Path) -> None:
    with serving(Truncated) as address, pytest.raises(NamesakeError, match=r"5 of 100 bytes|cannot be downloaded"):
        download(f"{address}/x", tmp_path / "out", None, silent)
    assert list((tmp_path / "out").iterdir()) == []


def test_what_cannot_be_fetched_is_named(served: tuple[str, Path], tmp_path: Path) -> None:
    address, _ = served
    for url, message in [
        (f"{address}/absent", "absent cannot be downloaded .*404"),
        ("http://127.0.0.1:1/x", "cannot be downloaded"),
        ("ftp://127.0.0.1/x", "only https, http, file"),
        ((tmp_path / "absent").as_uri(), "cannot be downloaded"),
    ]:
        with pytest.raises(NamesakeError, match=message):
            download(url, tmp_path / "out", None, silent)
    for url in ("http://a.org/", "http://a.org/b/..", "http://a.org/x%5Cy"):
        with pytest.raises(NamesakeError, match="does not end in the name of a file"):
            file_name(url)


# registry and commands


def test_the_registry_holds_together() -> None:
    assert len({one.name for one in DATASETS}) == len(DATASETS)
    assert {one.reader for one in DATASETS} | {"plain", "elevant-links"} == set(READERS)
    for one in DATASETS:
        assert find_dataset(one.name) is one
        assert one.url or one.note.startswith("ask the owners")
        assert one.url is None or file_name(one.url)
    with pytest.raises(NamesakeError, match="no data set 'x'; there are: "):
        find_dataset("x")
    with pytest.raises(NamesakeError, match="no reader 'x'; there are: "):
        find(READERS, "x", "reader")


def test_every_data_set_and_reader_is_documented() -> None:
    page = (Path(__file__).parents[1] / "docs" / "datasets.md").read_text()
    assert [name for name in [*READERS, *(one.name for one in DATASETS)] if f"`{name}`" not in page] == []


def run(*arguments: str) -> Any:
    return CliRunner().invoke(app, ["datasets", *arguments], env={"COLUMNS": "200"})


def test_list_names_every_data_set() -> None:
    shown = run("list")
    assert shown.exit_code == 0
    assert [one.name for one in DATASETS if one.name not in shown.output] == []


def test_get(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    source = tmp_path / "set.ttl"
    source.write_bytes(DATA)
    mine = DatasetEntry("mine", "a file of my own", "nif", "http://example.org", source.as_uri())
    monkeypatch.setattr("namesake.datasets.catalogue.DATASETS", (mine,))
    done = run("get", "mine", "--out", str(tmp_path / "out"))
    assert done.exit_code == 0, done.output
    assert (tmp_path / "out" / "set.ttl").read_bytes() == DATA
    assert CHECKSUM in done.output
    assert "compare it with a copy that you trust" in done.output


def test_get_without_an_address_says_whom_to_ask(tmp_path: Path) -> None:
    done = run("get", "quotebank", "--out", str(tmp_path))
    assert isinstance(done.exception, NamesakeError)
    assert "ask the owners" in str(done.exception)


def test_convert_tells_what_came_out(tmp_path: Path, kb: KB) -> None:
    (tmp_path / "z.jsonl").write_text(zelda())
    places = ["--articles", str(tmp_path / "a.jsonl"), "--gold", str(tmp_path / "g.jsonl")]
    done = run("convert", str(tmp_path / "z.jsonl"), "--reader", "zelda", *places)
    assert done.exit_code == 0, done.output
    assert "1 article, 2 mentions: 0 with an entity, 0 NIL, 2 with a title" in done.output
    assert "1 name occurs more than once" in done.output
    done = run("convert", str(tmp_path / "z.jsonl"), "--reader", "zelda", "--kb", str(kb.path), *places)
    assert "2 with an entity, 0 NIL, 0 with a title" in done.output
    assert len((tmp_path / "g.jsonl").read_text().splitlines()) == 2
