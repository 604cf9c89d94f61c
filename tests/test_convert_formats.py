"""Data sets from one format to another and back: what a format has a place for survives the way there and back."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from typer.testing import CliRunner

from namesake.apps.cli.commands import app
from namesake.articles.article import Article, Mention
from namesake.articles.rejects import Rejects
from namesake.datasets.catalogue import READERS, WRITERS, write
from namesake.datasets.corpus_formats import LabelledArticle, Truth
from namesake.errors import NamesakeError

BACK = {"plain": "plain", "quotebank": "nelight", "elevant": "elevant-links", "nif": "nif"}
"""Who reads what each writer writes."""
SUFFIX = {"nif": ".ttl"}

NAMES = ("Neil Armstrong", "Buzz Aldrin", "Zoë 🚀 Müller")


@st.composite
def articles(draw: st.DrawFn, tokens: bool) -> LabelledArticle:
    """An article of words and names, each name with all its spans; some are nobody, some have candidates."""
    words = draw(st.lists(st.sampled_from([*NAMES, "walked", "🌍", "“on”", 'x"\\y', "the"]), min_size=1, max_size=9))
    text = (" " if tokens else draw(st.sampled_from([" ", ", ", "\n"]))).join(words)
    mentions, truths = [], []
    for name in dict.fromkeys(word for word in words if word in NAMES):
        spans, at = [], text.find(name)
        while at >= 0:
            spans.append((at, at + len(name)))
            at = text.find(name, at + 1)
        gold = draw(st.sampled_from([None, "Q1615", "Q2252"]))
        mentions.append(Mention(name, spans, ["Q2252", "Q1615"]))
        truths.append(Truth(name, name, gold))
    title, date = draw(st.sampled_from([None, "Moon"])), draw(st.sampled_from([None, "1969-07-21"]))
    return LabelledArticle(
        Article(draw(st.sampled_from(["a1", "http://x/a", "ä b/c"])), text, title, date, mentions), truths
    )


def there_and_back(one: LabelledArticle, to: str, folder: Path) -> LabelledArticle:
    out = folder / f"out{SUFFIX.get(to, '.jsonl')}"
    counts = write([one], [out], to)
    assert counts["articles"] == 1
    rejects = Rejects()
    [back] = READERS[BACK[to]](out, rejects)
    assert rejects.count == 0, rejects.first
    return back


def occurrences(one: LabelledArticle) -> list[tuple[tuple[int, int], Any]]:
    """Each span with the QID that it means, in the order of the text."""
    truths = {truth.name: truth.gold for truth in one.truths}
    found = []
    for mention in one.article.mentions or ():
        gold = truths[mention.name]
        qid = (mention.candidates or ())[gold] if isinstance(gold, int) else gold
        found += [(tuple(span), qid) for span in mention.spans]
    return sorted(found, key=lambda pair: pair[0])


@pytest.mark.parametrize("to", list(WRITERS))
@settings(max_examples=40)
@given(data=st.data())
def test_there_and_back(to: str, data: st.DataObject, tmp_path_factory: pytest.TempPathFactory) -> None:
    one = data.draw(articles(tokens=to == "quotebank"))
    back = there_and_back(one, to, tmp_path_factory.mktemp("convert"))
    assert (back.article.id, back.article.text) == (one.article.id, one.article.text)
    assert occurrences(back) == occurrences(one)
    if to != "nif":
        assert back.article.title == one.article.title
        assert [m.candidates for m in back.article.mentions or ()][:1] == [
            m.candidates for m in one.article.mentions or ()
        ][:1]
    if to in ("plain", "quotebank"):
        assert (back.article.date, back.article.mentions) == (one.article.date, one.article.mentions)


def test_spans_grow_to_quotebanks_tokens(tmp_path: Path) -> None:
    text = 'He met "Neil Armstrong", twice.'
    one = LabelledArticle(Article("a", text, mentions=[Mention("Neil Armstrong", [(8, 22)])]), [])
    [mention] = there_and_back(one, "quotebank", tmp_path).article.mentions or ()
    assert [text[slice(*span)] for span in mention.spans] == ['"Neil Armstrong",']


def test_pages_stay_pages_in_nif(tmp_path: Path) -> None:
    """A title that no KB has turned into a QID is written as the page's address, and read so."""
    mention = Mention("Michael Collins", [(0, 15)])
    truth = Truth("Michael Collins", "Michael Collins", None, "Michael Collins (astronaut)")
    back = there_and_back(
        LabelledArticle(Article("a", "Michael Collins flew.", mentions=[mention]), [truth]), "nif", tmp_path
    )
    assert [(one.gold, one.title, one.kind) for one in back.truths] == [
        (None, "Michael Collins (astronaut)", "unresolved")
    ]


def test_elevant_has_what_it_asks_for(tmp_path: Path) -> None:
    mentions = [Mention("Buzz Aldrin", [(19, 30)], ["Q2252"]), Mention("Neil Armstrong", [(0, 14)])]
    text = "Neil Armstrong and Buzz Aldrin"
    truths = [Truth("Buzz Aldrin", "Buzz Aldrin", 0), Truth("Neil Armstrong", "Neil Armstrong", None)]
    write([LabelledArticle(Article("7", text, "Moon", None, mentions), truths)], [tmp_path / "o.jsonl"], "elevant")
    [line] = (tmp_path / "o.jsonl").read_text().splitlines()
    by = {"recognized_by": "namesake", "linked_by": "namesake"}
    assert json.loads(line) == {
        "id": "7",
        "title": "Moon",
        "text": text,
        "entity_mentions": [
            {"span": [0, 14], "id": None, "candidates": [], **by},
            {"span": [19, 30], "id": "Q2252", "candidates": ["Q2252"], **by},
        ],
        "evaluation_span": [0, 30],
    }


def convert(*arguments: str | Path) -> Any:
    return CliRunner().invoke(app, ["datasets", "convert", *map(str, arguments)], env={"COLUMNS": "200"})


def test_the_command(tmp_path: Path) -> None:
    given = tmp_path / "a.jsonl"
    mention = {"name": "Neil Armstrong", "spans": [[0, 14]], "gold": "Q1615"}
    given.write_text(json.dumps({"id": "a", "text": "Neil Armstrong walked.", "mentions": [mention]}) + "\n")
    done = convert(given, "--reader", "plain", "--to", "nif", "--out", tmp_path / "a.ttl")
    assert done.exit_code == 0, done.output
    assert "1 article, 1 mention: 1 with an entity" in done.output
    done = convert(tmp_path / "a.ttl", "--reader", "nif", "--to", "quotebank", "-o", tmp_path / "q.jsonl.gz")
    assert done.exit_code == 0, done.output
    [back] = READERS["nelight"](tmp_path / "q.jsonl.gz", Rejects())
    assert (back.article.id, back.truths[0].gold) == ("a", "Q1615")


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ([], "no output: give --articles and --gold, or --to and --out"),
        (["--to", "nif"], "no output"),
        (["--to", "nif", "--out", "o.ttl", "--gold", "g.jsonl"], "no output"),
        (["--to", "xml", "--out", "o.xml"], "no format 'xml'; there are: plain, quotebank, elevant, nif"),
        (["--to", "nif", "--out", "o.jsonl"], "nif is written as .ttl or .nif"),
    ],
)
def test_bad_options_are_named(options: list[str], told: str, tmp_path: Path) -> None:
    given = tmp_path / "a.jsonl"
    given.write_text('{"id": "a", "text": "x"}\n')
    done = convert(given, "--reader", "plain", *options)
    assert isinstance(done.exception, NamesakeError)
    assert told in str(done.exception)
