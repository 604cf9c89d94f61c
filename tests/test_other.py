"""The other Chris Evans: a second person of a name, and never the one whom the first mention means."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from namesake.articles.one_text import text_table
from namesake.kb.build import build
from namesake.linker import Linker
from test_doubts_found import item

ACTOR, PRESENTER, POET = "Q100", "Q101", "Q102"
TEXT = "Chris Evans, the actor, won. The other Chris Evans met Ruth Pitter and the other Ruth Pitter. Evans left."


@pytest.fixture(scope="module")
def linker(tmp_path_factory: pytest.TempPathFactory) -> Linker:
    folder: Path = tmp_path_factory.mktemp("other")
    people = [
        item(100, "Chris Evans", 90, "Q5", "American actor"),
        item(101, "Chris Evans", 40, "Q5", "British presenter"),
        item(102, "Ruth Pitter", 30, "Q5", "British poet"),
    ]
    (folder / "dump.json").write_text("[\n" + ",\n".join(map(json.dumps, people)) + "\n]\n")
    build([folder / "dump.json"], folder / "kb")
    return Linker(folder / "kb", threshold=0.0)


def test_the_other_one_is_not_the_first(linker: Linker) -> None:
    links = linker.link_text(TEXT)
    assert [(link.name, link.best) for link in links] == [
        ("Chris Evans", ACTOR), ("Chris Evans", PRESENTER), ("Ruth Pitter", POET), ("Ruth Pitter", POET),
    ]  # fmt: skip
    assert links[3].confidence is not None
    assert links[3].confidence < 1e-3  # there is no other


def test_it_may_come_before_the_first_one(linker: Linker) -> None:
    text = "They met the other Chris Evans. Chris Evans, the actor, was ill."
    assert [link.best for link in linker.link_text(text)] == [PRESENTER, ACTOR]


def test_another_text_s_first_one_does_not_count(linker: Linker) -> None:
    assert [link.best for link in linker.link_text("They met the other Chris Evans, an actor.")] == [ACTOR]


def test_the_parts_and_the_explanation_say_so(linker: Linker) -> None:
    table = text_table(TEXT, None, None)
    links = linker.link(table, scores=True).to_pylist()
    taken = [[(c["qid"], c["parts"]["Taken"]) for c in link["candidates"]] for link in links]
    assert [sorted(each) for each in taken] == [
        [(ACTOR, 0), (PRESENTER, 0)], [(ACTOR, -1), (PRESENTER, 0)], [(POET, 0)], [(POET, -1)],
    ]  # fmt: skip
    rows = [row for row in linker.explain(table).to_pylist() if row["part"] == "Taken"]
    told = [(row["qid"], row["matches"][0]["sources"][0]["source"]) for row in rows if row["matches"]]
    assert sorted(told) == [(ACTOR, "another of the name"), (POET, "another of the name")]
