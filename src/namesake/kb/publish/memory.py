"""How much memory a build may take (`--memory`), and what follows: how it works, and how much of what at a time."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from namesake.errors import NamesakeError
from namesake.kb.columns import large

LEAST = 512 << 20
"""The smallest bound: Python, compiled code and one worker with its chunks take most of it."""
UNITS = {"K": 10, "M": 20, "G": 30, "T": 40}
SIZE = re.compile(r"([0-9]+(?:\.[0-9]+)?)\s*([KMGT]?)(?:I?B)?", re.I)
ITSELF = 256 << 20
"""What the process takes before it has read anything."""
WORKER = 96 << 20
"""What a worker takes for the chunks that it has in flight."""
TIMES = 5
"""How much larger than what the dump says the arrays are that are made of it, all in memory at once."""
SMALLEST_BLOCK, LARGEST_BLOCK = 1 << 20, 512 << 20


@dataclass(frozen=True)
class Memory:
    """The bound of a build, and the size of its temporary arrays."""

    bound: int
    block: int
    small: int = large.SMALL
    """Arrays up to this size never go to files."""

    @staticmethod
    def of(given: int | str | Memory | None) -> Memory:
        """From a number of bytes or a text such as 8G; by default half of what the machine has."""
        if isinstance(given, Memory):
            return given
        bound = max(large.of_machine() // 2, LEAST) if given is None else parse_size(str(given))
        if bound < LEAST:
            raise NamesakeError(f"memory of {given} is too little: a build takes at least {LEAST >> 20}M")
        return Memory(bound, min(max(bound // 32, SMALLEST_BLOCK), LARGEST_BLOCK))

    def workers(self, wanted: int) -> int:
        """How many of the wanted workers may parse side by side."""
        return max(1, min(wanted, (self.bound - ITSELF) // WORKER))

    def needed(self, spilled: int) -> int:
        """Bytes that assembly takes in memory where the dump says so many."""
        return ITSELF + TIMES * spilled

    def room(self, spilled: int, folder: Path) -> large.Room:
        """Where large arrays go: to memory if they fit, else to `folder`."""
        if self.needed(spilled) <= self.bound:
            return large.Room(self.bound, self.block)
        return large.Room(self.bound, self.block, folder, self.small)


def parse_size(text: str) -> int:
    """Bytes from a number with K, M, G or T behind it, such as 512M or 1.5G."""
    match = SIZE.fullmatch(text.strip())
    if match is None:
        raise NamesakeError(f"{text!r} is no size of memory; write it such as 512M or 8G")
    return int(float(match[1]) * (1 << UNITS.get(match[2].upper(), 0)))
