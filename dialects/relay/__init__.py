"""Relay: programs on whole tensors. `dialect.py` has all of it; a part, such as a type, comes without the operators."""
