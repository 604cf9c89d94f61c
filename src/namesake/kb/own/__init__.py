"""Own entities of a KB: records beside Wikidata's items, and the KB that has both (docs/kb-format.md, "Own entities")."""
