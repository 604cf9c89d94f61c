"""Explanations: they add up, agree with the links and the oracle, and every source really has the word."""

import io
import json
import math
import re
import sys
from collections.abc import Callable

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from namesake.articles.article import Article, Mention
from namesake.articles.builder import ArticleBuilder, text_table
from namesake.articles.rejects import Rejects
from namesake.batch import Batch
from namesake.evaluation.gold import score_table
from namesake.formats import read_articles
from namesake.kernels.kinds import KINDS
from namesake.linker import Linker
from namesake.recipe import Decide, DoubtPart, Part, Recipe
from namesake.sample import ARTICLES, DUMP
from namesake.scorers.evidence_shown import MOST_LISTED
from namesake.text import sentences
from oracle import sentence_words, words

UI = ("IScore", "NIScore", "EEIScore")


def recipe(*scorers: str, **options) -> Recipe:
    return Recipe("test", tuple(Part(name) for name in scorers), tie_break=("NS", "LQID"), **options)


@pytest.fixture(scope="module")
def property_labels() -> dict[str, str]:
    records = (json.loads(line.rstrip().rstrip(",")) for line in DUMP.read_text().splitlines() if len(line) > 2)
    return {r["id"]: r["labels"]["en"]["value"] for r in records if r["type"] == "property" and "en" in r["labels"]}


@pytest.fixture(scope="module")
def articles() -> pa.Table:
    return pa.concat_tables(read_articles(ARTICLES, Rejects()))


@pytest.fixture(scope="module")
def texts(articles) -> dict[str, str]:
    return dict(zip(articles.column("id").to_pylist(), articles.column("text").to_pylist(), strict=True))


def explained(linker: Linker, table: pa.Table, role: str = "part") -> list[dict]:
    return [row for row in linker.explain(table).to_pylist() if row["role"] == role]


SCALED = Recipe(
    "scaled",
    (Part("IScore", 0.5, "log1p"), Part("NIScore", 2.0, "share"), Part("EEIScore", 0.25, "sqrt"), Part("NS", 1, "top")),
    decide=Decide(nil=1.0, threshold=0.6),
)


@pytest.mark.parametrize(
    "one",
    [recipe(*UI), recipe(*UI, anchors="first", context="both"), SCALED, Recipe.load("default")],
    ids=["plain", "both", "scaled", "default"],
)
def test_contributions_add_up_to_the_score_and_agree_with_the_links(sample_kb, articles, one):
    linker = Linker(sample_kb, one)
    rows = explained(linker, articles)
    links = {(r["article_id"], r["name"]): r for r in linker.link(articles, scores=True).to_pylist()}
    by_candidate: dict[tuple, list[dict]] = {}
    for row in rows:
        if row["qid"] is not None:
            by_candidate.setdefault((row["article_id"], row["name"], row["qid"]), []).append(row)
    assert len(by_candidate) == sum(len(link["candidates"]) for link in links.values())
    for (article, name, qid), parts in by_candidate.items():
        link = links[article, name]
        [candidate] = [c for c in link["candidates"] if c["qid"] == qid]
        first = parts[0]
        assert sum(part["contribution"] for part in parts) == pytest.approx(first["score"], rel=1e-12)
        assert first["score"] == candidate["score"]
        values = candidate["parts"] | (link.get("doubts") or {})
        assert {p["part"]: p["value"] for p in parts}.items() <= values.items()
        assert len({p["part"] for p in parts if p["role"] == "part"}) == sum(p["role"] == "part" for p in parts)
        assert (first["margin"], first["tie_break"], first["reason"]) == tuple(
            link[key] for key in ("margin", "tie_break", "reason")
        )
        assert first["spans"] == link["spans"]
        if qid == link["best"]:
            ahead = [row for row in rows if (row["article_id"], row["name"]) == (article, name) and row["rank"] == 1]
            assert first["rank"] == (2 if ahead[0]["qid"] is None else 1)
            assert first["confidence"] == pytest.approx(link["confidence"])


