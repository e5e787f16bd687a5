"""The constants of a model, passed to compiled code as arguments of `@main`, which passes them to its callees."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeAlias

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
from xrelay.passes.loop.signature import argument_attrs, insert_arguments

Key: TypeAlias = tuple[Attribute, Attribute]
"""The value of a weight and the type of its buffer. Equal weights of equal type share an argument."""


def weights_of_main(module: ModuleOp) -> list[Key]:
    """Returns the weights of `@main`, in the order of the arguments that they become."""
    mains = (op for op in module.ops if isinstance(op, func.FuncOp) and op.sym_name.data == "main")
    return [key for main in mains for key in _distinct(main)]


def weights_to_arguments(function: func.FuncOp) -> None:
    """Replaces each `loop.weight` in `function` with an argument; these arguments precede the arena and the extents.

    Raises `LoweringError` for a function other than `@main`: kernels take weights as ordinary arguments.
    """
    first = _distinct(function)
    if not first:
        return
    if function.sym_name.data != "main":
        location = location_of(next(iter(first.values())))
        raise LoweringError(f"@{function.sym_name.data} contains a 'loop.weight'; only @main may", location=location)
    attrs = argument_attrs(function)
    end = next((n for n, attr in enumerate(attrs) if ARENA in attr), len(attrs) - len(dim_arguments(function)))
    _replace(function, _arguments(function, end, first))


def _distinct(function: func.FuncOp) -> dict[Key, WeightOp]:
    """Returns the first op of each weight, in order."""
    first: dict[Key, WeightOp] = {}
    for op in ops_of(function, WeightOp):
        first.setdefault((op.weight, op.result.type), op)
    return first


def _arguments(function: func.FuncOp, place: int, weights: Mapping[Key, WeightOp]) -> dict[Key, SSAValue]:
    """Inserts an argument for each weight."""
    names = [op.result.name_hint for op in weights.values()]
    return dict(zip(weights, insert_arguments(function, place, [type for _, type in weights], names), strict=True))


def _replace(function: func.FuncOp, values: Mapping[Key, SSAValue]) -> None:
    """Replaces the weights in a function."""
    for op in ops_of(function, WeightOp):
        op.result.replace_all_uses_with(values[op.weight, op.result.type])
        Rewriter.erase_op(op)


# --- weights of the functions that `@main` calls


def take_weights_from_main(module: ModuleOp) -> None:
    """Moves each `loop.weight` of functions that `@main` calls, directly or indirectly, to `@main`.

    The functions get an argument for each weight, before the extents. Kernels stay unchanged.
    """
    functions = {op.sym_name.data: op for op in module.ops if isinstance(op, func.FuncOp) and op.body.blocks}
    graphs = {name: function for name, function in functions.items() if LOOP_KERNEL not in function.attributes}
    callees = {name: list(calls_in(function, graphs)) for name, function in graphs.items()}
    reached = _reached_from("main", callees)
    wanted = {name: {} if name == "main" else _distinct(graphs[name]) for name in reached}
    if any(wanted.values()):
        _add_weight_arguments(graphs, callees, wanted)


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


def _add_weight_arguments(
    graphs: Mapping[str, func.FuncOp], callees: Mapping[str, list[str]], wanted: dict[str, dict[Key, WeightOp]]
) -> None:
    """Adds arguments to the functions for the weights that they and their callees use."""
    _close(callees, wanted)
    values = {name: _own_values(graphs[name], keys) for name, keys in wanted.items()}
    for name in wanted:
        if name != "main":
            _replace(graphs[name], values[name])
        for op in ops_of(graphs[name], func.CallOp):
            if keys := wanted.get(op.callee.string_value()):
                end = len(op.arguments) - len(dim_arguments(graphs[op.callee.string_value()]))
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


def _own_values(function: func.FuncOp, weights: Mapping[Key, WeightOp]) -> dict[Key, SSAValue]:
    """Returns the weights as values in a function: new arguments, or, in `@main`, ops at its beginning."""
    if function.sym_name.data != "main":
        return _arguments(function, len(function.body.block.args) - len(dim_arguments(function)), weights)
    ops = [op.clone() for op in weights.values()]
    Rewriter.insert_op(ops, InsertPoint.at_start(function.body.block))
    return {key: op.result for key, op in zip(weights, ops, strict=True)}
