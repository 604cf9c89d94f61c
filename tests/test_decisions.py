"""Decisions of people: their files, what they apply to, and that they follow their content."""

import csv
import json
import re
import threading
from itertools import pairwise
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from namesake import Linker, NamesakeError, reconcile_frame
from namesake.arrays import text_buffers
from namesake.decisions.lookup import WEIGHT, Decisions
from namesake.decisions.records import Decision, agreement, append, read_decisions
from namesake.kernels.text.fingerprints import NEAR, fingerprints
from oracle_text import hashed

JORDAN, SCIENTIST, NOT_IN_KB = "Q41421", "Q3308285", "Q99999999999"
TEXT = (
    "Reporters of three newspapers waited for an hour. Then Michael Jordan spoke on Monday about a new book. "
    "Chris Carter laughed."
)


def context(text: str, start: int, end: int) -> str:
    """The fingerprint, by plain Python."""
    before, after = (re.findall(rb"[A-Za-z0-9\x80-\xff]+", part.encode()) for part in (text[:start], text[end:]))
    words = [*(word[::-1] for word in before[::-1][:NEAR]), None, *after[:NEAR]]
    return f"{hashed(b''.join(b'|' if word is None else word.lower() + b' ' for word in words), False):016x}"


def line(decision: str, name: str, entity: str | None = None, **more: object) -> str:
    return json.dumps({"decision": decision, "name": name} | ({"entity": entity} if entity else {}) | more) + "\n"


def about(text: str, name: str) -> dict[str, object]:
    start = text.index(name)
    return {"context": context(text, start, start + len(name))}


def qids(linker: Linker, text: str) -> dict[str, str | None]:
    return {link.name: link.qid for link in linker.link_text(text)}


@pytest.fixture
def deciding(sample_kb, tmp_path):
    """A linker with these lines as its decisions."""

    def make(*files: str, **settings: object) -> Linker:
        paths = []
        for number, lines in enumerate(files):
            paths.append(tmp_path / f"d{number}.jsonl")
            paths[-1].write_text(lines)
        return Linker(sample_kb, decisions=paths, **settings)

    return make


# the fingerprint
words = st.text(st.sampled_from("aZ9éÉж李’—« .,\n\xa0"), max_size=40)


@pytest.mark.kernel
@given(words, st.text(st.sampled_from("aJ é"), max_size=5), words)
def test_the_fingerprint_is_that_of_plain_python(before, name, after):
    text = before + name + after
    start, end = len(before.encode()), len((before + name).encode())
    data, offsets = text_buffers(pa.array(["other text ", text, " more"], pa.large_string()))
    [found] = fingerprints(data, offsets, np.array([1]), np.array([[start, end]], np.int32)).tolist()
    assert f"{found:016x}" == context(text, len(before), len(before + name))


def test_the_fingerprint_of_files_in_use_never_changes():
    text = "Then Michael Jordan spoke on Monday."
    data, offsets = text_buffers(pa.array([text], pa.large_string()))
    [found] = fingerprints(data, offsets, np.array([0]), np.array([[5, 19]], np.int32)).tolist()
    assert f"{found:016x}" == "844809c7d29a78a3"


# texts
def test_a_decision_is_the_answer_and_part_of_the_explanation(deciding):
    linker = deciding(line("entity", "Michael Jordan", SCIENTIST, by="anna", **about(TEXT, "Michael Jordan")))
    [link] = [one for one in linker.link_text(TEXT) if one.name == "Michael Jordan"]
    assert (link.qid, link.confidence) == (SCIENTIST, 1.0)
    rows = linker.explain(pa.table({"id": ["a"], "text": [TEXT]}), "Michael Jordan").to_pylist()
    [row] = [one for one in rows if one["part"] == "Decision"]
    assert (row["qid"], row["rank"], row["contribution"]) == (SCIENTIST, 1, WEIGHT)
    assert "d0.jsonl line 1 anna" in row["matches"][0]["sources"][0]["value"]
    for qid in {one["qid"] for one in rows}:
        own = [one for one in rows if one["qid"] == qid]
        assert sum(one["contribution"] or 0 for one in own) == pytest.approx(own[0]["score"])


def test_a_decision_follows_its_sentence_and_no_other(deciding):
    linker = deciding(line("entity", "Michael Jordan", SCIENTIST, **about(TEXT, "Michael Jordan")))
    plain = Linker(linker.kb)
    moved = f"A new first paragraph, with Barack Obama in it.\n\n{TEXT.replace(' spoke', '  spoke').replace('.', '!')}"
    assert qids(linker, moved)["Michael Jordan"] == SCIENTIST
    for other in ("Michael Jordan played basketball for the Chicago Bulls.", TEXT.replace("spoke on", "sang on")):
        assert qids(linker, other) == qids(plain, other)
        assert linker.decisions is not None
    assert linker.decisions.unused() is None  # it was used in `moved`


