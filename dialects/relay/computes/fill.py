"""Tensors filled with a scalar."""

from __future__ import annotations

from xdsl.ir import SSAValue

from xrelay.dialects.relay.computes.builder import TopiBuilder
from xrelay.dialects.topi.scalars import convert_scalar


def filled(build: TopiBuilder, value: SSAValue) -> SSAValue:
    """Fills a tensor of the result's type with a scalar, converted to its element type."""
    element = build.result_type.element_type
    return build.compute("full", build.result_shape, element, lambda b: convert_scalar(b, b.read(value), element))
