"""Metrics, confidence intervals, tuning and reports over tables of scores and links."""
