"""Relay's API over the engine: pass objects, `Sequential`, decorators, and passes by name."""
