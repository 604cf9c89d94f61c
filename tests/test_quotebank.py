"""Quotebank: text mended, names with lost letters found, every quotation with its speaker."""

import gzip
import json
import re
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from typer.testing import CliRunner

from namesake.apps.cli.commands import app
from namesake.articles.article import Mention
from namesake.articles.rejects import Rejects
from namesake.engines.quote_speakers import QUOTES, Votes, address_words, disambiguate
from namesake.errors import NamesakeError
from namesake.formats.quotebank_records import ArticleQuote, Quote, mend, mend_apart, read_quotes
from namesake.kb.build import build
from namesake.linker import Linker
from namesake.names.wildcards import fill
from namesake.sample import ARTICLES, DUMP, WIKIPEDIA

words = st.text(st.sampled_from("abcxyz .,-éüñçøßłŁžŽĆœ’“”–€…ÀÉÜ"), max_size=40)


@given(words, st.sampled_from(["cp1252", "latin-1"]))
def test_mis_decoded_text_is_mended(text, code):
    """Python makes the damage, as whoever read UTF-8 as something else did."""
    try:
        broken = text.encode().decode(code)
    except UnicodeDecodeError:
        return  # bytes that this alphabet lacks would have been lost
    assert mend(broken) == text
    assert len(mend(broken).split(" ")) == len(broken.split(" "))


@given(words)
def test_sound_text_stays_as_it_is(text):
    assume(not re.search(r"([çéñ][œžŽ’“”–€…]{2}){2}", text))  # two Chinese characters in a row are no accident
    assert mend(text) == text
    assert mend_apart(text) == text


def mis_decoded(text: str, code: str) -> str:
    """UTF-8 read as an alphabet of one byte; bytes that it lacks become controls, as browsers have it."""
    raw = (bytes([byte]) for byte in text.encode())
    return "".join(one.decode(code) if code == "latin-1" or one not in LACKING else chr(one[0]) for one in raw)


LACKING = {b"\x81", b"\x8d", b"\x8f", b"\x90", b"\x9d"}
SCRIPTS = [
    ("abcdxyz", "ăâîșțȘȚÎéèêëïôœçñóúüßøåæÅÆØÖÄÜłŁżŻźćśĆŚąęđĐžŽšŠčČűőİıŞşğĞƏə"),
    ("abcdxyz", "ạảấầậắằặẹẽếềệỉịọỏốồộớờợụủứừựỳỵ"),
    ("", "абвгдежзийклмнопрстуфхцчшщыэюяАБВГДПРСТіїєґђћљњ"),
    ("", "αβγδεζηθικλμνξοπρστυφχψωάέήίόύώΑΒΓΔΠΣΩ"),
    ("", "אבגדהוזחטיכלמנסעפצקרשת"),
    ("", "ابتثجحخدذرزسشصضطظعغفقكلمنهوي"),
    ("", "अआइईकखगघचछजझटडतथदधनपफबभमयरलवशषसह"),
    ("", "აბგდევზთიკლმნოპჟრსტ"),
    ("", "中国北京上海日本東京かなカナ서울대통령"),
]


@st.composite
def words_of_a_script(draw: st.DrawFn) -> str:
    """Words of two letters or more; Latin ones begin and end with letters that nothing happens to."""
    plain, letters = draw(st.sampled_from(SCRIPTS))
    word = st.text(st.sampled_from(plain + letters), min_size=2, max_size=8)
    return " ".join(f"{plain[:1]}{one}{plain[:1]}" for one in draw(st.lists(word, max_size=4)))


@given(words_of_a_script(), st.sampled_from(["cp1252", "latin-1"]))
def test_letters_of_many_scripts_are_mended(text, code):
    assert mend(mis_decoded(text, code)) == text


def test_names_of_many_languages_are_mended():
    assert mend("È˜tefan ÈšuÈ›u, Nguyá»…n, Æ\x8fliyev vÉ™ Ãlafur") == "Ștefan Țuțu, Nguyễn, Əliyev və Ãlafur"
    assert mend("ÐŸÑƒÑ‚Ð¸Ð½ Ð¸ Î‘Î¸Î®Î½Î±, Ï€ and Î±-blockers") == "Путин и Αθήνα, π and α-blockers"
    assert mend("LÃ“PEZ â†’ ðŸ˜€ â‚¬5") == "LÓPEZ → 😀 €5"


