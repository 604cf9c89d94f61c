"""Own entities: a KB that has them says the same as one that was built from a dump with the same entities as items."""

import csv
import errno
import json
import pickle
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from hashlib import sha256
from pathlib import Path
from threading import Event, Thread
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from namesake import KB, Linker, NamesakeError, add_entities, reconcile_frame, remove_entities, undo_addition
from namesake.apps.review import text_cases
from namesake.articles.builder import text_table
from namesake.kb.build import build
from namesake.kb.names.normalise import normalise
from namesake.kb.own.merge import publish
from namesake.kb.own.records import read_records
from namesake.kb.publish.draft import Draft
from namesake.kinds import named
from serving import running
from test_build import HUMAN, claim, dump, item
from test_cli_kb import namesake

WORLD = [
    item(5, "human"),
    item(43229, "organization"),
    item(95, "Google", claim("P31", 43229), description="technology company", aliases=("Google LLC",)),
    item(70, "Zurich", claim("P31", 515), description="city in Switzerland"),
    item(515, "city"),
    item(300, "Jane Doe", HUMAN, claim("P108", 95), description="American chemist", aliases=("J. Doe", "Janie")),
    item(301, "John van der Berg", HUMAN, claim("P19", 70), description="head of a bank"),
    item(302, "Ann Smith", HUMAN, claim("P108", 95), description="singer"),
    item(400, "Smith & Sons Ltd.", claim("P31", 43229), description="bank in Zurich"),
    '{"type":"property","id":"P108","labels":{"en":{"language":"en","value":"employer"}}}',
    '{"type":"property","id":"P19","labels":{"en":{"language":"en","value":"place of birth"}}}',
]
ENTITY_NAMES = ("Google", "Zurich", "Jane Doe", "Janie", "John van der Berg", "Ann Smith")
FIRST = 900  # QID of the first of the same entities as items
KINDS = {"person": 5, "organisation": 43229}


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("world")
    build([dump(folder / "world.json", *WORLD)], folder / "kb")
    return folder / "kb"


@pytest.fixture
def kb(world: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(world, tmp_path / "kb"))


def frame(*rows: dict[str, str]) -> pa.Table:
    return pa.Table.from_pylist(
        [{"id": "", "name": "", "aliases": "", "description": "", "never": ""} | row for row in rows]
    )


def add(kb: Path, *rows: dict[str, str], **options: Any) -> Any:
    return add_entities(kb, frame(*rows), "acme", say=lambda _: None, **options)


def contents(folder: Path) -> dict[str, str]:
    return {file.name: sha256(file.read_bytes()).hexdigest() for file in folder.iterdir()}


def meaning(kb: KB, own: dict[str, str]) -> dict[str, Any]:
    """What a KB says, without row numbers and ranks; `own` gives the id that another KB has for an id of this one."""

    def shown(row: int) -> str:
        return own.get(kb.id_of(row), kb.id_of(row))

    entities = {}
    for row in range(len(kb)):
        fields = json.loads(json.dumps({name: getattr(kb.entity(kb.id_of(row)), name) for name in FIELDS}))
        stated = sorted((s.property, own.get(s.value, s.value), s.label) for s in kb.entity(kb.id_of(row)).statements)
        words = [
            sorted(kb.words[int(word)] for word in column[row]) for column in (kb.words_d, kb.words_ds, kb.words_p)
        ]
        new = FIRST <= int(shown(row)[1:]) < FIRST + 100  # statements of own entities do not change the fame of items
        entities[shown(row)] = fields, stated, words, round(float(kb.fame[row]), 5) if new else 0
    names = {}
    for name in range(len(kb.names)):
        span = slice(*kb.names.entities.indptr[name : name + 2])
        names[kb.names.texts[name]] = sorted(
            zip(map(shown, kb.names.entities[name]), kb.names.kinds[span].tolist(), strict=True)
        )
    tokens = {token for name in names for token in name.split()}
    shorts = {}
    for text in tokens | {" ".join(name.split()[-2:]) for name in names}:
        if (short := kb.names.short_form(text)) is not None:
            shorts[text] = sorted(zip(map(shown, short.rows), short.forms.tolist(), strict=True))
    old = {token for name in ENTITY_NAMES for token in normalise(name).split()}  # others have no `lower` in the base
    counts = {token: kb.names.token_counts(token)[: 4 if token in old else 3] for token in tokens}
    values = {
        kb.item_labels[item]: sorted(kb.words[int(word)] for word in kb.words_item[item])
        for item in range(len(kb.item_qids))
    }
    pairs = {
        (int(kb.pair_property[pair]), kb.item_labels[int(value)] if value >= 0 else kb.strings[~value]): int(count)
        for pair, (value, count) in enumerate(zip(kb.pair_value.tolist(), kb.pair_count.tolist(), strict=True))
    }
    rarity = {kb.words[word]: int(count) for word, count in enumerate(kb.word_count)}
    return {
        "entities": entities,
        "names": names,
        "shorts": shorts,
        "tokens": counts,
        "values": values,
        "pairs": pairs,
    } | {
        "rarity": rarity,
        "kinds": kb.manifest.kinds,
    }


