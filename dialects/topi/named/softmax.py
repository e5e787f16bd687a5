"""`topi.softmax`: exponentials that sum to one along an axis."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from math import e, log2
from typing import Final

from xdsl.dialects import math
from xdsl.dialects.builtin import AnyFloat, BoolAttr, IntegerAttr, IntegerType, TensorType, UnitAttr, i64
from xdsl.ir import Attribute, SSAValue
from xdsl.ir.affine import AffineExpr
from xdsl.irdl import ParsePropInAttrDict, irdl_op_definition, operand_def, prop_def, result_def, traits_def
from xdsl.traits import Pure
from xdsl.utils.exceptions import VerifyException

from xrelay.dialects.shared.attribute_names import MATERIALIZED
from xrelay.dialects.topi.build import Body, compute, lowest, variables
from xrelay.dialects.topi.compute import ComputeOp
from xrelay.dialects.topi.named.base import Expansion, NamedOp
from xrelay.dialects.topi.shapes import bit_width, shape_of, tensor_type

LOG2_E: Final = log2(e)
SINGLE_BITS: Final = 32
"""The number of bits of an f32."""


@irdl_op_definition
class SoftmaxOp(NamedOp):
    """`exp(x - max) / Σ exp(x - max)`, maximum and sum along `axis`.

    A row with a NaN is NaN. Floats of at most 32 bits are computed as `2^((x - max) / ln 2)`, since powers of 2 take
    fewer instructions; the error of `(x - max) / ln 2` is no greater than that of `x - max`. With `log`, the result is
    the logarithm, `x - max - log Σ exp(x - max)`.

    - C1: result and data have the same float type.
    - C2: 0 <= axis < rank.

    ```mlir
    func.func @softmax(%x: tensor<4x10xf32>) -> tensor<4x10xf32> {
      %r = topi.softmax(%x) {axis = 1 : i64} : (tensor<4x10xf32>) -> tensor<4x10xf32>
      func.return %r : tensor<4x10xf32>
    }
    ```
    """

    name = "topi.softmax"

    data = operand_def(TensorType)
    axis = prop_def(IntegerAttr[IntegerType])
    log = prop_def(BoolAttr, default_value=BoolAttr.from_bool(False))
    tensor = result_def(TensorType)

    irdl_options = (ParsePropInAttrDict(),)
    traits = traits_def(Pure())
    assembly_format = "`(` $data `)` attr-dict `:` functional-type(operands, results)"

    def __init__(self, data: SSAValue, axis: int, result_type: Attribute, *, log: bool = False):
        properties = {"axis": IntegerAttr(axis, i64), "log": BoolAttr.from_bool(log)}
        super().__init__(operands=[data], properties=properties, result_types=[result_type])

    def verify_(self) -> None:
        """Checks C1 and C2."""
        data = tensor_type(self.data)
        if data != self.tensor.type or not isinstance(data.element_type, AnyFloat):
            raise VerifyException(
                f"[{self.name} C1] operand {data} and result {self.tensor.type} must have the same float type"
            )
        if not 0 <= self.axis.value.data < data.get_num_dims():
            raise VerifyException(
                f"[{self.name} C2] axis {self.axis.value.data} of a tensor of rank {data.get_num_dims()}"
            )

    def expand(self) -> Expansion:
        """Expands to five computes: maximum, exponentials, their sum, its reciprocal, and the products.

        One division per row: dividing a vector takes a core as long as eight multiplications. With `log`, the last two
        are the logarithm of the sum, and differences. The exponentials are kept in memory, since vectors of them take
        fewer instructions than those in the loop of a sum, whose terms may be no multiple of a vector.
        """
        expansion = Expansion()
        element = tensor_type(self.data).element_type
        largest = expansion.add(self._fold("softmax_max", self.data, lowest(element)))
        exponentials = expansion.add(self._exponentials(largest))
        total = expansion.add(self._fold("softmax_sum", exponentials, 0))
        if self.log:
            return expansion.finish(self._differences(largest, expansion.add(self._logarithm(total))))
        scale = expansion.add(self._reciprocal(total))
        return expansion.finish(self._products(exponentials, scale))

    def _fold(self, label: str, source: SSAValue, first: float) -> ComputeOp:
        """The maximum (first value below all) or the sum (first value 0) along the axis."""
        axis, shape = self.axis.value.data, shape_of(self.data)
        element = tensor_type(self.data).element_type

        def body(b: Body) -> list[SSAValue]:
            value = b.read(source, *b.spatial[:axis], b.reduction[0], *b.spatial[axis:])
            add = b.accumulate if first == 0 else partial(b.largest, is_number=True)
            return [add(b.accumulators[0], value)]

        sizes = variables("i", shape)
        spatial = {name: size for i, (name, size) in enumerate(sizes.items()) if i != axis}
        return compute(label, spatial, [element], body, reduce={"k": shape[axis]}, init=[first])

    def _without_axis(self, indices: tuple[AffineExpr, ...]) -> tuple[AffineExpr, ...]:
        axis = self.axis.value.data
        return indices[:axis] + indices[axis + 1 :]

    def _exponentials(self, largest: SSAValue) -> ComputeOp:
        def body(b: Body) -> list[SSAValue]:
            value, peak = b.read(self.data, *b.spatial), b.read(largest, *self._without_axis(b.spatial))
            below = b.minus(value, peak)
            if bit_width(below.type) > SINGLE_BITS:
                return [b.add(math.ExpOp(below))]
            return [b.add(math.Exp2Op(b.times(below, LOG2_E)))]

        op = self._elementwise("softmax_exp", body)
        if self.log:
            op.attributes[MATERIALIZED] = UnitAttr()
        return op

    def _reciprocal(self, total: SSAValue) -> ComputeOp:
        element = tensor_type(self.data).element_type

        def body(b: Body) -> list[SSAValue]:
            return [b.divide(b.constant(1, element), b.read(total, *b.spatial))]

        return compute("softmax_scale", variables("i", shape_of(total)), [element], body)

    def _products(self, exponentials: SSAValue, scale: SSAValue) -> ComputeOp:
        def body(b: Body) -> list[SSAValue]:
            return [b.times(b.read(exponentials, *b.spatial), b.read(scale, *self._without_axis(b.spatial)))]

        return self._elementwise("softmax", body)

    def _logarithm(self, total: SSAValue) -> ComputeOp:
        def body(b: Body) -> list[SSAValue]:
            return [b.add(math.LogOp(b.read(total, *b.spatial)))]

        return compute("softmax_log", variables("i", shape_of(total)), [tensor_type(total).element_type], body)

    def _differences(self, largest: SSAValue, logarithm: SSAValue) -> ComputeOp:
        def body(b: Body) -> list[SSAValue]:
            value, row = b.read(self.data, *b.spatial), self._without_axis(b.spatial)
            return [b.minus(b.minus(value, b.read(largest, *row)), b.read(logarithm, *row))]

        return self._elementwise("log_softmax", body)

    def _elementwise(self, label: str, body: Callable[[Body], list[SSAValue]]) -> ComputeOp:
        return compute(label, variables("i", shape_of(self.data)), [tensor_type(self.data).element_type], body)
