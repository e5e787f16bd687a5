"""`relay-split-conv-transpose`: computes a transposed convolution as convolutions of stride 1.

With stride s along an axis, elements r, r + s, r + 2 s, … of the result use the same taps of the filter. They are the
phase r, a convolution of stride 1 with about 1/s of the taps, which multiplies no inserted zeros. The phases are
concatenated as channels and then moved to their places. Convolutions have blocked layouts and, with stride 1,
Winograd's algorithm; their weights are computed when the program is compiled.

Before:

    %y = relay.nn.conv1d_transpose(%x, %w) {strides = [2], padding = [1, 1], output_padding = [1]}      %w : 8x4x3

After:

    %0 = relay.nn.conv1d(%x, %u)                                                                        %u : 4x8x1
    %1 = relay.nn.conv1d(%x, %v) {padding = [0, 1]}                                                     %v : 4x8x2
    %2 = relay.tuple(%0, %1)
    %3 = relay.concatenate(%2) {axis = 1}                                                                1x8x9
    %4 = relay.reshape(%3) {newshape = [0, -4, 2, -1, -2]}                                               1x2x4x9
    %5 = relay.transpose(%4) {axes = [0, 2, 3, 1]}                                                       1x4x9x2
    %y = relay.reshape(%5) {newshape = [0, 0, -3]}                                                       1x4x18

Neighbouring phases with the same taps share a convolution if that takes fewer products: with few filters, whose number
is rounded up to a block of channels. Padding that is no multiple of the stride gives phases other taps. They are the
same if the phases begin before the result, and the elements before it are sliced off.

The pass refuses, with a remark: weights that are not constant, other layouts than NC…, integers, more than 16
convolutions, and phases that have no taps or do not use the first or last elements of the data.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import product
from math import gcd, prod
from typing import Final

import numpy as np
from xdsl.context import Context
from xdsl.dialects.builtin import AnyFloat, ModuleOp
from xdsl.ir import SSAValue
from xdsl.pattern_rewriter import PatternRewriter, RewritePattern, op_type_rewrite_pattern

from xrelay.dialects.relay.op_definition import Array, Dim
from xrelay.dialects.relay.ops.annotation import StopFusionOp
from xrelay.dialects.relay.ops.nn.conv import Conv1DOp, Conv2DOp, Conv3DOp
from xrelay.dialects.relay.ops.nn.conv_transpose import DirectConvTransposeOp
from xrelay.dialects.relay.ops.tensor.join import ConcatenateOp
from xrelay.dialects.relay.ops.tensor.movement import StridedSliceOp
from xrelay.dialects.relay.ops.tensor.shape import ReshapeOp
from xrelay.dialects.relay.ops.tensor.transform import TransposeOp
from xrelay.dialects.relay.structure.tuples import TupleOp
from xrelay.dialects.shared.dtypes import numpy_dtype
from xrelay.dialects.shared.types import element_type_of, is_complete, shape_of
from xrelay.index_algebra.windows import WindowAxis
from xrelay.passes.graph.remarks import Remark, Remarks, report
from xrelay.passes.graph.rewriting import Emitter, constant_of, rewrite_once
from xrelay.passes.infra.xrelay_pass import XRelayPass, reassociates

BLOCK: Final = 16
"""The number of filters to which a convolution is rounded up."""

MAX_CONVOLUTIONS: Final = 16
"""The maximum number of convolutions. More take longer to compile than they save."""

OVERHEAD: Final = 0.02
"""The cost of another convolution, relative to that of the products."""


@dataclass(frozen=True)
class RelaySplitConvTransposePass(XRelayPass):
    """Computes transposed convolutions as convolutions of stride 1; see the module's docstring."""

    name = "relay-split-conv-transpose"
    numerics = reassociates("the terms of a product may be added up in another order")
    per_function = True

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Rewrites the module in place."""
        report(split_conv_transpose(op))


def split_conv_transpose(module: ModuleOp) -> list[Remark]:
    """Rewrites `module`; returns remarks on rewritten convolutions, and on others with the reason."""
    remarks = Remarks(RelaySplitConvTransposePass.name)
    rewrite_once(module, DirectConvTransposeOp, SplitConvTranspose(remarks))
    return remarks.all


@dataclass(frozen=True)
class Phases:
    """Phases of one axis that are computed together: the phase r uses tap t with the data at `offsets[r][t]` before."""

    numbers: tuple[int, ...]
    offsets: tuple[dict[int, int], ...]
    """For each phase, tap → distance in elements from the position of the result to the element of the data."""
    dilation: int

    @property
    def span(self) -> tuple[int, int]:
        """The smallest and the largest distance."""
        distances = [distance for phase in self.offsets for distance in phase.values()] or [0]
        return min(distances), max(distances)

    @property
    def taps(self) -> int:
        """The number of taps of the convolution."""
        low, high = self.span
        return (high - low) // self.dilation + 1

    def slots(self, phase: int) -> list[tuple[int, int]]:
        """Returns pairs of a tap of the convolution and the tap of the filter whose weight it has."""
        low, _ = self.span
        return [((distance - low) // self.dilation, tap) for tap, distance in self.offsets[phase].items()]


class PhasedAxis:
    """A spatial axis of a transposed convolution."""

    def __init__(self, axis: WindowAxis[int], extra: int, *, is_aligned: bool = False):
        self.stride = axis.stride
        self.skipped = axis.before % axis.stride if is_aligned else 0
        """The number of elements of the phases before those of the result."""
        surplus = axis.reach - axis.stride - axis.before - axis.after + extra + self.skipped
        self.more = -(-surplus // axis.stride)
        """The number of elements of a phase beyond those of the data."""
        self.cut = self.more * axis.stride - surplus
        """The number of elements at the end of the phases that the result does not have."""
        self.dilation = axis.dilation // gcd(axis.stride, axis.dilation)
        self.offsets = [self._offsets(axis, phase) for phase in range(axis.stride)]

    def _offsets(self, axis: WindowAxis[int], phase: int) -> dict[int, int]:
        places = {tap: phase + axis.before - self.skipped - tap * axis.dilation for tap in range(axis.size)}
        return {tap: place // axis.stride for tap, place in places.items() if place % axis.stride == 0}

    def partitions(self) -> Iterator[list[Phases]]:
        """Yields ways to distribute the phases over convolutions: each alone, or neighbours with equal taps together.

        A convolution of phases with other taps would multiply data by zeros, which spreads inf and NaN.
        """
        yield [self._together([phase]) for phase in range(self.stride)]
        runs: list[list[int]] = [[0]]
        for phase in range(1, self.stride):
            alike = sorted(self.offsets[phase].values()) == sorted(self.offsets[runs[-1][0]].values())
            runs[-1:] = [[*runs[-1], phase]] if alike else [runs[-1], [phase]]
        yield [self._together(run) for run in runs]

    def _together(self, phases: Sequence[int]) -> Phases:
        return Phases(tuple(phases), tuple(self.offsets[phase] for phase in phases), self.dilation)

    def padding(self, phases: Phases) -> tuple[int, int]:
        """Returns the padding of the data for the convolution of some phases."""
        low, high = phases.span
        return -low, self.more + high


Group = tuple[Phases, ...]
"""The phases of a convolution, along each axis."""


class SplitConvTranspose(RewritePattern):
    """Rewrites a transposed convolution by a constant; see the module's docstring."""

    def __init__(self, remarks: Remarks):
        self._remarks = remarks

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: DirectConvTransposeOp, rewriter: PatternRewriter) -> None:
        """Rewrites `op` unless it is refused."""
        if not all(map(is_complete, (*op.operand_types, *op.result_types))):
            return
        weight = constant_of(op.weight)
        refusal = "its weight is not constant" if weight is None else _refusal(op)
        if weight is None or refusal is not None:
            self._remarks.refused(op, str(refusal))
            return
        found = [split for axes in _choices(op, weight) if (split := _Split(op, weight, axes)).groups is not None]
        split = min(found, key=lambda each: each.cost, default=None)
        if split is None or split.groups is None:
            self._remarks.refused(
                op, f"it needs more than {MAX_CONVOLUTIONS} convolutions, or phases without taps or a part of the data"
            )
            return
        split.replace(Emitter(rewriter, op), split.groups)
        self._remarks.applied(op, f"{len(split.groups)} convolutions of stride 1")


