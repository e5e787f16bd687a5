"""SequenceMap: applies a graph to each value of a sequence."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import f32
from xdsl.ir import SSAValue

from xrelay.dialects.relay.structure.containers import (
    SequenceAtOp,
    SequenceConstructOp,
    SequenceEmptyOp,
    SequenceInsertOp,
    SequenceLengthOp,
)
from xrelay.dialects.shared.types import SequenceType, tensor_type
from xrelay.frontend.onnx.bodies import convert_body
from xrelay.frontend.onnx.converters.definition import Iteration, NodeView, converts, emit_loop
from xrelay.frontend.onnx.known_containers import values_of_sequence


@converts("SequenceMap", since=17, attributes=("body",))
def convert_sequence_map(node: NodeView) -> Sequence[SSAValue]:
    """The body once per value if the sequences are known, else a loop that appends its results."""
    inputs = [node.input(index) for index in range(len(node.inputs))]
    if not inputs or not isinstance(inputs[0].type, SequenceType):
        raise node.error("input #0 must be a sequence")
    rows = _known_rows(node, inputs)
    if rows:
        results = [convert_body(node, "body", row) for row in rows]
        return [node.emit(SequenceConstructOp, *values) for values in zip(*results, strict=True)]
    return _loop(node, inputs)


def _known_rows(node: NodeView, inputs: Sequence[SSAValue]) -> list[list[SSAValue]]:
    """The inputs of the body for each value; empty if a sequence is not known or has no values."""
    known = {value: values_of_sequence(value) for value in inputs if isinstance(value.type, SequenceType)}
    lengths = sorted({len(values) for values in known.values() if values is not None})
    if len(lengths) > 1:
        raise node.error(f"the sequences have {', '.join(map(str, lengths))} values, must have one length")
    if None in known.values():
        return []
    lists = [known.get(value) for value in inputs]
    return [
        [value if values is None else values[number] for value, values in zip(inputs, lists, strict=True)]
        for number in range(lengths[0])
    ]


def _loop(node: NodeView, inputs: Sequence[SSAValue]) -> list[SSAValue]:
    """A loop over the length of the first sequence; a shorter sequence is an error at run time."""
    outputs = len(node.attribute_graph("body").output)
    initial = [node.emit(SequenceEmptyOp, of=tensor_type((), f32)) for _ in range(outputs)]

    def make_body(inner: NodeView, number: SSAValue, carried: Sequence[SSAValue]) -> Iteration:
        row = [
            inner.emit(SequenceAtOp, value, number) if isinstance(value.type, SequenceType) else value
            for value in inputs
        ]
        made = convert_body(inner, "body", row)
        return Iteration(None, [_inserted(inner, *each) for each in zip(carried, made, strict=True)], [])

    return emit_loop(node, node.emit(SequenceLengthOp, inputs[0]), None, initial, make_body)


def _inserted(node: NodeView, sequence: SSAValue, value: SSAValue) -> SSAValue:
    """The sequence with a value appended; an empty sequence takes the type of the value."""
    if isinstance(sequence.owner, SequenceEmptyOp):
        return node.emit(SequenceConstructOp, value)
    return node.emit(SequenceInsertOp, sequence, value)
