"""Operators under `relay.qnn`."""
