"""A line that the scanner takes is JSON to the letter; of a key that stands twice, the last counts."""

import json
from typing import Any

import msgspec
import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from numba import types

from namesake.kb.dump.parse import _scratch, is_utf8, parse_chunk
from namesake.kernels.compiled import kernel
from namesake.kernels.dump.tables import ARRAYS, pointers
from namesake.kernels.dump.tape import read
from namesake.kernels.simd import LANES, pointer
from namesake.kernels.types import U8
from namesake.language import English
from test_dump import chunk_of, rows

pytestmark = pytest.mark.kernel
SNAKTYPE = '"snaktype": "novalue", '


@kernel(types.int64(U8, ARRAYS))
def end_of(data, arrays):
    """`read` from the first byte on."""
    return read(pointer(data), 0, True, pointers(arrays))


def accepted(line: bytes) -> bool:
    arrays = _scratch(chunk_of(line))
    data = np.frombuffer(line + bytes(2 * LANES), np.uint8)
    return is_utf8(line) and bool(end_of(data, arrays) == len(line))


def is_json(line: bytes) -> bool:
    try:
        msgspec.json.decode(line)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        return "out of range" in str(error)  # 1e309 is JSON, although no float
    return True


NUMBERS = st.floats(allow_nan=False, allow_infinity=False)
values: Any = st.recursive(
    st.none() | st.booleans() | st.integers(-(10**20), 10**20) | NUMBERS | st.text(),
    lambda inner: st.lists(inner, max_size=5) | st.dictionaries(st.text(max_size=70), inner, max_size=5),
    max_leaves=30,
)
objects = st.dictionaries(st.text(max_size=70), values, max_size=6)


def keys_of(value: Any) -> list[str]:
    """All keys of a value and of the values in it."""
    inside = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return [*(value if isinstance(value, dict) else ()), *(key for one in inside for key in keys_of(one))]


@given(objects, st.booleans(), st.sampled_from([None, 1]))
def test_what_python_writes_is_accepted(value, ascii_only, indent):
    line = json.dumps(value, ensure_ascii=ascii_only, indent=indent).replace("\n", " ").encode("utf-8", "replace")
    escaped_keys = any("\\" in json.dumps(key, ensure_ascii=ascii_only) for key in keys_of(value))
    lone = any(0xD800 <= ord(c) < 0xE000 for c in json.dumps(value, ensure_ascii=False))
    assert accepted(line) or escaped_keys or lone


@given(objects, st.data())
@example({"a": {"b": "\x80"}}, None)
def test_what_is_accepted_is_json(value, data):
    line = bytearray(json.dumps(value, ensure_ascii=False).encode("utf-8", "replace"))
    for _ in range(data.draw(st.integers(1, 3)) if data else 0):
        place = data.draw(st.integers(0, len(line)))
        new = data.draw(st.binary(max_size=2) | st.sampled_from([b'"', b"\\", b",", b"{", b"]", b"0", b"e", b" "]))
        line[place : place + data.draw(st.integers(0, 2))] = new
    if accepted(bytes(line)):
        assert is_json(bytes(line)), line


@pytest.mark.parametrize(
    "line",
    [
        b'{"a": 01}',
        b'{"a": null\x01}',
        b'{"a": 1\x0b, "b": 2}',
        b'{"a":\x011}',
        b'{"a": 1.}', b'{"a": .5}', b'{"a": -}', b'{"a": 1e}', b'{"a": +1}', b'{"a": tru}', b'{"a": nulll}',
        b'{"a": NaN}', b'{"a" 1}', b'{"a":: 1}', b'{"a": 1,}', b"{,}", b'{"a": [1,]}', b'{"a": [,1]}', b'{"a": [1 2]}',
        b'{"a": "x" "y"}', b'{"a": "x"y}', b'{"a": "\\x"}', b'{"a": "\\u12g4"}', b'{"a": "\xff"}', b'{"a": "\xc3"}',
        b'{"a": "\x01"}', b'{"a": [}', b'{"a": {]}', b'{1: 2}', b'{"a"}', b"{'a': 1}", b'{"a": 1}}', b'{"a": 12"b"}',
    ],
)  # fmt: skip
def test_what_is_no_json(line):
    assert not is_json(line)
    assert not accepted(line)
    assert not accepted(b'{"pad": "' + b"x" * 52 + b'", ' + line[1:])  # across the end of a block


@given(st.integers(2, 40), st.integers(0, 39))
def test_a_key_of_a_part_that_stands_twice_is_left_to_a_decoder(count, again):
    sites = [f"site{number}wiki" for number in range(count)]
    once = ", ".join(f'"{site}": {{}}' for site in sites)
    twice = once + f', "{sites[again % count]}": {{}}'
    assert accepted(f'{{"labels": {{"site1wiki": 1}}, "sitelinks": {{{once}}}}}'.encode())
    assert not accepted(f'{{"labels": {{}}, "sitelinks": {{{twice}}}}}'.encode())


def snak(qid: int, more: str = "") -> str:
    value = {"entity-type": "item", "numeric-id": qid, "id": f"Q{qid}"}
    datavalue = json.dumps({"value": value, "type": "wikibase-entityid"})
    return f'{{"snaktype": "value", {more}"property": "P31", "datatype": "wikibase-item", "datavalue": {datavalue}}}'


@pytest.mark.parametrize(
    "part",
    [
        f'"claims": {{"P31": [{{"mainsnak": {snak(5, SNAKTYPE)}, "rank": "normal"}}]}}',
        f'"claims": {{"P31": [{{"mainsnak": {snak(5)}, "rank": "deprecated", "rank": "normal"}}]}}',
        f'"claims": {{"P31": [{{"mainsnak": {snak(5)}, "mainsnak": {snak(42)}, "rank": "normal"}}]}}',
        f'"claims": {{"P31": [{{"mainsnak": {snak(5)}}}], "P31": [{{"mainsnak": {snak(42)}}}]}}',
        '"labels": {"en": {"language": "en", "value": "A"}, "en": {"language": "en", "value": "B"}}',
        '"labels": {"en": {"language": "en", "value": "A", "value": "B"}}',
        '"sitelinks": {"enwiki": {"title": "A"}, "dewiki": {"title": "C"}, "enwiki": {"title": "B"}}',
    ],
)
def test_the_last_of_two_keys_counts(part):
    """As it does for Python's json, which writes each line again with the last of each key."""
    line = '{"type": "item", "id": "Q1", ' + part + "}"
    plain = json.dumps(json.loads(line))
    assert plain != line
    twice, once = (rows(parse_chunk(chunk_of(one.encode() + b"\n"), "all", English)) for one in (line, plain))
    assert twice == once
