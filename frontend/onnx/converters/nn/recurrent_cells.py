"""The steps of LSTM, GRU and RNN, and their activations by name.

Source of the formulas: ONNX Operators (onnx/docs/Operators.md).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from xdsl.ir import SSAValue

from xrelay.frontend.onnx.converters.definition import NodeView
from xrelay.frontend.onnx.converters.shared.activations import ACTIVATIONS, PLAIN

Apply = Callable[[NodeView, SSAValue], SSAValue]
"""Emits an activation at a node."""

Step = Callable[[NodeView, SSAValue, Sequence[SSAValue]], list[SSAValue]]
"""Emits a step at a node: from the gates' part of the input and the states to the new states."""


@dataclass(frozen=True)
class Weights:
    """The weights of one direction: R of shape (gates * hidden, hidden), recurrence biases, peepholes.

    `multiply` emits the product of a state and R; None for the plain product.
    """

    recurrence: SSAValue
    bias: SSAValue | None
    peepholes: Sequence[SSAValue]
    hidden: int
    multiply: Apply | None = None


_NODES = {
    name: row for name, row in ACTIVATIONS.items() if row.since == 1 and row.attributes.keys() <= {"alpha", "beta"}
}
"""The activations that also exist as ops, with the same parameters."""

_SCALED = {
    "Affine": (1.0, 0.0),
    "ScaledTanh": (1.0, 1.0),
    "ThresholdedRelu": (1.0, None),
    **{name: (row.attributes.get("alpha"), row.attributes.get("beta")) for name, row in _NODES.items()},
}
"""The activations with parameters: default alpha and beta; `None` if there is no such parameter."""

_CELL = 2
"""The index of the activation of an LSTM's cell."""

_NAMES = {name.lower(): name for name in (*PLAIN, *_SCALED)}


def activations(node: NodeView, defaults: Sequence[str], directions: int) -> list[list[Apply]]:
    """Returns the activations of each direction, after clipping if the node requires it.

    As in onnxruntime, an LSTM clips the inputs of the gates and of the candidate, but not the cell. `activation_alpha`
    and `activation_beta` have an entry for each activation with such a parameter, in order.
    """
    given = node.attribute_strings("activations") or tuple(defaults) * directions
    if len(given) != len(defaults) * directions:
        raise node.illegal("activations", list(given), f"{len(defaults) * directions} names are expected")
    alphas, betas = (list(node.attribute_floats(f"activation_{each}") or ()) for each in ("alpha", "beta"))
    clip = node.attribute_float("clip", 0.0) if "clip" in node.attribute_names else None
    if clip is not None and not clip >= 0:
        raise node.illegal("clip", clip, "a number of 0 or more is expected")
    count, made = len(defaults), list[Apply]()
    for place, text in enumerate(given):
        name = _NAMES.get(text.lower())
        if name is None:
            raise node.illegal("activations", list(given), "known are " + ", ".join(_NAMES.values()))
        alpha, beta = _SCALED.get(name, (None, None))
        alpha = alphas.pop(0) if alpha is not None and alphas else alpha
        beta = betas.pop(0) if beta is not None and betas else beta
        takes_cell = place % count == _CELL
        made.append(_clipped(_activation(name, alpha or 0.0, beta or 0.0), None if takes_cell else clip))
    return [made[first : first + count] for first in range(0, len(made), count)]


def _clipped(apply: Apply, clip: float | None) -> Apply:
    if clip is None:
        return apply
    return lambda node, x: apply(node, node.emit("clip", x, a_min=-clip, a_max=clip))


def _activation(name: str, alpha: float, beta: float) -> Apply:
    if name in PLAIN:
        return lambda node, x: node.emit(PLAIN[name], x)
    if name == "Affine":
        return lambda node, x: node.emit("add", _times(node, x, alpha), node.scalar(beta, x))
    if name == "ScaledTanh":
        return lambda node, x: _times(node, node.emit("tanh", _times(node, x, beta)), alpha)
    if name == "ThresholdedRelu":
        return lambda node, x: node.emit("nn.thresholded_relu", x, theta=alpha)
    row, values = _NODES[name], {"alpha": alpha, "beta": beta}
    return lambda node, x: node.emit(row.op, x, **{each: values[each] for each in row.attributes})


def _times(node: NodeView, x: SSAValue, factor: float) -> SSAValue:
    return node.emit("multiply", x, node.scalar(factor, x))


