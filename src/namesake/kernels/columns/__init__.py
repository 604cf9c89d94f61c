"""Kernels that make and search the columns of a KB."""
