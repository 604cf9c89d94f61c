"""Text against NLTK's tokenizer and stemmer, nupunkt's sentences, and plain Python."""

import gzip
import json
import string
import sys
from collections import defaultdict
from types import FunctionType, SimpleNamespace

import numpy as np
import nupunkt
import pytest
import Stemmer
from hypothesis import example, given, settings
from hypothesis import strategies as st
from numba import config, njit

import namesake.text
import oracle_text as oracle
from namesake.errors import NamesakeError
from namesake.kb.columns import KBColumns
from namesake.kb.columns.words import index_words
from namesake.kernels.text import lookup, tokenizer
from namesake.kernels.text.characters import hash_all
from namesake.language import English
from namesake.text import Lexicon, _clean, pack, sentences, tokenize

SIGNS = """' " '' `` ` . .. ... , : ; - -- ? ! ( ) [ ] { } < > @ # $ % & / * _"""
CLITICS = "n't N'T 's 'S 'm 'd 'll 'Ll 've 're cannot Cannot gonna wanna gimme lemme gotta 'tis 'Tis 'twas d'ye more'n"
WORDS = "5 12 1,000 3.5 a b I do dogs said Dr. U.S. p.m. Inc."
TRICKY = [*SIGNS.split(), *CLITICS.split(), *WORDS.split()]
STOPS = [". ", "? ", " . ", " ... ", "\n\n", "The", "he", "Smith", "left"]
OPENERS = ["", "", '"', "'", "(", "``"]

odd_text = st.lists(st.sampled_from([*TRICKY, *" " * 20, "\n", "\t", "\r"]), max_size=14).map("".join)
chunk = st.tuples(st.sampled_from(OPENERS), st.sampled_from(TRICKY), st.sampled_from(TRICKY + [""] * 60)).map("".join)
english = st.lists(chunk, max_size=12).map(" ".join)
printable = st.text(string.printable, max_size=30)
ascii_text = odd_text | english | printable
news = st.lists(st.sampled_from([*TRICKY, *STOPS, *" " * 30])).map("".join)
kernel = pytest.mark.kernel
some = settings(max_examples=200, deadline=None)


def hash_bytes(token: bytes) -> int:
    return int(hash_all(np.frombuffer(token, np.uint8), np.array([0, len(token)]))[0])


def tokens(text: str) -> list[str]:
    """The Treebank tokens of a text that start with a letter."""
    data, offsets = pack([text])
    _, starts, ends, *_ = tokenize(data, offsets, English)
    found = [data[start:end].tobytes().decode("utf-8", "replace") for start, end in zip(starts, ends, strict=True)]
    return [token for token in found if token.isascii() or _clean(token)]


def lexicon(columns: list[list[str]], how: str = "stem") -> tuple[Lexicon, dict[str, int]]:
    made, _ = index_words([pack(column) for column in columns], English, how)
    tables = [made[getattr(KBColumns, name)] for name in ("surface_hash", "surface_word", "stem_hash", "stem_word")]
    for table in tables:
        table.flags.writeable = False  # as memory-mapped columns are
    return Lexicon(tables, English, how), {word: k for k, word in enumerate(made[KBColumns.words])}


def found(lexicon: Lexicon, texts: list[str]) -> list[list[tuple[int, int]]]:
    analysed = lexicon.analyse(*pack(texts))
    pairs = list(zip(analysed.word.tolist(), analysed.start.tolist(), strict=True))
    return [pairs[low:high] for low, high in zip(analysed.indptr, analysed.indptr[1:], strict=False)]


@kernel
@some
@given(news | ascii_text)
def test_tokens_of_a_text_are_nltks_sentence_by_sentence(text):
    assert tokens(text) == [token for _, token in oracle.tokens(text)]


PLAIN = "a The all-cash cannot-do 21st 4.4 10:30 B52 9-a 'll 'abc '' `` -- - ' / ; ? ! . , : ( x. x, x' _ é ’s"
pieces = st.sampled_from([*TRICKY, *PLAIN.split(), *PLAIN.split(), ". ''", "\n"])
long_text = st.lists(pieces, min_size=20, max_size=80).map(" ".join)


