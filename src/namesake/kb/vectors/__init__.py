"""Vectors of a KB: of its texts and of its graph."""
