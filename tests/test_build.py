"""`kb build` against a slow twin on real records, and against everything a dump can have wrong."""

from __future__ import annotations

import gzip
import json
import subprocess
import sys
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import oracle_build
from namesake.errors import NamesakeError
from namesake.kb.build import build
from namesake.kb.records import describe
from namesake.kb.store import KB
from namesake.sample import DUMP


def claim(prop: str, value: int | str, rank: str = "normal", **qualifiers: str) -> dict[str, Any]:
    if isinstance(value, int):
        datavalue = {
            "value": {"entity-type": "item", "numeric-id": value, "id": f"Q{value}"},
            "type": "wikibase-entityid",
        }
    else:
        datavalue = {"value": value, "type": "string"}
    dates = {
        prop: [
            {
                "snaktype": "value",
                "property": prop,
                "datavalue": {"value": {"time": f"+{day}T00:00:00Z", "precision": 11}, "type": "time"},
            }
        ]
        for prop, day in qualifiers.items()
    }
    made = {
        "mainsnak": {"snaktype": "value", "property": prop, "datavalue": datavalue},
        "type": "statement",
        "rank": rank,
    }
    return made | ({"qualifiers": dates} if dates else {})


def item(number: int, name: str, *claims: dict[str, Any], description: str = "", aliases: tuple[str, ...] = ()) -> str:
    by_property: dict[str, list[dict[str, Any]]] = {}
    for one in claims:
        by_property.setdefault(one["mainsnak"]["property"], []).append(one)
    texts = {"en": {"language": "en", "value": name}} if name else {}
    described = {"en": {"language": "en", "value": description}} if description else {}
    known = {"en": [{"language": "en", "value": alias} for alias in aliases]} if aliases else {}
    entity = {"type": "item", "id": f"Q{number}", "labels": texts, "descriptions": described, "aliases": known}
    return json.dumps(entity | {"claims": by_property, "sitelinks": {}})


HUMAN = claim("P31", 5)


def dump(path: Path, *lines: str) -> Path:
    path.write_text("[\n" + ",\n".join(lines) + "\n]\n")
    return path


def entities(kb: KB) -> Iterator[tuple[str, dict[str, Any]]]:
    for row in range(len(kb)):
        shown = describe(kb, row)
        pairs = kb.statements[row]
        values = [int(kb.pair_value[pair]) for pair in pairs]
        stated = [
            (f"P{kb.pair_property[pair]}", f"Q{kb.item_qids[value]}" if value >= 0 else kb.strings[~value])
            for pair, value in zip(pairs, values, strict=True)
        ]
        yield (
            shown.qid,
            {
                "label": shown.label,
                "description": shown.description,
                "statements": set(stated),
                "counts": dict(zip(stated, kb.pair_count[pairs].tolist(), strict=True)),
                "words": {kb.words[int(word)] for word in kb.words_ds[row]},
                "sitelinks": shown.sitelinks,
                "pagerank": pytest.approx(shown.pagerank_wikidata, rel=1e-5),
            },
        )


def assert_is(kb: KB, expected: dict[str, dict[str, Any]]) -> None:
    found = dict(entities(kb))
    assert list(found) == list(expected)
    for qid, entity in found.items():
        assert entity == expected[qid], qid


@pytest.mark.parametrize("keep", ["people", "all"])
def test_the_sample_is_what_the_twin_says(tmp_path: Path, keep: str) -> None:
    build([DUMP], tmp_path / "kb", keep=keep)
    assert_is(KB.open(tmp_path / "kb"), oracle_build.build(DUMP, keep))


def test_complete_records_are_what_the_twin_says(tmp_path: Path, shared: Path) -> None:
    file = shared / "wikidata" / "full-records.json.bz2"
    manifest = build([file], tmp_path / "kb", keep="all")
    expected = oracle_build.build(file, "all")
    assert manifest.rejected == 0
    assert manifest.entities == len(expected)
    assert_is(KB.open(tmp_path / "kb"), expected)


