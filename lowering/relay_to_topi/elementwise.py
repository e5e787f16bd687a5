"""Elementwise and broadcasting operators."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from xdsl.dialects import arith
from xdsl.ir import SSAValue

from xrelay.dialects.relay.computes.builder import Build, TopiBuilder
from xrelay.dialects.relay.core.op_base import RelayOp
from xrelay.dialects.relay.ops.annotation import CheckpointOp, CompilerBeginOp, CompilerEndOp, StopFusionOp
from xrelay.dialects.relay.ops.require import RequireOp
from xrelay.dialects.relay.ops.tensor_compare import EqualOp, GreaterEqualOp, GreaterOp, LessEqualOp, LessOp, NotEqualOp
from xrelay.dialects.relay.ops.tensor_select import WhereOp
from xrelay.dialects.topi.build import Body
from xrelay.dialects.topi.scalars import compare
from xrelay.lowering.relay_to_topi.registry import implements

Unary = Callable[[Body, SSAValue], SSAValue]
Binary = Callable[[Body, SSAValue, SSAValue], SSAValue]


def unary(fill: Unary) -> Build:
    """Returns an implementation that computes each element from one operand element."""

    def build(emitter: TopiBuilder) -> Sequence[SSAValue]:
        return emitter.map_elements(emitter.label, lambda b, values: fill(b, values[0]))

    return build


def binary(fill: Binary) -> Build:
    """Returns an implementation that computes each element from two operand elements, with broadcasting."""

    def build(emitter: TopiBuilder) -> Sequence[SSAValue]:
        return emitter.map_elements(emitter.label, lambda b, values: fill(b, values[0], values[1]))

    return build


_UNARY: dict[type[RelayOp], Unary] = {
    StopFusionOp: lambda b, x: x,
    CheckpointOp: lambda b, x: x,
    CompilerBeginOp: lambda b, x: x,
    CompilerEndOp: lambda b, x: x,
    RequireOp: lambda b, x: x,
}

_BINARY: dict[type[RelayOp], Binary] = {
    EqualOp: lambda b, x, y: compare(b, x, y, "oeq", "eq"),
    NotEqualOp: lambda b, x, y: compare(b, x, y, "une", "ne"),
    LessOp: lambda b, x, y: compare(b, x, y, "olt", "slt"),
    LessEqualOp: lambda b, x, y: compare(b, x, y, "ole", "sle"),
    GreaterOp: lambda b, x, y: compare(b, x, y, "ogt", "sgt"),
    GreaterEqualOp: lambda b, x, y: compare(b, x, y, "oge", "sge"),
}


for _op, _fill in _UNARY.items():
    implements(_op, f"{_op.relay_name()}.generic")(unary(_fill))
for _op, _pair in _BINARY.items():
    implements(_op, f"{_op.relay_name()}.generic")(binary(_pair))


@implements(WhereOp, "where.generic")
def build_where(emitter: TopiBuilder) -> Sequence[SSAValue]:
    """Emits a select."""
    return emitter.map_elements("where", lambda b, values: b.add(arith.SelectOp(*values)))
