"""Evaluation, tuning and error analysis with the linker: the functions behind `namesake eval`."""
