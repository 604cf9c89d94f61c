"""Dumps: what is read from them equals what json.loads finds; nothing is lost, and nothing bad gets through."""

import bz2
import gzip
import io
import json
import sys

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import oracle_dump as oracle
from namesake.errors import NamesakeError
from namesake.files.lines import Meter
from namesake.kb.dump import chunks as dump
from namesake.kb.dump import parse
from namesake.kb.dump.chunks import Chunk, read_chunks
from namesake.kb.dump.parse import Items, parse_chunk
from namesake.kb.dump.repair import BadLineError, repair
from namesake.kernels.dump.wikidata import MISSING
from namesake.language import English


def chunk_of(data: bytes, first_line: int = 1) -> Chunk:
    lines = data.count(b"\n") + (not data.endswith(b"\n"))
    return Chunk("test", first_line, lines, data + bytes(64), len(data))


def rows(parsed: Items, first: int = 0) -> list[dict]:
    """The columns from one row on as the oracle's dicts, less the number of dates dropped."""
    found = []
    for i in range(first, len(parsed.qid)):
        said = range(parsed.statement_indptr[i], parsed.statement_indptr[i + 1])
        values = [int(parsed.statement_value[k]) for k in said]
        found.append(
            {
                "qid": int(parsed.qid[i]),
                "person": bool(parsed.person[i]),
                "kept": bool(parsed.kept[i]),
                "label": parsed.label[i],
                "description": parsed.description[i],
                "title": parsed.title[i],
                "aliases": [parsed.alias[k] for k in range(parsed.alias_indptr[i], parsed.alias_indptr[i + 1])],
                "sitelinks": int(parsed.sitelinks[i]),
                "properties": int(parsed.properties[i]),
                "statements": [
                    (
                        int(parsed.statement_property[k]),
                        value if value >= 0 else parsed.strings[~value],
                        int(parsed.statement_start[k]),
                        int(parsed.statement_end[k]),
                    )
                    for k, value in zip(said, values, strict=True)
                ],
                "birth": (int(parsed.birth[i]), int(parsed.birth_precision[i])),
                "death": (int(parsed.death[i]), int(parsed.death_precision[i])),
                "population": int(parsed.population[i]),
                "deciding": int(parsed.deciding[i]),
                "revision": int(parsed.revision[i]),
            }
        )
    return found


def expected(lines: list[bytes], keep: str) -> tuple[list[dict], int]:
    """The oracle's rows and how many dates it dropped."""
    items = [item for line in lines if (item := oracle.entity(line, keep == "all")) is not None]
    dropped = sum(item.pop("dates_dropped") for item in items)
    return items, dropped


def assert_same(lines: list[bytes], keep: str) -> None:
    parsed = parse_chunk(chunk_of(b"[\n" + b",\n".join(lines) + b"\n]\n"), keep, English)
    items, dropped = expected(lines, keep)
    assert parsed.rejected == []
    assert rows(parsed) == items
    assert parsed.dates_dropped == dropped


# --- entities made up by hypothesis -------------------------------------------------------------------------------

names = st.text(st.characters(codec="utf-8") | st.sampled_from('"\\/\n\t\u2028\ud83d\ude00'), max_size=12)
qids = st.integers(1, 2**31 - 1) | st.sampled_from([5, 76])
other_keys = st.sampled_from(["hash", "x", "snaks-order", "references"])
junk = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | names,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(names, inner, max_size=3),
    max_leaves=6,
)


@st.composite
def shuffled(draw, *members):
    """A map with its members in any order, some optional (given as a pair of a strategy and True), some unknown."""
    items = [(key, draw(kind)) for key, kind, *optional in members if not optional or draw(st.booleans())]
    if draw(st.booleans()):
        items.append((draw(other_keys), draw(junk)))
    return dict(draw(st.permutations(items)))


def item_values():
    number = qids.map(lambda n: {"entity-type": "item", "numeric-id": n, "id": f"Q{n}"})
    others = st.sampled_from(
        [
            {"entity-type": "property", "numeric-id": 31, "id": "P31"},
            {"entity-type": "form", "id": "L7-F1"},
            {"entity-type": "item", "numeric-id": 42},
            {"id": "Q7"},
            {"id": "Q0"},
            {"id": "Q99999999999"},
            {"numeric-id": -3},
            {},
        ]
    )
    return (number | others).flatmap(lambda value: st.permutations(list(value.items())).map(dict))


