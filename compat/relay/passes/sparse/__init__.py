"""Passes of Relay that replace weights by sparse ones."""
