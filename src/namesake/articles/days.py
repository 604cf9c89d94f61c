"""The day of an article, as a number."""

from __future__ import annotations

import re
from datetime import date

_EPOCH = date(1970, 1, 1)
_ISO_DATE = re.compile(r"\s*(\d{4})(?:-(\d{1,2})(?:-(\d{1,2}))?)?(?!\d)")

UNDATED = 2**31 - 1
"""The day of an article without a date."""


def day_number(text: str | None) -> int:
    """Days from 1970-01-01 to an ISO date such as 2016-12-26, 2016-12 or 2016-12-26T08:15:00Z; else UNDATED.

    A month or a year stands for its last day: nobody born in the article's own year is ruled out.
    """
    text = text or ""
    if text[4:5] == text[7:8] == "-" and not text[10:11].isdecimal():
        try:
            return date.fromisoformat(text[:10]).toordinal() - _EPOCH.toordinal()
        except ValueError:
            pass  # another form
    found = _ISO_DATE.match(text)
    if found is None:
        return UNDATED
    year, month, day = (int(group or 0) for group in found.groups())
    try:
        if day or not year:
            return (date(year, month, day) - _EPOCH).days
        after = date(year + month // 12, month % 12 + 1, 1) if month else date(year + 1, 1, 1)
        return (after - _EPOCH).days - 1
    except ValueError:
        return UNDATED
