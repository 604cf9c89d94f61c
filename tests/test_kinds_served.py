"""Kinds at every endpoint of the server that links or searches; the dump of `several_kinds` has the kinds."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest

from conftest import Ran
from namesake.datasets import nif
from namesake.kb.store import KB
from namesake.linker import Linker
from serving import Client, running
from several_kinds import TEXT, WORLD

NAMES = [one.label for one in WORLD.values()]
SPANS = [[TEXT.index(name), len(name)] for name in NAMES]
KIND = {one.label: one.kind for one in WORLD.values()}
PLACES = {one.label for one in WORLD.values() if one.kind == "place"}
ASKED = {"text": TEXT, "mentions": NAMES, "threshold": 0}


@pytest.fixture(scope="module")
def world(world_kb: KB) -> Iterator[Client]:
    with running(Linker(world_kb, threshold=0.0)) as client:
        yield client


def linked(client: Client, **options: Any) -> dict[str, str]:
    links = client.post("/link", ASKED | options).json["links"]
    assert all(one["reason"] == "another kind" for one in links if one["qid"] is None)
    return {one["name"]: one["kind"] for one in links if one["qid"]}


def test_links_and_candidates_have_kinds(world: Client) -> None:
    assert linked(world) == KIND
    links = world.post("/link", ASKED | {"candidates": True}).json["links"]
    kinds = {one["qid"]: one["kind"] for link in links for one in link["candidates"]}
    assert kinds == {qid: one.kind for qid, one in WORLD.items()}
    lost = {"name": "Paris", "candidates": ["Q90", "Q999999999"]}
    [link] = world.post("/link", {"text": TEXT, "mentions": [lost], "candidates": True}).json["links"]
    assert {one["qid"]: one["kind"] for one in link["candidates"]} == {"Q90": "place", "Q999999999": None}


@pytest.mark.parametrize("kinds", ["places", "place, places", ["location"], ["places"]])
def test_link_filters_by_kind(world: Client, kinds: Any) -> None:
    assert linked(world, kinds=kinds) == dict.fromkeys(PLACES, "place")


def test_requests_of_different_kinds_at_once(world: Client) -> None:
    for kinds in ("people", "organization,works", None):
        wanted = {"people": {"person"}, "organization,works": {"organisation", "work"}}.get(kinds or "")
        assert linked(world, kinds=kinds) == {
            name: kind for name, kind in KIND.items() if wanted is None or kind in wanted
        }


def test_explain_filters_and_shows_kinds(world: Client) -> None:
    asked = ASKED | {"name": "Paris"}
    rows = world.post("/explain", asked).json["rows"]
    assert {(row["qid"], row["kind"], row["reason"]) for row in rows} == {("Q90", "place", None), (None, None, None)}
    rows = world.post("/explain", asked | {"kinds": "people"}).json["rows"]
    assert {row["reason"] for row in rows} == {"another kind"}


def test_rel_tags_every_kind(world: Client) -> None:
    """REL has the four tags of CoNLL."""
    tags = {"person": "PER", "place": "LOC", "organisation": "ORG"}
    rows = world.post("/rel", {"text": TEXT, "spans": SPANS}).json
    assert {row[2]: row[6] for row in rows} == {name: tags.get(kind, "MISC") for name, kind in KIND.items()}
    rows = world.post("/rel", {"text": TEXT, "spans": SPANS, "kinds": "organisations"}).json
    assert [row[2:4] for row in rows] == [["United Nations", "Q1065"]]


def test_nif_links_every_kind(world: Client) -> None:
    spans = [(start, start + length) for start, length in SPANS]
    phrases = tuple(nif.Annotation(span, "http://example.org/x", None) for span in spans)
    body = nif.turtle([nif.Document("http://example.org/a", TEXT, phrases)])

    def annotated(path: str) -> set[str]:
        answer = world.post(path, body, "text/turtle")
        assert answer.status == 200
        return {qid for qid in WORLD if f"/entity/{qid}>" in answer.body.decode()}

    assert annotated("/nif") == set(WORLD)
    assert annotated("/nif?kinds=places") == {qid for qid, one in WORLD.items() if one.kind == "place"}


def test_search_and_entity_show_kinds(world: Client) -> None:
    for qid, one in WORLD.items():
        assert world.get(f"/entity/{qid}").json["kind"] == one.kind
    found = world.get("/search?name=Paris").json["results"]
    assert [(one["qid"], one["kind"]) for one in found] == [("Q90", "place")]
    assert world.get("/search?name=Paris&kinds=people,works").json["results"] == []
    assert world.get("/search?name=Paris&kinds=location").json["results"] == found


def test_a_misspelt_kind_is_a_problem_with_a_hint(world: Client) -> None:
    answers = [world.post(path, {"text": TEXT, "kinds": "peple"}) for path in ("/link", "/explain", "/rel")]
    answers += [world.get("/search?name=Paris&kinds=peple"), world.post("/nif?kinds=peple", b"", "text/turtle")]
    for answer in answers:
        assert answer.status == 422
        assert "no kind 'peple' (did you mean 'people'?)" in answer.json["error"]
        assert answer.json["what_to_do"]
    for kinds in ([], "", 3, [3]):
        assert world.post("/link", ASKED | {"kinds": kinds}).status == 422


def test_a_kind_that_the_kb_does_not_have(client: Client, linker: Linker) -> None:
    answer = client.post("/link", {"text": TEXT, "kinds": "places,works"})
    assert answer.status == 422
    assert answer.json == {"error": "the KB has no places and no works", "what_to_do": "its kinds are people"}
    assert str(linker.kb.path) not in answer.body.decode()
    assert client.post("/link", {"text": TEXT, "kinds": "places,people"}).status == 200


def test_kinds_of_the_server_are_the_default(world_kb: KB) -> None:
    with running(Linker(world_kb, threshold=0.0, kinds="places")) as client:
        assert linked(client).keys() == PLACES
        assert linked(client, threshold=0.01).keys() == PLACES
        assert linked(client, kinds="people") == {"Angela Merkel": "person"}


def test_serve_refuses_a_misspelt_kind(run: Callable[..., Ran]) -> None:
    ran = run("serve", "--port", "0", "--kinds", "peple")
    assert (ran.code, "did you mean 'people'" in ran.said) == (2, True)


def test_the_document_lists_the_parameter(world: Client) -> None:
    about = world.get("/openapi.json").json
    for path, method in (("/nif", "post"), ("/search", "get")):
        assert "kinds" in [one["name"] for one in about["paths"][path][method]["parameters"]]
    for name in ("LinkRequest", "ExplainRequest", "RelRequest"):
        assert "kinds" in about["components"]["schemas"][name]["properties"]
    assert "requestBody" in about["paths"]["/nif"]["post"]
