"""Spreadsheets: the cells of an .xlsx sheet as a table, articles from them, and rows written as .xlsx.

python-calamine reads, a hundred times as fast as libraries in Python. It returns the values that the spreadsheet
program stored, so no formula is executed. openpyxl writes row by row; a text that begins with `=` stays a text.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import date, datetime, time
from pathlib import Path
from typing import IO, Any
from zipfile import BadZipFile, ZipFile

import pyarrow as pa

from namesake.articles.rejects import Rejects
from namesake.errors import NamesakeError, did_you_mean, lacking
from namesake.formats.arrow_articles import ColumnNames, valid_articles
from namesake.formats.field_names import Reading, id_prefix
from namesake.formats.table_files import Rows, Write, cell_text, column_names
from namesake.printable import counted

MOST_ROWS = 1_048_576  # of a sheet, with the header
MOST_TEXT = 32_767  # characters of a cell
MOST_CELLS, MOST_BYTES = 1 << 26, 4 << 30
"""The largest sheet that is read, empty cells included, and the largest size of its parts when unpacked."""
_COLUMN = re.compile(rb'\sr="([A-Z]{2,3})[0-9]')
_ROW = re.compile(rb'<(?:\w+:)?row\s[^>]*?\br="([0-9]{1,7})"')


def excel_rows(path: Path, rejects: Rejects, reading: Reading) -> Rows:
    """The rows of a sheet below its first row, the header; a merged cell counts in each of its rows but the header."""
    where, sheet = _sheet(path, reading)
    top, left = sheet.start or (0, 0)
    cells: list[list[Any]] = sheet.to_python(skip_empty_area=True)
    if not cells:
        raise NamesakeError(f"{where} is empty: its first row must name the columns")
    for (first, column), (last, _) in sheet.merged_cell_ranges or ():
        if first > top and 0 <= column - left < len(cells[0]):  # empty merged cells may be outside the table
            for row in range(first - top + 1, min(last - top + 1, len(cells))):
                cells[row][column - left] = cells[first - top][column - left]
    numbers = [number for number, row in enumerate(cells) if number and any(value != "" for value in row)]
    used = [at for at, name in enumerate(cells[0]) if name != "" or any(cells[row][at] != "" for row in numbers)]
    header = column_names([cell_text(_plain(cells[0][at])) for at in used], f"{where} row {top + 1}")
    columns = [_column([_plain(cells[row][at]) for row in numbers]) for at in used]
    return Rows(pa.table(columns, names=header), {}, [top + 1 + number for number in numbers])


def read_excel(path: Path, rejects: Rejects, reading: Reading) -> Iterator[pa.Table]:
    """A table of articles, one per row of a sheet. Without a column of ids, ids are the file and the row."""
    rows = excel_rows(path, rejects, reading)
    table = ColumnNames(reading, str(path), f"{id_prefix(path, reading)}:").renamed(rows.table, rows.numbers)
    yield valid_articles(table, str(path), 1, rejects, str(path))


def _sheet(path: Path, reading: Reading) -> tuple[str, Any]:
    """The sheet to read, and its name in messages."""
    try:
        import python_calamine as calamine
    except ImportError:
        raise lacking(f"{path}: spreadsheets need", "python-calamine and openpyxl", "excel") from None
    try:
        _refuse_huge(path)
        book = calamine.CalamineWorkbook.from_path(str(path))
        sheets = [one for one in book.sheets_metadata if one.typ == calamine.SheetTypeEnum.WorkSheet]
        names = [one.name for one in sheets]
        if not names:
            raise NamesakeError(f"{path}: this workbook has no sheet of cells")
        visible = [one.name for one in sheets if one.visible == calamine.SheetVisibleEnum.Visible] or names
        wanted = reading.sheet
        if wanted is not None and wanted not in names:
            if not (wanted.isdecimal() and 0 < int(wanted) <= len(names)):
                hint = did_you_mean(wanted, names)
                raise NamesakeError(f"{path}: no sheet {wanted!r}{hint}; there are {', '.join(names)}")
            wanted = names[int(wanted) - 1]
        opened = (book.get_sheet_by_name(name) for name in ([wanted] if wanted else visible))
        sheet = next((one for one in opened if wanted or one.height), None) or book.get_sheet_by_name(visible[0])
    except FileNotFoundError:
        raise NamesakeError(f"{path}: no such file") from None
    except calamine.PasswordError:
        raise NamesakeError(f"{path}: protected by a password; save it without one") from None
    except (calamine.CalamineError, BadZipFile, OSError, ValueError) as problem:
        raise NamesakeError(f"{path} cannot be read as .xlsx ({problem}); save {path.name} as CSV") from None
    if len(names) > 1 and wanted is None:
        hidden = [f"{name} (hidden)" if name not in visible else name for name in names if name != sheet.name]
        reading.say(f"{path}: the sheet {sheet.name!r} is read, not {', '.join(hidden)}; `sheet=` names another")
    return f"{path}, sheet {sheet.name!r},", sheet


def _refuse_huge(path: Path) -> None:
    """Raise an error for a sheet whose last cell is so far away that empty cells would fill the memory."""
    with ZipFile(path) as file:
        if sum(part.file_size for part in file.infolist()) > MOST_BYTES:
            raise NamesakeError(f"{path}: larger than {MOST_BYTES >> 30} GB when unpacked; save it as CSV")
        for name in file.namelist():
            if name.startswith("xl/worksheets/"):
                cells = file.read(name)
                letters = max(_COLUMN.findall(cells), key=lambda one: (len(one), one), default=b"Z")
                columns = sum((letter - 64) * 26**at for at, letter in enumerate(reversed(letters)))
                rows = max([0, *map(int, _ROW.findall(cells))])
                if rows * columns > MOST_CELLS:
                    many = f"{path}: a sheet reaches to row {rows:,} and column {columns:,}"
                    raise NamesakeError(f"{many}; delete the rows and columns after the last cell, or save it as CSV")


def _plain(value: Any) -> Any:
    """A cell: None if it is empty, whole numbers as integers, and a day without a time as a date."""
    if isinstance(value, float) and value.is_integer() and abs(value) < 2**53:
        return int(value)
    if isinstance(value, datetime) and value.time() == time():
        return value.date()
    return None if value == "" else value


def _column(values: list[Any]) -> pa.Array:
    """A column of numbers, of days or of truth values if all its cells are; else of texts."""
    kinds = {type(value) for value in values if value is not None}
    if (len(kinds) == 1 and kinds <= {int, bool, date}) or kinds == {float}:
        return pa.array(values)
    if kinds == {int, float}:
        return pa.array([None if value is None else float(value) for value in values])
    return pa.array([None if value is None else cell_text(value) for value in values], pa.string())


# writing
def check_rows(path: Path, rows: int) -> None:
    """Raise an error for an .xlsx file with more rows than a sheet can have; `rows` are without the header."""
    if path.suffix == ".xlsx" and rows >= MOST_ROWS:
        most = f"a sheet has at most {MOST_ROWS:,} with its header"
        raise NamesakeError(f"{path}: {counted(rows, 'row')}, and {most}; write .csv or .parquet")


@contextmanager
def excel_writer(file: IO[bytes], path: Path) -> Iterator[Write]:
    """A function that writes rows to the only sheet of a workbook, and first the names of the columns."""
    try:
        from openpyxl import Workbook
        from openpyxl.cell import WriteOnlyCell
        from openpyxl.cell.cell import ERROR_CODES, ILLEGAL_CHARACTERS_RE
    except ImportError:
        raise lacking(f"{path}: spreadsheets need", "python-calamine and openpyxl", "excel") from None
    book = Workbook(write_only=True)
    book.properties.creator = "Namesake"
    sheet, written = book.create_sheet("Namesake"), 0
    sheet.freeze_panes = "A2"

    def cell(value: object) -> object:
        is_exact = isinstance(value, int) and abs(value) < 2**53
        if value is None or is_exact or (isinstance(value, float) and math.isfinite(value)) or isinstance(value, date):
            return value
        text = ILLEGAL_CHARACTERS_RE.sub("\ufffd", cell_text(value))
        text = text if len(text) <= MOST_TEXT else text[: MOST_TEXT - 1] + "…"
        if not text.startswith("=") and text not in ERROR_CODES:
            return text
        made = WriteOnlyCell(sheet, text)
        made.data_type = "s"  # a text, not a formula or an error
        return made

    def write(names: list[str], rows: list[dict[str, Any]]) -> None:
        nonlocal written
        if not written:
            sheet.append([cell(name) for name in names])
            written = 1
        written += len(rows)
        check_rows(path, written - 1)
        for row in rows:
            sheet.append([cell(value) for value in row.values()])

    try:
        yield write
        book.save(file)
    finally:
        if not sheet.closed:
            sheet.close()
