"""Tests of sessions compile equal kernels once."""

from support.remembered_kernels import remembered_kernels

__all__ = ["remembered_kernels"]
