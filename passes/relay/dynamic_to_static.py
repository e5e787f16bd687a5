"""`relay-dynamic-to-static`: ops whose shape is an operand become ops whose shape is an attribute.

What: the elements of small integer tensors are followed through the program, as `relay-infer-type` follows them: those
of constants, of `shape_of`, and of what is computed from them. `dyn.reshape`, `dyn.broadcast_to` and `dyn.full` whose
shape is known become `reshape`, `broadcast_to` and `full`; any other op whose elements are all known numbers becomes a
constant, so that `arange` and its like have constant operands, which `relay-fold-constant` evaluates. Why: layouts,
fusion and native code take shapes that stand in the op. The elements are told by the rules of the ops, so the shape of
a tensor is known without its data, and extents with names are followed too. It changes no value. Relay's
DynamicToStatic.

Refuses, with a remark: a shape of which some elements are not known; a shape with names that the static op has no
codes for; a static op that would demand other things of named dimensions than the op itself.

Left alone: ops whose types are not as precise as the known elements make them; `relay-infer-type` comes first.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Attribute, Operation
from xdsl.passes import ModulePass
from xdsl.pattern_rewriter import PatternRewriter, RewritePattern

from xrelay.dialects.relay.core.dtypes import numpy_dtype
from xrelay.dialects.relay.core.op_base import RelayOp
from xrelay.dialects.relay.core.recorded_requirements import record_requirements
from xrelay.dialects.relay.core.reshape_codes import codes_of
from xrelay.dialects.relay.core.types import element_type_of, is_complete, is_static, shape_of
from xrelay.dialects.relay.ops.dyn_shapes import DynBroadcastToOp, DynFullOp, DynReshapeOp, ShapeOperandOp
from xrelay.dialects.relay.ops.tensor_fill import FullOp
from xrelay.dialects.relay.ops.tensor_movement import BroadcastToOp
from xrelay.dialects.relay.ops.tensor_shape import ReshapeOp
from xrelay.dialects.relay.structure.constant import ConstantOp
from xrelay.dialects.relay.structure.known_elements import KnownElements
from xrelay.errors import ConstraintError
from xrelay.index_algebra.dims import Shape
from xrelay.index_algebra.requirement import Requirement
from xrelay.passes.graph.effects import is_pure
from xrelay.passes.graph.remarks import Remark, Remarks, report
from xrelay.passes.graph.rewriting import Emitter, rewrite_once


@dataclass(frozen=True)
class RelayDynamicToStaticPass(ModulePass):
    """Give ops the shapes that are known of their operands; see the module's docstring."""

    name = "relay-dynamic-to-static"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Rewrite the module in place."""
        report(dynamic_to_static(op))


def dynamic_to_static(module: ModuleOp) -> list[Remark]:
    """Rewrite `module`; says what became static, and of what shapes too little is known."""
    pattern = MakeStatic()
    rewrite_once(module, RelayOp, pattern)
    return pattern.remarks.all


class MakeStatic(RewritePattern):
    """An op whose shape or elements are known → the same without an operand for them. Exact.

    Before:

        %s = relay.shape_of(%x) : (tensor<2x6xf32>) -> tensor<2xi64>
        %y = relay.dyn.reshape(%z, %s) : (tensor<12xf32>, tensor<2xi64>) -> tensor<2x6xf32>

    After:

        %y = relay.reshape(%z) {newshape = [2, 6]} : (tensor<12xf32>) -> tensor<2x6xf32>

    It is shown the ops in the order of the program, and remembers the elements that it has met.
    """

    def __init__(self) -> None:
        self.remarks = Remarks(RelayDynamicToStaticPass.name)
        self._elements = KnownElements()

    def match_and_rewrite(self, op: Operation, rewriter: PatternRewriter) -> None:
        """Learn what is known of the op's elements, and make it static or a constant where that is enough."""
        if not isinstance(op, RelayOp) or not all(map(is_complete, op.operand_types)):
            return
        self._elements.learn(op, op.operand_types)
        if isinstance(op, ShapeOperandOp):
            self._make_static(op, rewriter)
        elif not isinstance(op, ConstantOp) and (constant := self._as_constant(op)) is not None:
            emit = Emitter(rewriter, op)
            emit.replace(emit.insert(constant).result)

    def _as_constant(self, op: RelayOp) -> ConstantOp | None:
        """The result as a constant, where all its elements are numbers and nothing is demanded in computing them."""
        found, type = self._elements.of(op.results[0]), op.results[0].type
        numbers = [element for element in found or () if isinstance(element, int)]
        if found is None or len(numbers) < len(found) or not is_static(type) or op.requirements or not is_pure(op):
            return None
        shape = [extent for extent in shape_of(type) if isinstance(extent, int)]
        return ConstantOp.of(np.array(numbers, numpy_dtype(element_type_of(type))).reshape(shape))

    def _make_static(self, op: ShapeOperandOp, rewriter: PatternRewriter) -> None:
        inference = op.inference(op.operand_types, self._elements.of_operands(op))
        if inference.extents:
            self.remarks.refused(op, "elements of its shape are not known")
        elif inference.type == op.results[0].type:
            static = self._static(op, inference.type, inference.requirements)
            if static is None:
                self.remarks.refused(op, f"no {STATIC[type(op)][0].relay_name()} says that it gives {inference.type}")
                return
            self.remarks.applied(op, "its shape is known: it gives {}", inference.type)
            emit = Emitter(rewriter, op)
            emit.replace(emit.insert(static).results[0])

    def _static(self, op: ShapeOperandOp, wanted: Attribute, demanded: tuple[Requirement, ...]) -> RelayOp | None:
        """The static op that gives the type `wanted`, whose rule demands what this op checks and no more."""
        kind, variants = STATIC[type(op)]
        allowed, checked = _sides(demanded), _sides(op.requirements)
        for properties in variants(op, shape_of(wanted)):
            made = kind.create(operands=[op.operands[0]], result_types=[wanted], properties=properties)
            try:
                found = made.inference(made.operand_types)
            except ConstraintError:
                found = None
            if found is not None and found.type == wanted and checked <= _sides(found.requirements) <= allowed:
                record_requirements(made, op.requirements)
                return made
            made.erase()
        return None


