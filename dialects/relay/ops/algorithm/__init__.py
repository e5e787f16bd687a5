"""Operators that sort, search and select elements."""
