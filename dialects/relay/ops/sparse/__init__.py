"""Operators on sparse tensors in coordinate format (COO)."""