def test_weights_by_kind_are_explained_and_add_up(sample_kb, articles, monkeypatch):
    """Kinds by the QID: every third candidate is a place, every third a person, every third of no known kind."""
    numbers = [KINDS.index("place"), KINDS.index("person"), -1]
    kinds = property(lambda batch: np.array([numbers[qid % 3] for qid in batch.qids.tolist()], np.int8))
    monkeypatch.setattr(Batch, "kinds", kinds)
    parts = (
        Part("NS", 0.5, "log1p", by_kind={"place": -2.0}),
        Part("IScore"),
        Part(evidence="NameFame", by_kind={"place": 1.1, "person": -0.6}),
        Part(evidence="Constant", by_kind={"person": 0.25}),
    )
    by_kind = Recipe("kinds", parts, decide=Decide(nil=1.0, parts=(DoubtPart("Constant"),)))
    linker = Linker(sample_kb, by_kind)
    table = linker.link(articles, scores=True)
    links = {(link["article_id"], link["name"]): link for link in table.to_pylist()}
    weight = {
        ("NS", "place"): -1.5,
        ("NameFame", "place"): 1.1,
        ("NameFame", "person"): -0.6,
        ("Constant", "person"): 0.25,
    }
    seen = set()
    for row in explained(linker, articles):
        if row["qid"] is None:
            assert row["part"] == "Constant"
            continue
        link = links[row["article_id"], row["name"]]
        [candidate] = [one for one in link["candidates"] if one["qid"] == row["qid"]]
        kind = ("place", "person", None)[int(row["qid"][1:]) % 3]
        assert candidate["kind"] == kind
        value = link["doubts"].get(row["part"], candidate["parts"].get(row["part"]))
        assert row["value"] == value
        assert row["weight"] == weight.get((row["part"], kind), {"NS": 0.5, "IScore": 1.0}.get(row["part"], 0.0))
        scaled = math.log1p(value) if row["part"] == "NS" else value
        assert row["contribution"] == pytest.approx(row["weight"] * scaled)
        shown = [source["value"] for m in row["matches"] for source in m["sources"] if source["source"] == "kind"]
        assert shown == ([kind] if row["contribution"] and (row["part"], kind) in weight else [])
        seen |= {(row["part"], kind) for _ in shown}
        scores = {"NS": math.log1p(candidate["parts"]["NS"]), **link["doubts"], "IScore": candidate["parts"]["IScore"]}
        total = sum(weight.get((n, kind), {"NS": 0.5, "IScore": 1.0}.get(n, 0.0)) * x for n, x in scores.items())
        assert row["score"] == pytest.approx(total)
    assert seen == weight.keys()
    assert score_table(table, "links").kinds.tolist() == [
        numbers[int(one["qid"][1:]) % 3] for link in links.values() for one in link["candidates"]
    ]


ALONE = SCALED.replace(decide=Decide(nil=3.0, alone=-0.5, threshold=0.6))


@pytest.mark.parametrize("one", [SCALED, ALONE], ids=["nil", "alone"])
def test_none_of_them_is_a_candidate_like_any_other(sample_kb, articles, one):
    linker = Linker(sample_kb, one)
    links = {(r["article_id"], r["name"]): r for r in linker.link(articles, scores=True).to_pylist()}
    mentions: dict[tuple, dict[str | None, list[dict]]] = {}
    for row in linker.explain(articles).to_pylist():
        mentions.setdefault((row["article_id"], row["name"]), {}).setdefault(row["qid"], []).append(row)
    assert mentions.keys() == {key for key, link in links.items() if link["candidates"]}
    firsts, keys = 0, set()
    for key, candidates in mentions.items():
        link, [none] = links[key], candidates[None]
        alone = len(link["candidates"]) == 1 and one.decide.alone is not None
        score = one.decide.alone if alone else one.decide.nil
        assert (none["part"], none["role"], none["value"]) == ("alone" if alone else "nil", "part", score)
        assert none["contribution"] == none["score"] == score
        assert none["label"] is None
        assert none["matches"] == []
        scores = [candidate["score"] for candidate in link["candidates"]]
        total = math.exp(score) + sum(map(math.exp, scores))
        assert none["confidence"] == pytest.approx(math.exp(score) / total)
        assert none["confidence"] == pytest.approx(1 - link["known"])
        assert none["rank"] == 1 + sum(other >= score for other in scores)
        assert sorted(rows[0]["rank"] for rows in candidates.values()) == list(range(1, len(candidates) + 1))
        assert sum(rows[0]["confidence"] for rows in candidates.values()) == pytest.approx(1)
        firsts += none["rank"] == 1
        keys.add(none["part"])
        if link["reason"] == "none fits":
            assert none["rank"] == 1
    assert keys == ({"nil"} if one.decide.alone is None else {"nil", "alone"})
    assert 0 < firsts < len(mentions)


