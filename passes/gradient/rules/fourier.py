"""Discrete Fourier transforms of signals and of frames."""

from __future__ import annotations

import numpy as np
from xdsl.ir import SSAValue

from xrelay.dialects.relay.gradients.axis_products import matrix_of
from xrelay.dialects.relay.gradients.builder import GradientBuilder, Gradients
from xrelay.dialects.relay.gradients.numbered_elements import collected, numbered
from xrelay.dialects.relay.ops.tensor_fourier import DFTOp, STFTOp
from xrelay.dialects.relay.structure.constant import ConstantOp
from xrelay.passes.gradient.rule_table import differentiates


@differentiates(DFTOp)
def dft(op: DFTOp, gradient: SSAValue, emit: GradientBuilder) -> Gradients:
    """Returns the transform of the opposite direction, corrected by the factor n of the inverse transform."""
    inverse = bool(op.inverse.value.data)
    parts = [emit.item(gradient, number) for number in range(2)]
    turned = emit.op("dft", *parts, inverse=not inverse)
    count = emit.op("sum", emit.ones_like(op.re_data), axis=[-1], keepdims=True)
    return [emit.op("divide" if inverse else "multiply", emit.item(turned, number), count) for number in range(2)]


@differentiates(STFTOp)
def stft(op: STFTOp, gradient: SSAValue, emit: GradientBuilder) -> Gradients:
    """Returns the gradients of data and window.

    With g the gradient of the windowed frames, that of an element sums g times the window over the frames that contain
    it, and that of the window sums g times the frames over all frames.
    """
    size, length = op.n_fft.value.data, op.win_length.value.data
    rank = len(emit.shape(op.data))
    angles = 2 * np.pi / length * np.outer(np.arange(_frequencies(op)), np.arange(length))
    scale = 1 / np.sqrt(size) if op.normalized.value.data else 1.0
    # Converts (…, frequencies, frames, 2) to real and imaginary parts of shape (…, frames, frequencies).
    parts = [emit.op("take", gradient, _place(number, emit), axis=-1) for number in range(2)]
    order = [*range(rank - 1), rank, rank - 1]
    real, imaginary = (emit.op("transpose", part, axes=order) for part in parts)
    of_real = emit.op("nn.matmul", real, matrix_of(np.cos(angles) * scale, real, emit))
    of_imaginary = emit.op("nn.matmul", imaginary, matrix_of(np.sin(angles) * scale, real, emit))
    given = emit.op("subtract", of_real, of_imaginary)
    frames, numbers = (_frames(op, value, emit) for value in (op.data, numbered(op.data, emit)))
    of_window = emit.op("sum", emit.op("multiply", given, frames), axis=list(range(rank)))
    return [collected(numbers, emit.op("multiply", given, op.window), op.data, emit), of_window]


def _frequencies(op: STFTOp) -> int:
    size = op.n_fft.value.data
    return size // 2 + 1 if op.onesided.value.data else size


def _frames(op: STFTOp, value: SSAValue, emit: GradientBuilder) -> SSAValue:
    """Returns the frames of a signal, cut to the length of the window."""
    axis, length = len(emit.shape(value)) - 1, op.win_length.value.data
    window, strides = [op.n_fft.value.data], [op.hop_length.value.data]
    whole = emit.op("sliding_window", value, axis=axis, window_shape=window, strides=strides)
    return emit.op("strided_slice", whole, begin=[0], end=[length], axes=[axis + 1])


def _place(number: int, emit: GradientBuilder) -> SSAValue:
    return emit.insert(ConstantOp.of(np.array(number, np.int64))).result
