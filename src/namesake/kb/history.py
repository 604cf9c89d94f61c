"""What the manifest says about updates: the number of the generation, each update with its counts, and the sources."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import msgspec
import numpy as np

from namesake import __version__
from namesake.kb.build_options import Options
from namesake.kb.dump.gather import Gathering
from namesake.kb.dump.parse import Items
from namesake.kb.dump.revisions import Current
from namesake.kb.manifest import Gathered, Sources, Update
from namesake.kernels.columns import bitmap


def history(options: Options, items: Items, gathered: Gathering, current: Current) -> dict[str, Any]:
    """The fields `generation`, `updates` and `sources` of the manifest."""
    if not options.updatable:
        return {}
    content = msgspec.structs.replace(gathered.content, outdated=current.outdated)
    wikipedia = None if options.wikipedia is None else str(options.wikipedia)
    ranks = {source: str(file) for source, file in options.ranks.items()}
    fields: dict[str, Any] = {"sources": Sources(content, wikipedia, ranks, __version__)}
    if options.base and (old := options.base[1]).sources:
        update = _update(options, items, current, old.sources.gathered)
        fields |= {"generation": old.generation + 1, "updates": [*old.updates, update]}
    return fields


def _update(options: Options, items: Items, current: Current, base: Gathered) -> Update:
    """The counts of an update of the KB with the content `base`."""
    bits = np.zeros(int(items.qid.max(initial=0)) // 64 + 1, np.uint64)
    bitmap.add_all(bits, items.qid[: base.items])
    counted = items.qid[base.items :][current.first[base.items :]]
    changed = int(np.count_nonzero(bitmap.find(bits, bitmap.count_before(bits), counted) >= 0))
    gone = np.isin(current.gone, items.gone_qid[base.gone :])
    redirected = int(np.count_nonzero(current.targets[gone]))
    return Update(
        date=datetime.now(UTC).isoformat(timespec="seconds"),
        files=[*options.dumps, *([str(options.deleted)] if options.deleted else [])],
        added=len(counted) - changed,
        changed=changed,
        deleted=int(gone.sum()) - redirected,
        redirected=redirected,
        outdated=current.outdated - base.outdated,
    )