def rnn_step(node: NodeView, weights: Weights, apply: Sequence[Apply]) -> Step:
    """Returns the step `h' = f(x + R h)`."""
    (f,) = apply

    def step(inner: NodeView, x: SSAValue, states: Sequence[SSAValue]) -> list[SSAValue]:
        return [f(inner, inner.emit("add", x, _product(inner, states[0], weights.recurrence)))]

    return step


def gru_step(node: NodeView, weights: Weights, apply: Sequence[Apply]) -> Step:
    """Returns the step with gates z and r, `h' = (1 - z) g(…) + z h`; r scales h, or with `linear_before_reset` R h."""
    f, g = apply
    hidden, late = weights.hidden, resets_after_product(node)
    gates, candidate = (weights.recurrence, None) if late else _cut(node, weights.recurrence, 0, [2 * hidden, hidden])

    def step(inner: NodeView, x: SSAValue, states: Sequence[SSAValue]) -> list[SSAValue]:
        (h,) = states
        own = _product(inner, h, gates)
        if late and weights.bias is not None:
            own = inner.emit("add", own, weights.bias)
        x_zr, x_h = _cut(inner, x, 1, [2 * hidden, hidden])
        own_zr, own_h = _cut(inner, own, 1, [2 * hidden, hidden]) if candidate is None else (own, own)
        z, r = _cut(inner, f(inner, inner.emit("add", x_zr, own_zr)), 1, [hidden, hidden])
        if candidate is None:
            held = inner.emit("multiply", r, own_h)
        else:
            held = _product(inner, inner.emit("multiply", r, h), candidate)
        new = g(inner, inner.emit("add", x_h, held))
        kept = inner.emit("multiply", inner.emit("subtract", inner.scalar(1.0, z), z), new)
        return [inner.emit("add", kept, inner.emit("multiply", z, h))]

    return step


def resets_after_product(node: NodeView) -> bool:
    """Returns whether the reset gate of a GRU scales the product with R, plus bias, instead of the state."""
    return bool(node.attribute_int("linear_before_reset", 0))


def lstm_step(node: NodeView, weights: Weights, apply: Sequence[Apply]) -> Step:
    """Returns the step with gates i, o, f, cell `c' = f c + i g(…)`, `h' = o h(c')`; peepholes feed c to the gates."""
    f, g, h = apply
    coupled = node.attribute_flag("input_forget")
    p_i, p_o, p_f = weights.peepholes or (None, None, None)

    def step(inner: NodeView, x: SSAValue, states: Sequence[SSAValue]) -> list[SSAValue]:
        state, cell = states
        multiply = weights.multiply
        product = _product(inner, state, weights.recurrence) if multiply is None else multiply(inner, state)
        full = inner.emit("add", x, product)
        x_i, x_o, x_f, x_c = _cut(inner, full, 1, [weights.hidden] * 4)
        i = f(inner, _with_peephole(inner, x_i, p_i, cell))
        if coupled:
            forget = inner.emit("subtract", inner.scalar(1.0, i), i)
        else:
            forget = f(inner, _with_peephole(inner, x_f, p_f, cell))
        kept = inner.emit("multiply", forget, cell)
        new_cell = inner.emit("add", kept, inner.emit("multiply", i, g(inner, x_c)))
        o = f(inner, _with_peephole(inner, x_o, p_o, new_cell))
        return [inner.emit("multiply", o, h(inner, new_cell)), new_cell]

    return step


def _with_peephole(node: NodeView, x: SSAValue, peephole: SSAValue | None, cell: SSAValue) -> SSAValue:
    return x if peephole is None else node.emit("add", x, node.emit("multiply", peephole, cell))


def _product(node: NodeView, state: SSAValue, weight: SSAValue) -> SSAValue:
    """`state` times the transpose of `weight`."""
    return node.emit("nn.matmul", state, weight, transpose_b=True)


def _cut(node: NodeView, value: SSAValue, axis: int, sizes: Sequence[int]) -> list[SSAValue]:
    """`value` split along an axis into parts of these sizes."""
    places = [sum(sizes[:count]) for count in range(1, len(sizes))]
    cut = node.emit("split", value, indices_or_sections=places, axis=axis)
    return [node.tuple_field(cut, index) for index in range(len(sizes))]
