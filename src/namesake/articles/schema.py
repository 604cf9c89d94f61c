"""The Arrow schemas of articles and links, and `check`, which converts a table to a schema or says why it cannot."""

import pyarrow as pa

from namesake.arrays import decoded
from namesake.errors import NamesakeError, did_you_mean, must_be

SPANS = pa.list_(pa.list_(pa.int32(), 2))
"""The occurrences of a name in its text: [start, end) in characters."""

MENTION = pa.struct({"name": pa.string(), "spans": SPANS, "candidates": pa.list_(pa.string())})
"""Candidates are QIDs; null: all entities with this name."""

ARTICLES = pa.schema(
    [
        pa.field("id", pa.string(), nullable=False),
        pa.field("text", pa.large_string(), nullable=False),
        pa.field("title", pa.string()),
        pa.field("date", pa.string()),  # ISO, as precise as known
        pa.field("mentions", pa.list_(MENTION)),  # null: find names in text and title
        pa.field("extra", pa.string()),  # other fields as a JSON object, copied to the links
    ]
)

LINKS = pa.schema(
    [
        pa.field("article_id", pa.string(), nullable=False),
        pa.field("name", pa.string(), nullable=False),
        pa.field("spans", SPANS),
        pa.field("title_spans", SPANS),  # in characters of the title; null if it lacks the name
        pa.field("qid", pa.string()),  # null: NIL, too uncertain, or of a kind that is not asked for
        pa.field("kind", pa.string()),  # of the entity, such as place; null if qid is null or not in the KB
        pa.field("score", pa.float64()),
        pa.field("margin", pa.float64()),  # best minus second-best score; null with fewer than two candidates
        pa.field("tie_break", pa.string()),  # the key that decided between equal scores, else null
        pa.field("best", pa.string()),  # the first candidate, even if it is too uncertain
        pa.field("runner_up", pa.string()),  # the second candidate, the rival of `best`
        pa.field("confidence", pa.float64()),  # P(best is right), also if qid is null; null without calibration
        pa.field("known", pa.float64()),  # P(any candidate is right)
        pa.field("reason", pa.string()),  # why qid is null
        # the article's other fields as JSON, stored once for all its mentions
        pa.field("extra", pa.dictionary(pa.int32(), pa.string())),
    ]
)


def candidates_field(scorers: list[str], kinds: bool = False) -> pa.Field:
    """The column `candidates` of links with scores: one part per scorer, and the kind if the recipe uses it."""
    parts = pa.struct(dict.fromkeys(scorers, pa.float64()))
    candidate = {"qid": pa.string(), "score": pa.float64(), "parts": parts} | ({"kind": pa.string()} if kinds else {})
    return pa.field("candidates", pa.list_(pa.struct(candidate)))


def doubts_field(doubts: list[str]) -> pa.Field:
    """The column `doubts` of links with scores: one number per doubt."""
    return pa.field("doubts", pa.struct(dict.fromkeys(doubts, pa.float64())))


def check(table: pa.Table, schema: pa.Schema, what: str) -> pa.Table:
    """`table` with the columns of `schema`, cast where that loses nothing; missing optional columns become null."""
    must_be(table, (pa.Table,), what or "articles", "an Arrow table (pyarrow.Table)")
    columns = []
    for field in schema:
        if (count := table.column_names.count(field.name)) > 1:
            raise NamesakeError(f"{what}: column `{field.name}` occurs {count} times")
        if not count:
            if not field.nullable:
                hint = did_you_mean(field.name, table.column_names)
                raise NamesakeError(f"{what}: no column `{field.name}`; it has {', '.join(table.column_names)}{hint}")
            columns.append(pa.nulls(table.num_rows, field.type))
            continue
        column = decoded(table.column(field.name))
        if not field.nullable and column.null_count:
            row = column.is_null().index(pa.scalar(True)).as_py()
            raise NamesakeError(f"{what}: row {row} has no `{field.name}`" if what else f"no `{field.name}`")
        try:
            columns.append(column if column.type == field.type else _cast(column, field.type))
        except (pa.ArrowInvalid, pa.ArrowNotImplementedError, pa.ArrowTypeError) as problem:
            column_type = f"column `{field.name}`, which is {column.type},"
            raise NamesakeError(f"{what}: {column_type} cannot be read ({problem})") from None
    return pa.table(columns, schema=schema)


def _cast(column: pa.ChunkedArray, to: pa.DataType) -> pa.ChunkedArray:
    """Cast; through Python objects only for nested types that Arrow cannot cast (structs with missing fields)."""
    try:
        return column.cast(to)
    except (pa.ArrowNotImplementedError, pa.ArrowTypeError, pa.ArrowInvalid):
        if not (pa.types.is_nested(to) and pa.types.is_nested(column.type)):
            raise
        return pa.chunked_array([pa.array(column.to_pylist(), to)])
