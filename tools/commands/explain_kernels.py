"""`xrelay explain views` and `xrelay explain versions`: views and copies of buffers, and versions of kernels."""

from __future__ import annotations

from collections.abc import Iterator

from xdsl.dialects.builtin import ArrayAttr, ModuleOp, StringAttr
from xdsl.dialects.func import CallOp, FuncOp

from xrelay.dialects.loop import SubviewOp
from xrelay.dialects.loop.signature import dim_arguments, kernel_dims
from xrelay.dialects.loop.subview_op import known_offset
from xrelay.dialects.loop.versions import versions_by_kernel
from xrelay.dialects.shared.attribute_names import COPIED, LOOP_KERNEL, PART_OF_KERNEL, SOURCES
from xrelay.dialects.shared.is_attribute import is_attribute
from xrelay.passes.infra.verify import walk_ops
from xrelay.passes.loop.memory.subview_lifetimes import name_of


def view_lines(module: ModuleOp) -> Iterator[str]:
    """Yields lines about the views and copying calls in a module at the loop level, or one line if it has neither."""
    functions = {op.sym_name.data: op for op in module.ops if isinstance(op, FuncOp)}
    found = False
    for function in (each for each in functions.values() if LOOP_KERNEL not in each.attributes):
        for op in walk_ops(function):
            if isinstance(op, SubviewOp):
                yield _view_line(op)
            elif isinstance(op, CallOp) and COPIED in op.attributes:
                yield _copy_line(op, functions)
            else:
                continue
            found = True
    if not found:
        yield "no kernel only joins, slices or reshapes"


def _view_line(op: SubviewOp) -> str:
    offset = known_offset(op)
    place = "an element computed at run time" if offset is None else f"element {offset}"
    return f"{name_of(op.result)} : {op.result.type} is a view of {name_of(op.source)} : {op.source.type} from {place}"


def _copy_line(op: CallOp, functions: dict[str, FuncOp]) -> str:
    name, reason = op.callee.string_value(), op.attributes[COPIED]
    sources = functions[name].attributes.get(SOURCES)
    nodes = ", ".join(each.data for each in sources) if is_attribute(sources, ArrayAttr[StringAttr]) else ""
    detail = reason.data if isinstance(reason, StringAttr) else ""
    return f"@{name}{f' of {nodes}' if nodes else ''} copies: {detail}"


def version_lines(module: ModuleOp) -> Iterator[str]:
    """Yields lines about the kernels with extents as arguments in a module at the scf level.

    A kernel has a line per version, or a line that it has none. Without such kernels there is a single line.
    """
    functions = [op for op in module.ops if isinstance(op, FuncOp) and op.body.blocks and op.sym_visibility is not None]
    versions = versions_by_kernel(functions)
    kernels = [each for each in functions if PART_OF_KERNEL not in each.attributes and dim_arguments(each)]
    for kernel in kernels:
        name = kernel.sym_name.data
        for function, version in versions.get(name, ()):
            sizes = ", ".join(f"{dim} = {size}" for dim, size in version.sizes.items())
            open_names = sorted(set[str]().union(*(dim.names for dim in kernel_dims(function))))
            sizes += f" and any {', '.join(open_names)}" if open_names else ""
            yield f"@{name}: @{function.sym_name.data} for {sizes}; {version.reason}"
        if name not in versions:
            yield f"@{name}: one version, for all sizes"
    if not kernels:
        yield "no kernel has dynamic extents: all sizes are known"
