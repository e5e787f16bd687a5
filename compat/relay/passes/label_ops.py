"""`relay-label-ops`: labels each function with a hash that is the same for equal functions.

Functions of the module, closures and fused groups get the attribute `hash`, 16 hexadecimal digits that depend on the
computation (`body_digest`), and the layout attributes of their own operators (`data_layout`, `kernel_layout`, …).
Profiles and tuning records identify kernels by this hash, independent of names and processes.

Before:

    %r = relay.fused @fused_nn_conv2d(%p0 = %x : T, %p1 = %w : W) -> T attributes {anchor = "nn.conv2d"} {
      %c = relay.nn.conv2d(%p0, %p1)
      relay.yield %c
    }

After:

    %r = relay.fused @fused_nn_conv2d(%p0 = %x : T, %p1 = %w : W) -> T attributes {anchor = "nn.conv2d",
        hash = "5d1c…", data_layout = "NCHW", kernel_layout = "OIHW", out_layout = ""} {…}

If operators have different layouts, the last operator in the text determines the attribute. The hash depends on the
attributes of functions and closures, but not on names, nor on the attributes of groups. Functions that have the
attribute already, have no body, or have several blocks are not changed. Raises `UnresolvedWeightError` for a weight
whose bytes are not loaded.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp, StringAttr
from xdsl.dialects.func import FuncOp
from xdsl.ir import Attribute, Operation

from xrelay.dialects.relay.core.op_base import RelayOp
from xrelay.dialects.relay.structure.function import FnOp
from xrelay.dialects.relay.structure.fused import FusedOp
from xrelay.dialects.shared.attribute_names import HASH
from xrelay.passes.infra.verify import walk_ops
from xrelay.passes.infra.xrelay_pass import EXACT, XRelayPass
from xrelay.relay.passes.body_digest import body_digest

_LAYOUT = "layout"
"""The names of layout attributes contain this."""


@dataclass(frozen=True)
class RelayLabelOpsPass(XRelayPass):
    """Labels each function with a hash of its computation; see the module's docstring. Exact."""

    name = "relay-label-ops"
    numerics = EXACT
    per_function = True

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Labels functions in place."""
        label_ops(op)


def label_ops(module: ModuleOp) -> int:
    """Labels the functions of `module`; returns their number."""
    functions = [op for op in walk_ops(module) if isinstance(op, FuncOp | FnOp | FusedOp)]
    # Inner functions are labelled first.
    unlabelled = [op for op in reversed(functions) if HASH not in op.attributes and len(op.body.blocks) == 1]
    for function in unlabelled:
        attributes = {} if isinstance(function, FusedOp) else function.attributes
        label = body_digest(function.body.block, attributes)
        function.attributes |= {HASH: StringAttr(label), **_layouts(function)}
    return len(unlabelled)


def _layouts(function: FuncOp | FnOp | FusedOp) -> dict[str, Attribute]:
    """The layout attributes of the operators of `function`, by name."""
    found: dict[str, Attribute] = {}
    for op in _own_ops(function):
        if isinstance(op, RelayOp):
            found.update((name, value) for name, value in op.properties.items() if _LAYOUT in name)
    return found


def _own_ops(function: Operation) -> Iterator[Operation]:
    """Yields the ops in `function` in the order of the text, without those in inner functions; iterative."""
    pending = [op for region in function.regions for block in region.blocks for op in block.ops][::-1]
    while pending:
        op = pending.pop()
        yield op
        if not isinstance(op, FnOp | FusedOp):
            pending += [inner for region in op.regions for block in region.blocks for inner in block.ops][::-1]
