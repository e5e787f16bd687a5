"""`relay-split-wide-ops`: replaces concatenations and splits with very many parts by trees of smaller ops.

A kernel of such an op has an argument and a loop nest for each part, and LLVM's compile time is more than linear in
their number. If there are more than `most-parts` parts, neighbours are concatenated in groups of `most-parts`, then the
results of the groups, until a single tensor is left. A split is split into groups of parts first, and each group into
its parts. A `relay.annotation.stop_fusion` between the levels makes each op a kernel of its own; groups of equal types
share a kernel.

If the extent of a concatenation has more than 16 names, its groups have 16 parts, because the offset of a part is a sum
of all preceding extents. `loop-elide-copies` stores the inner results directly in the outer ones, so that there are no
further copies. Exact.

Before, with `most-parts=2`:

    %t = relay.tuple(%a, %b, %c)
    %y = relay.concatenate(%t)

After:

    %0 = relay.tuple(%a, %b)
    %1 = relay.concatenate(%0)
    %2 = relay.annotation.stop_fusion(%1)
    %3 = relay.tuple(%2, %c)
    %y = relay.concatenate(%3)

Concatenations of a tuple that no `relay.tuple` defines, splits at dynamic positions, and ops whose types are not
inferred yet are not changed. Raises `PassError` if `most-parts` is below 2.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final, TypeVar

from typing_extensions import override
from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import SSAValue
from xdsl.pattern_rewriter import PatternRewriter, RewritePattern, op_type_rewrite_pattern

from xrelay.dialects.relay.ops.annotation import StopFusionOp
from xrelay.dialects.relay.ops.tensor.join import ConcatenateOp, SplitOp
from xrelay.dialects.relay.structure.tuples import TupleGetItemOp, TupleOp
from xrelay.dialects.shared.types import is_complete, shape_of
from xrelay.errors import PassError
from xrelay.index_algebra.dims import DimExpr
from xrelay.passes.graph.rewriting import Emitter, owner_of, rewrite_once
from xrelay.passes.infra.xrelay_pass import EXACT, XRelayPass

ItemT = TypeVar("ItemT")

MAX_NAMES: Final = 16
"""The maximum number of parts of a concatenation whose extent has more names than this."""


@dataclass(frozen=True)
class RelaySplitWideOpsPass(XRelayPass):
    """Replaces concatenations and splits with many parts by trees of smaller ops; see the module's docstring."""

    name = "relay-split-wide-ops"
    numerics = EXACT

    most_parts: int = field(default=128, metadata={"help": "the maximum number of parts of an op"})

    @override
    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Rewrites the module in place."""
        if self.most_parts < 2:
            raise PassError(f"relay-split-wide-ops: most-parts is {self.most_parts}, it must be 2 or more")
        rewrite_once(op, ConcatenateOp, SplitWideConcatenate(self.most_parts))
        rewrite_once(op, SplitOp, SplitWideSplit(self.most_parts))


class SplitWideConcatenate(RewritePattern):
    """Replaces a concatenation of many parts by a tree of concatenations; see the module's docstring. Exact.

    Before:

        %t = relay.tuple(%a, %b, %c)
        %y = relay.concatenate(%t)

    After:

        %0 = relay.tuple(%a, %b)
        %1 = relay.concatenate(%0)
        %2 = relay.annotation.stop_fusion(%1)
        %3 = relay.tuple(%2, %c)
        %y = relay.concatenate(%3)
    """

    def __init__(self, most_parts: int):
        self._most = most_parts

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: ConcatenateOp, rewriter: PatternRewriter) -> None:
        """Concatenates groups of neighbours until a single op can concatenate the results."""
        made = owner_of(op.data, TupleOp)
        if made is None or not is_complete(op.data.type) or not is_complete(op.result.type):
            return
        axis = op.axis.value.data
        extent = shape_of(op.result.type)[axis]
        is_named = isinstance(extent, DimExpr) and len(extent.names) > MAX_NAMES
        most = min(self._most, MAX_NAMES) if is_named else self._most
        if len(made.operands) <= most:
            return
        emit = Emitter(rewriter, op)
        parts: Sequence[SSAValue] = made.operands
        while len(parts) > most:
            groups = _groups(parts, most)
            parts = [
                group[0]
                if len(group) == 1
                else emit.call(StopFusionOp, emit.call(ConcatenateOp, emit.call(TupleOp, *group), axis=axis))
                for group in groups
            ]
        emit.replace(emit.call(ConcatenateOp, emit.call(TupleOp, *parts), axis=axis))
        if made.result.first_use is None:
            rewriter.erase(made)


class SplitWideSplit(RewritePattern):
    """Replaces a split into many parts by splits into groups, then into parts; see the module's docstring. Exact.

    Before:

        %t = relay.split(%x) {indices_or_sections = 3}
        %y = relay.tuple_get_item(%t) {index = 2}

    After:

        %0 = relay.split(%x) {indices_or_sections = [2]}
        %1 = relay.tuple_get_item(%0) {index = 1}
        %y = relay.annotation.stop_fusion(%1)
    """

    def __init__(self, most_parts: int):
        self._most = most_parts

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: SplitOp, rewriter: PatternRewriter) -> None:
        """Splits into groups until each group is a single part."""
        if op.field_count <= self._most or not is_complete(op.data.type):
            return
        axis = op.axis.value.data
        *starts, _ = op.bounds(shape_of(op.data.type)[axis])
        indices = [start for start in starts if isinstance(start, int)]
        if len(indices) < len(starts):
            return
        emit = Emitter(rewriter, op)
        fields = self._split(emit, op.data, indices, axis)
        for use in list(op.results[0].uses):
            if isinstance(item := use.operation, TupleGetItemOp):
                rewriter.replace(item, [], [fields[item.index.value.data]])
        whole = emit.insert(TupleOp.call(*fields))
        emit.replace(whole.results[0])
        if whole.results[0].first_use is None:
            rewriter.erase(whole)

    def _split(self, emit: Emitter, data: SSAValue, indices: Sequence[int], axis: int) -> list[SSAValue]:
        """The parts of `data` that start at `indices`."""
        size = 1
        while size * self._most < len(indices):
            size *= self._most
        level: list[tuple[SSAValue, Sequence[int]]] = [(data, indices)]
        while size:
            groups = [(whole, _groups(inner, size)) for whole, inner in level]
            level = list[tuple[SSAValue, Sequence[int]]]()
            for whole, inner in groups:
                if len(inner) == 1:
                    level.append((whole, inner[0]))
                    continue
                cuts = [group[0] - inner[0][0] for group in inner[1:]]
                cut = emit.call(SplitOp, whole, indices_or_sections=cuts, axis=axis)
                found = [emit.call(TupleGetItemOp, cut, index=index) for index in range(len(inner))]
                barriers = [emit.call(StopFusionOp, part) for part in found] if size > 1 else found
                level += zip(barriers, inner, strict=True)
            size //= self._most
        return [part for part, _ in level]


def _groups(items: Sequence[ItemT], size: int) -> list[Sequence[ItemT]]:
    """Lists of `size` neighbouring items; the last list may be shorter."""
    return [items[first : first + size] for first in range(0, len(items), size)]
