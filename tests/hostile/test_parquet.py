"""Articles as Parquet: odd types are read, or refused in one line; unknown columns are carried through."""

from __future__ import annotations

import datetime
import decimal
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from hostile.budget import LENGTHS, rounds
from hostile.mutate import mutate
from hostile.sandbox import Sandbox
from hostile.tally import Tally
from hostile.world import World

TEXTS = ["Chris Carter is back.", "Michael Jordan left."]
BASE: dict[str, Any] = {"id": ["1", "2"], "text": TEXTS}
MENTION = {"name": "Chris Carter", "spans": [[0, 12]]}


def broken(values: list[bytes]) -> pa.Array:
    """A column of strings whose bytes are no UTF-8."""
    offsets = pa.array([0, *(sum(map(len, values[: k + 1])) for k in range(len(values)))], pa.int32())
    return pa.StringArray.from_buffers(len(values), offsets.buffers()[1], pa.py_buffer(b"".join(values)))


def twice() -> pa.Table:
    """Two columns of one name."""
    return pa.Table.from_arrays([pa.array(["1"]), pa.array(["x"]), pa.array(["y"])], names=["id", "text", "text"])


def stamps(unit: str, values: list[int]) -> pa.Array:
    """Points in time as they are stored."""
    return pa.array(values, pa.int64()).cast(pa.timestamp(unit))


BAD_TEXT = [b"\xff\xfe", b"Chris \xed\xa0\x80 Carter"]
TABLES: dict[str, Callable[[], pa.Table]] = {
    "plain": lambda: pa.table(BASE),
    "date in ns": lambda: pa.table(BASE | {"date": stamps("ns", [10**18, 1])}),
    "unknown column in ns": lambda: pa.table(BASE | {"seen": stamps("ns", [10**18 + 1, 1])}),
    "far date": lambda: pa.table(BASE | {"date": stamps("s", [10**12, -(10**12)])}),
    "far unknown date": lambda: pa.table(BASE | {"seen": stamps("s", [10**12, -(10**12)])}),
    "far day": lambda: pa.table(BASE | {"seen": pa.array([2**31 - 1, -(2**31)], pa.int32()).cast(pa.date32())}),
    "date32": lambda: pa.table(BASE | {"date": [datetime.date(2008, 5, 1), None]}),
    "a time of day": lambda: pa.table(BASE | {"seen": [datetime.time(1, 2), None]}),
    "a length of time": lambda: pa.table(BASE | {"seen": pa.array([2**62, 1]).cast(pa.duration("s"))}),
    "decimals": lambda: pa.table(BASE | {"seen": [decimal.Decimal("1.5"), None]}),
    "not a number": lambda: pa.table(BASE | {"seen": [float("nan"), float("inf")]}),
    "duplicate column": twice,
    "duplicate unknown column": lambda: pa.Table.from_arrays(
        [pa.array(["1"]), pa.array(["Chris Carter."]), pa.array([1]), pa.array([2])], names=["id", "text", "a", "a"]
    ),
    "id no UTF-8": lambda: pa.table(BASE | {"id": broken(BAD_TEXT)}),
    "text no UTF-8": lambda: pa.table(BASE | {"text": broken(BAD_TEXT)}),
    "unknown no UTF-8": lambda: pa.table(BASE | {"desk": broken(BAD_TEXT)}),
    "name no UTF-8": lambda: pa.table(
        BASE | {"mentions": pa.array([[MENTION]] * 2).cast(pa.list_(_struct(pa.binary())))}
    ).set_column(2, "mentions", _bad_names()),
    "binary text": lambda: pa.table(BASE | {"text": pa.array([b"Chris Carter.", b"\xff"], pa.binary())}),
    "id a list": lambda: pa.table(BASE | {"id": [[1], [2]]}),
    "id a number": lambda: pa.table(BASE | {"id": [1.5, float("nan")]}),
    "text null": lambda: pa.table(BASE | {"text": pa.nulls(2)}),
    "text a dictionary": lambda: pa.table(BASE | {"text": pa.array(TEXTS).dictionary_encode()}),
    "large text": lambda: pa.table(BASE | {"text": pa.array(TEXTS, pa.large_string())}),
    "a view": lambda: pa.table(BASE | {"text": pa.array(TEXTS, pa.string_view())}),
    "spans of three": lambda: pa.table(BASE | {"mentions": [[{"name": "x", "spans": [[0, 1, 2]]}], None]}),
    "huge spans": lambda: pa.table(BASE | {"mentions": [[{"name": "x", "spans": [[0, 2**62]]}], None]}),
    "mentions a text": lambda: pa.table(BASE | {"mentions": ["Chris Carter", None]}),
    "mentions of texts": lambda: pa.table(BASE | {"mentions": [["Chris Carter"], None]}),
    "candidates of numbers": lambda: pa.table(BASE | {"mentions": [[MENTION | {"candidates": [5]}], None]}),
    "no rows": lambda: pa.table(BASE).slice(0, 0),
    "no columns": lambda: pa.table({}),
    "other columns": lambda: pa.table({"a": [1], "b": [2]}),
    "a map": lambda: pa.table(BASE | {"seen": pa.array([[("a", 1)], None], pa.map_(pa.string(), pa.int64()))}),
    "nested deep": lambda: pa.table(BASE | {"seen": pa.array([_nested(60), None])}),
    "extra that is text": lambda: pa.table(BASE | {"extra": ["hello\nthere", '{"a": 1']}),
    "extra and another": lambda: pa.table(BASE | {"extra": ['{"a": 1}', None], "desk": ["news", "sport"]}),
}


