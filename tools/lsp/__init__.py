"""`xrelay-lsp`: a language server for `.mlir` texts.

`names.py` finds the definitions and uses of names in a text, `analysis.py` parses and verifies it, `knowledge.py`
describes ops, and `server.py` answers an editor. Only the server imports pygls.
"""
