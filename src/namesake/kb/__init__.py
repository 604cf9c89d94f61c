"""The knowledge base: from a Wikidata dump to memory-mapped columns."""

WIKIDATA = "https://www.wikidata.org/wiki/"
"""The address of an entity's page, before its QID."""