def test_a_piece_of_the_slice_is_what_the_twin_says(tmp_path: Path, shared: Path) -> None:
    piece = tmp_path / "piece.json"
    with gzip.open(shared / "wikidata" / "slice.json.gz", "rt") as lines:
        kept = islice(lines, 3, None, 97)
        piece.write_text("".join(islice(kept, 1500)))
    build([piece], tmp_path / "kb", keep="people")
    assert_is(KB.open(tmp_path / "kb"), oracle_build.build(piece, "people"))


def test_any_number_of_workers_builds_the_same_files(tmp_path: Path) -> None:
    made = [build([DUMP], tmp_path / f"kb{workers}", keep="people", workers=workers).files for workers in (1, 3)]
    assert made[0] == made[1]
    assert len(made[0]) > 50


def test_word_sets_stand_apart_for_the_ablation(tmp_path: Path) -> None:
    lines = [
        item(9, "Ann Lee", HUMAN, claim("P106", 8), claim("P373", "Running shoes"), description="the famous writers"),
        item(8, "sailor", aliases=("mariners", "seafarer mariner")),
        item(5, "human"),
    ]
    build([dump(tmp_path / "d.json", *lines)], tmp_path / "kb", keep="people")
    kb = KB.open(tmp_path / "kb")

    def words(ids: Any) -> set[str]:
        return {kb.words[int(word)] for word in ids}

    sailor = int(kb.items(np.array([8]))[0])
    assert words(kb.words_d[0]) == {"famou", "writer"}
    assert words(kb.words_item[sailor]) == {"sailor"}
    assert words(kb.words_item_aliases[sailor]) == {"marin", "seafar"}
    assert words(kb.words_string[0]) == {"run", "shoe"}
    assert words(kb.words_ds[0]) == {"famou", "writer", "sailor", "run", "shoe", "human"}
    assert len(kb.words_p[0]) == 0
    assert kb.word_count.tolist() == [1 if kb.words[w] in words(kb.words_ds[0]) else 0 for w in range(len(kb.words))]


@pytest.mark.parametrize(("how", "expected"), [("stem", "studi"), ("none", "studies"), ("lemma", "study")])
def test_words_by_choice(tmp_path: Path, how: str, expected: str) -> None:
    build(
        [dump(tmp_path / "d.json", item(9, "Ann", HUMAN, description="studies"))],
        tmp_path / "kb",
        keep="people",
        words=how,
    )
    kb = KB.open(tmp_path / "kb")
    assert kb.manifest.words_how == how
    assert [kb.words[int(word)] for word in kb.words_d[0]] == [expected]


def test_dated_statements_and_their_order(tmp_path: Path) -> None:
    lines = [
        item(
            9, "Ann", HUMAN, claim("P39", 7, P580="2001-02-03", P582="2005-01-01"), claim("P54", 6, P582="1999-12-31")
        ),
        item(3, "Bob", HUMAN, claim("P39", 7)),
    ]
    build([dump(tmp_path / "d.json", *lines)], tmp_path / "kb", keep="people")
    kb = KB.open(tmp_path / "kb")
    assert kb.qids.tolist() == [3, 9]
    assert kb.tenure_entity.tolist() == [1, 1]
    dated = {s.property: (s.start, s.end) for s in describe(kb, 1).statements if s.property != "P31"}
    assert dated == {"P39": ("2001-02-03", "2005-01-01"), "P54": (None, "1999-12-31")}
    assert kb.pair_count[kb.tenure_pair[0]] == 2


def snak(prop: str, kind: str, value: object, datatype: str = "string") -> dict[str, Any]:
    return {
        "snaktype": "value",
        "property": prop,
        "datatype": datatype,
        "datavalue": {"type": kind, "value": value},
    }


