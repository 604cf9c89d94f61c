"""Types of arrays that kernels only read, because memory-mapped columns are read-only, and types of named tuples."""

from typing import Annotated, Any, NamedTuple, get_type_hints

from numba import config, types
from numba.core import cgutils
from numba.core.datamodel import models
from numba.core.imputils import lower_getattr_generic
from numba.core.typeconv import Conversion
from numba.core.typing.templates import AttributeTemplate, infer_getattr
from numba.extending import intrinsic

U8 = types.Array(types.uint8, 1, "C", readonly=True)
I8 = types.Array(types.int8, 1, "C", readonly=True)
I32 = types.Array(types.int32, 1, "C", readonly=True)
U32 = types.Array(types.uint32, 1, "C", readonly=True)
I64 = types.Array(types.int64, 1, "C", readonly=True)
U64 = types.Array(types.uint64, 1, "C", readonly=True)
F32 = types.Array(types.float32, 1, "C", readonly=True)
F64 = types.Array(types.float64, 1, "C", readonly=True)
PAIRS = types.Array(types.int32, 2, "C", readonly=True)


class Record(types.NamedTuple):  # type: ignore[misc]
    """A named tuple whose fields Numba converts to their types, as it converts arguments."""

    def can_convert_from(self, typingctx, other):
        """The conversion of a tuple to this type, for Numba: that of its worst field; None if there is none."""
        if not isinstance(other, types.BaseNamedTuple) or other.instance_class is not self.instance_class:
            return None
        fields = [typingctx.can_convert(given, wanted) for given, wanted in zip(other.types, self.types, strict=True)]
        return None if None in fields else max(*fields, Conversion.promote)


models.register_default(Record)(models.TupleModel)


def record(fields):
    """The type of a `typing.NamedTuple` whose fields are annotated as `Annotated[Any, Numba's type]`."""
    return Record(_types(fields), fields)


def own_record(fields):
    """The same for a named tuple that kernels make themselves: Numba converts none of its fields."""
    return types.NamedTuple(_types(fields), fields)


class Held(types.Type):  # type: ignore[misc]
    """A named tuple in memory: calls pass one address instead of every field."""

    def __init__(self, fields) -> None:
        """The held form of the type of a named tuple."""
        self.fields = fields
        super().__init__(f"Held({fields})")


@models.register_default(Held)
class _HeldModel(models.OpaqueModel):  # type: ignore[misc]
    def from_argument(self, builder, value):
        """The address that a kernel receives. Nothing is written there while it runs, so fields are read once."""
        if isinstance(value, cgutils.ir.Argument):
            value.add_attribute("noalias")
            try:
                value.add_attribute("captures(none)")
            except ValueError:  # LLVM before 21
                value.add_attribute("nocapture")
        return value


@infer_getattr
class _HeldFields(AttributeTemplate):  # type: ignore[misc]
    key = Held

    def generic_resolve(self, held, name):
        return held.fields.types[held.fields.fields.index(name)]


@lower_getattr_generic(Held)
def _load_field(context, builder, held, place, name):
    fields = builder.bitcast(place, context.get_value_type(held.fields).as_pointer())
    return builder.load(cgutils.gep_inbounds(builder, fields, 0, held.fields.fields.index(name)))


@intrinsic
def _hold(typing, fields):
    """Store a named tuple of pointers and numbers until the calling kernel returns, or calls this again there."""

    def generate(context, builder, signature, arguments):
        place = cgutils.alloca_once(builder, arguments[0].type)
        builder.store(arguments[0], place)
        return builder.bitcast(place, cgutils.voidptr_t)

    return Held(fields)(fields), generate


def hold(fields):
    """See _hold."""
    return fields


if not config.DISABLE_JIT:
    hold = _hold


def held_record(fields):
    """The type of a named tuple that `hold` has stored; its fields are annotated like those of a record."""
    return Held(own_record(fields))


def plain_record(fields):
    """The same for a kernel that is called for every article: give it `tuple(fields)`.

    Numba recognises a plain tuple sooner than a named one, by a quarter of a microsecond for each field.
    """
    return types.Tuple(_types(fields))


def _types(fields):
    return [hint.__metadata__[0] for hint in get_type_hints(fields, include_extras=True).values()]


class Ragged(NamedTuple):
    """Lists of numbers, one after the other: row i is `values[indptr[i]:indptr[i + 1]]`."""

    indptr: Annotated[Any, I64]
    values: Annotated[Any, I32]


RAGGED = record(Ragged)
