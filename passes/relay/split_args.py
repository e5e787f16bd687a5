"""`relay-split-args`: a concatenation of more tensors than a function may have arguments becomes several.

What: with `max-function-args` greater than 0, the fields are taken in order, and as soon as one more would be too many
for one kernel those so far are concatenated first; what that gives is the first field of the next one. Each of the new
concatenations stands behind a `relay.annotation.stop_fusion` of its tuple, so that each is a kernel of its own. Why:
functions of some targets have a limit (a shader may look at few buffers). On the CPU there is none, and the compiler
runs the pass where someone asks for it. Exact.

An argument is counted as Relay counts it: 1 for a tensor, and for one with open extents the number of these and of its
strides as well; of the result, 1 and its strides where an extent is open. A concatenation stays as it is where its
arguments are fewer than what the result leaves.

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

Left alone: concatenations of a tuple that is not made by a `relay.tuple`, and ops whose types are not known yet.
`PassError` for a negative number, and where a limit leaves a concatenation no room for two arguments.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp, TensorType
from xdsl.ir import Attribute, SSAValue
from xdsl.passes import ModulePass
from xdsl.pattern_rewriter import PatternRewriter, RewritePattern, op_type_rewrite_pattern

from xrelay.dialects.relay.ops.annotation import StopFusionOp
from xrelay.dialects.relay.ops.tensor_join import ConcatenateOp
from xrelay.dialects.relay.structure.tuples import TupleOp
from xrelay.dialects.shared.locations import describe_place
from xrelay.dialects.shared.types import is_complete, shape_of
from xrelay.errors import PassError
from xrelay.passes.graph.rewriting import Emitter, owner_of, rewrite_once


@dataclass(frozen=True)
class RelaySplitArgsPass(ModulePass):
    """Split concatenations of too many tensors; see the module's docstring."""

    name = "relay-split-args"

    max_function_args: int = field(
        default=0, metadata={"help": "how many arguments a function may have, results among them; 0 is no limit"}
    )

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Split in place."""
        if self.max_function_args < 0:
            raise PassError(f"relay-split-args: max-function-args is {self.max_function_args}, it must be 0 or more")
        if self.max_function_args > 0:
            rewrite_once(op, ConcatenateOp, SplitConcatenate(self.max_function_args))


class SplitConcatenate(RewritePattern):
    """A concatenation of many tensors → a chain of those of fewer; see the module's docstring. Exact.

    Before:

        %t = relay.tuple(%a, %b, %c, %d)
        %y = relay.concatenate(%t)

    After:

        %0 = relay.tuple(%a, %b, %c)
        %1 = relay.annotation.stop_fusion(%0)
        %2 = relay.concatenate(%1)
        %3 = relay.tuple(%2, %d)
        %4 = relay.annotation.stop_fusion(%3)
        %y = relay.concatenate(%4)
    """

    def __init__(self, max_function_args: int):
        self._most = max_function_args

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: ConcatenateOp, rewriter: PatternRewriter) -> None:
        """Take the fields in order, as many at once as may be."""
        made = owner_of(op.data, TupleOp)
        if made is None or not all(map(is_complete, (op.data.type, op.result.type))):
            return
        fields = list(made.operands)
        room = self._most - _arguments_of_result(op.result.type)
        if sum(_arguments(each.type) for each in fields) < room:
            return
        chunks = _chunks(fields, room)
        if chunks is None:
            raise PassError(
                f"relay-split-args: {self._most} arguments leave a {op.relay_name()} no room for two operands",
                location=describe_place(op),
            )
        emit = Emitter(rewriter, op)
        axis = op.axis.value.data
        joined: list[SSAValue] = []
        for chunk in chunks:
            wall = emit.call(StopFusionOp, emit.call(TupleOp, *joined, *chunk))
            joined = [emit.call(ConcatenateOp, wall, axis=axis)]
        emit.replace(joined[0])
        if made.result.first_use is None:
            rewriter.erase(made)


def _chunks(fields: Sequence[SSAValue], room: int) -> list[list[SSAValue]] | None:
    """`fields` in order, in lists that have `room`, each but the first beside what the one before it gives.

    What a list gives takes the room of the first field behind it, as Relay counts. `None` where two do not fit.
    """
    chunks: list[list[SSAValue]] = [[]]
    taken = 0
    for value in fields:
        needs = _arguments(value.type)
        if taken + needs > room and chunks[-1]:
            chunks.append([])
            taken = needs
        taken += needs
        if taken > room:
            return None
        chunks[-1].append(value)
    return chunks


def _arguments(type: Attribute) -> int:
    """How many arguments a tensor is: itself, its open extents, and its strides where it has such."""
    shape = shape_of(type) if isinstance(type, TensorType) else ()
    named = sum(not isinstance(extent, int) for extent in shape)
    return 1 + (named + len(shape) if named else 0)


def _arguments_of_result(type: Attribute) -> int:
    """How many arguments the result is: itself, and its strides where an extent is open."""
    shape = shape_of(type) if isinstance(type, TensorType) else ()
    return 1 + (len(shape) if any(not isinstance(extent, int) for extent in shape) else 0)
