"""Structs that say in one sentence what is wrong with them, whether a file or a program filled them.

The types of the fields and their constraints (`msgspec.Meta`) are the only rules; msgspec applies them. Its messages
are for programmers, so the sentence is made here, from the same types.
"""

import re
from collections.abc import Mapping
from types import UnionType
from typing import Any, ClassVar, Literal, Self, Union, get_args, get_origin

import msgspec
import numpy as np
from msgspec.structs import fields

from namesake.errors import NamesakeError, did_you_mean

PLAIN = {str: "a text in quotes", float: "a number", bool: "true or false"}
"""What people call the plain types."""


class Checked(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A struct whose fields keep to their types also where a program sets them."""

    called_by: ClassVar[str] = ""
    """The field that tells one such struct from another, such as a part's scorer."""

    def __post_init__(self) -> None:
        """Refuse a field that is not what its type says."""
        for field in fields(type(self)):
            value = getattr(self, field.name)
            try:
                msgspec.convert(value.item() if isinstance(value, np.generic) else value, field.type)
            except msgspec.ValidationError:
                raise NamesakeError(self.fault(field.name)) from None

    def replace(self, **changes: Any) -> Self:
        """The same struct with other values of the fields named."""
        return msgspec.structs.replace(self, **changes)

    def fault(self, name: str) -> str:
        """What to say of a field that will not do."""
        return _fault(type(self), msgspec.structs.asdict(self), name)

    @classmethod
    def of(cls, table: Mapping[str, Any]) -> Self:
        """The struct that a TOML table describes; refuses keys it does not know and values that do not fit."""
        try:
            return msgspec.convert(table, cls)
        except msgspec.ValidationError as error:
            raise NamesakeError(_translated(cls, table, str(error))) from None


def _translated(struct: type[Checked], table: Mapping[str, Any], said: str) -> str:
    """What msgspec `said` of a table, in our words; as it is where a key of the table makes it unreadable."""
    try:
        return _sentence(struct, table, said)
    except (LookupError, TypeError):
        return " ".join(said.split())


def _sentence(struct: type[Checked], table: Mapping[str, Any], said: str) -> str:
    """A message that may end in a path such as `$.parts[0].weight`, in our words."""
    what, _, path = said.rpartition(" - at `$") if " - at `$" in said else (said, "", "")
    owner, holder, name = struct, table, ""
    inner: type[Checked] | None = struct
    place: Any = table
    for step in re.findall(r"\w+", path):
        if step.isdigit():
            place = place[int(step)]
        elif inner is not None:
            owner, holder, name = inner, place, step
            inner, place = _struct_in(_type_of(owner, name)), place[name]
    key = re.search("`(.*)`", what, re.DOTALL)
    if inner is not None and key is not None and what.startswith("Object contains unknown field"):
        known = [field.name for field in fields(inner)]
        return f"unknown key {key[1]!r}{did_you_mean(key[1], known)}; known are {', '.join(known)}"
    if inner is not None and key is not None and what.startswith("Object missing required field"):
        where = f" from {name}" if name else ""
        return f"{key[1]} is missing{where}: it must be {_wanted(_type_of(inner, key[1]))}"
    return _fault(owner, holder, name)


def _fault(struct: type[Checked], values: Mapping[str, Any], name: str) -> str:
    """`weight of NS = -1.0: must be a number from 0 up`."""
    value, wanted = values[name], _type_of(struct, name)
    whose = f" of {values[struct.called_by]}" if values.get(struct.called_by) and struct.called_by != name else ""
    hint = did_you_mean(value, get_args(wanted)) if get_origin(wanted) is Literal and isinstance(value, str) else ""
    return f"{name}{whose} = {value!r}: must be {_wanted(wanted)}{hint}"


def _type_of(struct: type[Checked], name: str) -> Any:
    return {field.name: field.type for field in fields(struct)}[name]


def _wanted(type_: Any) -> str:
    """What a field of some type must be, in words."""
    for note in reversed(getattr(type_, "__metadata__", ())):
        if isinstance(note, msgspec.Meta) and note.description:
            return note.description
    if get_origin(type_) is Literal:
        return f"one of {', '.join(get_args(type_))}"
    if get_origin(type_) in (Union, UnionType):
        return _wanted(get_args(type_)[0])
    return PLAIN[type_]


def _struct_in(type_: Any) -> type[Checked] | None:
    """The struct inside a type such as `tuple[Part, ...]` or `Decide | None`."""
    if isinstance(type_, type) and issubclass(type_, Checked):
        return type_
    return next((found for part in get_args(type_) if (found := _struct_in(part))), None)
