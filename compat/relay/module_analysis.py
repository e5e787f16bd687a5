"""Analyses of modules: frequencies of operators, fused functions, extraction of subprograms."""

from __future__ import annotations

from collections import Counter

from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp

from xrelay.dialects.relay.core.op_base import RelayOp
from xrelay.dialects.relay.core.registry import relay_ops
from xrelay.dialects.relay.ops.qnn.quantize import DequantizeOp, QuantizeOp
from xrelay.dialects.relay.structure.constant import ConstantOp
from xrelay.dialects.relay.structure.tuples import TupleGetItemOp, TupleOp
from xrelay.dialects.shared.attribute_names import PRIMITIVE
from xrelay.errors import InputError
from xrelay.passes.functions.remove_unused_functions import remove_unused_functions
from xrelay.passes.fusion.fuse_ops import RelayFuseOpsPass
from xrelay.passes.fusion.outline_fused import RelayOutlineFusedPass
from xrelay.passes.infra.pipeline import run_pipeline
from xrelay.passes.infra.source import full_context
from xrelay.passes.infra.verify import walk_ops
from xrelay.passes.relay.simplify_inference import RelaySimplifyInferencePass
from xrelay.passes.types.infer_type import RelayInferTypePass
from xrelay.relay.expr import Expr
from xrelay.relay.function import Function
from xrelay.relay.module import IRModule
from xrelay.relay.nodes import Call, GlobalVar, Tuple, TupleGetItem, post_order_visit


def list_op_freqs(mod: ModuleOp) -> dict[str, int]:
    """Returns the number of occurrences of each operator in a module, including fused groups, by Relay's name."""
    operators = set(relay_ops().values())
    found = (op for op in walk_ops(mod) if isinstance(op, RelayOp) and type(op) in operators)
    return dict(Counter(op.relay_name() for op in found))


def list_fake_quantized_op_freqs(mod: ModuleOp) -> dict[str, int]:
    """Returns the number of occurrences of each operator in fake-quantised regions, by Relay's name.

    A region contains the ops between `qnn.dequantize`s and one `qnn.quantize`. A region with other inputs than
    dequantised values and constants, or with control flow, is not counted.
    """
    found: Counter[str] = Counter()
    for op in walk_ops(mod):
        if isinstance(op, QuantizeOp):
            found.update(one.relay_name() for one in _fake_quantized_region(op))
    return dict(found)


def _fake_quantized_region(quantize: QuantizeOp) -> list[RelayOp]:
    """Returns the operators between `quantize` and the preceding `qnn.dequantize`s; iterative."""
    operators = {*relay_ops().values(), TupleOp, TupleGetItemOp}
    region: dict[RelayOp, None] = {}
    pending = [quantize.operands[0]]
    while pending:
        owner = pending.pop().owner
        if isinstance(owner, DequantizeOp | ConstantOp):
            continue
        if not isinstance(owner, RelayOp) or type(owner) not in operators:
            return []
        if owner not in region:
            region[owner] = None
            pending += owner.operands[:1] if isinstance(owner, QuantizeOp) else owner.operands
    return [op for op in region if not isinstance(op, QuantizeOp | TupleOp | TupleGetItemOp)]


def extract_fused_functions(mod: ModuleOp) -> dict[str, Function]:
    """Returns the functions that `SimplifyInference` and `FuseOps` outline as kernels, by name, without duplicates.

    `mod` is not changed. Raises the errors of these passes, such as for types that cannot be inferred.
    """
    module = mod.clone()
    passes = [RelayInferTypePass(), RelaySimplifyInferencePass(), RelayFuseOpsPass(3), RelayOutlineFusedPass()]
    run_pipeline(module, passes, context=full_context())
    kernels = [op for op in module.ops if isinstance(op, FuncOp) and PRIMITIVE in op.attributes]
    return {kernel.sym_name.data: Function.of_func(kernel) for kernel in kernels}


def extract_intermdeiate_expr(mod: IRModule, expr_id: int) -> IRModule:
    """Returns a module whose `@main` computes expression `expr_id` of `@main` of `mod`. The spelling is Relay's.

    Calls, tuples and tuple fields are numbered from 0 in post-order, as in Relay's text format. The module includes the
    functions of `mod` that the expression calls. Raises `InputError` for a number out of range.
    """
    found: list[Expr] = []
    post_order_visit(
        mod["main"].body, lambda node: found.append(node) if isinstance(node, Call | Tuple | TupleGetItem) else None
    )
    if not 0 <= expr_id < len(found):
        raise InputError(f"@main has no expression {expr_id}", help=f"its expressions are 0 to {len(found) - 1}")
    others: dict[GlobalVar | str, Function | FuncOp] = {}
    others.update((var, function) for var, function in mod.functions.items() if var.name_hint != "main")
    made = IRModule.from_expr(found[expr_id], others)
    remove_unused_functions(made, ["main"])
    return made
