"""`get_calibration_data`: the inputs and outputs of functions for external compilers in one run."""

from __future__ import annotations

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
from xrelay.dialects.relay.structure.call import AnyCall, callee_name, is_call
from xrelay.dialects.shared.attribute_names import COMPILER
from xrelay.dialects.shared.locations import location_of
from xrelay.errors import InputError
from xrelay.passes.graph.tuple_leaves import leaf_types, take_apart
from xrelay.passes.infra.verify import walk_ops
from xrelay.relay.nodes import GlobalVar

MAIN: Final = "main"


def get_calibration_data(mod: ModuleOp, data: Mapping[str, object]) -> dict[GlobalVar, dict[str, list[Tensor]]]:
    """Returns the `inputs` and `outputs` of each function with `Compiler` when `@main` runs on `data`.

    `data` maps input names to arrays. A tuple is the list of its fields. Raises `InputError` if there is no `@main`, or
    if it calls such a function twice or in a branch, loop or closure: then the values are not those of one call. Raises
    the errors of `compile`.
    """
    module = mod.clone()
    functions = {op.sym_name.data: op for op in module.ops if isinstance(op, FuncOp)}
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
