"""Kinds: how they are declared and named, which kind each item has, and which items a KB keeps."""

from __future__ import annotations

import gzip
import json
import pickle
import shutil
from itertools import islice
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import oracle_build
import oracle_kinds
from namesake import kinds as declared
from namesake.errors import NamesakeError
from namesake.kb.build import build
from namesake.kb.columns import Strings
from namesake.kb.columns.large import Room
from namesake.kb.kinds import HeadNouns
from namesake.kb.store import KB
from namesake.kernels import kinds as numbers
from namesake.language import English
from namesake.linker import Linker
from namesake.sample import DUMP
from small_kb import writable
from test_build import HUMAN, claim, dump, item
from test_part_names import quantity

NAMES = [kind.name for kind in declared.all_kinds()]


def test_the_numbers_are_the_order_of_the_file() -> None:
    assert [kind.number for kind in declared.all_kinds()] == list(range(len(NAMES)))
    assert all(getattr(numbers, kind.name.upper()) == kind.number for kind in declared.all_kinds())
    assert [kind.name for kind in declared.kinds()] == list(numbers.KINDS) == NAMES[: numbers.NAME]
    assert len({kind.symbol for kind in declared.kinds()}) == len(numbers.KINDS)
    classes = [qid for kind in declared.all_kinds() for qid in kind.classes]
    assert len(classes) == len(set(classes))
    assert set(English.kind_nouns) <= set(NAMES)


@pytest.mark.parametrize(
    ("given", "keep"),
    [
        ("people", "people"),
        ("Person", "people"),
        ("place, organization", "places,organisations"),
        (["work", "events"], "works,events"),
        ("others,people", "people,other"),
        ("ALL", "all"),
        (None, "people,places,organisations,works,events,products,characters,other"),
    ],
)
def test_kinds_may_be_spelled_in_several_ways(given: Any, keep: str) -> None:
    assert declared.parse_keep(given) == keep


@pytest.mark.parametrize(("given", "hint"), [("peple", "people"), ("places,organisatons", "organisations"), ("", "")])
def test_a_misspelt_kind_is_an_error_with_a_hint(given: str, hint: str) -> None:
    with pytest.raises(NamesakeError, match=f"did you mean '{hint}'" if hint else "kinds are"):
        declared.parse_keep(given)


def kinds_of(kb: KB) -> dict[str, str]:
    return {f"Q{qid}": kb.kind_of(row).name for row, qid in enumerate(kb.qids)}


def assert_as_the_oracle_says(file: Path, out: Path, **options: Any) -> KB:
    """A KB of all items has the oracle's kinds, a KB of all kinds the items of these kinds."""
    expected = oracle_kinds.kinds(oracle_build.read(file))
    named = {qid: kind for qid, kind in expected.items() if kind in NAMES[: numbers.NAME]}
    build([file], out / "all", keep="all", **options)
    found = kinds_of(KB.open(out / "all"))
    assert found == {qid: named.get(qid, "other") for qid in expected}
    manifest = build([file], out / "kinds", **options)
    kb = KB.open(out / "kinds")
    assert kinds_of(kb) == named
    counts = [list(named.values()).count(name) for name in NAMES]
    assert manifest.kinds == {name: count for name, count in zip(NAMES, counts, strict=True) if count}
    return kb


def test_the_sample_has_the_kinds_that_the_oracle_finds(tmp_path: Path) -> None:
    assert_as_the_oracle_says(DUMP, tmp_path).verify()


def test_complete_records_have_the_kinds_that_the_oracle_finds(tmp_path: Path, shared: Path) -> None:
    assert_as_the_oracle_says(shared / "wikidata" / "full-records.json.bz2", tmp_path)


@pytest.mark.parametrize("memory", [None, Room(1, 1 << 17, small=0)])
def test_a_piece_of_the_world_has_the_kinds_that_the_oracle_finds(tmp_path: Path, shared: Path, memory: Any) -> None:
    piece = tmp_path / "piece.json"
    with gzip.open(shared / "wikidata" / "world.json.gz", "rt") as lines:
        piece.write_text("".join(islice(lines, 3, 60_000, 11)))
    kb = assert_as_the_oracle_says(piece, tmp_path, memory=memory)
    assert {kind for kind, count in kb.manifest.kinds.items() if count > 3} >= set(NAMES[:5])


TEXTS = st.sampled_from(
    ["", "town in Italy", "Old Town", "football clubs", "1999 film by Ann", "poet", "gene", "War of Roses", "x/y", "é"]
)
CLASSES = st.sampled_from([515, 43229, 11424, 198, 95074, 101352, 7187, 28640, 900, 901, 902, 903])


@st.composite
def items(draw: st.DrawFn, number: int) -> str:
    """An item with any number of classes, P279 also in cycles, and properties that decide."""
    claims = [claim("P31", one) for one in draw(st.lists(CLASSES, max_size=20))]
    claims += [claim("P279", one) for one in draw(st.lists(CLASSES, max_size=2))]
    claims += [claim("P54", number) for number in draw(st.lists(st.integers(900, 907), max_size=2))]
    claims += [
        claim(f"P{one}", 907) for one in draw(st.lists(st.sampled_from([17, 50, 69, 106, 118, 800]), max_size=2))
    ]
    claims += [quantity("P1082", "+7")] * draw(st.integers(0, 1))
    made = json.loads(item(number, draw(TEXTS), *claims, description=draw(TEXTS)))
    title = {"enwiki": {"title": f"{draw(TEXTS)} ({draw(TEXTS)})"}} if draw(st.booleans()) else {}
    return json.dumps(made | {"sitelinks": title})


