"""`/reconcile` and the Reconciliation Service API 0.2: its shapes as JSON schemas of our own, answers by the KB.

Where ../shared has the official schemas and examples, answers must also fit these schemas.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlencode

import jsonschema_rs
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from namesake.apps.server.limits import Limits
from namesake.kb.ids import QID
from namesake.kb.records import describe, look_up, rows_named
from namesake.kb.store import KB
from namesake.linker import Linker
from namesake.reconciling import Query, Reconciled, reconcile_queries
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
        "batchSize": {"type": "integer", "minimum": 1},
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
RESULTS = by_key(record({"result": many(CANDIDATE)}, {"error": {"type": "string", "minLength": 1}}))
SUGGESTED = record({"result": many(record({"id": TEXT, "name": TEXT}, {"description": TEXT}))})
PROPOSED = record({"properties": many(NAMED)}, {"type": TEXT, "limit": {"type": "integer"}})
MOMENT = {"type": "string", "pattern": r"^-?\d{4,}-\d\d-\d\dT00:00:00\+00:00$"}
CELL = {"oneOf": [record({"str": TEXT}), record({"date": MOMENT}), record({"id": TEXT, "name": TEXT})]}
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


@pytest.fixture(scope="module")
def official(shared: Path) -> Mapping[str, jsonschema_rs.Draft7Validator]:
    """The official schemas, by their names."""
    folder = shared / "reconciliation" / "0.2" / "schemas"
    if not folder.is_dir():
        pytest.skip("../shared has no schemas of the Reconciliation API")
    schemas = {path.stem: json.loads(path.read_bytes()) for path in folder.glob("*.json")}
    for schema in schemas.values():
        schema.pop("$schema", None)  # an address without a version, which names no draft
    registry = jsonschema_rs.Registry([(schema["$id"].rstrip("#"), schema) for schema in schemas.values()])
    return {name: jsonschema_rs.Draft7Validator(schema, registry=registry) for name, schema in schemas.items()}


def examples(shared: Path, kind: str, validity: str) -> list[Any]:
    found = sorted((shared / "reconciliation" / "0.2" / "examples" / kind / validity).glob("*.json"))
    assert found
    return [json.loads(path.read_bytes()) for path in found]


def posted(client: Client, path: str = "/reconcile", **form: Any) -> Answer:
    return client.post(path, urlencode({name: json.dumps(value) for name, value in form.items()}).encode(), FORM)


def test_answers_fit_the_official_schemas(
    client: Client, official: Mapping[str, jsonschema_rs.Draft7Validator]
) -> None:
    queries = {
        "a": {"query": "Michael Jordan", "type": "Q82955", "type_strict": "should"},
        "b": {"query": "Nobody Atall"},
        "c": {"properties": [{"pid": "P106", "v": "politician"}]},
        "d": {"nonsense": 1},
    }
    extend = {"ids": ["Q41421", "Q76", "x"], "properties": [{"id": name} for name in ("P569", "P106", "P27", "P373")]}
    suggested = {"entities": "entity?prefix=Michael", "properties": "property?prefix=o", "types": "type?prefix=h"}
    answers = {
        "manifest": client.get("/reconcile"),
        "reconciliation-result-batch": posted(client, queries=queries),
        "data-extension-response": posted(client, extend=extend),
        "data-extension-property-proposal": client.get("/reconcile/properties?type=Q5"),
    } | {f"suggest-{name}-response": client.get(f"/reconcile/suggest/{path}") for name, path in suggested.items()}
    for name, answer in answers.items():
        assert answer.status == 200
        official[name].validate(answer.json)
    assert {name for name in official if name.endswith("-response")} <= answers.keys()


def test_official_examples_of_queries(
    client: Client, shared: Path, official: Mapping[str, jsonschema_rs.Draft7Validator]
) -> None:
    """Those that are valid are answered; of those that are not, each query is refused, and the batch is not."""
    for queries in examples(shared, "reconciliation-query-batch", "valid"):
        found = asked(client, queries)
        assert found.keys() == queries.keys()
        assert all("error" not in one for one in found.values())
        official["reconciliation-result-batch"].validate(found)
    for queries in examples(shared, "reconciliation-query-batch", "invalid"):
        found = asked(client, queries | {"good": {"query": "Barack Obama"}})
        assert found.pop("good")["result"][0]["id"] == "Q76"
        assert all(one["result"] == [] and one["error"] for one in found.values())
    for extension in examples(shared, "data-extension-query", "valid"):
        fits(posted(client, extend=extension), EXTENDED)


def test_the_manifest(client: Client) -> None:
    """Its addresses are the server's own, whatever a client calls it."""
    told = fits(client.get("/reconcile"), MANIFEST)
    assert told["preview"]["url"].startswith(f"http://127.0.0.1:{client.port}/")
    assert told["batchSize"] == Limits().queries
    assert client.get("/reconcile", host="names.example:99").json == told
    assert client.get("/reconcile/").json == told


