"""The sample is what it claims to be: an official-looking dump, true facts, and articles marked without slips."""

import csv
import gzip
import json
import os
import re
import subprocess
import sys
from collections import defaultdict
from datetime import date, datetime
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from namesake.kb.store import KB
from namesake.sample import ARTICLES, DUMP, EXPECTED, WIKIPEDIA

Entity = dict[str, Any]

# People of the paper whom the slice lacks. Their names and sitelinks are checked against the paper's data; the
# statements below are what the paper's text says of them (and that they are people).
HUMAN = ("P31", "Q5")
PAPER_ONLY: dict[str, set[tuple[str, str]]] = {
    "Q2434362": {HUMAN},  # "Vice-Chancellor of the University of Chester" is his description
    "Q3991382": {HUMAN},  # two more candidates for Tim Wheeler
    "Q7804477": {HUMAN},
    "Q7491485": {HUMAN, ("P106", "Q17682262")},  # "lacrosse player"
    "Q58372240": {HUMAN},  # the third candidate for Shawn Williams
    "Q6253345": {HUMAN},  # "co-founder of Enough", which Wikidata does not say
    # "a late British Army officer who served in World War II"
    "Q6253343": {HUMAN, ("P106", "Q189290"), ("P241", "Q222595"), ("P607", "Q362")},
    "Q8002946": {HUMAN, ("P106", "Q11303721")},  # "professional golfer"
}
# Statements the slice lacks about people it holds: the paper says that the actor "was born in Providence". (It also
# says that sportsmen named Chris Carter "played for a New York team": their descriptions do.)
PAPER_ADDS = {("Q4019878", "P19", "Q18383")}
BY_YEAR, BY_MONTH, BY_DAY = 9, 10, 11


def statements(entity: Entity) -> set[tuple[str, str]]:
    """(property, value) pairs; a date is cut to its precision, and year-only dates stand as years."""
    return {(p, value_of(claim)) for p, claims in entity["claims"].items() for claim in claims}


def value_of(claim: Entity) -> str:
    value = claim["mainsnak"]["datavalue"]["value"]
    if isinstance(value, str):
        return value
    if "id" in value:
        return str(value["id"])
    return str(value["time"])[: {BY_YEAR: 5, BY_MONTH: 8, BY_DAY: 11}[value["precision"]]]


def is_person(entity: Entity) -> bool:
    return HUMAN in statements(entity)


def names_of(entity: Entity) -> set[str]:
    forms = [*entity["labels"].values(), *(a for group in entity["aliases"].values() for a in group)]
    return {form["value"].casefold() for form in forms}


def read_jsonl(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text("utf-8").splitlines()]


ENTITIES: list[Entity] = json.loads(DUMP.read_text("utf-8"))
BY_ID = {e["id"]: e for e in ENTITIES}
PEOPLE = [e for e in ENTITIES if is_person(e)]
NEWS = read_jsonl(ARTICLES)
TRUTH = read_jsonl(EXPECTED)
NAMESAKES: dict[str, set[str]] = defaultdict(set)
for person in PEOPLE:
    for form in names_of(person):
        NAMESAKES[form].add(person["id"])


@pytest.fixture(scope="module")
def in_slice(shared: Path) -> dict[str, Entity]:
    """The slice's own records of the sample's entities."""
    ident = re.compile(rb'"id":"([PQ]\d+)"')
    found = {}
    with gzip.open(shared / "wikidata" / "slice.json.gz", "rb") as lines:
        for line in lines:
            match = ident.search(line, 0, 120)
            if match and match[1].decode() in BY_ID:
                found[match[1].decode()] = json.loads(line.strip().rstrip(b","))
    return found


@pytest.fixture(scope="module")
def sitelink_counts(shared: Path) -> dict[str, int]:
    """The real sitelink counts of the paper's candidates."""
    with (shared / "quotebank" / "popularity.tsv").open() as rows:
        return {row["qid"]: int(row["sitelinks"]) for row in csv.DictReader(rows, delimiter="\t")}


# --- the dump's layout


def test_dump_is_one_entity_a_line_as_wikidata_publishes_it():
    first, *body, last = DUMP.read_text("utf-8").splitlines()
    assert (first, last) == ("[", "]")
    assert all(line.endswith("},") for line in body[:-1])
    assert body[-1].endswith("}")
    assert [json.loads(line.rstrip(",")) for line in body] == ENTITIES
    assert len(BY_ID) == len(ENTITIES)
    assert DUMP.stat().st_size < 500_000


