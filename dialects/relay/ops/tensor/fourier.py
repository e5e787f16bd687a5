"""Fourier transforms: `relay.dft`, and `relay.stft` over frames of a signal."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import pi, sqrt

import numpy as np
from xdsl.dialects.builtin import IndexType, TupleType, f64
from xdsl.ir import Attribute, SSAValue
from xdsl.ir.affine import AffineExpr
from xdsl.irdl import irdl_op_definition, operand_def

from xrelay.dialects.relay.gradients.numbered_elements import numbered, sum_by_number
from xrelay.dialects.relay.op_definition import (
    Array,
    AtLeast,
    Body,
    Dim,
    Facts,
    FloatElements,
    GradientBuilder,
    Gradients,
    HalfPrecision,
    MixedPrecision,
    OpPatternKind,
    RankOf,
    RelayOp,
    SameElements,
    TopiBuilder,
    bool_property,
    cast_once,
    int_property,
    register_relay_op,
    shape_text,
    tensor_type,
)


@register_relay_op
@irdl_op_definition
class DFTOp(RelayOp):
    """The discrete Fourier transform along the last axis: the tuple of the real and the imaginary parts.

    With n elements, element k is the sum over j of `x[j] * exp(-2 * pi * i * j * k / n)`; with `inverse` the exponent
    is positive, and the sum is divided by n.

    Constraints:
    - C4: both parts have the same shape.

    Example:
    ```mlir
    %t = relay.dft(%x, %y) : (tensor<2x5xf32>, tensor<2x5xf32>) -> tuple<tensor<2x5xf32>, tensor<2x5xf32>>
    ```

    """

    name = "relay.dft"
    PATTERN = OpPatternKind.OPAQUE
    MIXED_PRECISION = MixedPrecision.NEVER
    HALF_PRECISION = HalfPrecision.SINGLE
    CONSTRAINTS = {"C1": FloatElements(), "C2": SameElements(), "C3": RankOf(0, 1)}

    re_data = operand_def()
    im_data = operand_def()

    inverse = bool_property(False)

    def infer_type(self, facts: Facts) -> Attribute:
        """Returns two tensors of the data's type; checks C4."""
        shape, other = facts.shape(0), facts.shape(1)
        message = f"parts of shapes {shape_text(shape)} and {shape_text(other)}"
        facts.require(len(shape) == len(other), "C4", message)
        for lhs, rhs in zip(shape, other, strict=True):
            facts.require_equal(lhs, rhs, "C4", "extents of both parts", message=message)
        return TupleType((facts.tensor(0),) * 2)

    def evaluate(self, re_data: Array, im_data: Array) -> tuple[Array, ...]:
        """Uses `np.fft` in double precision."""
        data = re_data.astype(np.float64) + 1j * im_data.astype(np.float64)
        if data.shape[-1]:
            data = np.fft.ifft(data) if self.inverse.value.data else np.fft.fft(data)
        return cast_once(data.real, re_data.dtype), cast_once(data.imag, re_data.dtype)

    def compute(self, build: TopiBuilder) -> Sequence[SSAValue]:
        """Builds the real and imaginary parts of sums of complex products."""
        re, im = build.operand(0), build.operand(1)
        shape, real, inverse = build.shape(re), build.element(re), bool(self.inverse.value.data)
        roots = _Roots(build, shape[-1], real, turn=1 if inverse else -1)

        def part(number: int) -> SSAValue:
            def add(b: Body) -> SSAValue:
                at = (*b.spatial[:-1], b.reduction[0])
                x, y = b.read(re, *at), b.read(im, *at)
                cos, sin = roots.read(b, b.spatial[-1], b.reduction[0])
                if number:
                    return b.accumulate(b.accumulators[0], b.plus(b.times(x, sin), b.times(y, cos)))
                return b.accumulate(b.accumulators[0], b.minus(b.times(x, cos), b.times(y, sin)))

            total = build.compute("dft_sum", shape, real, add, reduce={"j": shape[-1]}, init=[0.0])
            if not inverse:
                return total

            def divide(b: Body) -> SSAValue:
                return b.divide(b.read(total, *b.spatial), b.size(shape[-1], real))

            return build.compute("dft", shape, real, divide)

        return [part(0), part(1)]

    def gradient(self, of: SSAValue, build: GradientBuilder) -> Gradients:
        """Returns the transform of the opposite direction, corrected by the factor n of the inverse transform."""
        inverse = bool(self.inverse.value.data)
        parts = [build.item(of, number) for number in range(2)]
        turned = build.op("dft", *parts, inverse=not inverse)
        count = build.op("sum", build.ones_like(self.re_data), axis=[-1], keepdims=True)
        name = "divide" if inverse else "multiply"
        return [build.op(name, build.item(turned, number), count) for number in range(2)]