def _sides(requirements: tuple[Requirement, ...]) -> set[object]:
    """What is demanded, whatever op demands it."""
    return {(type(each), each.lhs, each.rhs) for each in requirements}


Properties: TypeAlias = dict[str, Attribute]


def _numbers(shape: Shape) -> tuple[int, ...] | None:
    numbers = tuple(extent for extent in shape if isinstance(extent, int))
    return numbers if len(numbers) == len(shape) else None


def _reshapes(op: ShapeOperandOp, shape: Shape) -> Iterator[Properties]:
    """By numbers where all are known, else by codes that copy, merge or infer the extents with names."""
    numbers = _numbers(shape)
    if numbers is not None:
        yield ReshapeOp.properties_from({"newshape": numbers, "allowzero": 0 in numbers})
        return
    for codes in codes_of(shape_of(op.operands[0].type), shape):
        yield ReshapeOp.properties_from({"newshape": codes})


def _fills(kind: type[RelayOp]) -> Callable[[ShapeOperandOp, Shape], Iterator[Properties]]:
    """By numbers alone, for an op that takes a `shape`."""

    def properties(_: ShapeOperandOp, shape: Shape) -> Iterator[Properties]:
        numbers = _numbers(shape)
        if numbers is not None:
            yield kind.properties_from({"shape": numbers})

    return properties


STATIC: dict[type[ShapeOperandOp], tuple[type[RelayOp], Callable[[ShapeOperandOp, Shape], Iterator[Properties]]]] = {
    DynReshapeOp: (ReshapeOp, _reshapes),
    DynBroadcastToOp: (BroadcastToOp, _fills(BroadcastToOp)),
    DynFullOp: (FullOp, _fills(FullOp)),
}
"""Op whose shape is an operand → its static form, and the properties with which that may give a shape."""
