"""Data sets with gold: the catalogue, readers and writers of their formats, conversion."""