@register_relay_op
@irdl_op_definition
class STFTOp(RelayOp):
    """Fourier transforms of frames of a signal at distances of `hop_length`: (frequencies, frames, 2).

    The signal has frames of `n_fft` elements. The first `win_length` elements of each are multiplied by the window and
    transformed: frequency k is the sum over j of `window[j] * x[j] * exp(-2 * pi * i * j * k / win_length)`. The last
    axis has the real and the imaginary part. There are `n_fft` frequencies, or with `onesided` the first `n_fft / 2 +
    1`. With `normalized` they are divided by the square root of `n_fft`. The signal may have a leading batch axis.

    Constraints:
    - C6: the window has `win_length` elements, no more than `n_fft`.
    - C7: the signal has at least one frame.

    Example:
    ```mlir
    %y = relay.stft(%x, %w) {n_fft = 4, hop_length = 2, win_length = 3, normalized = false, onesided = true}
        : (tensor<2x9xf32>, tensor<3xf32>) -> tensor<2x3x3x2xf32>
    ```

    """

    name = "relay.stft"
    PATTERN = OpPatternKind.OPAQUE
    MIXED_PRECISION = MixedPrecision.NEVER
    HALF_PRECISION = HalfPrecision.SINGLE
    CONSTRAINTS = {
        "C1": FloatElements(),
        "C2": SameElements(),
        "C3": RankOf(0, 1, 2),
        "C4": RankOf(1, 1, 1),
        "C5": AtLeast("hop_length"),
        "C8": AtLeast("win_length"),
        "C9": AtLeast("n_fft"),
    }

    data = operand_def()
    window = operand_def()

    n_fft = int_property()
    hop_length = int_property()
    win_length = int_property()
    normalized = bool_property(False)
    onesided = bool_property(True)

    def infer_type(self, facts: Facts) -> Attribute:
        """Returns the type with frequencies and frames; checks C6 and C7."""
        (shape, element), (window,) = facts.operand(0), facts.shape(1)
        size, length = self.n_fft.value.data, self.win_length.value.data
        facts.require(length <= size, "C6", f"windows of {length} elements in frames of {size}")
        facts.require_equal(window, length, "C6", "elements of the window and win_length")
        facts.require_at_least(shape[-1], size, "C7", "elements of the signal, and of a frame,")
        frames = (shape[-1] - size) // self.hop_length.value.data + 1
        return tensor_type((*shape[:-1], self._frequencies, frames, 2), element)

    @property
    def _frequencies(self) -> int:
        """The number of frequencies."""
        size = self.n_fft.value.data
        return size // 2 + 1 if self.onesided.value.data else size

    def evaluate(self, data: Array, window: Array) -> Array:
        """Multiplies the frames by the matrix of the transform, in double precision."""
        size, length, hop = self.n_fft.value.data, self.win_length.value.data, self.hop_length.value.data
        signal = data.astype(np.float64)
        frames = np.lib.stride_tricks.sliding_window_view(signal, size, -1)[..., ::hop, :length]
        count = size // 2 + 1 if self.onesided.value.data else size
        turns = np.outer(np.arange(count), np.arange(length)) % length
        table = np.exp(-2j * np.pi * turns / length)
        result = np.einsum("kj,...fj->...kf", table, frames * window.astype(np.float64))
        result = result / np.sqrt(size) if self.normalized.value.data else result
        return cast_once(np.stack([result.real, result.imag], -1), data.dtype)

    def compute(self, build: TopiBuilder) -> Sequence[SSAValue]:
        """Builds the sums over the window for both parts."""
        data, window, shape = build.operand(0), build.operand(1), build.result_shape
        real, length, hop = build.element(data), self.win_length.value.data, self.hop_length.value.data
        roots = _Roots(build, length, real, turn=-1)

        def add(b: Body) -> SSAValue:
            *batch, frequency, frame, part = b.spatial
            (place,) = b.reduction
            value = b.times(b.read(window, place), b.read(data, *batch, frame * hop + place))
            root = b.choose(part, roots.read(b, frequency, place))
            return b.accumulate_product(b.accumulators[0], value, root)

        total = build.compute("stft_sum", shape, real, add, reduce={"j": length}, init=[0.0])
        if not self.normalized.value.data:
            return [total]
        root = sqrt(self.n_fft.value.data)

        def divide(b: Body) -> SSAValue:
            return b.divide(b.read(total, *b.spatial), root)

        return [build.compute("stft", shape, real, divide)]

    def gradient(self, of: SSAValue, build: GradientBuilder) -> Gradients:
        """Returns the gradients of data and window.

        With g the gradient of the windowed frames, that of an element sums g times the window over the frames that
        contain it, and that of the window sums g times the frames over all frames.
        """
        size, length = self.n_fft.value.data, self.win_length.value.data
        rank = len(build.shape(self.data))
        angles = 2 * np.pi / length * np.outer(np.arange(self._frequencies), np.arange(length))
        scale = 1 / np.sqrt(size) if self.normalized.value.data else 1.0
        # Converts (…, frequencies, frames, 2) to real and imaginary parts of shape (…, frames, frequencies).
        places = (build.constant(np.array(number, np.int64)) for number in range(2))
        parts = [build.op("take", of, place, axis=-1) for place in places]
        order = [*range(rank - 1), rank, rank - 1]
        real, imaginary = (build.op("transpose", part, axes=order) for part in parts)
        of_real = build.op("nn.matmul", real, build.constant(np.cos(angles) * scale, real))
        of_imaginary = build.op("nn.matmul", imaginary, build.constant(np.sin(angles) * scale, real))
        given = build.op("subtract", of_real, of_imaginary)
        frames, numbers = (self._frames(value, build) for value in (self.data, numbered(self.data, build)))
        of_window = build.op("sum", build.op("multiply", given, frames), axis=list(range(rank)))
        return [sum_by_number(numbers, build.op("multiply", given, self.window), self.data, build), of_window]

    def _frames(self, value: SSAValue, build: GradientBuilder) -> SSAValue:
        """Returns the frames of a signal, cut to the length of the window."""
        axis, length = len(build.shape(value)) - 1, self.win_length.value.data
        window, strides = [self.n_fft.value.data], [self.hop_length.value.data]
        whole = build.op("sliding_window", value, axis=axis, window_shape=window, strides=strides)
        return build.op("strided_slice", whole, begin=[0], end=[length], axes=[axis + 1])


class _Roots:
    """The roots of unity for a length: tables of their real and imaginary parts."""

    def __init__(self, build: TopiBuilder, length: Dim, real: Attribute, *, turn: float):
        from xdsl.dialects import math

        self._length = length

        def part(function: type[math.CosOp | math.SinOp]) -> Callable[[Body], SSAValue]:
            def fill(b: Body) -> SSAValue:
                way = b.times(b.number(b.spatial[0], f64), turn * 2 * pi)
                return b.convert(b.add(function(b.divide(way, b.size(length, f64)))), real)

            return fill

        functions = (math.CosOp, math.SinOp)
        self._parts = [build.compute("roots", {"m": length}, real, part(function)) for function in functions]

    def read(self, b: Body, row: AffineExpr, column: AffineExpr) -> tuple[SSAValue, SSAValue]:
        """Returns both parts of the primitive root to the power of the product of two indices."""
        from xdsl.dialects import arith

        product = b.times(b.index(row), b.index(column))
        place = b.as_index(b.add(arith.RemUIOp(product, b.size(self._length, IndexType()))))
        cos, sin = (b.read(part, place) for part in self._parts)
        return cos, sin
