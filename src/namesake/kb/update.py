"""Update a KB: the changes are added to the content of its dumps, and the KB is built from all of it.

The result is the KB that a build from the dumps and the changes would make, byte for byte. It takes less time because
the dumps are not read again.
"""

from __future__ import annotations

from pathlib import Path

from namesake import language as languages
from namesake.errors import NamesakeError
from namesake.files import Paths, several
from namesake.kb.build import run, threads
from namesake.kb.build_options import Options, memory_bound, place
from namesake.kb.columns import large
from namesake.kb.manifest import Manifest, read_manifest
from namesake.printable import counted
from namesake.progress import Reporter


def update(
    kb: str | Path,
    changes: Paths = (),
    out: str | Path | None = None,
    *,
    deleted: str | Path | None = None,
    workers: int | None = None,
    memory: int | str | large.Room | None = None,
    force: bool = False,
    reporter: Reporter | None = None,
) -> Manifest:
    """Add changes to a KB that was built with `updatable`, and return the manifest of the new one.

    The KB is replaced when the new one is complete; processes that have it open keep the old one. An update that is
    stopped can be resumed by the same call. Of several records of an item the latest revision counts, or the last one
    if revisions are equal or unknown. Own entities of the KB stay.

    Args:
        kb: the folder of the KB.
        changes: files in the dump's layout, or JSON lines of answers of Special:EntityData and of `wbgetentities`,
            plain or compressed. Deleted and redirected items are understood.
        out: the folder of the new KB; default: `kb` is replaced.
        deleted: a text file with the QIDs of deleted items, one on each line.
        workers: the number of threads that parse; default: one for each core.
        memory: how much memory to use, in bytes or as a text such as "8G"; default: half of the machine's memory.
        force: replace an existing KB at `out`.
        reporter: receives the progress.
    """
    folder, room, reporter = place(kb), memory_bound(memory), reporter or Reporter()
    old = read_manifest(folder)
    if old.sources is None:
        raise NamesakeError(f"{kb} was built without `updatable=True` and cannot be updated: build it again with it")
    sources, target = old.sources, folder if out is None else place(out)
    options = Options(
        dumps=tuple(str(file) for file in several(changes)),
        out=target,
        keep=old.keep,
        wikipedia=None if sources.wikipedia is None else Path(sources.wikipedia),
        ranks={source: Path(file) for source, file in sources.ranks.items()},
        language=languages.of(old.language),
        words=old.words_how,
        workers=threads(workers, room),
        room=room,
        force=force or out is None,
        updatable=True,
        deleted=None if deleted is None else Path(deleted),
        base=(folder, old),
    )
    made = run(options, reporter)
    if outdated := made.updates[-1].outdated:
        be = "is older than the KB and was" if outdated == 1 else "are older than the KB and were"
        reporter.say(f"{counted(outdated, 'change')} {be} ignored")
    return made
