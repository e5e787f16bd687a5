"""Lowering from relay to topi: a strategy selects the implementation of each operator in a kernel.

Each file registers the implementations of one op family in `strategies.STRATEGIES`. `convert_relay_to_topi.py` is the
pass.
"""
