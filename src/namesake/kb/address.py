"""Where people find an entity: its page at Wikidata."""

from __future__ import annotations

WIKIDATA = "https://www.wikidata.org/wiki/"
"""Before a QID."""
