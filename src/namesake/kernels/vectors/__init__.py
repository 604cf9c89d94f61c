"""Vectors: cosines, sums of statement values, means of texts, random walks and what they teach."""
