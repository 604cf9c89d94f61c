"""Files as streams: unpacked while they are read, and written whole or not at all."""

from namesake.files.apart import keep_apart
from namesake.files.compressed import STDIN, Unpacked, kind, open_lines, open_unpacked
from namesake.files.published import check_place, create, published

__all__ = [
    "STDIN",
    "Unpacked",
    "check_place",
    "create",
    "keep_apart",
    "kind",
    "open_lines",
    "open_unpacked",
    "published",
]
