"""The signals beyond the paper, each against plain Python over the dump."""

import math
from datetime import date

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from namesake.articles.article import Article, Mention
from namesake.articles.builder import ArticleBuilder
from namesake.articles.days import UNDATED, day_number
from namesake.batch import Batch, days_of
from namesake.kb.build import build
from namesake.kb.store import KB
from namesake.linker import Linker
from namesake.recipe import Decide, Part, Recipe
from namesake.scorers import SCORERS
from namesake.settings import Settings
from namesake.text import sentences
from oracle import Oracle, sentence_words, words


def batch_of(kb: KB, table: pa.Table) -> Batch:
    return Batch(table, kb, kb.lexicon(), Settings())


def by_candidate(kb: KB, table: pa.Table, name: str):
    """Every candidate of every mention with its score: (article, mention, qid, score)."""
    batch = batch_of(kb, table)
    scores = SCORERS[name](batch)
    records = table.to_pylist()
    for m in range(len(batch.names)):
        article = records[batch.article[m]]
        mention = article["mentions"][m - batch.articles[batch.article[m]]]
        for k in range(batch.offsets[m], batch.offsets[m + 1]):
            yield article, mention, f"Q{batch.qids[k]}", scores[k]


@pytest.fixture(scope="module")
def people(oracle: Oracle) -> list[str]:
    return [qid for qid, entity in oracle.entities.items() if entity.person]


def rarity(count: int, total: int) -> float:
    return math.log(total / count) / math.log(total)


def test_words_weigh_by_their_rarity(sample_kb, oracle, articles, people):
    bags = {qid: oracle.entity_words(qid) for qid in people}
    count = {word: sum(word in bag for bag in bags.values()) for word in set().union(*bags.values())}
    positive = 0
    for article, mention, qid, score in by_candidate(sample_kb, articles, "IScore_IDF"):
        text = article["text"]
        held = [sentence_words(text[a:b]) for a, b in sentences(text)]
        shared = (set().union(*held) & bags[qid]) - words(mention["name"])
        assert score == pytest.approx(sum(rarity(count[w], len(people)) for w in shared))
        positive += score > 0
    assert positive > 10


# dates
@pytest.mark.parametrize(
    ("text", "day"),
    [
        ("2016-12-26", date(2016, 12, 26)),
        ("2016-12-26 08:15:00", date(2016, 12, 26)),
        ("2016-12-26T08:15:00Z", date(2016, 12, 26)),
        ("2016-12", date(2016, 12, 31)),
        ("2016-2", date(2016, 2, 29)),
        ("2016", date(2016, 12, 31)),
        ("2999-01-01", date(2999, 1, 1)),
        ("2016-12-26 (updated)", date(2016, 12, 26)),
        ("26.12.2016", date(2016, 12, 26)),
        ("03.03.1850", date(1850, 3, 3)),
        ("March 1850", date(1850, 3, 31)),
        ("17 February 1963", date(1963, 2, 17)),
        ("Feb. 17, 1963", date(1963, 2, 17)),
        ("03/04/1963", date(1963, 12, 31)),
    ],
)
def test_dates_are_read_as_precisely_as_they_are_written(text, day):
    assert day_number(text) == (day - date(1970, 1, 1)).days


@pytest.mark.parametrize(
    "text",
    [
        *(None, "", "yesterday", "hello", "True", "false", "2016-13-01", "2016-02-31", "31.02.2016", "20161226"),
        *("0000-00-00", "1482710400000", "1482710400", "1914-1918", "30 February 2016"),
    ],
)
def test_what_is_no_date_is_no_date(text):
    assert day_number(text) == UNDATED


@given(st.dates(date(1000, 1, 1), date(3000, 1, 1)))
def test_any_day_is_read(day):
    assert day_number(day.isoformat()) == (day - date(1970, 1, 1)).days


