"""Measures a model in xrelay and in other engines, interleaved, for `xrelay bench --against`."""
