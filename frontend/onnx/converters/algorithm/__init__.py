"""Converters to the operators that sort and select elements."""
