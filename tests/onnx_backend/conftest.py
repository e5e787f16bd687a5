"""Tests of numbers, whose kernels are often those of another test."""

from support.remembered_kernels import remembered_kernels

__all__ = ["remembered_kernels"]
