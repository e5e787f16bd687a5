"""`topi.matmul`: the product of a matrix and a transposed, possibly packed, weight."""

from __future__ import annotations

from xdsl.dialects.builtin import TensorType
from xdsl.ir import Attribute, SSAValue
from xdsl.irdl import irdl_op_definition, operand_def, result_def, traits_def
from xdsl.traits import Pure
from xdsl.utils.exceptions import VerifyException

from xrelay.dialects.topi.build import Body, compute, variables
from xrelay.dialects.topi.named.base import Expansion, NamedOp, convert, verify_product_types, verify_ranks
from xrelay.dialects.topi.shapes import shape_list, shape_of, tensor_type
from xrelay.index_algebra.dims import Dim, DimExpr, certainly_differ


@irdl_op_definition
class MatmulOp(NamedOp):
    """Rows of data times rows of the weight: `result[…, j] = Σ_k data[…, k] * weight[j, k]`.

    The weight is N×K, or packed (N/b)×K×b with `weight[j // b, k, j % b]`: then b neighbouring columns of the result
    are contiguous and form a vector. Or it is (N/b)×(K/t)×b×t with `weight[j // b, k // t, j % b, k % t]`: then the t
    products that one instruction sums are contiguous, too.

    - C1: data and result have the same rank, at least 1; weight has rank 2, or 3 or 4 if it is packed.
    - C2: data's last dimension is the weight's K.
    - C3: the result's shape is data's with the last dimension replaced by the weight's N.
    - C4: data and weight have the same element type, and the result has the same or a wider type of its kind; or they
      are ui8, i8 and i32.

    ```mlir
    func.func @dense(%x: tensor<4x8xf32>, %w: tensor<2x8x16xf32>) -> tensor<4x32xf32> {
      %r = topi.matmul(%x, %w) : (tensor<4x8xf32>, tensor<2x8x16xf32>) -> tensor<4x32xf32>
      func.return %r : tensor<4x32xf32>
    }
    ```
    """

    name = "topi.matmul"

    data = operand_def(TensorType)
    weight = operand_def(TensorType)
    tensor = result_def(TensorType)

    traits = traits_def(Pure())
    assembly_format = "`(` $data `,` $weight `)` attr-dict `:` functional-type(operands, results)"

    def __init__(self, data: SSAValue, weight: SSAValue, result_type: Attribute):
        super().__init__(operands=[data, weight], result_types=[result_type])

    @property
    def block(self) -> int | None:
        """The number of packed columns; None for a plain weight."""
        weight = shape_of(self.weight)
        block = weight[2] if len(weight) >= 3 else None
        if isinstance(block, DimExpr):
            raise VerifyException(f"[{self.name} C1] the block of {block} packed columns is unknown")
        return block

    @property
    def terms(self) -> int:
        """The number of contiguous products that are summed together."""
        weight = shape_of(self.weight)
        terms = weight[3] if len(weight) == 4 else 1
        if isinstance(terms, DimExpr):
            raise VerifyException(f"[{self.name} C1] the block of {terms} products is unknown")
        return terms

    def verify_(self) -> None:
        """Checks C1 to C4."""
        data, weight, result = shape_of(self.data), shape_of(self.weight), shape_of(self.tensor)
        rows = [max(1, len(data))]
        verify_ranks(self.name, "C1", [("data", data, rows), ("weight", weight, [2, 3, 4]), ("result", result, rows)])
        depth = weight[1] * self.terms
        if certainly_differ(data[-1], depth):
            raise VerifyException(f"[{self.name} C2] data has rows of {data[-1]} elements, weight of {depth}")
        expected = (*data[:-1], weight[0] * (1 if self.block is None else self.block))
        if any(map(certainly_differ, result, expected)):
            raise VerifyException(f"[{self.name} C3] result has shape {shape_list(result)}, not {shape_list(expected)}")
        types = [tensor_type(value).element_type for value in (self.data, self.weight, self.tensor)]
        verify_product_types(self.name, "C4", *types)

    def expand(self) -> Expansion:
        """Expands to one compute; splitting the column loop simplifies the indices of a packed weight."""
        *rows, columns = shape_of(self.tensor)
        element = tensor_type(self.tensor).element_type
        block, terms = self.block, self.terms

        def body(b: Body) -> list[SSAValue]:
            *rows, j = b.spatial
            k, *term = b.reduction
            a = b.read(self.data, *rows, k * terms + term[0] if term else k)
            f = b.read(self.weight, j, k) if block is None else b.read(self.weight, j // block, k, j % block, *term)
            return [b.accumulate_product(b.accumulators[0], convert(b, a, element), convert(b, f, element))]

        spatial = {**variables("i", rows), "j": columns} if len(rows) != 1 else {"i": rows[0], "j": columns}
        reduce: dict[str, Dim] = {"k": shape_of(self.data)[-1]}
        if len(shape_of(self.weight)) == 4:
            reduce = {"k": shape_of(self.weight)[1], "t": terms}
        return Expansion().finish(compute("matmul", spatial, [element], body, reduce=reduce, init=[0]))
