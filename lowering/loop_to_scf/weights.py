"""The constants of a model, passed to the compiled code as arguments of `@main`."""

from __future__ import annotations

from collections.abc import Iterable

from xdsl.dialects import func
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Attribute

from xrelay.dialects.loop import WeightOp
from xrelay.dialects.loop.signature import dim_arguments
from xrelay.dialects.shared.attribute_names import ARENA
from xrelay.dialects.shared.locations import location_of
from xrelay.dialects.shared.op_lists import ops_of
from xrelay.errors import LoweringError
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
