"""Fourier transforms: sums of products with tables of the roots of unity."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import pi, sqrt

from xdsl.dialects import arith, math
from xdsl.dialects.builtin import IndexType, f64
from xdsl.ir import Attribute, SSAValue
from xdsl.ir.affine import AffineExpr

from xrelay.dialects.relay.computes.builder import TopiBuilder, element_of
from xrelay.dialects.relay.computes.half_precision import in_single
from xrelay.dialects.relay.computes.scalars import as_number, chosen
from xrelay.dialects.relay.ops.tensor_fourier import DFTOp, STFTOp
from xrelay.dialects.topi.build import Body, variables
from xrelay.dialects.topi.scalars import convert_scalar
from xrelay.dialects.topi.shapes import shape_of
from xrelay.index_algebra.dims import Dim
from xrelay.lowering.relay_to_topi.registry import implements


class _Roots:
    """The roots of unity for a length: tables of their real and imaginary parts."""

    def __init__(self, emitter: TopiBuilder, length: Dim, real: Attribute, *, turn: float):
        self._length = length

        def part(function: type[math.CosOp | math.SinOp]) -> Callable[[Body], SSAValue]:
            def fill(b: Body) -> SSAValue:
                way = b.times(as_number(b, b.spatial[0], f64), b.constant(turn * 2 * pi, f64))
                return convert_scalar(b, b.add(function(b.divide(way, b.size(length, f64)))), real)

            return fill

        self._parts = [
            emitter.compute("roots", {"m": length}, real, part(function)) for function in (math.CosOp, math.SinOp)
        ]

    def read(self, b: Body, row: AffineExpr, column: AffineExpr) -> tuple[SSAValue, SSAValue]:
        """Returns both parts of the primitive root to the power of the product of two indices."""
        product = b.times(b.index(row), b.index(column))
        place = b.as_index(b.add(arith.RemUIOp(product, b.size(self._length, IndexType()))))
        cos, sin = (b.read(part, place) for part in self._parts)
        return cos, sin


@implements(DFTOp, "dft.generic")
@in_single
def build_dft(emitter: TopiBuilder) -> Sequence[SSAValue]:
    """Emits the real and imaginary parts of sums of complex products."""
    re, im = emitter.operand(0), emitter.operand(1)
    shape, real, inverse = shape_of(re), element_of(re), emitter.flag("inverse")
    roots, names = _Roots(emitter, shape[-1], real, turn=1 if inverse else -1), variables("i", shape)

    def part(number: int) -> SSAValue:
        def add(b: Body) -> SSAValue:
            at = (*b.spatial[:-1], b.reduction[0])
            x, y = b.read(re, *at), b.read(im, *at)
            cos, sin = roots.read(b, b.spatial[-1], b.reduction[0])
            if number:
                return b.accumulate(b.accumulators[0], b.plus(b.times(x, sin), b.times(y, cos)))
            return b.accumulate(b.accumulators[0], b.minus(b.times(x, cos), b.times(y, sin)))

        total = emitter.compute("dft_sum", names, real, add, reduce={"j": shape[-1]}, init=[0.0])
        if not inverse:
            return total
        return emitter.compute(
            "dft", names, real, lambda b: b.divide(b.read(total, *b.spatial), b.size(shape[-1], real))
        )

    return [part(0), part(1)]


@implements(STFTOp, "stft.generic")
@in_single
def build_stft(emitter: TopiBuilder) -> Sequence[SSAValue]:
    """Emits the sums over the window for both parts."""
    data, window = emitter.operand(0), emitter.operand(1)
    real, length, hop = element_of(data), emitter.integer("win_length"), emitter.integer("hop_length")
    roots = _Roots(emitter, length, real, turn=-1)

    def add(b: Body) -> SSAValue:
        *batch, frequency, frame, part = b.spatial
        (place,) = b.reduction
        value = b.times(b.read(window, place), b.read(data, *batch, frame * hop + place))
        root = chosen(b, part, roots.read(b, frequency, place))
        return b.accumulate_product(b.accumulators[0], value, root)

    names = variables("i", emitter.result_shape)
    total = emitter.compute("stft_sum", names, real, add, reduce={"j": length}, init=[0.0])
    if not emitter.flag("normalized"):
        return [total]
    root = sqrt(emitter.integer("n_fft"))
    return [emitter.compute("stft", names, real, lambda b: b.divide(b.read(total, *b.spatial), b.constant(root, real)))]
