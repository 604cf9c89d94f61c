"""Kernels of the evaluation."""
