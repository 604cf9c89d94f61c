"""Tables of names: whom rows mean, why, and the page on which doubtful ones are settled."""

import csv
import json
import math
from datetime import date
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

import namesake
from namesake import Linker
from namesake.articles.days import Day, read_day
from namesake.kb.records import describe
from namesake.kernels.link.candidate_tables import Stated, agree
from namesake.kernels.types import Ragged
from namesake.reconciling import Query, judge, plain_name, reconcile_queries
from namesake.scorers.value_lookup import find_property

JORDAN, SCIENTIST, FOOTBALLER = "Q41421", "Q3308285", "Q6831716"
TABLE = """Name,Team,Notes,Year
Michael Jordan,Chicago Bulls,basketball player from the USA,1996
Michael Jordan,,professor of machine learning at Berkeley,2014
Michael Jordan,,,
Nobody Atall,,,
,,,
"""


def answer(linker: Linker, query: Query) -> str | None:
    [candidates] = reconcile_queries(linker, [query])
    return next((one.qid for one in candidates if one.matched), None)


# whom rows mean
@pytest.mark.parametrize(
    ("query", "qid"),
    [
        (Query("Michael Jordan", "Chicago Bulls, basketball player from the USA", "1996"), JORDAN),
        (Query("Michael Jordan", "professor of machine learning at Berkeley", "2014"), SCIENTIST),
        (Query("Jordan, Michael", values=(("occupation", "computer scientist"),)), SCIENTIST),
        (Query("Michael Jordan", values=(("P106", "Q3665646"),)), JORDAN),
        (Query("Michael Jordan", values=(("date of birth", "17 February 1963"),)), JORDAN),
        (Query("Michael Jordan", values=(("born", "1984-04-07"), ("country", "United Kingdom"))), FOOTBALLER),
        (Query("Michael Jordan", values=(("member of sports team", "Washington Wizards"),)), JORDAN),
        (Query("Michael Jordan", values=(("born", "1801"),)), None),
        (Query("Michael Jordan", values=(("occupation", "chess player"), ("country", "Norway"))), None),
        (Query("Michael Jordan", values=(("occupation", "politician"),)), "Q6831715"),
        (Query("Nobody Atall", "basketball player"), None),
        (Query(""), None),
        (Query("  "), None),
    ],
    ids=lambda value: str(value)[:60],
)
def test_rows_mean_whom_their_cells_tell(linker, query, qid):
    assert answer(linker, query) == qid


def test_a_value_that_differs_lowers_the_score_and_one_that_agrees_raises_it(linker):
    plain, agrees, differs = (
        {one.qid: one.score for one in candidates}
        for candidates in reconcile_queries(
            linker,
            [Query("Michael Jordan", values=values) for values in ((), (("born", "1963"),), (("born", "1931"),))],
            limit=20,
        )
    )
    assert differs[JORDAN] < plain[JORDAN] < agrees[JORDAN]
    assert plain["Q6831719"] == agrees["Q6831719"] == differs["Q6831719"]  # of whom no birth is stated


COUNTRIES = [
    ("Eoin Irish", "Ireland", ["Republic of Ireland", "Irish"]),
    ("Eoin Kingdom", "United Kingdom", ["U.K.", "Great Britain and Northern Ireland", "British"]),
    ("Eoin States", "United States of America", ["USA", "US", "American"]),
    ("Eoin Canada", "Canada", ["British North America"]),
    ("Eoin Guinea", "Guinea", []),
    ("Eoin Papua", "Papua New Guinea", []),
]


def item(number: int, label: str, aliases: list[str], claims: dict[str, list[int]], description: str = "") -> str:
    """A line of a dump: an item with these statements about items."""
    statements = {
        property: [
            {
                "mainsnak": {
                    "snaktype": "value",
                    "property": property,
                    "datatype": "wikibase-item",
                    "datavalue": {
                        "value": {"entity-type": "item", "numeric-id": value, "id": f"Q{value}"},
                        "type": "wikibase-entityid",
                    },
                },
                "type": "statement",
                "rank": "normal",
            }
            for value in values
        ]
        for property, values in claims.items()
    }
    names = [{"language": "en", "value": alias} for alias in aliases]
    texts = {"labels": {"en": {"language": "en", "value": label}}, "aliases": {"en": names}}
    texts |= {"descriptions": {"en": {"language": "en", "value": description}}} if description else {}
    return json.dumps({"id": f"Q{number}", "type": "item", **texts, "claims": statements, "sitelinks": {}})