@pytest.fixture(scope="module")
def by_exact_rules_alone():
    """`tokenize` that takes nothing for plain."""
    compiled = (lambda function: function) if config.DISABLE_JIT else njit
    scanning, outer = (getattr(one, "function", one) for one in (tokenizer.scan, lookup.analyse))
    scan = compiled(FunctionType(scanning.__code__, {**scanning.__globals__, "REACH": 1 << 40}))
    analyse = compiled(FunctionType(outer.__code__, {**outer.__globals__, "scan": scan}))
    replaced = {**vars(namesake.text), "lookup": SimpleNamespace(analyse=analyse)}
    return FunctionType(tokenize.__code__, replaced)


@kernel
@some
@given(texts=st.lists(long_text | news, max_size=3))
def test_what_is_plain_goes_as_by_the_exact_rules(by_exact_rules_alone, texts):
    arguments = *pack(texts), English
    for one, other in zip(tokenize(*arguments), by_exact_rules_alone(*arguments), strict=True):
        np.testing.assert_array_equal(one, other)


def test_more_contractions_in_one_piece_than_the_buffer_holds():
    text = "-".join(["cannot"] * 580)
    assert tokens(text) == [token for _, token in oracle.tokens(text)]


@kernel
@some
@given(st.binary(max_size=40) | st.text(max_size=20).map(lambda text: text.encode("utf-8", "replace")))
def test_hash_is_the_plain_one(token):
    assert hash_bytes(token) == oracle.hashed(token)


@kernel
@some
@given(st.lists(news | printable, max_size=4))
def test_hashes_are_those_of_the_tokens(texts):
    data, offsets = pack(texts)
    indptr, starts, ends, hashes, _ = tokenize(data, offsets, English)
    for k in range(len(texts)):
        for token in range(indptr[k], indptr[k + 1]):
            assert offsets[k] <= starts[token] < ends[token] <= offsets[k + 1]
            assert hashes[token] == hash_bytes(data[starts[token] : ends[token]].tobytes())


@kernel
@some
@example(["We", "lost", "it", ",", "''", "he", "said", ".", "''", "No", "."])
@given(
    st.lists(st.sampled_from(["he", "said", "No", "A", "``", "''", "'", ".", ",", "?", "!", "5", "it"]), max_size=24)
)
def test_a_text_is_read_the_same_whatever_stands_behind_it(parts):
    """Blocks of 64 bytes reach into the next text, and must not be led by it."""
    text = " ".join(parts)
    alone, before = (tokenize(*pack(texts), English) for texts in ([text], [text, 100 * "x '' ."]))
    for one, other in zip(alone[1:4], before[1:4], strict=True):
        assert one.tolist() == other[: alone[0][1]].tolist()
    assert alone[4].tolist() == before[4][: len(alone[4])].tolist()


@kernel
@some
@given(st.lists(st.binary(max_size=60), max_size=4))
def test_any_bytes_are_survived(blobs):
    offsets = np.cumsum([0, *map(len, blobs)])
    data = np.frombuffer(b"".join(blobs), np.uint8)
    indptr, starts, ends, *_ = tokenize(data, offsets, English)
    analysed = lexicon([["a"]])[0].analyse(data, offsets)
    for k, blob in enumerate(blobs):
        edges = np.column_stack([starts, ends])[indptr[k] : indptr[k + 1]].ravel().tolist()
        assert edges == sorted(edges)
        assert all(offsets[k] <= edge <= offsets[k + 1] for edge in edges)
        begins = analysed.sentence[analysed.sentence_indptr[k] : analysed.sentence_indptr[k + 1]].tolist()
        assert begins == sorted(set(begins))
        assert begins[:1] == [0][: len(blob)]
        assert all(begin < len(blob) for begin in begins)


