"""Kernels from text to tokens, sentences and words."""