FIELDS = ("label", "description", "aliases", "person", "kind", "birth", "death", "sitelinks", "properties")
TOKENS = ["Jane", "Doe", "Zyx", "van", "der", "Berg", "Smith", "Google", "Bank", "Inc.", "II", "Łódź"]
texts = st.lists(st.sampled_from(TOKENS), min_size=1, max_size=4).map(" ".join)
people = st.fixed_dictionaries(
    {
        "name": texts,
        "aliases": st.lists(texts, max_size=2, unique=True).map("|".join),
        "description": st.lists(st.sampled_from(["head", "of", "the", "quantum", "lab", "singer"]), max_size=4).map(
            " ".join
        ),
        "Firm": st.sampled_from(["", "Q95", "Q400", "acme:e0", "Q300"]),
        "Born": st.sampled_from(["", "1980", "1971-05", "1990-01-31"]),
        "kind": st.sampled_from(sorted(KINDS)),
    }
)


def as_item(number: int, row: dict[str, str]) -> str:
    """The same entity as a line of a dump."""
    claims = [claim("P31", KINDS[row["kind"]])]
    if firm := row["Firm"].replace("acme:e0", f"Q{FIRST}"):
        claims.append(claim("P108", int(firm[1:])))
    entity = json.loads(
        item(
            number,
            row["name"],
            *claims,
            description=row["description"],
            aliases=tuple(filter(None, row["aliases"].split("|"))),
        )
    )
    if row["Born"]:
        time = f"+{row['Born'] + '-00-00'[len(row['Born']) - 4 :]}T00:00:00Z"
        value = {"time": time, "precision": {4: 9, 7: 10, 10: 11}[len(row["Born"])]}
        snak = {"snaktype": "value", "property": "P569", "datavalue": {"value": value, "type": "time"}}
        entity["claims"]["P569"] = [{"mainsnak": snak, "type": "statement", "rank": "normal"}]
    return json.dumps(entity)


@settings(max_examples=25)
@given(rows=st.lists(people, min_size=1, max_size=6))
def test_own_entities_are_like_items(tmp_path_factory: pytest.TempPathFactory, world: Path, rows: list[dict[str, str]]):
    folder = tmp_path_factory.mktemp("own")
    kb = Path(shutil.copytree(world, folder / "kb"))
    for number, row in enumerate(rows):  # one at a time, because each has a kind of its own
        if row["Firm"] == "acme:e0" and number == 0:
            row["Firm"] = ""
        given_row = {key: value for key, value in row.items() if key != "kind"} | {"id": f"e{number}"}
        types = {"employer": "Firm"} | ({"P569": "Born"} if row["kind"] == "person" else {})
        add(kb, given_row, kind=row["kind"], type=types)
        row["Born"] = row["Born"] if row["kind"] == "person" else ""
    same = [as_item(FIRST + number, row) for number, row in enumerate(rows)]
    build([dump(folder / "all.json", *WORLD, *same)], folder / "all")
    opened, expected = KB.open(kb), KB.open(folder / "all")
    opened.verify()
    own = {f"acme:e{number}": f"Q{FIRST + number}" for number in range(len(rows))}
    found, wanted = meaning(opened, own), meaning(expected, {})
    for part in wanted:
        assert found[part] == wanted[part], part
    undo_addition(kb)
    remove_entities(kb, [record.id for record in read_records(kb)]) if len(rows) > 1 else None
    assert contents(kb) == contents(world)


