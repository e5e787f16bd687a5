"""`relay-recompute-groups`: computes cheap elementwise groups in the kernels that read them, instead of storing them.

Relay's fusion stores a value that several kernels read. If its group only adds, subtracts, multiplies or compares, and
reads no more data than it writes, then each reader computes it in less time than it takes to read the stored value. A
normalisation of rows, for example, writes its result once and stores no difference to the mean.

Before:

    %m = relay.fused @fused_mean(%p0 = %x : …) …
    %d = relay.fused @fused_subtract(%p0 = %x : …, %p1 = %m : …) … {
      %0 = relay.subtract(%p0, %p1) …
    }
    %v = relay.fused @fused_multiply_mean(%p0 = %d : …) … { … relay.multiply(%p0, %p0) … }
    %y = relay.fused @fused_multiply(%p0 = %d : …, %p1 = %v : …) …

After: `fused_subtract` has no kernel.

    %m = relay.fused @fused_mean(%p0 = %x : …) …
    %v = relay.fused @fused_subtract_multiply_mean(%p0 = %x : …, %p1 = %m : …) … {
      %0 = relay.subtract(%p0, %p1) …
      … relay.multiply(%0, %0) …
    }
    %y = relay.fused @fused_subtract_multiply(%p0 = %x : …, %p1 = %m : …, %p2 = %v : …) …

A group is left unchanged if it has an op that takes long, reads two tensors of the result's shape, has requirements or
names extents; and if an op outside of groups, a group in another block, or a heavy, injective or opaque group reads its
result, or only one group does.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp, StringAttr
from xdsl.ir import Operation, SSAValue
from xdsl.rewriter import Rewriter

from xrelay.dialects.relay.core.op_pattern import OpPatternKind
from xrelay.dialects.relay.ops.nn.activation import ReluOp
from xrelay.dialects.relay.ops.tensor.arithmetic import AddOp, MaximumOp, MinimumOp, MultiplyOp, SubtractOp
from xrelay.dialects.relay.ops.tensor.unary import NegativeOp
from xrelay.dialects.relay.structure.constant import ConstantOp
from xrelay.dialects.relay.structure.fused import FusedOp
from xrelay.dialects.relay.structure.yields import YieldOp
from xrelay.dialects.shared.attribute_names import BINDS, DEMANDS, REQUIRES
from xrelay.dialects.shared.locations import fuse_locations
from xrelay.dialects.shared.types import shape_of
from xrelay.passes.fusion.fuse_ops import GroupNames, group_name
from xrelay.passes.infra.verify import walk_ops
from xrelay.passes.infra.xrelay_pass import EXACT, XRelayPass

CHEAP: Final = (AddOp, SubtractOp, MultiplyOp, MaximumOp, MinimumOp, NegativeOp, ReluOp, ConstantOp, YieldOp)
"""The ops that take less time than to read an operand from memory."""

READERS: Final = (OpPatternKind.ELEM_WISE, OpPatternKind.BROADCAST, OpPatternKind.COMM_REDUCE)
"""The patterns of kernels that read each element of an operand once."""

MAX_OPS: Final = 8
"""The maximum number of ops in a group that is recomputed."""


@dataclass(frozen=True)
class RelayRecomputeGroupsPass(XRelayPass):
    """Moves copies of cheap elementwise groups into the groups that read them; see the module's docstring."""

    name = "relay-recompute-groups"
    numerics = EXACT
    per_function = True

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Rewrites the module in place, groups before their readers."""
        names = GroupNames(op)
        for group in [inner for inner in walk_ops(op) if isinstance(inner, FusedOp)]:
            readers = _readers(group)
            if len(readers) > 1 and _is_cheap(group):
                for reader in readers:
                    compute_in(group, reader, names)
                Rewriter.erase_op(group)


def _readers(group: FusedOp) -> list[FusedOp]:
    """Returns the groups that read the result of `group`, if nothing else does and all may compute it."""
    users = list(dict.fromkeys(use.operation for use in group.result.uses))
    readers = [user for user in users if isinstance(user, FusedOp) and user.fusion_pattern in READERS]
    return readers if all(user in readers and user.parent is group.parent for user in users) else []


def _is_cheap(group: FusedOp) -> bool:
    """Whether a group computes its result in less time than it takes to read it."""
    ops, result = list(group.body.block.ops), group.result
    if len(ops) > MAX_OPS or not all(map(_is_cheap_op, ops)):
        return False
    return sum(shape_of(value.type) == shape_of(result.type) for value in group.arguments) < 2


def _is_cheap_op(op: Operation) -> bool:
    return isinstance(op, CHEAP) and op.attributes.keys().isdisjoint((REQUIRES, DEMANDS, BINDS))


def compute_in(group: FusedOp, reader: FusedOp, names: GroupNames) -> None:
    """Replaces the result of `group` as a parameter of `reader` by a copy of the ops of `group`."""
    body, arguments = reader.body.block, list(reader.arguments)
    known = dict(zip(arguments, body.args, strict=True))
    values: dict[SSAValue, SSAValue] = {}
    for argument, parameter in zip(group.arguments, group.body.block.args, strict=True):
        if argument not in known:
            known[argument] = body.insert_arg(argument.type, len(body.args))
            arguments.append(argument)
        values[parameter] = known[argument]
    *computed, end = [op.clone(values) for op in group.body.block.ops]
    first = body.first_op
    assert first is not None, "a group ends in relay.yield"
    body.insert_ops_before(computed, first)
    kept = [argument for argument in arguments if argument is not group.result]
    for argument, parameter in zip(arguments, list(body.args), strict=True):
        if argument is group.result:
            parameter.replace_all_uses_with(end.operands[0])
            body.erase_arg(parameter)
    end.erase()
    reader.operands = kept
    _describe(reader, group, names)


def _describe(reader: FusedOp, group: FusedOp, names: GroupNames) -> None:
    """Names a reader after its ops, and numbers its parameters."""
    ops: Sequence[Operation] = [op for op in reader.body.block.ops if not isinstance(op, ConstantOp | YieldOp)]
    reader.group_name = StringAttr(names.unique(group_name(ops)))
    reader.location = fuse_locations([group.location, reader.location])
    for number, parameter in enumerate(reader.body.block.args):
        parameter.name_hint = f"p{number}"
    if reader.fusion_pattern is OpPatternKind.ELEM_WISE:
        reader.pattern = group.pattern
