"""`/reconcile` and the Reconciliation Service API 0.2: its shapes as JSON schemas of our own, answers by the KB."""

from __future__ import annotations

import json
from typing import Any
from urllib.parse import quote, urlencode

import jsonschema_rs
import pytest

from namesake.kb.show import describe, look_up
from namesake.kb.store import KB
from namesake.linker import Linker
from namesake.reconciling import Query, reconcile_queries
from namesake.reconciling.reconcile import Reconciled
from serving import Answer, Client, running

FORM = "application/x-www-form-urlencoded"
TEXT = {"type": "string"}
URL = {"type": "string", "pattern": "^https?://"}


def record(required: dict[str, Any], optional: dict[str, Any] | None = None) -> dict[str, Any]:
    """The schema of an object that has these fields and no others."""
    fields = required | (optional or {})
    return {"type": "object", "properties": fields, "required": list(required), "additionalProperties": False}


def many(item: dict[str, Any]) -> dict[str, Any]:
    return {"type": "array", "items": item}


def by_key(value: dict[str, Any]) -> dict[str, Any]:
    return {"type": "object", "additionalProperties": value}


NAMED = record({"id": TEXT, "name": TEXT})
SERVICE = record({"service_url": URL, "service_path": {"type": "string", "pattern": "^/"}})
MANIFEST = record(
    {
        "versions": {"type": "array", "contains": {"const": "0.2"}},
        "name": TEXT,
        "identifierSpace": URL,
        "schemaSpace": URL,
    },
    {
        "defaultTypes": many(NAMED),
        "view": record({"url": {"type": "string", "pattern": r"\{\{id\}\}"}}),
        "preview": record(
            {
                "url": {"type": "string", "pattern": r"\{\{id\}\}"},
                "width": {"type": "integer"},
                "height": {"type": "integer"},
            }
        ),
        "suggest": record({}, {"entity": SERVICE, "property": SERVICE, "type": SERVICE}),
        "extend": record(
            {},
            {
                "propose_properties": SERVICE,
                "property_settings": many(
                    record(
                        {"name": TEXT, "label": TEXT, "type": {"enum": ["number", "text", "checkbox", "select"]}},
                        {"default": {}, "help_text": TEXT},
                    )
                ),
            },
        ),
    },
)
CANDIDATE = record(
    {"id": TEXT, "name": TEXT, "score": {"type": "number"}, "type": many(NAMED)},
    {
        "match": {"type": "boolean"},
        "description": TEXT,
        "features": many(record({"id": TEXT, "value": {"type": ["number", "boolean"]}})),
    },
)
RESULTS = by_key(record({"result": many(CANDIDATE)}))
SUGGESTED = record({"result": many(record({"id": TEXT, "name": TEXT}, {"description": TEXT}))})
PROPOSED = record({"properties": many(NAMED)}, {"type": TEXT, "limit": {"type": "integer"}})
CELL = {"oneOf": [record({"str": TEXT}), record({"date": TEXT}), record({"id": TEXT, "name": TEXT})]}
EXTENDED = record({"meta": many(NAMED), "rows": by_key(by_key(many(CELL)))})


def fits(answer: Answer, schema: dict[str, Any]) -> Any:
    """The JSON of an answer, which must have this shape."""
    assert answer.status == 200, answer
    jsonschema_rs.validate(schema, answer.json)
    return answer.json


def asked(client: Client, queries: Any) -> Any:
    """What the queries give, as a form and by the address alike."""
    form = urlencode({"queries": json.dumps(queries)})
    posted = fits(client.post("/reconcile", form.encode(), FORM), RESULTS)
    assert posted == fits(client.get(f"/reconcile?{form}"), RESULTS)
    return posted


def test_the_manifest(client: Client) -> None:
    told = fits(client.get("/reconcile"), MANIFEST)
    assert told["preview"]["url"].startswith(f"http://127.0.0.1:{client.port}/")
    other = client.get("/reconcile", host="names.example:99").json
    assert other["suggest"]["entity"]["service_url"] == "http://names.example:99/reconcile"
    odd = client.get("/reconcile", host='"><script>').json
    assert odd["suggest"]["entity"]["service_url"] == f"http://127.0.0.1:{client.port}/reconcile"