def test_where_somebody_always_wins_there_is_no_none_of_them(sample_kb, articles):
    assert None not in Linker(sample_kb, recipe(*UI)).explain(articles).column("qid").to_pylist()


def test_ranks_go_by_score_then_by_the_tie_breaks_shown(sample_kb, articles):
    linker = Linker(sample_kb, recipe(*UI))
    mentions: dict[tuple, dict[int, list]] = {}
    for row in linker.explain(articles).to_pylist():
        places = mentions.setdefault((row["article_id"], row["name"]), {})
        key = places.setdefault(row["rank"], [row["score"]])
        if row["role"] == "tie-break":
            key.append(row["value"])
    ties = 0
    for places in mentions.values():
        keys = [places[rank] for rank in range(1, len(places) + 1)]
        assert keys == sorted(keys, reverse=True)
        ties += len(keys) > 1 and keys[0][0] == keys[1][0]
    assert ties > 0


@pytest.mark.parametrize("features", ["D", "S", "P", "D+S", "D+S_A", "D+P+S"])
def test_matched_words_are_the_oracles(sample_kb, oracle, articles, texts, features):
    seen = 0
    for row in explained(Linker(sample_kb, recipe(*UI, words=features)), articles):
        if row["part"] == "EEIScore":
            continue
        text, spans = texts[row["article_id"]], row["spans"]
        context = words(text)
        if row["part"] == "NIScore":
            near = [s for s in sentences(text) if any(a < s[1] and b > s[0] for a, b in spans)]
            context = set().union(*(sentence_words(text[a:b]) for a, b in near))
        wanted = (context & oracle.entity_words(row["qid"], features)) - words(row["name"])
        assert {match["word"] for match in row["matches"]} == wanted
        assert len(row["matches"]) == row["value"]
        seen += len(wanted)
    assert seen > 50


def test_spans_point_at_the_word_in_text_order(sample_kb, articles, texts):
    seen = 0
    for row in explained(Linker(sample_kb, recipe(*UI)), articles):
        text = texts[row["article_id"]]
        narrow = [s for s in sentences(text) if any(a < s[1] and b > s[0] for a, b in row["spans"])]
        firsts = [match["spans"][0] for match in row["matches"] if match["spans"]]
        assert firsts == sorted(firsts)
        for match in row["matches"]:
            for start, end in match["spans"]:
                assert words(text[start:end]) == {match["word"]}
                if row["part"] == "NIScore":
                    assert any(a <= start < end <= b for a, b in narrow)
                seen += 1
    assert seen > 100


def test_each_source_has_the_word(sample_kb, oracle, articles, property_labels):
    kinds = set()
    for row in explained(Linker(sample_kb, recipe("IScore", words="D+P+S_A")), articles):
        entity = oracle.entities[row["qid"]]
        assert (row["label"], row["description"]) == (entity.label, entity.description)
        for match in row["matches"]:
            assert match["sources"]
            for source in match["sources"]:
                kinds.add(source["source"])
                if source["source"] == "description":
                    assert match["word"] in words(entity.description)
                    continue
                if source["source"] == "paragraph":
                    assert match["word"] in words(entity.paragraph)
                    continue
                values = [v for p, v in entity.statements if p == source["property"]]
                assert source["property_label"] == property_labels.get(source["property"])
                items = [oracle.entities[v[2:]] for v in values if v.startswith("Q:") and v[2:] in oracle.entities]
                assert source["value"] in {i.label for i in items} | {v[2:] for v in values if v.startswith("S:")}
                aliases = [alias for item in items if item.label == source["value"] for alias in item.aliases]
                assert match["word"] in set().union(*map(words, [source["value"], *aliases]))
    assert kinds == {"description", "paragraph", "statement", "alias"}