def linker_of(folder: Path, lines: list[str]) -> Linker:
    """A linker with a KB of the items in these lines."""
    (folder / "dump.json").write_text("[\n" + ",\n".join(lines) + "\n]\n")
    namesake.build_kb([folder / "dump.json"], folder / "kb", keep="people")
    return Linker(folder / "kb")


@pytest.fixture(scope="session")
def citizens(tmp_path_factory) -> Linker:
    """A KB of one citizen of each country, all of one alias."""
    lines = [item(5, "human", [], {})]
    for at, (person, country, aliases) in enumerate(COUNTRIES):
        claims = {"P31": [5], "P27": [100 + at]}
        lines += [item(100 + at, country, aliases, {}), item(200 + at, person, ["Eoin"], claims)]
    return linker_of(tmp_path_factory.mktemp("citizens"), lines)


@pytest.mark.parametrize(
    ("told", "agree", "part"),
    [
        ("Ireland", {"Ireland"}, set()),
        ("United Kingdom", {"United Kingdom"}, set()),
        ("united states of America", {"United States of America"}, set()),
        ("US", set(), {"United States of America"}),
        ("USA", set(), {"United States of America"}),
        ("U.K.", set(), {"United Kingdom"}),
        ("British", set(), {"United Kingdom", "Canada"}),
        ("Guinea", {"Guinea"}, set()),
        ("Papua New Guinea", {"Papua New Guinea"}, set()),
        ("Q100", {"Ireland"}, set()),
    ],
)
def test_a_country_agrees_by_its_name_alone(citizens, told, agree, part):
    """Words that a country has in common with the one told are no agreement, let alone letters."""
    added = {}
    for person, country, _ in COUNTRIES:
        plain, said = (
            reconcile_queries(citizens, [Query(person, values=values)])[0][0].score
            for values in ((), (("country", told),))
        )
        added[country] = said - plain
    assert {country for country, value in added.items() if value > 1.2} == agree
    assert {country for country, value in added.items() if 0.05 < value <= 1.2} == part
    if told == "British":
        assert added["United Kingdom"] == pytest.approx(added["Canada"])
    if told == "Guinea":
        assert added["Papua New Guinea"] == pytest.approx(0)
    assert min(added.values()) < -1


SCOTLAND, KINGDOM, FRANCE, ALGERIA = 100, 101, 102, 103


@pytest.fixture(scope="session")
def islanders(tmp_path_factory) -> Linker:
    """A KB whose people state both Scotland and the United Kingdom, and some of whom are described as Welsh."""
    countries = [("Scotland", ["Scottish nation"]), ("United Kingdom", []), ("France", []), ("Algeria", [])]
    lines = [item(5, "human", [], {})]
    lines += [item(SCOTLAND + at, label, aliases, {}) for at, (label, aliases) in enumerate(countries)]
    citizenships = [[SCOTLAND, KINGDOM]] * 3 + [[SCOTLAND]] * 4 + [[KINGDOM]] * 40
    citizenships += [[FRANCE]] * 20 + [[FRANCE, ALGERIA]] * 2 + [[ALGERIA]]
    for at, countries_of_one in enumerate(citizenships):
        description = "Welsh miner" if countries_of_one == [KINGDOM] and at % 4 == 0 else ""
        lines.append(item(200 + at, f"Person{at} Islander", [], {"P31": [5], "P27": countries_of_one}, description))
    return linker_of(tmp_path_factory.mktemp("islanders"), lines)