@pytest.mark.parametrize(
    "text",
    [
        "CAFÉ’S, CAFÉ™, LEHTELÄ’S, “AMANHÔ, «À», “À”, DÉJÀ… ÜBER” ESPAÑº Ó’Briain l’É– Ç’est",
        "groß“ und „Ö“, «papá»…, «papá»—dijo, 5 × 4, Ø½ in, “5 Å”, n°5, naïve… Zürich’s Çelik’s SÃO",
        "Путин сказал: «Ё». Ο Αλέξης – «Ω». 北京。",
    ],
)
def test_ordinary_text_stays_as_it_is(text):
    assert mend(text) == text


def test_mending_knows_lower_case_and_letters_that_were_set_apart():
    assert mend("josã© and the beyoncã© fans") == "josé and the beyoncé fans"
    assert mend_apart("CourrÃ © ges") == "Courré ges"
    assert mend("CAFÉ’S, café’s, «Lehtelä», Lehtelä’s") == "CAFÉ’S, café’s, «Lehtelä», Lehtelä’s"
    assert mend("it is 5 Â£, Â°") == "it is 5 £, °"


def test_real_articles_are_mended_where_they_are_broken_and_nowhere_else(shared):
    changed = 0
    with gzip.open(shared / "quotebank" / "articles.jsonl.gz", "rt") as lines:
        for record in map(json.loads, lines):
            text, mended = record["content"], mend(record["content"])
            assert len(text.split()) == len(mended.split())  # offsets count tokens
            changed += text != mended
            if text != mended:
                assert len(mended) < len(text)
                assert record["phase"] in "AE"
    assert changed < 60


LABEL, QID = "José Eduardo Agualusa", "Q325575"


@pytest.fixture(scope="module")
def linker(tmp_path_factory) -> Linker:
    """The sample's people, and one whose name has an accent."""
    folder = tmp_path_factory.mktemp("kb")
    human = {"entity-type": "item", "numeric-id": 5, "id": "Q5"}
    snak = {"snaktype": "value", "property": "P31", "datatype": "wikibase-item"}
    snak["datavalue"] = {"type": "wikibase-entityid", "value": human}
    claims = {"P31": [{"mainsnak": snak, "type": "statement", "rank": "normal"}]}
    person = {"type": "item", "id": QID, "labels": {"en": {"language": "en", "value": LABEL}}, "claims": claims}
    more = write(folder / "more.json", [person])
    build([DUMP, more], folder / "kb", keep="people", wikipedia=WIKIPEDIA)
    return Linker(folder / "kb")


def test_a_question_mark_is_any_letter(linker):
    label, qid, lost = LABEL, QID, LABEL.replace("é", "?")
    for name in (lost, lost.lower(), lost.replace("?", " ? ").replace("  ", " ").strip().lower()):
        filled = fill(linker.kb, name)
        assert qid in filled.qids, name
        assert fill(linker.kb, name, [qid]).qids == [qid]
        assert fill(linker.kb, name, ["Q1"]).qids == []  # of the candidates, or nobody
    assert fill(linker.kb, lost).name == label
    for name in ("? ? ?", label, "Xq?zzq Nobody"):
        assert fill(linker.kb, name) == (name, [])


def rows_of(path: Path) -> list[dict]:
    return pq.read_table(path).to_pylist()


def write(path: Path, records: list[dict]) -> Path:
    path.write_text("".join(json.dumps(record) + "\n" for record in records))
    return path


def sample(identifier: str) -> dict:
    return next(a for a in map(json.loads, ARTICLES.read_bytes().splitlines()) if a["id"] == identifier)


URL = "https://news.example.org/2015/tv/some-headline-in-words"


