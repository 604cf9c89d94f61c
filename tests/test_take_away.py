"""What people take away: links without NIL, and later tests of SQLite and spreadsheets, against second readers."""

import json
import string
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from namesake import link_frame
from namesake.drawing.evidence import GROUP_OF, for_and_against, summary_sentence
from namesake.drawing.theme import GROUPS, PARTS, REASONS, nil_confidence
from namesake.engines.folder import link_folder
from namesake.reconciling import stated_qid, usual_form
from namesake.sample import ARTICLES
from namesake.scorers.registry import DOUBTS, SCORERS

TEXT = "Michael Jordan spoke on Monday. Chris Carter laughed, and Xavier Unknownson did not. The Jordan is a river."


def rows_of(path: Path) -> list[dict]:
    return [json.loads(line) for line in path.read_text().splitlines()]


# links without NIL
def test_linked_only_is_the_rows_with_a_qid_in_every_output(run, linker, tmp_path):
    for out in ("all.jsonl", "all.parquet"):
        assert run("link", ARTICLES, "-o", out).code == 0
    wanted = [row for row in rows_of(Path("all.jsonl")) if row["qid"] is not None]
    assert 0 < len(wanted) < len(rows_of(Path("all.jsonl")))
    ran = run("link", ARTICLES, "-o", "some.jsonl", "--linked-only")
    assert rows_of(Path("some.jsonl")) == wanted
    assert f"{len(wanted)} linked" in ran.err
    assert [json.loads(line) for line in run("link", ARTICLES, "-o", "-", "--linked-only").out.splitlines()] == wanted
    run("link", ARTICLES, "-o", "some.parquet", "--linked-only")
    every = pq.read_table("all.parquet").to_pylist()
    assert pq.read_table("some.parquet").to_pylist() == [row for row in every if row["qid"] is not None]
    link_folder(linker, [ARTICLES], tmp_path / "out", workers=1, linked_only=True)
    parts = sorted((tmp_path / "out" / "links").iterdir())
    assert [row["qid"] for part in parts for row in pq.read_table(part).to_pylist()] == [row["qid"] for row in wanted]
    assert json.loads((tmp_path / "out" / "run.json").read_text())["counts"]["mentions"] == len(every)
    shown = run("link", ARTICLES, "--linked-only").out
    assert "NIL" not in shown
    assert "NIL" in run("link", ARTICLES).out


def test_linked_only_of_a_frame(linker):
    import polars

    frame = polars.DataFrame({"id": ["a"], "text": [TEXT], "best_label": ["mine"]})
    every, some = link_frame(frame, linker), link_frame(frame, linker, linked_only=True)
    assert some.equals(every.filter(every["qid"].is_not_null()))
    assert set(every["best_label_"]) == {"mine"}


def test_best_and_runner_up_have_their_labels(run, linker):
    run("link", ARTICLES, "-o", "links.jsonl", "--scores")
    for row in rows_of(Path("links.jsonl")):
        ranked = sorted(row["candidates"], key=lambda one: -one["score"])
        for name, place in (("best", 0), ("runner_up", 1)):
            qid = ranked[place]["qid"] if place < len(ranked) else None
            assert row[name] == qid or ranked[0]["score"] == ranked[1]["score"]
            at = -1 if row[name] is None else linker.kb.row(row[name])
            assert row[f"{name}_label"] == (linker.kb.label(at) if at >= 0 else None)


def test_nil_never_has_the_confidence_of_a_candidate(linker):
    for link in linker.link_text(TEXT).rows:
        sure = nil_confidence(link)
        if link["reason"] == "none fits":
            assert sure == pytest.approx(1 - link["known"])
            assert sure >= link["confidence"]
        elif link["reason"] != "not a person":
            assert sure is None


# sentences
def test_every_part_has_a_name_and_a_group_that_people_understand():
    ours = {name for registry in (SCORERS, DOUBTS) for name, one in registry.items() if "namesake." in one.module}
    assert len(ours) > 100
    assert ours - PARTS.keys() == set()
    assert ours - GROUP_OF.keys() == set()
    assert all(len(name) <= 32 and name not in ours for name in PARTS.values()), "short, and no name of the code"
    fields = {"it", "kind", "words", "others", "property"}
    for group in GROUPS.values():
        forms = [form for name, form in group.items() if name != "parts"]
        assert all({field for _, field, _, _ in string.Formatter().parse(form) if field} <= fields for form in forms)


