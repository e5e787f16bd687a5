"""Helpers of several tests: small models and one-op programs. On the path through pytest's pythonpath."""
