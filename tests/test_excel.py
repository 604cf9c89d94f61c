"""Spreadsheets, against openpyxl as a second reader and writer: what is read, what is written, what is refused."""

import csv
import json
import re
import zipfile
from datetime import date, datetime
from pathlib import Path

import openpyxl
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from python_calamine import CalamineWorkbook

from namesake.articles.rejects import NoRejects
from namesake.errors import NamesakeError
from namesake.formats import read_articles, read_rows
from namesake.formats.excel_files import MOST_ROWS, check_rows
from namesake.formats.field_names import Reading
from namesake.formats.table_files import write_rows


def book(path: Path, *rows: list, **sheets: list[list]) -> Path:
    made = openpyxl.Workbook()
    for row in rows:
        made.active.append(row)
    for title, cells in sheets.items():
        sheet = made.create_sheet(title)
        for row in cells:
            sheet.append(row)
    made.save(path)
    return path


def read(path: Path, **how):
    said: list[str] = []
    rows = read_rows(path, NoRejects(), Reading(say=said.append, **how))
    return rows, said


def cells_of(path: Path) -> list[list]:
    return [[cell.value for cell in row] for row in openpyxl.load_workbook(path).active.iter_rows()]


# reading
def test_cells_keep_their_types_and_rows_their_numbers(tmp_path):
    day, moment = date(2016, 12, 26), datetime(2016, 12, 26, 13, 5)
    path = book(
        tmp_path / "t.xlsx",
        ["Name", "Born", "Year", "Height", "Alive", "Mixed", None, "When"],
        ["Michael Jordan", day, 1963, 1.98, True, 5, None, moment],
        [],
        ["Jane", None, 1970, 2, False, "five", None, moment],
    )
    rows, said = read(path)
    assert rows.numbers == [2, 4]
    assert said == []
    assert rows.table.to_pylist() == [
        {"Name": "Michael Jordan", "Born": day, "Year": 1963, "Height": 1.98, "Alive": True, "Mixed": "5"}
        | {"When": str(moment)},
        {"Name": "Jane", "Born": None, "Year": 1970, "Height": 2.0, "Alive": False, "Mixed": "five"}
        | {"When": str(moment)},
    ]


@settings(max_examples=40, deadline=None)
@given(
    st.lists(
        st.lists(st.one_of(st.none(), st.text("ab =+é'\"\n", min_size=1), st.integers(-9, 9)), min_size=3, max_size=3)
    )
)
def test_rows_are_those_that_openpyxl_wrote(tmp_path_factory, rows):
    """Cells as texts: openpyxl's own reader is the oracle. A text that begins with = would be a formula there."""
    rows = [[f"'{cell}" if isinstance(cell, str) and cell.startswith("=") else cell for cell in row] for row in rows]
    path = book(tmp_path_factory.mktemp("x") / "t.xlsx", ["a", "b", "c"], *rows)
    found, _ = read(path)
    there = [["" if cell is None else str(cell).strip() for cell in row] for row in cells_of(path)[1:]]
    rows = [["" if cell is None else str(cell).strip() for cell in row.values()] for row in found.table.to_pylist()]
    assert [row for row in rows if any(row)] == [row for row in there if any(row)]


def test_merged_cells_belong_to_each_of_their_rows(tmp_path):
    path = book(
        tmp_path / "t.xlsx",
        ["Team", "Name"],
        ["Bulls", "Jordan"],
        [None, "Pippen"],
        [None, "Rodman"],
        ["Lakers", "Bryant"],
    )
    made = openpyxl.load_workbook(path)
    made.active.merge_cells("A2:A4")
    made.active.merge_cells("A7:B7")
    made.active["A7"] = "a note below"
    made.save(path)
    rows, _ = read(path)
    assert rows.table.column("Team").to_pylist() == ["Bulls", "Bulls", "Bulls", "Lakers", "a note below"]
    assert rows.table.column("Name").to_pylist()[-1] is None
    assert rows.numbers == [2, 3, 4, 5, 7]


