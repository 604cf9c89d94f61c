"""Data sets for entity linking: a registry of facts, one reader for each, conversion to our articles and gold."""
