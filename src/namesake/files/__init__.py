"""Files as streams: unpacked while they are read, and written whole or not at all."""

from namesake.files.compressed import STDIN, Unpacked, kind, open_lines, open_unpacked
from namesake.files.published import create, published

__all__ = ["STDIN", "Unpacked", "create", "kind", "open_lines", "open_unpacked", "published"]