@pytest.mark.parametrize("merged", ["F2:F4", "A2:A4", "B7:B12", "B20:F30", "B1:B2"])
def test_merged_cells_outside_the_table_and_of_its_header_change_nothing(tmp_path, merged):
    made = openpyxl.Workbook()
    for number, row in enumerate([["Name", "Team"], [None, "Bulls"], ["Pippen", "Jazz"], ["Bryant", "Lakers"]], 1):
        for column, cell in enumerate(row, 2):
            made.active.cell(number, column, cell)
    made.active.merge_cells(merged)
    made.save(tmp_path / "t.xlsx")
    rows, _ = read(tmp_path / "t.xlsx")
    assert rows.table.to_pydict() == {"Name": [None, "Pippen", "Bryant"], "Team": ["Bulls", "Jazz", "Lakers"]}


def test_days_are_those_of_the_calendar_of_the_workbook(tmp_path):
    """Old files of Macs count days from 1904."""
    path = book(tmp_path / "t.xlsx", ["Name", "Born"], ["Jordan", date(1963, 2, 17)])
    made = openpyxl.load_workbook(path)
    made.epoch = openpyxl.utils.datetime.CALENDAR_MAC_1904
    made.save(tmp_path / "mac.xlsx")
    for file in (path, tmp_path / "mac.xlsx"):
        assert read(file)[0].table.column("Born").to_pylist() == [date(1963, 2, 17)]


@pytest.mark.slow
def test_a_sheet_with_all_rows_that_a_sheet_can_have(tmp_path):
    path, made = tmp_path / "t.xlsx", book(tmp_path / "small.xlsx", ["Name", "n"])
    rows = "".join(f'<row r="{row}"><c r="A{row}"><v>{row}</v></c></row>' for row in range(2, 1_048_577))
    with zipfile.ZipFile(made) as old, zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as new:
        for name in old.namelist():
            new.writestr(name, old.read(name).replace(b"</sheetData>", f"{rows}</sheetData>".encode()))
    found, _ = read(path)
    assert found.table.column("Name").to_pylist() == list(found.numbers) == list(range(2, 1_048_577))


def test_a_table_may_begin_below_and_its_rows_are_numbered_as_in_the_program(tmp_path):
    made = openpyxl.Workbook()
    made.active["B3"], made.active["C3"], made.active["B4"], made.active["B9"] = "Name", "Born", "Jordan", "Pippen"
    made.save(tmp_path / "t.xlsx")
    rows, _ = read(tmp_path / "t.xlsx")
    assert (rows.table.column_names, rows.numbers) == (["Name", "Born"], [4, 9])


def test_formulas_have_the_value_that_the_program_stored(tmp_path):
    """openpyxl stores no value. A file of a spreadsheet program has one, which is written here by hand."""
    path = book(tmp_path / "t.xlsx", ["Name", "n"], ["=1+1", 5], ["Jordan", "=A1"])
    assert read(path)[0].table.to_pylist() == [{"Name": None, "n": 5}, {"Name": "Jordan", "n": None}]
    stored = tmp_path / "stored.xlsx"
    with zipfile.ZipFile(path) as old, zipfile.ZipFile(stored, "w") as new:
        for name in old.namelist():
            data = old.read(name)
            if name.endswith("sheet1.xml"):
                data = re.sub(rb"<f>A1</f><v ?/?>(</v>)?", b"<f>A1</f><v>7</v>", data)
                assert b"<v>7</v>" in data
            new.writestr(name, data)
    assert read(stored)[0].table.column("n").to_pylist() == [5, 7]