def item(identifier: str, label: str, aliases: list[str], **claims: str) -> str:
    def claim(name: str, value: str) -> dict:
        snak = {"snaktype": "value", "property": name, "datatype": "wikibase-item"}
        snak["datavalue"] = {"type": "wikibase-entityid", "value": {"entity-type": "item", "id": value}}
        return {"mainsnak": snak, "type": "statement", "rank": "normal"}

    texts = {"labels": {"en": {"language": "en", "value": label}}, "descriptions": {}, "sitelinks": {}}
    texts["aliases"] = {"en": [{"language": "en", "value": alias} for alias in aliases]}
    return json.dumps(
        {"type": "item", "id": identifier, **texts, "claims": {p: [claim(p, v)] for p, v in claims.items()}}
    )


def test_an_alias_of_a_value_is_named_as_such(tmp_path):
    """Douglas Adams is a writer, also known as author."""
    from namesake.kb.build import build

    dump = tmp_path / "dump.json"
    records = [item("Q42", "Douglas Adams", [], P31="Q5", P106="Q36180"), item("Q36180", "writer", ["author"])]
    dump.write_text("[\n" + ",\n".join(records) + "\n]\n")
    build([dump], tmp_path / "kb", keep="people")
    builder = ArticleBuilder()
    builder.add(Article("x", "The author Douglas Adams.", mentions=[Mention("Douglas Adams", [(11, 24)], ["Q42"])]))
    table = builder.table()
    [row] = explained(Linker(tmp_path / "kb", recipe("IScore", words="S_A")), table)
    [match] = row["matches"]
    assert (match["word"], match["spans"]) == ("author", [[4, 10]])
    [source] = match["sources"]
    assert (source["source"], source["property"], source["value"]) == ("alias", "P106", "writer")
    [plain] = explained(Linker(tmp_path / "kb", recipe("IScore", words="S")), table)
    assert plain["matches"] == []


def test_a_value_without_a_label_is_said_to_have_none(tmp_path, run):
    """Both bear a family name whose item the dump lacks."""
    from namesake.kb.build import build

    people = [
        item("Q42", "Douglas Adams", [], P734="Q12035675", P31="Q5"),
        item("Q43", "Amy Adams", [], P734="Q12035675", P31="Q5"),
    ]
    (tmp_path / "dump.json").write_text("[\n" + ",\n".join(people) + "\n]\n")
    build([tmp_path / "dump.json"], tmp_path / "kb", keep="people")
    linker = Linker(tmp_path / "kb", recipe("EEIScore"))
    rows = linker.explain_text("Douglas Adams met Amy Adams.").table.to_pylist()
    shared = {s["value"] for row in rows for m in row["matches"] or () for s in m["sources"] if s["property"] == "P734"}
    assert shared == {"Q12035675 (no label)"}
    shown = run("kb", "show", tmp_path / "kb", "Q42", kb=None)
    assert "Q12035675 (no label)" in shown.out
    assert run("kb", "show", tmp_path / "kb", "Q42", "--json", kb=None).out.count("no label") == 0


@pytest.mark.parametrize("anchors", ["first", "all"])
def test_shared_statements_name_every_anchor_that_has_them(sample_kb, oracle, articles, anchors):
    linker = Linker(sample_kb, recipe(*UI, anchors=anchors))
    mentions: dict[str, list[tuple[str, list[str]]]] = {}
    for link in linker.link(articles, scores=True).to_pylist():
        candidates = [c["qid"] for c in link["candidates"]]
        mentions.setdefault(link["article_id"], []).append((link["name"], candidates))
    shown = 0
    for row in explained(linker, articles):
        if row["part"] != "EEIScore":
            continue
        alone = [(name, ids[0]) for name, ids in mentions[row["article_id"]] if len(ids) == 1]
        if anchors == "first":
            alone = alone[:1]
        others = {qid for name, qid in alone if name != row["name"]} - {q for n, q in alone if n == row["name"]}
        others -= {row["qid"]}
        own = oracle.entities[row["qid"]].statements
        wanted = {(p, anchor) for anchor in others for p, _ in own & oracle.entities[anchor].statements}
        got = {(s["property"], s["anchor"]) for match in row["matches"] for s in match["sources"]}
        assert got == wanted
        assert len(row["matches"]) == row["value"]
        for match in row["matches"]:
            assert match["word"] is None
            assert len({(s["property"], s["value"]) for s in match["sources"]}) == 1
            for source in match["sources"]:
                assert source["anchor_label"] == oracle.entities[source["anchor"]].label
        shown += len(row["matches"])
    assert shown > 20


