"""`topi.matmul`, a product with a transposed, possibly packed weight, and `topi.batch_matmul` on stacks of matrices."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import BoolAttr, TensorType
from xdsl.ir import Attribute, SSAValue
from xdsl.ir.affine import AffineExpr
from xdsl.irdl import ParsePropInAttrDict, irdl_op_definition, operand_def, prop_def, result_def, traits_def
from xdsl.traits import Pure
from xdsl.utils.exceptions import VerifyException

from xrelay.dialects.topi.build import Body, IndexLike, compute, variables
from xrelay.dialects.topi.named.base import Expansion, NamedOp, add_product, verify_product_types, verify_ranks
from xrelay.dialects.topi.shapes import shape_list, shape_of, tensor_type
from xrelay.index_algebra.dims import Dim, DimExpr, Shape, broadcast, certainly_differ


@irdl_op_definition
class MatmulOp(NamedOp):
    """Rows of data times rows of the weight: `result[…, j] = Σ_k data[…, k] * weight[j, k]`.

    The weight is N×K, or packed (N/b)×K×b with `weight[j // b, k, j % b]`: then b neighbouring columns of the result
    are contiguous and form a vector. Or it is (N/b)×(K/t)×b×t with `weight[j // b, k // t, j % b, k % t]`: then the t
    products that one instruction sums are contiguous, too. The last block of a packed weight may have more columns than
    the result.

    - C1: data and result have the same rank, at least 1; weight has rank 2, or 3 or 4 if it is packed.
    - C2: data's last dimension is the weight's K.
    - C3: the result's shape is data's with the last dimension replaced by the weight's N. If the weight is packed, the
      last dimension rounded up to whole blocks is N.
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
        # A partial last block has as many columns as the result needs.
        columns = result[-1]
        if self.block is not None and isinstance(columns, int):
            columns = -(-columns // self.block) * self.block
        if any(map(certainly_differ, (*result[:-1], columns), expected)):
            raise VerifyException(f"[{self.name} C3] result has shape {shape_list(result)}, not {shape_list(expected)}")
        types = [tensor_type(value).element_type for value in (self.data, self.weight, self.tensor)]
        verify_product_types(self.name, "C4", *types)

    def expand(self) -> Expansion:
        """Expands to one compute; splitting the column loop simplifies the indices of a packed weight."""
        element = tensor_type(self.tensor).element_type
        block, terms = self.block, self.terms

        def body(b: Body) -> list[SSAValue]:
            *rows, j = b.spatial
            k, *term = b.reduction
            a = b.read(self.data, *rows, k * terms + term[0] if term else k)
            f = b.read(self.weight, j, k) if block is None else b.read(self.weight, j // block, k, j % block, *term)
            return add_product(b, a, f)

        reduce: dict[str, Dim] = {"k": shape_of(self.data)[-1]}
        if len(shape_of(self.weight)) == 4:
            reduce = {"k": shape_of(self.weight)[1], "t": terms}
        return Expansion().finish(
            compute("matmul", rows_and_columns(self.tensor), [element], body, reduce=reduce, init=[0])
        )


def rows_and_columns(result: SSAValue) -> dict[str, Dim]:
    """Returns the spatial variables of the product of rows and a matrix: `i` or several for the rows, and `j`."""
    *rows, columns = shape_of(result)
    return {**(variables("i", rows) if len(rows) != 1 else {"i": rows[0]}), "j": columns}


FALSE = BoolAttr.from_bool(False)


@irdl_op_definition
class BatchMatmulOp(NamedOp):
    """Matrix products along the last two axes: `result[…, i, j] = Σ_k left[…, i, k] * right[…, k, j]`.

    A transposed operand has these two axes in the other order. The axes before them enumerate the matrices of a stack;
    they broadcast against each other as in numpy, and an operand may have fewer of them. An empty sum is 0.

    - C1: left and right have at least two axes each.
    - C2: left's depth is right's depth.
    - C3: the stacks broadcast; the result's shape is theirs, then left's rows, then right's columns.
    - C4: left and right have the same element type; the result has the same or a wider type of its kind.

    ```mlir
    func.func @scores(%q: tensor<12x128x64xf32>, %k: tensor<12x128x64xf32>) -> tensor<12x128x128xf32> {
      %r = topi.batch_matmul(%q, %k) {transpose_right = true}
           : (tensor<12x128x64xf32>, tensor<12x128x64xf32>) -> tensor<12x128x128xf32>
      func.return %r : tensor<12x128x128xf32>
    }
    ```
    """

    name = "topi.batch_matmul"

    left = operand_def(TensorType)
    right = operand_def(TensorType)
    transpose_left = prop_def(BoolAttr, default_value=FALSE)
    transpose_right = prop_def(BoolAttr, default_value=FALSE)
    tensor = result_def(TensorType)

    irdl_options = (ParsePropInAttrDict(),)
    traits = traits_def(Pure())
    assembly_format = "`(` $left `,` $right `)` attr-dict `:` functional-type(operands, results)"

    def __init__(
        self,
        left: SSAValue,
        right: SSAValue,
        result_type: Attribute,
        *,
        transpose_left: bool = False,
        transpose_right: bool = False,
    ):
        flags = {"transpose_left": transpose_left, "transpose_right": transpose_right}
        super().__init__(
            operands=[left, right],
            properties={name: BoolAttr.from_bool(flag) for name, flag in flags.items()},
            result_types=[result_type],
        )

    @property
    def rows_and_depth(self) -> Shape:
        """The last two extents of left, rows first."""
        return _matrix(shape_of(self.left), transposed=bool(self.transpose_left))

    @property
    def depth_and_columns(self) -> Shape:
        """The last two extents of right, depth first."""
        return _matrix(shape_of(self.right), transposed=bool(self.transpose_right))

    def verify_(self) -> None:
        """Checks C1 to C4."""
        left, right, result = shape_of(self.left), shape_of(self.right), shape_of(self.tensor)
        if min(len(left), len(right)) < 2:
            raise VerifyException(
                f"[{self.name} C1] left has rank {len(left)}, right has rank {len(right)}; both need at least two axes"
            )
        (rows, depth), (other, columns) = self.rows_and_depth, self.depth_and_columns
        if certainly_differ(depth, other):
            raise VerifyException(f"[{self.name} C2] left has a depth of {depth}, right of {other}")
        stacks = _broadcast(left[:-2], right[:-2])
        if stacks is None:
            raise VerifyException(
                f"[{self.name} C3] stacks {shape_list(left[:-2])} and {shape_list(right[:-2])} do not broadcast"
            )
        expected = (*stacks, rows, columns)
        if len(result) != len(expected) or any(map(certainly_differ, result, expected)):
            raise VerifyException(f"[{self.name} C3] result has shape {shape_list(result)}, not {shape_list(expected)}")
        types = [tensor_type(value).element_type for value in (self.left, self.right, self.tensor)]
        verify_product_types(self.name, "C4", *types)

    def expand(self) -> Expansion:
        """Expands to one compute; the schedule handles operands with an unfavourable layout."""
        *stacks, rows, columns = shape_of(self.tensor)
        element = tensor_type(self.tensor).element_type
        flips = [bool(flag) for flag in (self.transpose_left, self.transpose_right)]

        def body(b: Body) -> list[SSAValue]:
            *at, i, j = b.spatial
            (k,) = b.reduction
            left, right = (
                b.read(value, *stack_index(b, shape_of(value), stacks, at), *(reversed(matrix) if flip else matrix))
                for value, matrix, flip in zip((self.left, self.right), ((i, k), (k, j)), flips, strict=True)
            )
            return add_product(b, left, right)

        spatial = {**variables("b", stacks), "i": rows, "j": columns}
        depth = self.rows_and_depth[1]
        return Expansion().finish(compute("batch_matmul", spatial, [element], body, reduce={"k": depth}, init=[0]))


def _matrix(shape: Shape, *, transposed: bool) -> Shape:
    """The last two extents, in the order of the product."""
    return shape[-2:][::-1] if transposed else shape[-2:]


def _broadcast(left: Shape, right: Shape) -> Shape | None:
    """The shape to which two shapes broadcast; None if they are known not to."""
    rank = max(len(left), len(right))
    pairs = zip((1,) * (rank - len(left)) + left, (1,) * (rank - len(right)) + right, strict=True)
    found = [(a, b) for a, b in pairs]
    if any(certainly_differ(a, b) and 1 not in (a, b) and isinstance(a, int) and isinstance(b, int) for a, b in found):
        return None
    return tuple(broadcast(a, b) for a, b in found)


def stack_index(b: Body, shape: Shape, stacks: Sequence[Dim], at: list[AffineExpr]) -> list[IndexLike]:
    """The indices at which an operand of `shape` is read at position `at` of the broadcast stacks."""
    own = shape[:-2]
    first = len(at) - len(own)
    return [
        b.broadcast(index, *pair) for index, pair in zip(at[first:], zip(own, stacks[first:], strict=True), strict=True)
    ]