def test_every_record_has_the_official_fields():
    for entity in ENTITIES:
        assert entity["type"] == ("property" if entity["id"][0] == "P" else "item")
        assert {"labels", "descriptions", "aliases", "claims"} <= entity.keys()
        for language, form in [*entity["labels"].items(), *entity["descriptions"].items()]:
            assert form["language"] == language
            assert form["value"]
        for prop, claims in entity["claims"].items():
            for claim in claims:
                snak = claim["mainsnak"]
                assert (claim["type"], claim["rank"], snak["snaktype"]) == ("statement", "normal", "value")
                assert snak["property"] == prop
                assert snak["datatype"] == BY_ID[prop]["datatype"]
                value = snak["datavalue"]["value"]
                if snak["datavalue"]["type"] == "wikibase-entityid":
                    assert value["id"] == f"Q{value['numeric-id']}"


def test_everything_a_statement_names_is_in_the_dump_with_a_label():
    for entity in ENTITIES:
        for prop, value in statements(entity):
            assert BY_ID[prop]["labels"]["en"]["value"]
            if re.fullmatch(r"Q\d+", value):
                assert BY_ID[value]["labels"]["en"]["value"]


def test_about_a_hundred_people_and_most_share_a_name():
    shared_names = set().union(*(ids for ids in NAMESAKES.values() if len(ids) > 1))
    assert 90 <= len(PEOPLE) <= 120
    assert len(shared_names) > 0.75 * len(PEOPLE)
    for name in ("tim wheeler", "shawn williams", "john prendergast", "will mackenzie", "chris carter"):
        assert len(NAMESAKES[name]) > 1


# --- its facts


def test_all_but_the_papers_own_people_are_in_the_slice(in_slice: dict[str, Entity]):
    assert BY_ID.keys() - in_slice.keys() == PAPER_ONLY.keys()


def test_labels_and_aliases_are_true(in_slice: dict[str, Entity]):
    for qid, source in in_slice.items():
        ours = BY_ID[qid]
        assert {form["value"] for form in ours["labels"].values()} == {source["labels"]["en"]["value"]}
        assert names_of(ours) <= names_of(source)
        assert ours.get("datatype") == source.get("datatype")


def test_statements_are_true(in_slice: dict[str, Entity]):
    for qid, source in in_slice.items():
        known = statements(source)
        years = {(p, v[:5]) for p, v in known if p in ("P569", "P570")}
        added = {(p, v) for q, p, v in PAPER_ADDS if q == qid}
        assert statements(BY_ID[qid]) <= known | years | added, qid


def test_the_papers_people_carry_only_what_the_paper_says(shared: Path):
    with gzip.open(shared / "quotebank" / "articles.jsonl.gz", "rt", encoding="utf-8") as lines:
        called = {qid: name["name"] for line in lines for name in json.loads(line)["names"] for qid in name["ids"]}
    for qid, facts in PAPER_ONLY.items():
        assert statements(BY_ID[qid]) == facts
        assert names_of(BY_ID[qid]) == {called[qid]}


def test_sitelink_counts_are_real(in_slice: dict[str, Entity], sitelink_counts: dict[str, int]):
    for person in PEOPLE:
        qid = person["id"]
        known = in_slice.get(qid, {}).get("sitelinks", {})
        assert len(person["sitelinks"]) == (len(known) or sitelink_counts.get(qid, 0)), qid
        assert person["sitelinks"].get("enwiki") == known.get("enwiki")
        assert all(link["site"] == site for site, link in person["sitelinks"].items())


def test_descriptions_are_our_own_words_and_their_years_are_true(in_slice: dict[str, Entity]):
    for person in PEOPLE:
        text = person["descriptions"].get("en", {}).get("value", "")
        theirs = in_slice.get(person["id"], {}).get("descriptions", {}).get("en", {}).get("value")
        assert text != theirs
        facts = statements(person)
        if born := re.search(r"born (?:in )?(\d{4})", text):
            assert any(p == "P569" and v[1:5] == born[1] for p, v in facts), person["id"]
        if lived := re.search(r"\((\d{4})–(\d{4})\)", text):
            assert {("P569", lived[1]), ("P570", lived[2])} <= {(p, v[1:5]) for p, v in facts}, person["id"]


# --- first paragraphs