def crowd(kb, size: int) -> tuple[str, pa.Table]:
    """A text about so many people of the sample, each with a mention that can mean nobody else."""
    names = [f"Xy{row} Zz{row}" for row in range(size)]
    text = " ".join(f"The player {name} spoke." for name in names)
    mentions = [
        Mention(name, [(text.index(name), text.index(name) + len(name))], [f"Q{kb.qids[row]}"])
        for row, name in enumerate(names)
    ]
    return text, text_table(text, mentions, None)


def listed(rows: list[dict]) -> int:
    """How many rows, matches, places and sources an explanation lists."""
    matches = [match for row in rows for match in row["matches"] or ()]
    return len(rows) + len(matches) + sum(len(match["spans"]) + len(match["sources"]) for match in matches)


def calls(work: Callable[[], object]) -> int:
    """How many functions are called, of Python and of C: the same on every machine."""
    count = 0

    def counted(frame: object, event: str, arg: object) -> None:
        nonlocal count
        count += event in ("call", "c_call")

    sys.setprofile(counted)
    try:
        work()
    finally:
        sys.setprofile(None)
    return count


def test_an_explanation_grows_with_its_text_no_faster(sample_kb):
    linker = Linker(sample_kb)
    tables = [crowd(sample_kb, size)[1] for size in (25, 100)]
    sizes = [listed(linker.explain(table).to_pylist()) for table in tables]
    assert sizes[1] < 5 * sizes[0]
    for work in (linker.explain, lambda table: linker.naming(table, "nobody")):
        work(tables[0])
        amounts = [calls(lambda table=table, work=work: work(table)) for table in tables]
        assert amounts[1] < 5 * amounts[0]


def test_what_a_match_does_not_list_is_counted(sample_kb):
    linker = Linker(sample_kb, recipe("IScore", "EEIScore", anchors="all"))
    text, table = crowd(sample_kb, 60)
    rows = linker.explain(table).to_pylist()
    people = [f"Q{qid}" for qid in sample_kb.qids[:60]]
    stated = {qid: set(sample_kb.statements[sample_kb.row(qid)].tolist()) for qid in people}
    human = next(pair for pair in stated[people[0]] if sample_kb.pair_property[pair] == 31)
    assert all(human in stated[qid] for qid in people)
    shared = {}
    for row in rows:
        for match in row["matches"] or ():
            assert max(len(match["spans"]), len(match["sources"])) <= MOST_LISTED
            if match["word"] == "player":
                assert len(match["spans"]) + match["more_spans"] == text.count("player")
            elif match["word"] is None and match["sources"][0]["property"] == "P31":
                shared[row["qid"]] = len(match["sources"]) + match["more_sources"]
    assert shared == dict.fromkeys(people, len(people) - 1)
    assert f" and {len(people) - 1 - MOST_LISTED} more" in drawn(linker, table, "Xy0 Zz0", 200, everything=True)


VOCABULARY = [
    "basketball",
    "player",
    "player.",
    "The",
    "the",
    "é",
    "“singer”",
    "U.S.",
    "R&B",
    "it's",
    "\0",
    "😀",
    "?\n",
]


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(text=st.lists(st.sampled_from(VOCABULARY), min_size=1, max_size=30).map(" ".join), data=st.data())
def test_values_are_numbers_of_matches_on_any_text(sample_kb, text, data):
    start = data.draw(st.integers(0, len(text) - 1))
    span = (start, data.draw(st.integers(start + 1, len(text))))
    ids = [f"Q{sample_kb.qids[row]}" for row in sample_kb.names.lookup("Michael Jordan")[0]]
    builder = ArticleBuilder()
    builder.add(Article("x", text, mentions=[Mention("Michael Jordan", [span], [*ids, "Q999999999"])]))
    for row in explained(Linker(sample_kb, recipe(*UI)), builder.table()):
        assert len(row["matches"]) == row["value"]
        for match in row["matches"]:
            for begin, end in match["spans"]:
                assert 0 <= begin < end <= len(text)
                assert text[begin].isalpha()