def test_queries_are_the_evidence_of_a_row(client: Client, linker: Linker) -> None:
    """The candidates, their scores and features are those of `reconcile_queries`."""
    properties = [
        {"pid": "P106", "v": "basketball player"},
        {"pid": "P27", "v": {"id": "Q30", "name": "United States"}},
        {"pid": "notes", "v": ["Chicago Bulls", 23, True]},
    ]
    queries = {
        "q0": {"query": "Michael Jordan", "properties": properties},
        "q1": {"query": "Michael Jordan", "limit": 2},
    }
    values = (("P106", "basketball player"), ("P27", "Q30"), ("notes", "Chicago Bulls"), ("notes", "23"))
    rows = [Query("Michael Jordan", values=(*values, ("notes", "True"))), Query("Michael Jordan")]
    for given, wanted in zip(asked(client, queries).values(), reconcile_queries(linker, rows, 5), strict=True):
        found = given["result"]
        assert [one["id"] for one in found] == [one.qid for one in wanted][: len(found)]
        for one, other in zip(found, wanted, strict=False):
            assert (one["name"], one["match"]) == (other.label, other.matched)
            assert {feature["id"]: feature["value"] for feature in one["features"]} == other.parts
            assert one["score"] == pytest.approx(100 * (other.confidence or 0), abs=0.001)
    results = asked(client, queries)
    assert results["q0"]["result"][0]["id"] == "Q41421"
    assert len(results["q1"]["result"]) == 2
    assert sum(sum(one["match"] for one in result["result"]) <= 1 for result in results.values()) == 2


def types(kb: KB, qid: str) -> set[str]:
    """What an entity is an instance of and works as, by its statements."""
    return {one.value for one in describe(kb, look_up(kb, qid)[0]).statements if one.property in ("P31", "P106")}


@pytest.mark.parametrize("strict", ["any", "all", "should"])
def test_types_rule_candidates_out(client: Client, linker: Linker, strict: str) -> None:
    everybody = asked(client, {"q": {"query": "Michael Jordan", "limit": 50}})["q"]["result"]
    occupations = sorted(set.union(*(types(linker.kb, one["id"]) for one in everybody)) - {"Q5"})
    for wanted in ({"Q5"}, {occupations[0]}, {"Q5", occupations[0]}, {"Q1"}):
        query = {"query": "Michael Jordan", "limit": 50, "type": sorted(wanted), "type_strict": strict}
        found = [one["id"] for one in asked(client, {"q": query})["q"]["result"]]
        rule = {"any": lambda own, want=wanted: own & want, "all": lambda own, want=wanted: want <= own}
        fitting = rule.get(strict, lambda own: True)
        assert found == [one["id"] for one in everybody if fitting(types(linker.kb, one["id"]))]
    single = asked(client, {"q": {"query": "Michael Jordan", "type": "Q5"}})["q"]["result"]
    assert all({"id": "Q5", "name": "human"} in one["type"] for one in single)


def test_names_that_nobody_bears(client: Client) -> None:
    assert asked(client, {"q": {"query": "Xyzzy Plugh"}}) == {"q": {"result": []}}
    assert asked(client, {}) == {}


def test_a_long_cell_is_its_own_fault(client: Client) -> None:
    """A name of more than 1,000 characters is nobody's; of a value the first 1,000 are read; the batch goes on."""
    notes = [{"pid": "notes", "v": ["Chicago Bulls " + "x " * 2000]}]
    queries = {"long": {"query": "x" * 1001}, "notes": {"query": "Michael Jordan", "properties": notes}}
    results = fits(client.post("/reconcile", urlencode({"queries": json.dumps(queries)}).encode(), FORM), RESULTS)
    assert results["long"] == {"result": []}
    assert results["notes"]["result"][0]["id"] == "Q41421"


