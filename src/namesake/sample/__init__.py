"""The embedded sample: about a hundred people, most of them namesakes, places and other entities, and news articles."""

from pathlib import Path

_HERE = Path(__file__).parent

DUMP = _HERE / "dump.json"
"""A Wikidata dump in the official layout: people, what their statements name, a few more entities, the properties."""

WIKIPEDIA = _HERE / "wikipedia.json"
"""First paragraphs about some of the people in the layout of a CirrusSearch dump; without links, so no ranks."""

ARTICLES = _HERE / "articles.jsonl"
"""News articles in the plain format: id, title, date, text, mentions with character spans."""

EXPECTED = _HERE / "expected.jsonl"
"""Whom a reader would say each mention means: id, name, qid (null where it is none of the dump's people)."""