def test_a_quotation_on_its_own_is_linked_by_its_words(linker, tmp_path):
    quotation = "We filmed the X-Files pilot in Vancouver, with aliens and the FBI."
    quotes = [
        {"quoteID": "2015-10-12-000001", "quotation": quotation, "speaker": "Chris Carter", "qids": [], "urls": [URL]},
        {"quoteID": "2015-10-12-000002", "quotation": "Nobody said this.", "speaker": "None", "qids": []},
        {
            "quoteID": "2016-01-01-000003",
            "quotation": "JosÃ© spoke",
            "speaker": None,
            "numOccurrences": 7,
            "phase": "A",
        },
    ]
    tally = disambiguate(linker, [write(tmp_path / "q.jsonl", quotes)], tmp_path / "out.parquet")
    assert (tally.quotes, tally.by_articles) == (3, 0)
    assert pq.read_schema(tmp_path / "out.parquet").equals(QUOTES)
    first, second, third = rows_of(tmp_path / "out.parquet")
    text = f"{quotation}\nsome headline in words"
    [link] = linker.link_text(text, [Mention("Chris Carter")], date="2015-10-12")
    assert (first["qid"], first["confidence"], first["reason"], first["best"]) == (
        link.qid,
        link.confidence,
        link.reason,
        link.best,
    )
    assert link.best is not None
    assert (first["date"], first["context"]) == ("2015-10-12", "quotation")
    assert (second["qid"], second["reason"], second["speaker"]) == (None, "no speaker", None)
    assert (third["quotation"], third["numOccurrences"], third["phase"]) == ("José spoke", 7, "A")


def test_articles_decide_where_they_have_the_quotation(linker, tmp_path):
    """By the address or by the quotation's id; the link is the one that the article itself gets."""
    linker = Linker(linker.kb, threshold=0.4)
    source = sample("amazon-pilots")
    [name] = [m["name"] for m in source["mentions"] if m["name"] == "Chris Carter"]
    tokens = source["text"].split()
    at = next(k for k in range(len(tokens)) if tokens[k : k + 2] == name.split())
    article = {
        "articleID": "a",
        "content": source["text"],
        "date": source.get("date"),
        "url": URL,
        "names": [{"name": name, "ids": None, "offsets": [[at, at + 2]]}],
        "quotations": [{"quoteID": "q2", "quotation": "x"}],
    }
    quotes = [
        {"quoteID": "q1", "quotation": "said", "speaker": name, "qids": [], "urls": f"['{URL}']"},
        {"quoteID": "q2", "quotation": "said", "speaker": name.lower(), "qids": []},
        {"quoteID": "q3", "quotation": "said", "speaker": name, "qids": [], "urls": ["https://elsewhere.org/x"]},
    ]
    [link] = linker.link_text(
        source["text"],
        [Mention(name, [(source["text"].index(name), source["text"].index(name) + len(name))])],
        source.get("date"),
    )
    articles = write(tmp_path / "a.jsonl", [article])
    tally = disambiguate(linker, [write(tmp_path / "q.jsonl", quotes)], tmp_path / "out.parquet", articles=[articles])
    first, second, third = rows_of(tmp_path / "out.parquet")
    assert link.qid is not None
    for row in (first, second):
        assert (row["qid"], row["context"], row["articles"]) == (link.qid, "articles", 1)
        assert row["confidence"] == pytest.approx(link.confidence)
    assert third["context"] == "quotation"
    assert tally.by_articles == 2


def test_article_centric_files_give_a_row_for_each_quotation(linker, tmp_path):
    """Without the article's text, what stands around the quotations is the text."""
    said = [
        {"quoteID": "q1", "quotation": "the truth is out there", "leftContext": ["The", "X-Files", "creator"]}
        | {"rightContext": "said Chris Carter of the FBI series", "localTopSpeaker": "Chris Carter"},
        {"quoteID": "q2", "quotation": "so it is", "globalTopSpeaker": "Chris Carter"},
        {"quoteID": "q3", "quotation": "no", "localTopSpeaker": "None"},
        {"quoteID": "q4", "quotation": "who", "localTopSpeaker": "Somebody Unlisted"},
    ]
    record = {"articleID": "a", "date": "2015-01-01", "names": [{"name": "Chris Carter", "ids": None}]}
    path = write(tmp_path / "a.jsonl", [record | {"quotations": said}])
    disambiguate(linker, [path], tmp_path / "out.parquet")
    rows = rows_of(tmp_path / "out.parquet")
    assert [row["quoteID"] for row in rows] == ["q1", "q2", "q3", "q4"]
    assert rows[0]["best"] == rows[1]["best"] is not None
    assert [row["reason"] for row in rows[2:]] == ["no speaker", "no candidates"]


def said_in(article: str, **said: str) -> dict:
    """An article with one quotation, q1, and two names."""
    names = [{"name": name, "ids": None} for name in ("Chris Carter", "Michael Moore")]
    quotation = {"quoteID": "q1", "quotation": "the truth is out there", "leftContext": "The X-Files creator"}
    return {"articleID": article, "url": f"{URL}/{article}", "names": names, "quotations": [quotation | said]}


