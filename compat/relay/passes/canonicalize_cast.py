"""`relay-canonicalize-cast`: copies a widening cast for each of its users.

If several elementwise and broadcasting ops use a cast to a wider type, each except the first gets a copy of it. A cast
with several users is a kernel of its own, whose result has more bytes than its operand; a copy fuses with its user.
Exact.

Before:

    %c = relay.cast(%x) {dtype = f32} : (tensor<8xi8>) -> tensor<8xf32>
    %a = relay.exp(%c) : (tensor<8xf32>) -> tensor<8xf32>
    %b = relay.log(%c) : (tensor<8xf32>) -> tensor<8xf32>

After:

    %c = relay.cast(%x) {dtype = f32} : (tensor<8xi8>) -> tensor<8xf32>
    %a = relay.exp(%c) : (tensor<8xf32>) -> tensor<8xf32>
    %d = relay.cast(%x) {dtype = f32} : (tensor<8xi8>) -> tensor<8xf32>
    %b = relay.log(%d) : (tensor<8xf32>) -> tensor<8xf32>

Left alone: casts to a type of as many bits or fewer; users of other patterns, such as a convolution, a reduction, a
tuple or a return, which keep the original cast. `relay-eliminate-common-subexpr` would merge the copies, so it runs
earlier.
"""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp, TensorType
from xdsl.ir import Attribute, Operation
from xdsl.pattern_rewriter import PatternRewriter, RewritePattern

from xrelay.dialects.relay.core.op_base import RelayOp
from xrelay.dialects.relay.core.op_pattern import OpPatternKind
from xrelay.dialects.relay.ops.tensor.cast import CastOp
from xrelay.dialects.shared.dtypes import numpy_dtype
from xrelay.passes.graph.rewriting import Emitter, rewrite
from xrelay.passes.infra.xrelay_pass import EXACT, XRelayPass

BROADCASTING = (OpPatternKind.ELEM_WISE, OpPatternKind.BROADCAST)
"""The patterns of users with which a cast fuses at no cost."""


@dataclass(frozen=True)
class RelayCanonicalizeCastPass(XRelayPass):
    """Copies widening casts for their users; see the module's docstring."""

    name = "relay-canonicalize-cast"
    numerics = EXACT
    per_function = True

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Rewrites the module in place."""
        rewrite(op, {CastOp: CopyCastForUsers()})


class CopyCastForUsers(RewritePattern):
    """Replaces a widening cast with several users by a cast for each user with which it fuses. Exact.

    Before:

        %a = relay.exp(%c)
        %b = relay.log(%c)

    After, with another cast `%d` of the same data:

        %a = relay.exp(%c)
        %b = relay.log(%d)
    """

    def match_and_rewrite(self, op: Operation, rewriter: PatternRewriter) -> None:
        """Copies a widening cast for all users except the first."""
        if not isinstance(op, CastOp) or not _bits(op.data.type) < _bits(op.result.type):
            return
        # The latest use is the first in `uses`.
        uses = list(op.result.uses)[::-1]
        readers = list(dict.fromkeys(use.operation for use in uses if _fuses(use.operation)))
        for reader in readers[1:]:
            own = Emitter(rewriter, reader).insert(op.clone())
            own.location = op.location
            for use in uses:
                if use.operation is reader:
                    reader.operands[use.index] = own.result
            rewriter.handle_operation_modification(reader)


def _fuses(reader: Operation) -> bool:
    return isinstance(reader, RelayOp) and reader.fusion_pattern in BROADCASTING


def _bits(type: Attribute) -> int:
    """Returns the number of bits of an element, 1 for a boolean; 0 if the type is no tensor."""
    if not isinstance(type, TensorType):
        return 0
    dtype = numpy_dtype(type.element_type)
    return 1 if dtype.kind == "b" else 8 * dtype.itemsize
