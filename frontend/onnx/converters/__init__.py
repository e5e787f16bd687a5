"""The converters, one file per op family; `load()` registers them all."""

from __future__ import annotations

from importlib import import_module

from xrelay.plugins import load_plugins

FAMILIES = (
    "clip",
    "composite_activation",
    "concat_split",
    "constants",
    "convolution",
    "depth_to_space",
    "elementwise",
    "linear",
    "lrn",
    "normalization",
    "pad",
    "pooling",
    "reduction",
    "repeat",
    "reshape",
    "shape_arithmetic",
    "slice_gather",
    "softmax",
)
"""Modules of this package; each registers its ops with `@converts`."""


def load() -> None:
    """Import every family (once: Python keeps imported modules), and other packages' converters."""
    for family in FAMILIES:
        import_module(f"{__name__}.{family}")
    load_plugins("converters")
