"""Namesake tells you which John Smith: links from names in text to Wikidata, each with its reason."""

__version__ = "0.1.0"
