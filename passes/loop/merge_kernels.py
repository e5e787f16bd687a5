"""`loop-merge-kernels`: merges kernels with dynamic extents that are equal up to names."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects import func
from xdsl.dialects.builtin import ArrayAttr, DictionaryAttr, ModuleOp, StringAttr, SymbolRefAttr
from xdsl.ir import Attribute
from xdsl.rewriter import Rewriter

from xrelay.dialects.loop.extents import index_arguments
from xrelay.dialects.loop.versions import versions_by_kernel
from xrelay.dialects.shared.attribute_names import LOOP_DIMS, SCHEDULE_CYCLES, SCHEDULE_REASON, SIZE, SOURCES
from xrelay.dialects.shared.is_attribute import is_attribute
from xrelay.passes.graph.op_keys import OpKeys
from xrelay.passes.infra.verify import walk_ops
from xrelay.passes.infra.xrelay_pass import EXACT, XRelayPass
from xrelay.passes.loop.nest_queries import kernels_of
from xrelay.passes.loop.signature import argument_attrs

_DESCRIPTIVE_ATTRIBUTES = frozenset({LOOP_DIMS, SOURCES, SCHEDULE_REASON, SCHEDULE_CYCLES})
"""Attributes that do not affect the code of a kernel: the dimensions of callers, its nodes, and remarks."""


_PRIVATE = StringAttr("private")


@dataclass(frozen=True)
class LoopMergeKernelsPass(XRelayPass):
    """Merges kernels that are equal except for the names of the dimensions that callers pass.

    A kernel has one `index` argument for each distinct extent that it uses. Hints about sizes (`loop.size`) only guide
    the choice of the schedule, so kernels are compared after `loop-assign-schedules`. Before → after:

    ```
    func.call @relu(%x, %y, %m) : …                            func.call @relu(%x, %y, %m) : …
    func.call @relu_1(%z, %w, %n) : …                          func.call @relu(%z, %w, %n) : …
    func.func private @relu(%p: memref<?xf32> …, %m: index)    func.func private @relu(%p: memref<?xf32> …, %m: index)
        attributes {loop.dims = #relay.dims<2 * n + 1>} {…}        attributes {loop.dims = #relay.dims<2 * n + 1>} {…}
    func.func private @relu_1(%p: memref<?xf32> …, %k: index)
        attributes {loop.dims = #relay.dims<k>} {…}
    ```

    The first kernel is kept, with the sources of all merged kernels, so that errors name them all. Names of
    values are ignored in the comparison, names of loops and blocks are not, because schedules use them. Public kernels
    are left unchanged, and so are kernels without extents, which `relay-outline-fused` shares already. Kernels with
    versions are merged if their versions are for the same extents.
    """

    name = "loop-merge-kernels"
    numerics = EXACT

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Merges the kernels of a module in place."""
        keys = OpKeys()
        versions = versions_by_kernel(kernels_of(op))
        kept: dict[Hashable, func.FuncOp] = {}
        callees: dict[SymbolRefAttr, SymbolRefAttr] = {}
        for kernel in kernels_of(op):
            if kernel.parent is None or not index_arguments(kernel) or kernel.sym_visibility != _PRIVATE:
                continue
            own = versions.get(kernel.sym_name.data, [])
            choices = tuple(version.choice(kernel, function) for function, version in own)
            first = kept.setdefault((choices, _key(kernel, keys)), kernel)
            if first is not kernel:
                for function, _ in own:
                    Rewriter.erase_op(function, safe_erase=False)
                add_sources(first, kernel)
                if first.arg_attrs != kernel.arg_attrs:
                    first.arg_attrs = _without_sizes(first)
                callees[SymbolRefAttr(kernel.sym_name)] = SymbolRefAttr(first.sym_name)
                Rewriter.erase_op(kernel, safe_erase=False)
        if callees:
            for call in walk_ops(op):
                if isinstance(call, func.CallOp) and (callee := callees.get(call.callee)) is not None:
                    call.callee = callee


def _key(kernel: func.FuncOp, keys: OpKeys) -> Hashable:
    """A key that is equal for kernels that are equal up to names."""
    return key_of_attributes(kernel, keys), keys.of_block(kernel.body.block)


def key_of_attributes(kernel: func.FuncOp, keys: OpKeys) -> Hashable:
    """A key of the attributes of a kernel and its arguments that affect its code."""
    attributes: dict[str, Attribute] = {
        name: value for name, value in kernel.attributes.items() if name not in _DESCRIPTIVE_ATTRIBUTES
    }
    attributes["arg_attrs"] = _without_sizes(kernel)
    return keys.of_attributes(attributes)


def _without_sizes(kernel: func.FuncOp) -> ArrayAttr[DictionaryAttr]:
    """The attributes of the arguments without size hints."""
    attrs = argument_attrs(kernel)
    return ArrayAttr([DictionaryAttr({key: each[key] for key in each if key != SIZE}) for each in attrs])


def add_sources(kernel: func.FuncOp, other: func.FuncOp) -> None:
    """Adds the sources of `other` to those of `kernel`."""
    found: dict[Attribute, None] = {}
    for each in (kernel, other):
        sources = each.attributes.get(SOURCES)
        found |= dict.fromkeys(sources.data if is_attribute(sources, ArrayAttr[StringAttr]) else ())
    if found:
        kernel.attributes[SOURCES] = ArrayAttr(list(found))