TEXT = "Jane Zyxwvut, head of the quantum lab, spoke on Monday. Zyxwvut smiled at Ann Smith of Google."
JANE = {"id": "jane-doe", "name": "Jane Zyxwvut", "aliases": "J. Zyxwvut", "description": "head of the quantum lab"}


def test_links_and_explanations_are_those_of_an_item(kb: Path, tmp_path: Path):
    add(kb, JANE | {"Firm": "Q95"}, kind="person", type={"employer": "Firm"})
    row = {"name": JANE["name"], "aliases": JANE["aliases"], "description": JANE["description"], "Firm": "Q95"}
    build([dump(tmp_path / "all.json", *WORLD, as_item(FIRST, row | {"Born": "", "kind": "person"}))], tmp_path / "all")
    own, other = (Linker(KB.open(folder)) for folder in (kb, tmp_path / "all"))
    links = [link.qid for link in own.link_text(TEXT)]
    assert "acme:jane-doe" in links
    assert [{"acme:jane-doe": f"Q{FIRST}"}.get(qid, qid) for qid in links] == [
        link.qid for link in other.link_text(TEXT)
    ]

    def parts(linker: Linker) -> list[tuple[Any, ...]]:
        # the age of an own entity is unknown, ranks are those of the KB, and confidences depend on both
        unlike = ("ItemAge", "FoundItemAge", "LinkedElsewhere", "LQID")
        table = text_table("Jane Zyxwvut, head of the quantum lab, spoke on Monday. Zyxwvut smiled.", None, None)
        rows = linker.explain(table).to_pylist()
        return [
            (row["name"], row["label"], row["part"], round(row["value"] or 0, 6), str(row["matches"]))
            for row in rows
            if row["part"] not in unlike
        ]

    assert parts(own) == parts(other)


def test_a_prior_is_added_and_shown(kb: Path):
    add(kb, JANE, kind="person")
    scores = {
        prior: next(link.score for link in Linker(kb, prior=prior).link_text("Yesterday Jane Zyxwvut spoke."))
        for prior in (0, 1.5, -2)
    }
    assert scores[1.5] - scores[0] == pytest.approx(1.5)
    assert scores[-2] - scores[0] == pytest.approx(-2)


def test_aliases_and_corrections_for_items(kb: Path, world: Path):
    add(kb, {"id": "Q300", "aliases": "the Chemist; Dr Jane", "never": "Janie"})
    opened = KB.open(kb)
    opened.verify()
    assert [found.qid for found in opened.search("the Chemist")] == ["Q300"]
    assert opened.entity("Q300").aliases == ["J. Doe", "Janie", "the Chemist", "Dr Jane"]
    assert opened.search("Janie") == []
    assert [one.qid for one in KB.open(world).search("Janie")] == ["Q300"]
    assert [
        link.qid for link in Linker(opened).link_text("Janie, an American chemist, spoke.") if link.name == "Janie"
    ] in ([], [None])
    remove_entities(kb, ["Q300"])
    assert contents(kb) == contents(world)


