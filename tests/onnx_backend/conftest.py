"""Tests in this folder share a cache of kernels, as many compile the same ones."""

from support.remembered_kernels import remembered_kernels

__all__ = ["remembered_kernels"]