CARTER, MOORE, NONE = "Chris Carter", "Michael Moore", "None"


@pytest.mark.parametrize(
    "speakers",
    [
        [(CARTER, CARTER), (MOORE, CARTER), (NONE, CARTER)],  # local, global: that over all articles counts
        [(NONE, CARTER)],
        [(MOORE, NONE), (CARTER, NONE), (CARTER, NONE)],  # else whom most name
        [(NONE, NONE), (NONE, NONE), (CARTER, NONE)],
        [("none", ""), (CARTER, "")],
    ],
)
def test_a_quotation_of_several_articles_is_told_once(speakers, linker, tmp_path):
    records = [
        said_in(f"a{number}", localTopSpeaker=local, globalTopSpeaker=overall)
        for number, (local, overall) in enumerate(speakers)
    ]
    half = write(tmp_path / "one.jsonl", records[:1]), write(tmp_path / "two.jsonl", records[1:])
    tally = disambiguate(linker, half, tmp_path / "out.parquet")
    [row] = rows_of(tmp_path / "out.parquet")
    assert (row["quoteID"], row["speaker"], row["articles"]) == ("q1", CARTER, len(records))
    assert (row["context"], tally.quotes, tally.by_articles) == ("articles", 1, 1)
    assert row["best"] is not None


quotations = st.builds(
    ArticleQuote,
    id=st.sampled_from("abc"),
    localTopSpeaker=st.sampled_from([None, "None", "X Y", "Z Z"]),
    globalTopSpeaker=st.sampled_from([None, "None", "X Y", "Z Z"]),
)


@given(st.lists(quotations))
def test_speakers_are_elected_as_a_plain_count_does(given):
    votes = Votes()
    for one in given:
        votes.add(one)
    votes.count()
    told = {one.id: one.speaker for one in given if votes.elects(one)}

    def place(id: str, speaker: str | None) -> tuple[bool, bool, int, int]:
        mine = [n for n, one in enumerate(given) if (one.id, one.speaker) == (id, speaker)]
        return speaker is not None, any(given[n].is_global for n in mine), len(mine), -mine[0]

    wanted = {
        one.id: max({o.speaker for o in given if o.id == one.id}, key=lambda s: place(one.id, s)) for one in given
    }
    assert told == wanted


def test_a_file_that_grows_between_its_two_readings_is_an_error_for_people():
    votes = Votes()
    votes.add(ArticleQuote("2016-12-26-000001", globalTopSpeaker="Chris Carter"))
    votes.count()
    for late in ("2016-12-26-000000", "2016-12-26-000002"):
        with pytest.raises(NamesakeError, match=f"{late} was not in its file before"):
            votes.elects(ArticleQuote(late, globalTopSpeaker="Chris Carter"))


def test_a_place_that_cannot_be_written_to_is_refused_before_the_work(linker, tmp_path):
    with pytest.raises(NamesakeError, match="absent: no such folder; create it to write"):
        disambiguate(linker, [], tmp_path / "absent" / "q.parquet", articles=[tmp_path / "not-even-looked-at.json"])


def test_an_article_counts_once(linker, tmp_path):
    """Found by its address and by the quotation's id, and named twice among the inputs."""
    quotes = [{"quoteID": "q1", "quotation": "x", "speaker": CARTER, "urls": [f"{URL}/a0", f"{URL}/a1"]}]
    articles = [write(tmp_path / f"a{n}.jsonl", [said_in("a0"), said_in(f"a{n}")]) for n in range(2)]
    disambiguate(linker, [write(tmp_path / "q.jsonl", quotes)], tmp_path / "out.parquet", articles=articles)
    [row] = rows_of(tmp_path / "out.parquet")
    assert (row["context"], row["articles"]) == ("articles", 2)