DATES = st.dates().map(str) | st.from_regex(r"\s?[0-2]\d{3}-[01]\d-[0-3]\d\S?", fullmatch=True) | st.text(max_size=11)


@given(st.lists(DATES))
def test_dates_of_many_articles_are_read_as_each_alone(texts):
    days = days_of(pa.array([*texts, None], pa.string()))
    assert days.tolist() == [*map(day_number, texts), UNDATED]


@given(st.lists(st.dates()))
def test_times_of_day_do_not_matter(days):
    for written in ("{}", "{}T08:15:00Z"):
        read = days_of(pa.array([written.format(day) for day in days], pa.string()))
        assert read.tolist() == [(day - date(1970, 1, 1)).days for day in days]


def person(qid: int, **claims) -> str:
    """A line of a dump: somebody called Ann Lee, with dates and dated offices."""

    def snak(prop, value, kind, datatype):
        return {
            "snaktype": "value",
            "property": prop,
            "datavalue": {"value": value, "type": kind},
            "datatype": datatype,
        }

    def item(prop, number, qualifiers=None):
        value = {"entity-type": "item", "numeric-id": number, "id": f"Q{number}"}
        claim = {
            "mainsnak": snak(prop, value, "wikibase-entityid", "wikibase-item"),
            "type": "statement",
            "rank": "normal",
        }
        if qualifiers:
            claim["qualifiers"] = {p: [time(p, t)] for p, t in qualifiers.items()}
        return claim

    def time(prop, text):
        day, precision = text
        value = {"time": f"+{day}T00:00:00Z", "timezone": 0, "before": 0, "after": 0, "precision": precision}
        value["calendarmodel"] = "http://www.wikidata.org/entity/Q1985727"
        return snak(prop, value, "time", "time")

    import json

    statements = {"P31": [item("P31", 5)]}
    for prop, text in claims.get("dates", {}).items():
        statements[prop] = [{"mainsnak": time(prop, text), "type": "statement", "rank": "normal"}]
    if "office" in claims:
        statements["P39"] = [item("P39", 30461, claims["office"])]
    label = {"en": {"language": "en", "value": "Ann Lee"}}
    record = {"type": "item", "id": f"Q{qid}", "labels": label, "descriptions": {}, "aliases": {}}
    return json.dumps(record | {"claims": statements, "sitelinks": {}})


@pytest.fixture(scope="module")
def dated_kb(tmp_path_factory) -> KB:
    """People who differ in their dates alone; the QIDs are numbers of a made-up dump, not of Wikidata."""
    lines = [
        person(101, dates={"P569": ("1990-05-05", 11)}),
        person(102, dates={"P569": ("1990-00-00", 9)}),
        person(103, dates={"P570": ("1950-01-01", 11)}),
        person(104, dates={"P570": ("1990-00-00", 9)}),
        person(105, office={"P580": ("1985-01-01", 11), "P582": ("1995-01-01", 11)}),
        person(106, office={"P580": ("1985-01-01", 11)}),
        person(107),
    ]
    folder = tmp_path_factory.mktemp("dated")
    (folder / "dump.json").write_text("[\n" + ",\n".join(lines) + "\n]\n")
    build([folder / "dump.json"], folder / "kb", keep="people")
    return KB.open(folder / "kb")


def dated(kb: KB, name: str, when: str | None) -> dict[int, float]:
    builder = ArticleBuilder()
    builder.add(Article("a", "Ann Lee spoke.", date=when, mentions=[Mention("Ann Lee", [(0, 7)])]))
    return {int(qid[1:]): score for _, _, qid, score in by_candidate(kb, builder.table(), name)}