LONG = ["a", "é", "'", "a' ", "cannot-", ". ", "\0", "\n", "'tis'", '"', "a\n\n", "😀 ", "?.", "? ", ' . "', "a. "]


@pytest.mark.parametrize("unit", LONG)
def test_ten_megabytes_are_survived(unit):
    text = unit * (10_000_000 // len(unit.encode()))
    indptr, starts, *_ = tokenize(*pack([text]), English)
    assert indptr[-1] == len(starts)


@kernel
@some
@given(st.lists(st.text(string.ascii_letters + "éÉüßñΩžдЖ", min_size=1, max_size=8)))
def test_words_beyond_ascii_are_lowered_and_stemmed_as_python_does(surfaces):
    stem = Stemmer.Stemmer("porter").stemWord
    expected = [stem(word.lower()) for word in surfaces if word.lower() not in English.stop_words]
    contractions = {"cannot", "gimme", "gonna", "gotta", "lemme", "wanna"}
    if not contractions & {word.lower() for word in surfaces}:
        assert oracle.kernel_words(" ".join(surfaces)) == expected


@kernel
def test_typographic_signs_stand_for_their_ascii_kin():
    curly = "“It’s the dogs’ home”—O’Brien said… we can’t–won’t go\xa0there, ‘ok’ he’ll ’tis"
    assert oracle.kernel_words(curly) == oracle.words(curly)
    assert oracle.kernel_words("naïve") == oracle.kernel_words("NAI\u0308VE")
    assert tokens("• «Élan» 5€ 東京 ½x") == ["Élan", "東京"]
    assert oracle.kernel_words("•Bullet™ ☃ 5é") == ["bullet"]


@kernel
def test_stop_words_go_before_stemming():
    assert len(English.stop_words) == 127
    assert oracle.kernel_words("The doing of being is wills") == ["will"]
    assert oracle.kernel_words("Wills", how="none") == ["wills"]
    assert oracle.kernel_words("mice ran", how="lemma") == ["mouse", "run"]


def test_unknown_and_missing_reductions_are_refused(monkeypatch):
    with pytest.raises(NamesakeError, match="stem, lemma or none"):
        oracle.kernel_words("x", how="root")
    monkeypatch.setitem(sys.modules, "simplemma", None)
    with pytest.raises(NamesakeError, match="its extra `lemma`"):
        oracle.kernel_words("x", how="lemma")


@kernel
@some
@given(st.lists(st.lists(english, max_size=4), min_size=1, max_size=3))
def test_index_is_vocabulary_and_word_sets(columns):
    made, word_sets = index_words([pack(column) for column in columns], English)
    vocabulary = made[KBColumns.words].arrow().to_pylist()
    assert vocabulary == oracle.vocabulary(columns)
    ids = {word: k for k, word in enumerate(vocabulary)}
    for column, sets in zip(columns, word_sets, strict=True):
        rows = [sets.values[low:high].tolist() for low, high in zip(sets.indptr, sets.indptr[1:], strict=False)]
        assert rows == [sorted({ids[word] for word in oracle.words(text)}) for text in column]


def test_index_does_not_depend_on_the_block_size(monkeypatch):
    many = [f"w{k % 977}x w{k * k % 70001}y the Running" for k in range(40_000)]
    columns = [pack(many), pack([]), pack(["", "a runs"])]
    made, sets = index_words(columns, English)
    monkeypatch.setattr("namesake.kb.columns.words.BLOCK", 1000)
    again, sets_again = index_words(columns, English)
    vocabulary = made.pop(KBColumns.words)
    assert vocabulary.arrow() == again.pop(KBColumns.words).arrow()
    assert vocabulary[0] == "run"
    assert all((made[column] == again[column]).all() for column in made)
    for one, two in zip(sets, sets_again, strict=True):
        assert one.indptr.tolist() == two.indptr.tolist()
        assert one.values.tolist() == two.values.tolist()


@kernel
@some
@given(st.lists(english, max_size=3), st.lists(news, max_size=4))
def test_lexicon_finds_the_known_words(kb_texts, texts):
    judged, known = lexicon([kb_texts])
    assert found(judged, texts) == [oracle.analysed(text, known) for text in texts]


@kernel
@some
@given(st.lists(english, max_size=3), st.lists(news, max_size=5))
def test_lexicon_depends_on_the_text_alone(kb_texts, texts):
    judged, _ = lexicon([kb_texts])
    together = found(judged, texts)
    backwards = [found(judged, [text])[0] for text in reversed(texts)]
    assert backwards[::-1] == together


def test_lexicon_forgets_when_full_and_stays_right(monkeypatch):
    monkeypatch.setattr(namesake.text, "CACHE_SLOTS", (8, 32))
    judged, known = lexicon([[" ".join(f"known{k}" for k in range(50))]])
    for low in range(0, 400, 40):
        text = " ".join(f"known{k % 90} strange{k}" for k in range(low, low + 40))
        assert found(judged, [text]) == [oracle.analysed(text, known)]


@kernel
def test_lexicon_reports_sentences():
    judged, _ = lexicon([["x"]])
    texts = ["He left. She stayed. ", "", "é . ' x"]
    analysed = judged.analyse(*pack(texts))
    assert analysed.sentence_indptr.tolist() == [0, 2, 2, 4]
    assert analysed.sentence.tolist() == [0, 9, 0, 7]


@kernel
@pytest.mark.parametrize(
    "parts",
    [
        ["Mr. J. Smith of the U.S. Army met Dr. Jones at 5 p.m. on Jan. 3.", "They left."],
        ["He works for Acme Inc. in Tampa, Fla. (AP).", '"It grew," he said.', "“Why?”", "No one knew!"],
        ["It was No. 1 in the U.S.", "The band broke up.", "What?!", "Wait... what.", "3 men left."],
        [
            "what did he say ?",
            "he said `` no . ''",
            "then he left .",
            "mr. smith went to st. louis , mo. , on sept. 3 .",
        ],
        ["he left.", "she stayed at 5 p.m. with mr. smith.", "why?", "nobody knew."],
        ["A Headline", "The first paragraph", "The second, by O'Neil."],
        ["`` So cute ! '' she said .", "He left ( at once . )", "Yahoo ! shares rose ."],
    ],
)
def test_sentences_as_a_reader_sees_them(parts):
    text = ("\n\n" if "Headline" in parts[0] else " ").join(parts)
    assert [text[begin:end] for begin, end in sentences(text)] == parts


def test_sentence_ends_agree_with_nupunkt(shared):
    """Ends (after the last sign, the article's own end left out) that both see, over what each sees: 98 % and more."""
    both, ours, theirs = defaultdict(int), defaultdict(int), defaultdict(int)
    with gzip.open(shared / "quotebank" / "articles.jsonl.gz", "rt") as lines:
        for article in map(json.loads, lines):
            text = article["content"].rstrip()
            mine = {end for _, end in sentences(text)} - {len(text)}
            other = {begin + len(text[begin:end].rstrip()) for begin, end in nupunkt.sent_spans(text)} - {len(text)}
            for phase in ("lowercased" if article["phase"] in "ABC" else "cased", "all"):
                both[phase] += len(mine & other)
                ours[phase] += len(mine)
                theirs[phase] += len(other)
    for phase in both:
        assert both[phase] >= 0.98 * ours[phase], phase
        assert both[phase] >= 0.98 * theirs[phase], phase
    assert theirs["all"] > 9000


def test_articles_read_as_nltk_reads_them(shared):
    """Real text, ASCII sentences: the same words as NLTK's tokenizer and original Porter stemmer find."""
    seen = 0
    with gzip.open(shared / "quotebank" / "articles.jsonl.gz", "rt") as lines:
        for article in list(map(json.loads, lines))[::5]:
            text = article["content"]
            if text.isascii():
                assert oracle.kernel_words(text) == oracle.words(text), article["articleID"]
                seen += 1
    assert seen > 10
