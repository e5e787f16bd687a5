"""The discrete Fourier transform."""

from __future__ import annotations

from xdsl.ir import SSAValue

from xrelay.dialects.relay.ops.tensor_fourier import DFTOp
from xrelay.passes.gradient.emitter import GradientEmitter
from xrelay.passes.gradient.rule_table import Gradients, differentiates


@differentiates(DFTOp)
def dft(op: DFTOp, gradient: SSAValue, emit: GradientEmitter) -> Gradients:
    """The transform with the other sign, which the inverse divides by the number of elements and the other does not."""
    inverse = bool(op.inverse.value.data)
    parts = [emit.item(gradient, number) for number in range(2)]
    turned = emit.op("dft", *parts, inverse=not inverse)
    count = emit.op("sum", emit.ones_like(op.re_data), axis=[-1], keepdims=True)
    return [emit.op("divide" if inverse else "multiply", emit.item(turned, number), count) for number in range(2)]
