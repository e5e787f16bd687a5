"""Converters to the operators under `relay.vision`."""
