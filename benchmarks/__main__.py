"""Run benchmarks by name, or all that need nothing but ../shared: `python -m benchmarks [text build link …]`."""

from __future__ import annotations

import sys
from importlib import import_module
from pathlib import Path

HELPERS = {"__init__", "__main__", "plain", "shapes", "synthetic"}
NEED_KB = {"detectors", "entities", "reconcile", "review"}
"""Those that need a KB of the entities of labelled text: `python -m benchmarks.entities --kb KB`."""


def main() -> None:
    known = sorted(path.stem for path in Path(__file__).parent.glob("*.py") if path.stem not in HELPERS | NEED_KB)
    wanted = sys.argv[1:] or known
    unknown = [name for name in wanted if name not in known]
    if unknown:
        sys.exit(f"no benchmark {', '.join(unknown)}; there are {', '.join(known)}")
    for name in wanted:
        print(f"\n# {name}\n", flush=True)
        sys.argv = [f"benchmarks.{name}"]
        import_module(f"benchmarks.{name}").main()


if __name__ == "__main__":
    main()
