"""Index spaces of relay's operators: the builder that `compute` methods receive, and code of several operators.

Operators import these modules inside of `compute`, so that reading a program does not load topi. Nothing here is shared
with `meaning`, which is the oracle.
"""