def test_nil_never_and_alias(deciding):
    carter = "Chris Carter, who created The X-Files, laughed."
    plain = qids(deciding(), carter)
    assert plain["Chris Carter"] is not None
    linker = deciding(
        line("nil", "CHRIS CARTER")
        + line("alias", "michael jordan", SCIENTIST)
        + line("entity", "Michael Jordan", JORDAN, **about(TEXT, "Michael Jordan"))
    )
    found = {link.name: link for link in linker.link_text(TEXT)}
    assert found["Michael Jordan"].qid == JORDAN  # the context counts more than the name everywhere
    assert found["Chris Carter"].qid is None
    assert found["Chris Carter"].reason == "decided by a person"
    assert not any(name in ("Carter", "Chris") for name in found)  # no part of the name is linked instead
    assert qids(linker, "Michael Jordan said so.")["Michael Jordan"] == SCIENTIST
    never = deciding(line("never", "Chris Carter", plain["Chris Carter"]))
    assert qids(never, carter)["Chris Carter"] != plain["Chris Carter"]


def test_an_entity_that_is_no_candidate_becomes_one(deciding):
    obama = qids(deciding(), "Barack Obama spoke in Chicago.")["Barack Obama"]
    assert obama
    linker = deciding(line("alias", "Chris Carter", obama))
    assert qids(linker, TEXT)["Chris Carter"] == obama
    [link] = linker.link_text(TEXT, ["Zaphod Beeblebrox Carter", "Chris Carter"])[1:]
    assert link.qid == obama
    with pytest.warns(UserWarning, match=f"1 entity that the KB lacks: {NOT_IN_KB}"):
        outside = deciding(line("alias", "Chris Carter", NOT_IN_KB))
    assert outside.link_text(TEXT, ["Chris Carter"])[0].qid == NOT_IN_KB  # a name that is given
    assert qids(outside, TEXT) == qids(deciding(), TEXT)  # a name that is found
    with pytest.warns(UserWarning, match="acme:jane-doe"):
        own = deciding(line("alias", "Chris Carter", "acme:jane-doe"))
    assert qids(own, TEXT) == qids(deciding(), TEXT)


def test_a_merged_entity_is_followed(sample_kb, tmp_path, monkeypatch):
    path = tmp_path / "d.jsonl"
    path.write_text(line("alias", "Chris Carter", "Q999999991"))
    merged = {"Q999999991": "Q999999992", "Q999999992": JORDAN}
    monkeypatch.setitem(vars(sample_kb), "redirects", merged)
    assert qids(Linker(sample_kb, decisions=path), TEXT)["Chris Carter"] == JORDAN
    monkeypatch.setitem(vars(sample_kb), "redirects", {"Q999999991": "Q999999991"})
    with pytest.warns(UserWarning, match="Q999999991"):
        Linker(sample_kb, decisions=path)


@pytest.mark.parametrize("recipe", ["default", "uiscore-paper"])
def test_decisions_hold_with_every_kind_of_recipe(deciding, recipe):
    lines = line("alias", "Michael Jordan", SCIENTIST) + line("nil", "Chris Carter")
    found = qids(deciding(lines, recipe=recipe), TEXT)
    assert (found["Michael Jordan"], found["Chris Carter"]) == (SCIENTIST, None)


def test_links_do_not_depend_on_batches_or_on_decisions_about_other_names(deciding, sample_kb):
    texts = [TEXT, "Michael Jordan wrote.", TEXT.replace("Then", "Later"), "No names."] * 3
    table = pa.table({"id": [str(at) for at in range(len(texts))], "text": texts})
    linker = deciding(line("entity", "Michael Jordan", SCIENTIST, **about(TEXT, "Michael Jordan")))
    whole = linker.link(table)
    assert whole.equals(pa.concat_tables([linker.link(table.slice(at, 1)) for at in range(len(texts))]))
    other = deciding(line("nil", "Somebody Else", **about(TEXT, "Michael Jordan")))
    assert other.link(table).equals(Linker(sample_kb).link(table))


