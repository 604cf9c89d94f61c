"""Runs `namesake …` where it may crash, hang or be killed, and tells what became of it."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from types import TracebackType

SERVER = Path(__file__).with_name("server.py")
COMMAND = (
    sys.executable,
    "-c",
    "from importlib.metadata import entry_points as e; [c] = e(group='console_scripts', name='namesake'); c.load()()",
)
"""The command `namesake` in an interpreter of its own."""
SECONDS = 60.0
MEMORY = 8 << 30

BAD = ("crash", "hang", "traceback")
"""What no input whatever may cause."""


@dataclass(frozen=True)
class Stop:
    """A signal to send: `after` so many seconds, or before the disk is changed for the `step`-th time, from 0."""

    signal: signal.Signals
    after: float | None = None
    step: int | None = None

    def fields(self) -> dict[str, float]:
        """As the server reads it."""
        given = {"signal": int(self.signal), "after": self.after, "step": self.step}
        return {key: value for key, value in given.items() if value is not None}


@dataclass(frozen=True)
class Outcome:
    """How a command ended: a negative `code` is the signal that killed it."""

    argv: tuple[str, ...]
    code: int
    hang: bool
    elapsed: float
    cpu: float
    peak: int
    out: bytes
    err: bytes

    @property
    def kind(self) -> str:
        """`done`, `refused` (an exit code and a line that says why), or one of BAD."""
        if self.hang:
            return "hang"
        if self.code < 0:
            return "crash"
        if b"Traceback (most recent call last)" in self.err + self.out or (
            self.code and not (self.err + self.out).strip()
        ):
            return "traceback"
        return "refused" if self.code else "done"

    def __str__(self) -> str:
        last = self.err.decode(errors="replace").strip().splitlines()[-1:] or [""]
        ended = "still running" if self.hang else signal.Signals(-self.code).name if self.code < 0 else self.code
        words = " ".join(Path(word).name if word.startswith("/") else word for word in self.argv)
        return f"{self.kind} ({ended}, {self.elapsed:.1f} s): namesake {words[:200]}: {last[0][-200:]}"


class Sandbox:
    """A server that forks for each command; `env` is what namesake sees when it is imported."""

    def __init__(self, env: Mapping[str, str] | None = None) -> None:
        self._folder = TemporaryDirectory(prefix="hostile-")
        self._server = subprocess.Popen(
            [sys.executable, str(SERVER)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env={**os.environ, **(env or {})},
        )
        if self._answer() != "ready\n":
            raise RuntimeError("the server of the hostile tests did not start; its error is above")

    def _answer(self) -> str:
        assert self._server.stdout is not None
        return self._server.stdout.readline()

    def run(
        self,
        *argv: str | Path,
        cwd: Path | None = None,
        stdin: Path | None = Path(os.devnull),
        seconds: float = SECONDS,
        memory: int = MEMORY,
        file_size: int | None = None,
        env: Mapping[str, str] | None = None,
        stop: Stop | None = None,
        log: Path | None = None,
        program: Path | None = None,
    ) -> Outcome:
        """Run one command to its end, or until its time is over; `log` gets its steps on the disk.

        Without `stdin`, standard input is closed. A `program` in Python runs instead of the command `namesake`.
        """
        assert self._server.stdin is not None
        folder = Path(self._folder.name)
        texts = tuple(str(one) for one in argv)
        request = {
            "argv": texts,
            "cwd": str(cwd or folder),
            "stdin": None if stdin is None else str(stdin),
            "program": None if program is None else str(program),
            "stdout": str(folder / "stdout"),
            "stderr": str(folder / "stderr"),
            "env": {"COLUMNS": "200", "XDG_CACHE_HOME": str(folder / "cache"), **(env or {})},
            "seconds": seconds,
            "memory": memory,
            "file_size": file_size,
            "stop": stop.fields() if stop else None,
            "log": str(log) if log else None,
        }
        self._server.stdin.write(json.dumps(request) + "\n")
        self._server.stdin.flush()
        answer = json.loads(self._answer())
        out, err = ((folder / name).read_bytes() for name in ("stdout", "stderr"))
        return Outcome(argv=texts, out=out, err=err, **answer)

    def close(self) -> None:
        """End the server."""
        assert self._server.stdin is not None
        self._server.stdin.close()
        self._server.wait()
        if self._server.stdout is not None:
            self._server.stdout.close()
        self._folder.cleanup()

    def __enter__(self) -> Sandbox:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, tb: TracebackType | None) -> None:
        self.close()
