"""Short forms of places, organisations, works and events: as plain dictionaries would have them, and by example."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import oracle_other_shorts as oracle
from namesake.kb.build import build
from namesake.kb.columns.column_files import Strings
from namesake.kb.names.build_index import EntityNames
from namesake.kb.names.index import NameIndex, name_key
from namesake.kb.names.short_forms import FORMS, FormEntries, Others, list_other_forms, rewritten
from namesake.kb.store import KB
from namesake.language import English
from test_names import InMemory, column_of_lists
from test_part_names import assert_shorts

pytestmark = pytest.mark.kernel

WORDS = ["The", "FC", "F.K.", "Utah", "Utes", "football", "men's", "national", "team", "of", "for the", "University"]
WORDS += ["Netherlands", "Dutch", "Thai", "people", "1998", "World", "Cup", "Inc.", "Joker"]
WORDS += ["Lord's", "Lord’s", ",", ":"]
names = st.lists(st.sampled_from(WORDS), max_size=12).map(lambda words: " ".join(words).replace(" :", ":"))
fame = st.sampled_from([1.0, 7.5, 20.0, 90.0])
entity = st.builds(oracle.Entity, names, st.lists(names, max_size=3), fame, st.booleans(), st.lists(names, max_size=2))


def index_of(entities: list[oracle.Entity]) -> NameIndex:
    labels, aliases = [one.label for one in entities], [one.aliases for one in entities]
    known = EntityNames.of(English, Strings.of(labels), *column_of_lists(aliases))
    fame = np.array([one.fame for one in entities], np.float64)
    teams, every = np.array([one.is_team for one in entities], np.bool_), np.ones(len(entities), np.bool_)
    entries, prefixes = FormEntries(len(known.texts)), np.zeros(1 << 12, np.uint8)
    rows = np.repeat(np.arange(len(entities), dtype=np.int32), [len(one.demonyms) for one in entities])
    demonyms = Strings.of(word for one in entities for word in one.demonyms)
    list_other_forms(known, Others(every, teams, fame, rows, demonyms), prefixes, entries)
    made = entries.columns()
    for text in {text for _, _, text, _ in oracle.entries(entities, English)}:
        tokens = text.split()
        for end in range(2, len(tokens) + 1):  # the detector extends a name only while this bit is set
            bit = int(name_key(" ".join(tokens[:end]))) & (8 * len(prefixes) - 1)
            assert prefixes[bit >> 3] >> (bit & 7) & 1
    return NameIndex(InMemory(made), English)


@given(st.lists(entity, max_size=6))
def test_short_forms_are_those_of_dictionaries(entities: list[oracle.Entity]) -> None:
    assert_shorts(index_of(entities), oracle.shorts(entities, English))


@settings(max_examples=300)
@given(st.lists(st.text("'’`sSa, :é_1\n٣", max_size=12), max_size=4))
def test_names_are_rewritten_as_by_python(texts: list[str]) -> None:
    rows = np.arange(len(texts))
    found = [
        (FORMS[form][0], some[i], row)
        for some, of, form in rewritten(Strings.of(texts), rows, English)
        for i, row in enumerate(of)
    ]
    assert sorted(found) == sorted((*one, row) for row in rows for one in oracle.rewritten(texts[row], English))


def test_weights_are_those_of_the_forms() -> None:
    assert oracle.WEIGHTS.items() <= dict(FORMS).items()


EXAMPLES = [
    ("Batman: Arkham City", "Arkham City", "tail"),
    ("The Joker", "Joker", "no suffix"),
    ("FC Rotor Volgograd", "Rotor", "team place"),
    ("Apple Inc.", "Apple", "no suffix"),
    ("Utah Utes football", "Utah", "team place"),
    ("Utah Utes football", "Utes", "team nickname"),
    ("United States men's national soccer team", "United States", "national team"),
    ("Netherlands national football team", "Dutch", "team demonym"),
    ("Swiss national football team", "Switzerland", "team demonym"),
    ("1998 FIFA World Cup", "FIFA World Cup", "no year"),
    ("1998 FIFA World Cup", "World Cup", "no year"),
    ("UEFA European Championship", "European Championship", "tail"),
    ("United States House of Representatives", "United States House", "head"),
    ("International Monetary Fund", "I.M.F.", "acronym"),
    ("Men's Wearhouse", "men wearhouse", "no possessive"),
    ("St Patrick’s High School", "St Patrick High School", "no possessive"),
    ("Springfield, Illinois", "Springfield", "head"),
    ("Persian Gulf", "Gulf", "last word"),
    ("Dow Jones Industrial Average", "Dow Jones", "opening"),
    ("Armenia", "Armenians", "demonym"),
    ("Democratic Republic of the Congo", "Zairean", "demonym"),
    ("Thai people", "Thais", "demonym"),
    ("International Monetary Fund", "IMF", "acronym"),
    ("United States Department of Justice", "Justice", "tail"),
    ("United States Department of Justice", "Justice Department", "tail"),
    ("Yale University", "University of Yale", "tail"),
    ("University of Chicago", "Chicago University", "tail"),
    ("United States Justice Department", "Justice Department", "tail"),
    ("United Nations General Assembly", "General Assembly", "tail"),
    ("Harvard University", "Harvard", "opening"),
    ("University of Chicago", "Chicago", "tail"),
    ("Siemens AG", "Siemens", "no suffix"),
    ("Arsenal F.C.", "Arsenal", "no suffix"),
    ("California", "Calif.", "demonym"),
    ("Illinois", "Ill.", "demonym"),
    ("Peru", "Peruvian", "demonym"),
    ("Romania", "Rumanian", "demonym"),
    ("United States", "U.S.", "demonym"),
    ("The Hague", "Hague", "no suffix"),
    ("North Atlantic Treaty Organization", "NATO", "acronym"),
    ("2012 Summer Olympics", "Olympics", "last word"),
    ("2012 Summer Olympics", "Summer Olympics", "no year"),
]


@pytest.mark.parametrize(("label", "text", "form"), EXAMPLES)
def test_short_forms_by_example(label: str, text: str, form: str) -> None:
    found = index_of([oracle.Entity(label, [], 50.0)]).short_form(text)
    assert found is not None
    assert FORMS[found.forms[0]][0] == form


@pytest.mark.parametrize(("text", "form"), [("Chicago", "team place"), ("Bulls", "team nickname")])
def test_a_team_has_the_names_of_its_place_and_its_nickname(text: str, form: str) -> None:
    found = index_of([oracle.Entity("Chicago Bulls", [], 50.0, True)]).short_form(text)
    assert found is not None
    assert FORMS[found.forms[0]][0] == form


def test_a_label_is_no_short_form_of_its_entity() -> None:
    index = index_of([oracle.Entity("Cleveland", ["Cleveland, Ohio"], 50.0)])
    assert index.short_form("Cleveland") is None


def test_demonyms_of_complete_records_are_short_forms(tmp_path: Path, shared: Path) -> None:
    build([shared / "wikidata" / "full-records.json.bz2"], tmp_path / "kb")
    names = KB.open(tmp_path / "kb").names
    qids = KB.open(tmp_path / "kb").qids
    for text, qid in (("Vanuatuan", 686), ("Nizhegorodian", 891), ("Sierra Leonean", 1044), ("Lao", 819)):
        found = names.short_form(text)
        assert found is not None
        assert (qids[found.rows[0]], FORMS[found.forms[0]][0]) == (qid, "demonym")
    assert names.short_form("Belgierin") is None  # German