@pytest.mark.parametrize(
    ("rows", "options", "message"),
    [
        ([JANE, JANE], {}, r"the frame row 2: the id acme:jane-doe is also that of the frame row 1"),
        ([JANE | {"id": "Q95"}], {}, r"row 1: the id Q95 looks like a QID"),
        ([JANE | {"id": "acme:Q95"}], {}, r"row 1: the id 'acme:Q95' looks like a QID"),
        ([{"id": "Q123456", "aliases": "x"}], {}, r"row 1: Q123456 is not an entity of"),
        ([JANE | {"name": " "}], {}, r"row 1: the name is empty"),
        ([JANE], {"kind": "persn"}, r"no kind 'persn' \(did you mean 'person'\?\)"),
        ([JANE | {"Firm": ""}], {"type": {"emploier": "Firm"}}, r"no property 'emploier' \(did you mean 'employer'"),
        ([JANE], {"type": {"employer": "Firma"}}, r"row 1: no column 'Firma'"),
        ([JANE | {"Firm": "acme:nobody"}], {"type": {"employer": "Firm"}}, r"row 1: no own entity 'acme:nobody'"),
        ([JANE | {"Born": "soon"}], {"type": {"P569": "Born"}}, r"row 1: 'soon' is not a date"),
        ([{}], {}, r"no row has an entity to add"),
    ],
)
def test_bad_input_is_one_line_and_changes_nothing(kb: Path, rows: Any, options: Any, message: str):
    before = contents(kb)
    with pytest.raises(NamesakeError, match=message) as problem:
        add(kb, *rows, **options)
    assert "\n" not in str(problem.value)
    assert contents(kb) == before
    assert [path.name for path in kb.parent.iterdir()] == ["kb"]


def test_an_alias_of_a_thousand_entities_is_refused(kb: Path):
    rows = [{"id": f"p{n}", "name": f"Bob Number{n}", "aliases": "Bobby"} for n in range(1001)]
    with pytest.raises(NamesakeError, match=r"row 1001: the alias 'Bobby' belongs to more than 1,000 entities"):
        add(kb, *rows)


def test_rows_of_a_csv_file_are_counted_as_in_a_spreadsheet(kb: Path, tmp_path: Path):
    with (tmp_path / "own.csv").open("w") as file:
        csv.writer(file).writerows([["id", "name"], ["a", "Ab Cd"], ["a", "Ef Gh"]])
    with pytest.raises(NamesakeError, match=r"own.csv row 3: the id acme:a is also that of .*own.csv row 2"):
        add_entities(kb, tmp_path / "own.csv", "acme")


def test_records_in_the_layout_of_the_dump(kb: Path, tmp_path: Path):
    record = json.loads(item(1, "Zyx Works", claim("P31", 43229), description="factory")) | {"id": "works"}
    (tmp_path / "own.jsonl").write_text(json.dumps(record) + "\n")
    add_entities(kb, tmp_path / "own.jsonl", "acme", say=lambda _: None)
    found = KB.open(kb).entity("acme:works")
    assert (found.label, found.kind, found.statements[0].value) == ("Zyx Works", "organisation", "Q43229")


def test_an_entity_that_wikidata_has_is_proposed_for_merging(kb: Path):
    notes = add(kb, {"id": "jd", "name": "Jane Doe"}, kind="person").notes
    assert [note.partition(":")[0] for note in notes] == ["acme"]
    assert notes[0].startswith("acme:jd may be Q300 (Jane Doe, American chemist)")
    assert add(kb, {"id": "other", "name": "Zurich"}, kind="person").notes == []


def test_an_update_keeps_own_entities_and_proposes_to_merge_those_that_wikidata_has(tmp_path: Path):
    base = dump(tmp_path / "base.json", *WORLD)
    build([base], tmp_path / "kb", updatable=True)
    added = {"id": "acme-jo", "name": "Jo Zyxwvut", "aliases": "Zyx Jo", "description": "engineer", "Firm": "Q95"}
    rows = [added, {"id": "Q302", "name": "", "aliases": "Annie Z"}, {"id": "Q301", "name": "", "aliases": "Johnny Z"}]
    add(tmp_path / "kb", *rows[:1], kind="person", type={"employer": "Firm"})
    add(tmp_path / "kb", *rows[1:])
    changes = [
        item(303, "Jo Zyxwvut", HUMAN, description="engineer at Google"),
        item(95, "Google", claim("P31", 43229), description="search company"),
        json.dumps({"id": "Q302", "missing": ""}),
    ]
    done = namesake("kb", "update", tmp_path / "kb", dump(tmp_path / "changes.json", *changes))
    assert done.returncode == 0, done.stderr
    assert "acme:acme-jo may be Q303 (Jo Zyxwvut, engineer at Google)" in done.stderr
    assert "Q302 is no longer in the KB" in done.stderr
    assert [line.split("\t")[0] for line in namesake("kb", "list", tmp_path / "kb", "--own").stdout.splitlines()] == [
        *("acme:acme-jo", "Q301")
    ]
    build([base, tmp_path / "changes.json"], tmp_path / "again")
    add(tmp_path / "again", *rows[:1], kind="person", type={"employer": "Firm"})
    add(tmp_path / "again", *rows[2:])
    updated, rebuilt = (KB.open(tmp_path / name) for name in ("kb", "again"))
    assert meaning(updated, {"acme:acme-jo": f"Q{FIRST}"}) == meaning(rebuilt, {"acme:acme-jo": f"Q{FIRST}"})
    assert updated.manifest.generation == 2
    assert undo_addition(tmp_path / "kb") == 1
    assert [record.id for record in read_records(tmp_path / "kb")] == ["acme:acme-jo"]


