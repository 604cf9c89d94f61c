"""The knowledge base: from a Wikidata dump to memory-mapped columns."""
