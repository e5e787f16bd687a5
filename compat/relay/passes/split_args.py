"""`relay-split-args`: splits concatenations with more operands than a function may have arguments.

Functions of some targets have a limited number of arguments (a shader may read few buffers). With `max-function-args`
greater than 0, a concatenation becomes a chain: each concatenation takes the result of the previous one and as many
further fields as the limit allows. A `relay.annotation.stop_fusion` of each tuple makes each concatenation a kernel of
its own. The CPU has no such limit, so the compiler runs the pass only on request. Exact.

Arguments are counted as in Relay: an operand counts 1, and if it is dynamic also the number of its dynamic extents and
of its strides; the result counts 1, and if it is dynamic also its strides. A concatenation is not changed if the sum is
below the limit.

Before, with `max-function-args=4`:

    %t = relay.tuple(%a, %b, %c, %d)
    %y = relay.concatenate(%t)

After:

    %0 = relay.tuple(%a, %b, %c)
    %1 = relay.annotation.stop_fusion(%0)
    %2 = relay.concatenate(%1)
    %3 = relay.tuple(%2, %d)
    %4 = relay.annotation.stop_fusion(%3)
    %y = relay.concatenate(%4)

Concatenations of a tuple that no `relay.tuple` defines, and ops whose types are not inferred yet, are not changed.
Raises `PassError` for a negative limit, and if the limit allows fewer than two operands.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp, TensorType
from xdsl.ir import Attribute, SSAValue
from xdsl.pattern_rewriter import PatternRewriter, RewritePattern, op_type_rewrite_pattern

from xrelay.dialects.relay.ops.annotation import StopFusionOp
from xrelay.dialects.relay.ops.tensor.join import ConcatenateOp
from xrelay.dialects.relay.structure.tuples import TupleOp
from xrelay.dialects.shared.locations import describe_location
from xrelay.dialects.shared.types import is_complete, shape_of
from xrelay.errors import PassError
from xrelay.passes.graph.rewriting import Emitter, owner_of, rewrite_once
from xrelay.passes.infra.xrelay_pass import EXACT, XRelayPass


@dataclass(frozen=True)
class RelaySplitArgsPass(XRelayPass):
    """Splits concatenations of too many tensors; see the module's docstring."""

    name = "relay-split-args"
    numerics = EXACT
    per_function = True

    max_function_args: int = field(
        default=0, metadata={"help": "the maximum number of a function's arguments, including results; 0 is no limit"}
    )

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Splits in place."""
        if self.max_function_args < 0:
            raise PassError(f"relay-split-args: max-function-args is {self.max_function_args}, it must be 0 or more")
        if self.max_function_args > 0:
            rewrite_once(op, ConcatenateOp, SplitConcatenate(self.max_function_args))


class SplitConcatenate(RewritePattern):
    """Splits a concatenation of many tensors into a chain; see the module's docstring. Exact."""

    def __init__(self, max_function_args: int):
        self._most = max_function_args

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: ConcatenateOp, rewriter: PatternRewriter) -> None:
        """Concatenates the fields in order, as many at once as the limit allows."""
        made = owner_of(op.data, TupleOp)
        if made is None or not all(map(is_complete, (op.data.type, op.result.type))):
            return
        fields = list(made.operands)
        limit = self._most - _arguments(op.result.type, is_result=True)
        if sum(_arguments(each.type) for each in fields) < limit:
            return
        chunks = _chunks(fields, limit)
        if chunks is None:
            raise PassError(
                f"relay-split-args: {self._most} arguments are too few for a {op.relay_name()} of two operands",
                location=describe_location(op),
            )
        emit = Emitter(rewriter, op)
        axis = op.axis.value.data
        joined: list[SSAValue] = []
        for chunk in chunks:
            barrier = emit.call(StopFusionOp, emit.call(TupleOp, *joined, *chunk))
            joined = [emit.call(ConcatenateOp, barrier, axis=axis)]
        emit.replace(joined[0])
        if made.result.first_use is None:
            rewriter.erase(made)


def _chunks(fields: Sequence[SSAValue], limit: int) -> list[list[SSAValue]] | None:
    """`fields` in consecutive lists of at most `limit` arguments, including the result of the previous concatenation.

    As in Relay, that result counts as many arguments as the first field of the list. Returns `None` if two operands
    exceed `limit`.
    """
    chunks: list[list[SSAValue]] = [[]]
    taken = 0
    for value in fields:
        needs = _arguments(value.type)
        if taken + needs > limit and chunks[-1]:
            chunks.append([])
            taken = needs
        taken += needs
        if taken > limit:
            return None
        chunks[-1].append(value)
    return chunks


def _arguments(type: Attribute, *, is_result: bool = False) -> int:
    """The number of arguments for a tensor: itself, and if it is dynamic, its strides and for operands its extents."""
    shape = shape_of(type) if isinstance(type, TensorType) else ()
    dynamic = sum(not isinstance(extent, int) for extent in shape)
    return 1 + (len(shape) + (0 if is_result else dynamic) if dynamic else 0)