@pytest.mark.parametrize("hidden", ["hidden", "veryHidden"])
def test_the_sheet_is_the_first_visible_one_with_cells_or_the_one_that_is_named(tmp_path, hidden):
    path = book(tmp_path / "t.xlsx", Secret=[["Name"], ["x"]], People=[["Name"], ["Jordan"]], More=[["Name"], ["y"]])
    made = openpyxl.load_workbook(path)
    made["Secret"].sheet_state = hidden
    made.save(path)
    rows, said = read(path)
    assert rows.table.column("Name").to_pylist() == ["Jordan"]
    assert "'People' is read, not Sheet, Secret (hidden), More; `sheet=` names another" in said[0]
    for name in ("Secret", "2"):
        rows, said = read(path, sheet=name)
        assert (rows.table.column("Name").to_pylist(), said) == (["x"], [])
    with pytest.raises(NamesakeError, match=r"no sheet 'Peple'.*People.*there are Sheet, Secret, People, More"):
        read(path, sheet="Peple")


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (lambda path: path.write_bytes(b"PK\3\4 no archive"), "cannot be read as .xlsx"),
        (lambda path: path.write_text("Name\nJordan\n"), "cannot be read as .xlsx"),
        (lambda path: None, "no such file"),
        (lambda path: book(path), "is empty"),
        (lambda path: book(path, ["Name", "Name"], ["a", "b"]), "row 1: two columns are called 'Name'"),
        (lambda path: zipfile.ZipFile(path, "w").close(), "cannot be read as .xlsx"),
    ],
)
def test_what_cannot_be_read_is_one_line(tmp_path, make, said):
    path = tmp_path / "t.xlsx"
    make(path)
    with pytest.raises(NamesakeError, match=re.escape(said)) as problem:
        read(path)
    assert "\n" not in str(problem.value)
    assert str(path) in str(problem.value)


def test_a_stray_cell_far_away_is_refused_and_does_not_fill_the_memory(tmp_path):
    made = openpyxl.Workbook()
    made.active["A1"], made.active["XFD1048576"] = "Name", "x"
    made.save(tmp_path / "t.xlsx")
    with pytest.raises(NamesakeError, match="reaches to row 1,048,576 and column 16,384"):
        read(tmp_path / "t.xlsx")


def test_articles_of_a_sheet_have_the_numbers_of_their_rows(tmp_path):
    path = book(
        tmp_path / "t.xlsx",
        ["Headline", "Body", "Source"],
        ["One", "Michael Jordan spoke.", "AP"],
        [],
        ["Two", "He left.", None],
    )
    [table] = read_articles(path, NoRejects())
    assert table.column("id").to_pylist() == ["t.xlsx:2", "t.xlsx:4"]
    assert table.column("text").to_pylist() == ["Michael Jordan spoke.", "He left."]
    assert json.loads(table.column("extra")[0].as_py()) == {"Source": "AP"}


# writing
def test_what_is_written_is_text_and_never_a_formula(tmp_path):
    bad = ["=cmd|'/c calc'!A1", "=1+1", "#N/A", "+1", "@x", "a\x01b", "x" * 40_000, "plain", ""]
    table = pa.table({"text": bad, "n": [1, 2**60, -3, 4, 5, 6, 7, 8, None], "d": [date(2020, 1, 2)] * 9})
    path = tmp_path / "o.xlsx"
    write_rows(table, path)
    with zipfile.ZipFile(path) as file:
        assert b"<f" not in file.read("xl/worksheets/sheet1.xml")
    cells = cells_of(path)
    wanted = [*bad[:5], "a\ufffdb", "x" * 32_766 + "…", "plain", None]
    assert [row[0] for row in cells[1:]] == wanted
    assert [row[1] for row in cells[1:4]] == [1, str(2**60), -3]
    assert cells[1][2] == datetime(2020, 1, 2)
    assert [row[0] or None for row in CalamineWorkbook.from_path(str(path)).get_sheet_by_index(0).to_python()][
        1:
    ] == wanted


