"""Kernels of names: folded, indexed, found in text, compared."""
