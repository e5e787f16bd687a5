"""`xrelay explain parts`: the buffers that are views of a larger one, and the remaining copies, with reasons."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from xrelay.dialects.shared.attribute_names import COPIED, LOOP_KERNEL, SOURCES
from xrelay.dialects.shared.is_attribute import is_attribute

if TYPE_CHECKING:
    from xdsl.dialects.builtin import ModuleOp
    from xdsl.dialects.func import CallOp, FuncOp

    from xrelay.dialects.loop import SubviewOp


def part_lines(module: ModuleOp) -> Iterator[str]:
    """Yields lines about the views and copying calls in a module at the loop level, or one line if it has neither."""
    from xdsl.dialects.func import CallOp, FuncOp

    from xrelay.dialects.loop import SubviewOp
    from xrelay.passes.infra.verify import walk_ops

    functions = {op.sym_name.data: op for op in module.ops if isinstance(op, FuncOp)}
    found = False
    for function in (each for each in functions.values() if LOOP_KERNEL not in each.attributes):
        for op in walk_ops(function):
            if isinstance(op, SubviewOp):
                yield _part_line(op)
            elif isinstance(op, CallOp) and COPIED in op.attributes:
                yield _copy_line(op, functions)
            else:
                continue
            found = True
    if not found:
        yield "no kernel only joins, slices or reshapes"


def _part_line(op: SubviewOp) -> str:
    from xrelay.dialects.loop.subview_op import known_offset
    from xrelay.passes.loop.memory.subview_lifetimes import name_of

    offset = known_offset(op)
    place = "an element computed at run time" if offset is None else f"element {offset}"
    return f"{name_of(op.result)} : {op.result.type} is a view of {name_of(op.source)} : {op.source.type} from {place}"


def _copy_line(op: CallOp, functions: dict[str, FuncOp]) -> str:
    from xdsl.dialects.builtin import ArrayAttr, StringAttr

    name, reason = op.callee.string_value(), op.attributes[COPIED]
    sources = functions[name].attributes.get(SOURCES)
    nodes = ", ".join(each.data for each in sources) if is_attribute(sources, ArrayAttr[StringAttr]) else ""
    detail = reason.data if isinstance(reason, StringAttr) else ""
    return f"@{name}{f' of {nodes}' if nodes else ''} copies: {detail}"
