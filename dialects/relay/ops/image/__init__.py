"""Operators under `relay.image`."""
