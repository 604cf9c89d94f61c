"""A language is data: one of a few made-up words is built with and linked with from end to end."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from namesake import KB, Linker, NamesakeError, build_kb, language
from namesake.articles.builder import text_table
from namesake.batch import Batch
from namesake.decide import NOT_A_PERSON, REASONS
from namesake.doubts import DOUBTS
from namesake.kb.columns.column_files import Strings
from namesake.kb.names.index import CYRILLIC
from namesake.kb.names.normalise import other_forms
from namesake.language import English, Language
from namesake.names.candidates import candidates
from namesake.recipe import Part, Recipe
from namesake.settings import Settings
from namesake.text import sentences
from oracle_text import kernel_words

NONE: frozenset[str] = frozenset()

TINY = Language(
    name="tiny",
    labels=("xx", "yy"),
    wikipedia="xxwiki",
    stop_words=frozenset({"zo"}),
    stemmer=None,
    lemmas=None,
    titles_before_names=frozenset({"mar"}),
    abbreviations=NONE,
    before_numbers=NONE,
    starters=NONE,
    always_capital=NONE,
    honorifics=frozenset({"mar"}),
    suffixes=frozenset({"vek"}),
    connectors=NONE,
    article="",
    peerages=("grof",),
    nicknames=(("ana", "nush"),),
    function_words=frozenset({"zo"}),
    not_a_person=frozenset({"korp"}),
    before_not_a_person=frozenset({"moda"}),
    particles=NONE,
    numerals=NONE,
    generations=NONE,
    head_ends=NONE,
    possessive="n",
    cyrillic=" ".join("x" for _ in CYRILLIC),
)


@pytest.fixture(scope="module", autouse=True)
def registered() -> Iterator[None]:
    language.register(TINY)
    yield
    del language.LANGUAGES[TINY.name]


def item(number: int, description: str, page: str | None = None, **labels: str) -> dict[str, Any]:
    person = {"value": {"entity-type": "item", "numeric-id": 5, "id": "Q5"}, "type": "wikibase-entityid"}
    snak = {"snaktype": "value", "property": "P31", "datavalue": person, "datatype": "wikibase-item"}
    return {
        "type": "item",
        "id": f"Q{number}",
        "labels": {code: {"language": code, "value": text} for code, text in labels.items()},
        "descriptions": {"xx": {"language": "xx", "value": description}, "en": {"language": "en", "value": "English"}},
        "aliases": {},
        "claims": {"P31": [{"mainsnak": snak, "type": "statement", "rank": "normal"}]},
        "sitelinks": {site: {"site": site, "title": f"{page} {site}"} for site in ("xxwiki", "enwiki") if page},
    }


PEOPLE = [
    item(10, "plivar zo bodum", "Ana", xx="Ana Lopo", en="Ann Loop"),
    item(11, "gomtra the tilm", xx="Ana Lopo", yy="Anna Lopo"),
    item(12, "gomtra", yy="Beto Rin", en="Bert Reen"),
    item(13, "", xx="Mar Karo Sool"),
    item(14, "", en="English Only"),
]


@pytest.fixture(scope="module")
def kb(tmp_path_factory: pytest.TempPathFactory) -> KB:
    folder: Path = tmp_path_factory.mktemp("tiny")
    lines = [json.dumps(one, ensure_ascii=False) for one in PEOPLE]
    lines[2] = lines[2].replace('"type": "item"', '"type"  :"item", "type": "item"')  # for the full decoder
    (folder / "dump.json").write_text("[\n" + ",\n".join(lines) + "\n]\n", encoding="utf-8")
    build_kb([folder / "dump.json"], folder / "kb", keep="people", language="tiny", words="none")
    return KB.open(folder / "kb")


def test_texts_are_those_of_the_language(kb: KB) -> None:
    assert kb.manifest.language == "tiny"
    assert kb.language is TINY
    assert [kb.label(row) for row in range(len(kb))] == ["Ana Lopo", "Ana Lopo", "Beto Rin", "Mar Karo Sool", ""]
    assert [kb.titles[row] for row in range(len(kb))] == ["Ana xxwiki", "", "", "", ""]
    assert {kb.words[word] for word in range(len(kb.words))} == {"plivar", "bodum", "gomtra", "the", "tilm"}


@pytest.mark.parametrize(
    ("text", "links"),
    [
        ("Mar Ana Lopo bolum gomtra the tilm. Mar Lopo vatum.", {"Ana Lopo": "Q11", "Lopo": "Q11"}),
        ("Ana Lopo bolum plivar bodum.", {"Ana Lopo": "Q10"}),
        ("Ana Lopo'n plivar bodum", {"Ana Lopo": "Q10"}),
        ("Ana Lopo's plivar bodum", {"Ana Lopo": None}),  # an English possessive
        ("Karo Sool and Beto Rin", {"Karo Sool": "Q13", "Beto Rin": "Q12"}),
        ("Bert Reen, Ann Loop, English Only", {}),
    ],
)
def test_raw_text_is_linked_by_its_words_and_no_english_ones(kb: KB, text: str, links: dict[str, str | None]) -> None:
    recipe = Recipe("words", (Part("IScore"), Part("NameMatchQuality")))
    found = {link.name: link.qid for link in Linker(kb, recipe).link_text(text)}
    assert {name: found.get(name) for name in links} == links
    assert links or not found


@pytest.mark.parametrize(
    ("text", "name", "evidence"),
    [
        ("Vo Mar Ana Lopo bolum", "HonorificBefore", 1),
        ("Vo Mr Ana Lopo bolum", "HonorificBefore", 0),
        ("Vo Ana Lopo Korp bolum", "OrganisationWordAfter", 1),
        ("Vo Ana Lopo Stadium bolum", "OrganisationWordAfter", 0),
    ],
)
def test_evidence_is_found_by_its_words(kb: KB, text: str, name: str, evidence: int) -> None:
    batch = Batch(text_table(text, None, None), kb, kb.lexicon(), Settings())
    assert DOUBTS[name](batch)[batch.names.to_pylist().index("Ana Lopo")] == evidence


def test_given_names_are_firms_by_its_words(kb: KB) -> None:
    linker = Linker(kb)
    (firm,) = linker.link_text("Beto Rin Korp", ["Beto Rin"])
    (person,) = linker.link_text("Beto Rin Stadium", ["Beto Rin"])
    assert firm.reason == REASONS[NOT_A_PERSON]
    assert person.reason != REASONS[NOT_A_PERSON]


def test_names_are_looked_up_by_its_titles_suffixes_and_nicknames(kb: KB) -> None:
    asked = Strings.of(["Mar Beto Rin Vek", "Mr Beto Rin Jr", "Nush Lopo"])
    indptr, rows, _ = candidates(kb.names, asked.data, asked.offsets, variants="missing")
    assert [rows[indptr[i] : indptr[i + 1]].tolist() for i in range(3)] == [[2], [], [0, 1]]


def test_sentences_words_and_peerages_are_its_own() -> None:
    assert [text[a:b] for text in ["Bol Mar. Rin vo. Dr. Rin"] for a, b in sentences(text, TINY)] == [
        "Bol Mar. Rin vo.",
        "Dr.",
        "Rin",
    ]
    assert kernel_words("The zo plivars", "none", TINY) == ["the", "plivars"]
    forms, of_name = other_forms(Strings.of(["Ana Lopo, Earl of Rin", "Ana Lopo, grof ul Rin"]), TINY)
    assert (len(forms), forms[0], of_name.tolist()) == (1, "Ana Lopo", [1])


def test_what_a_language_cannot_do_is_said(tmp_path: Path) -> None:
    with pytest.raises(NamesakeError, match="'tiny' has no stems"):
        kernel_words("plivar", "stem", TINY)
    with pytest.raises(NamesakeError, match="no language 'klingon'; known are en"):
        build_kb([tmp_path / "dump.json"], tmp_path / "kb", keep="people", language="klingon")
    with pytest.raises(NamesakeError, match="1 to 4 can be kept"):
        Language(**{name: getattr(English, name) for name in English.__dataclass_fields__} | {"labels": tuple("abcde")})


def test_a_kb_of_an_unknown_language_says_so(kb: KB) -> None:
    del language.LANGUAGES[TINY.name]
    try:
        with pytest.raises(NamesakeError, match="no language 'tiny'; known are en"):
            KB.open(kb.path)
    finally:
        language.register(TINY)
