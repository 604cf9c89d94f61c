"""What speaks for "none of them": each doubt against plain Python, and what recipes and explanations make of them."""

import math
from collections import Counter
from types import SimpleNamespace

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pytest
from hypothesis import given
from hypothesis import strategies as st

import namesake
from namesake import Linker, Recipe
from namesake.doubts import DOUBTS, _as_words, doubt
from namesake.errors import NamesakeError
from namesake.kb.names.normalise import normalise
from namesake.recipe import Decide, DoubtPart, Part
from namesake.text import sentences
from oracle import sentence_words
from test_signals import batch_of


@pytest.mark.parametrize("name", list(DOUBTS))
def test_contract(sample_kb, articles, name):
    whole = DOUBTS[name](batch_of(sample_kb, articles))
    one_by_one = [DOUBTS[name](batch_of(sample_kb, articles.slice(i, 1))) for i in range(articles.num_rows)]
    assert np.concatenate(one_by_one).tolist() == whole.tolist()  # whatever the batch
    assert DOUBTS[name].formula


def test_expected_bearers_are_what_chance_gives(sample_kb, oracle, articles):
    labels = [normalise(entity.label).split() for entity in oracle.entities.values() if entity.person]
    labels = [tokens for tokens in labels if len(tokens) > 1]
    first, last = Counter(t[0] for t in labels), Counter(t[-1] for t in labels)
    middle = Counter(token for t in labels for token in t[1:-1])
    people = len(labels)
    batch = batch_of(sample_kb, articles)
    for name, got in zip(batch.names.to_pylist(), DOUBTS["ExpectedNamesakes"](batch), strict=True):
        begin, *between, end = normalise(name).split() if " " in name else ("", "")
        bearers = (first[begin] + 0.5) * (last[end] + 0.5) / people * min(5e5 / people, 1)
        rare = min([1.0, *((middle[token] + 0.5) / people * 1000 for token in between)])
        assert got == pytest.approx(math.log(bearers * rare + math.exp(-5)) if begin else 0.0), name


def test_length_and_fame_of_a_name(sample_kb, oracle, articles):
    batch = batch_of(sample_kb, articles)
    vocabulary = set(sample_kb.words)
    lengths, fames = DOUBTS["ArticleLength"](batch), DOUBTS["NameFame"](batch)
    texts = [
        set().union(*(sentence_words(text[a:b]) for a, b in sentences(text))) & vocabulary
        for text in batch.texts.to_pylist()
    ]
    for m in range(len(batch.mentions)):
        assert lengths[m] == pytest.approx(math.log1p(len(texts[batch.article[m]])))
        known = [f"Q{qid}" for qid in batch.qids[batch.offsets[m] : batch.offsets[m + 1]]]
        assert fames[m] == pytest.approx(math.log1p(sum(oracle.entities[qid].sitelinks for qid in known)))


OWN = Recipe(
    "own",
    (Part("IScore"),),
    decide=Decide(
        9.0,
        parts=(
            DoubtPart("ExpectedNamesakes", -0.5),
            DoubtPart("ArticleLength", 2.0, "sqrt"),
            DoubtPart("Constant", 1.5),
        ),
    ),
)


def test_none_of_them_shows_its_summands(sample_kb, articles):
    linker = Linker(sample_kb, OWN)
    rows = [row for row in linker.explain(articles).to_pylist() if row["qid"] is None]
    mentions: dict = {}
    for row in rows:
        mentions.setdefault((row["article_id"], row["name"]), []).append(row)
    links = {(r["article_id"], r["name"]): r for r in linker.link(articles, scores=True).to_pylist()}
    assert len(mentions) > 10
    for key, parts in mentions.items():
        assert [part["part"] for part in parts] == ["ExpectedNamesakes", "ArticleLength", "Constant"]
        assert sum(part["contribution"] for part in parts) == pytest.approx(parts[0]["score"])
        assert {part["part"]: part["value"] for part in parts} == links[key]["doubts"]
        assert parts[2]["value"] == 1
        length = parts[1]
        assert length["contribution"] == pytest.approx(2 * math.sqrt(length["value"]))
        scores = [candidate["score"] for candidate in links[key]["candidates"]]
        total = sum(math.exp(score) for score in [parts[0]["score"], *scores])
        assert parts[0]["confidence"] == pytest.approx(math.exp(parts[0]["score"]) / total)


def test_recipes_with_doubts_are_read_back_as_written():
    assert Recipe.parse(OWN.toml()) == OWN
    several = OWN.replace(parts=(Part("IScore"), Part("NS"), Part("NP", unless=("IScore", "NS"))))
    assert Recipe.parse(several.toml()) == several


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        ('doubt = "Expectd"', "unknown doubt 'Expectd'; did you mean Expected"),
        (
            'doubt = "ExpectedNamesakes"\nscale = "share"',
            "scale of ExpectedNamesakes = 'share': must be one of none, log1p, sqrt",
        ),
        ('doubt = "ExpectedNamesakes"\nweight = "much"', "weight of ExpectedNamesakes = 'much': must be a number"),
        (
            'doubt = "ExpectedNamesakes"\n[[decide.parts]]\ndoubt = "ExpectedNamesakes"',
            "ExpectedNamesakes is a part twice",
        ),
    ],
)
def test_what_no_recipe_can_mean_is_refused(lines, message):
    with pytest.raises(NamesakeError) as refused:
        Recipe.parse(f'name = "x"\n[[parts]]\nscorer = "NS"\n[decide]\nnil = 1.0\n[[decide.parts]]\n{lines}')
    assert message.split(";")[0] in str(refused.value)


def test_a_doubt_of_your_own(sample_kb, articles):
    @namesake.doubt("WrittenLoud")
    def shouted(batch):
        """1 for a name in capitals."""
        return [float(name.isupper()) for name in batch.names.to_pylist()]

    try:
        text = "CHRIS CARTER spoke. Tim Wheeler, who created a band, spoke too."
        recipe = OWN.replace(decide=Decide(0.0, parts=(DoubtPart("WrittenLoud", 50.0),)))
        links = {link.name: link for link in Linker(sample_kb, recipe).link_text(text, ["CHRIS CARTER", "Tim Wheeler"])}
        assert links["CHRIS CARTER"].reason == "none fits"
        assert links["CHRIS CARTER"].probability_known < 1e-9 < links["Tim Wheeler"].probability_known
        with pytest.raises(NamesakeError, match="one for each is needed"):
            doubt("Wrong")(lambda batch: [1.0])(batch_of(sample_kb, articles))
    finally:
        DOUBTS.pop("WrittenLoud")
        DOUBTS.pop("Wrong", None)


@given(st.lists(st.text("abAB, .\t\x1c\x85\u00a0é", max_size=9), max_size=3))
def test_descriptions_contain_a_word_for_journalists(texts):
    """As Python splits words in lower case at white space and commas."""
    language = SimpleNamespace(journalists=frozenset({"ab", "b"}))
    found = pc.match_substring_regex(pa.array(texts, pa.string()), _as_words.__wrapped__(language)).to_pylist()
    assert found == [not {"ab", "b"}.isdisjoint(text.lower().replace(",", " ").split()) for text in texts]
