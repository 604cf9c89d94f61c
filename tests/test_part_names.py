"""Short forms, tokens, things and slips: built as plain dictionaries would have them, and found in a real KB."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import oracle_build
import oracle_shorts as oracle
from namesake.kb.build import build
from namesake.kb.columns.column_files import Ragged, Strings
from namesake.kb.kinds import item_kinds
from namesake.kb.names.build_index import EntityNames, build_misspellings
from namesake.kb.names.index import NameIndex, name_key
from namesake.kb.names.non_people import entity_fame, fame_byte
from namesake.kb.names.short_forms import FORMS, MOST, FormEntries, count_tokens, list_forms
from namesake.kb.store import KB
from namesake.kernels.kinds import NAME, ORGANISATION, OTHER, PERSON, PLACE, WORK
from namesake.kernels.names import index as index_kernels
from namesake.language import English
from namesake.sample import DUMP
from test_build import HUMAN, claim, dump, item
from test_names import InMemory, column_of_lists

pytestmark = pytest.mark.kernel

WORDS = ["Sir", "President", "John", "Jean-Luc", "J.", "K.", "van", "der", "de", "Bellen", "Smith", "Gaël", "Jr.", "II"]
WORDS += ["VIII", "of", "the", "Hesse", ",", ", Jr.", ", 2nd Earl", "мир", "Я", "李", "O'Neil", "Ann"]
spelled = st.lists(st.sampled_from(WORDS), max_size=8).map(" ".join)
people = st.lists(st.tuples(spelled, st.lists(spelled, max_size=3), st.integers(0, 60)), max_size=8)
text = st.text("abBé ß-'’.,3Жж 李", max_size=20)


def index_of(made: dict[Any, Any]) -> NameIndex:
    return NameIndex(InMemory(made), English)


def assert_shorts(index: NameIndex, known: dict[str, dict[int, tuple[float, str]]]) -> None:
    assert len(index.short_entities) == len(known)
    for name, bearers in known.items():
        found = index.short_form(name)
        if oracle.normalise(name) != name:  # two initials, which a look-up makes one token
            continue
        best = sorted(((-np.float32(weight), row, form) for row, (weight, form) in bearers.items()))[:MOST]
        assert found is not None
        assert found.rows.tolist() == [row for _, row, _ in best]
        assert [FORMS[form][0] for form in found.forms] == [form for _, _, form in best]


def assert_marked(prefixes: np.ndarray, names: Iterable[str]) -> None:
    """The detector extends a name only while the bit of its tokens so far is set."""
    for tokens in map(str.split, names):
        for end in range(2, len(tokens) + 1):
            bit = int(name_key(" ".join(tokens[:end]))) & (8 * len(prefixes) - 1)
            assert prefixes[bit >> 3] >> (bit & 7) & 1


@given(people, st.lists(text, max_size=4), st.data())
def test_short_forms_and_tokens_are_those_of_dictionaries(
    made: list[tuple[str, list[str], int]], prose: list[str], data: st.DataObject
) -> None:
    labels, aliases = [label for label, _, _ in made], [others for _, others, _ in made]
    fame = entity_fame(np.array([links for _, _, links in made], np.int32), np.arange(len(made)))
    shortened = np.array(data.draw(st.lists(st.booleans(), min_size=len(made), max_size=len(made))), np.bool_)
    known = [
        (label, others, float(one)) if short else ("", [], 0.0)
        for label, others, one, short in zip(labels, aliases, fame, shortened, strict=True)
    ]
    spelled, prefixes = (
        EntityNames.of(English, Strings.of(labels), *column_of_lists(aliases)),
        np.zeros(1 << 12, np.uint8),
    )
    entries = FormEntries(len(spelled.texts))
    tokens = list_forms(spelled, shortened, fame, prefixes, entries)
    counted = Strings.of(prose), np.ones(len(prose), np.bool_)
    index = index_of(entries.columns() | count_tokens(tokens, [counted]))
    shorts = oracle.shorts(known, English)
    assert_shorts(index, shorts)
    assert_marked(prefixes, shorts)
    first, last, middle = oracle.token_counts([label for label, _, _ in known], English)
    lower = oracle.lower_counts(prose, [])
    names = [oracle.normalise(name) for label, others in zip(labels, aliases, strict=True) for name in (label, *others)]
    for token in {token for name in names for token in name.split()}:
        assert index.token_counts(token) == (first[token], last[token], middle[token], lower[token])
    assert int((index.token_hashes > 0).sum()) == len(
        {token for name in names for token in name.split() if any(c[token] for c in (first, last, middle, lower))}
    )


word = st.text("abcdeж", min_size=1, max_size=8)
names = st.lists(word, min_size=1, max_size=4).map(" ".join)


@given(st.dictionaries(names, st.integers(5, 15), max_size=6))
def test_slips_meet_where_a_letter_is_missing(known: dict[str, int]) -> None:
    bearers = Ragged(np.arange(len(known) + 1), np.arange(len(known), dtype=np.int32))
    index = index_of(build_misspellings(Strings.of(known), bearers, np.array(list(known.values()), np.int32)))
    expected = oracle.slips(dict(zip(known, known.values(), strict=True)))
    assert len(index.misspelling_names) == sum(map(len, expected.values()))
    for tokens, meant in expected.items():
        assert {list(known)[name] for name in index.misspelled(*tokens)} == meant


def quantity(prop: str, amount: str) -> dict[str, Any]:
    datavalue = {"value": {"amount": amount, "unit": "1"}, "type": "quantity"}
    snak = {"snaktype": "value", "property": prop, "datavalue": datavalue, "datatype": "quantity"}
    return {"mainsnak": snak, "type": "statement", "rank": "normal"}


def linked(line: str, pages: int) -> str:
    return json.dumps(json.loads(line) | {"sitelinks": {f"x{page}wiki": {"title": "x"} for page in range(pages)}})


LINES = (
    linked(item(1, "Jair Bolsonaro", HUMAN, claim("P19", 20), aliases=("Bolsonaro",), description="the king"), 150),
    linked(item(2, "Houston Jones", HUMAN, claim("P19", 20)), 3),
    linked(item(20, "Houston, Texas", claim("P31", 515), quantity("P1082", "+2300000"), aliases=("Space City",)), 1),
    item(21, "Jordan", claim("P31", 900), description="kingdom in Asia"),
    item(22, "Townless", quantity("P1082", "+400")),
    linked(item(23, "Ann Lee Band", claim("P31", 901), claim("P31", 215380)), 40),
    item(24, "Ann", claim("P31", 11879590)),
    item(25, "king", claim("P31", 28640), aliases=("Kings of the old days in the long lost east",)),
    item(26, "Jordan", claim("P31", 11424), aliases=("JORDAN",)),
    item(900, "desert kingdom", claim("P279", 902)),
    item(901, "odd class"),
    item(902, "sort of country", claim("P279", 6256)),
    item(6256, "country"),
)


@pytest.mark.parametrize("keep", ["people", "all"])
def test_what_an_item_is_and_what_is_called_so(tmp_path: Path, keep: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    of_items: list[Any] = []
    monkeypatch.setattr(
        "namesake.kb.build.item_kinds", lambda *given, **how: of_items.append(item_kinds(*given, **how)) or of_items[0]
    )
    build([dump(tmp_path / "dump.json", *LINES)], tmp_path / "kb", keep=keep)
    kb = KB.open(tmp_path / "kb")
    kb.verify()
    kinds = {int(qid): int(kind) for qid, kind in zip(kb.item_qids, of_items[0], strict=True)}
    expected = {1: PERSON, 2: PERSON, 20: PLACE, 21: PLACE, 22: PLACE, 23: ORGANISATION, 25: OTHER, 26: WORK}
    expected[24] = NAME
    assert {qid: kinds[qid] for qid in expected} == expected
    made = [json.loads(line) for line in LINES]
    known = [
        {
            "label": one["labels"]["en"]["value"],
            "aliases": [alias["value"] for alias in one["aliases"].get("en", [])],
            "sitelinks": len(one["sitelinks"]),
            "population": {20: 2_300_000, 22: 400}.get(int(one["id"][1:]), 0),
            "stated": sum(value == one["id"] for person in made[:2] for _, value in oracle_build.statements(person)),
            "kind": kinds[int(one["id"][1:])],
        }
        for one in made
        if kinds[int(one["id"][1:])] not in (PERSON, NAME)
    ]
    if keep == "people":
        things = oracle.things(known)
        assert int((kb.names.thing_hashes > 0).sum()) == len(things)
        for name, fame in things.items():
            found = kb.names.non_person_fame(name)
            assert found is not None
            assert fame_byte(np.array([fame]))[0] == fame_byte(np.array([found]))[0]
        assert kb.names.non_person_fame("Houston") > kb.names.non_person_fame("Jordan")  # type: ignore[operator]
    else:
        assert kb.names.non_person_fame("Houston") is None  # an entity of the KB
    assert kb.names.non_person_fame("Ann") is None
    assert kb.names.non_person_fame("king") is None  # no name begins in lower case
    assert [kb.label(row) for row in kb.names.short_form("Bolsonaro").rows] == ["Jair Bolsonaro"]  # type: ignore[union-attr]
    assert kb.names.token_counts("Bolsonaro") == (0, 1, 0, 0)
    assert kb.names.token_counts("kingdom").lower == (0 if keep == "people" else 2)  # tokens are those of entities
    bits = np.unpackbits(kb.names.prefixes, bitorder="little")
    for name in ("jair bolsonaro", "ann lee", "ann lee band", "houston texas", "space city"):
        data = np.frombuffer(name.encode(), np.uint8)
        assert bits[int(index_kernels.name_hash(data, 0, len(data))) % len(bits)]


def test_the_sample_has_the_short_forms_of_its_people(sample_kb: KB) -> None:
    people = [
        (sample_kb.label(row), [sample_kb.alias_texts[int(alias)] for alias in sample_kb.aliases[row]], float(fame))
        for row, fame in enumerate(entity_fame(sample_kb.sitelinks, np.diff(sample_kb.statements.indptr)))
    ]
    assert_shorts(sample_kb.names, oracle.shorts(people, English))
    first, last, middle = oracle.token_counts([label for label, _, _ in people], English)
    made = [one for one in oracle_build.read(DUMP) if one["id"].startswith("Q")]
    described = [(one.get("descriptions") or {}).get("en", {}).get("value", "") for one in made]
    others = [one for one in made if not oracle_build.is_person(one)]
    named = [alias["value"] for one in others for alias in (one.get("aliases") or {}).get("en", [])]
    lower = oracle.lower_counts(described, [*map(oracle_build.label, others), *named])
    names = [oracle.normalise(name) for label, aliases, _ in people for name in (label, *aliases)]
    tokens = {token for name in names for token in name.split()}
    for token in tokens:
        assert sample_kb.names.token_counts(token) == (first[token], last[token], middle[token], lower[token]), token
    assert any(lower[token] for token in tokens)


def test_any_number_of_workers_makes_the_same_columns(tmp_path: Path) -> None:
    files = []
    for workers in (1, 3):
        build([DUMP], tmp_path / str(workers), keep="people", workers=workers)
        files.append(KB.open(tmp_path / str(workers)).manifest.files)
    new = ("short", "token", "thing", "phrase", "slip", "entity.fame")
    ours = [name for name in files[0] if name.startswith(new)]
    assert len(ours) == 16
    assert [files[0][name] for name in ours] == [files[1][name] for name in ours]


@pytest.mark.slow
def test_the_world(shared: Path, tmp_path: Path) -> None:
    """People of one word, and what bears the names of places: Houston and Jordan are in the news without a person."""
    build([shared / "wikidata" / "world.json.gz"], tmp_path / "kb", keep="people")
    kb = KB.open(tmp_path / "kb")

    def best(name: str) -> str:
        found = kb.names.short_form(name)
        assert found is not None
        return kb.label(int(found.rows[0]))

    assert [best(name) for name in ("Bolsonaro", "Rihanna", "Obama", "al-Assad", "Pelé", "Benedict XVI")] == [
        *("Jair Bolsonaro", "Rihanna", "Barack Obama", "Bashar al-Assad", "Pelé", "Benedict XVI")
    ]
    for place, least in (("Paris", 300), ("Houston", 150), ("Jordan", 150), ("Washington", 200)):
        assert (kb.names.non_person_fame(place) or 0.0) > least
    assert kb.names.non_person_fame("Rihanna") is None
    assert kb.names.token_counts("Michael").first > 1000
    assert kb.names.token_counts("king").lower > 50
    slips = kb.names.misspelled("barack", "obma")
    assert "barack obama" in [kb.names.texts[name] for name in slips.tolist()]