@pytest.mark.parametrize(
    ("told", "agrees", "is_silent", "differs"),
    [
        ("Scotland", "Scotland", {"United Kingdom"}, {"France", "Algeria"}),
        ("Scottish", None, {"United Kingdom"}, {"France", "Algeria"}),
        ("United Kingdom", "United Kingdom", {"Scotland"}, {"France", "Algeria"}),
        ("Welsh", None, {"United Kingdom"}, {"Scotland", "France", "Algeria"}),
        ("France", "France", set(), {"Scotland", "United Kingdom", "Algeria"}),
    ],
)
def test_a_country_does_not_contradict_its_parts(islanders, told, agrees, is_silent, differs):
    """Three people of seven state both Scotland and the United Kingdom; two people of Algeria are too few."""
    of_country = {"Scotland": 3, "United Kingdom": 8, "France": 50, "Algeria": 69}
    queries = [Query(f"Person{at} Islander", values=(("nationality", told),)) for at in of_country.values()]
    found = [candidates[0].parts for candidates in reconcile_queries(islanders, queries)]
    added = {
        country: parts.get("PropertyValues: nationality", 0.0) for country, parts in zip(of_country, found, strict=True)
    }
    assert agrees is None or added[agrees] > 0.3
    assert {country for country, value in added.items() if value == 0} == is_silent
    assert {country for country, value in added.items() if value < -1} == differs


@pytest.mark.parametrize(
    ("types", "qid"),
    [
        ((), JORDAN),
        (("Q5",), JORDAN),
        (("Q3665646",), JORDAN),
        (("Q82955",), None),
        (("Q82955", "Q3665646"), JORDAN),
        (("Q515",), None),
        (("Q999999999",), None),
    ],
)
def test_the_type_that_a_query_asks_for_weighs(linker, types, qid):
    """Jordan the basketball player is no answer where a politician (Q82955) or a city (Q515) is asked for."""
    assert answer(linker, Query("Michael Jordan", "basketball player", types=types)) == qid


def test_the_type_moves_candidates_by_their_own_statements(linker):
    plain, typed = (
        {one.qid: one for one in reconcile_queries(linker, [Query("Michael Jordan", types=types)], 100)[0]}
        for types in ((), ("Q82955",))
    )
    moved = {qid: typed[qid].score - plain[qid].score for qid in plain}
    assert moved == pytest.approx({qid: one.parts.get("EntityType", 0.0) for qid, one in typed.items()})
    politicians = {
        qid for qid in plain if "Q82955" in [one.value for one in describe(linker.kb, linker.kb.row(qid)).statements]
    }
    assert {qid for qid, value in moved.items() if value > 0} == politicians != set()
    assert moved[JORDAN] < -3


def test_unknown_properties_are_read_as_words(linker):
    told = reconcile_queries(linker, [Query("Michael Jordan", values=(("remark", "Chicago Bulls basketball"),))])
    words = reconcile_queries(linker, [Query("Michael Jordan", "Chicago Bulls basketball")])
    assert told == words
    assert find_property(linker.kb, "remark") is None


def test_scores_are_the_sum_of_their_parts_and_probabilities_add_up(linker):
    queries = [
        Query("Michael Jordan", "basketball player", "1996", (("country", "USA"), ("born", "1963"))),
        Query("Chris Carter", "writer of The X-Files"),
    ]
    judged = judge(linker, queries)
    for at, candidates in enumerate(reconcile_queries(linker, queries, limit=100)):
        nobody = sum(added[judged.mention[at]] for added in judged.scored.nil_parts.values())
        total = math.exp(nobody) + sum(math.exp(one.score) for one in candidates)
        for one in candidates:
            assert one.score == pytest.approx(sum(one.parts.values()))
            assert one.confidence == pytest.approx(math.exp(one.score) / total)
        assert [one.score for one in candidates] == sorted((one.score for one in candidates), reverse=True)


