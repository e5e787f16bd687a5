"""`loop-merge-kernels`: kernels for extents that only a run tells are one where they are equal up to names."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects import func
from xdsl.dialects.builtin import ArrayAttr, ModuleOp, StringAttr, SymbolRefAttr
from xdsl.ir import Attribute
from xdsl.passes import ModulePass
from xdsl.rewriter import Rewriter
from xdsl.utils.hints import isa

from xrelay.dialects.attribute_names import LOOP_DIMS, SOURCES
from xrelay.dialects.loop.extents import index_arguments
from xrelay.passes.graph.op_keys import OpKeys
from xrelay.passes.infra.verify import walk_ops
from xrelay.passes.loop.nest_queries import kernels_of

_NAMED_FOR_OTHERS = frozenset({LOOP_DIMS, SOURCES})
"""Attributes of a kernel that say whose it is: what its callers compute for it, and which nodes it computes."""


_PRIVATE = StringAttr("private")


@dataclass(frozen=True)
class LoopMergeKernelsPass(ModulePass):
    """Equal kernels that take extents become one, whatever the dimensions are called that callers pass.

    A kernel sees of dimensions what stands in its text: one `index` argument for each distinct extent that it uses,
    with the bounds that are known of it. Before → after:

    ```
    func.call @relu(%x, %y, %m) : …                            func.call @relu(%x, %y, %m) : …
    func.call @relu_1(%z, %w, %n) : …                          func.call @relu(%z, %w, %n) : …
    func.func private @relu(%p: memref<?xf32> …, %m: index)    func.func private @relu(%p: memref<?xf32> …, %m: index)
        attributes {loop.dims = #relay.dims<2 * n + 1>} {…}        attributes {loop.dims = #relay.dims<2 * n + 1>} {…}
    func.func private @relu_1(%p: memref<?xf32> …, %k: index)
        attributes {loop.dims = #relay.dims<k>} {…}
    ```

    The first of them stays; it computes the nodes of all, so an error in it names them all. Names of values count for
    nothing, names of loops and blocks do, as schedules name them. Public kernels are left alone, and so are those of
    numbers alone, which `relay-outline-fused` has shared.
    """

    name = "loop-merge-kernels"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Merges the kernels of a module in place."""
        keys = OpKeys()
        kept: dict[Hashable, func.FuncOp] = {}
        callees: dict[SymbolRefAttr, SymbolRefAttr] = {}
        for kernel in kernels_of(op):
            if not index_arguments(kernel) or kernel.sym_visibility != _PRIVATE:
                continue
            first = kept.setdefault(_key(kernel, keys), kernel)
            if first is not kernel:
                _add_sources(first, kernel)
                callees[SymbolRefAttr(kernel.sym_name)] = SymbolRefAttr(first.sym_name)
                Rewriter.erase_op(kernel, safe_erase=False)
        if callees:
            for call in walk_ops(op):
                if isinstance(call, func.CallOp) and (callee := callees.get(call.callee)) is not None:
                    call.callee = callee


def _key(kernel: func.FuncOp, keys: OpKeys) -> Hashable:
    """What a kernel does, up to names."""
    attributes: dict[str, Attribute] = {
        name: value for name, value in kernel.attributes.items() if name not in _NAMED_FOR_OTHERS
    }
    if kernel.arg_attrs is not None:
        attributes["arg_attrs"] = kernel.arg_attrs
    return keys.of_attributes(attributes), keys.of_nest(kernel.body.block)


def _add_sources(kernel: func.FuncOp, other: func.FuncOp) -> None:
    """Lets a kernel say that it computes the nodes of another one too."""
    found: dict[Attribute, None] = {}
    for each in (kernel, other):
        sources = each.attributes.get(SOURCES)
        found |= dict.fromkeys(sources.data if isa(sources, ArrayAttr[StringAttr]) else ())
    if found:
        kernel.attributes[SOURCES] = ArrayAttr(list(found))
