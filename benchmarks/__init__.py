"""Benchmarks, one a file: `python -m benchmarks` runs all that need no KB of yours.

`python -m benchmarks.link --help` tells of one. Each module has a `main()` that reads its own options and prints the
tables of docs/benchmarks.md.
"""