def test_a_row_means_the_same_alone_and_among_others(linker):
    queries = [
        Query(name, context, None, values)
        for name in ("Michael Jordan", "Chris Carter", "", "Nobody Atall")
        for context in ("", "writer", "basketball player of Chicago. He won.")
        for values in ((), (("occupation", "writer"),), (("born", "1963"), ("country", "USA")))
    ]
    alone = [reconcile_queries(linker, [query])[0] for query in queries]
    assert reconcile_queries(linker, queries) == alone


def test_a_row_without_a_date_is_of_no_time(linker):
    def era(query: Query) -> set[float]:
        return {one.parts.get("YearsFromLifetime", 0.0) for one in reconcile_queries(linker, [query], 100)[0]}

    assert era(Query("Michael Jordan")) == {0.0}
    assert era(Query("Michael Jordan", date="1850")) != {0.0}
    assert era(Query("Michael Jordan", "in 1850")) != {0.0}


# the kernel
lists = st.lists(st.lists(st.integers(0, 5), max_size=4, unique=True).map(sorted), min_size=3, max_size=3)


def ragged(rows: list[list[int]]) -> Ragged:
    indptr = np.concatenate([[0], np.cumsum([len(row) for row in rows])]).astype(np.int64)
    return Ragged(indptr, np.array([value for row in rows for value in row], np.int32))


@pytest.mark.kernel
@given(
    statements=lists,
    pairs=st.lists(st.tuples(st.integers(1, 3), st.integers(-3, 2)), min_size=6, max_size=6),
    labels=lists,
    aliases=lists,
    strings=lists,
    said=lists,
    named=lists,
    initialled=lists,
    wanted=st.sets(st.integers(1, 3), min_size=1),
)
def test_agreement_is_the_named_value_else_the_best_share_of_words_of_one_statement(
    statements, pairs, labels, aliases, strings, said, named, initialled, wanted
):
    weight = [1.0, 2.0, 0.5, 4.0, 1.0, 3.0]
    rows, texts = [0, 1, 2, -1, 0], [0, 1, 2, 0, 1]
    stated = Stated(
        ragged(statements),
        np.array([p for p, _ in pairs], np.int32),
        np.array([v for _, v in pairs], np.int32),
        ragged(labels),
        ragged(aliases),
        ragged(strings),
    )
    unknown = np.array([0.0, 1.0, 2.0])
    numbers = np.array(rows), np.array(texts), np.array(sorted(wanted))
    asked = ragged(named), ragged(initialled), ragged(said)
    same, share, best, count = agree(*numbers, *asked, unknown, np.array(weight), stated)
    for k, (row, text) in enumerate(zip(rows, texts, strict=True)):
        found = {}
        for pair in statements[row] if row >= 0 else []:
            number, value = pairs[pair]
            if number not in wanted:
                continue
            words = set(strings[~value]) if value < 0 else {*labels[value], *aliases[value]}
            total = unknown[text] + sum(weight[word] for word in said[text])
            part = sum(weight[word] for word in said[text] if word in words) / total if said[text] else 0.0
            is_named = pair in named[text]
            found[pair] = (is_named, 1.0 if is_named or pair in initialled[text] else part)
        expected = max(found.values(), default=(False, 0.0))
        assert (bool(same[k]), share[k]) == (expected[0], pytest.approx(expected[1]))
        assert count[k] == len(found)
        assert (best[k] < 0) == (not found)
        if found:
            assert found[int(best[k])] == pytest.approx(expected)


# cells
@given(st.dates(date(1000, 1, 1), date(2099, 12, 31)))
def test_dates_are_read_as_tables_write_them(day):
    whole = Day(day.year, day.month, day.day)
    for text in (
        day.isoformat(),
        f"{day.day:02}.{day.month:02}.{day.year:04}",
        day.strftime(f"%d %B {day.year:04}"),
        day.strftime(f"%B %d, {day.year:04}"),
        f"{day.isoformat()}T00:00:00Z",
    ):
        assert read_day(text) == whole
    assert read_day(f"{day.year:04}") == Day(day.year)
    assert read_day(f"03/04/{day.year:04}") == Day(day.year)


