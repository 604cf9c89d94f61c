"""What a run into a folder is: everything its links depend on, and in words how two such plans differ."""

from __future__ import annotations

import tomllib
from hashlib import sha256
from typing import get_args

import msgspec

from namesake import __version__
from namesake.engines.inputs import Input
from namesake.formats.fields import Reading
from namesake.kb.manifest import MANIFEST
from namesake.kb.vectors.stored import FOLDER, Kind, has_vectors
from namesake.linker import Linker
from namesake.scorers.registry import named


class Plan(msgspec.Struct, frozen=True):
    """What a run is. A folder holds the parts of one plan."""

    facts: dict[str, str]
    """What its links depend on beside the inputs: the value of each option, the KB, the recipe."""
    inputs: list[Input]

    @staticmethod
    def of(
        linker: Linker,
        inputs: list[Input],
        reading: Reading,
        *,
        scores: bool,
        date: str | None,
        most_line: int,
        shard_bytes: int,
    ) -> Plan:
        """The plan of a run with this linker."""
        recipe = tomllib.loads(linker.recipe.toml())
        threshold = recipe.get("decide", {}).pop("threshold", "")
        facts = {
            "version of namesake": __version__,
            "KB": linker.kb.manifest.digest,
            "recipe": linker.recipe.name,
            "version of the recipe": sha256(repr(recipe).encode()).hexdigest(),
            "set of vectors": _vectors(linker),
            "threshold": str(threshold),
            "`mentions=`": linker.detector,
            "`scores=`": str(scores),
            "`date=`": date or "",
            **{f"`{name}=`": value for name, value in reading.named.items()},
            "`encoding=`": reading.encoding or "",
            "`most_line=`": f"{most_line / 2**20:g} MB",
            "size of parts": f"{shard_bytes:,} bytes",
        }
        return Plan(facts, inputs)


def _vectors(linker: Linker) -> str:
    """A digest of the KB's vectors, which can be replaced while the KB stays, if the recipe may read some."""
    kb, hashed = linker.kb, sha256()
    if all(named(scorer).needs is None for scorer in linker.recipe.scorers):
        return ""
    for kind in get_args(Kind):
        if has_vectors(kb, kind):
            hashed.update((kb.path / FOLDER / kind / MANIFEST).read_bytes())
    return hashed.hexdigest()


def difference(held: Plan, asked: Plan) -> str | None:
    """How the run in a folder differs from the requested one; None if it does not, or only the files have changed."""
    for name in held.facts | asked.facts:
        one, other = held.facts.get(name) or "none", asked.facts.get(name) or "none"
        if one != other:
            return f"with another {name} ({one:.40}, not {other:.40})"
    before, now = [one.path for one in held.inputs], [one.path for one in asked.inputs]
    if before == now:
        return None
    for path in sorted(set(before) - set(now)):
        return f"of other inputs ({path} was one of them)"
    for path in sorted(set(now) - set(before)):
        return f"of other inputs ({path} was not one of them)"
    return "of these inputs in another order"
