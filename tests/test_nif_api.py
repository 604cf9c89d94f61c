"""`/nif`: what GERBIL sends and wants back, read with our own reader of corpora and with pyoxigraph."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from namesake.articles.article import Mention
from namesake.articles.rejects import Rejects
from namesake.datasets.corpus_formats import LabelledArticle
from namesake.datasets.nif import Document, read_nif, turtle
from namesake.linker import Linker
from serving import Client

TURTLE = "application/x-turtle"
PREFIXES = """@prefix nif: <http://persistence.uni-leipzig.org/nlp2rdf/ontologies/nif-core#> .
@prefix xsd: <http://www.w3.org/2001/XMLSchema#> .
"""
TEXT = "Michael Jordan of the Chicago Bulls met Zyx Wvut. Michael Jordan waved."


def context(text: str, end: int | None = None, iri: str = "http://x/d") -> str:
    length = len(text) if end is None else end
    return (
        f"<{iri}#char=0,{length}> a nif:Context, nif:RFC5147String ; nif:isString {text!r} ;\n"
        f'  nif:beginIndex "0"^^xsd:nonNegativeInteger ; nif:endIndex "{length}"^^xsd:nonNegativeInteger .\n'
    )


def phrase(context_end: int, start: int, end: int, anchor: str, kind: str = "nif:Phrase") -> str:
    return (
        f"<http://x/d#char={start},{end}> a {kind} ; nif:anchorOf {anchor!r} ;\n"
        f'  nif:beginIndex "{start}"^^xsd:nonNegativeInteger ; nif:endIndex "{end}"^^xsd:nonNegativeInteger ;\n'
        f"  nif:referenceContext <http://x/d#char=0,{context_end}> .\n"
    )


def linked(client: Client, turtle_text: str, folder: Path) -> list[LabelledArticle]:
    """The answer as our reader of corpora reads it."""
    answer = client.post("/nif", (PREFIXES + turtle_text).encode(), TURTLE)
    assert answer.status == 200, answer
    assert answer.headers["content-type"] == TURTLE
    path = folder / "answer.ttl"
    path.write_bytes(answer.body)
    rejects = Rejects()
    found = list(read_nif(path, rejects))
    assert rejects.count == 0, rejects.first
    return found


def marks(one: LabelledArticle) -> list[tuple[tuple[int, int], str | int | None]]:
    places = [tuple(mention.spans[0]) for mention in one.article.mentions or ()]
    return list(zip(places, [truth.gold for truth in one.truths], strict=True))


def test_names_are_found_in_a_bare_context(client: Client, linker: Linker, tmp_path: Path) -> None:
    [one] = linked(client, context(TEXT), tmp_path)
    assert one.article.id == f"http://x/d#char=0,{len(TEXT)}"
    assert one.article.text == TEXT
    links = [link for link in linker.link_text(TEXT) if link.qid]
    assert links
    assert marks(one) == sorted((span, link.qid) for link in links for span in link.spans)


def test_given_phrases_are_linked_and_no_others(client: Client, linker: Linker, tmp_path: Path) -> None:
    """All of them come back, also the one that nobody fits; sentences and words are no names."""
    end, places = len(TEXT), [(0, 14), (40, 48), (50, 64)]
    phrases = "".join(phrase(end, *place, TEXT[slice(*place)]) for place in places)
    others = phrase(end, 0, 49, TEXT[0:49], "nif:Sentence") + phrase(end, 50, 57, "Michael", "nif:Word")
    [one] = linked(client, context(TEXT) + phrases + others, tmp_path)
    given = [Mention("Michael Jordan", [(0, 14), (50, 64)]), Mention("Zyx Wvut", [(40, 48)])]
    qids = {link.name: link.qid for link in linker.link_text(TEXT, given)}
    assert qids["Zyx Wvut"] is None
    assert marks(one) == [(place, qids[TEXT[slice(*place)]]) for place in places]
    assert [truth.kind for truth in one.truths] == ["entity" if qids[truth.surface] else "nil" for truth in one.truths]


@pytest.mark.parametrize("text", ["Michael Jordan", "Zyx Wvut"])
def test_a_phrase_that_is_the_whole_text(client: Client, linker: Linker, text: str, tmp_path: Path) -> None:
    """It has the IRI of its context, and comes back linked, or as nobody."""
    end = len(text)
    [one] = linked(client, context(text) + phrase(end, 0, end, text), tmp_path)
    [link] = linker.link_text(text, [Mention(text, [(0, end)])])
    assert marks(one) == [((0, end), link.qid)]
    both = phrase(end, 0, end, text) + phrase(end, 0, 3, text[:3])
    [one] = linked(client, context(text) + both, tmp_path)
    assert [place for place, _ in marks(one)] == [(0, 3), (0, end)]


def test_several_contexts(client: Client, linker: Linker, tmp_path: Path) -> None:
    texts = ["Barack Obama spoke.", "Nobody came.", TEXT]
    sent = "".join(context(text, iri=f"http://x/{number}") for number, text in enumerate(texts))
    found = {one.article.text: one for one in linked(client, sent, tmp_path)}
    assert found.keys() == set(texts)
    for text in texts:
        links = [link for link in linker.link_text(text) if link.qid]
        assert marks(found[text]) == sorted((span, link.qid) for link in links for span in link.spans)


@pytest.mark.parametrize("java", [True, False])
def test_places_come_back_as_they_were_counted(client: Client, java: bool, tmp_path: Path) -> None:
    text = "🚀 Barack Obama 🚀 spoke."
    end = len(text.encode("utf-16-le")) // 2 if java else len(text)
    answer = client.post("/nif", (PREFIXES + context(text, end)).encode(), TURTLE).body.decode()
    start = text.index("Barack") + java
    assert f"#char={start},{start + 12}>" in answer
    [one] = linked(client, context(text, end), tmp_path)
    assert [truth.surface for truth in one.truths] == ["Barack Obama"]


@pytest.mark.parametrize(
    ("body", "status"),
    [
        (b"hello", 400),
        (b"\xff\xfe", 400),
        (PREFIXES.encode() + b"<http://x> nif:isString ", 400),
        (b"", 422),
        (b"<http://a> <http://b> <http://c> .", 422),
        ((PREFIXES + context(TEXT) + phrase(len(TEXT), 0, 14, "Somebody Else")).encode(), 422),
        ((PREFIXES + context(TEXT) + phrase(len(TEXT), 500, 600, "")).encode(), 422),
        ((PREFIXES + context(TEXT) + "<http://x/p> nif:referenceContext <http://x/d#char=0,71> .").encode(), 422),
    ],
)
def test_turtle_that_is_none_or_no_nif(client: Client, body: bytes, status: int) -> None:
    answer = client.post("/nif", body, "text/turtle")
    assert answer.status == status, answer
    assert set(answer.json) == {"error", "what_to_do"}


@settings(max_examples=60)
@given(text=st.text(st.characters(exclude_categories=["Cs"]), max_size=40))
def test_any_text_comes_back_whole(client: Client, text: str) -> None:
    body = turtle([Document("http://x/d", text)])
    answer = client.post("/nif", body, TURTLE)
    assert answer.status == 200, answer
    from pyoxigraph import RdfFormat, parse

    texts = [
        one.object.value for one in parse(answer.body, RdfFormat.TURTLE) if one.predicate.value.endswith("isString")
    ]
    assert texts == [text]
