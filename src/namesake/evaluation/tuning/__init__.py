"""Weights of a recipe learnt from gold."""