def test_a_full_disk_leaves_the_old_kb(kb: Path, monkeypatch: pytest.MonkeyPatch):
    before = contents(kb)

    def full(*_: Any) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(Draft, "write", full)
    with pytest.raises(NamesakeError, match="the disk is full"):
        add(kb, JANE)
    assert contents(kb) == before
    KB.open(kb).verify()


def test_killed_while_adding_leaves_the_old_kb(kb: Path):
    before = contents(kb)
    program = (
        "import os, signal, sys\nimport pyarrow as pa\nfrom namesake import add_entities\n"
        "from namesake.kb.own import merge\n"
        "merge._write = lambda *_: os.kill(os.getpid(), signal.SIGKILL)\n"
        "add_entities(sys.argv[1], pa.table({'id': ['a'], 'name': ['Ab Cd']}), 'acme')\n"
    )
    ended = subprocess.run([sys.executable, "-c", program, str(kb)], check=False)
    assert ended.returncode == -signal.SIGKILL
    assert contents(kb) == before
    add(kb, JANE)
    assert KB.open(kb).row("acme:jane-doe") >= 0
    assert [path.name for path in kb.parent.iterdir()] == ["kb"]


def test_an_addition_of_another_process_is_not_lost(kb: Path):
    add(kb, JANE)
    old = read_records(kb)
    add(kb, {"id": "jo", "name": "Jo Zyx"})
    with pytest.raises(NamesakeError, match="another process has changed its own entities; run the command again"):
        publish(kb, old, [])
    assert [record.id for record in read_records(kb)] == ["acme:jane-doe", "acme:jo"]


def test_an_open_kb_is_not_disturbed_by_additions(kb: Path):
    opened = KB.open(kb)
    add(kb, JANE)
    opened.check_unchanged(at_once=True)
    undo_addition(kb)
    opened.check_unchanged(at_once=True)
    assert opened.row("acme:jane-doe") == -1


def test_own_ids_in_nif_and_openrefine(kb: Path):
    add(kb, JANE, kind="person", own_iri="https://acme.example/id/")
    with running(Linker(kb)) as client:
        prefix = "@prefix nif: <http://persistence.uni-leipzig.org/nlp2rdf/ontologies/nif-core#> ."
        turtle = f'{prefix}\n<urn:a> a nif:Context ; nif:isString "{TEXT}" .'
        answer = client.post("/nif", turtle.encode(), "text/turtle")
        assert b"<https://acme.example/id/acme:jane-doe>" in answer.body
        assert client.get("/entity/acme:jane-doe").json["label"] == "Jane Zyxwvut"
        assert "acme:jane-doe" in client.get("/reconcile/suggest/entity?prefix=Jane%20Zy").body.decode()
        extend = json.dumps({"ids": ["acme:jane-doe"], "properties": [{"id": "P31"}]})
        rows = client.post("/reconcile", f"extend={extend}".encode(), "application/x-www-form-urlencoded").json["rows"]
        assert rows["acme:jane-doe"]["P31"][0]["id"] == "Q5"
        assert "wikidata.org" not in client.get("/reconcile").json["view"]["url"]


