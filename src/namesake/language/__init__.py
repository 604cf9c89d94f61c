"""What depends on a language, as data."""
