"""Dialects of xDSL, extended to the form of upstream MLIR."""
