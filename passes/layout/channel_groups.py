"""`ChannelGroups`: sets of values whose channels must be padded together, and the time that padding saves.

A convolution computes the channels of its result from its filters, so that filters of zeros pad them, and a convolution
that reads padded channels multiplies them by zeros. The ops between them, such as activations, sums, depthwise
convolutions and pools, have the channels of their operands; operands and results of such ops are in one group. Any
other op that reads a value of the group needs a copy without the added channels.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from math import prod

import numpy as np
from xdsl.dialects.builtin import Float32Type
from xdsl.ir import Attribute, Operation, SSAValue

from xrelay.dialects.relay.core.op_base import RelayOp
from xrelay.dialects.relay.ops.nn.activation import HardSigmoidOp, HardSwishOp, LeakyReluOp, ReluOp, SwishOp
from xrelay.dialects.relay.ops.nn.adaptive_pool import GlobalPoolOp
from xrelay.dialects.relay.ops.nn.conv import Conv1DOp, Conv2DOp, Conv3DOp, ConvOp
from xrelay.dialects.relay.ops.nn.pool import AvgPoolOp, MaxPoolOp
from xrelay.dialects.relay.ops.tensor.arithmetic import AddOp, MaximumOp, MinimumOp, MultiplyOp, SubtractOp
from xrelay.dialects.relay.ops.tensor.shape import ExpandDimsOp
from xrelay.dialects.relay.ops.tensor.unary import AbsOp, ClipOp, ErfOp, NegativeOp, SigmoidOp, TanhOp
from xrelay.dialects.relay.structure.weights import Array
from xrelay.dialects.shared.types import element_of_any_rank, element_type_of, is_complete, shape_of
from xrelay.index_algebra.dims import Dim
from xrelay.passes.graph.rewriting import constant_of, owner_of
from xrelay.passes.infra.digraph import DisjointSets

CONVOLUTIONS = (Conv1DOp, Conv2DOp, Conv3DOp)
POOLS = (MaxPoolOp, AvgPoolOp, GlobalPoolOp)
UNARY = (
    AbsOp,
    ClipOp,
    ErfOp,
    HardSigmoidOp,
    HardSwishOp,
    LeakyReluOp,
    NegativeOp,
    ReluOp,
    SigmoidOp,
    SwishOp,
    TanhOp,
)
"""Functions that are finite at each finite number. Added channels must be finite, since they are multiplied by 0."""
BINARY = (AddOp, MaximumOp, MinimumOp, MultiplyOp, SubtractOp)

COPY = 4
"""The time to copy a vector of channels, relative to that of a product."""


class ChannelGroups:
    """The groups of values whose channels fill an odd number of halves of vectors with `lanes` elements."""

    def __init__(self, ops: Sequence[Operation], lanes: int):
        self._lanes = lanes
        self._sets = DisjointSets[SSAValue]()
        self._members: dict[SSAValue, RelayOp] = {}
        self._operands: dict[Operation, list[SSAValue]] = {}
        for op in ops:
            if isinstance(op, RelayOp) and len(op.results) == 1:
                self._add(op)
        self._padded = self._profitable()

    def _add(self, op: RelayOp) -> None:
        """Adds the result of `op` to the group of its operands, if it can be padded."""
        result = op.results[0]
        if not self._has_half_vectors(result):
            return
        operands = channel_operands(op)
        if operands is not None and all(operand in self._members for operand in operands):
            self._members[result] = op
            self._operands[op] = operands
            for operand in operands:
                self._sets.merge(operand, result)

    def _has_half_vectors(self, value: SSAValue) -> bool:
        if not is_complete(value.type) or not isinstance(element_of_any_rank(value.type), Float32Type):
            return False
        shape = shape_of(value.type)
        channels = shape[1] if len(shape) > 2 else None
        return isinstance(channels, int) and channels > self._lanes and 2 * (channels % self._lanes) == self._lanes

    def _profitable(self) -> set[SSAValue]:
        """Returns the roots of the groups that save time."""
        saved = defaultdict[SSAValue, int](int)
        for value, op in self._members.items():
            root = self._sets.root(value)
            saved[root] += self._saved_by(op) - sum(self._cost_of(value, use.operation) for use in value.uses)
        return {root for root, amount in saved.items() if amount > 0}

    def _saved_by(self, op: RelayOp) -> int:
        """Returns the number of vector operations that `op` saves in blocks of a vector instead of half a vector."""
        halves = 2 * channels_of(op.results[0]) // self._lanes
        terms = prod(_integers(shape_of(op.weight.type)[1:])) if isinstance(op, ConvOp) else 1
        return (halves - (halves + 1) // 2) * terms * _pixels(op.results[0].type)

    def _cost_of(self, value: SSAValue, reader: Operation) -> int:
        """Returns the number of vector operations that `reader` takes for the added channels of `value`."""
        if value in self._operands.get(reader, ()):
            return 0
        channels = channels_of(value)
        if isinstance(reader, ConvOp) and reads_channels(reader, value):
            filters, _, *taps = shape_of(reader.weight.type)
            vectors = -(-prod(_integers([filters])) // self._lanes)
            return (
                vectors * prod(_integers(taps)) * (self.padded(channels) - channels) * _pixels(reader.results[0].type)
            )
        return COPY * -(-channels // self._lanes) * _pixels(value.type)

    def padded(self, channels: int) -> int:
        """Returns the number of channels in whole vectors."""
        return -(-channels // self._lanes) * self._lanes

    def is_padded(self, value: SSAValue) -> bool:
        """Whether `value` gets whole vectors of channels."""
        return value in self._members and self._sets.root(value) in self._padded


def channels_of(value: SSAValue) -> int:
    """Returns the number of channels of a value in the layout NC…, which is known."""
    return next(_integers(shape_of(value.type)[1:2]))


def reads_channels(op: ConvOp, data: SSAValue) -> bool:
    """Whether the filters of `op` are a constant that can be padded for more channels of its operand `data`."""
    return op.data is data and op.groups.value.data == 1 and _has_plain_filters(op)


def channel_operands(op: RelayOp) -> list[SSAValue] | None:
    """Returns the operands that must have as many channels as the result of `op`, without constants.

    Returns None if `op` cannot have more channels.
    """
    if isinstance(op, CONVOLUTIONS) and _has_plain_filters(op):
        if op.groups.value.data == 1:
            return []
        return [op.data] if op.is_depthwise else None
    if isinstance(op, UNARY):
        return [op.operands[0]]
    if isinstance(op, POOLS) and all(str(layout) == f"NC{op.AXES}" for layout in op.layouts):
        return [op.data]
    return _channels_of_terms(op) if isinstance(op, BINARY) else None


def _channels_of_terms(op: RelayOp) -> list[SSAValue] | None:
    """Returns the operands of a binary op with the channels of its result; None if another is not a finite constant."""
    found: list[SSAValue] = []
    for operand in op.operands:
        constant = fixed_number(operand)
        if constant is not None:
            if not np.all(np.isfinite(constant)):
                return None
        elif has_channels(operand, op.results[0]):
            found.append(operand)
        else:
            return None
    return found


def has_channels(operand: SSAValue, result: SSAValue) -> bool:
    """Whether an operand of a binary op has an element for each channel of the result, and is not broadcast."""
    shape, whole = shape_of(operand.type), shape_of(result.type)
    axis = 1 - (len(whole) - len(shape))
    return axis >= 0 and shape[axis] == whole[1]


def fixed_number(value: SSAValue) -> Array | None:
    """Returns a constant to which axes may be added, or None for any other value."""
    expanded = owner_of(value, ExpandDimsOp)
    return constant_of(value if expanded is None else expanded.operands[0])


def _has_plain_filters(op: ConvOp) -> bool:
    plain = [f"NC{op.AXES}", f"OI{op.AXES}", f"NC{op.AXES}"]
    is_float = isinstance(element_type_of(op.weight.type), Float32Type)
    return is_float and [str(layout) for layout in op.layouts] == plain and constant_of(op.weight) is not None


def filters_of(op: ConvOp) -> Array:
    """Returns the constant filters of a convolution that may be padded."""
    filters = constant_of(op.weight)
    if filters is None:
        raise ValueError(f"the filters of {op.name} are not constant")
    return filters


def _pixels(type: Attribute) -> int:
    """Returns the number of elements of a channel, with 1 for each dynamic extent."""
    shape = shape_of(type)
    return prod(_integers((*shape[:1], *shape[2:])))


def _integers(shape: Sequence[Dim]) -> Iterator[int]:
    """Yields the extents, with 1 for each dynamic one."""
    return (extent if isinstance(extent, int) else 1 for extent in shape)
