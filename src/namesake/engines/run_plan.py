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


class Plan(msgspec.Struct, frozen=True, kw_only=True):
    """What a run is. A folder holds the parts of one plan."""

    version: str
    """Of namesake."""
    kb: str
    """The digest of the KB's manifest."""
    vectors: dict[str, str]
    """The digest of each kind of its vectors, if the recipe may read some."""
    recipe: str
    """As TOML, threshold included."""
    mentions: str
    """How names are found in articles that list none."""
    scores: bool
    date: str | None
    fields: dict[str, str]
    """The names of fields and the encoding that the user gave."""
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
        """The plan of a run with this linker."""
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
    """The digests of the KB's vectors: they can be replaced while the KB stays, and a scorer may depend on them."""
    kb = linker.kb
    if all(named(scorer).needs is None for scorer in linker.recipe.scorers):
        return {}
    manifests = {kind: kb.path / FOLDER / kind / MANIFEST for kind in get_args(Kind) if has_vectors(kb, kind)}
    return {kind: sha256(path.read_bytes()).hexdigest() for kind, path in manifests.items()}


def difference(held: Plan, asked: Plan) -> str | None:
    """How the run in a folder differs from the requested one, inputs apart; None if it does not."""
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
        ("mentions", held.mentions, asked.mentions),
        ("date", held.date, asked.date),
        *((name, held.fields.get(name), asked.fields.get(name)) for name in sorted(held.fields | asked.fields)),
        ("most_line", f"{held.most_line / 2**20:g} MB", f"{asked.most_line / 2**20:g} MB"),
    ):
        if one != other:
            return f"with another `{option}=` ({one or 'none'}, not {other or 'none'})"
    return None if held.shard_bytes == asked.shard_bytes else "with parts of another size"


def _other_recipe(held: str, asked: str) -> str:
    one, other = tomllib.loads(held), tomllib.loads(asked)
    names = one["name"], other["name"]
    before, now = (recipe.get("decide", {}).pop("threshold", None) for recipe in (one, other))
    if one == other:
        return f"with another threshold ({before}, not {now})"
    return f"with another recipe ({names[0]}, not {names[1] if names[0] != names[1] else 'this one of that name'})"


def other_files(held: list[Input], asked: list[Input]) -> str | None:
    """How the files of a run differ from the requested ones, whatever they contain; None if they do not."""
    before, now = [one.path for one in held], [one.path for one in asked]
    if before == now:
        return None
    for path in sorted(set(before) - set(now)):
        return f"of other inputs ({path} was one of them)"
    for path in sorted(set(now) - set(before)):
        return f"of other inputs ({path} was not one of them)"
    return "of these inputs in another order"
