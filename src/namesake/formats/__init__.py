"""The registry of article formats. To add a format, write its reader in this package and add it to `FORMATS`.

File names, standard input, shards, Spark inputs and help texts all use this registry. It loads a reader when a file
needs it, so that the command line can import this module quickly.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from namesake.errors import NamesakeError

if TYPE_CHECKING:
    import pyarrow as pa

    from namesake.articles.rejects import Rejects
    from namesake.formats.field_names import Reading
    from namesake.formats.table_files import Rows

Cut = Literal["lines", "row groups"]
"""Where a file can be cut into shards."""


@dataclass(frozen=True)
class Format:
    """A format of article files. Functions are named as `module.function` within this package."""

    name: str
    """The value of `--format` for standard input."""
    suffixes: tuple[str, ...]
    """Suffixes of files, without compression. Messages show the first one."""
    articles: str
    """The reader of articles: takes path, rejects and reading, and yields tables of `schema.ARTICLES`. Invalid and
    overlong records go to `rejects`."""
    rows: str | None = None
    """The reader of whole tables, for `reconcile`: takes path, rejects and reading."""
    cut: Cut | None = None
    """Formats that can be cut are those that Spark can read itself."""
    whole: str | None = None
    """Says whether a file must not be cut, although the format allows it: takes path and reading."""
    is_binary: bool = False
    """Binary formats are neither compressed nor read from standard input."""
    has_fields: bool = True


_JSON: tuple[str, str, Cut, str] = "json_articles.read_json", "table_files.json_rows", "lines", "json_articles.is_whole"
_PARQUET: tuple[str, str, Cut] = "arrow_articles.read_parquet", "table_files.parquet_rows", "row groups"
FORMATS = [
    Format("jsonl", (".jsonl", ".ndjson"), *_JSON),
    Format("json", (".json",), *_JSON),
    Format("csv", (".csv",), "table_files.read_csv", "table_files.csv_rows"),
    Format("tsv", (".tsv",), "table_files.read_csv", "table_files.csv_rows"),
    Format("text", (".txt",), "table_files.read_text", has_fields=False),
    Format("parquet", (".parquet",), *_PARQUET, is_binary=True),
    Format("excel", (".xlsx", ".xlsm"), "excel_files.read_excel", "excel_files.excel_rows", is_binary=True),
]
SAVE_AS = {
    ".xlsx or CSV": (".xls", ".xlsb", ".ods", ".numbers"),
    "plain text (.txt)": (".docx", ".doc", ".odt", ".rtf", ".pdf", ".pages"),
}
"""The format to save the file of an office program as, by its suffix."""


def words(formats: Sequence[Format] = FORMATS) -> str:
    """The suffixes of formats for messages and help texts."""
    packed, plain = ([one.suffixes[0] for one in formats if one.is_binary == wanted] for wanted in (False, True))
    return " or ".join([f"{', '.join(packed)} (also .gz, .bz2, .zst)", *plain])


def stdin_formats() -> list[str]:
    """The formats of articles that standard input may have."""
    return [one.name for one in FORMATS if not one.is_binary]


def format_of(path: Path | str, name: str | None = "jsonl") -> Format | None:
    """The format of a file by its suffix, or of standard input (`-`) by its name; None if there is no such format."""
    from namesake.files import STDIN, kind

    if str(path) == STDIN:
        return next((one for one in FORMATS if not one.is_binary and one.name == name), None)
    return next((one for one in FORMATS if kind(Path(path)) in one.suffixes), None)


def save_as(path: Path) -> str:
    """`; save it as CSV …` for a spreadsheet or another office document, else an empty text."""
    as_what = next((name for name, suffixes in SAVE_AS.items() if path.suffix.lower() in suffixes), None)
    return f"; save {path.name} as {as_what}" if as_what else ""


def cut_of(path: Path, reading: Reading) -> Cut | None:
    """Where a file can be cut into shards; None if it must be read from its beginning to its end."""
    found = format_of(path)
    return None if found is None or (found.whole and _function(found.whole)(path, reading)) else found.cut


def read_articles(path: Path | str, rejects: Rejects, reading: Reading | None = None) -> Iterator[pa.Table]:
    """Tables of `schema.ARTICLES` from a file by its suffix; `-` reads standard input, as JSON lines by default."""
    from namesake.formats.field_names import Reading

    path, reading = Path(path), reading or Reading()
    found = format_of(path, reading.format or "jsonl")
    if found is None:
        raise NamesakeError(f"{path}: articles come as {words()}{save_as(path)}")
    tables: Iterator[pa.Table] = _function(found.articles)(path, rejects, reading)
    return tables


def read_rows(path: Path, rejects: Rejects, reading: Reading | None = None) -> Rows:
    """All rows of a file as a table; the cells of CSV are texts. Rows that cannot be read are passed to `rejects`."""
    from namesake.formats.field_names import Reading

    reading = reading or Reading()
    found = format_of(path, reading.format or "csv")
    if found is None or found.rows is None:
        missing = "" if path.exists() else "no such file; "
        tables = [one for one in FORMATS if one.rows]
        raise NamesakeError(f"{path}: {missing}tables come as {words(tables)}{save_as(path)}")
    rows: Rows = _function(found.rows)(path, rejects, reading)
    return rows


def _function(name: str) -> Any:
    module, _, function = name.partition(".")
    return getattr(import_module(f"namesake.formats.{module}"), function)
