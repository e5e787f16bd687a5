"""Relay's pass API: pass objects, `Sequential`, decorators, and passes by name."""
