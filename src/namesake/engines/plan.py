"""What a run into a folder is: all that its links depend on, and in words how two such plans differ."""

from __future__ import annotations

import tomllib
from hashlib import sha256
from typing import get_args

import msgspec

from namesake import __version__
from namesake.engines.inputs import Input
from namesake.formats.field_names import Reading
from namesake.kb.manifest import MANIFEST
from namesake.kb.vectors.stored import FOLDER, Kind, has_vectors
from namesake.linker import Linker
from namesake.scorers.registry import named


class Plan(msgspec.Struct, frozen=True, kw_only=True):
    """What a run is: a folder holds the parts of one plan."""

    version: str
    """Of namesake."""
    kb: str
    """The digest of the KB's manifest."""
    vectors: dict[str, str]
    """The digest of each kind of its vectors, where the recipe may read some."""
    recipe: str
    """As TOML, threshold included."""
    mentions: str
    """What finds names in articles without any."""
    scores: bool
    date: str | None
    fields: dict[str, str]
    """What the user has said of the files: what fields are called, and their encoding."""
    most_line: int
    shard_bytes: int
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
        """The plan of a run by this linker."""
        return Plan(
            version=__version__,
            kb=linker.kb.manifest.digest,
            vectors=_vectors(linker),
            recipe=linker.recipe.toml(),
            mentions=linker.detector,
            scores=scores,
            date=date,
            fields=reading.named | ({"encoding": reading.encoding} if reading.encoding else {}),
            most_line=most_line,
            shard_bytes=shard_bytes,
            inputs=inputs,
        )


def _vectors(linker: Linker) -> dict[str, str]:
    """Vectors come and go while their KB stays; a scorer that needs some counts as absent where there are none."""
    kb, kinds = linker.kb, get_args(Kind)
    if all(named(scorer).needs is None for scorer in linker.recipe.scorers):
        return {}
    manifests = {kind: kb.path / FOLDER / kind / MANIFEST for kind in kinds if has_vectors(kb, kind)}
    return {kind: sha256(path.read_bytes()).hexdigest() for kind, path in manifests.items()}


def difference(held: Plan, asked: Plan) -> str | None:
    """How a run that a folder holds differs from one that is asked for, their inputs apart; None: in nothing."""
    if held.version != asked.version:
        return f"by another version of namesake ({held.version}, not {asked.version})"
    if held.kb != asked.kb:
        return "with another KB"
    if held.vectors != asked.vectors:
        return "with other vectors of the KB"
    if held.recipe != asked.recipe:
        return _other_recipe(held.recipe, asked.recipe)
    if held.scores != asked.scores:
        return "with `scores=True`" if held.scores else "without `scores=True`"
    for option, one, other in (
        ("`mentions=`", held.mentions, asked.mentions),
        ("`date=`", held.date, asked.date),
        *((f"`{name}=`", held.fields.get(name), asked.fields.get(name)) for name in sorted(held.fields | asked.fields)),
        ("`most_line=`", f"{held.most_line / 2**20:g} MB", f"{asked.most_line / 2**20:g} MB"),
    ):
        if one != other:
            return f"with another {option} ({one or 'none'}, not {other or 'none'})"
    return None if held.shard_bytes == asked.shard_bytes else "with parts of another size"


def _other_recipe(held: str, asked: str) -> str:
    one, other = tomllib.loads(held), tomllib.loads(asked)
    names = one["name"], other["name"]
    before, now = (recipe.get("decide", {}).pop("threshold", None) for recipe in (one, other))
    if one == other:
        return f"with another threshold ({before}, not {now})"
    return f"with another recipe ({names[0]}, not {names[1] if names[0] != names[1] else 'this one of that name'})"


def other_files(held: list[Input], asked: list[Input]) -> str | None:
    """How the files of a run differ from those that are asked for, whatever they hold; None: they are the same."""
    before, now = [one.path for one in held], [one.path for one in asked]
    if before == now:
        return None
    for path in sorted(set(before) - set(now)):
        return f"of other inputs ({path} was one of them)"
    for path in sorted(set(now) - set(before)):
        return f"of other inputs ({path} was none of them)"
    return "of these inputs in another order"
