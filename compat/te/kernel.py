"""Views kernels at the loop level as tensor expressions, so that schedules of tensor expressions apply to them.

Each block is an op, and its axes are the block's variables, bound to their loops.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from xdsl.dialects.builtin import IntegerAttr
from xdsl.ir import SSAValue

from xrelay.dialects.loop import DYNAMIC, BlockOp, IterKind
from xrelay.dialects.loop.base import memref_type
from xrelay.dialects.shared.attribute_names import NUM_OUTPUTS
from xrelay.dialects.shared.dtypes import numpy_dtype
from xrelay.errors import ScheduleError
from xrelay.lowering.topi_to_loop.schedules.kernel_view import loop_of_variable
from xrelay.lowering.topi_to_loop.schedules.schedule_draft import ScheduleDraft
from xrelay.raised import combine_classes, raised
from xrelay.te.bind import Loops, bind_steps
from xrelay.te.expr import IterVar
from xrelay.te.schedule import Schedule
from xrelay.te.tensor import Operation, PlaceholderOp, Tensor

MakeSchedule = Callable[[Sequence[Tensor]], object]
"""Returns the schedule of a kernel's outputs."""


class BlockComputeOp(Operation):
    """A block of a kernel as a compute; a dynamic extent is `DYNAMIC`."""

    def __init__(self, block: BlockOp, inputs: Sequence[Tensor]):
        axes = [
            IterVar(f"v{k}", extent if isinstance(extent, int) else DYNAMIC, is_reduction=kind is IterKind.REDUCE)
            for k, (kind, extent) in enumerate(zip(block.kinds, block.extents, strict=True))
        ]
        spatial = [axis for axis in axes if not axis.is_reduction]
        super().__init__(block.block_name, spatial, [axis for axis in axes if axis.is_reduction])
        self._inputs = list(inputs)
        self.loops: Loops = {axis: loop_of_variable(block, k) for k, axis in enumerate(axes)}

    @property
    def input_tensors(self) -> list[Tensor]:
        """The tensors that the block reads."""
        return self._inputs


def schedule_draft(draft: ScheduleDraft, make: MakeSchedule, what: str) -> None:
    """Schedules the kernel of a draft by the steps that `make` records for its outputs.

    Raises a `ScheduleError` that names `what` if `make` fails, does not return a schedule, or records an illegal step.
    """
    ops, outputs = _tensors(draft)
    try:
        schedule = make(outputs)
    except ScheduleError:
        raise
    except Exception as error:
        raise combine_classes(ScheduleError(f"the schedule of {what} {raised(error)}"), error) from error
    if not isinstance(schedule, Schedule):
        raise ScheduleError(f"the schedule of {what} returned {schedule!r}", help="return a te.Schedule")
    inlined = [stage.op.name for stage in schedule.stages if stage.is_inlined]
    if inlined:
        raise ScheduleError(
            f"stage {inlined[0]!r} is already inlined", help="the stages of a kernel are inlined before its schedule"
        )
    loops = {axis: loop for op in ops for axis, loop in op.loops.items()}
    steps = bind_steps(draft.kernel.clone(), schedule, loops, {op: op.name for op in ops})
    draft.do(*steps)


def _tensors(draft: ScheduleDraft) -> tuple[list[BlockComputeOp], list[Tensor]]:
    """Returns the blocks of a kernel as ops, and the tensors of its outputs."""
    arguments = draft.kernel.body.block.args
    tensors: dict[SSAValue, Tensor] = {argument: _placeholder(argument) for argument in arguments}
    ops: list[BlockComputeOp] = []
    for block in draft.blocks():
        op = BlockComputeOp(block, [tensors[buffer] for buffer in block.reads if buffer in tensors])
        for buffer in block.writes:
            op.tensor = tensors[buffer] = _tensor(buffer, op)
        ops.append(op)
    count = draft.kernel.attributes.get(NUM_OUTPUTS)
    outputs = arguments[len(arguments) - count.value.data :] if isinstance(count, IntegerAttr) else ()
    return ops, [tensors[argument] for argument in outputs]


def _placeholder(value: SSAValue) -> Tensor:
    op = PlaceholderOp(value.name_hint if value.name_hint is not None else "argument", [])
    op.tensor = _tensor(value, op)
    return op.tensor


def _tensor(value: SSAValue, op: Operation) -> Tensor:
    type = memref_type(value)
    return Tensor(type.get_shape(), str(numpy_dtype(type.element_type)), op)
