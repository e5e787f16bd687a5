"""`relay-name-extents`: computes extents that depend on values of operands before the op, and names them.

Native code allocates a result before the kernel that fills it runs, and reports errors about sizes there. If an op
determines extents of its result from integers that are known only at run time, the pass computes them before the op, by
arithmetic on short lists, and binds the names that the op introduced. The op gets these extents as its operand and no
longer introduces names. Types do not change. The table `EXTENT_RULES` has an entry for each such operator.

Before:

    %y = relay.dyn.full(%f, %s) {relay.binds = #relay.bounds<e>}
        : (tensor<f32>, tensor<1xi64>) -> tensor<?xf32, #relay.dims<e>>

After:

    %v = relay.extents(%s) {relay.binds = #relay.bounds<e>} : (tensor<1xi64>) -> tensor<1xi64>
    %y = relay.dyn.full(%f, %v) : (tensor<f32>, tensor<1xi64>) -> tensor<?xf32, #relay.dims<e>>

Known elements remain numbers: only one extent of the shape `[3, %n]` gets a name. Values that are not extents of the
result (repetition counts, padding widths) get names too, so that they are known not to be negative, and requirements on
them are checked when the op runs. An invalid shape becomes a negative extent, which is an error when it is bound.

Not changed: ops with static shapes, except slices that are defined by their ends, because native code needs the number
of elements instead; ranges of ui64; kernels.
"""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp
from xdsl.ir import Operation
from xdsl.pattern_rewriter import PatternRewriter, RewritePattern

from xrelay.dialects.relay.core.op_base import RelayOp
from xrelay.dialects.relay.ops.algorithm.select import DynStridedSliceOp
from xrelay.dialects.relay.structure.known_elements import KnownElements
from xrelay.dialects.shared.attribute_names import PRIMITIVE
from xrelay.dialects.shared.requirements import new_extents
from xrelay.dialects.shared.types import is_complete
from xrelay.passes.extents.extent_rules import EXTENT_RULES
from xrelay.passes.extents.shape_code import ShapeCode
from xrelay.passes.graph.remarks import Remark, Remarks, report
from xrelay.passes.graph.rewriting import Emitter, rewrite_once
from xrelay.passes.infra.xrelay_pass import EXACT, XRelayPass
from xrelay.passes.types.dim_names import DimNames
from xrelay.passes.types.type_solver import function_around
from xrelay.passes.types.type_upkeep import renew_requirements


@dataclass(frozen=True)
class RelayNameExtentsPass(XRelayPass):
    """Computes extents that depend on values of operands before the op; see the module's docstring. Exact."""

    name = "relay-name-extents"
    numerics = EXACT

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Rewrites the module in place."""
        report(name_extents(op))


def name_extents(module: ModuleOp) -> list[Remark]:
    """Rewrites `module`; returns remarks on the extents that are now computed by separate ops."""
    pattern = ComputeExtents()
    rewrite_once(module, RelayOp, pattern)
    renew_requirements(module)
    return pattern.remarks.all


class ComputeExtents(RewritePattern):
    """Replaces an op that computes extents from elements of operands by ops that compute them, and the op on these.

    The pattern must visit the ops in program order, because it collects known elements.
    """

    def __init__(self) -> None:
        self.remarks = Remarks(RelayNameExtentsPass.name)
        self._elements = KnownElements()
        self._names: dict[FuncOp, DimNames] = {}

    def match_and_rewrite(self, op: Operation, rewriter: PatternRewriter) -> None:
        """Records known elements of the op's result, and computes the extents that the op introduces."""
        if not isinstance(op, RelayOp) or not all(map(is_complete, op.operand_types)):
            return
        self._elements.learn(op, op.operand_types)
        made = new_extents(op)
        if type(op) not in EXTENT_RULES or not (made or _has_ends(op)):
            return
        rule, failure = EXTENT_RULES[type(op)]
        function = function_around(op)
        if PRIMITIVE in function.attributes:
            return
        if function not in self._names:
            self._names[function] = DimNames(function)
        emit = Emitter(rewriter, op)
        fresh = self._names[function].fresh
        found = rule(op, ShapeCode(op, emit, self._elements.of_operands(op), fresh, failure))
        if found is not None:
            names = ", ".join(extent.name for extent in made) or "the start"
            self.remarks.applied(op, "{} is computed by a separate op", names)
            emit.replace(found.results[0] if isinstance(found, Operation) else found)


def _has_ends(op: RelayOp) -> bool:
    """Whether `op` is a slice that is defined by its ends, which native code does not support."""
    return isinstance(op, DynStridedSliceOp) and op.slice_mode.data == "end"