years = st.integers(0, 3000) | st.integers(199_990, 200_010) | st.integers(0, 10**17)
times = st.builds(
    "{}{:0{}}-{:02}-{:02}T00:00:00Z".format,
    st.sampled_from("+-"),
    years,
    st.sampled_from([4, 11]),
    st.integers(0, 13),
    st.integers(0, 32),
) | st.sampled_from(["", "1961", "+1961", "+-08-04T", "+1961-8-4T00:00:00Z", "+1500-02-29T00:00:00Z"])
time_values = shuffled(("time", times), ("precision", st.integers(0, 15)), ("before", junk, True), ("timezone", junk))


amounts = st.integers(-5, 2**33).map("{:+}".format) | st.sampled_from(["", "+", "7", "+1.5", "+007", "+\u0663", "+5 "])
codes = st.sampled_from(["en", "mul", "en-gb", "en-ca", "de", "en-us", "zh-hant"])


def datavalues(kind):
    def typed(name, values):
        return shuffled(("value", values), ("type", st.just(name)))

    known = {
        "item": typed("wikibase-entityid", item_values()),
        "string": typed("string", names),
        "time": typed("time", time_values),
        "quantity": typed("quantity", shuffled(("amount", amounts, True), ("unit", junk))),
        "other": typed("globecoordinate", shuffled(("latitude", junk), ("precision", junk))),
        "text": typed("monolingualtext", shuffled(("text", names | junk, True), ("language", codes | junk, True))),
        "unknown": typed("no-such-type", junk),
    }
    return known[kind] if kind else st.one_of(*known.values())


def snaks(kind=None):
    datatypes = st.sampled_from(["string", "external-id", "wikibase-item", "time", "no-such-datatype"])
    return shuffled(
        ("snaktype", st.sampled_from(["value", "value", "value", "somevalue", "novalue"])),
        ("property", st.just("P31"), True),
        ("datatype", datatypes, True),
        ("datavalue", datavalues(kind)),
    )


qualifiers = st.just([]) | shuffled(
    ("P580", st.lists(snaks("time"), max_size=2), True), ("P582", st.lists(snaks(), max_size=2), True)
)


def statements(kind=None):
    return shuffled(
        ("mainsnak", snaks(kind)),
        ("rank", st.sampled_from(["normal", "preferred", "deprecated"]), True),
        ("qualifiers", qualifiers, True),
        ("type", st.just("statement")),
    )


TIMES = ["P569", "P570", "P571", "P576", "P577"]


@st.composite
def all_claims(draw):
    claims = {}
    for name in draw(st.lists(st.sampled_from(["P31", "P106", *TIMES, "P1082", "P1549", "P2147483647"]), unique=True)):
        kind = "time" if name in TIMES else {"P1082": "quantity", "P1549": "text"}.get(name)
        claims[name] = draw(st.lists(statements(kind) | statements(), max_size=4))
    return claims


texts = st.builds(lambda code, value: {"language": code, "value": value}, codes, names)


def by_code(values):
    return st.just([]) | st.dictionaries(codes, values, max_size=5)


revisions = st.integers(0, 10**10) | st.sampled_from([10**18 - 1, 10**18, -1, 10**30, 7.0, True, None, "7"])
entities = shuffled(
    ("type", st.just("item")),
    ("id", qids.map("Q{}".format) | st.sampled_from(["P31", "P2147483647", "L12"])),
    ("lastrevid", revisions, True),
    ("labels", by_code(texts), True),
    ("descriptions", by_code(texts), True),
    ("aliases", by_code(st.lists(texts, max_size=4)), True),
    ("claims", st.just([]) | all_claims(), True),
    (
        "sitelinks",
        st.just([])
        | st.dictionaries(
            st.sampled_from(["enwiki", "dewiki", "enwikiquote", "x"]),
            shuffled(("title", names), ("badges", junk)),
            max_size=3,
        ),
        True,
    ),
)


@st.composite
def lines(draw):
    """An entity as JSON, compact or spaced, with or without escapes."""
    separators = draw(st.sampled_from([(",", ":"), (", ", ": "), (" ,\t", " : ")]))
    return json.dumps(draw(entities), ensure_ascii=draw(st.booleans()), separators=separators).encode(
        "utf-8", "surrogatepass"
    )


@pytest.mark.kernel
@settings(deadline=None)
@given(st.lists(lines(), min_size=1, max_size=3), st.sampled_from(["people", "all"]))
def test_a_chunk_holds_what_json_finds(made, keep):
    assert_same([line for line in made if decodable(line)], keep)


