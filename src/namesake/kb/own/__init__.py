"""Own entities of a KB: their records, and the KB that has them besides those of Wikidata (docs/kb-format.md)."""
