"""Plain twins of the text kernels: NLTK's regular expressions and Porter stemmer, Python's integers, sets and dicts."""

from collections import Counter

from nltk.stem import PorterStemmer
from nltk.tokenize import TreebankWordTokenizer

from namesake.language import English, Language
from namesake.text import Normaliser, pack, sentences, spellings, tokenize

TYPOGRAPHIC = str.maketrans({"’": "'", "‘": "'", "“": '"', "”": '"', "–": " ", "—": " ", "…": "...", "\xa0": " "})
_tokenizer = TreebankWordTokenizer()
_stemmer = PorterStemmer(mode=PorterStemmer.ORIGINAL_ALGORITHM)


def kernel_words(text: str, how: str = "stem", language: Language = English) -> list[str]:
    """The words of a text in order, by the kernels."""
    data, offsets = pack([text])
    _, starts, ends, *_ = tokenize(data, offsets, language)
    return [word for word in Normaliser(language, how)(spellings(data, starts, ends)) if word]


def stem(word: str) -> str:
    return _stemmer.stem(word, to_lowercase=False)


def sentence_tokens(sentence: str) -> list[tuple[int, str]]:
    """NLTK's tokens of one sentence that start with a letter, each with its place.

    The tokens are the sentence without its white space, except that a double quote may come back as `` or ''.
    """
    found, place = [], 0
    for token in _tokenizer.tokenize(sentence):
        while sentence[place].isspace():
            place += 1
        if sentence.startswith(token, place):
            length = len(token)
        else:
            assert token in ("``", "''"), (token, sentence)
            length = 1 if sentence[place] == '"' else 2
        if token[0].isalpha():
            found.append((place, token))
        place += length
    return found


def tokens(text: str) -> list[tuple[int, str]]:
    """Tokens sentence by sentence. The sentence bounds are the product's own: what is judged here is the rest."""
    return [
        (begin + place, token) for begin, end in sentences(text) for place, token in sentence_tokens(text[begin:end])
    ]


def words(text: str) -> list[str]:
    """Words of a text whose tokens are ASCII or plain letters."""
    lowered = (token.lower() for _, token in tokens(text.translate(TYPOGRAPHIC)))
    return [stem(token) for token in lowered if token not in English.stop_words]


def vocabulary(columns: list[list[str]]) -> list[str]:
    """Words by falling frequency, then by text."""
    counts = Counter(word for column in columns for text in column for word in words(text))
    return sorted(counts, key=lambda word: (-counts[word], word))


def analysed(text: str, known: dict[str, int]) -> list[tuple[int, int]]:
    """(word id, start) of each known word of an ASCII text."""
    found = ((known.get(stem(token.lower())), token.lower(), place) for place, token in tokens(text))
    return [(word, place) for word, token, place in found if word is not None and token not in English.stop_words]


def hashed(token: bytes, fold: bool = True) -> int:
    """The 64-bit hash of a token: eight bytes at a time, lowered with `fold`, little-endian; the length closes it."""

    def mix(x: int) -> int:
        low, high = (x & 0xFFFFFFFF) * 0x9E3779B1, (x >> 32) * 0x85EBCA77
        x = low ^ (high << 32 & 0xFFFFFFFFFFFFFFFF) ^ (high >> 32)
        return x ^ x >> 32

    token = token.replace("’".encode(), b"'").replace("‘".encode(), b"'").lower() if fold else token
    whole = len(token) // 8 * 8
    state = 0
    for k in range(0, whole, 8):
        state = mix(state ^ int.from_bytes(token[k : k + 8], "little"))
    rest = int.from_bytes(token[whole:], "little") ^ (len(token) << 56 & 0xFFFFFFFFFFFFFFFF)
    return mix(state ^ rest) or 1
