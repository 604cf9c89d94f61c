"""What people take away: links without NIL, and later tests of SQLite and spreadsheets, against second readers."""

import json
import string
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from namesake import link_frame
from namesake.drawing.sentence import GROUP_OF, summary_sentence
from namesake.drawing.text import nil_confidence
from namesake.drawing.theme import GROUPS, PARTS, REASONS
from namesake.engines.folder import link_folder
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
    fields = {"it", "kind", "words", "others"}
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
    for qid in {row["qid"] for row in rows if row["qid"]}:
        assert summary_sentence(rows, text, qid).endswith(".")


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
