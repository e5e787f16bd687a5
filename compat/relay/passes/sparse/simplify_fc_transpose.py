"""`relay-simplify-fc-transpose`: replaces transposed weights of dense layers by transposed parameters.

If the weight of a dense layer is the transpose of a parameter in `target-weight-name`, a new parameter with the suffix
`.T` replaces the transpose, so that it is not computed in every run. New parameters are added after all others; the old
parameter is removed if it is unused. The caller must pass the transposed arrays, which
`relay.data_dep_optimization.simplify_fc_transpose` computes. Exact, except for the parameters. This is Relay's
SimplifyFCTranspose.

Before, with `target-weight-name="w"`:

    func.func @main(%x: tensor<1x32xf32>, %w: tensor<32x64xf32>) -> tensor<1x64xf32> {
      %t = relay.transpose(%w) {axes = [1, 0]} : (tensor<32x64xf32>) -> tensor<64x32xf32>
      %y = relay.nn.dense(%x, %t) : (tensor<1x32xf32>, tensor<64x32xf32>) -> tensor<1x64xf32>

After:

    func.func @main(%x: tensor<1x32xf32>, %w.T: tensor<64x32xf32>) -> tensor<1x64xf32> {
      %y = relay.nn.dense(%x, %w.T) : (tensor<1x32xf32>, tensor<64x32xf32>) -> tensor<1x64xf32>

Functions that other functions call, and kernels, are not changed.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp
from xdsl.ir import SSAValue
from xdsl.rewriter import Rewriter

from xrelay.dialects.relay.ops.nn.dense import DenseOp
from xrelay.dialects.relay.ops.tensor.transform import TransposeOp
from xrelay.dialects.shared.types import is_complete
from xrelay.passes.graph.remarks import Remarks, report
from xrelay.passes.graph.rewriting import owner_of
from xrelay.passes.infra.verify import walk_ops
from xrelay.passes.infra.xrelay_pass import EXACT, XRelayPass
from xrelay.relay.passes.sparse.sparse_weights import Parameters, free_functions


@dataclass(frozen=True)
class RelaySimplifyFcTransposePass(XRelayPass):
    """Replaces transposed weights of dense layers by transposed parameters; see the module's docstring."""

    name = "relay-simplify-fc-transpose"
    numerics = EXACT

    target_weight_name: tuple[str, ...] = field(
        default=(), metadata={"help": "the parameters that the caller will pass transposed"}
    )

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Rewrites the module in place."""
        simplify_transposes(op, self.target_weight_name)


def simplify_transposes(module: ModuleOp, names: Sequence[str]) -> None:
    """Rewrites `module`, and reports remarks on the changed layers."""
    remarks = Remarks(RelaySimplifyFcTransposePass.name)
    for function in free_functions(module):
        parameters, replaced = Parameters(function), list[SSAValue]()
        for dense, transpose, weight in _transposes(function):
            name = parameters.name_of(weight)
            if name is None or name not in names:
                continue
            dense.operands[1] = parameters.add(f"{name}.T", transpose.result.type)
            remarks.applied(dense, f"its weight is the parameter {name}.T")
            replaced.append(weight)
            if transpose.result.first_use is None:
                Rewriter.erase_op(transpose)
        if replaced:
            parameters.finish(replaced)
    report(remarks.all)


def transposed_parameters(function: FuncOp) -> list[str]:
    """The names of the parameters whose transposes are weights of dense layers, in program order."""
    parameters = Parameters(function)
    found = (parameters.name_of(weight) for _, _, weight in _transposes(function))
    return list(dict.fromkeys(name for name in found if name is not None))


def _transposes(function: FuncOp) -> list[tuple[DenseOp, TransposeOp, SSAValue]]:
    """The dense layers whose weight is the transpose of a matrix, with the transpose and the matrix."""
    found = list[tuple[DenseOp, TransposeOp, SSAValue]]()
    for op in walk_ops(function):
        if not isinstance(op, DenseOp):
            continue
        transpose = owner_of(op.weight, TransposeOp)
        if transpose is not None and is_complete(transpose.result.type) and transpose.permutation(2) == (1, 0):
            found.append((op, transpose, transpose.data))
    return found
