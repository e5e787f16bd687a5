"""Operators on tensors: arithmetic, reductions, shapes and movements of elements."""
