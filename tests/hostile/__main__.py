"""`make hostile`: every hostile test, then a table of what became of all cases; exit code 1 if any ended badly.

The table goes to build/hostile.md and, with `--docs`, into docs/reliability.md.
"""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

from hostile.tally import FILE, gathered, table, worst

ROOT = Path(__file__).resolve().parents[2]
TABLE = ROOT / "build" / "hostile.md"
DOCS = ROOT / "docs" / "reliability.md"
BEGIN, END = "<!-- counts -->\n", "<!-- end of counts -->"


def run(tally: Path) -> int:
    """Run all tests of this folder, the long ones first; their exit code."""
    argv = [sys.executable, "-m", "pytest", str(Path(__file__).parent), "-m", "hostile or not hostile", "-rfE"]
    argv += ["-n", "2", "--dist", "worksteal", "--tb=short", "-p", "no:cacheprovider"]
    return subprocess.run(argv, cwd=ROOT, env={**os.environ, FILE: str(tally)}, check=False).returncode


def put_into_docs(text: str) -> None:
    """Replace what stands between the marks."""
    before, _, rest = DOCS.read_text().partition(BEGIN)
    _, _, after = rest.partition(END)
    DOCS.write_text(f"{before}{BEGIN}\n{text}\n{END}{after}")


def main() -> None:
    """Run, count, tell."""
    TABLE.parent.mkdir(exist_ok=True)
    tally = TABLE.with_suffix(".jsonl")
    tally.unlink(missing_ok=True)
    began = time.monotonic()
    code = run(tally)
    totals = gathered(tally)
    bad, cases = worst(totals), sum(counts.total() for counts in totals.values())
    summary = f"{cases:,} cases in {(time.monotonic() - began) / 60:.0f} minutes, {bad:,} of them bad."
    text = f"{table(totals)}\n{summary}\n"
    TABLE.write_text(text)
    if "--docs" in sys.argv:
        put_into_docs(text)
    print(f"\n{text}\nThe table is in {TABLE.relative_to(ROOT)}, the bad cases in {tally.relative_to(ROOT)}.")
    sys.exit(1 if code or bad else 0)


if __name__ == "__main__":
    main()