def test_only_those_with_the_type_are_described(
    client: Client, linker: Linker, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Who somebody is is read for the candidates that are given, not for all that are looked at."""
    read = []
    who = Reconciled.who
    monkeypatch.setattr(Reconciled, "who", lambda *given, **more: (read.append(1), who(*given, **more))[1])
    query = {"query": "Michael Jordan", "type": "Q5", "limit": 2}
    found = fits(client.get(f"/reconcile?{urlencode({'queries': json.dumps({'q': query})})}"), RESULTS)["q"]["result"]
    assert (len(found), len(read)) == (2, 2)


def test_the_public_address_with_a_slash_or_without(linker: Linker) -> None:
    for public in ("https://x.example/names", "https://x.example/names/"):
        with running(linker, public=public) as client:
            told = fits(client.get("/reconcile"), MANIFEST)
        assert told["suggest"]["entity"]["service_url"] == "https://x.example/names/reconcile"


def test_suggestions(client: Client, linker: Linker) -> None:
    kb = linker.kb
    found = fits(client.get("/reconcile/suggest/entity?prefix=Michael%20Jor"), SUGGESTED)["result"]
    assert found
    assert all(one["name"].startswith("Michael Jor") for one in found)
    fame = [int(kb.sitelinks[look_up(kb, one["id"])[0]]) for one in found]
    assert fame == sorted(fame, reverse=True)
    lower = fits(client.get("/reconcile/suggest/entity?prefix=michael%20jor"), SUGGESTED)["result"]
    assert [one["id"] for one in lower] == [one["id"] for one in found]
    assert fits(client.get("/reconcile/suggest/entity?prefix=Q41421"), SUGGESTED)["result"][0]["id"] == "Q41421"
    assert fits(client.get("/reconcile/suggest/entity?prefix="), SUGGESTED) == {"result": []}
    properties = fits(client.get("/reconcile/suggest/property?prefix=occup"), SUGGESTED)["result"]
    assert {"id": "P106", "name": "occupation", "description": ""} in properties
    assert fits(client.get("/reconcile/suggest/property?prefix=p106"), SUGGESTED)["result"][0]["id"] == "P106"
    assert fits(client.get("/reconcile/suggest/type?prefix=hum"), SUGGESTED)["result"][0]["id"] == "Q5"


def test_values_of_properties(client: Client, linker: Linker) -> None:
    asked_for = {"ids": ["Q41421", "Q999999999", "x"], "properties": [{"id": name} for name in ("P569", "P106", "P27")]}
    form = urlencode({"extend": json.dumps(asked_for)}).encode()
    told = fits(client.post("/reconcile", form, FORM), EXTENDED)
    assert [one["id"] for one in told["meta"]] == ["P569", "P106", "P27"]
    assert told["rows"]["Q999999999"] == told["rows"]["x"] == {"P569": [], "P106": [], "P27": []}
    entity = describe(linker.kb, look_up(linker.kb, "Q41421")[0])
    row = told["rows"]["Q41421"]
    assert row["P569"] == [{"date": entity.birth}]
    for name in ("P106", "P27"):
        wanted = [{"id": one.value, "name": one.label} for one in entity.statements if one.property == name]
        assert row[name] == wanted
    few = {"ids": ["Q41421"], "properties": [{"id": "P106", "settings": {"limit": "1"}}]}
    limited = fits(client.get(f"/reconcile?extend={quote(json.dumps(few))}"), EXTENDED)
    assert limited["rows"]["Q41421"]["P106"] == row["P106"][:1]
    proposed = fits(client.get("/reconcile/properties?type=Q5&limit=3"), PROPOSED)
    assert len(proposed["properties"]) == 3


def test_the_preview_is_a_page_for_frames(client: Client, linker: Linker) -> None:
    page = client.get("/reconcile/preview?id=Q41421")
    assert page.headers["content-type"] == "text/html; charset=utf-8"
    assert "frame-ancestors *" in page.headers["content-security-policy"]
    assert linker.kb.label(look_up(linker.kb, "Q41421")[0]) in page.body.decode()
    assert client.get("/reconcile/preview?id=Q999999999").status == 404
    assert client.get("/reconcile/preview?id=%3Cscript%3E").status == 404


@pytest.mark.parametrize(
    ("form", "status"),
    [
        ({"queries": "{"}, 400),
        ({"queries": "[]"}, 422),
        ({"queries": '{"q": {}}'}, 422),
        ({"queries": '{"q": {"query": ""}}'}, 422),
        ({"queries": '{"q": {"query": "x", "limit": 0}}'}, 422),
        ({"queries": '{"q": {"query": "x", "properties": [{"pid": "P1"}]}}'}, 422),
        ({"extend": '{"ids": "Q1"}'}, 422),
        ({"other": "x"}, 422),
        ({}, 422),
    ],
)
def test_bad_queries(client: Client, form: dict[str, str], status: int) -> None:
    answer = client.post("/reconcile", urlencode(form).encode(), FORM)
    assert answer.status == status
    assert set(answer.json) == {"error", "what_to_do"}