@pytest.mark.kernel
@settings(deadline=None)
@given(lines(), st.sampled_from(["people", "all"]))
def test_a_repaired_line_holds_what_json_finds(line, keep):
    if not decodable(line):
        return
    parsed = parse_chunk(chunk_of(repair(line, English)), keep, English)
    assert not parsed.rejected
    assert (rows(parsed), parsed.dates_dropped) == expected([line], keep)


def decodable(line: bytes) -> bool:
    try:
        line.decode()
    except UnicodeDecodeError:
        return False
    return True


# --- lines that are no entity, and lines that are damaged ---------------------------------------------------------

OBAMA = (
    b'{"type":"item","id":"Q76","labels":{"mul":{"language":"mul","value":"Barack Obama"},"en-gb":{"language":'
    b'"en-gb","value":"Obama"},"zh":{"language":"zh","value":"\\u8d1d\\u62c9\\u514b"}},"descriptions":{},"aliases":[],'
    b'"claims":{"P31":[{"mainsnak":{"snaktype":"value","property":"P31","datavalue":{"value":{"entity-type":"item",'
    b'"numeric-id":5,"id":"Q5"},"type":"wikibase-entityid"},"datatype":"wikibase-item"},"type":"statement","rank":'
    b'"normal"}],"P39":[{"mainsnak":{"snaktype":"value","property":"P39","datavalue":{"value":{"entity-type":"item",'
    b'"numeric-id":11696,"id":"Q11696"},"type":"wikibase-entityid"},"datatype":"wikibase-item"},"type":"statement",'
    b'"qualifiers":{"P580":[{"snaktype":"value","property":"P580","datavalue":{"value":{"time":'
    b'"+2009-01-20T00:00:00Z","precision":11},"type":"time"},"datatype":"time"}]},"rank":"preferred"}],"P569":['
    b'{"mainsnak":{"snaktype":"value","property":"P569","datavalue":{"value":{"time":"+1961-08-04T00:00:00Z",'
    b'"precision":11},"type":"time"},"datatype":"time"},"type":"statement","rank":"normal"}]},"sitelinks":{"enwiki":'
    b'{"site":"enwiki","title":"Barack Obama","badges":[]},"dewiki":{"site":"dewiki","title":"Barack Obama"}}}'
)


def test_an_item_in_columns():
    (obama,) = rows(parse_chunk(chunk_of(OBAMA), "people", English))
    assert obama == {
        "qid": 76,
        "person": True,
        "kept": True,
        "label": "Barack Obama",
        "description": "",
        "title": "Barack Obama",
        "aliases": ["Obama"],
        "sitelinks": 2,
        "properties": 3,
        "statements": [(31, 5, MISSING, MISSING), (39, 11696, 14264, MISSING)],
        "birth": (-3072, 11),
        "death": (MISSING, 0),
        "population": 0,
        "deciding": 1,  # a date of birth
        "revision": 0,
    }


@pytest.mark.kernel
def test_what_a_bad_line_said_is_forgotten():
    """The aliases of a line that fails late have been entered, at rows that the next line gets again."""
    line = b'{"id":"Q%d","descriptions":{"en":{"value":"%s"}},"aliases":{"en":[{"value":"%s"},{"value":"%s"}]}}'
    made = line % (1, b"bad \\x", b"A", b"B") + b",\n" + line % (2, b"", b"B", b"C")
    parsed = parse_chunk(chunk_of(made), "all", English)
    assert len(parsed.rejected) == 1
    assert [item["aliases"] for item in rows(parsed)] == [["B", "C"]]


