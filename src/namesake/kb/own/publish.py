"""Publish a KB with own entities: the base's files, those that differ, and the records.

A changed file is kept with the prefix `base.`, and a file that is the same in both is a hard link, so that every change
starts from the base and `kb undo` gives back the same bytes.
"""

import os
import shutil
from collections.abc import Callable, Sequence
from pathlib import Path

import msgspec
import numpy as np

from namesake import language as languages
from namesake.errors import NamesakeError
from namesake.files.draft import clean_exit
from namesake.kb.build import build, count_kinds
from namesake.kb.columns import Columns, KBColumns, Made, NameColumns
from namesake.kb.columns.derived import DERIVED
from namesake.kb.manifest import BASE, MANIFEST, OWN_FILE, Manifest, parse_manifest, read_manifest
from namesake.kb.own.merge import Merge
from namesake.kb.own.records import Dump, Record, read_records
from namesake.kb.publish.draft import Draft
from namesake.kinds import ALL

SMALL = "small"


def publish(
    folder: Path, old: list[Record], records: Sequence[Record], say: Callable[[str], None] = lambda _: None
) -> None:
    """Replace the KB in a folder by one that has `records` instead of the `old` ones."""
    draft = Draft(folder, force=True, say=say)
    with clean_exit(draft), draft:
        manifest, of_base = read_manifest(folder), folder / f"{BASE}{MANIFEST}"
        if of_base.name in manifest.files:
            manifest = parse_manifest(of_base.read_bytes(), folder)
        if read_records(folder) != old:
            raise NamesakeError(f"{folder}: another process has changed its own entities; run the command again")
        for name, digest in manifest.files.items():
            source = folder / f"{BASE}{name}"
            source = source if source.exists() else folder / name
            try:
                os.link(source, draft.folder / name)
            except OSError:  # the file system has no hard links
                shutil.copyfile(source, draft.folder / name)
            draft.files[name] = digest
        draft.publish(apply(draft, manifest, records))
    draft.remember(folder)  # removing the links of the old folder has changed the times of the files


def apply(draft: Draft, manifest: Manifest, records: Sequence[Record]) -> Manifest:
    """Add own entities, if there are any, to a draft with all files of a KB; returns the manifest to publish."""
    base, language = Columns(draft.folder, BASE), languages.of(manifest.language)
    qids = KBColumns(base).qids if records else ()
    for gone in [record for record in records if not record.is_own and int(record.id[1:]) not in qids]:
        draft.say(f"{gone.id} is no longer in the KB: the aliases and corrections that were added to it are removed")
        records = [record for record in records if record is not gone]
    if not records:
        return manifest
    dump = Dump(records, KBColumns(base), language)
    lines = draft.folder / f"{SMALL}.jsonl"
    lines.write_bytes(b"".join(dump.lines()))
    build(lines, draft.folder / SMALL, keep=ALL, language=manifest.language, words=manifest.words_how, workers=1)
    sealed = msgspec.structs.replace(manifest, files=dict(sorted(draft.files.items()))).sealed()
    _write(draft, Merge(base, Columns(draft.folder / SMALL), dump).columns())
    for column, function in DERIVED.items():
        value = function(KBColumns(Columns(draft.folder)))
        if not np.array_equal(value, column.open(Columns(draft.folder))):
            _write(draft, {column: value})
    draft.write_blocks(f"{BASE}{MANIFEST}", [sealed])
    draft.write_blocks(OWN_FILE, [b"".join(msgspec.json.encode(record) + b"\n" for record in records)])
    merged = KBColumns(Columns(draft.folder))
    return msgspec.structs.replace(
        manifest,
        entities=len(merged.qids),
        people=int(merged.person.sum()),
        kinds=count_kinds(merged.kind),
        items=len(merged.item_qids),
        statements=len(merged.statements.values),
        names=len(NameColumns(merged.columns).texts),
        words=len(merged.words),
    )


def _write(draft: Draft, made: Made) -> None:
    """Write changed columns. The files of the base are hard links, so they are renamed, never written to."""
    for column, value in made.items():
        for name in column.files:
            file = f"{name}.npy"
            (draft.folder / file).rename(draft.folder / f"{BASE}{file}")
            draft.files[f"{BASE}{file}"] = draft.files.pop(file)
        draft.write(column, value)