def test_the_sentence_names_what_sets_the_answer_apart(linker):
    text = "Michael Jordan of the Chicago Bulls is the best basketball player of all time, said Scottie Pippen."
    why = linker.explain_text(text, "Michael Jordan")
    [rows] = why.rows
    sentence = summary_sentence(rows, text)
    assert sentence.startswith("Mainly because ")
    known = sum(row["contribution"] for row in rows if row["rank"] == 1 and GROUP_OF.get(row["part"]) == "words")
    assert known > 1
    assert "the text says “" in sentence
    quoted = sentence.split("“")[1].split("”")[0]
    assert quoted in text


def test_the_sentence_of_nil_gives_the_best_candidate_and_the_rival_of_a_close_case(linker):
    seen = set()
    for article in map(json.loads, ARTICLES.read_bytes().splitlines()):
        why = linker.explain_text(article["text"])
        for link, rows in zip(why.links, why.rows, strict=True):
            if not rows or link["qid"] is not None:
                continue
            sentence = summary_sentence(rows, why.text)
            labels = [link["best_label"], link["runner_up_label"]]
            close = link["reason"] == "too close to call"
            assert all(label in sentence for label in labels[: 2 if close else 1])
            seen.add(link["reason"])
    assert seen
    assert seen <= REASONS.keys()
    assert summary_sentence([]) == "No entity in the knowledge base has this name."


# SQLite
def test_the_database_has_the_links_of_jsonl(run):
    import sqlite3

    assert run("link", ARTICLES, "-o", "links.db").code == 0
    run("link", ARTICLES, "-o", "flat.jsonl", "--flat", "--scores")
    run("link", ARTICLES, "-o", "links.jsonl", "--scores")
    database = sqlite3.connect("links.db")
    assert database.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
    assert database.execute("PRAGMA foreign_key_check").fetchall() == []
    names = ("article_id", "start", "end", "in_title", "name", "qid", "label", "kind", "confidence", "known", "reason")
    names += ("best", "runner_up", "score", "margin")
    columns = ", ".join(f'"{name}"' for name in names)
    found = database.execute(f"SELECT {columns} FROM mentions ORDER BY number").fetchall()
    assert found == [tuple(row[name] for name in names) for row in rows_of(Path("flat.jsonl"))]
    articles = [json.loads(line) for line in ARTICLES.read_bytes().splitlines()]
    there = database.execute("SELECT id, title, date, text FROM articles ORDER BY number").fetchall()
    assert there == [tuple(article.get(name) for name in ("id", "title", "date", "text")) for article in articles]
    query = 'SELECT name, substr(text, start + 1, "end" - start) FROM mentions m JOIN articles a ON a.number = article'
    for name, surface in database.execute(query):
        assert surface.split()[-1] in name.split() or name.startswith(surface), "the place of each name"
    for number, row in enumerate(rows_of(Path("links.jsonl")), 1):
        ranked = sorted(row["candidates"], key=lambda one: -one["score"])[:5]
        stored = database.execute(
            "SELECT rank, score, confidence FROM candidates WHERE link = ? ORDER BY rank", [number]
        )
        for (rank, score, confidence), one in zip(stored.fetchall(), ranked, strict=True):
            assert score == one["score"]
            if rank == 1:
                assert confidence == row["confidence"]
    words = (
        "SELECT id FROM articles JOIN articles_fts ON articles_fts.rowid = number WHERE articles_fts MATCH 'basketball'"
    )
    wanted = {a["id"] for a in articles if "basketball" in f"{a['text']} {a['title']}".lower()}
    assert {one for (one,) in database.execute(words)} == wanted
    assert wanted
    counts = dict(database.execute("SELECT qid, mentions FROM entity_counts").fetchall())
    assert sum(counts.values()) == sum(row["qid"] is not None for row in rows_of(Path("flat.jsonl")))
    assert not Path("links.db.meta.json").exists()
    assert {key for (key,) in database.execute("SELECT key FROM about")} == {"kb", "recipe"}