@pytest.mark.kernel
@pytest.mark.parametrize(
    ("line", "reason"),
    [
        (b"no json at all", "no JSON"),
        (OBAMA[:-1], "cut off"),
        (OBAMA[:300], "cut off"),
        (b'{"type":"item","labels":{}}', "without id"),
        (b'{"type":"item","id":null}', "without id"),
        (b'{"id":"M76"}', "'M76'"),
        (b'{"id":"Q076"}', "'Q076'"),
        (b'{"id":"Q99999999999"}', "'Q99999999999'"),
        (b'{"id":"Q76","labels":{"en":{"value":7}}}', "labels"),
        (b'{"id":"Q76","labels":{"en":{"value":"\xff"}}}', "no JSON"),
        (b'{"id":"Q76","labels":{"en":{"value":"a\\x"}}}', "no JSON"),
        (b'{"id":"Q76","claims":{"P31":{}}}', "claims"),
        (b'{"id":"Q76"} {"id":"Q77"}', "no JSON"),
        (b'"Q76"', "not as Wikidata"),
        (b'{"id":"Q76","x":' + b"[" * 100_000, "no JSON"),  # deeper than any Python decodes
    ],
)
def test_a_bad_line_is_set_aside_with_its_place_and_reason(line, reason):
    parsed = parse_chunk(chunk_of(b"[\n" + OBAMA + b",\n" + line + b",\n" + OBAMA + b"\n]", 7), "people", English)
    assert [(reject.file, reject.line) for reject in parsed.rejected] == [("test", 9)]
    assert reason in parsed.rejected[0].reason
    assert rows(parsed) == [rows(parse_chunk(chunk_of(OBAMA), "people", English))[0]] * 2


@pytest.mark.kernel
def test_lines_that_are_not_utf8_are_set_aside_alone():
    """Also an entity in an answer of the API, which is scanned alone; a line end may be inside a character."""
    good, bad = '{"id":"Q%d","labels":{"en":{"value":"é"}}}', b'{"id":"Q%d","labels":{"en":{"value":"\xc3"}}}'
    answer = b'{"entities":{"Q6":' + (good % 6).encode() + b',"Q7":' + bad % 7 + b"}}"
    lines = [
        (good % 1).encode(),
        bad % 2,
        bad % 3,
        (good % 4).encode(),
        answer,
        b"",
        b"\xff",
        (good % 8).encode() + b"\xc3",
    ]
    lines.append((good % 9).encode())
    parsed = parse_chunk(chunk_of(b"\n".join(lines)), "all", English)
    assert parsed.qid.tolist() == [1, 4, 6, 9]
    assert [reject.line for reject in parsed.rejected] == [2, 3, 5, 7, 8]
    assert all(reject.reason.startswith("no JSON") for reject in parsed.rejected)


def test_properties_stand_apart_and_lexemes_are_not_kept():
    property_line = (
        b'{"type":"property","datatype":"string","id":"P31","labels":{"en":{"value":"instance of"}},"claims":[]}'
    )
    lexeme = b'{"type":"lexeme","id":"L7","lemmas":{"en":{"language":"en","value":"cat"}},"forms":[],"senses":[]}'
    odd = b'{"\\u0069d":"P\\u0036","labels":[]}'
    parsed = parse_chunk(chunk_of(b"\n".join([property_line, lexeme, OBAMA, odd])), "people", English)
    assert parsed.property_id.tolist() == [31, 6]
    assert [parsed.property_label[i] for i in range(2)] == ["instance of", ""]
    assert parsed.qid.tolist() == [76]
    assert not parsed.rejected


@pytest.mark.kernel
@settings(deadline=None)
@given(st.data())
def test_damaged_lines_neither_crash_nor_lie(data):
    """A changed line is set aside, or holds what its repaired form holds."""
    line = bytearray(data.draw(st.just(OBAMA) | lines()))
    for _ in range(data.draw(st.integers(1, 3))):
        place = data.draw(st.integers(0, len(line) - 1))
        line[place : place + data.draw(st.integers(0, 3))] = data.draw(
            st.binary(max_size=2) | st.sampled_from([b'"', b"\\", b"{", b"}", b"[", b"]", b",", b":", b"\0", b"\xc3"])
        )
    damaged = bytes(line).replace(b"\n", b" ").strip(b"[], \t\r")
    parsed = parse_chunk(chunk_of(OBAMA + b"\n" + damaged + b"\n" + OBAMA), "all", English)
    assert parsed.qid[0] == parsed.qid[-1] == 76
    try:
        plain = repair(damaged, English)
    except BadLineError:
        assert parsed.rejected or not damaged.strip(b"[], \t\r")
        return
    assert not parsed.rejected
    assert rows(parsed)[1:-1] == rows(parse_chunk(chunk_of(plain), "all", English))


@pytest.mark.kernel
@settings(deadline=None)
@given(st.integers(1, len(OBAMA) - 1))
def test_a_line_cut_anywhere_is_set_aside(length):
    parsed = parse_chunk(chunk_of(OBAMA + b"\n" + OBAMA[:length]), "all", English)
    assert parsed.qid.tolist() == [76]
    assert [reject.line for reject in parsed.rejected] == [2]


