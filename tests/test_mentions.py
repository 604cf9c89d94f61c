"""Names in raw text: found as a reader would, and exactly as the slow finder finds them."""

import gzip
import json
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import oracle_mentions as oracle
from namesake.articles.schema import ARTICLES, MENTION
from namesake.kb.columns import Strings
from namesake.kb.names import NameIndex
from namesake.kernels.names.tokens import Tokens, cut, style_of
from namesake.language import English
from namesake.names.detect import Found, candidates_of, find, group_spans
from namesake.names.mentions import faults, mentions_of
from namesake.names.tables import tables
from test_names import index_of

PEOPLE = {
    "Barack Obama": ["President Obama", "President Barack Obama"],
    "Michelle Obama": [],
    "Bernie Sanders": [],
    "Walt Disney": [],
    "J. K. Rowling": ["Joanne Rowling"],
    "Robert Downey Jr.": [],
    "Marine Le Pen": [],
    "Jean-Marie Le Pen": [],
    "Gaël Clichy": [],
    "Conan O'Brien": [],
    "Artem Oganov": [],
    "Will Young": [],
    "Common Sense": [],
    "George H. W. Bush": [],
    "Prime Minister": [],
    "Pope Francis": [],
    "Андрей Рублёв": [],
    "The Weeknd": [],
}
PROSE = ["common sense", "the sense of it", "a common thing", "the prime minister", "will", "young people", "of the"]


@pytest.fixture(scope="module")
def index() -> NameIndex:
    return index_of(list(PEOPLE), list(PEOPLE.values()), PROSE)


def in_text(index: NameIndex, text: str) -> dict[str, list[str]]:
    """Each person's name with the spans, as text."""
    asked = Strings.of([text])
    found = find(index, asked.data, asked.offsets)
    spans = [text[start:end] for start, end in found.spans]
    return {
        index.texts[int(name)]: spans[found.span_indptr[m] : found.span_indptr[m + 1]]
        for m, name in enumerate(found.names)
    }


@pytest.mark.parametrize(
    ("text", "people"),
    [
        ("Barack Obama met Bernie Sanders.", {"barack obama": ["Barack Obama"], "bernie sanders": ["Bernie Sanders"]}),
        ("Barack Obama spoke. Mr. Obama left.", {"barack obama": ["Barack Obama", "Obama"]}),
        ("Obama's speech: Barack Obama's best.", {"barack obama": ["Obama", "Barack Obama"]}),
        ("President Barack Obama spoke; Barack waved.", {"barack obama": ["Barack Obama", "Barack"]}),
        ("President Obama spoke. Obama left.", {"president obama": ["President Obama", "Obama"]}),
        (
            "Michelle Obama and Barack Obama came with President Obama's dog.",
            {"michelle obama": ["Michelle Obama"], "barack obama": ["Barack Obama", "President Obama"]},
        ),
        ("Barack Obama and Michelle Obama. Barack sat, Obama stood.", None),
        ("barack obama , he said . obama left .", {"barack obama": ["barack obama", "obama"]}),
        ("BARACK OBAMA WINS AGAIN, OBAMA SAYS", {"barack obama": ["BARACK OBAMA", "OBAMA"]}),
        ("By J.K. Rowling, of course", {"jk rowling": ["J.K. Rowling"]}),
        ("By J. K. Rowling, of course", {"jk rowling": ["J. K. Rowling"]}),
        ("By JK Rowling, of course", {"jk rowling": ["JK Rowling"]}),
        ("said robert downey jr. yesterday", {"robert downey jr": ["robert downey jr"]}),
        ("Robert Downey, Jr. came. Downey left.", {"robert downey jr": ["Robert Downey, Jr", "Downey"]}),
        ("Gael Clichy and GAËL CLICHY in Gaël Clichy", {"gael clichy": ["Gael Clichy", "GAËL CLICHY", "Gaël Clichy"]}),
        ("Gae\u0308l Clichy scored", {"gael clichy": ["Gae\u0308l Clichy"]}),
        ("Conan O’Brien’s show, O'Brien said", {"conan obrien": ["Conan O’Brien", "O'Brien"]}),
        ("Artem R. Oganov found it. Oganov is here.", {"artem oganov": ["Artem R. Oganov", "Oganov"]}),
        ("Marine Le Pen lost, and Le Pen knows.", {"marine le pen": ["Marine Le Pen", "Le Pen"]}),
        ("Jean-Marie Le Pen, or Jean-Marie for short", {"jean marie le pen": ["Jean-Marie Le Pen", "Jean-Marie"]}),
        ("President George H.W. Bush went", {"george hw bush": ["George H.W. Bush"]}),
        ("Андрей Рублёв выиграл. Рублёв рад.", {"андрей рублев": ["Андрей Рублёв", "Рублёв"]}),
        ("The Walt Disney Company grew.", {}),
        ("Walt Disney drew. The Walt Disney Company grew.", {"walt disney": ["Walt Disney"]}),
        ("walt disney studios said", {}),
        ("Walt Disney High School and the Walt Disney Performing Arts Center", {}),
        (
            "Walt Disney high in Space, the Will Young High Hopes",
            {"walt disney": ["Walt Disney"], "will young": ["Will Young"]},
        ),
        ("it is common sense , he said", {}),
        ("the prime minister met the Prime Minister", {}),
        ("Will Young sang.", {"will young": ["Will Young"]}),
        ("he met with Obama and Clinton", {}),
        ("Barack. Obama is no name, nor Barack, Obama", {}),
        ("Barack\n\nObama", {}),
        ("Barack\nObama", {"barack obama": ["Barack\nObama"]}),
        ('<a title="Barack Obama">Barack Obama</a>', {"barack obama": ["Barack Obama"]}),
        ("Barack <b>Obama</b>", {}),
        ("Pope Francis. Francis said", {"pope francis": ["Pope Francis", "Francis"]}),
        ("", {}),
        ("…!? ' <", {}),
        ("村上春樹は言った。", {}),
    ],
)
def test_what_a_reader_finds(index: NameIndex, text: str, people: dict[str, list[str]] | None) -> None:
    found = in_text(index, text)
    if people is None:  # two who share a surname: it goes to the one named last
        assert found == {"barack obama": ["Barack Obama", "Barack"], "michelle obama": ["Michelle Obama", "Obama"]}
    else:
        assert found == people


