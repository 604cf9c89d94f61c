"""Where Numba checks every index: its code is kept in a folder of its own."""

from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
BOUNDS = {
    "NUMBA_BOUNDSCHECK": "1",
    "NUMBA_CACHE_DIR": str(ROOT / "build" / "bounds-checked"),
    "NAMESAKE_DEBUG": "1",  # errors come with their tracebacks
}
