"""Articles as JSON lines: whatever stands in a file, each line is linked or set aside, and the output is JSON."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from hostile.budget import LENGTHS, rounds
from hostile.mutate import mutants, one_line
from hostile.sandbox import Outcome, Sandbox
from hostile.tally import Tally
from hostile.world import World


def is_json(line: bytes) -> bool:
    """Whether Python's json reads the line, with U+FFFD for bytes that are no UTF-8; its own limits apart."""
    try:
        json.loads(line.decode("utf-8", "replace"), parse_int=float)
    except RecursionError:
        return True
    except ValueError:
        return False
    return True


def json_lines(path: Path) -> list[dict]:
    """The rows of a file of JSON lines, which end in a line feed and nothing else."""
    return [json.loads(line, parse_constant=_refuse) for line in path.read_bytes().decode().split("\n")[:-1]]


def _refuse(constant: str) -> float:
    raise ValueError(f"{constant} is no JSON")


class Articles:
    """Links files of lines with the world's KB."""

    def __init__(self, world: World, sandbox: Sandbox, folder: Path) -> None:
        self.world, self.sandbox = world, sandbox
        self.path, self.out = folder / "articles.jsonl", folder / "links.jsonl"
        self.rejects = folder / "links.jsonl.rejects.jsonl"

    def link(self, lines: list[bytes]) -> Outcome:
        """Link a file of these lines and a good one."""
        self.out.unlink(missing_ok=True)
        self.rejects.unlink(missing_ok=True)
        self.path.write_bytes(b"".join(line + b"\n" for line in [*lines, b'{"id": "good", "text": "Chris Carter."}']))
        return self.sandbox.run("link", self.path, "--kb", self.world.kb, "-o", self.out)

    def judge(self, lines: list[bytes], tally: Tally) -> None:
        """Count what became of each line; where the run itself went wrong, of halves, to find the line."""
        outcome = self.link(lines)
        if outcome.kind != "done":
            if len(lines) == 1:
                tally.add(outcome.kind if outcome.kind != "refused" else "lost", f"{lines[0][:200]!r}: {outcome}")
                return
            middle = len(lines) // 2
            self.judge(lines[:middle], tally)
            self.judge(lines[middle:], tally)
            return
        aside = {row["line"] for row in json_lines(self.rejects)} if self.rejects.exists() else set()
        rows = json_lines(self.out)
        assert rows[-1]["article_id"] == "good", "the last article is linked, whatever came before it"
        for number, line in enumerate(lines, 1):
            wrong = line.strip() and number not in aside and not is_json(line)
            tally.add("accepted" if wrong else "refused" if number in aside else "done", line[:200])


@pytest.fixture(scope="module")
def articles(world: World, sandbox: Sandbox, tmp_path_factory: pytest.TempPathFactory) -> Articles:
    return Articles(world, sandbox, tmp_path_factory.mktemp("articles"))


@pytest.mark.parametrize("quick", LENGTHS)
def test_mutated_articles(quick: bool, articles: Articles, tally: Callable[[str], Tally]):
    counts = tally("mutated articles")
    seeds = articles.world.articles.read_bytes().splitlines()
    quotebank = {
        "articleID": 7,
        "content": "chris carter is back",
        "names": [{"name": "x", "ids": ["Q5"], "offsets": [[0, 2]]}],
    }
    seeds += [json.dumps(quotebank).encode()] * 5
    for rng in rounds("articles", quick):
        articles.judge([one_line(m) for m in mutants(seeds, rng, 400 if quick else 4000)], counts)
    counts.check()


numbers = st.one_of(
    st.integers(-(2**70), 2**70), st.floats(allow_nan=False), st.sampled_from([0, -1, 2**31, 2**63, 2**64])
)
texts = st.one_of(
    st.text(max_size=40), st.sampled_from(["Chris Carter", "Q437267", "Q0", "2008-05-01", "", "\x00", "é" * 9])
)
values = st.recursive(
    st.one_of(st.none(), st.booleans(), numbers, texts),
    lambda inner: st.one_of(st.lists(inner, max_size=4), st.dictionaries(texts, inner, max_size=4)),
    max_leaves=12,
)
spans = st.one_of(values, st.lists(st.lists(st.integers(-2, 60), min_size=1, max_size=3), max_size=4))
mentions = st.lists(
    st.fixed_dictionaries(
        {"name": st.one_of(texts, values)},
        optional={"spans": spans, "candidates": st.one_of(values, st.lists(texts, max_size=4)), "offsets": spans},
    ),
    max_size=4,
)
records = st.fixed_dictionaries(
    {},
    optional={
        **{key: st.one_of(texts, values) for key in ("id", "articleID", "title", "date", "extra", "desk")},
        **{key: st.one_of(texts, values) for key in ("text", "content")},
        **{key: st.one_of(mentions, values) for key in ("mentions", "names")},
    },
)


@pytest.mark.parametrize("quick", LENGTHS)
def test_odd_articles(quick: bool, articles: Articles, tally: Callable[[str], Tally]):
    """Well-formed JSON that means nothing, or nearly something; Hypothesis makes it."""
    counts = tally("odd articles")

    @settings(max_examples=3 if quick else 60, phases=[Phase.generate])  # `judge` finds the line; shrinking is slow
    @given(st.lists(records, min_size=20, max_size=60))
    def link(some: list[dict]) -> None:
        articles.judge([json.dumps(record).encode() for record in some], counts)
        counts.check()

    link()


DEEP = 100_000
NASTY = {
    "nested arrays": b"[" * DEEP + b"]" * DEEP,
    "nested objects": b'{"a":' * DEEP + b"1" + b"}" * DEEP,
    "nested unknown field": b'{"id":"1","text":"Chris Carter.","more":' + b"[" * DEEP + b"]" * DEEP + b"}",
    "a long number": b'{"id":' + b"9" * DEEP + b',"text":"Chris Carter."}',
    "a long id": b'{"id":"' + b"i" * 10**6 + b'","text":"Chris Carter."}',
    "a huge span": json.dumps({"id": "1", "text": "x", "mentions": [{"name": "x", "spans": [[0, 2**64]]}]}).encode(),
    "a huge candidate": json.dumps(
        {"id": "1", "text": "x", "mentions": [{"name": "x", "candidates": ["Q" + "9" * 400]}]}
    ).encode(),
    "a far date": b'{"id":"1","text":"Chris Carter.","date":"99999999-12-31"}',
    "infinite": json.dumps({"id": "1", "text": "Chris Carter.", "more": math.inf}).encode(),
    "only zeros": b"\0" * 10**6,
    "empty name": b'{"id":"1","text":"x","mentions":[{"name":""}]}',
    "many mentions of nothing": json.dumps({"id": "1", "text": "x", "mentions": [{"name": "x"}] * 10**4}).encode(),
}


@pytest.mark.parametrize("what", NASTY)
def test_nasty_articles(what: str, articles: Articles, tally: Callable[[str], Tally]):
    counts = tally("odd articles")
    articles.judge([NASTY[what]], counts)
    counts.check()
