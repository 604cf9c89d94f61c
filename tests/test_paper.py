"""The paper's Quotebank tables from the authors' scores: every number that must come out."""

import json
import xml.dom.minidom

import pytest

from namesake.errors import NamesakeError
from namesake.evaluation.reproduction import PRINTED, VALUE_TOLERANCE, paper_report, reproduce_tables


@pytest.fixture(scope="module")
def reproduction(shared):
    return reproduce_tables(shared / "quotebank")


@pytest.fixture(scope="module")
def cell(reproduction):
    return {(row.table, row.method, row.column): row for row in reproduction[0]}


ERRATA = {("2", "NIScore", "overall"): 0.898, ("9", "UIScore", "PR_WP"): 0.943}


def test_every_printed_cell_is_made_and_no_other(cell):
    systems, columns = list(PRINTED.p_at_1), list(PRINTED.columns)
    expected = {(table, name, column) for table in ("2", "11") for name in systems for column in columns}
    expected |= {("8", f"mGENRE_t{t}", metric) for t in (64, 128, 256) for metric in ("P@1", "MRR")}
    expected |= {("9", name, breaker) for name in PRINTED.ties for breaker in PRINTED.tie_breakers}
    expected |= {("1", "Quotebank", column) for column in columns}
    expected |= {("5", category, "mentions") for category in PRINTED.ground_truth}
    assert set(cell) == expected


@pytest.mark.parametrize(("table", "tolerance"), [("2", 0.001), ("9", 0.001), ("11", 0.0015), ("8", 0.0015)])
def test_values_agree_with_print(cell, table, tolerance):
    for key, row in cell.items():
        if key[0] == table:
            allowed = 0.006 if row.method == "Random" else tolerance
            assert row.value == pytest.approx(ERRATA.get(key, row.printed), abs=allowed), key


def test_half_widths_agree_with_print_except_where_few_hard_mentions_make_it_noise(cell):
    off = {
        key[1:]
        for key, row in cell.items()
        if row.half_width is not None and abs(row.half_width - row.printed_half_width) > 0.005
    }
    noisy = {(method, "hard") for method in ("NP", "CSE", "CSSVE", "mGENRE")}
    assert off == {("NIScore", "overall"), ("Random", "hard"), ("Random", "overall"), *noisy}


def test_counts(cell):
    assert [cell["1", "Quotebank", column].value for column in PRINTED.columns] == [203, 42, 245]
    counts = {category: cell["5", category, "mentions"].value for category in PRINTED.ground_truth}
    assert counts == {"Unambiguous": 1320, "Gold entity exists": 310, "No gold entity": 236, "Total": 1866}


def test_every_difference_is_explained(reproduction):
    rows, remarks = reproduction
    for row in rows:
        differs = abs(row.value - row.printed) > VALUE_TOLERANCE
        assert row.why or not differs
        assert row.why != "Not explained."
    assert any("245 of 245" in remark for remark in remarks)


def test_the_report_is_complete_and_well_formed(reproduction, tmp_path):
    report = paper_report(*reproduction)
    report.write(tmp_path / "new" / "folder")
    files = {path.name for path in (tmp_path / "new" / "folder").iterdir()}
    assert {"report.md", "report.html", "tables.json", "table_2.csv", "table_11.tex", "differences.csv"} <= files
    rows = json.loads((tmp_path / "new" / "folder" / "tables.json").read_text())
    assert set(rows[0]) == {"table", "method", "column", "value", "half_width", "printed", "printed_half_width"}
    assert len(rows) == len(reproduction[0])
    page = (tmp_path / "new" / "folder" / "report.html").read_text()
    assert page.count("<svg") == 2
    for svg in page.split("<svg")[1:]:
        xml.dom.minidom.parseString("<svg" + svg.split("</svg>")[0] + "</svg>")
    assert "src=" not in page
    assert "<link" not in page
    markdown = (tmp_path / "new" / "folder" / "report.md").read_text()
    assert "0.943 ± " in markdown
    tables = [block for block in markdown.split("\n\n") if block.startswith("|")]
    assert all(len({line.count("|") for line in block.splitlines()}) == 1 for block in tables)


def test_a_folder_without_the_scores_is_refused(tmp_path):
    with pytest.raises(NamesakeError, match=r"no reference_scores.parquet; reproduce needs"):
        reproduce_tables(tmp_path)
