"""Benchmarks, one a file: `python -m benchmarks` runs them all, `python -m benchmarks.link --help` one of them.

Each module has a `main()` that reads its own options and prints the tables of docs/benchmarks.md.
"""