def test_nobody_is_in_the_news_before_birth(dated_kb):
    assert dated(dated_kb, "NotYetBorn", "1989-12-31") == {101: -1, 102: -1, 103: 0, 104: 0, 105: 0, 106: 0, 107: 0}
    assert dated(dated_kb, "NotYetBorn", "1990-02-01")[102] == 0  # may have been born in January
    assert dated(dated_kb, "NotYetBorn", "1990-02-01")[101] == -1
    assert set(dated(dated_kb, "NotYetBorn", None).values()) == {0}
    assert set(dated(dated_kb, "NotYetBorn", "no date").values()) == {0}


@pytest.fixture(scope="module")
def presidents(tmp_path_factory) -> KB:
    """A father and his son who held one office in different years, and a namesake without any."""
    years = {201: ("1989-01-20", "1993-01-20", 1924), 202: ("2001-01-20", "2009-01-20", 1946)}
    lines = []
    for qid, (since, until, born) in years.items():
        office = {"P580": (since, 11), "P582": (until, 11)}
        lines.append(
            person(qid, dates={"P569": (f"{born}-06-01", 11)}, office=office).replace("Ann Lee", f"G{qid} Bush")
        )
    lines.append(person(203).replace("Ann Lee", "Kate Bush"))
    folder = tmp_path_factory.mktemp("presidents")
    (folder / "dump.json").write_text("[\n" + ",\n".join(lines) + "\n]\n")
    build([folder / "dump.json"], folder / "kb", keep="people")
    return KB.open(folder / "kb")


@pytest.mark.parametrize(
    ("text", "when", "wanted"),
    [
        ("Then President Bush spoke.", "2003-03-20", {201: 0, 202: 1, 203: 0}),
        ("Then President Bush spoke.", "1990-08-05", {201: 1, 202: 0, 203: 0}),
        ("Then President Bush spoke.", "1997-08-05", {201: 0, 202: 0, 203: 0}),
        ("Then President Bush spoke.", None, {201: 0, 202: 0, 203: 0}),
        ("Then Bush spoke.", "2003-03-20", {201: 0, 202: 0, 203: 0}),
    ],
)
def test_an_office_is_its_holder_s_that_day(presidents, text, when, wanted):
    builder = ArticleBuilder()
    builder.add(Article("a", text, date=when))
    articles = builder.table()
    [link] = Linker(presidents).link(articles, scores=True).to_pylist()
    assert {int(c["qid"][1:]): c["parts"]["OfficeHeld"] for c in link["candidates"]} == wanted
    rows = [row for row in Linker(presidents).explain(articles).to_pylist() if row["part"] == "OfficeHeld"]
    told = {int(row["qid"][1:]): [match["sources"][0]["property"] for match in row["matches"]] for row in rows}
    assert told == {qid: ["P39"] if score else [] for qid, score in wanted.items()}
    if 1 in wanted.values():
        assert wanted[int(link["best"][1:])] == 1


# names
def test_match_quality_tells_a_label_from_an_alias(sample_kb, oracle, articles):
    qualities = set()
    for _, mention, qid, quality in by_candidate(sample_kb, articles, "NameMatchQuality"):
        score = math.exp(quality)
        entity = oracle.entities[qid]
        name = mention["name"].casefold()
        if name == entity.label.casefold():
            assert score == 1
        elif name in [alias.casefold() for alias in entity.aliases]:
            assert 0 < score < 1
        qualities.add(score)
    assert 1.0 in qualities


# the second pass
def test_a_sure_link_becomes_an_anchor(sample_kb, articles):
    """With `confirm`, statements are shared also with what the first pass is sure of, never fewer than without."""

    def scores(confirm: float) -> np.ndarray:
        parts = (Part("IScore"), Part("NIScore"), Part("EEIScore"))
        linker = Linker(sample_kb, Recipe("r", parts, decide=Decide(3.0, confirm=confirm)))
        links = linker.link(articles, scores=True).to_pylist()
        return np.array([c["parts"]["EEIScore"] for link in links for c in link["candidates"]])

    once, twice = scores(1.0), scores(0.6)
    assert (twice >= once).all()
    assert (twice > once).any()
