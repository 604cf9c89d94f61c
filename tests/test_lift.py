"""The signals of the default recipe, each against plain Python over the dump."""

import math
from collections import Counter
from statistics import median
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import oracle_years
from namesake.scorers import SCORERS
from namesake.text import sentences
from oracle import Oracle, sentence_words, words
from test_signals import batch_of, by_candidate, rarity


@pytest.fixture(scope="module")
def people(oracle: Oracle) -> list[str]:
    return [qid for qid, entity in oracle.entities.items() if entity.person]


def lift(shared: float, chance: float) -> float:
    return math.log((shared + 0.3) / (chance + 0.3))


@pytest.mark.parametrize("name", ["ArticleWords", "SentenceWords"])
def test_words_are_compared_with_what_chance_gives(sample_kb, oracle, articles, people, name):
    bags = {qid: oracle.entity_words(qid) for qid in people}
    count = Counter(word for bag in bags.values() for word in bag)
    every = sum(count.values())
    low = high = 0
    for article, mention, qid, score in by_candidate(sample_kb, articles, name):
        text, own = article["text"], words(mention["name"])
        held = [
            sentence_words(text[a:b])
            for a, b in sentences(text)
            if name == "ArticleWords" or any(s < b and e > a for s, e in mention["spans"])
        ]
        context = set().union(*held) - own
        weight = {word: rarity(count[word], len(people)) for word in context if count[word]}
        one = sum(count[word] / every * weight[word] for word in weight)
        shared = sum(weight[word] for word in context & bags[qid])
        assert score == pytest.approx(lift(shared, len(bags[qid] - own) * one))
        low, high = low + (score < 0), high + (score > 0)
    assert low > 10
    assert high > 10


def test_statements_are_compared_with_what_chance_gives(sample_kb, oracle, articles, people):
    count = Counter(pair for qid in people for pair in oracle.entities[qid].statements)
    every = sum(count.values())
    rows = list(by_candidate(sample_kb, articles, "SharedStatements"))
    candidates: dict = {}
    for article, mention, qid, _ in rows:
        candidates.setdefault(article["id"], {}).setdefault(mention["name"], []).append(qid)
    told = 0
    for article, mention, qid, score in rows:
        anchors = {name: ids[0] for name, ids in candidates[article["id"]].items() if len(ids) == 1}
        own = anchors.get(mention["name"])
        union = set().union(*(oracle.entities[a].statements for a in anchors.values() if a not in (own, qid)))
        weight = {pair: rarity(count[pair], len(people)) for pair in union}
        mine = oracle.entities[qid].statements
        chance = len(mine) * sum(count[pair] / every * weight[pair] for pair in union)
        assert score == pytest.approx(lift(sum(weight[pair] for pair in mine & union), chance))
        told += score != 0
    assert told > 10


def fame(person) -> float:
    """Sitelinks; without any, less than one: 0.3, and 0.05 for each of up to ten statements."""
    return person.sitelinks or 0.3 + 0.05 * min(len(person.statements), 10)


def test_fame_record_and_age_of_the_item(sample_kb, oracle, articles, people):
    typical = 1 + median(len(oracle.entities[qid].statements) for qid in people)
    for name, want in (
        ("Fame", lambda qid: math.log1p(fame(oracle.entities[qid]))),
        ("StatementCount", lambda qid: math.log((1 + len(oracle.entities[qid].statements)) / typical)),
        ("ItemAge", lambda qid: -math.log1p(int(qid[1:]) / 2e7)),
    ):
        for _, _, qid, score in by_candidate(sample_kb, articles, name):
            assert score == pytest.approx(want(qid)), name


def test_names_that_are_no_label(sample_kb, articles):
    batch = batch_of(sample_kb, articles)
    match = batch.quality.tolist()
    assert SCORERS["AliasName"](batch).tolist() == [-1.0 if 0.8 <= m < 0.99 else 0.0 for m in match]
    assert SCORERS["VariantName"](batch).tolist() == [-1.0 if m < 0.8 else 0.0 for m in match]
    assert SCORERS["NameMatchQuality"](batch).tolist() == pytest.approx([math.log(max(m, 0.05)) for m in match])


CANDIDATES = st.lists(st.tuples(st.integers(-1, 4), st.sampled_from([0.6, 0.75, 0.8, 0.9, 0.95, 1.0])), max_size=3)


@given(st.lists(st.tuples(st.integers(0, 1), st.integers(1, 2), st.integers(-1, 4), CANDIDATES), max_size=6))
def test_parts_of_names_and_names_in_full(mentions):
    """Mentions of two articles: their tokens, the row of their anchor, and their candidates' rows and qualities."""
    mentions.sort(key=lambda mention: mention[0])
    article, tokens, anchors = (np.array([m[k] for m in mentions], np.int64) for k in range(3))
    rows, quality = (np.array([c[k] for m in mentions for c in m[3]]) for k in range(2))
    offsets = np.cumsum([0, *(len(m[3]) for m in mentions)])
    batch = SimpleNamespace(article=article, tokens=tokens, anchors=anchors, offsets=offsets, kb=None)
    batch.rows, batch.quality = rows.astype(np.int64), quality
    batch.mention = np.repeat(np.arange(len(mentions)), np.diff(offsets))
    batch.mentions = SimpleNamespace(context=None)  # as articles list them
    batch.once = lambda make: make(batch, None)
    partial, in_full = [], []
    for at, (text, tokens_of, own, some) in enumerate(mentions):
        others = [m for n, m in enumerate(mentions) if n != at and m[0] == text]
        for row, q in some:
            label = tokens_of > 1 and any(other == 1 for _, other in some)
            partial.append(-1.0 if label and q < 0.85 else 0.0)
            named = row >= 0 and row != own and any(m[1] > 1 and m[2] == row for m in others)
            in_full.append((1.0 if tokens_of == 1 else -1.0 if label and q < 0.75 else 0.0) if named else 0.0)
    assert SCORERS["PartialName"](batch).tolist() == partial
    assert SCORERS["NamedInFull"](batch).tolist() == in_full


# years
def test_era_is_the_distance_of_a_life_from_the_texts_years(sample_kb, articles):
    kb, apart = sample_kb, 0
    year = {"birth": {}, "death": {}}
    for key, found in year.items():
        for row, (day, precision) in enumerate(zip(getattr(kb, key), getattr(kb, f"{key}_precision"), strict=True)):
            if precision >= 9:
                found[f"Q{kb.qids[row]}"] = 1970 + int(day) / 365.25
    for article, mention, qid, score in by_candidate(kb, articles, "YearsFromLifetime"):
        years = oracle_years.years(article["text"])
        day = batch_of(kb, articles).days[articles.column("id").to_pylist().index(article["id"])]
        years = [*years, *([1970 + day / 365.25] if article["date"] else [])] or [2015.0]
        born, died = year["birth"].get(qid), year["death"].get(qid)
        gap = 0.0
        if (born or died) and len(mention["name"].split()) > 1:
            low = born + 12 if born else died - 75
            high = died + 2 if died else born + 95
            gap = min(max(0.0, y - high, low - y) for y in years)
        assert score == pytest.approx(-math.log1p(gap / 10))
        apart += gap > 0
    assert apart > 3