def until(what: Callable[[], bool]) -> None:
    for _ in range(600):
        if what():
            return
        time.sleep(0.05)
    raise AssertionError("it did not happen within half a minute")


def test_a_server_takes_up_a_new_generation_and_drops_no_request(kb: Path):
    old = KB.open(kb).generation
    statuses, stop = [], Event()
    with running(Linker(kb), watch=True) as client:

        def ask() -> None:
            while not stop.is_set():
                answer = client.post("/link", {"text": TEXT})
                qids = {link["qid"] for link in answer.json["links"]} if answer.status == 200 else set()
                statuses.append((answer.status, answer.headers["namesake-generation"], "acme:jane-doe" in qids))

        threads = [Thread(target=ask) for _ in range(4)]
        for thread in threads:
            thread.start()
        assert client.get("/health").json["generation"] == old
        add(kb, JANE, kind="person")
        new = KB.open(kb).generation
        until(lambda: client.get("/health").json["generation"] == new)
        until(lambda: statuses[-1][1] == new)
        stop.set()
        for thread in threads:
            thread.join()
    assert set(statuses) == {(200, old, False), (200, new, True)}


def test_a_kb_that_cannot_be_opened_is_not_taken_up(kb: Path, tmp_path: Path):
    old = KB.open(kb).generation
    with running(Linker(kb), watch=True) as client:
        kb.rename(tmp_path / "old")
        kb.mkdir()
        (kb / "manifest.json").write_text("{}")
        time.sleep(2.5)
        assert client.get("/health").json["generation"] == old
        assert client.post("/link", {"text": TEXT}).status == 200


def test_a_decision_may_name_an_own_entity_and_holds_after_a_reload(kb: Path, tmp_path: Path):
    add(kb, {"id": "jane-doe", "name": "Jane Doe", "kind": "person", "description": "carpenter"})
    lines = [
        {"decision": "alias", "name": "Jane Doe", "entity": "acme:jane-doe"},
        {"decision": "entity", "name": "Q300", "entity": "acme:jane-doe", "cells": {"Name": "Q300", "About": "tools"}},
    ]
    decided = tmp_path / "decisions.jsonl"
    decided.write_text("".join(json.dumps(one) + "\n" for one in lines))
    linker = Linker(kb, prior=-2, decisions=decided)
    text = "Yesterday Jane Doe spoke."
    assert [link.qid for link in linker.link_text(text)] == ["acme:jane-doe"]
    table = pa.table({"Name": ["Q300", "Q300", "Jane Doe"], "About": ["tools", "none", "tools"]})
    answers = reconcile_frame(table, linker, name="Name", context="About", kind="people")
    assert answers["qid"].to_pylist() == ["acme:jane-doe", "Q300", "acme:jane-doe"]
    add(kb, {"id": "aaron", "name": "Aaron Zyxwvut", "kind": "person", "description": "baker"})
    for other in (linker.reopened(), pickle.loads(pickle.dumps(linker))):
        assert [link.qid for link in other.link_text(text)] == ["acme:jane-doe"]
        assert other.recipe == linker.recipe
    plain, articles = Linker(kb), text_table(text, None, None)
    cases = list(text_cases(plain, plain.link(articles), [articles], 1.01))
    assert "acme:jane-doe" in [option.id for case in cases for option in case.options]


def test_kinds_of_the_oracle_are_those_of_the_program():
    assert {name: f"Q{qid}" for name, qid in KINDS.items()} == {name: named(name).root[0] for name in KINDS}
    assert normalise("Łódź") == "lodz"


