"""Tables of articles made to fit `schema.ARTICLES`, with mentions given as structs or as plain names."""

from __future__ import annotations

from collections.abc import Sequence

import pyarrow as pa

from namesake.arrays import decoded
from namesake.articles.article import Article, Mention, all_occurrences
from namesake.articles.builder import mention_column
from namesake.articles.schema import ARTICLES, check


def check_articles(table: pa.Table, what: str = "articles") -> pa.Table:
    """`table` with the columns of `ARTICLES`; NamesakeError says what does not fit, and `what` names the table.

    `mentions` may be lists of names: each name then gets all places where it stands in the text.
    """
    if not isinstance(table, pa.Table) or table.column_names.count("mentions") != 1:
        return check(table, ARTICLES, what)
    given = decoded(table.column("mentions"))
    if not _are_names(given.type):
        return check(table, ARTICLES, what)
    articles = check(table.drop_columns(["mentions"]), ARTICLES, what)
    texts = articles.column("text")
    named = [
        Article("", text, mentions=None if names is None else located(text, names))
        for text, names in zip(texts.to_pylist(), given.to_pylist(), strict=True)
    ]
    place = ARTICLES.get_field_index("mentions")
    return articles.set_column(place, ARTICLES.field(place), mention_column(named))


def located(text: str, names: Sequence[str]) -> list[Mention]:
    """Names that are meant wherever they stand in a text."""
    places = all_occurrences(names, text)
    return [Mention(name, places[name]) for name in names]


def _are_names(kind: pa.DataType) -> bool:
    """Whether a type is a list of texts."""
    lists = (pa.types.is_list, pa.types.is_large_list, pa.types.is_fixed_size_list)
    if not any(is_list(kind) for is_list in lists):
        return False
    return bool(pa.types.is_string(kind.value_type) or pa.types.is_large_string(kind.value_type))