def test_an_unknown_candidate_is_explained_by_nothing(sample_kb):
    builder = ArticleBuilder()
    builder.add(Article("x", "Michael Jordan plays.", mentions=[Mention("Michael Jordan", [(0, 14)], ["Q999999999"])]))
    rows = Linker(sample_kb, recipe(*UI)).explain(builder.table()).to_pylist()
    assert {row["qid"] for row in rows} == {"Q999999999"}
    assert all(row["label"] is None and not row["matches"] and row["score"] == 0 for row in rows)


def test_only_the_mention_asked_for_whatever_its_case(sample_kb, articles):
    linker = Linker(sample_kb, recipe(*UI))
    rows = linker.explain(articles, "CHRIS carter").to_pylist()
    assert {row["name"] for row in rows} == {"Chris Carter"}
    assert linker.explain(articles, "Nobody At All").num_rows == 0
    assert linker.explain(articles, "Nobody At All").schema == linker.explain(articles).schema


def test_a_name_is_found_by_any_place_that_it_stands_in(sample_kb):
    """A mention that an article lists may have short spans: "jordan" asks for Michael Jordan, too."""
    linker = Linker(sample_kb)
    text = "The basketball player Michael Jordan left. Jordan came back."
    builder = ArticleBuilder()
    builder.add(Article("x", text, mentions=[Mention("Michael Jordan", [(22, 36), (43, 49)])]))
    assert {row["name"] for row in linker.explain(builder.table(), "jordan").to_pylist()} == {"Michael Jordan"}
    assert {row["name"] for row in linker.explain_text(text, "jordan").table.to_pylist()} == {"Jordan"}
    titled = linker.explain_text(text.partition(".")[0], "jordan", title="Jordan left")
    assert [link["title_spans"] for link in titled.links] == [[[0, 6]]]


def test_a_name_is_found_however_it_is_spelt_and_parted(sample_kb):
    linker = Linker(sample_kb)
    parted = text_table("It was Chris\nCarter who made The X-Files.", None, None)
    assert linker.link(parted).column("name").to_pylist() == ["Chris Carter"]
    assert set(linker.explain(parted, "Chris  Cártér").column("name").to_pylist()) == {"Chris Carter"}


def test_what_is_not_a_person_is_nobody_with_no_confidence(sample_kb):
    given = text_table("Chris Carter Stadium was full.", ["Chris Carter"], None)
    [link] = Linker(sample_kb).link(given).to_pylist()
    rows = Linker(sample_kb).explain(given).to_pylist()
    assert link["reason"] == "not a person"
    assert {(row["reason"], row["confidence"]) for row in rows if row["qid"]} == {("not a person", link["confidence"])}
    nobody = {(row["rank"], row["confidence"], row["reason"]) for row in rows if row["qid"] is None}
    assert nobody == {(1, 1.0, "not a person")}


# in the terminal
def drawn(linker: Linker, article: pa.Table, name: str, width: int = 80, everything: bool = False) -> str:
    from rich.console import Console

    from namesake.apps.terminal.explanations import show_explanation

    console = Console(width=width, record=True, file=io.StringIO())
    show_explanation(article, linker.explain(article, name), console, everything)
    return console.export_text()


@pytest.mark.parametrize("width", [40, 80, 120])
def test_a_drawing_names_who_won_why_and_by_how_much(sample_kb, articles, width):
    linker = Linker(sample_kb, recipe(*UI))
    one = articles.filter([i == "amazon-pilots" for i in articles.column("id").to_pylist()])
    rows = linker.explain(one, "Chris Carter").to_pylist()
    text = drawn(linker, one, "Chris Carter", width)
    assert max(map(len, text.splitlines())) <= width
    flat = " ".join(text.split())
    assert f"→ {rows[0]['qid']} Chris Carter: ahead of the next by {rows[0]['margin']:.0f}." in flat
    for row in rows:
        if row["role"] == "part" and row["value"]:
            assert f"{row['part']} {row['value']:.0f} " in flat
    assert "New, York, player ← description" in flat


