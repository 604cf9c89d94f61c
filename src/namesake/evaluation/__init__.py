"""Evaluation of score tables and labelled text, fitting of weights, and reports. It never imports the linker."""
