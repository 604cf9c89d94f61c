"""Triples from Turtle, as far as annotated corpora use it; N-Triples are Turtle too.

Read are prefixes and a base, IRIs, literals with their escapes, language or type, numbers, lists of predicates (`;`)
and objects (`,`), and blank nodes, nested ones included. Collections are refused. A real RDF library would bring a
graph store along; these corpora need one pass over a file and a message with the line where it is broken.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple
from urllib.parse import urljoin

from namesake.errors import NamesakeError

TYPE = "http://www.w3.org/1999/02/22-rdf-syntax-ns#type"

TOKEN = re.compile(
    r"""
      (?P<skip>     (?: \s++ | \#[^\n]*+ )++ )
    | (?P<iri>      < [^<>"\s]*+ > )
    | (?P<long>     \"{3} (?: [^"\\]++ | \\. | "{1,2}(?!") )*+ \"{3} | '{3} (?: [^'\\]++ | \\. | '{1,2}(?!') )*+ '{3} )
    | (?P<short>    " (?: [^"\\\n\r]++ | \\. )*+ "(?!") | ' (?: [^'\\\n\r]++ | \\. )*+ '(?!') )
    | (?P<at>       @[A-Za-z]+ (?: -[A-Za-z0-9]+ )* )
    | (?P<typed>    \^\^ )
    | (?P<blank>    _:\w (?: [\w\-]++ | \.+(?=[\w\-]) )*+ )
    | (?P<name>     (?: [^\W\d_] (?: [\w\-]++ | \.+(?=[\w\-]) )*+ )? : (?: [\w:%\-]++ | \\. | \.+(?=[\w:%\-\\]) )*+ )
    | (?P<number>   [+-]? (?: \d*\.\d+ | \d+ ) (?: [eE][+-]?\d+ )? )
    | (?P<word>     [A-Za-z]+ )
    | (?P<mark>     [;,.\[\]()] )
    """,
    re.VERBOSE | re.DOTALL,
)
ESCAPE = re.compile(r"\\(?:u([0-9A-Fa-f]{4})|U([0-9A-Fa-f]{8})|(.))", re.DOTALL)
ESCAPED = {"t": "\t", "b": "\b", "n": "\n", "r": "\r", "f": "\f", '"': '"', "'": "'", "\\": "\\"}

DEEPEST = 50  # blank nodes within each other


class Token(NamedTuple):
    """A piece of Turtle: what it is, how it is written, where it begins."""

    kind: str
    text: str
    at: int


class Triple(NamedTuple):
    """A statement; its object is a literal's text or a node's IRI."""

    subject: str
    predicate: str
    object: str


def triples(text: str, where: str) -> Iterator[Triple]:
    """The triples of a Turtle document, in its order; `where` names it in messages."""
    return _Parser(text, where).document()


class _Parser:
    """Recursive descent, one token ahead."""

    def __init__(self, text: str, where: str) -> None:
        self.text = text
        self.where = where
        self.prefixes: dict[str, str] = {}
        self.base = ""
        self.blanks = self.depth = 0
        self.found: list[Triple] = []
        self.tokens = self._tokens()
        self.next = next(self.tokens)

    def document(self) -> Iterator[Triple]:
        """Statement by statement."""
        while self.next.kind != "end":
            word = self.next.text.lower()
            if self.next.kind in {"at", "word"} and word.lstrip("@") in {"prefix", "base"}:
                self._directive(self._take().text)
            else:
                nested = self.next.text == "["
                subject = self._node()
                if not (nested and self.next.text == "."):
                    self._predicates(subject)
                self._expect(".")
            yield from self.found
            self.found.clear()

    def _directive(self, word: str) -> None:
        if word.lower().endswith("prefix"):
            name = self._expect_kind("name", "a prefix such as `nif:`").text
            self.prefixes[name[:-1]] = self._iri(self._expect_kind("iri", "an IRI"))
        else:
            self.base = self._iri(self._expect_kind("iri", "an IRI"))
        if word.startswith("@"):
            self._expect(".")

    def _predicates(self, subject: str) -> None:
        while True:
            if self.next.kind == "word" and self.next.text == "a":
                self._take()
                predicate = TYPE
            elif self.next.kind in {"iri", "name"}:
                predicate = self._node()
            else:
                raise self._error(f"expected a predicate, not {self._shown()}")
            self.found.append(Triple(subject, predicate, self._object()))
            while self.next.text == "," and self.next.kind == "mark":
                self._take()
                self.found.append(Triple(subject, predicate, self._object()))
            if self.next.text != ";" or self.next.kind != "mark":
                return
            while self.next.text == ";" and self.next.kind == "mark":
                self._take()
            if self.next.kind == "mark" and self.next.text in {".", "]"}:
                return

    def _object(self) -> str:
        if self.next.kind in {"long", "short"}:
            token = self._take()
            quotes = 3 if token.kind == "long" else 1
            value = self._unescape(token.text[quotes:-quotes], token)
            if self.next.kind == "at":
                self._take()
            elif self.next.kind == "typed":
                self._take()
                self._node()
            return value
        if self.next.kind == "number" or (self.next.kind == "word" and self.next.text in {"true", "false"}):
            return self._take().text
        return self._node()

    def _node(self) -> str:
        """An IRI, a prefixed name or a blank node."""
        token = self._take()
        if token.kind == "iri":
            return self._iri(token)
        if token.kind == "blank":
            return token.text
        if token.kind == "name":
            prefix, _, local = token.text.partition(":")
            if prefix not in self.prefixes:
                raise self._error(f"the prefix `{prefix}:` is not declared", token)
            return self.prefixes[prefix] + re.sub(r"\\(.)", r"\1", local)
        if token.text == "[" and token.kind == "mark":
            return self._nested(token)
        if token.text == "(":
            raise self._error("collections are not read", token)
        raise self._error(f"expected an IRI or a name, not {_show(token)}", token)

    def _nested(self, token: Token) -> str:
        """A blank node with its statements in brackets."""
        self.blanks += 1
        self.depth += 1
        if self.depth > DEEPEST:
            raise self._error(f"blank nodes nested more than {DEEPEST} deep", token)
        node = f"_:[{self.blanks}]"
        if self.next.text != "]":
            self._predicates(node)
        self._expect("]")
        self.depth -= 1
        return node

    def _iri(self, token: Token) -> str:
        iri = self._unescape(token.text[1:-1], token)
        return urljoin(self.base, iri) if self.base else iri

    def _unescape(self, text: str, token: Token) -> str:
        if "\\" not in text:
            return text

        def character(match: re.Match[str]) -> str:
            short, long, letter = match.groups()
            if letter is not None:
                if letter not in ESCAPED:
                    raise self._error(f"\\{letter} is no escape", token)
                return ESCAPED[letter]
            point = int(short or long, 16)
            if point > 0x10FFFF:
                raise self._error(f"\\U{long} is no character", token)
            return chr(point)

        plain = ESCAPE.sub(character, text)
        return plain.encode("utf-16", "surrogatepass").decode("utf-16", "replace")  # pairs become one character

    def _expect(self, mark: str) -> None:
        if self.next.kind != "mark" or self.next.text != mark:
            raise self._error(f"expected `{mark}`, not {self._shown()}")
        self._take()

    def _expect_kind(self, kind: str, what: str) -> Token:
        if self.next.kind != kind:
            raise self._error(f"expected {what}, not {self._shown()}")
        return self._take()

    def _take(self) -> Token:
        token = self.next
        if token.kind == "end":
            raise self._error("the file ends in the middle of a statement")
        self.next = next(self.tokens)
        return token

    def _tokens(self) -> Iterator[Token]:
        at = 0
        while at < len(self.text):
            match = TOKEN.match(self.text, at)
            if match is None:
                unfinished = self.text[at] in "\"'<"
                hint = "; is a string or an IRI left open here?" if unfinished else ""
                raise self._error(f"cannot read {self.text[at : at + 20]!r}{hint}", Token("", "", at))
            if match.lastgroup != "skip":
                yield Token(match.lastgroup or "", match[0], at)
            at = match.end()
        yield Token("end", "", at)

    def _shown(self) -> str:
        return _show(self.next)

    def _error(self, what: str, token: Token | None = None) -> NamesakeError:
        at = (token or self.next).at
        line = self.text.count("\n", 0, at) + 1
        return NamesakeError(f"{self.where} line {line}: not Turtle we can read: {what}")


def _show(token: Token) -> str:
    return "the end of the file" if token.kind == "end" else repr(token.text[:30])
