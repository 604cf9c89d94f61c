"""Types of arrays that kernels only read, because memory-mapped columns are read-only, and types of named tuples."""

from typing import Annotated, Any, NamedTuple, get_type_hints

from numba import types
from numba.core import cgutils
from numba.core.datamodel import models
from numba.core.typeconv import Conversion

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


@models.register_default(Record)
class RecordModel(models.TupleModel):  # type: ignore[misc]
    """A record is one argument of a compiled function: the address of a copy, which the optimiser removes.

    Numba would pass each number of each field, and that code takes longer to compile than many a function.
    """

    def get_argument_type(self):
        """The type of the argument, for Numba."""
        return self.get_value_type().as_pointer()

    def as_argument(self, builder, value):
        """The copy of the caller, for Numba."""
        return cgutils.alloca_once_value(builder, value)

    def from_argument(self, builder, value):
        """The record of the function, for Numba."""
        return builder.load(value)


def record(fields):
    """The type of a `typing.NamedTuple` whose fields are annotated as `Annotated[Any, Numba's type]`."""
    return Record(_types(fields), fields)


def own_record(fields):
    """The same for a named tuple that kernels make themselves: Numba converts none of its fields."""
    return types.NamedTuple(_types(fields), fields)


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
