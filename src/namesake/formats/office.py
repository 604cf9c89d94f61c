"""Formats of office programs, which are not read: what to save such a file as."""

from pathlib import Path

SAVE_AS = {
    "CSV (in Excel: File, Save As, CSV UTF-8)": (".xlsx", ".xls", ".xlsm", ".xlsb", ".ods", ".numbers"),
    "plain text (.txt)": (".docx", ".doc", ".odt", ".rtf", ".pdf", ".pages"),
}
"""What the program that made a file can save it as, by suffix."""


def save_as(path: Path) -> str:
    """`; save it as CSV …` where a file is a spreadsheet or another office document, else nothing."""
    as_what = next((name for name, suffixes in SAVE_AS.items() if path.suffix.lower() in suffixes), None)
    return f"; save {path.name} as {as_what}" if as_what else ""
