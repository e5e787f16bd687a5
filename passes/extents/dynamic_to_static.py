"""`relay-dynamic-to-static`: replaces ops with a shape as an operand by ops with a shape as an attribute.

The elements of small integer tensors are propagated as in `relay-infer-type`: those of constants and of `shape_of`, and
elements computed from them. `dyn.reshape`, `dyn.broadcast_to`, `dyn.full`, `dyn.tile`, `dyn.nn.pad`,
`dyn.strided_slice`, `dyn.topk`, `dyn.sparse_to_dense` and `dyn.image.resize` become the ops without `dyn` if the
elements of their shapes, widths, bounds and sizes are known; `dyn.image.resize` only if it resizes all axes except
batch and channels, without a scale. Any other op becomes a constant if all elements of its result are known numbers, so
that `relay-fold-constant` can evaluate ops such as `arange` with these operands. A constant shape in floats that is
cast to integers is also a known shape.

Layouts, fusion and native code need shapes as attributes. The elements follow from the rules of the ops, so the shape
of a tensor is known without its data, and extents with names are propagated too. No value changes. Relay's
DynamicToStatic.

Refuses, with a remark: a shape with unknown elements; a shape with names that the attributes of the static op cannot
express; a static op with other requirements on named dimensions than the op itself.

If an op has its shape as an operand, types are inferred first, because the types of a program that was just built are
less precise than its known elements. A module without such ops is not inferred again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from xdsl.context import Context
from xdsl.dialects.builtin import IntegerType, ModuleOp
from xdsl.ir import Attribute, Operation
from xdsl.pattern_rewriter import PatternRewriter, RewritePattern, op_type_rewrite_pattern

from xrelay.dialects.relay.core.attribute_values import ints
from xrelay.dialects.relay.core.facts import Facts, Inference
from xrelay.dialects.relay.core.op_base import RelayOp
from xrelay.dialects.relay.core.shape_rules import codes_of
from xrelay.dialects.relay.ops.algorithm.select import DynStridedSliceOp
from xrelay.dialects.relay.ops.algorithm.sort import DynTopKOp, TopKOp
from xrelay.dialects.relay.ops.dyn.pad import DynPadOp
from xrelay.dialects.relay.ops.dyn.shapes import DynBroadcastToOp, DynFullOp, DynReshapeOp, DynTileOp
from xrelay.dialects.relay.ops.image.resize import RESIZES, DynResizeOp, ResizeOp
from xrelay.dialects.relay.ops.sparse import DynSparseToDenseOp, SparseToDenseOp
from xrelay.dialects.relay.ops.tensor.cast import CastOp
from xrelay.dialects.relay.ops.tensor.fill import FullOp
from xrelay.dialects.relay.ops.tensor.movement import BroadcastToOp, StridedSliceOp, TileOp
from xrelay.dialects.relay.ops.tensor.shape import ReshapeOp
from xrelay.dialects.relay.ops.tensor.transform import PadOp
from xrelay.dialects.relay.structure.constant import ConstantOp
from xrelay.dialects.relay.structure.known_elements import KnownElements
from xrelay.dialects.shared.dtypes import numpy_dtype
from xrelay.dialects.shared.requirements import record_requirements
from xrelay.dialects.shared.types import element_type_of, is_complete, is_static, shape_of
from xrelay.errors import ConstraintError
from xrelay.index_algebra.dims import Dim
from xrelay.index_algebra.requirement import Requirement
from xrelay.passes.graph.effects import is_pure
from xrelay.passes.graph.remarks import Remark, Remarks, report
from xrelay.passes.graph.rewriting import Emitter, constant_of, rewrite_once, static_shape
from xrelay.passes.infra.verify import walk_ops
from xrelay.passes.infra.xrelay_pass import EXACT, XRelayPass
from xrelay.passes.types.infer_type import infer_types

MAX_EXTENTS = 64
"""The maximum number of elements of a shape."""


@dataclass(frozen=True)
class RelayDynamicToStaticPass(XRelayPass):
    """Makes known shapes attributes; see the module's docstring."""

    name = "relay-dynamic-to-static"
    numerics = EXACT
    per_function = True

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Rewrites the module in place."""
        report(dynamic_to_static(op))


def dynamic_to_static(module: ModuleOp) -> list[Remark]:
    """Rewrites `module`; returns a remark for each op with a shape as an operand."""
    if any(type(op) in STATIC for op in walk_ops(module)):
        rewrite_once(module, CastOp, FoldCast())
        infer_types(module)
    pattern = MakeStatic()
    rewrite_once(module, RelayOp, pattern)
    return pattern.remarks.all


class FoldCast(RewritePattern):
    """Replaces a cast of constant floats to integers by the integers, so that a shape in floats is known. Exact.

    Before:

        %s = relay.constant dense<[2.0, 6.0]> : tensor<2xf32>
        %i = relay.cast(%s) {dtype = i64} : (tensor<2xf32>) -> tensor<2xi64>

    After:

        %i = relay.constant dense<[2, 6]> : tensor<2xi64>
    """

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: CastOp, rewriter: PatternRewriter) -> None:
        """Folds the cast of a scalar or vector of whole numbers that is not too long for a shape."""
        floats = constant_of(op.data)
        is_shape = floats is not None and floats.dtype.kind == "f" and floats.ndim <= 1 and floats.size <= MAX_EXTENTS
        if floats is None or not is_shape or not isinstance(op.dtype, IntegerType):
            return
        with np.errstate(invalid="ignore"):
            numbers = floats.astype(numpy_dtype(op.dtype))
        if np.array_equal(numbers.astype(np.float64), floats.astype(np.float64)):
            emit = Emitter(rewriter, op)
            emit.replace(emit.constant(numbers))


class MakeStatic(RewritePattern):
    """Replaces an op whose shape or elements are known by the op without an operand for them. Exact.

    Before:

        %s = relay.shape_of(%x) : (tensor<2x6xf32>) -> tensor<2xi64>
        %y = relay.dyn.reshape(%z, %s) : (tensor<12xf32>, tensor<2xi64>) -> tensor<2x6xf32>

    After:

        %y = relay.reshape(%z) {newshape = [2, 6]} : (tensor<12xf32>) -> tensor<2x6xf32>

    Must be applied to the ops in program order, as it records the elements of their results.
    """

    def __init__(self) -> None:
        self.remarks = Remarks(RelayDynamicToStaticPass.name)
        self._elements = KnownElements()

    def match_and_rewrite(self, op: Operation, rewriter: PatternRewriter) -> None:
        """Records the known elements of the result, and makes the op static or a constant if possible."""
        if not isinstance(op, RelayOp) or not all(map(is_complete, op.operand_types)):
            return
        self._elements.learn(op, op.operand_types)
        if type(op) in STATIC:
            self._make_static(op, rewriter)
        elif not isinstance(op, ConstantOp) and (constant := self._as_constant(op)) is not None:
            emit = Emitter(rewriter, op)
            emit.replace(emit.insert(constant).result)

    def _as_constant(self, op: RelayOp) -> ConstantOp | None:
        """Returns the result as a constant if all elements are numbers, and the op is pure and has no requirements."""
        found, type = self._elements.of(op.results[0]), op.results[0].type
        numbers = [element for element in found or () if isinstance(element, int)]
        if found is None or len(numbers) < len(found) or not is_static(type) or op.requirements or not is_pure(op):
            return None
        array = np.array(numbers, numpy_dtype(element_type_of(type)))
        return ConstantOp.of(array.reshape(static_shape(op.results[0])))

    def _make_static(self, op: RelayOp, rewriter: PatternRewriter) -> None:
        known = self._elements.of_operands(op)
        inference = op.inference(op.operand_types, known)
        if inference.extents:
            self.remarks.refused(op, "elements of its shape are not known")
        elif inference.type == op.results[0].type:
            static = _static(op, Facts(op.name, op.operand_types, known), inference)
            if static is None:
                name = STATIC[type(op)].op_for(op).relay_name()
                self.remarks.refused(op, f"no {name} has the result type {inference.type}")
                return
            self.remarks.applied(op, "its shape is known: the result type is {}", inference.type)
            emit = Emitter(rewriter, op)
            emit.replace(emit.insert(static).results[0])


def _static(op: RelayOp, facts: Facts, inference: Inference) -> RelayOp | None:
    """Returns the static op of type `inference`, or None.

    Its requirements must include all that this op checks, and be among those of `inference`.
    """
    form = STATIC[type(op)]
    operands = [op.operands[index] for index in form.operands]
    allowed, checked = _sides(inference.requirements), _sides(op.requirements)
    for properties in form.variants(op, facts, inference.type):
        made = form.op_for(op).create(operands=operands, result_types=[inference.type], properties=properties)
        try:
            found = made.inference(made.operand_types)
        except ConstraintError:
            found = None
        if found is not None and found.type == inference.type and checked <= _sides(found.requirements) <= allowed:
            record_requirements(made, op.requirements)
            return made
        made.erase()
    return None


def _sides(requirements: tuple[Requirement, ...]) -> set[object]:
    """Returns the relations of requirements without their labels."""
    return {(type(each), each.lhs, each.rhs) for each in requirements}


Properties: TypeAlias = dict[str, Attribute]


Variants: TypeAlias = Callable[[RelayOp, Facts, Attribute], Iterator[Properties]]


def _numbers(elements: Sequence[Dim] | None) -> tuple[int, ...] | None:
    numbers = tuple(element for element in elements or () if isinstance(element, int))
    return None if elements is None or len(numbers) < len(elements) else numbers


def _reshapes(op: RelayOp, facts: Facts, type: Attribute) -> Iterator[Properties]:
    """Yields numbers as `newshape` if all are known, else codes that copy, merge or infer the extents with names."""
    shape = shape_of(type)
    numbers = _numbers(shape)
    if numbers is not None:
        yield ReshapeOp.properties_from({"newshape": numbers, "allowzero": 0 in numbers})
        return
    for codes in codes_of(facts.shape(0), shape):
        yield ReshapeOp.properties_from({"newshape": codes})


def _fills(kind: type[RelayOp], name: str = "shape") -> Variants:
    """Returns variants with the extents as the attribute `name`, if all are numbers."""

    def properties(op: RelayOp, facts: Facts, type: Attribute) -> Iterator[Properties]:
        numbers = _numbers(shape_of(type))
        if numbers is not None:
            yield kind.properties_from({name: numbers})

    return properties


def _static_variants(kind: type[RelayOp], *names: str) -> Variants:
    """Returns variants with the elements of the operands after the first as the properties `names`.

    The op keeps its other properties.
    """

    def properties(op: RelayOp, facts: Facts, type: Attribute) -> Iterator[Properties]:
        lists = {name: _numbers(facts.elements(index)) for index, name in enumerate(names, 1)}
        known = {name: numbers for name, numbers in lists.items() if numbers is not None}
        if len(known) == len(names):
            yield {**kind.properties_from(known), **op.properties}

    return properties


def _first(op: RelayOp, facts: Facts, type: Attribute) -> Iterator[Properties]:
    """Yields the number of elements if it is positive; `topk` interprets 0 differently."""
    numbers = _numbers(facts.elements(1))
    if numbers is not None and numbers[0] > 0:
        yield {**TopKOp.properties_from({"k": numbers[0]}), **op.properties}


def _sizes(op: RelayOp, facts: Facts, type: Attribute) -> Iterator[Properties]:
    """Yields the sizes if the axes are those of an image layout, all scales are 0, and the region is constant."""
    numbers = _numbers(facts.elements(1))
    if not isinstance(op, DynResizeOp) or op.antialiases or numbers is None:
        return
    kind, (scale, roi) = _resize_of(op), (operand.owner for operand in (op.scale, op.roi))
    if not isinstance(scale, ConstantOp) or not isinstance(roi, ConstantOp) or np.any(scale.array):
        return
    axes, rank = list(ints(op.axes)), len(facts.shape(0))
    for layout in (f"NC{kind.AXES}", f"N{kind.AXES}C"):
        if axes == [layout.index(letter) for letter in kind.AXES] and rank == len(layout):
            region = [float(number) for number in roi.array] if op.resampling.crops else []
            own = {name: value for name, value in op.properties.items() if name not in ("axes", "antialias")}
            yield {**kind.properties_from({"size": numbers, "layout": layout, "roi": region}), **own}


def _resize_of(op: RelayOp) -> type[ResizeOp]:
    """Returns the resize of as many axes; that of three axes, which `_sizes` rejects, if there are more."""
    count = len(ints(op.axes)) if isinstance(op, DynResizeOp) else len(RESIZES)
    return RESIZES[min(count, len(RESIZES)) - 1]


@dataclass(frozen=True)
class StaticForm:
    """A static op, with the properties that may express a result type and the operands that it keeps."""

    op: type[RelayOp] | Callable[[RelayOp], type[RelayOp]]
    variants: Variants
    operands: tuple[int, ...] = (0,)

    def op_for(self, dynamic: RelayOp) -> type[RelayOp]:
        """Returns the class of the op that replaces `dynamic`."""
        return self.op if isinstance(self.op, type) else self.op(dynamic)


STATIC: dict[type[RelayOp], StaticForm] = {
    DynReshapeOp: StaticForm(ReshapeOp, _reshapes),
    DynBroadcastToOp: StaticForm(BroadcastToOp, _fills(BroadcastToOp)),
    DynFullOp: StaticForm(FullOp, _fills(FullOp)),
    DynSparseToDenseOp: StaticForm(SparseToDenseOp, _fills(SparseToDenseOp, "output_shape"), operands=(0, 2, 3)),
    DynTileOp: StaticForm(TileOp, _static_variants(TileOp, "reps")),
    DynPadOp: StaticForm(PadOp, _static_variants(PadOp, "pad_width"), operands=(0, 2)),
    DynStridedSliceOp: StaticForm(StridedSliceOp, _static_variants(StridedSliceOp, "begin", "end", "strides")),
    DynTopKOp: StaticForm(TopKOp, _first),
    DynResizeOp: StaticForm(_resize_of, _sizes),
}
"""Maps each op with a shape as an operand to its static form."""