@settings(max_examples=25, deadline=None)
@given(st.tuples(*(items(number) for number in range(900, 908))))
def test_made_up_items_have_the_kinds_that_the_oracle_finds(tmp_path_factory, lines: tuple[str, ...]) -> None:
    folder = tmp_path_factory.mktemp("kinds")
    assert_as_the_oracle_says(dump(folder / "dump.json", *lines), folder)


@settings(max_examples=200)
@given(st.lists(st.text(st.sampled_from("ab 1,(/")) | TEXTS, max_size=5))
def test_nouns_are_those_that_the_oracle_finds(texts: list[str]) -> None:
    found = [NAMES[kind] if kind >= 0 else None for kind in HeadNouns(English)(Strings.of(texts))]
    assert found == list(map(oracle_kinds.noun_kind, texts))


WORLD = (
    item(1, "Ann", HUMAN, claim("P19", 20)),
    item(20, "Ville", claim("P31", 900)),
    item(21, "Asteroid 7", claim("P31", 3863)),
    item(22, "Team", claim("P31", 43229)),
    item(900, "sort of city", claim("P279", 901)),
    item(901, "odd", claim("P279", 902), claim("P279", 900)),
    item(902, "odder", claim("P279", 901), claim("P279", 515)),
)


def test_kinds_that_are_not_kept_still_have_names(tmp_path: Path) -> None:
    build([dump(tmp_path / "dump.json", *WORLD)], tmp_path / "kb", keep="person,organization")
    kb = KB.open(tmp_path / "kb")
    assert kinds_of(kb) == {"Q1": "person", "Q22": "organisation"}
    assert kb.manifest.keep == "people,organisations"
    assert kb.names.non_person_fame("Ville") is not None
    assert kb.names.non_person_fame("Asteroid 7") is not None
    build([tmp_path / "dump.json"], tmp_path / "places", keep="places")
    assert kinds_of(KB.open(tmp_path / "places")) == {"Q20": "place"}  # by a cycle of subclasses


def test_people_are_exactly_the_humans(tmp_path: Path) -> None:
    described = item(2, "Bob", claim("P106", 20), description="British poet")
    build([dump(tmp_path / "dump.json", *WORLD, described)], tmp_path / "people", keep="people")
    assert kinds_of(KB.open(tmp_path / "people")) == {"Q1": "person"}
    build([dump(tmp_path / "dump.json", *WORLD, described)], tmp_path / "all", keep="all")
    assert len(KB.open(tmp_path / "all")) == len(WORLD) + 1


TEXT = "Ann Lee met Bob Ray in Ville Town. Ann Lee left."
LINKED = (
    item(1, "Ann Lee", HUMAN),
    item(2, "Bob Ray", HUMAN),
    item(20, "Ville Town", claim("P31", 515)),
    item(22, "Old Club", claim("P31", 43229)),
)


@pytest.fixture(scope="module")
def mixed(tmp_path_factory: pytest.TempPathFactory) -> KB:
    folder = tmp_path_factory.mktemp("mixed")
    build([dump(folder / "dump.json", *LINKED)], folder / "kb")
    return KB.open(folder / "kb")


def linked(kb: KB, kinds: Any = None) -> dict[str, tuple[str | None, str | None, str | None]]:
    names = ["Ann Lee", "Bob Ray", "Ville Town"]
    links = Linker(kb, recipe="ns-paper", kinds=kinds).link_text(TEXT, mentions=names)
    return {link.name: (link.qid, link.kind, link.reason) for link in links}


def test_links_have_kinds_and_other_kinds_are_filtered(mixed: KB) -> None:
    every = {
        "Ann Lee": ("Q1", "person", None),
        "Bob Ray": ("Q2", "person", None),
        "Ville Town": ("Q20", "place", None),
    }
    assert linked(mixed) == linked(mixed, "people,places") == every
    assert linked(mixed, ["Person"]) == every | {"Ville Town": (None, None, "another kind")}
    people = every | dict.fromkeys(("Ann Lee", "Bob Ray"), (None, None, "another kind"))
    assert linked(mixed, "place") == people
    again = pickle.loads(pickle.dumps(Linker(mixed, kinds="place,people")))
    assert again.kind_names == "people,places"
    assert again.metadata["kinds"] == "people,places"


def test_kinds_that_are_wrong_are_errors(mixed: KB, sample_kb: KB) -> None:
    with pytest.raises(NamesakeError, match=r"no kind 'plases' \(did you mean 'places'\?\)"):
        Linker(mixed, kinds="people,plases")
    with pytest.raises(NamesakeError, match="has no places, as it was built with `keep=` people"):
        Linker(sample_kb, kinds="places")


def test_a_kb_without_kinds_is_built_again(mixed: KB, tmp_path: Path) -> None:
    old = tmp_path / "old"
    shutil.copytree(mixed.path, old)
    manifest = json.loads((old / "manifest.json").read_text()) | {"format_version": 7}
    writable(old / "manifest.json").write_text(json.dumps(manifest))
    with pytest.raises(NamesakeError, match=r"^[^\n]*KB format 7[^\n]*build the KB again$"):
        KB.open(old)
