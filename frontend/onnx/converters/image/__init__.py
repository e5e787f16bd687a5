"""Converters to the operators under `relay.image`, and others that resize or sample images."""
