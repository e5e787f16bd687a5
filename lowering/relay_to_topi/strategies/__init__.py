"""Strategies: implementations of operators that are faster than `compute` under a condition; one file each."""
