"""The columns of a KB: how they are declared, stored, and computed from the parsed dump."""

from namesake.kb.columns.column_files import Columns, Ragged, Strings, concatenate, header
from namesake.kb.columns.declaration import ASCENDING, LONGEST_RUN, NEVER_FALLING, Axis, Column, Made, Mapped, Values
from namesake.kb.columns.layout import KBColumns, NameColumns, columns

__all__ = ["ASCENDING", "LONGEST_RUN", "NEVER_FALLING"]
__all__ += ["Axis", "Column", "Columns", "KBColumns", "Made", "Mapped", "NameColumns", "Ragged", "Strings", "Values"]
__all__ += ["columns", "concatenate", "header"]