def test_many_statements_aliases_and_strings_stay_distinct():
    values = [
        {"mainsnak": {"snaktype": "value", "datavalue": {"type": "string", "value": f"s{n % 700}"}}}
        for n in range(1500)
    ]
    entity = {
        "id": "Q1",
        "labels": {"en": {"value": "n0"}},
        "aliases": {"en": [{"value": f"n{n % 900}"} for n in range(2000)]},
        "claims": {"P1": values, "P2": values},
    }
    assert_same([json.dumps(entity).encode(), OBAMA, json.dumps(entity).encode()], "all")


# --- real records -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["full-records.json.bz2", "full-records-stream.jsonl.bz2"])
@pytest.mark.parametrize("keep", ["people", "all"])
def test_complete_records_parse_without_a_record_lost(shared, monkeypatch, name, keep):
    monkeypatch.setattr(parse, "repair", None)  # the scanner must need no help
    path = shared / "wikidata" / name
    with bz2.open(path) as file:
        records = [line for raw in file if len(line := raw.strip().rstrip(b",")) > 1]
    parsed = [parse_chunk(chunk, keep, English) for chunk in read_chunks([path], 2, 1 << 20)]
    items, dropped = expected(records, keep)
    assert len(items) == len(records) > 99
    assert [row for part in parsed for row in rows(part)] == items
    assert sum(part.dates_dropped for part in parsed) == dropped


@pytest.mark.slow
def test_the_slice_parses_without_a_record_lost(shared, monkeypatch):
    monkeypatch.setattr(parse, "repair", None)
    people = items = properties = line = 0
    for chunk in read_chunks([shared / "wikidata" / "slice.json.gz"], 2):
        parsed = parse_chunk(chunk, "people", English)
        people, items, properties = (
            people + parsed.person.sum(),
            items + len(parsed.qid),
            properties + len(parsed.property_id),
        )
        assert chunk.first_line == line + 1
        line += chunk.lines
        assert not parsed.rejected
        mark = b'"id":"Q%d",' % parsed.qid[-1]
        sample = next(one for one in chunk.text[: chunk.size].split(b"\n")[::-1] if mark in one[:99]).rstrip(b",")
        assert rows(parsed, len(parsed.qid) - 1) == expected([sample], "people")[0]
    assert (people, items, properties, line) == (545_610, 693_698, 5_035, 698_735)


# --- reading ------------------------------------------------------------------------------------------------------

DUMP = b"[\n" + b",\n".join([OBAMA] * 40) + b"\n]\n"
ZSTD = pa.Codec("zstd")
PACKED = {
    "plain": DUMP,
    "gzip": gzip.compress(DUMP),
    "gzip of several members": gzip.compress(DUMP[:5000]) + gzip.compress(DUMP[5000:]),
    "bzip2": bz2.compress(DUMP),
    "bzip2 of several streams": bz2.compress(DUMP[:5000]) + bz2.compress(DUMP[5000:]),
    "zstandard": pa.Codec("zstd").compress(DUMP, asbytes=True),
    "zstandard of several frames": b"".join(
        pa.Codec("zstd").compress(s, asbytes=True) for s in (DUMP[:5000], DUMP[5000:])
    ),
}


def read_all(paths, chunk_bytes=1 << 16) -> list[Chunk]:
    return list(read_chunks(paths, 2, chunk_bytes))


def joined(chunks: list[Chunk]) -> bytes:
    return b"".join(chunk.text[: chunk.size] for chunk in chunks)


@pytest.mark.parametrize("kind", PACKED)
def test_a_file_is_unpacked_by_what_it_is_not_by_its_name(tmp_path, kind):
    path = tmp_path / "dump.json"
    path.write_bytes(PACKED[kind])
    chunks = read_all([path])
    assert joined(chunks) == DUMP


@pytest.mark.parametrize("kind", PACKED)
@pytest.mark.parametrize("piped", [True, False])
def test_stdin_is_unpacked_too(monkeypatch, kind, piped):
    stdin = io.BufferedReader(NoSeek(PACKED[kind]) if piped else io.BytesIO(PACKED[kind]))
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(stdin))
    chunks = read_all(["-"])
    assert joined(chunks) == DUMP
    assert chunks[0].file == "stdin"


class NoSeek(io.BytesIO):
    def seekable(self) -> bool:
        return False


