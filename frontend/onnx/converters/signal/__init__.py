"""Converters of operators on signals that relay lacks: windows and mel weights, which are computed by others."""
