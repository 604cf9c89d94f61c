"""The page on adding a column holds: its diff, applied to a copy of the sources, makes that column."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import namesake
from namesake.sample import DUMP

SOURCES = Path(namesake.__file__).parent
PAGE = SOURCES.parents[1] / "docs" / "add-a-column.md"
FEW = 6  # entities: nothing is compiled

PROGRAM = """
import sys
import numpy as np
from namesake.kb.build import build
from namesake.kb.store import KB
build([sys.argv[1]], sys.argv[2], keep="all")
kb = KB.open(sys.argv[2])
assert kb.alias_count.sum() > 0
assert np.array_equal(kb.alias_count, np.diff(kb.aliases.indptr)), kb.alias_count
"""


def apply(diff: str, sources: Path) -> None:
    """Change the files that the comments of a diff name; a line is put behind the one above it."""
    for part in re.split(r"^ # \d\. ", diff, flags=re.M)[1:]:
        name, *lines = part.splitlines()
        text = (sources / name).read_text()
        above = ""
        for line in lines:
            sign, body = line[0], line[1:] + "\n"
            if sign == "+":
                text = text.replace(above, above + body, 1)
            else:
                assert text.count(body) == 1, f"{name} has {text.count(body)} lines {body!r}"
            above = body
        removed = [line[1:] + "\n" for line in lines if line[0] == "-"]
        for body in removed:
            text = text.replace(body, "", 1)
        (sources / name).write_text(text)


def test_a_column_from_the_dump_as_the_page_says(tmp_path: Path) -> None:
    sources = tmp_path / "src" / "namesake"
    shutil.copytree(SOURCES, sources, ignore=shutil.ignore_patterns("__pycache__"))
    [diff] = re.findall(r"```diff\n( # 1\..*?)```", PAGE.read_text(), re.S)
    apply(diff, sources)
    dump = tmp_path / "dump.json"
    lines = [line.rstrip(",") for line in DUMP.read_text().splitlines() if '"aliases":{"en"' in line.replace(" ", "")]
    dump.write_text("[\n" + ",\n".join(lines[:FEW]) + "\n]\n")
    program = [sys.executable, "-c", PROGRAM, str(dump), str(tmp_path / "kb")]
    environment = os.environ | {"NUMBA_DISABLE_JIT": "1", "PYTHONPATH": str(sources.parent)}
    ran = subprocess.run(program, env=environment, capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stderr