def test_a_name_inside_another_is_left_alone(index: NameIndex) -> None:
    assert in_text(index, "Ann Marie Obama met Barack Obama") == {"barack obama": ["Barack Obama"]}


def as_lists(index: NameIndex, found: Found, text: int) -> list[tuple[str, list[tuple[int, int]], bool]]:
    return [
        (
            index.texts[int(found.names[m])],
            [tuple(span) for span in found.spans[found.span_indptr[m] : found.span_indptr[m + 1]].tolist()],
            bool(found.without_initial[m]),
        )
        for m in range(found.indptr[text], found.indptr[text + 1])
    ]


def slow_finder(index: NameIndex) -> oracle.Finder:
    entities = index.entities
    return oracle.Finder(
        {index.texts[n]: (int(index.person[n]), frozenset(entities[n].tolist())) for n in range(len(index))}
    )


def slowly(finder: oracle.Finder, text: str) -> list[tuple[str, list[tuple[int, int]], bool]]:
    return [(m.name, m.spans, m.skipped) for m in finder.find(text) if m.firms < m.full]


def assert_bytes_match(found: Found, place: int, text: str) -> None:
    """The byte spans of a text are its spans in characters."""
    first, last = found.span_indptr[found.indptr[place : place + 2]]
    ends = [[len(text[:end].encode()) for end in span] for span in found.spans[first:last].tolist()]
    assert found.byte_spans[first:last].tolist() == ends


WORDS = [word for name, others in PEOPLE.items() for form in (name, *others) for word in form.split()]
WORDS += [
    "the",
    "of",
    "Mr.",
    "Inc.",
    "Company",
    "High",
    "School",
    "said",
    "R.",
    "x",
    "é",
    "'s",
    "’s",
    "<b>",
    "50",
    "will",
    "Jr.",
]
GAPS = [" "] * 12 + [", ", ". ", "-", "\n", "\n\n", "'s ", " — ", "", " . ", "’s ", "é", "王"]
texts = st.lists(st.tuples(st.sampled_from(WORDS), st.sampled_from(GAPS)), max_size=25)
texts = texts.map(lambda pairs: "".join(word + gap for word, gap in pairs))
texts = texts | texts.map(str.lower) | texts.map(str.upper)


@pytest.mark.kernel
@given(some=st.lists(texts | st.text(max_size=20), max_size=3))
def test_the_kernel_finds_what_the_slow_finder_finds(index: NameIndex, some: list[str]) -> None:
    finder = slow_finder(index)
    for behind in ([], ["x" * 100]):  # words near the end of the data are read in another way
        column = Strings.of(some + behind)
        found = find(index, column.data, column.offsets)
        for place, text in enumerate(some):
            readable = text.encode("utf-8", "replace").decode()
            assert as_lists(index, found, place) == slowly(finder, readable)
            assert_bytes_match(found, place, readable)


def style(text: str) -> int:
    """How a text is written, by the kernels."""
    column, most = Strings.of([text]), len(text) + 2
    bits, classes, gaps = (np.empty(most, np.uint8) for _ in range(3))
    tokens = Tokens(np.empty(most, np.uint64), np.empty(most, np.int64), np.empty(most, np.int64), bits, classes, gaps)
    return style_of(bits, cut(column.data, 0, len(column.data), tables(English), tokens, most))


@pytest.mark.kernel
@given(texts | st.text(max_size=20))
def test_the_kernel_reads_capitals_as_the_slow_finder_does(text: str) -> None:
    assert style(text) == oracle.style_of(oracle.Tokeniser(text.encode("utf-8", "replace").decode()).run())


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("Barack Obama met him.", oracle.CASED),
        ("barack obama met him.", oracle.LOWER),
        ("BARACK OBAMA MET HIM", oracle.UPPER),
        ("", oracle.CASED),
    ],
)
def test_capitals_decide_how_a_text_is_read(text: str, wanted: int) -> None:
    assert style(text) == wanted