def test_a_bad_query_does_not_spoil_the_others(client: Client) -> None:
    """A name that is none gets an empty result, a query that cannot be read also an error; the others are answered."""
    nameless = {
        "empty": {"query": ""},
        "blank": {"query": "  "},
        "null": {"query": None},
        "number": {"query": 42},
        "properties": {"properties": [{"pid": "P106", "v": "politician"}], "type": "Q5"},
    }
    bad = {
        "nothing": {},
        "text": "Michael Jordan",
        "limit": {"query": "Michael Jordan", "limit": 0},
        "no value": {"query": "Michael Jordan", "properties": [{"pid": "P106"}]},
        "no property": {"properties": []},
        "strict": {"query": "Michael Jordan", "type_strict": "perhaps"},
        "unknown": {"query": "Michael Jordan", "limits": 3},
    }
    good = {"query": "Michael Jordan", "limit": 2.0}
    found = asked(client, {"first": good, **nameless, **bad, "last": good})
    assert found["first"] == found["last"] == asked(client, {"only": good})["only"]
    assert len(found["first"]["result"]) == 2
    assert all(found[key] == {"result": []} for key in nameless)
    assert all(found[key]["result"] == [] and "error" in found[key] for key in bad)


def test_with_a_slash_at_the_end(client: Client) -> None:
    queries = {"q": {"query": "Michael Jordan"}}
    assert fits(posted(client, "/reconcile/", queries=queries), RESULTS) == asked(client, queries)


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
    for answer, wanted in zip(asked(client, queries).values(), reconcile_queries(linker, rows, 5), strict=True):
        found = answer["result"]
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
def test_types_rule_candidates_out_or_weigh(client: Client, linker: Linker, strict: str) -> None:
    """With `any` and `all` candidates must have the types; with `should` all of them come back in another order."""
    everybody = asked(client, {"q": {"query": "Michael Jordan", "limit": 50}})["q"]["result"]
    occupations = sorted(set.union(*(types(linker.kb, one["id"]) for one in everybody)) - {"Q5"})
    for wanted in ({"Q5"}, {occupations[0]}, {"Q5", occupations[0]}, {"Q1"}):
        query = {"query": "Michael Jordan", "limit": 50, "type": sorted(wanted), "type_strict": strict}
        found = asked(client, {"q": query})["q"]["result"]
        rule = {"any": lambda own, want=wanted: own & want, "all": lambda own, want=wanted: want <= own}
        fitting = rule.get(strict, lambda own: True)
        assert {one["id"] for one in found} == {one["id"] for one in everybody if fitting(types(linker.kb, one["id"]))}
        assert [one["score"] for one in found] == sorted((one["score"] for one in found), reverse=True)
        rows = reconcile_queries(linker, [Query("Michael Jordan", types=tuple(sorted(wanted)))], 100)[0]
        assert [one["id"] for one in found] == [one.qid for one in rows if fitting(types(linker.kb, one.qid))]
    single = asked(client, {"q": {"query": "Michael Jordan", "type": "Q5"}})["q"]["result"]
    assert all({"id": "Q5", "name": "human"} in one["type"] for one in single)


def test_a_politician_is_no_basketball_player(client: Client) -> None:
    """OpenRefine always sends `should`: an entity of another type may be a candidate, but is no match."""
    notes = [{"pid": "notes", "v": "basketball player"}]
    query = {"query": "Michael Jordan", "type_strict": "should", "properties": notes}
    first = {
        kind: asked(client, {"q": query | {"type": kind}})["q"]["result"][0] for kind in ("Q5", "Q3665646", "Q82955")
    }
    assert [(one["id"], one["match"]) for one in first.values()][:2] == [("Q41421", True)] * 2
    assert not first["Q82955"]["match"]
    born = {"pid": "P569", "v": "1963-02-17"}
    sure = {"query": "Michael Jordan", "type": "Q82955", "type_strict": "should", "properties": [*notes, born]}
    best = asked(client, {"q": sure})["q"]["result"][0]
    assert (best["id"], best["match"]) == ("Q41421", False)
    assert best["score"] > 60


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


