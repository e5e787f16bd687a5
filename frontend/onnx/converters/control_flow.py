"""If, Loop and Scan: nodes with graphs in attributes, which become regions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from xdsl.dialects.builtin import i1, i64
from xdsl.ir import Attribute, Block, SSAValue

from xrelay.dialects.shared.types import common_element
from xrelay.frontend.onnx.bodies import convert_body
from xrelay.frontend.onnx.branches import Branch, emit_if, joined_type
from xrelay.frontend.onnx.converters.definition import (
    AnyDim,
    Iteration,
    NodeView,
    converts,
    element_type_of,
    emit_loop,
    extent_value,
    known_axis,
    shape_of,
)
from xrelay.frontend.onnx.node import constant_value
from xrelay.frontend.onnx.problems import BranchRanksError, OutputRanksError, UntypedNodeError

BRANCHES = ("then_branch", "else_branch")
ENDLESS = np.iinfo(np.int64).max
"""The trip count that models write if only the condition ends a loop."""


@converts("If", since=1, attributes=("then_branch", "else_branch"), limits="branches of several element types")
def convert_if(node: NodeView) -> Sequence[SSAValue]:
    """`relay.if`, or the selected branch if the condition is known.

    Raises `BranchRanksError` if results differ in rank: the importer then moves their users into the branches.
    """
    condition = _scalar(node, node.input(0), i1, "condition")
    known = constant_value(condition)
    if known is not None:
        name = BRANCHES[0] if known.item() else BRANCHES[1]
        try:
            return convert_body(node, name, [])
        except OutputRanksError as error:
            raise BranchRanksError(error, condition, name) from error
    try:
        branches = [_branch(node, name) for name in BRANCHES]
        alive = [branch for branch in branches if branch.problem is None]
        if not alive:
            raise next(branch.problem for branch in branches if branch.problem is not None)
        _check_results(node, alive)
    except OutputRanksError as error:
        raise BranchRanksError(error, condition) from error
    return emit_if(node, condition, branches)


def _branch(node: NodeView, name: str) -> Branch:
    """The branch `name`, with a problem if one of its nodes does not fit its types."""
    inner = node.inside(Block())
    try:
        return Branch(name, inner, convert_body(inner, name, []))
    except UntypedNodeError as error:
        inner.graph.erase(list(inner.graph.block.ops))
        return Branch(name, inner, (), error)


def _check_results(node: NodeView, branches: Sequence[Branch]) -> None:
    """Refuses branches that differ in more than extents; raises `OutputRanksError` if they differ only in rank."""
    counts = [len(branch.values) for branch in branches]
    if len(set(counts)) > 1:
        raise node.error(f"the branches have {' and '.join(map(str, counts))} outputs")
    for given in zip(*(branch.values for branch in branches), strict=True):
        types = [value.type for value in given]
        if joined_type(types) is None and common_element(types) is not None:
            raise OutputRanksError(f"the branches return {' and '.join(map(str, types))}", location=node.describe())


@converts("Loop", since=1, attributes=("body",), limits="carried values whose element type or rank changes")
def convert_loop(node: NodeView) -> Sequence[SSAValue]:
    """`relay.loop`; the condition is true inside the body, which would not run otherwise."""
    trip_count, condition = (node.optional_input(index) for index in (0, 1))
    if trip_count is None and condition is None:
        raise node.error("the loop has neither a trip count nor a condition and is infinite")
    initial = [node.input(index) for index in range(2, len(node.inputs))]

    def make_body(inner: NodeView, number: SSAValue, carried: Sequence[SSAValue]) -> Iteration:
        given = [number, inner.emit_constant(np.array(True), "condition"), *carried]
        made = convert_body(inner, "body", given)
        if not made:
            raise node.error("the body has no outputs, the first must be the condition")
        always = condition is None or (_is_constant(condition, 1) and _is_constant(made[0], 1))
        goes_on = None if always else _scalar(inner, made[0], i1, "condition")
        return Iteration(goes_on, made[1 : len(initial) + 1], made[len(initial) + 1 :])

    endless = condition is not None and _is_constant(trip_count, ENDLESS)
    count = None if trip_count is None or endless else _scalar(node, trip_count, i64, "trip count")
    first = None if condition is None else _scalar(node, condition, i1, "condition")
    return emit_loop(node, count, first, initial, make_body)


@converts("Scan", since=8, until=8, attributes=("body", "num_scan_inputs", "directions"), limits="sequence_lens")
def convert_scan_8(node: NodeView) -> Sequence[SSAValue]:
    """For each entry of the batch (the first axis of all values), a loop over the second axis of the scanned inputs."""
    if node.optional_input(0) is not None:
        raise node.unsupported("sequence_lens are not supported")
    inputs = [node.input(index) for index in range(1, len(node.inputs))]
    without = next((index for index in range(1, len(node.inputs)) if not node.shape(index)), None)
    if without is not None:
        raise node.error(f"input #{without} is {node.input(without).type}: the first axis must be the batch")
    scan = _Scan.of(node, inputs, "directions")

    def make_body(inner: NodeView, entry: SSAValue, carried: Sequence[SSAValue]) -> Iteration:
        values = [_part(inner, value, entry, 0) for value in inputs]
        return Iteration(None, [], scan.emit(inner, values))

    return emit_loop(node, extent_value(node, inputs[0], 0), None, [], make_body)


SCAN = ("body", "num_scan_inputs", "scan_input_axes", "scan_input_directions", "scan_output_axes",
        "scan_output_directions")  # fmt: skip


@converts("Scan", since=9, attributes=SCAN)
def convert_scan(node: NodeView) -> Sequence[SSAValue]:
    """A loop over an axis of each scanned input; the stacked results are transposed to the requested axes."""
    inputs = [node.input(index) for index in range(len(node.inputs))]
    return _Scan.of(node, inputs, "scan_input_directions").emit(node, inputs)


@dataclass(frozen=True)
class _Scan:
    """The axes and directions of the scanned inputs and the stacked results of a Scan."""

    axes: Sequence[int]
    reversed_inputs: Sequence[bool]
    output_axes: Sequence[int]
    reversed_outputs: Sequence[bool]

    @staticmethod
    def of(node: NodeView, inputs: Sequence[SSAValue], directions: str) -> _Scan:
        """Returns the attributes of `node`, checked against the number of its inputs and of the outputs of its body."""
        count = node.attribute_int("num_scan_inputs", 0, check=lambda value: 1 <= value <= len(inputs))
        states = len(inputs) - count
        stacks = len(node.attribute_graph("body").output) - states
        if stacks < 0:
            raise node.error(f"the body returns fewer values than its {states} states")
        return _Scan(
            _listed(node, "scan_input_axes", count),
            [bool(value) for value in _listed(node, directions, count, (0, 1))],
            _listed(node, "scan_output_axes", stacks),
            [bool(value) for value in _listed(node, "scan_output_directions", stacks, (0, 1))],
        )

    def emit(self, node: NodeView, inputs: Sequence[SSAValue]) -> list[SSAValue]:
        """Returns the final states and the stacked results of a loop at `node`."""
        states, scanned = inputs[: -len(self.axes)], inputs[-len(self.axes) :]
        axes = [
            known_axis(node, axis, len(shape_of(value.type))) for axis, value in zip(self.axes, scanned, strict=True)
        ]
        extents = {shape_of(value.type)[axis] for axis, value in zip(axes, scanned, strict=True)}
        if len({extent for extent in extents if isinstance(extent, int)}) > 1:
            raise node.error(f"the scanned inputs have the extents {', '.join(map(str, extents))}, must have one")
        scanned = [_as_long(node, value, axis, scanned[0], axes[0]) for value, axis in zip(scanned, axes, strict=True)]
        count = extent_value(node, scanned[0], axes[0])
        last = node.emit("subtract", count, node.emit_ints(1, "one"))

        def make_body(inner: NodeView, number: SSAValue, carried: Sequence[SSAValue]) -> Iteration:
            places = [inner.emit("subtract", last, number) if back else number for back in self.reversed_inputs]
            slices = [_part(inner, *part) for part in zip(scanned, places, axes, strict=True)]
            values = convert_body(inner, "body", [*carried, *slices])
            return Iteration(None, values[: len(states)], values[len(states) :])

        results = emit_loop(node, count, None, states, make_body)
        stacks = zip(results[len(states) :], self.output_axes, self.reversed_outputs, strict=True)
        return [*results[: len(states)], *(_oriented(node, *each) for each in stacks)]


def _as_long(node: NodeView, value: SSAValue, axis: int, first: SSAValue, first_axis: int) -> SSAValue:
    """A scanned input, checked to be as long as the first one."""
    extent, wanted = shape_of(value.type)[axis], shape_of(first.type)[first_axis]
    if value is first or (not isinstance(extent, AnyDim) and extent == wanted):
        return value
    places = {"lhs_begin": axis, "lhs_end": axis + 1, "rhs_begin": first_axis, "rhs_end": first_axis + 1}
    return node.emit("reshape_like", value, first, **places)


def _part(node: NodeView, value: SSAValue, place: SSAValue, axis: int) -> SSAValue:
    """The slice of a scanned input at `place`; for an empty axis it is never evaluated, since the body does not run."""
    extent = shape_of(value.type)[axis]
    is_there = isinstance(extent, int) and extent > 0
    return node.emit("take", value, place, axis=axis, mode="clip" if is_there else "raise")


def _oriented(node: NodeView, stack: SSAValue, axis: int, is_reversed: bool) -> SSAValue:
    """`stack` with its leading axis moved to `axis`, and reversed if `is_reversed`."""
    if is_reversed:
        stack = node.emit("reverse", stack, axis=0)
    rank = len(shape_of(stack.type))
    place = known_axis(node, axis, rank)
    order = list(range(1, rank))
    order.insert(place, 0)
    return stack if place == 0 else node.emit("transpose", stack, axes=tuple(order))


def _listed(node: NodeView, name: str, count: int, legal: Sequence[int] | None = None) -> tuple[int, ...]:
    """A list attribute with an entry for each of `count` values; zeros if it is absent."""
    values = node.attribute_ints(name, (0,) * count) or ()
    if len(values) != count or (legal is not None and not set(values) <= set(legal)):
        raise node.illegal(name, list(values), f"it needs {count} entries")
    return values


def _scalar(node: NodeView, value: SSAValue, element: Attribute, what: str) -> SSAValue:
    """A number or boolean as a tensor of rank 0; models also write tensors of one element."""
    if element_type_of(value.type) != element:
        raise node.error(f"the {what} must be one {element}, found {value.type}")
    if shape_of(value.type) == ():
        return value
    known = constant_value(value)
    if known is None:
        return node.reshape(value, ())
    if known.size != 1:
        raise node.error(f"the {what} must be one {element}, found {known.size} of them")
    return node.emit_constant(known.reshape(()), "scalar")


def _is_constant(value: SSAValue | None, wanted: int) -> bool:
    known = None if value is None else constant_value(value)
    return known is not None and known.size == 1 and known.item() == wanted