def test_the_database_appears_whole_or_not_at_all(run):
    Path("bad.jsonl").write_text('{"id": "a", "text": "Michael Jordan spoke."}\n')
    run("link", "bad.jsonl", "-o", "links.sqlite")
    before = Path("links.sqlite").read_bytes()
    assert run("link", "nowhere.jsonl", "-o", "links.sqlite").code == 2
    assert Path("links.sqlite").read_bytes() == before
    assert [path.name for path in Path().iterdir() if "partial" in path.name] == []
    assert "needs a file" in run("link", "bad.jsonl", "-o", "-", "--to", "db").err
    ran = run("link", "bad.jsonl", "-o", "links.db.gz")
    assert (ran.code, "is not compressed" in ran.err) == (2, True)


def test_duckdb_reads_parquet_with_the_documented_views(run):
    import duckdb

    run("link", ARTICLES, "-o", "links.parquet")
    guide = (Path(__file__).parents[1] / "docs" / "formats.md").read_text()
    script = guide.split("<!-- duckdb views -->")[1].split("```sql\n")[1].split("```")[0]
    database = duckdb.connect()
    database.execute(script)
    flat = pq.read_table("links.parquet").to_pylist()
    wanted = sum(len(row["spans"] or []) for row in flat)
    assert database.execute("SELECT count(*) FROM mentions").fetchone() == (wanted,)
    counts = dict(database.execute("SELECT qid, mentions FROM entity_counts").fetchall())
    for qid in {row["qid"] for row in flat if row["qid"]}:
        assert counts[qid] == sum(len(row["spans"] or []) for row in flat if row["qid"] == qid)


# tables
@pytest.mark.parametrize(
    ("cell", "name", "remark"),
    [
        ("Michael Jordan (basketball player)", "Michael Jordan", "basketball player"),
        ("Jordan Michael", "Michael Jordan", ""),
        ("The Rt Hon Michael Jordan", "Michael Jordan", ""),
        ("Dr. Michael Jordan [author]", "Michael Jordan", "author"),
        ("https://en.wikipedia.org/wiki/Michael_Jordan", "Michael Jordan", ""),
        ("Michael Jordan", "Michael Jordan", ""),
        ("Xavier Unknownson (chemist)", "Xavier Unknownson", "chemist"),
        ("Xavier Unknownson", "Xavier Unknownson", ""),
        ("", "", ""),
    ],
)
def test_names_as_people_write_them(sample_kb, cell, name, remark):
    found, said = usual_form(sample_kb, cell)
    assert said == remark
    rows = [set(sample_kb.names.lookup(one)[0].tolist()) if one else set() for one in (found, name)]
    assert rows[0] == rows[1], "titles may stay where the KB ignores them"
    assert rows[0] or found == name


def test_a_qid_or_an_address_is_the_entity_itself(sample_kb):
    row = sample_kb.row("Q41421")
    address = f"https://en.wikipedia.org/wiki/{sample_kb.titles[row].replace(' ', '_')}?x=1"
    for cell in ("Q41421", " q41421", "http://www.wikidata.org/entity/Q41421", "wd:Q41421"):
        assert stated_qid(sample_kb, cell) == "Q41421"
    assert stated_qid(sample_kb, address) == ("Q41421" if sample_kb.titles[row] else None)
    for cell in ("Q0", "Q41421x", "Michael Jordan", "", "https://en.wikipedia.org/wiki/No_such_page_at_all"):
        assert stated_qid(sample_kb, cell) is None


