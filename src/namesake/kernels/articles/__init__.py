"""Articles in JSON lines."""
