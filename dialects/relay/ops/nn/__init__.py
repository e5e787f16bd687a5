"""Operators under `relay.nn`."""
