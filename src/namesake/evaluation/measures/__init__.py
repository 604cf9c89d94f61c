"""Metrics, their intervals, and the tables made of them."""