@given(st.text(max_size=30))
def test_any_cell_is_a_date_or_none(text):
    day = read_day(text)
    assert day is None or (0 <= day.month <= 12 and 0 <= day.day <= 31)


@pytest.mark.parametrize(
    ("cell", "name"),
    [
        ("Jordan, Michael", "Michael Jordan"),
        ("  Michael \n Jordan ", "Michael Jordan"),
        ("Sammy Davis, Jr.", "Sammy Davis, Jr."),
        ("Martin Luther King, Ph.D.", "Martin Luther King, Ph.D."),
        ("a, b, c", "a, b, c"),
        (",", ","),
        ("", ""),
        ("\ud800x", "\ufffdx"),
    ],
)
def test_names_are_turned_as_texts_have_them(cell, name):
    assert plain_name(cell) == name


@given(
    st.lists(st.builds(Query, st.text(max_size=20), st.text(max_size=40), st.none() | st.text(max_size=8)), max_size=5)
)
def test_any_cells_can_be_asked(linker, queries):
    found = reconcile_queries(linker, queries)
    assert len(found) == len(queries)


# the command
def test_own_columns_stay_and_whom_is_added(run):
    Path("people.csv").write_text(TABLE)
    ran = run("reconcile", "people.csv", "--name", "Name", "--context", "Team,Notes", "--date", "Year", "-o", "o.csv")
    assert ran.code == 0
    assert "5 rows, 2 with an answer" in ran.err
    with Path("o.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    with Path("people.csv").open(newline="") as file:
        assert [{name: row[name] for name in ("Name", "Team", "Notes", "Year")} for row in rows] == list(
            csv.DictReader(file)
        )
    assert [row["qid"] for row in rows] == [JORDAN, SCIENTIST, "", "", ""]
    assert rows[0]["label"] == "Michael Jordan"
    assert "basketball" in rows[0]["description"]
    assert 0.5 <= float(rows[0]["confidence"]) <= 1
    assert rows[0]["runner_up"].startswith("Q")
    assert "shares words of the row" in rows[0]["reason"]
    assert rows[2]["reason"].startswith(("none fits", "too close to call", "not sure enough"))
    assert [row["reason"] for row in rows[3:]] == ["no candidates", "no name"]


@pytest.mark.parametrize("source", ["people.tsv", "people.jsonl", "people.json", "people.parquet", "people.csv.gz"])
def test_every_format_gives_the_same_answers(run, source):
    with open("people.csv", "w", newline="") as file:  # noqa: PTH123
        file.write(TABLE)
    rows = list(csv.DictReader(TABLE.splitlines()))
    path = Path(source)
    if source.endswith(".tsv"):
        path.write_text(TABLE.replace(",", "\t"))
    elif source.endswith(".gz"):
        import gzip

        path.write_bytes(gzip.compress(TABLE.encode()))
    elif source.endswith(".parquet"):
        pq.write_table(pa.Table.from_pylist(rows), path)
    else:
        lines = [json.dumps(row) for row in rows]
        path.write_text(f"[{','.join(lines)}]" if source.endswith(".json") else "\n".join(lines))
    out = "o.parquet" if source.endswith(".parquet") else "o.jsonl"
    options = ["--name", "Name", "--context", "Team", "--context", "Notes", "--date", "Year"]
    assert run("reconcile", source, *options, "-o", out).code == 0
    if out == "o.parquet":
        found = pq.read_table(out).to_pylist()
    else:
        found = [json.loads(line) for line in Path(out).read_text().splitlines()]
    assert [row["qid"] for row in found] == [JORDAN, SCIENTIST, None, None, None]
    assert [row["Team"] or "" for row in found] == [row["Team"] for row in rows]


def test_columns_of_our_names_are_kept_beside_ours(run):
    Path("p.csv").write_text("label,qid\nMichael Jordan,mine\n")
    ran = run("reconcile", "p.csv", "-o", "o.csv")
    assert ran.code == 0
    assert "names are in the column 'label'" in ran.err
    [row] = csv.DictReader(Path("o.csv").read_text().splitlines())
    assert row["qid"] == "mine"
    assert {"namesake_qid", "namesake_label"} <= set(row)


@pytest.mark.parametrize(
    ("source", "written", "said"),
    [
        ("utf-8", "utf-8", None),
        ("utf-8-sig", "utf-8-sig", "UTF-8 with a byte order mark"),
        ("cp1252", "utf-8", "UTF-8"),
        ("utf-16", "utf-8-sig", "UTF-8 with a byte order mark"),
    ],
)
@pytest.mark.parametrize("separator", [",", ";", "|"])
def test_csv_is_written_as_it_was_read_and_always_as_utf_8(run, source, written, said, separator):
    table = f'Name{separator}Note\nMichael Jordan{separator}José\nMichael Jordan{separator}"a{separator}b"\n'
    Path("p.csv").write_bytes(table.encode(source))
    ran = run("reconcile", "p.csv", "--name", "Name", "--encoding", source, "-o", "o.csv")
    assert ran.code == 0
    if said is None and separator == ",":
        assert "written as" not in ran.err
    else:
        between = {",": "commas", ";": "semicolons", "|": "bars"}[separator]
        assert f"o.csv: written as {said or 'UTF-8'}, cells separated by {between}" in ran.err
    raw = Path("o.csv").read_bytes()
    assert raw.startswith(b"\xef\xbb\xbf") == (written == "utf-8-sig")
    lines = raw.decode(written).splitlines()
    assert lines[0].startswith(f"Name{separator}Note{separator}qid{separator}label")
    assert lines[1].startswith(f"Michael Jordan{separator}José{separator}")
    rows = list(csv.DictReader(lines, delimiter=separator))
    assert rows[1]["Note"] == f"a{separator}b"
    assert rows[0]["reason"]
    run("reconcile", "p.csv", "--name", "Name", "--encoding", source, "-o", "o.tsv")
    assert "\tqid\t" in Path("o.tsv").read_bytes().decode(written)


def test_a_date_that_cannot_be_read_is_named_with_its_row(run):
    Path("p.csv").write_text("Name,Year\nMichael Jordan,1996\nMichael Jordan,long ago\n")
    ran = run("reconcile", "p.csv", "--name", "Name", "--date", "Year", "-o", "o.csv")
    assert "1 row without a date: Year cannot be read as a date, such as 'long ago' in row 3" in ran.err
    Path("p.csv").write_text("Name,Born\nMichael Jordan,1963; 17.02.1963\nMichael Jordan,32.13.1963\n")
    ran = run("reconcile", "p.csv", "--name", "Name", "--type", "birth=Born", "-o", "o.csv")
    assert "1 row without a date: Born cannot be read as a date, such as '32.13.1963' in row 3" in ran.err
    Path("p.csv").write_text('Name,Year\n"Michael\nJordan",1996\n\nMichael Jordan,long ago\n')
    ran = run("reconcile", "p.csv", "--name", "Name", "--date", "Year", "-o", "o.csv")
    assert "such as 'long ago' in row 4" in ran.err  # as a spreadsheet counts, whatever cells hold


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--name", "Nmae", "-o", "o.csv"], "did you mean 'Name'?"),
        (["--name", "Name", "--type", "ocupation=Team", "-o", "o.csv"], "occupation"),
        (["--name", "Name", "--type", "Team", "-o", "o.csv"], "property=column"),
        (["--name", "Name", "-o", "o.xls"], "tables are written as"),
        (["--name", "Name", "-o", "p.csv"], "would overwrite"),
        (
            ["--name", "Name", "-o", "o.csv", "--review", "absent/r.html"],
            "absent: no such folder; create it to",
        ),
        (["--name", "Name"], "-o"),
    ],
    ids=lambda value: str(value)[:40],
)
def test_mistakes_are_one_line(run, arguments, message):
    Path("p.csv").write_text(TABLE)
    ran = run("reconcile", "p.csv", *arguments)
    assert ran.code == 2
    assert message in ran.err.splitlines()[-1]
    assert not Path("o.csv").exists()
