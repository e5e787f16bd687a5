"""Operators on tensors of any shape, under Relay's names without a prefix."""