def _choices(op: DirectConvTransposeOp, weight: Array) -> Iterator[Sequence[PhasedAxis]]:
    """Yields the axes, first those of phases of the result, and then those of aligned phases if these differ."""
    window = op.window(weight.shape[2:])
    for is_aligned in (False, True):
        if not is_aligned or any(axis.before % axis.stride for axis in window):
            rows = zip(window, op.extra, strict=True)
            yield [PhasedAxis(axis, extra, is_aligned=is_aligned) for axis, extra in rows]


def _refusal(op: DirectConvTransposeOp) -> str | None:
    plain = (f"NC{op.AXES}", f"IO{op.AXES}", f"NC{op.AXES}")
    if (layouts := tuple(map(str, op.layouts))) != plain:
        return f"its layouts are {', '.join(layouts)}, not {', '.join(plain)}"
    element = element_type_of(op.data.type)
    return None if isinstance(element, AnyFloat) else f"its elements are {element}"


def _positions(axis: PhasedAxis, extent: Dim) -> float:
    """Returns the elements of a phase along an axis, relative to those of the data; 1 if these are dynamic."""
    return 1 + axis.more / extent if isinstance(extent, int) else 1.0


class _Split:
    """The convolutions for a transposed convolution with the weight `weight` of (I, O / groups, …)."""

    def __init__(self, op: DirectConvTransposeOp, weight: Array, axes: Sequence[PhasedAxis]):
        self._op, self._weight, self._axes = op, weight, axes
        self._groups = op.groups.value.data
        self._filters = weight.shape[1] * self._groups
        found = list(self._distributions())
        self.cost, self.groups = min(found, key=lambda each: each[0]) if found else (0.0, None)
        """The cost and the groups of the cheapest distribution of the phases over convolutions, None without one."""

    def _distributions(self) -> Iterator[tuple[float, list[Group]]]:
        """Yields the possible distributions of the phases over convolutions, each with its cost."""
        positions = prod(map(_positions, self._axes, shape_of(self._op.data.type)[2:]))
        for parts in product(*(axis.partitions() for axis in self._axes)):
            groups = list(product(*parts))
            if len(groups) <= MAX_CONVOLUTIONS and all(map(self._is_possible, groups)):
                yield positions * sum(map(self._cost, groups)) * (1 + OVERHEAD * len(groups)), groups

    def _is_possible(self, group: Group) -> bool:
        """Whether the phases are neighbours in the order of all phases, have taps, and use all of the data."""
        whole = [len(phases.numbers) == axis.stride for axis, phases in zip(self._axes, group, strict=True)]
        single = [len(phases.numbers) == 1 for phases in group]
        last = len(group) - 1
        while last > 0 and whole[last]:
            last -= 1
        rows = zip(self._axes, group, strict=True)
        is_padded = all(min(axis.padding(phases)) >= 0 and all(phases.offsets) for axis, phases in rows)
        # A weight of several groups has the filters of a group side by side, hence one phase.
        return is_padded and all(single[:last]) and (self._groups == 1 or all(single))

    def _cost(self, group: Group) -> int:
        filters = self._filters * prod(len(phases.numbers) for phases in group)
        return -(-filters // BLOCK) * BLOCK * prod(phases.taps for phases in group)

    def replace(self, emit: Emitter, groups: Sequence[Group]) -> None:
        """Replaces the op by the convolutions of `groups`."""
        convs = [self._convolution(emit, group) for group in groups]
        axes, value = self._axes, convs[0]
        if len(convs) > 1:
            # A kernel that only concatenates is removed: the convolutions write their parts of its result.
            value = emit.call(StopFusionOp, emit.call(ConcatenateOp, emit.call(TupleOp, *convs), axis=1))
        rank = len(axes)
        if any(axis.stride > 1 for axis in axes):
            for position, axis in enumerate(axes):
                kept = [0] * (position + 1)
                value = emit.call(ReshapeOp, value, newshape=[*kept, -4, axis.stride, -1, -2])
            places = [(rank + 2 + number, 1 + number) for number in range(rank)]
            order = [0, rank + 1, *(place for pair in places for place in pair)]
            value = emit.call(ReshapeOp, emit.call(TransposeOp, value, axes=order), newshape=[0, 0, *[-3] * rank])
        skipped = {number + 2: axis.skipped for number, axis in enumerate(axes) if axis.skipped}
        if skipped:
            rest, begin = [-1] * len(skipped), [*skipped.values()]
            value = emit.call(StridedSliceOp, value, begin=begin, end=rest, axes=[*skipped], slice_mode="size")
        cut = {number + 2: axis.cut for number, axis in enumerate(axes) if axis.cut}
        if cut:
            ends = [-count for count in cut.values()]
            value = emit.call(StridedSliceOp, value, begin=[0] * len(cut), end=ends, axes=list(cut))
        emit.replace(value)

    def _convolution(self, emit: Emitter, group: Group) -> SSAValue:
        pads = [axis.padding(phases) for axis, phases in zip(self._axes, group, strict=True)]
        weight = emit.constant(self._phase_weight(group))
        weight.name_hint = self._op.weight.name_hint
        conv = (Conv1DOp, Conv2DOp, Conv3DOp)[len(group) - 1]
        return emit.call(
            conv,
            self._op.data,
            weight,
            padding=[*(before for before, _ in pads), *(after for _, after in pads)],
            dilation=[phases.dilation for phases in group],
            groups=self._groups,
            **({} if self._op.out_dtype is None else {"out_dtype": numpy_dtype(element_type_of(self._op.result.type))}),
        )

    def _phase_weight(self, group: Group) -> Array:
        """Returns the weight of a convolution: (phases, groups and filters; channels of a group; taps)."""
        channels, filters, *_ = self._weight.shape
        depth, counts = channels // self._groups, [len(phases.numbers) for phases in group]
        taps = [phases.taps for phases in group]
        result = np.zeros((*counts, self._groups, filters, depth, *taps), self._weight.dtype)
        apart = self._weight.reshape(self._groups, depth, *self._weight.shape[1:]).swapaxes(1, 2)
        for numbers in np.ndindex(*counts):
            slots = [phases.slots(number) for phases, number in zip(group, numbers, strict=True)]
            for pairs in product(*slots):
                slot, sources = zip(*pairs, strict=True)
                result[(*numbers, ..., *slot)] = apart[(..., *sources)]
        return result.reshape(prod(counts) * self._groups * filters, depth, *taps)
