"""Files: read as unpacked streams, written whole or not at all, and work on them that can be resumed."""

from namesake.files.lines import STDIN, kind, open_lines, open_unpacked
from namesake.files.outputs import check_place, create, keep_apart, published

__all__ = ["STDIN", "check_place", "create", "keep_apart", "kind", "open_lines", "open_unpacked", "published"]
