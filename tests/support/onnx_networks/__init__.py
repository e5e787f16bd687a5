"""Contemporary network architectures at small width, one file per family, in the styles of PyTorch's two exporters."""
