"""What an update leaves as it is: the entities of the old KB whose records have not changed, and their new rows."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from namesake import __version__
from namesake.arrays import Bool, Int32, Int64
from namesake.errors import NamesakeError
from namesake.kb.build_options import Options
from namesake.kb.columns import NameColumns, Ragged, large
from namesake.kb.columns.assemble import Numbering
from namesake.kb.manifest import OWN_FILE
from namesake.kb.names.form_entries import KnownForms
from namesake.kb.names.known_names import KnownNames
from namesake.kb.store import KB
from namesake.kernels.kinds import PERSON


class Left(NamedTuple):
    """The old KB, and the new row of each of its entities; -1 where the record has changed or does not count."""

    old: KB
    rows: Int32

    def names(self, entities: int) -> KnownNames:
        """The names of the old KB, for a KB of so many entities."""
        return KnownNames(NameColumns(self.old.columns), self.rows, entities)

    def forms(self, is_person: Bool, used: Int64, statements: Ragged) -> KnownForms:
        """The short forms of the old KB. An entity has other weights if its kind, uses or statements are others."""
        old, changed = self.old, np.ones(len(is_person), np.bool_)
        same = (old.kind == PERSON) == is_person[self.rows]
        same &= old.used == used[self.rows]
        same &= np.diff(old.statements.indptr) == np.diff(statements.indptr)[self.rows]
        changed[self.rows[same & (self.rows >= 0)]] = False
        return KnownForms(NameColumns(old.columns), self.rows, changed)


def same_rules(options: Options) -> bool:
    """Whether this version of Namesake has built the old KB, if there is one."""
    sources = options.base and options.base[1].sources
    return sources is None or sources.version == __version__


def unchanged(options: Options, rows: Numbering) -> Left | None:
    """What the old KB still tells; None in a build, and where everything is computed anew.

    That is the case with own entities, a damaged KB, one of another version, and too little memory for all columns.
    """
    if options.base is None or large.room().folder is not None or not same_rules(options):
        return None
    folder, manifest = options.base
    if manifest.sources is None or OWN_FILE in manifest.files or not len(rows.entity_item):
        return None
    try:
        old = KB.open(folder)
    except NamesakeError:
        return None
    if old.manifest != manifest:  # another process has replaced it
        return None
    entity_of = np.full(len(rows.item_qids) + 1, -1, np.int32)
    of_old_record = np.flatnonzero(rows.entity_dump < manifest.sources.gathered.items)
    entity_of[rows.entity_item[of_old_record]] = of_old_record
    return Left(old, entity_of[rows.find(old.qids)])
