"""Passes as Relay's users call them: pass objects, `Sequential`, decorators, and passes by name."""