@given(st.integers(64, 5000), st.integers(1, 3))
def test_chunks_are_whole_lines_in_order(tmp_path_factory, chunk_bytes, copies):
    path = tmp_path_factory.mktemp("dump") / "dump.json"
    path.write_bytes(DUMP[:-1])  # no newline at the end
    chunks = read_all([path] * copies, chunk_bytes)
    assert joined(chunks) == DUMP[:-1] * copies
    line = 1
    for chunk in chunks:
        line = 1 if chunk.text[: chunk.size].startswith(b"[") else line
        assert chunk.first_line == line
        assert chunk.lines == len(chunk.text[: chunk.size].splitlines())
        assert not any(chunk.text[chunk.size : chunk.size + 64])
        assert len(chunk.text) >= chunk.size + 64
        line += chunk.lines


def test_progress_counts_all_files(tmp_path):
    path = tmp_path / "dump.json"
    again = tmp_path / "again.json"
    for one in (path, again):
        one.write_bytes(DUMP * (1 + (2 << 20) // len(DUMP)))
    with Meter([path, again]) as meter:
        done = [meter.fraction() for _ in read_chunks([path, again], 2, 1 << 16)]
    assert done == sorted(done)
    assert 0.4 < done[len(done) // 2] < 0.6
    assert done[-1] == 1.0


def test_a_line_beyond_all_measure_is_set_aside(tmp_path, monkeypatch):
    monkeypatch.setattr(dump, "LONGEST_LINE", 1 << 12)
    path = tmp_path / "dump.json"
    path.write_bytes(OBAMA + b"\n" + b" " * 70_000 + OBAMA + b"\n" + OBAMA + b"\n" + b"x" * 9000)
    parsed = [parse_chunk(chunk, "people", English) for chunk in read_all([path], 1024)]
    assert [reject.line for part in parsed for reject in part.rejected] == [2, 4]
    assert [qid for part in parsed for qid in part.qid.tolist()] == [76, 76]


@pytest.mark.parametrize("kind", ["gzip", "bzip2", "zstandard"])
@pytest.mark.parametrize("damage", ["cut", "changed"])
def test_a_damaged_file_names_itself_and_the_line(tmp_path, kind, damage):
    packed = bytearray(PACKED[kind])
    if damage == "cut":
        del packed[-10:]
    else:
        packed[5 if kind == "zstandard" else len(packed) // 2] ^= 0x55  # pyarrow packs zstandard without a checksum
    path = tmp_path / "dump.json.gz"
    path.write_bytes(packed)
    with pytest.raises(
        NamesakeError, match=r"dump\.json\.gz cannot be read to its end .* after line \d+: download it again"
    ):
        read_all([path])


def test_a_cut_gzip_gives_its_lines_first(tmp_path):
    text = b"".join(b'{"id":"Q%d"}\n' % n for n in range(1, 200_000))
    path = tmp_path / "dump.json.gz"
    path.write_bytes(gzip.compress(text)[:-5000])
    chunks: list[Chunk] = []
    with pytest.raises(NamesakeError) as error:
        chunks.extend(read_chunks([path], 1, 1 << 16))
    lines = sum(chunk.lines for chunk in chunks)
    assert 100_000 < lines < 200_000
    reached = int(str(error.value).split("after line ")[1].split(":")[0].replace(",", ""))
    assert lines <= reached <= 200_000


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "is empty"),
        (b"[\n]\n", "contains no entity;"),
        (gzip.compress(b"", mtime=0), "is empty and contains no entity;"),
        (b"\xfd7zXZ\x00rest", "packed with xz"),
    ],
)
def test_a_file_without_entities_is_refused(tmp_path, content, message):
    path = tmp_path / "dump.json"
    path.write_bytes(content)
    with pytest.raises(NamesakeError, match=message) as error:
        read_all([path])
    assert str(path) in str(error.value)


def test_a_file_that_is_not_there_is_named_before_any_is_read(tmp_path):
    path = tmp_path / "dump.json"
    path.write_bytes(DUMP)
    with pytest.raises(NamesakeError, match=r"nothing\.json: no such file"):
        next(read_chunks([path, tmp_path / "nothing.json"], 1))
    with pytest.raises(NamesakeError, match="is a folder"):
        next(read_chunks([path, tmp_path], 1))


def test_a_byte_order_mark_is_no_part_of_the_first_line(tmp_path):
    path = tmp_path / "dump.json"
    path.write_bytes(b"\xef\xbb\xbf" + OBAMA)
    (chunk,) = read_all([path])
    assert parse_chunk(chunk, "people", English).qid.tolist() == [76]
