"""The converters, one file per op family; `load()` registers them all."""

from __future__ import annotations

from importlib import import_module

from xrelay.plugins import load_plugins

FAMILIES = (
    "activation",
    "constants",
    "convolution",
    "elementwise",
    "linear",
    "lrn",
    "normalization",
    "pieces",
    "pooling",
    "reduction",
    "shape_arithmetic",
    "shaped_activation",
    "transform",
)
"""Modules of this package; each registers its ops with `@converts`."""


def load() -> None:
    """Import every family (once: Python keeps imported modules), and other packages' converters."""
    for family in FAMILIES:
        import_module(f"{__name__}.{family}")
    load_plugins("onnx")