def test_paragraphs_are_about_people_of_the_dump_and_their_years_are_true():
    lines = read_jsonl(WIKIPEDIA)
    assert [line.keys() == {"index"} for line in lines] == [True, False] * (len(lines) // 2)
    pages = lines[1::2]
    assert len({page["wikibase_item"] for page in pages}) == len(pages) >= 25
    for page in pages:
        person = BY_ID[page["wikibase_item"]]
        assert is_person(person)
        assert page["title"] == person["sitelinks"]["enwiki"]["title"]
        dates = {(p, v[1:]) for p, v in statements(person) if p in ("P569", "P570")}
        years = {(p, v[:4]) for p, v in dates}
        text = page["opening_text"]
        if lived := re.search(r"\((\d{4})–(\d{4})\)", text):
            assert {("P569", lived[1]), ("P570", lived[2])} <= years, page["title"]
        if born := re.search(r"\(born (?:(\w+ \d+), )?(\d{4})\)", text):
            assert ("P569", born[2]) in years, page["title"]
            if born[1]:
                day = datetime.strptime(f"{born[1]} {born[2]}", "%B %d %Y").date()
                assert ("P569", day.isoformat()) in dates, page["title"]


def test_two_first_runs_at_once_both_work(tmp_path):
    environment = os.environ | {"XDG_CACHE_HOME": str(tmp_path / "cache")}
    command = [sys.executable, "-c", "from namesake.apps.sample_kb import sample_kb; print(sample_kb())"]
    runs = [subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE) for _ in "12"]
    first, second = (run.communicate(timeout=300) for run in runs)
    assert [run.returncode for run in runs] == [0, 0], (first, second)
    assert first[0] == second[0]
    KB.open(first[0].decode().strip()).verify()


def test_paragraphs_link_nowhere_so_the_sample_has_no_ranks(sample_kb):
    assert "wikipedia: none" in sample_kb.manifest.ranks
    assert not sample_kb.pagerank_wikipedia.any()


# --- the articles


def test_articles_are_ten_to_fifteen_and_short():
    assert 10 <= len(NEWS) <= 15
    assert len({article["id"] for article in NEWS}) == len(NEWS)
    for article in NEWS:
        assert 80 <= len(article["text"].split()) <= 200
        assert date.fromisoformat(article["date"])
        assert article["title"]


def test_spans_cover_the_name_or_a_part_of_it():
    for article in NEWS:
        text = article["text"]
        for mention in article["mentions"]:
            surfaces = [text[start:end] for start, end in mention["spans"]]
            assert surfaces[0] == mention["name"]
            assert all(mention["name"] == s or s in mention["name"].split() for s in surfaces), surfaces
        spans = sorted(tuple(span) for mention in article["mentions"] for span in mention["spans"])
        assert all(before[1] <= after[0] for before, after in pairwise(spans))


def test_no_occurrence_of_a_marked_name_is_left_out():
    for article in NEWS:
        spans = [span for mention in article["mentions"] for span in mention["spans"]]
        for surname in {mention["name"].split()[-1] for mention in article["mentions"]}:
            for match in re.finditer(rf"\b{surname}\b", article["text"]):
                assert any(start <= match.start() < end for start, end in spans), (article["id"], match)


def test_truth_covers_every_mention_in_order():
    asked = [(article["id"], mention["name"]) for article in NEWS for mention in article["mentions"]]
    assert [(row["id"], row["name"]) for row in TRUTH] == asked
    for row in TRUTH:
        assert row["qid"] is None or row["qid"] in NAMESAKES[row["name"].casefold()]


def test_somebody_is_nobody_we_know():
    nil = [row["name"].casefold() for row in TRUTH if row["qid"] is None]
    assert any(len(NAMESAKES[name]) > 1 for name in nil)
    assert any(name not in NAMESAKES for name in nil)


def test_one_case_is_decided_by_dates_alone():
    article = next(a for a in NEWS if a["id"] == "one-day-opener")
    row = next(r for r in TRUTH if (r["id"], r["name"]) == ("one-day-opener", "Steve Smith"))
    known = {qid: statements(BY_ID[qid]) for qid in NAMESAKES["steve smith"]}
    timeless = {qid: {s for s in facts if s[0] != "P569"} for qid, facts in known.items()}
    rivals = [qid for qid in known if qid != row["qid"] and timeless[qid] == timeless[row["qid"]]]
    born = {qid: next(v[1:] for p, v in facts if p == "P569") for qid, facts in known.items()}
    assert rivals
    assert born[row["qid"]] < article["date"] < min(born[qid] for qid in rivals)
