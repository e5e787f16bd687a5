"""`relay-label-ops`: gives each function a label that equal functions share.

What: functions of the module, closures and fused groups get the attribute `hash`, 16 hexadecimal digits made of what
the function computes (`body_digest`), and the layouts that its own operators name (`data_layout`, `kernel_layout`, …).
Why: profiles and records of tuning know kernels again by it, whatever they are called, in this process and in others.

Before:

    %r = relay.fused @fused_nn_conv2d(%p0 = %x : T, %p1 = %w : W) -> T attributes {anchor = "nn.conv2d"} {
      %c = relay.nn.conv2d(%p0, %p1)
      relay.yield %c
    }

After:

    %r = relay.fused @fused_nn_conv2d(%p0 = %x : T, %p1 = %w : W) -> T attributes {anchor = "nn.conv2d",
        hash = "5d1c…", data_layout = "NCHW", kernel_layout = "OIHW", out_layout = ""} {…}

Of several operators that name different layouts the last one in the text counts. Names of functions and groups, and
attributes of groups, are no part of the label, those of functions are. Left alone: what has the attribute already,
functions without a body or of several blocks. A weight whose bytes are not here is an `UnresolvedWeightError`.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp, StringAttr
from xdsl.dialects.func import FuncOp
from xdsl.ir import Attribute, Operation
from xdsl.passes import ModulePass

from xrelay.dialects.relay.core.op_base import RelayOp
from xrelay.dialects.relay.structure.function import FnOp
from xrelay.dialects.relay.structure.fused import FusedOp
from xrelay.dialects.shared.attribute_names import HASH
from xrelay.passes.graph.body_digest import body_digest
from xrelay.passes.infra.verify import walk_ops

_LAYOUT = "layout"
"""A part of the name of each attribute that names a layout."""


@dataclass(frozen=True)
class RelayLabelOpsPass(ModulePass):
    """Give each function a label that equal functions share; see the module's docstring. Exact."""

    name = "relay-label-ops"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Label functions in place."""
        label_ops(op)


def label_ops(module: ModuleOp) -> int:
    """Label the functions of `module`; gives how many."""
    functions = [op for op in walk_ops(module) if isinstance(op, FuncOp | FnOp | FusedOp)]
    # What is inside comes first: its label is a part of what is outside for nobody, and layouts are each function's.
    unlabelled = [op for op in reversed(functions) if HASH not in op.attributes and len(op.body.blocks) == 1]
    for function in unlabelled:
        attributes = {} if isinstance(function, FusedOp) else function.attributes
        label = body_digest(function.body.block, attributes)
        function.attributes |= {HASH: StringAttr(label), **_layouts(function)}
    return len(unlabelled)


def _layouts(function: FuncOp | FnOp | FusedOp) -> dict[str, Attribute]:
    """The layouts that the operators of `function` name, by the names of their attributes."""
    found: dict[str, Attribute] = {}
    for op in _own_ops(function):
        if isinstance(op, RelayOp):
            found.update((name, value) for name, value in op.properties.items() if _LAYOUT in name)
    return found


def _own_ops(function: Operation) -> Iterator[Operation]:
    """The ops in `function`, but for those in functions in it, in the order of the text; iterative."""
    pending = [op for region in function.regions for block in region.blocks for op in block.ops][::-1]
    while pending:
        op = pending.pop()
        yield op
        if not isinstance(op, FnOp | FusedOp):
            pending += [inner for region in op.regions for block in region.blocks for inner in block.ops][::-1]