# the files
@pytest.mark.parametrize(
    "bad",
    [
        "{}",
        "no json",
        line("entity", "x", "Q1"),
        line("alias", "x"),
        line("alias", "x", "Barack"),
        line("nil", " "),
        line("nil", "x", context="xyz"),
        line("maybe", "x"),
        '{"articleID": "row 1", "name": "x", "gold": null}',
        '{"articleID": "a", "name": "x", "gold": 2, "cells": {"Name": "x"}}',
    ],
)
def test_broken_lines_are_rejected_and_counted(tmp_path, bad):
    path, said = tmp_path / "d.jsonl", []
    path.write_text(f"{bad.strip()}\n\n" + line("nil", "Ann Lee"))
    [placed] = read_decisions(path, said.append)
    assert placed.where == f"{path} line 3"
    [message] = said
    assert message.startswith(f"1 line of decisions rejected, such as {path} line 1: not a decision (")


@pytest.mark.parametrize(
    ("one", "other", "clash"),
    [
        (line("nil", "Ann Lee"), line("alias", "ann  LEE", "Q1"), True),
        (line("alias", "Ann Lee", "Q1"), line("alias", "Ann Lee", "Q2"), True),
        (line("entity", "A", "Q1", cells={"N": "A"}), line("nil", "A", cells={"N": " A "}), True),
        (line("entity", "A", "Q1", cells={"N": "A"}), line("never", "A", "Q1", cells={"N": "A"}), True),
        (line("entity", "A", "Q1", cells={"N": "A"}), line("never", "A", "Q2", cells={"N": "A"}), False),
        (line("never", "A", "Q1"), line("never", "A", "Q2"), False),
        (line("nil", "A"), line("never", "A", "Q1"), False),
        (line("nil", "A", context="0" * 16), line("alias", "A", "Q1"), False),
        (line("nil", "A"), line("nil", "A"), False),
    ],
)
def test_two_that_contradict_each_other_are_an_error_that_names_both(tmp_path, one, other, clash):
    path, later, said = tmp_path / "d.jsonl", tmp_path / "later.jsonl", []
    path.write_text(one + other)
    if clash:
        with pytest.raises(NamesakeError, match=r"contradict.*d\.jsonl line 1\).* and .*d\.jsonl line 2\)"):
            read_decisions(path)
    else:
        assert {placed.where[-1] for placed in read_decisions(path)} == {"1", "2"}
    path.write_text(one)
    later.write_text(other)
    held = {placed.where for placed in read_decisions([path, later], said.append)}
    assert f"{later} line 1" in held
    assert (f"{path} line 1" in held) != clash
    assert bool(said) == clash


def test_a_withdrawn_decision_does_not_hold(tmp_path):
    path = tmp_path / "d.jsonl"
    path.write_text(line("nil", "A", by="x") + line("withdrawn", "A", by="x") + line("alias", "A", "Q1", by="x"))
    [placed] = read_decisions(path)
    assert placed.decision.entity == "Q1"


def test_several_writers_lose_nothing(tmp_path):
    path = tmp_path / "d.jsonl"
    path.write_text(line("nil", "cut off")[:-1])  # whose writer was killed before the newline

    def write(who: int) -> None:
        for at in range(50):
            append(path, [Decision(decision="nil", name=f"name {who} {at}", by="é" * 1000)] * 2)

    threads = [threading.Thread(target=write, args=[who]) for who in range(4)]
    [thread.start() for thread in threads]
    [thread.join() for thread in threads]
    names = [json.loads(one)["name"] for one in path.read_text().splitlines()]
    assert sorted(names) == sorted(
        ["cut off", *(f"name {who} {at}" for who in range(4) for at in range(50) for _ in "ab")]
    )


def test_kappa_is_that_of_a_table_by_hand():
    yes, no = ["Q1"], ["NIL"]
    one = yes * 20 + yes * 5 + no * 10 + no * 15
    other = yes * 20 + no * 5 + yes * 10 + no * 15
    assert agreement(one, other) == pytest.approx(0.4)  # 35 of 50 alike, 25 by chance
    assert agreement(["Q1", "Q2"], ["Q1", "Q2"]) == 1
    assert agreement(["Q1", "Q1"], ["Q1", "Q1"]) == 1
    assert np.isnan(agreement([], []))


# tables
rows = st.lists(st.tuples(st.sampled_from(["Michael Jordan", "Chris Carter"]), st.sampled_from("abcd")), max_size=8)


@given(rows, rows, st.lists(st.tuples(st.integers(0, 7), st.sampled_from([SCIENTIST, JORDAN, None])), max_size=4))
def test_decisions_follow_the_content_of_rows(tmp_path_factory, sample_kb, before, after, chosen):
    """Whatever rows are inserted, deleted or moved: a row is decided if its content was."""
    path = tmp_path_factory.mktemp("rows") / "d.jsonl"
    decided = {before[at]: qid for at, qid in chosen if at < len(before)}
    path.write_text(
        "".join(
            line("nil" if qid is None else "entity", name, qid, cells={"Name": name, "Note": note})
            for (name, note), qid in decided.items()
        )
    )
    table = pa.table(
        {"Note": [f" {note}" for _, note in after], "New": ["x"] * len(after), "Name": [n for n, _ in after]}
    )
    known = Decisions(path, sample_kb)
    offsets, numbers = known.of_rows(table)
    found = [[known.placed[at].decision.entity for at in numbers[low:high]] for low, high in pairwise(offsets)]
    assert found == [[decided[row]] if row in decided else [] for row in after]


