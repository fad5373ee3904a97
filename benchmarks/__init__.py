"""Measurements against the budgets: ratios to peers, taken in one run on one machine.

Each module has `measure() -> list[Row]`. `make bench` runs them all and writes docs/benchmarks.md;
`python -m benchmarks trace decode` runs some and writes nothing.
"""
