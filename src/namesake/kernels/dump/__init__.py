"""Kernels that read a Wikidata dump."""
