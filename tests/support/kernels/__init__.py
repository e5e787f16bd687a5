"""Kernels at the topi and loop levels, their oracles, and the levels that tests compare."""
