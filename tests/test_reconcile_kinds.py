"""Tables of every kind of entity: candidates of a kind, guessed kinds, properties by kind, and OpenRefine's types."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import namesake
from namesake import Linker, NamesakeError
from namesake.kinds import kinds, named
from namesake.reconciling import Query, kinds_of_column, reconcile_queries, shares_of_kinds
from namesake.reconciling.table import Layout, reconcile_table
from namesake.scorers.value_lookup import find_property
from serving import Client, running
from several_kinds import with_sitelinks
from test_build import claim, dump, item
from test_reconcile_api import PROPOSED, RESULTS, SUGGESTED, asked, fits, official, posted  # noqa: F401

HUMAN, CITY, CLUB, COMPANY, COUNTRY, STATE, COUNTY, FILM, UNIVERSITY = (
    5,
    515,
    476028,
    783794,
    6256,
    35657,
    47168,
    11424,
    3918,
)
USA, FRANCE, ILLINOIS, TEXAS, SANGAMON, LAMAR = 30, 142, 1204, 1439, 2001, 2002
CLASSES = {
    **{HUMAN: "human", CITY: "city", CLUB: "association football club", COMPANY: "company", COUNTRY: "country"},
    **{
        STATE: "state of the United States",
        COUNTY: "county of the United States",
        FILM: "film",
        UNIVERSITY: "university",
    },
}
ITEMS: list[tuple[int, str, list[str], dict[str, Any], int, str]] = [
    (USA, "United States of America", ["United States", "USA"], {"P31": [COUNTRY]}, 300, "country"),
    (FRANCE, "France", [], {"P31": [COUNTRY]}, 300, "country"),
    (ILLINOIS, "Illinois", [], {"P31": [STATE], "P131": [USA], "P17": [USA]}, 150, "state"),
    (TEXAS, "Texas", [], {"P31": [STATE], "P131": [USA], "P17": [USA]}, 150, "state"),
    (SANGAMON, "Sangamon County", [], {"P31": [COUNTY], "P131": [ILLINOIS], "P17": [USA]}, 40, "county"),
    (LAMAR, "Lamar County", [], {"P31": [COUNTY], "P131": [TEXAS], "P17": [USA]}, 40, "county"),
    (90, "Paris", [], {"P31": [CITY], "P17": [FRANCE]}, 280, "capital of France"),
    (91, "Paris", [], {"P31": [CITY], "P131": [LAMAR], "P17": [USA]}, 20, "city"),
    (92, "Paris", [], {"P31": [HUMAN]}, 3, "rapper"),
    (93, "Springfield", [], {"P31": [CITY], "P131": [SANGAMON], "P17": [USA]}, 60, "city"),
    (94, "Springfield", [], {"P31": [CITY], "P131": [LAMAR], "P17": [USA]}, 60, "city"),
    (95, "Paris Saint-Germain F.C.", ["Paris"], {"P31": [CLUB], "P17": [FRANCE]}, 90, "football club"),
    (96, "Acme", [], {"P31": [COMPANY], "P159": [93], "P571": "1976"}, 50, "maker of anvils"),
    (97, "Acme", [], {"P31": [COMPANY], "P17": [FRANCE], "P571": "1968-05-03"}, 50, "maker of anvils"),
    (98, "World Anvil Trade Agency", [], {"P31": [COMPANY]}, 70, "agency"),
    (99, "The Anvil", [], {"P31": [FILM]}, 40, "1954 film"),
    (100, "The Anvil", [], {"P31": [FILM]}, 40, "2018 film"),
    (101, "Anvil Holdings Group, Inc.", [], {"P31": [COMPANY]}, 30, "company"),
    (102, "Ann Anvil", [], {"P31": [HUMAN], "P571": "1901", "P569": "1950"}, 30, "writer"),
    (103, "Bob Anvil", [], {"P31": [HUMAN], "P571": "1901"}, 30, "writer"),
    (104, "Harvard", [], {"P31": [UNIVERSITY], "P17": [USA], "P131": [SANGAMON]}, 100, "university"),
]


def line(number: int, label: str, aliases: list[str], claims: dict[str, Any], links: int, description: str) -> str:
    """A line of a dump; the value of a property is a list of items, or a date such as 1976."""

    def dated(name: str, value: str) -> dict[str, Any]:
        time = {"time": f"+{(value + '-00-00')[:10]}T00:00:00Z", "precision": 9 if len(value) == 4 else 11}
        made = claim(name, value)
        time_value = {"datatype": "time", "datavalue": {"value": time, "type": "time"}}
        return made | {"mainsnak": made["mainsnak"] | time_value}

    stated = [
        made
        for name, values in claims.items()
        for made in ([dated(name, values)] if isinstance(values, str) else [claim(name, value) for value in values])
    ]
    return with_sitelinks(item(number, label, *stated, description=description, aliases=tuple(aliases)), links)


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Linker:
    """A KB of people, places, organisations and works."""
    folder = tmp_path_factory.mktemp("world")
    lines = [line(*one) for one in ITEMS] + [item(qid, label) for qid, label in CLASSES.items()]
    keep = "people,places,organisations,works"
    namesake.build_kb([dump(folder / "dump.json", *lines)], folder / "kb", keep=keep)
    return Linker(folder / "kb")


def found(linker: Linker, name: str, kind: str | None = None, **values: str) -> list[int]:
    """The numbers of the candidates, best first."""
    query = Query(name, values=tuple((called.replace("_", " "), value) for called, value in values.items()))
    return [int(one.qid[1:]) for one in reconcile_queries(linker, [query], 20, kind)[0]]


# candidates of a kind
@pytest.mark.parametrize(
    ("kind", "wanted"),
    [
        (None, {90, 91, 92, 95}),
        ("person", {92}),
        ("places", {90, 91}),
        ("organisation", {95}),
        ("organization", {95}),
        ("organizations", {95}),
        ("people,orgs", {92, 95}),
    ],
)
def test_candidates_are_of_the_kinds_asked_for(world: Linker, kind: str | None, wanted: set[int]) -> None:
    assert set(found(world, "Paris", kind)) == wanted
    limited = world if kind is None else Linker(world.kb, kinds=kind)
    assert set(found(limited, "Paris")) == wanted


def test_a_misspelt_kind_and_one_that_the_kb_lacks(world: Linker) -> None:
    table = pa.table({"name": ["Paris"]})
    with pytest.raises(NamesakeError, match="did you mean 'organisation'"):
        reconcile_table(world, table, Layout("name", kind="organisaton"))
    with pytest.raises(NamesakeError, match="has no events"):
        reconcile_table(world, table, Layout("name", kind="event"))


def test_a_name_of_another_kind_is_named_in_the_reason(world: Linker) -> None:
    table = pa.table({"name": ["Ann Anvil", "Nobody Atall", ""]})
    answers = reconcile_table(world, table, Layout("name", kind="place")).table
    other = "no candidates of this kind; Q102 is of the kind person"
    assert answers.column("reason").to_pylist() == [other, "no candidates", "no name"]


@pytest.mark.parametrize(
    ("name", "kind", "qid"),
    [
        ("Acme Corp.", "organisation", 96),
        ("the Acme Co.", "organisation", 96),
        ("W.A.T.A.", "organisation", 98),
        ("WATA", "organisation", 98),
        ("Anvil", "organisation", 101),
        ("Acme, Inc.", "organisation", 96),
        ("Springfield, Illinois", "place", 93),
        ("Anvil, Ann", None, 102),
        ("Anvil, Ann", "people", 102),
    ],
)
def test_short_forms_and_names_with_a_comma(world: Linker, name: str, kind: str | None, qid: int) -> None:
    assert qid in found(world, name, kind)


def test_a_whole_name_matches_better_than_a_short_form(world: Linker) -> None:
    whole, short = (
        reconcile_queries(world, [Query(name)], 1, "organisation")[0][0].score
        for name in ("World Anvil Trade Agency", "WATA")
    )
    assert whole > short
    assert found(world, "WATA", "people") == []


def test_a_short_form_that_counts_only_in_texts_gives_no_candidate(world: Linker) -> None:
    assert {SANGAMON, LAMAR}.isdisjoint(found(world, "County", "place"))  # their last word


# the kind of a column
def test_the_kind_of_a_column_is_guessed_and_said(world: Linker) -> None:
    heard: list[str] = []
    columns = {"Place": ["Paris", "Springfield", "Illinois"], "Company": ["Acme", "WATA", "Paris"], "x": ["Ann Anvil"]}
    for heading, wanted in (("Place", "place"), ("Company", "organisation"), ("x", "person")):
        chosen = kinds_of_column(world, None, columns[heading], heading, heard.append)
        assert chosen == (named(wanted).number,)
        said = f"matching {named(wanted).plural} (guessed from the column; `kind=` changes it)"
        assert heard.pop() == said
    mixed = ["Ann Anvil", "Bob Anvil", "Illinois", "Texas", "The Anvil"]
    for heading in ("name", "Surname", "Gene"):  # the last two have nouns of items that are no entities
        assert kinds_of_column(world, None, mixed, heading, heard.append) is None
        assert "every kind" in heard.pop()
    assert kinds_of_column(world, "places", mixed, "name", heard.append) == (named("place").number,)
    assert kinds_of_column(Linker(world.kb, kinds="people"), None, mixed, "name", heard.append) == (1,)
    assert not heard


def test_a_kb_of_people_needs_no_guess(linker: Linker) -> None:
    heard: list[str] = []
    table = pa.table({"name": ["Michael Jordan", "Paris"]})
    reconcile_table(linker, table, Layout("name"), say=heard.append)
    assert not heard
    assert [kind.name for kind in linker.kb.kinds] == ["person"]


def test_shares_of_kinds(world: Linker) -> None:
    """Each known name counts the same; of one name, kinds share by the fame of their best."""
    shares = dict(
        zip([kind.name for kind in kinds()], shares_of_kinds(world.kb, ["Paris", "Acme", "Paris", "?"]), strict=True)
    )
    paris = {"person": 4, "place": 281, "organisation": 91}
    for kind, fame in paris.items():
        acme = kind == "organisation"
        assert shares[kind] == pytest.approx((fame / sum(paris.values()) + acme) / 2)
    assert shares_of_kinds(world.kb, ["?", ""]).sum() == 0


# typed columns
@pytest.mark.parametrize(
    ("name", "values", "best"),
    [
        ("Paris", {"country": "USA"}, 91),
        ("Paris", {"country": "France"}, 90),
        ("Paris", {"state": "Texas"}, 91),
        ("Springfield", {"state": "Illinois"}, 93),
        ("Springfield", {"located_in": "Texas"}, 94),
        ("Springfield", {"P131": "Lamar County"}, 94),
        ("Acme", {"headquarters": "Springfield"}, 96),
        ("Acme", {"state": "Illinois"}, 96),
        ("Acme", {"country": "France"}, 97),
        ("Acme", {"inception": "1976"}, 96),
        ("Acme", {"founded": "3 May 1968"}, 97),
        ("The Anvil", {"year": "1954"}, 99),
        ("The Anvil", {"released": "2018"}, 100),
    ],
)
def test_values_are_compared_by_the_properties_of_the_kind(
    world: Linker, name: str, values: dict[str, str], best: int
) -> None:
    plain, typed = (
        {one.qid: one.score for one in reconcile_queries(world, [Query(name, values=told)], 20)[0]}
        for told in ((), tuple((key.replace("_", " "), value) for key, value in values.items()))
    )
    gain = {qid: typed[qid] - plain[qid] for qid in plain}
    assert gain[f"Q{best}"] == pytest.approx(max(gain.values()))
    assert gain[f"Q{best}"] > 0.2


def test_everyday_names_of_properties_depend_on_the_kind(world: Linker, linker: Linker) -> None:
    by_kind = {kind: numbers for numbers, some in (find_property(world.kb, "country") or {}).items() for kind in some}
    assert by_kind[named("person").number] == (27, 1532)
    assert by_kind[named("place").number][0] == 17
    assert by_kind[named("work").number][0] == 495
    assert find_property(linker.kb, "headquarters") is None  # it has people only
    assert find_property(linker.kb, "country") == {(27, 1532): (named("person").number,)}


def test_dates_of_people_are_those_of_their_lives(world: Linker) -> None:
    dates = {qid: world.kb.entity(f"Q{qid}").birth for qid in (96, 97, 102, 103)}
    assert dates == {96: "1976", 97: "1968-05-03", 102: "1950", 103: None}


# OpenRefine
@pytest.fixture(scope="module")
def refine(world: Linker) -> Iterator[Client]:
    with running(world) as client:
        yield client


def test_types_of_kinds_and_classes(refine: Client, official: Any) -> None:  # noqa: F811
    defaults = {one["id"] for one in refine.get("/reconcile").json["defaultTypes"]}
    assert defaults == {"Q5", "Q27096213", "Q43229", "Q17537576"}
    everything = asked(refine, {"q": {"query": "Paris", "limit": 50}})["q"]["result"]
    shown = {one["id"]: {type_["id"] for type_ in one["type"]} for one in everything}
    city = {f"Q{CITY}", "Q27096213"}
    assert shown == {"Q90": city, "Q91": city, "Q92": {"Q5"}, "Q95": {f"Q{CLUB}", "Q43229"}}
    for strict in ("any", "all"):
        for type_ in ("Q5", "Q43229", "Q27096213", f"Q{CITY}", f"Q{CLUB}"):
            query = {"query": "Paris", "type": type_, "type_strict": strict, "limit": 50}
            result = posted(refine, queries={"q": query})
            official["reconciliation-result-batch"].validate(result.json)
            assert {one["id"] for one in result.json["q"]["result"]} == {qid for qid in shown if type_ in shown[qid]}
    query = {"query": "Paris", "type": "Q43229", "type_strict": "should", "limit": 50}
    preferred = asked(refine, {"q": query})["q"]["result"]
    assert len(preferred) == len(everything)
    assert {one["id"]: one["score"] for one in preferred}["Q95"] > {one["id"]: one["score"] for one in everything}[
        "Q95"
    ]


def test_types_are_suggested_by_their_label_and_the_name_of_the_kind(refine: Client) -> None:
    for prefix, wanted in (("organis", "Q43229"), ("organiz", "Q43229"), ("place", "Q27096213"), ("cit", f"Q{CITY}")):
        suggested = fits(refine.get(f"/reconcile/suggest/type?prefix={prefix}"), SUGGESTED)["result"]
        assert wanted in {one["id"] for one in suggested}


@pytest.mark.parametrize(
    ("type_", "wanted"),
    [
        ("Q5", {"P569", "P570", "P31"}),
        ("Q43229", {"P571", "P576", "P31", "P17", "P131", "P159"}),
        (f"Q{CITY}", {"P571", "P576", "P31", "P17", "P131"}),
        ("Q17537576", {"P577", "P31"}),
    ],
)
def test_properties_are_those_of_the_type(refine: Client, type_: str, wanted: set[str]) -> None:
    proposed = fits(refine.get(f"/reconcile/properties?type={type_}"), PROPOSED)["properties"]
    assert {one["id"] for one in proposed} == wanted


def test_values_of_dates_are_those_of_the_kind(refine: Client) -> None:
    extend = {"ids": ["Q96", "Q97", "Q102"], "properties": [{"id": name} for name in ("P571", "P569")]}
    rows = posted(refine, extend=extend).json["rows"]
    assert rows["Q96"] == {"P571": [{"str": "1976"}], "P569": []}
    assert rows["Q97"]["P571"] == [{"date": "1968-05-03T00:00:00+00:00"}]
    assert rows["Q102"] == {"P571": [], "P569": [{"str": "1950"}]}


# files and frames
def test_a_file_and_a_frame(world: Linker, tmp_path: Path) -> None:
    (tmp_path / "in.csv").write_text("Company,Seat\nAcme,Springfield\nWorld Anvil Trade Agency,\n")
    heard: list[str] = []
    done = namesake.reconcile(
        world, tmp_path / "in.csv", tmp_path / "out.csv", type={"headquarters": "Seat"}, say=heard.append
    )
    assert any("matching organisations" in one for one in heard)
    best = [
        qid or other
        for qid, other in zip(*(done.table.column(name).to_pylist() for name in ("qid", "runner_up")), strict=True)
    ]
    assert best == ["Q96", "Q98"]
    frame = namesake.reconcile_frame(
        pa.table({"Company": ["Acme"], "Seat": ["Springfield"]}), world, "Company", type={"hq": "Seat"}, kind="org"
    )
    assert (frame.column("qid")[0].as_py() or frame.column("runner_up")[0].as_py()) == "Q96"
