"""Operators under `relay.vision`."""