def test_reconcile_checks_a_column_of_qids_and_says_why(run):
    table = "Name,About,Q\nMichael Jordan,Chicago Bulls,Q41421\nMichael Jordan,Chicago Bulls,Q3308285\n"
    Path("t.csv").write_text(f"{table}Q41421,,\nMichael Jordan,Bulls,Q999999999\nXavier Unknownson,,Q41421\n")
    ran = run(
        "reconcile", "t.csv", "--name", "Name", "--context", "About", "--check", "Q", "--explain", "-o", "o.jsonl"
    )
    rows = rows_of(Path("o.jsonl"))
    assert [row["check"] for row in rows] == ["agrees", "another entity", "no QID", "not in the KB", "no answer"]
    assert "1 agrees, 1 another entity, 1 no answer, 1 not in the KB, 1 no QID" in ran.err
    assert (rows[2]["qid"], rows[2]["reason"]) == ("Q41421", "the row names the entity itself")
    assert "Mainly because" in rows[0]["why"]
    assert "“" in rows[0]["why"], "a word of the row"
    assert rows[0]["runner_up_label"] == "Michael Jordan"
    assert run("reconcile", "t.csv", "--name", "Name", "--check", "Z", "-o", "p.jsonl").code == 2


def test_explain_shows_a_row_of_a_table_by_its_number_in_the_spreadsheet(run):
    Path("t.csv").write_text("Name,About\nAdam Smith,x\n\nMichael Jordan,Chicago Bulls\n")
    ran = run("explain", "t.csv", "--row", "4", "--name", "Name", "--context", "About")
    assert (ran.code, "Michael Jordan  in t.csv row 4" in ran.out) == (0, True)
    rows = json.loads(run("explain", "t.csv", "--row", "4", "--name", "Name", "--context", "About", "--json").out)
    run("reconcile", "t.csv", "--name", "Name", "--context", "About", "-o", "o.jsonl")
    answer = rows_of(Path("o.jsonl"))[1]
    assert (rows[0]["qid"], round(rows[0]["confidence"], 4)) == (answer["qid"], answer["confidence"])
    ran = run("explain", "t.csv", "--row", "3", "--name", "Name")
    assert (ran.code, "no row 3 with cells; the last row is 4" in ran.err) == (2, True)


def test_errors_of_labelled_text_are_the_labels_that_are_linked_otherwise(run, linker):
    text = "Michael Jordan of the Chicago Bulls won. Scottie Pippen won, too."
    labels = [{"span": [0, 14], "qid": "Q3308285"}, {"span": [41, 55], "qid": "Q165627"}]
    Path("labelled.jsonl").write_text(json.dumps({"id": "a", "text": text, "labels": labels}) + "\n")
    ran = run("eval", "errors", "--labelled", "labelled.jsonl", "--out", "report")
    assert ran.code == 0, ran.err
    [wrong] = [one for one in json.loads(Path("report/tables.json").read_text()) if one["name"] == "Michael Jordan"]
    assert (wrong["gold"]["qid"], wrong["chosen"]["qid"]) == ("Q3308285", "Q41421")
    assert run("eval", "errors", "--labelled", "labelled.jsonl", "--gold", "x", "--out", "report").code == 2
    assert run("eval", "errors", "--out", "report").code == 2


def test_what_speaks_for_and_against_names_the_candidate_once_and_compares_only_with_another():
    parts = {"Fame": 3.0, "SharedStatements": 2.0, "ArticleWords": 0.1}
    both = for_and_against([parts, {"Fame": 0.0}], ["person", "person"])
    assert both[0] == "For: this person is far better known and is connected with other names in the text."
    assert both[1].startswith("Against: it is little known")
    assert for_and_against([parts], ["person"]) == [
        "For: this person is well known and is connected with other names in the text."
    ]


def test_candidates_that_are_too_close_are_joined_by_but_only_if_both_have_reasons():
    def rows(rank: int, label: str, fame: float) -> dict[str, object]:
        about = {"rank": rank, "qid": f"Q{rank}", "label": label, "description": None, "kind": "person"}
        more = {"confidence": 0.4, "reason": "too close to call", "role": "part", "part": "Fame", "matches": None}
        return about | more | {"contribution": fame}

    said = summary_sentence([rows(1, "Ann", 2.0), rows(2, "Ann", 1.0)])
    assert said == (
        "Too close to call: Ann (Q1, 40 % likely), because this person is better known, or Ann (Q2, 40 % likely)."
    )