def _nested(depth: int) -> Any:
    return [_nested(depth - 1)] if depth else 1


def _struct(text: pa.DataType) -> pa.DataType:
    return pa.struct([("name", text), ("spans", pa.list_(pa.list_(pa.int64())))])


def _bad_names() -> pa.Array:
    spans = pa.array([[[0, 5]], [[0, 5]]])
    names = pa.StructArray.from_arrays([broken(BAD_TEXT), spans], ["name", "spans"])
    return pa.ListArray.from_arrays(pa.array([0, 1, 2], pa.int32()), names)


@pytest.mark.parametrize("what", TABLES)
def test_odd_parquet(what: str, world: World, sandbox: Sandbox, tmp_path: Path, tally: Callable[[str], Tally]):
    counts = tally("odd Parquet")
    path, out = tmp_path / "articles.parquet", tmp_path / "links.jsonl"
    pq.write_table(TABLES[what](), path)
    for target in (out, tmp_path / "links.parquet"):
        outcome = sandbox.run("link", path, "--kb", world.kb, "-o", target)
        counts.add(outcome.kind, f"{what}: {outcome}")
    if out.exists():
        for line in out.read_text(errors="strict").split("\n")[:-1]:
            json.loads(line)
    counts.check()


def test_unknown_columns_beside_extra_are_carried(world: World, sandbox: Sandbox, tmp_path: Path):
    path, out = tmp_path / "articles.parquet", tmp_path / "links.jsonl"
    pq.write_table(TABLES["extra and another"](), path)
    outcome = sandbox.run("link", path, "--kb", world.kb, "-o", out)
    assert outcome.kind == "refused" or "sport" in "".join(
        file.read_text() for file in tmp_path.iterdir() if file.suffix in (".jsonl", ".json")
    ), "an unknown column vanished"


@pytest.mark.parametrize("quick", LENGTHS)
def test_mutated_parquet(quick: bool, world: World, sandbox: Sandbox, tmp_path: Path, tally: Callable[[str], Tally]):
    counts = tally("mutated Parquet")
    path, seed = tmp_path / "articles.parquet", tmp_path / "seed.parquet"
    pq.write_table(pa.table(BASE | {"desk": ["news", "sport"], "mentions": [[MENTION], None]}), seed)
    for rng in rounds("Parquet", quick):
        path.write_bytes(mutate(seed.read_bytes(), rng))
        outcome = sandbox.run("link", path, "--kb", world.kb, "-o", tmp_path / "links.jsonl", seconds=20)
        counts.add(outcome.kind, outcome)
    counts.check()
