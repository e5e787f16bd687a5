"""Relay's "bring your own codegen": which parts of a graph a compiler from outside takes, as functions of their own."""
