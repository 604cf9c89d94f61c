"""Write the tables of columns in docs/kb-format.md from the declarations in the code. Run: python docs/columns.py."""

from pathlib import Path

from namesake.kb.columns.declaration import Column, Mapped
from namesake.kb.columns.derived import DERIVED
from namesake.kb.columns.layout import KBColumns, NameColumns

PAGE = Path(__file__).with_name("kb-format.md")
BEGIN, END = "<!-- begin: python docs/columns.py -->", "<!-- end -->"


def origin(column: Column) -> str:
    """Whether a column comes from a field of the dump, from other columns, or from another function of the build."""
    return f"dump: `{column.dump_field}`" if column.dump_field else "derived" if column in DERIVED else "build"


def row(name: str, column: Column) -> str:
    """One line of a table."""
    dtype = {"strings": "strings", "ragged": f"ragged {column.dtype}"}.get(column.kind, str(column.dtype))
    holds = ", ".join(filter(None, [str(column.values), column.order]))
    return (
        f"| `{name}` | `{column.file}` | {dtype} | {column.rows.name} | {holds} | {origin(column)} | {column.__doc__} |"
    )


def table(attribute: str, columns: type[Mapped], prefix: str = "") -> str:
    """The columns that a class declares, in its order."""
    head = f"| {attribute} | file | type | a row for each | holds | from | what |\n|---|---|---|---|---|---|---|\n"
    return head + "\n".join(row(prefix + name, column) for name, column in columns.declared().items())


def page(text: str) -> str:
    """The page with its tables made anew."""
    before, _, rest = text.partition(BEGIN)
    _, _, after = rest.partition(END)
    tables = table("attribute of `KB`", KBColumns), table("attribute of `KB`", NameColumns, "names.")
    return f"{before}{BEGIN}\n\n{tables[0]}\n\nThe name index ([names.md](names.md)):\n\n{tables[1]}\n\n{END}{after}"


if __name__ == "__main__":
    PAGE.write_text(page(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
