"""Analyses of modules: operators, calls, fused functions, and values of functions for external compilers in one run."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import islice
from typing import Final

import numpy as np
from xdsl.dialects.builtin import FunctionType, ModuleOp
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import SSAValue
from xdsl.rewriter import InsertPoint, Rewriter

from xrelay.api.arrays import Tensor, arrays_by_name
from xrelay.api.compile import compile
from xrelay.dialects.relay.core.op_base import RelayOp
from xrelay.dialects.relay.core.registry import relay_ops
from xrelay.dialects.relay.ops.qnn.quantize import DequantizeOp, QuantizeOp
from xrelay.dialects.relay.structure.call import AnyCall, callee_name, is_call
from xrelay.dialects.relay.structure.constant import ConstantOp
from xrelay.dialects.relay.structure.tuples import TupleGetItemOp, TupleOp
from xrelay.dialects.shared.attribute_names import COMPILER, PRIMITIVE
from xrelay.dialects.shared.locations import location_of
from xrelay.errors import InputError, did_you_mean
from xrelay.passes.functions.remove_unused_functions import remove_unused_functions
from xrelay.passes.fusion.fuse_ops import RelayFuseOpsPass
from xrelay.passes.fusion.outline_fused import RelayOutlineFusedPass
from xrelay.passes.graph.calls import callees_first, calls_in, functions_of, mentioned_symbols
from xrelay.passes.graph.tuple_leaves import leaf_types, take_apart
from xrelay.passes.infra.digraph import nodes_on_cycles
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
    functions = functions_of(module).items()
    return {name: Function.of_func(function) for name, function in functions if PRIMITIVE in function.attributes}


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


class CallGraph:
    """The calls between the functions of `module` at construction.

    Functions are given by name or global variable. Raises `InputError` if the module has no such function. `str` lists
    each function with its callees, callers before callees.
    """

    def __init__(self, module: ModuleOp):
        self.module = module
        functions = functions_of(module)
        self._calls = {name: calls_in(function, functions) for name, function in functions.items()}
        self._references = Counter(
            name for function in functions.values() for name in mentioned_symbols(function) if name in functions
        )

    def ref_count(self, var: GlobalVar | str) -> int:
        """Returns the number of references to the function in the module."""
        return self._references[self._name(var)]

    def global_call_count(self, var: GlobalVar | str) -> int:
        """Returns the number of calls of functions of the module in the function."""
        return sum(self._calls[self._name(var)].values())

    def is_recursive(self, var: GlobalVar | str) -> bool:
        """Returns whether the function may call itself, directly or indirectly."""
        return self._name(var) in nodes_on_cycles(self._calls)

    def print_var(self, var: GlobalVar | str) -> str:
        """Returns the function, its number of references and its callees as text."""
        name = self._name(var)
        lines = [f"@{name}: #refs = {self._references[name]}"]
        lines += [f"  calls @{callee}: {count}" for callee, count in self._calls[name].items()]
        return "\n".join(lines)

    def __str__(self) -> str:
        return "\n".join(self.print_var(name) for name in reversed(callees_first(self._calls)))

    def _name(self, var: GlobalVar | str) -> str:
        name = str(var).removeprefix("@")
        if name not in self._calls:
            hint = did_you_mean(name, self._calls, f"it has {', '.join(self._calls) or 'none'}")
            raise InputError(f"the module has no function @{name}", help=hint)
        return name


MAIN: Final = "main"


def get_calibration_data(mod: ModuleOp, data: Mapping[str, object]) -> dict[GlobalVar, dict[str, list[Tensor]]]:
    """Returns the `inputs` and `outputs` of each function with `Compiler` when `@main` runs on `data`.

    `data` maps input names to arrays. A tuple is the list of its fields. Raises `InputError` if there is no `@main`, or
    if it calls such a function twice or in a branch, loop or closure: then the values are not those of one call. Raises
    the errors of `compile`.
    """
    module = mod.clone()
    functions = functions_of(module)
    main = functions.get(MAIN)
    if main is None or main.is_declaration:
        raise InputError("the module has no function @main with a body", help="calibration runs @main")
    calls = _calls(main, {name for name, function in functions.items() if COMPILER in function.attributes})
    if not calls:
        return {}
    return_values(main, [value for call in calls for value in (*call.arguments, *call.results)])
    arrays = iter([np.asarray(array).view(Tensor) for array in compile(module).run(arrays_by_name(data))])
    found: dict[GlobalVar, dict[str, list[Tensor]]] = {}
    for name in map(callee_name, calls):
        type = functions[name].function_type
        found[GlobalVar(name, type)] = {
            "inputs": list(islice(arrays, len(leaf_types(type.inputs.data)))),
            "outputs": list(islice(arrays, len(leaf_types(type.outputs.data)))),
        }
    return found


def _calls(main: FuncOp, names: set[str]) -> list[AnyCall]:
    """Returns the calls of these functions in `main`. Raises `InputError` if one is called twice or conditionally."""
    calls = [op for op in walk_ops(main) if is_call(op) and callee_name(op) in names]
    seen: set[str] = set()
    for call in calls:
        name = callee_name(call)
        if call.parent is not main.body.block or name in seen:
            what = "is called twice" if name in seen else "is called conditionally"
            raise InputError(f"@{name} {what}", location=location_of(call), help="calibration supports one call of it")
        seen.add(name)
    return calls


def return_values(main: FuncOp, values: Sequence[SSAValue]) -> None:
    """Makes `main` return `values` of its block, with tuples flattened. Changes the program."""
    block, end = main.body.block, main.body.block.last_op
    if end is None:
        raise InputError("@main has no terminator", location=location_of(main))
    given: list[SSAValue] = []
    for value in values:
        leaves, ops = take_apart(value)
        Rewriter.insert_op(ops, InsertPoint.before(end))
        given += leaves
    Rewriter.replace_op(end, ReturnOp(*given), [])
    main.function_type = FunctionType.from_lists(list(block.arg_types), [value.type for value in given])
    main.res_attrs = None
