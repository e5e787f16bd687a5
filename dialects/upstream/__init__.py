"""Dialects of xDSL in the form that upstream MLIR gives them, where xDSL says less."""
