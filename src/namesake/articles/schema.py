"""The Arrow schemas that pass between stages, and `check`, which makes a table fit one or says why it cannot."""

import pyarrow as pa

from namesake.arrays import decoded
from namesake.errors import NamesakeError, did_you_mean, must_be

SPANS = pa.list_(pa.list_(pa.int32(), 2))
"""Where a name stands in its text: [start, end) in characters, a pair for each occurrence."""

MENTION = pa.struct(
    [
        pa.field("name", pa.string()),
        pa.field("spans", SPANS),
        pa.field("candidates", pa.list_(pa.string())),  # QIDs; null: look the name up in the KB
    ]
)

ARTICLES = pa.schema(
    [
        pa.field("id", pa.string(), nullable=False),
        pa.field("text", pa.large_string(), nullable=False),
        pa.field("title", pa.string()),
        pa.field("date", pa.string()),  # ISO, as precise as known
        pa.field("mentions", pa.list_(MENTION)),  # null: find the names in text and title
        pa.field("extra", pa.string()),  # fields we do not know, as a JSON object, carried through to the links
    ]
)

LINKS = pa.schema(
    [
        pa.field("article_id", pa.string(), nullable=False),
        pa.field("name", pa.string(), nullable=False),
        pa.field("spans", SPANS),
        pa.field("title_spans", SPANS),  # in characters of the title; null where the name does not stand there
        pa.field("qid", pa.string()),  # null: nobody we know, or nobody we are sure of
        pa.field("score", pa.float64()),
        pa.field("margin", pa.float64()),  # best minus second-best score; null with fewer than two candidates
        pa.field("tie_break", pa.string()),  # the key that decided where scores tie, else null
        pa.field("best", pa.string()),  # the first candidate, also where it is too unsure to be the answer
        pa.field("confidence", pa.float64()),  # P(best is right); null where the recipe cannot tell
        pa.field("known", pa.float64()),  # P(any candidate is right)
        pa.field("reason", pa.string()),  # why qid is null
        # the article's own fields that we do not know, as JSON, held once for all its mentions
        pa.field("extra", pa.dictionary(pa.int32(), pa.string())),
    ]
)


def candidates_field(scorers: list[str]) -> pa.Field:
    """The column `candidates` of links written with their scores: a part for each scorer, by its paper name."""
    parts = pa.struct([pa.field(name, pa.float64()) for name in scorers])
    candidate = pa.struct([pa.field("qid", pa.string()), pa.field("score", pa.float64()), pa.field("parts", parts)])
    return pa.field("candidates", pa.list_(candidate))


def doubts_field(doubts: list[str]) -> pa.Field:
    """The column `doubts` of links written with their scores: a number for each doubt."""
    return pa.field("doubts", pa.struct([pa.field(name, pa.float64()) for name in doubts]))


def check(table: pa.Table, schema: pa.Schema, what: str) -> pa.Table:
    """`table` with the columns of `schema`, cast where that loses nothing; missing optional columns become null."""
    must_be(table, (pa.Table,), what or "articles", "an Arrow table (pyarrow.Table)")
    for name in schema.names:
        if table.column_names.count(name) > 1:
            raise NamesakeError(f"{what}: column `{name}` stands there {table.column_names.count(name)} times")
    columns = []
    for field in schema:
        if field.name not in table.column_names:
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
            raise NamesakeError(
                f"{what}: column `{field.name}`, which is {column.type}, cannot be read ({problem})"
            ) from None
    return pa.table(columns, schema=schema)


def _cast(column: pa.ChunkedArray, to: pa.DataType) -> pa.ChunkedArray:
    """Cast, going through Python only for nested types Arrow cannot cast (structs with missing fields)."""
    try:
        return column.cast(to)
    except (pa.ArrowNotImplementedError, pa.ArrowTypeError, pa.ArrowInvalid):
        if not (pa.types.is_nested(to) and pa.types.is_nested(column.type)):
            raise
        return pa.chunked_array([pa.array(column.to_pylist(), to)])