def scanned(kb: KB, prefix: str) -> list[str]:
    """The entities of a name, then all whose label begins so, the best known first: by a look at every label."""
    by_fame = sorted(range(len(kb)), key=lambda row: (-int(kb.sitelinks[row]), row))
    begun = [row for row in by_fame if kb.label(row).startswith((prefix, prefix.title()))]
    exact = [kb.row(prefix)] if QID.fullmatch(prefix) else rows_named(kb, prefix)
    return [f"Q{kb.qids[row]}" for row in dict.fromkeys([*exact, *begun]) if row >= 0]


@settings(max_examples=60)
@given(data=st.data())
def test_suggestions_are_those_of_a_scan_page_by_page(client: Client, linker: Linker, data: st.DataObject) -> None:
    kb = linker.kb
    label = kb.label(data.draw(st.integers(0, len(kb) - 1)))
    cut = data.draw(st.integers(1, len(label)))
    prefix = data.draw(st.sampled_from([label[:cut], label[:cut].lower(), label[:cut].upper(), "Michael", "J", "~"]))
    wanted = scanned(kb, " ".join(prefix.split()))
    for cursor in range(0, len(wanted) + 10, 10):
        path = f"/reconcile/suggest/entity?prefix={quote(prefix)}&cursor={cursor}"
        found = fits(client.get(path), SUGGESTED)["result"]
        assert [one["id"] for one in found] == wanted[cursor : cursor + 10]


def test_suggestions_can_be_skipped(client: Client) -> None:
    for kind, prefix in (("property", "p"), ("type", "b")):
        path = f"/reconcile/suggest/{kind}?prefix={prefix}"
        whole = fits(client.get(path), SUGGESTED)["result"]
        assert len(whole) > 3
        assert fits(client.get(f"{path}&cursor=0"), SUGGESTED)["result"] == whole
        assert fits(client.get(f"{path}&cursor=3"), SUGGESTED)["result"][: len(whole) - 3] == whole[3:]
    for cursor in ("-1", "x", "", "1.5", "9" * 12):
        assert client.get(f"/reconcile/suggest/entity?prefix=J&cursor={cursor}").status == 422


def test_values_of_properties(client: Client, linker: Linker) -> None:
    asked_for = {"ids": ["Q41421", "Q999999999", "x"], "properties": [{"id": name} for name in ("P569", "P106", "P27")]}
    form = urlencode({"extend": json.dumps(asked_for)}).encode()
    told = fits(client.post("/reconcile", form, FORM), EXTENDED)
    assert [one["id"] for one in told["meta"]] == ["P569", "P106", "P27"]
    assert told["rows"]["Q999999999"] == told["rows"]["x"] == {"P569": [], "P106": [], "P27": []}
    entity = describe(linker.kb, look_up(linker.kb, "Q41421")[0])
    row = told["rows"]["Q41421"]
    assert row["P569"] == [{"date": f"{entity.birth}T00:00:00+00:00"}]
    for name in ("P106", "P27"):
        wanted = [{"id": one.value, "name": one.label} for one in entity.statements if one.property == name]
        assert row[name] == wanted
    few = {"ids": ["Q41421"], "properties": [{"id": "P106", "settings": {"limit": "1"}}]}
    limited = fits(client.get(f"/reconcile?extend={quote(json.dumps(few))}"), EXTENDED)
    assert limited["rows"]["Q41421"]["P106"] == row["P106"][:1]
    proposed = fits(client.get("/reconcile/properties?type=Q5&limit=3"), PROPOSED)
    assert len(proposed["properties"]) == 3


def test_dates_that_are_no_days_stay_as_precise_as_they_are(client: Client, linker: Linker) -> None:
    """A year is not its first of January."""
    kb = linker.kb
    years = [f"Q{qid}" for qid in kb.qids[np.flatnonzero(kb.birth_precision == 9)].tolist()]
    assert years
    found = fits(posted(client, extend={"ids": years, "properties": [{"id": "P569"}]}), EXTENDED)["rows"]
    assert found == {qid: {"P569": [{"str": describe(kb, kb.row(qid)).birth}]} for qid in years}


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
        ({"extend": '{"ids": "Q1"}'}, 422),
        ({"other": "x"}, 422),
        ({}, 422),
    ],
)
def test_bad_forms(client: Client, form: dict[str, str], status: int) -> None:
    answer = client.post("/reconcile", urlencode(form).encode(), FORM)
    assert answer.status == status
    assert set(answer.json) == {"error", "what_to_do"}