def test_candidates_come_with_their_quality(index: NameIndex) -> None:
    asked = Strings.of(["Joanne Rowling met Artem R. Oganov at the Walt Disney Company."])
    found = find(index, asked.data, asked.offsets)
    indptr, rows, quality = candidates_of(index, found)
    names = list(PEOPLE)
    assert [names[row] for row in rows] == ["J. K. Rowling", "Artem Oganov"]
    assert quality.tolist() == pytest.approx([0.95, 0.9])
    assert indptr.tolist() == [0, 1, 2]


class SmallKB:
    """As much of a KB as finding names needs."""

    def __init__(self, index: NameIndex) -> None:
        self.names = index
        self.qids = np.arange(1, len(PEOPLE) + 1, dtype=np.int64) * 10

    def rows(self, qids: np.ndarray) -> np.ndarray:
        return np.array([np.flatnonzero(self.qids == qid)[0] if qid in self.qids else -1 for qid in qids], np.int64)


def test_given_and_found_mentions_stand_in_the_order_of_their_articles(index: NameIndex) -> None:
    kb = SmallKB(index)
    given = [{"name": "X", "spans": [[0, 1]], "candidates": ["Q20", "Q7"]}, {"name": "Walt Disney", "spans": [[1, 5]]}]
    rows = [
        {"id": "a", "text": "Barack\nObama. Walt Disney Company.", "mentions": None},
        {"id": "b", "text": "é Barack Obama", "mentions": given},
        {"id": "c", "text": "nobody", "mentions": None},
        {"id": "d", "text": "nobody", "mentions": []},
        {"id": "e", "text": "é Artem R. Oganov and Oganov", "mentions": None},
    ]
    mentions = mentions_of(pa.Table.from_pylist(rows, schema=ARTICLES), kb, "never")
    assert mentions.articles.tolist() == [0, 1, 3, 3, 3, 4]
    assert mentions.names.to_pylist() == ["Barack Obama", "X", "Walt Disney", "Artem R. Oganov"]
    assert mentions.found.tolist() == [True, False, False, True]
    assert mentions.span_lists.to_pylist() == [[[0, 12]], [[0, 1]], [[1, 5]], [[2, 17], [22, 28]]]
    assert mentions.spans.tolist() == [[0, 12], [0, 1], [1, 5], [2, 17], [22, 28]]
    assert mentions.byte_spans.tolist() == [[0, 12], [0, 2], [2, 6], [3, 18], [23, 29]]
    assert mentions.span_indptr.tolist() == [0, 1, 2, 3, 5]
    assert mentions.offsets.tolist() == [0, 1, 3, 4, 5]
    assert mentions.qids.tolist() == [10, 20, 7, 40, 110]
    assert mentions.rows.tolist() == [0, 1, -1, 3, 10]
    assert mentions.quality.tolist() == pytest.approx([1, np.nan, np.nan, 1, 0.9], nan_ok=True)
    assert faults(mentions, pa.chunked_array([pa.array([r["mentions"] for r in rows], pa.list_(MENTION))])) == {}


def test_spans_of_another_detector_become_names() -> None:
    text = "Barack Obama met Ann Lee. Obama and Lee talked; Dr. Lee Wu left. OBAMA"
    spans = [
        (text.index(word), text.index(word) + len(word)) for word in ("Barack Obama", "Ann Lee", "Obama and", "OBAMA")
    ]
    spans[2] = (26, 31)
    assert group_spans(text, spans) == [("Barack Obama", [(0, 12), (26, 31), (65, 70)]), ("Ann Lee", [(17, 24)])]
    assert group_spans("", []) == []


@pytest.mark.parametrize(
    "word", ["Barack Obama ", "Obama ", "a. ", "<", "'", "’s ", "Barack\u0301", "\u00ad", "J. ", "Will "]
)
def test_very_long_and_odd_texts(index: NameIndex, word: str) -> None:
    text = word * 50_000
    asked = Strings.of([text, "Barack Obama"])
    found = find(index, asked.data, asked.offsets)
    assert as_lists(index, found, 1) == [("barack obama", [(0, 12)], False)]
    assert (found.spans <= len(text)).all()


def test_the_paper_s_articles_read_as_slowly(shared: Path) -> None:
    """On real text, of all phases, with the names Quotebank lists as the dictionary."""
    with gzip.open(shared / "quotebank" / "articles.jsonl.gz") as lines:
        articles = [json.loads(line) for line in lines][::10]
    names = sorted({name["name"] for article in articles for name in article["names"]})
    index = index_of(names, [[] for _ in names])
    column, finder = Strings.of(article["content"] for article in articles), slow_finder(index)
    found = find(index, column.data, column.offsets)
    for place, article in enumerate(articles):
        assert as_lists(index, found, place) == slowly(finder, article["content"])
        assert_bytes_match(found, place, article["content"])