ITEM, TIME, QUANTITY = "wikibase-entityid", "time", "quantity"
FITS = {"P21": ITEM, "P31": ITEM, "P279": ITEM, "P39": ITEM, "P569": TIME, "P570": TIME, "P1082": QUANTITY}
"""The type of the values of every property that a derived column reads."""
texts = st.sampled_from(["Q6581072", "Q5", "male", "", "+1961-08-04T00:00:00Z", "+5000", "\x00", "x" * 300]) | (
    st.integers(0, 10**6).map("text {}".format)
)
WRONG_VALUES = {
    "string": texts,
    ITEM: st.sampled_from([5, 515, 6581072, 2**31]).map(lambda n: {"entity-type": "item", "id": f"Q{n}"}),
    TIME: st.just({"time": "+1961-08-04T00:00:00Z", "precision": 11}),
    QUANTITY: st.sampled_from(["+5000", "-1", "+1e9", "+" + "9" * 400]).map(lambda amount: {"amount": amount}),
    "globecoordinate": st.just({"latitude": 1e308, "longitude": -1e308}),
    "monolingualtext": texts.map(lambda text: {"text": text, "language": "en"}),
    "no-such-type": st.sampled_from([None, 0, -1, 10**400, [], {}]),
}
garbled = st.sampled_from(
    [
        {"snaktype": "somevalue"},
        {"snaktype": "novalue", "datavalue": {"type": "string", "value": "male"}},
        {"snaktype": "value"},
        {"snaktype": "value", "datavalue": {}},
        *(
            {"snaktype": "value", "datavalue": {"type": kind, "value": value}}
            for kind in (ITEM, TIME, QUANTITY, "string")
            for value in (None, -7, 10**400, [], {}, {"entity-type": "item", "numeric-id": -5}, {"id": "Q0"})
        ),
    ]
)


@st.composite
def wrong_claims(draw: st.DrawFn) -> list[dict[str, Any]]:
    """Claims whose values do not fit their properties, with qualifiers that do not fit either."""
    found = []
    for prop in draw(st.lists(st.sampled_from(["P21", *sorted(FITS)]), max_size=8)):
        kind = draw(st.sampled_from([kind for kind in WRONG_VALUES if kind != FITS[prop]]))
        values = draw(st.lists(WRONG_VALUES[kind], max_size=6))
        snaks = [snak(prop, kind, value) for value in values] or [draw(garbled) | {"property": prop}]
        days = [draw(garbled) if draw(st.booleans()) else snak("P580", "string", draw(texts))]
        about = {"type": "statement", "rank": "preferred", "qualifiers": {"P580": days}}
        found += [{"mainsnak": one} | about for one in snaks]
    return found


def derived_columns(kb: KB) -> dict[str, Any]:
    """What the columns that read properties say of each entity and item, by QID."""
    people = {
        int(kb.qids[row]): (
            bool(kb.person[row]),
            (int(kb.birth[row]), int(kb.birth_precision[row])),
            (int(kb.death[row]), int(kb.death_precision[row])),
            [t for t in range(len(kb.tenure_entity)) if kb.tenure_entity[t] == row],
        )
        for row in range(len(kb))
    }
    fame = dict(zip(kb.names.thing_hashes.tolist(), kb.names.thing_fame.tolist(), strict=True))
    return {"people": people, "fame": fame}