def test_decided_rows_have_the_decision_as_their_answer(run):
    made = ["Michael Jordan,a", "Michael Jordan,b", "Michael Jordan,c", '"Jordan, Michael",d']
    Path("d.jsonl").write_text(
        line("entity", "Michael Jordan", SCIENTIST, cells={"Name": "Michael Jordan", "Note": "a"})
        + json.dumps({"articleID": "x", "name": "M", "gold": None, "cells": {"Name": "Michael Jordan", "Note": "b"}})
        + "\n"
        + line("entity", "Michael Jordan", NOT_IN_KB, cells={"Name": "Jordan, Michael", "Note": "d"})
        + line("never", "Ann Lee", JORDAN, cells={"Name": "Ann Lee", "Gone": "column"})
    )
    Path("later.jsonl").write_text(line("entity", "M", JORDAN, cells={"Name": "Michael  Jordan ", "Note": "b"}))
    given = ["reconcile", "p.csv", "--name", "Name", "--context", "Note", "--kind", "people", "--decisions", "d.jsonl"]
    Path("p.csv").write_text("Name,Note\n" + "\n".join(made))
    ran = run(*given, "--threshold", "1", "-o", "o.csv", "--review", "r.html")
    assert ran.code == 0
    assert "4 rows, 2 with an answer" in ran.err
    assert "3 of them decided by people; 1 would have the same answer otherwise" in ran.err  # NIL, at this threshold
    assert f"decisions name 1 entity that the KB lacks: {NOT_IN_KB}" in ran.err
    assert (
        "1 of 4 decisions not used: no name has their context or cells, such as 'Ann Lee' = never Q41421 (d.j"
        in ran.err
    )
    assert "r.html: 1 row to review" in ran.err
    answers = list(csv.DictReader(Path("o.csv").read_text().splitlines()))
    assert [row["qid"] for row in answers] == [SCIENTIST, "", "", NOT_IN_KB]
    assert [row["confidence"] for row in answers if row["reason"].startswith("a person")] == ["1.0", "0.0", "1.0"]
    assert [row["reason"] for row in answers[:2]] == ["a person chose", "a person chose nobody"]
    assert "scientist" in answers[0]["description"]
    assert answers[3]["label"] == ""
    assert run(*given, "--choices", "later.jsonl", "-o", "o.csv").code == 0
    assert [row["qid"] for row in csv.DictReader(Path("o.csv").read_text().splitlines())][:2] == [SCIENTIST, JORDAN]


def test_frames_take_decisions(linker, tmp_path):
    path = tmp_path / "d.jsonl"
    path.write_text(line("entity", "Michael Jordan", SCIENTIST, cells={"name": "Michael Jordan"}))
    found = reconcile_frame(pa.table({"name": ["Michael Jordan"]}), linker, kind="people", decisions=path)
    assert found["qid"].to_pylist() == [SCIENTIST]


def test_link_and_explain_take_decisions(run):
    Path("a.txt").write_text(TEXT)
    Path("d.jsonl").write_text(line("alias", "Michael Jordan", SCIENTIST) + line("nil", "Ann Lee"))
    ran = run("link", "a.txt", "--decisions", "d.jsonl", "-o", "o.jsonl")
    assert "1 of 2 decisions not used: no name has their context or cells, such as 'Ann Lee' = NIL (d.jsonl" in ran.err
    found = {row["name"]: row["qid"] for row in map(json.loads, Path("o.jsonl").read_text().splitlines())}
    assert found["Michael Jordan"] == SCIENTIST
    rows = json.loads(run("explain", "a.txt", "--name", "Michael Jordan", "--decisions", "d.jsonl", "--json").out)
    assert [row["qid"] for row in rows if row["part"] == "Decision"] == [SCIENTIST]
    assert run("link", "a.txt", "--decisions", "absent.jsonl", "-o", "o.jsonl").code == 2
    assert run("link", "a.txt", "--decisions", "d.jsonl", "-o", "out/").code == 0
    Path("d.jsonl").write_text(line("nil", "Michael Jordan"))
    ran = run("link", "a.txt", "--decisions", "d.jsonl", "-o", "out/")
    assert ran.code == 2
    assert "with another --decisions" in ran.err
