"""Passes as objects: Relay's pass classes, decorators and sequences over the pass engine."""