@settings(max_examples=40, deadline=None)
@given(
    st.lists(
        st.tuples(
            st.text(st.characters(codec="utf-8", exclude_categories=["Cc"]), max_size=40),
            st.integers(),
            st.floats(allow_nan=False, allow_infinity=False, width=32),
        )
    )
)
def test_what_is_written_is_read_again(tmp_path_factory, rows):
    path = tmp_path_factory.mktemp("x") / "o.xlsx"
    texts, numbers, floats = zip(*rows, strict=True) if rows else ((), (), ())
    kept = [str(number) if abs(number) >= 2**53 else number for number in numbers]
    table = pa.table(
        {
            "t": pa.array(texts, pa.string()),
            "n": pa.array(map(str, kept), pa.string()),
            "f": pa.array(floats, pa.float64()),
        }
    )
    write_rows(table, path)
    there = cells_of(path)
    assert there[0] == ["t", "n", "f"]
    wanted = [(text or None, str(number), value) for text, number, value in zip(texts, kept, floats, strict=True)]
    assert [tuple(row[:2]) for row in there[1:]] == [row[:2] for row in wanted]
    assert [row[2] for row in there[1:]] == pytest.approx([row[2] for row in wanted], rel=1e-15)


def test_too_many_rows_are_refused_before_any_work(tmp_path):
    check_rows(Path("o.xlsx"), MOST_ROWS - 1)
    check_rows(Path("o.csv"), MOST_ROWS)
    with pytest.raises(
        NamesakeError, match=r"1,048,576 rows, and a sheet has at most 1,048,576 with its header; write .csv"
    ):
        check_rows(Path("o.xlsx"), MOST_ROWS)
    with pytest.raises(NamesakeError, match="is not compressed"):
        write_rows(pa.table({"a": [1]}), tmp_path / "o.xlsx.gz")


# commands
def test_reconcile_reads_and_writes_xlsx_like_csv(run, tmp_path):
    rows = [
        ["Name", "About"],
        ["Michael Jordan", "Chicago Bulls"],
        ["Michael Jordan", "wrote a book"],
        ["=Jordan", "x"],
    ]
    with Path("t.csv").open("w") as file:
        csv.writer(file).writerows(rows)
    made = openpyxl.Workbook()
    for row in rows:
        made.active.append(row)
    made.active["A4"].data_type = "s"
    made.save("t.xlsx")
    for form in ("csv", "xlsx"):
        ran = run("reconcile", f"t.{form}", "--name", "Name", "--context", "About", "-o", f"o.{form}")
        assert ran.code == 0, ran.err
    with Path("o.csv").open() as file:
        wanted = list(csv.reader(file))
    there = [["" if cell is None else str(cell) for cell in row] for row in cells_of(Path("o.xlsx"))]
    assert there == wanted
    assert there[3][0] == "=Jordan"


def test_links_in_xlsx_are_those_of_csv(run):
    from namesake.sample import ARTICLES

    for form in ("csv", "xlsx"):
        assert run("link", ARTICLES, "-o", f"links.{form}", "--flat").code == 0
    with Path("links.csv").open() as file:
        wanted = list(csv.reader(file))
    found = [["" if cell is None else cell for cell in row] for row in cells_of(Path("links.xlsx"))]
    assert len(found) == len(wanted) > 40
    for one, other in zip(found, wanted, strict=True):
        for cell, text in zip(one, other, strict=True):
            is_number = isinstance(cell, int | float) and not isinstance(cell, bool)
            assert cell == pytest.approx(float(text)) if is_number else str(cell).lower() == text.lower()
    skipped = run("link", ".", "-o", "again.jsonl")
    assert "written by Namesake" in skipped.err


def test_rows_are_named_as_the_spreadsheet_numbers_them(run):
    made = openpyxl.Workbook()
    for row in (["Name", "Day"], ["Michael Jordan", "2001"], [], ["Michael Jordan", "soon"]):
        made.active.append(row)
    made.save("t.xlsx")
    ran = run("reconcile", "t.xlsx", "--name", "Name", "--date", "Day", "-o", "o.xlsx")
    assert "'soon' in row 4" in ran.err


def test_without_the_extra_one_line_says_how_to_get_it(run, monkeypatch):
    import sys

    openpyxl.Workbook().save("t.xlsx")
    monkeypatch.setitem(sys.modules, "python_calamine", None)
    with pytest.raises(NamesakeError, match=r"spreadsheets need python-calamine.*extra `excel`"):
        read(Path("t.xlsx"))
