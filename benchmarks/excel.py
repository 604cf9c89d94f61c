"""How long a spreadsheet takes to write and to read: a table of names with the columns that `reconcile` adds.

python -m benchmarks.excel [--rows 100000]
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path
from tempfile import TemporaryDirectory

import pyarrow as pa

from namesake.articles.rejects import Rejects
from namesake.formats import read_rows
from namesake.formats.table_files import write_rows


def table(rows: int) -> pa.Table:
    """Names with three columns of the user's own and eight that `reconcile` adds."""
    numbers = range(rows)
    texts = {"Name": "Person {0}", "Team": "team {1}", "Notes": "a sentence about this person, number {0}"}
    added = {"qid": "Q{0}", "label": "Person {0}", "description": "American player {1}", "reason": "the best of {1}"}
    forms = texts | added | {"runner_up": "Q9{0}", "runner_up_label": "Person {1}"}
    columns = {name: [form.format(at, at % 500) for at in numbers] for name, form in forms.items()}
    shares = [at / rows for at in numbers]
    return pa.table(columns | {"Born": [1900 + at % 100 for at in numbers], "confidence": shares, "second": shares})


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=100_000)
    rows = parser.parse_args().rows
    made = table(rows)
    print(f"| {rows:,} rows, {made.num_columns} columns | CPU s | wall s |\n|---|--:|--:|")
    with TemporaryDirectory() as folder:
        path = Path(folder) / "table.xlsx"
        for what in ("write", "read"):
            cpu, wall = time.process_time(), time.perf_counter()
            if what == "write":
                write_rows(made, path)
            else:
                assert read_rows(path, Rejects()).table.num_rows == rows
            print(f"| {what} .xlsx | {time.process_time() - cpu:.1f} | {time.perf_counter() - wall:.1f} |")


if __name__ == "__main__":
    main()
