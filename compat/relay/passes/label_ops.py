"""`relay-label-ops`: labels each function with a hash that is the same for equal functions.

Functions of the module, closures and fused groups get the attribute `hash`, 16 hexadecimal digits that depend on the
computation, and the layout attributes of their own operators (`data_layout`, `kernel_layout`, …).
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

from collections.abc import Mapping
from dataclasses import dataclass
from hashlib import blake2b

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp, StringAttr
from xdsl.dialects.func import FuncOp
from xdsl.ir import Attribute, Block, Operation, SSAValue

from xrelay.dialects.relay.core.op_base import RelayOp
from xrelay.dialects.relay.structure.constant import ConstantOp
from xrelay.dialects.relay.structure.function import FnOp
from xrelay.dialects.relay.structure.fused import FusedOp
from xrelay.dialects.relay.structure.scope import LetOp
from xrelay.dialects.shared.attribute_names import BINDS, HASH, REQUIRES
from xrelay.dialects.shared.op_lists import dependencies
from xrelay.passes.infra.digraph import post_order
from xrelay.passes.infra.verify import walk_ops
from xrelay.passes.infra.xrelay_pass import EXACT, XRelayPass
from xrelay.relay.passes.attribute_folds import AttributeFold, digest

_DIGITS = 16
"""The number of hexadecimal digits of a hash, as in Relay."""

_MEANINGLESS = {HASH, REQUIRES, BINDS, "group_name"}
"""Attributes without effect on the computation: hashes, records of type inference and names of groups."""


@dataclass(frozen=True)
class RelayLabelOpsPass(XRelayPass):
    """Labels each function with a hash of its computation; see the module's docstring. Exact."""

    name = "relay-label-ops"
    numerics = EXACT
    per_function = True

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Labels functions in place."""
        functions = [each for each in walk_ops(op) if isinstance(each, FuncOp | FnOp | FusedOp)]
        # Inner functions are labelled first.
        for function in reversed(functions):
            if HASH not in function.attributes and len(function.body.blocks) == 1:
                attributes = {} if isinstance(function, FusedOp) else function.attributes
                label = _body_digest(function.body.block, attributes)
                function.attributes |= {HASH: StringAttr(label), **_layouts(function)}


def _layouts(function: FuncOp | FnOp | FusedOp) -> dict[str, Attribute]:
    """The layout attributes of the operators of `function`, by name, without those of inner functions."""
    found: dict[str, Attribute] = {}
    for op in walk_ops(function, closed=lambda op: isinstance(op, FnOp | FusedOp)):
        if isinstance(op, RelayOp):
            found.update((name, value) for name, value in op.properties.items() if "layout" in name)
    return found


def _body_digest(block: Block, attributes: Mapping[str, Attribute]) -> str:
    """Returns a digest of a function with these `attributes` and the body `block`; it is equal in every process.

    Operators, their attributes, types, constants and the sharing of values count. Names of values, source locations,
    the order of independent ops and unused ops do not count. The traversal is iterative.
    """
    writer = _Writer()
    writer.write("function", *writer.meaningful(attributes), *map(writer.described, block.args))
    for op in post_order([block.last_op] if block.last_op is not None else [], dependencies):
        writer.op(op)
    return writer.digest.hexdigest()


class _Writer:
    """Writes ops to a digest, with values as numbers."""

    def __init__(self) -> None:
        self.digest = blake2b(digest_size=_DIGITS // 2)
        self._numbers: dict[SSAValue, int] = {}
        self._attributes = AttributeFold(digest)

    def number(self, value: SSAValue) -> str:
        """Returns the number of a value; values are numbered in the order of their first use."""
        return str(self._numbers.setdefault(value, len(self._numbers)))

    def described(self, value: SSAValue) -> str:
        """Returns the number and the type of a value."""
        return f"{self.number(value)} {self._attributes.of(value.type).hex()}"

    def meaningful(self, attributes: Mapping[str, Attribute]) -> list[str]:
        """Returns the attributes that affect the computation, in the order of their names."""
        return [
            f"{name}={self._attributes.of(attributes[name]).hex()}"
            for name in sorted(attributes)
            if name not in _MEANINGLESS
        ]

    def write(self, *parts: str) -> None:
        """Writes texts with their lengths, so that different lists of texts produce different bytes."""
        for part in (str(len(parts)), *parts):
            data = part.encode()
            self.digest.update(f"{len(data)}:".encode() + data)

    def op(self, op: Operation) -> None:
        """Writes the computation of `op` on its operands."""
        if isinstance(op, ConstantOp):
            self.write(op.name, self.described(op.result))
            self.digest.update(op.array.tobytes())
            return
        properties = {} if isinstance(op, LetOp) else op.properties
        self.write(op.name, *self.meaningful(properties), *self.meaningful(op.attributes))
        self.write(*(self.number(value) for value in op.operands))
        for region in op.regions:
            for block in region.blocks:
                self.write(*map(self.described, block.args))
        self.write(*map(self.described, op.results))
