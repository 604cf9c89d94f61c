"""Hostile tests: damaged KBs, killed runs, mutated input, wrong use. `make hostile` runs all of them."""