@settings(max_examples=25)
@given(st.lists(wrong_claims(), min_size=8, max_size=8), st.sampled_from(["people", "all"]))
def test_values_of_a_wrong_type_change_no_derived_column(tmp_path_factory, wrong, keep) -> None:
    """The same dump with and without values that do not fit their properties."""
    folder = tmp_path_factory.mktemp("wrong")
    life = {"mainsnak": snak("P569", TIME, {"time": "+1912-06-23T00:00:00Z", "precision": 11}), "rank": "normal"}
    people = [("Ann", [HUMAN, claim("P21", 6581072), life]), ("Bob", [HUMAN, claim("P39", 7, P580="2001-02-03")])]
    inhabited = {"mainsnak": snak("P1082", QUANTITY, {"amount": "+5000"}), "rank": "normal"}
    things = [("Paris", [claim("P31", 515)]), ("Lyon", [inhabited]), ("city", [claim("P279", 56061)]), ("idea", [])]
    subjects = [*people, *people, *things]
    named = [item(n, f"{named} {n}", *own) for n, (named, own) in enumerate(subjects, 1000)]
    odd = [item(n, f"{subjects[n - 1000][0]} {n}", *wrong[n - 1000], *subjects[n - 1000][1]) for n in range(1000, 1008)]
    known = [item(n, f"item {n}") for n in (5, 7, 515, 6581072)]
    for name, lines in (("plain", named), ("odd", odd)):
        build([dump(folder / f"{name}.json", *lines, *known)], folder / name, keep=keep, workers=1)
    odd_kb, plain_kb = KB.open(folder / "odd"), KB.open(folder / "plain")
    assert odd_kb.manifest.rejected == 0
    odd_kb.verify()
    assert derived_columns(odd_kb) == derived_columns(plain_kb)


def test_an_office_held_twice_is_one_statement_and_two_tenures(tmp_path: Path) -> None:
    first, second = claim("P39", 7, P580="1893-03-04", P582="1897-03-04"), claim("P39", 7, P580="1885-03-04")
    lines = [item(9, "Ann", HUMAN, claim("P39", 7), first, second, first, claim("P39", 7)), item(7, "president")]
    manifest = build([dump(tmp_path / "d.json", *lines)], tmp_path / "kb", keep="people")
    kb = KB.open(tmp_path / "kb")
    assert manifest.statements == len(kb.statements[0]) == 2
    assert kb.pair_count.tolist() == [1, 1]
    periods = [(s.value, s.start, s.end) for s in describe(kb, 0).statements if s.property == "P39"]
    assert periods == [("Q7", "1885-03-04", None), ("Q7", "1893-03-04", "1897-03-04")]


def test_of_a_qid_twice_in_a_dump_the_last_counts(tmp_path: Path) -> None:
    first = dump(tmp_path / "a.json", item(2, "Bob", HUMAN), item(5, "human"))
    second = dump(tmp_path / "b.json", item(9, "Impostor", HUMAN, claim("P1", 77)), item(9, "Ann", HUMAN))
    manifest = build([first, second], tmp_path / "kb", keep="people")
    kb = KB.open(tmp_path / "kb")
    assert [kb.label(row) for row in range(len(kb))] == ["Bob", "Ann"]
    assert (manifest.rejected, manifest.superseded) == (0, 1)
    stated = {s.property for row in range(2) for s in describe(kb, row).statements}
    assert stated == {"P31"}, "the first record counts for nothing"


def test_bad_lines_are_set_aside_with_their_number(tmp_path: Path) -> None:
    nameless = json.dumps({"type": "item", "id": "Q4", "claims": {"P31": [HUMAN]}})
    lines = [item(9, "Ann", HUMAN), "{no json", nameless, '{"type":"item","id":"Q12']
    manifest = build([dump(tmp_path / "d.json", *lines)], tmp_path / "kb", keep="people")
    kb = KB.open(tmp_path / "kb")
    assert kb.qids.tolist() == [4, 9]
    assert kb.label(0) == ""
    assert manifest.rejected == 2
    rejects = [json.loads(line) for line in (tmp_path / "kb" / "rejects.jsonl").read_text().splitlines()]
    assert [reject["line"] for reject in rejects] == [3, 5]


def test_many_qids_are_found_as_few_are(tmp_path: Path) -> None:
    build([DUMP], tmp_path / "kb", keep="people")
    kb = KB.open(tmp_path / "kb")
    asked = np.concatenate([kb.qids, kb.qids + 1, [0, -5, 2**40], np.arange(1, 2000)]).astype(np.int64)
    row_of = {int(qid): row for row, qid in enumerate(kb.qids)}
    assert kb.rows(asked).tolist() == [row_of.get(int(qid), -1) for qid in asked]
    assert kb.rows(asked[:7]).tolist() == kb.rows(asked)[:7].tolist()


