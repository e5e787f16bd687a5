"""Architectures of today's networks at small width, one file a family, in the two styles of PyTorch's exporters."""
