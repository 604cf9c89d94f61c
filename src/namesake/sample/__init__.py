"""The embedded sample."""
