"""Operators under `relay.dyn`, and others whose shape is an operand."""