def test_ready_made_ranks(tmp_path: Path) -> None:
    ranks = tmp_path / "ranks.tsv"
    ranks.write_text("Q9\t4.5\nQ77\t1\n")
    made = build(
        [dump(tmp_path / "d.json", item(9, "Ann", HUMAN), item(3, "Bob", HUMAN))],
        tmp_path / "kb",
        ranks={"wikidata": ranks, "wikipedia": ranks},
    )
    kb = KB.open(tmp_path / "kb")
    assert kb.pagerank_wikidata.tolist() == kb.pagerank_wikipedia.tolist() == [0, 4.5]
    assert made.ranks == [f"wikidata: {ranks}", f"wikipedia: {ranks}"]


def test_a_dump_without_people_is_an_empty_kb(tmp_path: Path) -> None:
    manifest = build([dump(tmp_path / "d.json", item(9, "a mountain"))], tmp_path / "kb", keep="people")
    kb = KB.open(tmp_path / "kb")
    kb.verify()
    assert (manifest.entities, manifest.items, len(kb.words_ds), len(kb.names)) == (0, 1, 0, 0)
    assert len(kb.names.lookup("Ann")[0]) == 0


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "empty"),
        (gzip.compress(b"[\n" + item(9, "Ann", HUMAN).encode() * 500)[:-20], "cannot be read to its end"),
        (gzip.compress(b"[\n]\n", mtime=0), "no entity"),
    ],
)
def test_a_dump_that_cannot_be_read_leaves_nothing(tmp_path: Path, content: bytes, message: str) -> None:
    (tmp_path / "d.json.gz").write_bytes(content)
    with pytest.raises(NamesakeError, match=rf"d\.json\.gz.*{message}"):
        build([tmp_path / "d.json.gz"], tmp_path / "kb", keep="people")
    assert [path.name for path in tmp_path.iterdir()] == ["d.json.gz"]


def test_what_cannot_work_is_refused_at_once(tmp_path: Path) -> None:
    good = dump(tmp_path / "d.json", item(9, "Ann", HUMAN))
    with pytest.raises(NamesakeError, match=r"absent\.json: no such file"):
        build([tmp_path / "absent.json"], tmp_path / "kb", keep="people")
    with pytest.raises(NamesakeError, match="is a folder"):
        build([tmp_path], tmp_path / "kb", keep="people")
    with pytest.raises(NamesakeError, match=r"d\.json:1: .* is not a QID, a tab and a rank"):
        build([tmp_path / "absent.json"], tmp_path / "kb", keep="people", ranks={"wikidata": good})
    with pytest.raises(NamesakeError, match="no such file"):
        build([good], tmp_path / "kb", keep="people", wikipedia=tmp_path / "absent")
    with pytest.raises(NamesakeError, match=r"no kind 'cats'.*kinds are"):
        build([good], tmp_path / "kb", keep="cats")
    with pytest.raises(NamesakeError, match="no dump given"):
        build([], tmp_path / "kb", keep="people")
    with pytest.raises(NamesakeError, match="stem, lemma or none"):
        build([good], tmp_path / "kb", keep="people", words="chopped")
    assert not (tmp_path / "kb").exists()


def test_the_synthetic_dump_has_namesakes_and_builds(tmp_path: Path) -> None:
    made = tmp_path / "people.json.gz"
    command = [sys.executable, "-m", "benchmarks.synthetic", "--people", "3000", "--out", str(made)]
    subprocess.run(command, check=True, cwd=Path(__file__).parents[1])
    manifest = build([made], tmp_path / "kb", keep="people")
    assert (manifest.people, manifest.rejected, manifest.statements) == (3000, 0, 18_000)
    kb = KB.open(tmp_path / "kb")
    labels = [kb.label(row) for row in range(len(kb))]
    commonest = max(set(labels), key=labels.count)
    assert 1 < labels.count(commonest) <= len(kb.names.lookup(commonest)[0])
    assert len(kb.tenure_entity) == 3000
