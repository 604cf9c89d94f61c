"""Settings that a recipe gives to all of its scorers, and `Checked`, the struct that explains what is wrong with it.

The types of the fields and their constraints (`msgspec.Meta`) are the only rules, and msgspec applies them. Its
messages are for programmers, so `Checked` writes its own from the same types.
"""

from collections.abc import Mapping
from contextlib import suppress
from functools import lru_cache
from types import UnionType
from typing import Annotated, Any, ClassVar, Literal, Self, Union, get_args, get_origin

import msgspec
import numpy as np
from msgspec import Meta, structs

from namesake.errors import NamesakeError, did_you_mean

PLAIN = {str: "a text in quotes", float: "a number", bool: "true or false"}  # plain types in words
fields = lru_cache(structs.fields)  # which reads the annotations anew at each call


class Checked(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """A struct that also checks the types of its fields when a program sets them."""

    called_by: ClassVar[tuple[str, ...]] = ()
    """The fields that identify such a struct in messages, such as the scorer of a part; the first one that is set."""

    def __post_init__(self) -> None:
        """Raise an error for a field that does not have its type."""
        for field in fields(type(self)):
            value = getattr(self, field.name)
            try:
                msgspec.convert(value.item() if isinstance(value, np.generic) else value, field.type)
            except msgspec.ValidationError:
                raise NamesakeError(self.fault(structs.asdict(self), field.name)) from None

    def replace(self, **changes: Any) -> Self:
        """The same struct with other values of the given fields."""
        return msgspec.structs.replace(self, **changes)

    @classmethod
    def fault(cls, values: Mapping[str, Any], name: str) -> str:
        """The message for a field with a wrong value: `weight of NS = -1.0: must be a number from 0 up`."""
        value, [wanted] = values[name], [field.type for field in fields(cls) if field.name == name]
        known = next((values[key] for key in cls.called_by if values.get(key) and key != name), None)
        whose = f" of {known}" if known is not None else ""
        hint = did_you_mean(value, get_args(wanted)) if get_origin(wanted) is Literal and isinstance(value, str) else ""
        return f"{name}{whose} = {value!r}: must be {_wanted(wanted)}{hint}"

    @classmethod
    def of(cls, table: Mapping[str, Any], name: str = "") -> Self:
        """The struct that a TOML table describes; the table is the value of the key `name` of another one, if any."""
        with suppress(msgspec.ValidationError):
            return msgspec.convert(table, cls)
        known = {field.name: field for field in fields(cls)}  # something is wrong: find out what
        for key in table:
            if key not in known:
                raise NamesakeError(f"unknown key {key!r}{did_you_mean(key, known)}; known are {', '.join(known)}")
        values = {}
        for key, field in known.items():
            if field.required and key not in table:
                where = f" from {name}" if name else ""
                raise NamesakeError(f"{key} is missing{where}: it must be {_wanted(field.type)}")
            if key in table:
                try:
                    values[key] = msgspec.convert(_built(field.type, table[key], key), field.type)
                except msgspec.ValidationError:
                    raise NamesakeError(cls.fault(table, key)) from None
        return cls(**values)


def _built(type_: Any, value: Any, name: str) -> Any:
    """The value of a field with its tables as structs."""
    struct = _struct_in(type_)
    if struct is None or not isinstance(value, list | dict):
        return value
    return struct.of(value, name) if isinstance(value, dict) else [_built(type_, one, name) for one in value]


def _wanted(type_: Any) -> str:
    """What a field of this type must be, in words."""
    for note in reversed(getattr(type_, "__metadata__", ())):
        if isinstance(note, Meta) and note.description:
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


WORDS = ("D", "P", "S", "S_A")
"""The words of an entity: of its description, its first paragraph, its statements' values, and their aliases."""
_ONE = "|".join(WORDS)


class Neural(Checked, frozen=True, kw_only=True):
    """Settings of the scorers that use vectors and models."""

    themes: Annotated[int, Meta(ge=1, le=1000, description="a whole number from 1 to 1000")] = 10
    """Eigen: the number of singular vectors."""
    themes_from: Literal["any", "walk", "text"] = "any"
    """Eigen: vectors of the graph (walk), of the texts, or (any) of the graph if the KB has them, else of the texts."""
    tokens: Annotated[int, Meta(ge=1, le=500, description="a whole number from 1 to 500")] = 128
    """mGENRE: the tokens of text on each side of a name."""
    beam: Annotated[int, Meta(ge=0, le=1000, description="a whole number from 0 to 1000")] = 0
    """mGENRE: the width of the beam search, in which titles that it does not find count 0; 0 scores every title."""


class Settings(Checked, frozen=True, kw_only=True):
    """Settings of all scorers: anchors, context, words of an entity, variants of names. A `Recipe` is one."""

    anchors: Literal["first", "all"] = "all"
    """The unambiguous mentions that EEIScore and CSSVE compare with."""
    context: Literal["article", "narrow", "both"] = "article"
    """The words of the text for IScore: the article, the sentences with the name, or the sum of both."""
    words: Annotated[
        str,
        Meta(
            pattern=rf"^(?:{_ONE})(?:\+(?:{_ONE}))*$",
            description=f"a sum of {', '.join(WORDS)} such as 'D+S', each of them once",
        ),
    ] = "D+S"
    variants: Literal["never", "missing", "always"] = "never"
    """Whether variants of a name also give candidates: never, if the name itself has none, or always."""
    neural: Annotated[Neural, Meta(description="a [neural] table")] = Neural()

    def __post_init__(self) -> None:
        """Raise an error for a setting that is not allowed."""
        super().__post_init__()
        if len(set(self.features)) < len(self.features):
            raise NamesakeError(self.fault(structs.asdict(self), "words"))

    @property
    def features(self) -> list[str]:
        """The summands of `words`."""
        return self.words.split("+")
