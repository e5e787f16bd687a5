"""Passes that only programs for Relay's API run: `xrelay.compile` does not need them."""
