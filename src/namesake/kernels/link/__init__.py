"""Kernels that score candidates."""