def test_what_is_no_qid_is_set_aside_and_the_others_count(linker, tmp_path):
    """With the place where it stands, as articles that do not fit their spans."""
    quote = {"quoteID": "q0", "quotation": "x", "speaker": LABEL, "qids": ["notaqid", QID, "Q0", "Q1x"]}
    article = said_in("a1", localTopSpeaker=LABEL) | {"names": [{"name": LABEL, "ids": ["x", QID]}]}
    unfit = said_in("a2") | {"content": "x", "names": [{"name": CARTER, "ids": None, "offsets": [[5, 9]]}]}
    first, second = write(tmp_path / "q.jsonl", [quote]), write(tmp_path / "a.jsonl", [article, unfit])
    with Rejects(most=99) as rejects:
        disambiguate(linker, [first, second], tmp_path / "out.parquet", rejects=rejects)
    assert [(row["quoteID"], row["best"]) for row in rows_of(tmp_path / "out.parquet")] == [("q0", QID), ("q1", QID)]
    placed = sorted((reject.file, reject.line, reject.article_id) for reject in rejects.first)
    assert placed == [(str(second), 1, "a1"), (str(second), 2, "a2"), *[(str(first), 1, "q0")] * 3]
    assert sum("is no QID" in reject.reason for reject in rejects.first) == 4


def test_articles_that_cannot_be_read_twice_are_set_aside(linker, tmp_path):
    quote = {"quoteID": "q0", "quotation": "x", "speaker": NONE}
    path = write(tmp_path / "q.jsonl", [quote, said_in("a1", localTopSpeaker=CARTER)])
    other = write(tmp_path / "a.jsonl", [said_in("a2", quoteID="")])
    with Rejects() as rejects:
        disambiguate(linker, [path, other], tmp_path / "out.parquet", rejects=rejects)
    assert [row["quoteID"] for row in rows_of(tmp_path / "out.parquet")] == ["q0"]
    assert [(reject.line, reject.reason.split(":")[0]) for reject in rejects.first] == [
        (2, "an article among quotations, or from standard input"),
        (1, "a quotation has no quoteID"),
    ]


def test_lost_letters_of_a_speaker_are_put_back(linker, tmp_path):
    label, qid, lost = LABEL, QID, LABEL.replace("é", "?")
    quotes = [{"quoteID": "q", "quotation": "I spoke.", "speaker": lost, "qids": ids} for ids in ([], [qid])]
    disambiguate(linker, [write(tmp_path / "q.jsonl", quotes)], tmp_path / "out.parquet")
    assert [(row["speaker"], row["best"]) for row in rows_of(tmp_path / "out.parquet")] == [(label, qid)] * 2


def test_bad_lines_are_set_aside(linker, tmp_path):
    path = tmp_path / "q.jsonl"
    path.write_text('{\n\n{"quoteID": 5}\n{"quoteID": "q", "quotation": "x", "speaker": "A B", "qids": ["x"]}\n')
    with Rejects() as rejects:
        disambiguate(linker, [path], tmp_path / "out.parquet", rejects=rejects)
    assert [reject.line for reject in rejects.first[:2]] == [1, 3]
    assert len(rows_of(tmp_path / "out.parquet")) == 1
    with pytest.raises(NamesakeError, match="not a quotation"):
        disambiguate(linker, [path], tmp_path / "out.parquet")
    with pytest.raises(NamesakeError, match=r"written as .parquet"):
        disambiguate(linker, [path], tmp_path / "out.jsonl")


def test_addresses():
    assert address_words("http://a.org/news/17/edward-snowden-moves-on.html?x=some-query") == "edward snowden moves on"
    assert address_words("http://[broken") == ""
    quote = Quote(id="x", quotation="", urls="['http://a.org/x', \"http://b.org/y\"]")
    assert quote.addresses == ["http://a.org/x", "http://b.org/y"]


def test_the_real_sample_gives_a_row_for_each_line(shared, sample_kb, tmp_path):
    """The first two thousand through the command; a KB that knows nobody of them still gives every row."""
    with gzip.open(shared / "quotebank" / "quotes-sample.jsonl.gz", "rb") as stream:
        lines = [next(stream) for _ in range(2000)]
    path, out = tmp_path / "q.jsonl", tmp_path / "out.parquet"
    path.write_bytes(b"".join(lines))
    arguments = ["quotebank", "disambiguate", str(path), "--kb", str(sample_kb.path), "-o", str(out)]
    assert CliRunner().invoke(app, arguments).exit_code == 0
    rows = rows_of(out)
    records = [json.loads(line) for line in lines]
    assert [row["quoteID"] for row in rows] == [record["quoteID"] for record in records]
    assert all(row["best"] is None or row["best"] in record["qids"] for row, record in zip(rows, records, strict=True))
    assert len(list(read_quotes(path, Rejects()))) == 2000