def test_a_drawing_shows_none_of_them_wherever_it_stands(sample_kb, articles):
    """With evidence for NIL it ranks first. Beside twenty people whom all fits, it comes last."""
    one = articles.filter([i == "hartley-baker" for i in articles.column("id").to_pylist()])
    doubts = (DoubtPart("ExpectedNamesakes", 1.0), DoubtPart("Constant", 60.0))
    linker = Linker(sample_kb, Recipe.load("default").replace(decide=Decide(nil=1.0, parts=doubts)))
    text = " ".join(drawn(linker, one, "Adam Smith").split())
    assert re.search(r" 1 NIL \(none of the candidates\) [<>\d.]+ %", text), text
    assert "ExpectedNamesakes" in text
    assert "→ NIL: none fits; the best candidate is Q9381 Adam Smith" in text

    people = [f"Q{qid}" for qid in sample_kb.qids[sample_kb.person][:20]]
    builder = ArticleBuilder()
    builder.add(Article("x", "John Doe, a player.", mentions=[Mention("John Doe", [(0, 8)], people)]))
    sure = Linker(sample_kb, recipe(*UI, decide=Decide(nil=-9.0)))
    shown = drawn(sure, builder.table(), "John Doe")
    assert "21 NIL" in shown
    assert "… and 17 more candidates (--all)" in shown


def test_a_drawing_shows_the_first_candidates_unless_all_are_wanted(sample_kb):
    people = [f"Q{qid}" for qid in sample_kb.qids[sample_kb.person][:20]]
    builder = ArticleBuilder()
    builder.add(Article("x", "John Doe, a player.", mentions=[Mention("John Doe", [(0, 8)], people)]))
    table = builder.table()
    linker = Linker(sample_kb, recipe(*UI))
    assert "… and 17 more candidates (--all)" in drawn(linker, table, "John Doe")
    whole = drawn(linker, table, "John Doe", everything=True)
    assert all(qid in whole for qid in people)


def test_a_drawing_marks_name_and_words_and_leaves_the_rest_out(sample_kb, articles, texts):
    from namesake.apps.terminal.explanations import EXCERPT, MATCH_STYLE, NAME_STYLE, excerpt

    linker = Linker(sample_kb, recipe(*UI))
    filler = "Nothing at all happened here on that day. " * 200

    def later(spans: list[list[int]]) -> list[list[int]]:
        return [[start + len(filler), end + len(filler)] for start, end in spans]

    for row in explained(linker, articles):
        text = texts[row["article_id"]]
        matches = [match | {"spans": later(match["spans"])} for match in row["matches"]]
        marked = excerpt(filler + text + filler, [row | {"spans": later(row["spans"]), "matches": matches}])
        assert len(marked) < EXCERPT + 100
        styled = {(str(span.style), marked.plain[span.start : span.end]) for span in marked.spans}
        names = {text[a:b].replace("\n", " ") for a, b in row["spans"]}
        assert {piece for style, piece in styled if style == NAME_STYLE} & names
        assert {piece for style, piece in styled if style == MATCH_STYLE} <= {
            text[a:b] for match in row["matches"] for a, b in match["spans"]
        }


def test_a_drawing_cannot_be_steered_by_the_text(sample_kb):
    builder = ArticleBuilder()
    text = "\x1b[31mMichael Jordan\x1b[0m \x07[bold]plays[/bold]\x9b basketball."
    builder.add(Article("x\x1b", text, title="\x1b]0;", mentions=[Mention("Michael Jordan", [(5, 19)])]))
    shown = drawn(Linker(sample_kb, recipe(*UI)), builder.table(), "Michael Jordan")
    assert not {"\x1b", "\x07", "\x9b"} & set(shown)
    assert "[bold]plays[/bold]" in shown
