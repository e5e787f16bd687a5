"""Converters of operators on sequences and optionals."""