def test_lists_kinds_and_encodings_of_rows(kb: Path, tmp_path: Path):
    row = {
        "id": "jo",
        "name": "Jo Zyx",
        "aliases": ["Joey Zyx", "Zyx; Jo"],
        "kind": "person",
        "Firm": ["Google", "Q70"],
    }
    (tmp_path / "own.jsonl").write_text(json.dumps(row))
    done = add_entities(kb, tmp_path / "own.jsonl", "acme", type={"employer": "Firm"}, say=lambda _: None)
    assert [note.partition(": ")[2] for note in done.notes] == ["'Google' is Q95 (Google, technology company)"]
    entity = KB.open(kb).entity("acme:jo")
    assert (entity.kind, entity.aliases) == ("person", ["Joey Zyx", "Zyx; Jo"])
    assert [one.value for one in entity.statements if one.property == "P108"] == ["Q70", "Q95"]
    (tmp_path / "own.csv").write_bytes("id,name,kind\ncafe,Café Zyx,organisation\n".encode("cp1252"))
    with pytest.raises(NamesakeError, match=r"not utf-8 .* `encoding='cp1252'`"):
        add_entities(kb, tmp_path / "own.csv", "acme")
    assert namesake("kb", "add", kb, tmp_path / "own.csv", "--id-prefix", "b", "--encoding", "cp1252").returncode == 0
    assert KB.open(kb).entity("b:cafe").label == "Café Zyx"
    assert KB.open(kb).entity("b:cafe").kind == "organisation"


def test_an_answer_of_special_entity_data(kb: Path, tmp_path: Path):
    record = json.loads(item(1, "Zyx Works", claim("P31", 43229))) | {"id": "works"}
    (tmp_path / "own.json").write_text(json.dumps({"entities": {"works": record}}, indent=1))
    add_entities(kb, tmp_path / "own.json", "acme", say=lambda _: None)
    assert KB.open(kb).entity("acme:works").label == "Zyx Works"


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"aliases": {"en": ["Zyx"]}}, "row 1: not an entity in Wikidata's JSON"),
        ({"descriptions": {"en": 5}}, "row 1: not an entity in Wikidata's JSON"),
        ({"claims": {"P31": ["Q5"]}}, "row 1: not an entity in Wikidata's JSON"),
        ({"claims": {"P31": [{"mainsnak": {"datavalue": "Q5"}}]}}, "row 1: not an entity in Wikidata's JSON"),
        ({"labels": {"de": {"language": "de", "value": "Zyx"}}}, "row 1: the name is empty"),
    ],
)
def test_a_malformed_record_is_one_line(kb: Path, tmp_path: Path, fields: dict[str, Any], message: str):
    before = contents(kb)
    record = {"id": "x", "labels": {"en": {"language": "en", "value": "Zyx"}}} | fields
    (tmp_path / "own.jsonl").write_text(json.dumps(record))
    with pytest.raises(NamesakeError, match=message):
        add_entities(kb, tmp_path / "own.jsonl", "acme")
    assert contents(kb) == before


def test_corrections_for_own_entities_and_those_without_an_effect(kb: Path):
    row = {"id": "jo", "name": "Jo Zyx", "aliases": "Joey Zyx", "never": "Zyx"}
    assert add(kb, row, kind="person").notes == []
    opened = KB.open(kb)
    opened.verify()
    assert [one.qid for one in opened.search("Joey Zyx")] == ["acme:jo"]
    assert opened.names.short_form("Zyx") is None or not len(opened.names.short_form("Zyx").rows)
    notes = add(kb, {"id": "Q300", "never": "Jane Dow"}).notes
    assert notes == ["the frame row 1: 'Jane Dow' is not a name of Q300, so `never` changes nothing"]


def test_the_prefix_of_iris_stays_until_another_one_is_given(kb: Path):
    add(kb, JANE, kind="person", own_iri="https://acme.example/id/")
    add(kb, {"id": "Q300", "aliases": "the Chemist"}, {"id": "jo", "name": "Jo Zyx"})
    assert KB.open(kb).ids.iri("acme:jo") == "https://acme.example/id/acme:jo"


def test_an_unknown_kind_and_a_row_without_a_name_are_one_line(kb: Path):
    with pytest.raises(NamesakeError, match="row 1: no kind 'persn'"):
        add(kb, JANE | {"id": "jo", "kind": "persn"})
    with pytest.raises(NamesakeError, match="it has neither an id nor a name"):
        add_entities(kb, pa.table({"foo": ["bar"]}), "acme")
