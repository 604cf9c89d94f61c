"""Where the memory of a build goes: the largest private and whole memory of each stage; and the disk it takes.

    python -m benchmarks.memory [--people 300000] [--others 0] [--memory 512M ...] [--keep people]
                                [--dump FILE] [--folder FOLDER]

The dump is made up while the build reads it, so it takes no disk. Private is what cannot leave memory; the rest are
pages of mapped files, which leave where there is no room for them.
"""

from __future__ import annotations

import argparse
import resource
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from tempfile import TemporaryDirectory

from namesake.files import STDIN
from namesake.kb.build import build
from namesake.progress import Reporter

STATUS = Path("/proc/self/status")
INTERVAL = 0.01
DISK_INTERVAL = 0.2
MB = 1 << 20


class Peaks(Reporter):
    """The largest memory of each stage, by looking often."""

    def __init__(self, folder: Path) -> None:
        self.began = time.monotonic()
        self.stages: dict[str, tuple[int, int, float]] = {}
        self.disk = 0
        self._now = "start"
        threading.Thread(target=self._look, daemon=True).start()
        threading.Thread(target=self._look_at_disk, args=(folder,), daemon=True).start()

    @contextmanager
    def stage(self, name: str) -> Iterator[None]:
        """A part of the work."""
        self._now = name
        yield

    def _look(self) -> None:
        while True:
            values = dict(line.split(":", 1) for line in STATUS.read_text().splitlines())
            whole, private = (int(values[name].split()[0]) >> 10 for name in ("VmRSS", "RssAnon"))
            most_private, most, _ = self.stages.get(self._now, (0, 0, 0.0))
            self.stages[self._now] = max(private, most_private), max(whole, most), time.monotonic() - self.began
            time.sleep(INTERVAL)

    def _look_at_disk(self, folder: Path) -> None:
        """The most that the build's files take: its scratch and the KB that it writes."""
        while True:
            self.disk = max(self.disk, taken(folder) + nameless(folder))
            time.sleep(DISK_INTERVAL)


def taken(folder: Path) -> int:
    """Bytes of the disk that the files in a folder take; files come and go meanwhile."""
    total = 0
    for path in folder.rglob("*"):
        with suppress(FileNotFoundError):
            total += path.stat().st_blocks * 512
    return total


def nameless(folder: Path) -> int:
    """Bytes of files in a folder that have lost their names, and that this process has open or mapped."""
    sizes: dict[int, int] = {}
    for line in Path("/proc/self/maps").read_text().splitlines():
        place, *_, inode, path = line.split(maxsplit=5) if line.endswith("(deleted)") else ("", "0", "")
        if path.startswith(str(folder)):
            low, high = (int(end, 16) for end in place.split("-"))
            sizes[int(inode)] = sizes.get(int(inode), 0) + high - low
    for file in Path("/proc/self/fd").iterdir():
        with suppress(FileNotFoundError):
            if not file.stat().st_nlink and str(file.readlink()).startswith(str(folder)):
                sizes[file.stat().st_ino] = file.stat().st_blocks * 512
    return sum(sizes.values())


def measure(dump: str, memory: str, keep: str | None, place: Path | None) -> None:
    """Build once in this process and print the table."""
    with TemporaryDirectory(prefix="memory-", dir=place) as folder:
        peaks = Peaks(Path(folder))
        manifest = build([dump], Path(folder) / "kb", keep=keep, memory=memory, reporter=peaks)
        kb = sum(path.stat().st_size for path in (Path(folder) / "kb").iterdir())
    usage = resource.getrusage(resource.RUSAGE_SELF)
    print(f"\n{manifest.items:,} items, {manifest.entities:,} entities; --memory {memory}\n")
    print("| stage | private MB | whole MB | ended at s |\n|---|--:|--:|--:|")
    for name, (private, whole, ended) in peaks.stages.items():
        print(f"| {name} | {private:,} | {whole:,} | {ended:.1f} |")
    seconds = usage.ru_utime + usage.ru_stime
    print(f"\nPeak {usage.ru_maxrss >> 10:,} MB; disk {peaks.disk / MB:,.0f} MB, of which the KB {kb / MB:,.0f} MB.")
    print(f"{seconds:.1f} CPU s, {1e6 * seconds / manifest.items:.2f} µs an item.")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--people", type=int, default=300_000)
    parser.add_argument("--others", type=int, default=0, help="items that are no people")
    parser.add_argument("--memory", nargs="+", default=["512M"], help="bounds, each in a process of its own")
    parser.add_argument("--keep", help="the kinds that become entities; default: every kind")
    parser.add_argument("--dump", help="an existing dump instead; - is standard input")
    parser.add_argument("--folder", type=Path, help="where to build; default: the system's folder for temporary files")
    given = parser.parse_args()
    if given.dump and len(given.memory) == 1:
        measure(given.dump, given.memory[0], given.keep, given.folder)
        return
    own = [sys.executable, "-m", "benchmarks.memory", "--dump", given.dump or STDIN]
    own += [part for name in ("keep", "folder") if (value := vars(given)[name]) for part in (f"--{name}", str(value))]
    made = [sys.executable, "-m", "benchmarks.synthetic", "--out", "/dev/stdout"]
    made += ["--people", str(given.people), "--others", str(given.others)]
    for memory in given.memory:
        command = [*own, "--memory", memory]
        if given.dump:
            subprocess.run(command, check=True)
        else:
            with subprocess.Popen(made, stdout=subprocess.PIPE) as lines:
                subprocess.run(command, check=True, stdin=lines.stdout)


if __name__ == "__main__":
    main()
