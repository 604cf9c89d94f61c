"""Names: who may be meant by one, and which a raw text holds."""
