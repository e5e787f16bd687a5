"""The constants of a model, passed to compiled code as arguments of `@main`, which passes them to its callees."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from xdsl.dialects import func
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Attribute, SSAValue
from xdsl.rewriter import InsertPoint, Rewriter

from xrelay.dialects.loop import WeightOp
from xrelay.dialects.loop.signature import dim_arguments
from xrelay.dialects.shared.attribute_names import ARENA, LOOP_KERNEL
from xrelay.dialects.shared.locations import location_of
from xrelay.dialects.shared.op_lists import ops_of
from xrelay.errors import LoweringError
from xrelay.passes.graph.calls import calls_in
from xrelay.passes.infra.verify import walk_ops
from xrelay.passes.loop.signature import argument_attrs, insert_arguments


def weights_of_main(module: ModuleOp) -> list[tuple[Attribute, Attribute]]:
    """Returns the values and buffer types of the weights of `@main`, in the order of the arguments that they become.

    Each is the attribute of a `loop.weight`; equal weights of equal type share an argument.
    """
    return [key for function in _mains(module) for key in _distinct(_weight_ops(function))]


def weights_to_arguments(function: func.FuncOp) -> None:
    """Replaces each `loop.weight` in `function` with an argument; these arguments precede the arena and the extents.

    Raises `LoweringError` for a function other than `@main`: kernels take weights as ordinary arguments.
    """
    ops = list(_weight_ops(function))
    if not ops:
        return
    if function.sym_name.data != "main":
        raise LoweringError(
            f"@{function.sym_name.data} holds a 'loop.weight'; only @main may", location=location_of(ops[0])
        )
    attrs = argument_attrs(function)
    end = next((n for n, attr in enumerate(attrs) if ARENA in attr), len(attrs) - len(dim_arguments(function)))
    first = _distinct(ops)
    names = [op.result.name_hint for op in first.values()]
    new = insert_arguments(function, end, [type for _, type in first], names)
    arguments = dict(zip(first, new, strict=True))
    for op in ops:
        op.result.replace_all_uses_with(arguments[op.weight, op.result.type])
        op.detach()
        op.erase()


def _distinct(ops: Iterable[WeightOp]) -> dict[tuple[Attribute, Attribute], WeightOp]:
    """Returns the first op of each weight and type, in order."""
    first: dict[tuple[Attribute, Attribute], WeightOp] = {}
    for op in ops:
        first.setdefault((op.weight, op.result.type), op)
    return first


def _mains(module: ModuleOp) -> Iterable[func.FuncOp]:
    return (op for op in module.ops if isinstance(op, func.FuncOp) and op.sym_name.data == "main")


def _weight_ops(function: func.FuncOp) -> Iterable[WeightOp]:
    return ops_of(function, WeightOp)


# --- weights of the functions that `@main` calls

Key = tuple[Attribute, Attribute]
"""The value of a weight and the type of its buffer."""


def take_weights_from_main(module: ModuleOp) -> None:
    """Moves each `loop.weight` of functions that `@main` calls, directly or indirectly, to `@main`.

    The functions get an argument for each weight, before the extents. Kernels stay unchanged.
    """
    functions = {op.sym_name.data: op for op in module.ops if isinstance(op, func.FuncOp) and op.body.blocks}
    graphs = {name: function for name, function in functions.items() if LOOP_KERNEL not in function.attributes}
    callees = {name: list(calls_in(function, graphs)) for name, function in graphs.items()}
    reached = _reached_from("main", callees)
    wanted: dict[str, dict[Key, WeightOp]] = {name: {} for name in reached}
    for name in reached:
        for op in walk_ops(graphs[name]):
            if isinstance(op, WeightOp) and name != "main":
                wanted[name].setdefault((op.weight, op.result.type), op)
    if any(wanted.values()):
        _hand_on(graphs, callees, wanted)


def _reached_from(start: str, callees: Mapping[str, list[str]]) -> dict[str, None]:
    """Returns `start` and the functions that it calls, directly or indirectly."""
    reached: dict[str, None] = {}
    pending = [start] if start in callees else []
    while pending:
        name = pending.pop()
        if name not in reached:
            reached[name] = None
            pending += reversed(callees[name])
    return reached


def _hand_on(
    graphs: Mapping[str, func.FuncOp], callees: Mapping[str, list[str]], wanted: dict[str, dict[Key, WeightOp]]
) -> None:
    """Adds arguments to the functions for the weights that they and their callees use."""
    _close(callees, wanted)
    values = {name: _own_values(graphs[name], keys) for name, keys in wanted.items()}
    for name in wanted:
        for op in list(walk_ops(graphs[name])):
            if isinstance(op, WeightOp) and name != "main":
                op.result.replace_all_uses_with(values[name][op.weight, op.result.type])
                Rewriter.erase_op(op)
            elif isinstance(op, func.CallOp) and (keys := wanted.get(op.callee.string_value())):
                callee = graphs[op.callee.string_value()]
                end = len(op.arguments) - len(dim_arguments(callee))
                given = [values[name][key] for key in keys]
                call = func.CallOp(op.callee, [*op.arguments[:end], *given, *op.arguments[end:]], op.result_types)
                call.attributes |= op.attributes
                call.location = op.location
                Rewriter.replace_op(op, call, call.results)


def _close(callees: Mapping[str, list[str]], wanted: dict[str, dict[Key, WeightOp]]) -> None:
    """Adds to each function the weights of its callees, transitively; call graphs may have cycles."""
    callers: dict[str, list[str]] = {name: [] for name in wanted}
    for name in wanted:
        for callee in callees[name]:
            callers[callee].append(name)
    pending = [name for name, keys in wanted.items() if keys]
    while pending:
        name = pending.pop()
        for caller in callers[name]:
            before = len(wanted[caller])
            for key, op in wanted[name].items():
                wanted[caller].setdefault(key, op)
            if len(wanted[caller]) > before:
                pending.append(caller)


def _own_values(function: func.FuncOp, keys: Mapping[Key, WeightOp]) -> dict[Key, SSAValue]:
    """Returns the weights as values in a function: new arguments, or, in `@main`, ops at its beginning."""
    names = [op.result.name_hint for op in keys.values()]
    if function.sym_name.data != "main":
        place = len(function.body.block.args) - len(dim_arguments(function))
        return dict(zip(keys, insert_arguments(function, place, [type for _, type in keys], names), strict=True))
    ops = [op.clone() for op in keys.values()]
    Rewriter.insert_op(ops, InsertPoint.at_start(function.body.block))
    return {key: op.result for key, op in zip(keys, ops, strict=True)}
