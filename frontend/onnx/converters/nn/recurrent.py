"""LSTM, GRU and RNN: a loop over time for each direction.

The product of the input and W for all time steps is computed before the loop; the loop computes the part that depends
on the state. For the reverse direction, the input is reversed before the loop and the outputs after it, each sequence
within its length.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from xdsl.ir import SSAValue

from xrelay.frontend.onnx.converters.definition import (
    Iteration,
    NodeView,
    Numbers,
    converts,
    element_type_of,
    emit_loop,
    extent_value,
    is_half,
    numpy_dtype,
    shape_of,
    static_shape,
)
from xrelay.frontend.onnx.converters.nn.recurrent_cells import (
    Apply,
    Step,
    Weights,
    activations,
    gru_step,
    lstm_step,
    resets_after_product,
    rnn_step,
)

_SHARED = ("activations", "activation_alpha", "activation_beta", "clip", "direction", "hidden_size")
_FIRST = (*_SHARED, "output_sequence")
_DIRECTIONS = {"forward": (False,), "reverse": (True,), "bidirectional": (False, True)}


Multiply = Callable[[NodeView, int, int], Apply]
"""Returns the product with a weight, given a node, the index of its input, and the direction."""


@dataclass(frozen=True)
class _Kind:
    """One of the three ops: gates per unit, number of states, default activations of a direction, and the step.

    `multiply` makes the products with W, input 1, and R, input 2; None for plain products.
    """

    gates: int
    states: int
    defaults: tuple[str, ...]
    make_step: Callable[[NodeView, Weights, Sequence[Apply]], Step]
    multiply: Multiply | None = None


_KINDS = {
    "RNN": _Kind(1, 1, ("Tanh",), rnn_step),
    "GRU": _Kind(3, 1, ("Sigmoid", "Tanh"), gru_step),
    "LSTM": _Kind(4, 2, ("Sigmoid", "Tanh", "Tanh"), lstm_step),
}
_INITIAL, _PEEPHOLES = 5, 7
"""The indices of the inputs with the first initial state and with the peepholes."""


@converts("RNN", until=6, attributes=_FIRST)
@converts("RNN", since=7, attributes=(*_SHARED, "layout"))
@converts("GRU", until=6, attributes=(*_FIRST, "linear_before_reset"))
@converts("GRU", since=7, attributes=(*_SHARED, "linear_before_reset", "layout"))
@converts("LSTM", until=6, attributes=(*_FIRST, "input_forget"))
@converts("LSTM", since=7, attributes=(*_SHARED, "input_forget", "layout"))
def convert_recurrent(node: NodeView) -> list[SSAValue]:
    """The states of all time steps, and the last ones; 16-bit floats are computed in f32."""
    return _states(node, _KINDS[node.proto.op_type])


LSTM_ATTRIBUTES = (*_SHARED, "input_forget")
"""The attributes of an LSTM in com.microsoft."""


def long_short_term_memory(node: NodeView, multiply: Multiply) -> list[SSAValue]:
    """Returns the results of an LSTM with products by `multiply`."""
    return _states(node, replace(_KINDS["LSTM"], multiply=multiply))


def _states(node: NodeView, kind: _Kind) -> list[SSAValue]:
    """The states of all time steps, and the last ones."""
    direction = node.attribute_string("direction", "forward", tuple(_DIRECTIONS))
    reversals = _DIRECTIONS[direction]
    batch_first = node.attribute_flag("layout")
    x = _swapped(node, _wide(node, 0), batch_first)
    hidden = _check_shapes(node, kind, len(reversals))
    applied = activations(node, kind.defaults, len(reversals))
    made = [
        _direction(node, kind, x, number, hidden, is_reversed, apply)
        for number, (is_reversed, apply) in enumerate(zip(reversals, applied, strict=True))
    ]
    sequence = node.emit("stack", node.make_tuple([stack for stack, _ in made]), axis=1)
    sequence = node.emit("transpose", sequence, axes=(2, 0, 1, 3)) if batch_first else sequence
    last = [
        _swapped(node, node.emit("stack", node.make_tuple([states[index] for _, states in made]), axis=0), batch_first)
        for index in range(kind.states)
    ]
    dtype = numpy_dtype(node.element_type(0))
    results = [sequence, *last]
    return [node.emit("cast", value, dtype=dtype) for value in results] if is_half(node.element_type(0)) else results


def _check_shapes(node: NodeView, kind: _Kind, directions: int) -> int:
    """Returns the hidden size, after checks of the shapes of the weights."""
    weight, recurrence = (static_shape(node, node.input(index)) for index in (1, 2))
    hidden = recurrence[-1] if recurrence else 0
    rows = kind.gates * hidden
    if len(node.shape(0)) != 3 or len(weight) != 3:
        raise node.error(f"X and W must have rank 3, found {len(node.shape(0))} and {len(weight)}")
    if recurrence != (directions, rows, hidden) or weight[:2] != (directions, rows):
        raise node.error(
            f"W of shape {list(weight)} and R of shape {list(recurrence)} do not fit {directions} directions and "
            f"{kind.gates} gates"
        )
    if node.attribute_int("hidden_size", hidden) != hidden:
        raise node.error(f"attribute 'hidden_size' is {node.attribute_int('hidden_size', hidden)}, R has {hidden}")
    return hidden


def _direction(
    node: NodeView, kind: _Kind, x: SSAValue, number: int, hidden: int, is_reversed: bool, apply: Sequence[Apply]
) -> tuple[SSAValue, list[SSAValue]]:
    """The stacked states of all time steps, and the last ones."""
    lengths = None if node.optional_input(4) is None else node.emit("cast", node.input(4), dtype="int64")
    gates, weights = _gates(node, kind, x, number, hidden, lengths if is_reversed else None, is_reversed)
    step = kind.make_step(node, weights, apply)
    initial = [_initial(node, x, _INITIAL + index, number, hidden) for index in range(kind.states)]
    if shape_of(x.type)[0] == 0:
        # No iteration: the stack is empty, like these gates.
        rows = node.emit("split", gates, indices_or_sections=kind.gates, axis=2)
        return node.tuple_field(rows, 0), initial

    def make_body(inner: NodeView, time: SSAValue, carried: Sequence[SSAValue]) -> Iteration:
        row = inner.emit("take", gates, time, axis=0)
        if lengths is None:
            states = step(inner, row, carried)
            return Iteration(None, states, states[:1])
        states = step(inner, row, carried if kind.multiply is None else _cleared(inner, time, lengths, carried))
        runs = inner.emit("expand_dims", inner.emit("less", time, lengths), axis=1)
        held = [inner.emit("where", runs, *pair) for pair in zip(states, carried, strict=True)]
        return Iteration(None, held, [inner.emit("where", runs, states[0], inner.scalar(0.0, states[0]))])

    *states, stack = emit_loop(node, extent_value(node, x, 0), None, initial, make_body, keeps_extents=True)
    return _reversed(node, stack, lengths) if is_reversed else stack, states


def _cleared(node: NodeView, time: SSAValue, lengths: SSAValue, states: Sequence[SSAValue]) -> list[SSAValue]:
    """The states, with h zeroed for ended sequences, so that its range covers only the others."""
    first, *others = states
    ran = node.emit("expand_dims", node.emit("less_equal", time, lengths), axis=1)
    return [node.emit("where", ran, first, node.scalar(0.0, first)), *others]


def _gates(
    node: NodeView, kind: _Kind, x: SSAValue, number: int, hidden: int, lengths: SSAValue | None, is_reversed: bool
) -> tuple[SSAValue, Weights]:
    """The product of the input and W at all time steps, plus the biases, and the weights for the step."""
    recurrence = of_direction(node, 2, number)
    x = _reversed(node, x, lengths) if is_reversed else x
    rows = _in_rows(node, x)
    if kind.multiply is None:
        gates, multiply = node.emit("nn.matmul", rows, of_direction(node, 1, number), transpose_b=True), None
    else:
        gates, multiply = kind.multiply(node, 1, number)(node, rows), kind.multiply(node, 2, number)
    own: SSAValue | None = None
    if node.optional_input(3) is not None:
        both = node.emit("split", of_direction(node, 3, number), indices_or_sections=2, axis=0)
        bias, own = (node.tuple_field(both, index) for index in range(2))
        apart = node.proto.op_type == "GRU" and resets_after_product(node)
        gates = node.emit("add", gates, bias if apart else node.emit("add", bias, own))
    if len(shape_of(gates.type)) == 2:
        gates = node.emit("reshape_like", gates, x, lhs_end=1, rhs_end=2)
    peepholes: list[SSAValue] = []
    if node.optional_input(_PEEPHOLES) is not None:
        cut = node.emit("split", of_direction(node, _PEEPHOLES, number), indices_or_sections=3, axis=0)
        peepholes = [node.tuple_field(cut, index) for index in range(3)]
    return gates, Weights(recurrence, own, peepholes, hidden, multiply)


def _in_rows(node: NodeView, x: SSAValue) -> SSAValue:
    """The inputs of all time steps and batch entries as the rows of a matrix, if the batch is dynamic.

    A tile of the product then has rows of several time steps: in most runs the batch is small.
    """
    _, batch, size = shape_of(x.type)
    if isinstance(batch, int) or not isinstance(size, int) or size == 0:
        return x
    return node.emit("reshape", x, newshape=(-1, size))


def _initial(node: NodeView, x: SSAValue, index: int, number: int, hidden: int) -> SSAValue:
    """An initial state of a direction: an input, or zeros for every batch entry.

    The state has the batch of `x`, so that all iterations have states of the same extents.
    """
    zero, numbers = np.zeros((), numpy_dtype(element_type_of(x.type))), Numbers(node)
    extents = [numbers.extent(x, 1), hidden]
    if node.optional_input(index) is None:
        return numbers.filled(zero, extents, "initial")
    batch_first = bool(node.attribute_int("layout", 0))
    state = node.emit("take", _wide(node, index), _number(node, number), axis=1 if batch_first else 0)
    if [*shape_of(state.type)] == extents:
        return state
    return node.emit("broadcast_to_like", state, numbers.filled(zero, extents, "batch"))


def of_direction(node: NodeView, index: int, number: int) -> SSAValue:
    """Returns the part of input `index` for one direction."""
    return node.emit("take", _wide(node, index), _number(node, number), axis=0)


def _number(node: NodeView, value: int) -> SSAValue:
    return node.emit_ints(value, "number")


def _wide(node: NodeView, index: int) -> SSAValue:
    """Input `index`, cast to f32 if its elements are 16-bit floats."""
    value = node.input(index)
    return node.emit("cast", value, dtype="float32") if is_half(node.element_type(index)) else value


def _swapped(node: NodeView, value: SSAValue, batch_first: bool) -> SSAValue:
    """`value` of rank 3, with the first two axes exchanged if the batch is first."""
    return node.emit("transpose", value, axes=(1, 0, 2)) if batch_first else value


def _reversed(node: NodeView, value: SSAValue, lengths: SSAValue | None) -> SSAValue:
    """`value` reversed in time, each sequence within its length."""
    if lengths is None:
        return node.emit("reverse", value, axis=0)
    return node.emit("reverse_sequence", value, lengths, seq_axis=0, batch_axis=1)
