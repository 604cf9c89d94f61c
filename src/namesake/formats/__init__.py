"""Readers and writers of articles and links, one format a file."""
