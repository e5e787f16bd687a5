"""`relay-name-extents`: ops whose operands say their shape are told it by extents that have names.

What: the extents that an op computes from integers which only the run knows are computed in front of it, by plain
arithmetic on short lists, and get the names that the op bound; the op's operand are these extents, and it binds
nothing. Why: native code allocates a result before the kernel that fills it runs, and errors about sizes are told
there. Types stay as they are. An op's table (`EXTENTS`) has a row for each such operator, by family in
`extents_of_shapes.py`, `extents_of_slices.py` and `extents_of_ranges.py`.

Before:

    %y = relay.dyn.full(%f, %s) {relay.binds = #relay.bounds<e>}
        : (tensor<f32>, tensor<1xi64>) -> tensor<?xf32, #relay.dims<e>>

After:

    %v = relay.extents(%s) {relay.binds = #relay.bounds<e>} : (tensor<1xi64>) -> tensor<1xi64>
    %y = relay.dyn.full(%f, %v) : (tensor<f32>, tensor<1xi64>) -> tensor<?xf32, #relay.dims<e>>

Elements that are known stay known: of a shape `[3, %n]` one extent gets a name. Values that no rule gives a name (a
number of repetitions, a width of padding) get one too, so that it is known of them that they are not negative, and what
the rule of the op demands of them is checked where it runs. What is no shape at all becomes a negative extent, which is
an error there.

Left alone: ops of known shapes, save slices, of which native code takes the number of elements and not the end; ranges
of unsigned numbers of 64 bits; kernels.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp
from xdsl.ir import Operation, SSAValue
from xdsl.passes import ModulePass
from xdsl.pattern_rewriter import PatternRewriter, RewritePattern

from xrelay.dialects.relay.core.op_base import RelayOp
from xrelay.dialects.relay.ops.algorithm_select import DynStridedSliceOp
from xrelay.dialects.relay.ops.algorithm_sort import DynTopKOp
from xrelay.dialects.relay.ops.dyn_pad import DynPadOp
from xrelay.dialects.relay.ops.dyn_shapes import CollapseSumToOp, DynBroadcastToOp, DynFullOp, DynReshapeOp, DynTileOp
from xrelay.dialects.relay.ops.image_resize import DynResizeOp
from xrelay.dialects.relay.ops.sparse_tensor import DynSparseToDenseOp
from xrelay.dialects.relay.ops.tensor.range import ArangeOp
from xrelay.dialects.relay.structure.known_elements import KnownElements
from xrelay.dialects.shared.attribute_names import PRIMITIVE
from xrelay.dialects.shared.recorded_requirements import made_extents
from xrelay.dialects.shared.types import is_complete
from xrelay.passes.graph.remarks import Remark, Remarks, report
from xrelay.passes.graph.rewriting import Emitter, rewrite_once
from xrelay.passes.relay.extents_of_ranges import name_arange
from xrelay.passes.relay.extents_of_shapes import (
    name_broadcast,
    name_collapse,
    name_full,
    name_reshape,
    name_resize,
    name_sparse_to_dense,
    name_tile,
)
from xrelay.passes.relay.extents_of_slices import name_pad, name_strided_slice, name_topk
from xrelay.passes.relay.shape_code import ShapeCode
from xrelay.passes.types.dim_names import DimNames
from xrelay.passes.types.type_solver import function_around
from xrelay.passes.types.type_upkeep import renew_requirements

NameExtents = Callable[[RelayOp, ShapeCode], RelayOp | SSAValue | None]
"""Emits the extents of an op and gives what takes its place; `None` where it cannot."""

EXTENTS: Mapping[type[RelayOp], NameExtents] = {
    DynReshapeOp: name_reshape,
    DynBroadcastToOp: name_broadcast,
    CollapseSumToOp: name_collapse,
    DynFullOp: name_full,
    DynSparseToDenseOp: name_sparse_to_dense,
    DynTileOp: name_tile,
    DynStridedSliceOp: name_strided_slice,
    DynTopKOp: name_topk,
    DynPadOp: name_pad,
    DynResizeOp: name_resize,
    ArangeOp: name_arange,
}
"""Op whose operands say its shape → what computes it."""


@dataclass(frozen=True)
class RelayNameExtentsPass(ModulePass):
    """Compute the extents that operands say in front of the ops that have them; see the module's docstring. Exact."""

    name = "relay-name-extents"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Rewrite the module in place."""
        report(name_extents(op))


def name_extents(module: ModuleOp) -> list[Remark]:
    """Rewrite `module`; says which extents are computed by ops of their own now."""
    pattern = ComputeExtents()
    rewrite_once(module, RelayOp, pattern)
    renew_requirements(module)
    return pattern.remarks.all


class ComputeExtents(RewritePattern):
    """An op that makes extents of its operands' elements → the extents, and the op of these.

    It is shown the ops in the order of the program, and remembers the elements that it has met.
    """

    def __init__(self) -> None:
        self.remarks = Remarks(RelayNameExtentsPass.name)
        self._elements = KnownElements()
        self._names: dict[FuncOp, DimNames] = {}

    def match_and_rewrite(self, op: Operation, rewriter: PatternRewriter) -> None:
        """Learn what is known of the op's elements, and compute its extents where it makes some."""
        if not isinstance(op, RelayOp) or not all(map(is_complete, op.operand_types)):
            return
        self._elements.learn(op, op.operand_types)
        name = EXTENTS.get(type(op))
        made = made_extents(op)
        if name is None or not (made or _has_ends(op)):
            return
        function = function_around(op)
        if PRIMITIVE in function.attributes:
            return
        if function not in self._names:
            self._names[function] = DimNames(function)
        emit = Emitter(rewriter, op)
        code = ShapeCode(op, emit, self._elements.of_operands(op), self._names[function].fresh)
        found = name(op, code)
        if found is not None:
            told = ", ".join(extent.name for extent in made) or "where it begins"
            self.remarks.applied(op, "{} is computed before it runs", told)
            emit.replace(found.results[0] if isinstance(found, Operation) else found)


def _has_ends(op: RelayOp) -> bool:
    """Whether a slice is told by the places before which it ends, which native code does not take."""
    return isinstance(op, DynStridedSliceOp) and op.slice_mode.data == "end"
