"""An unrolled network of LSTM cells, written with lets; each cell is a called function."""

from __future__ import annotations

from xrelay.relay import (
    Call,
    Function,
    ScopeBuilder,
    TensorType,
    Tuple,
    TupleGetItem,
    TupleType,
    Var,
    sigmoid,
    split,
    tanh,
    zeros,
)
from xrelay.relay.analysis import free_vars
from xrelay.relay.testing import layers
from xrelay.relay.testing.init import Workload, create_workload


def lstm_cell(num_hidden: int, batch_size: int = 1, dtype: str = "float32", name: str = "") -> Function:
    """Returns a cell: a function of input, pair of states, two weights and biases to output and pair of new states."""
    builder, names = ScopeBuilder(), ("i2h_weight", "i2h_bias", "h2h_weight", "h2h_bias")
    state = TensorType((batch_size, num_hidden), dtype)
    weight = TensorType((4 * num_hidden, num_hidden), dtype)
    bias = TensorType((4 * num_hidden,), dtype)
    inputs, states = Var("inputs", state), Var("states", TupleType([state, state]))
    params = [Var(name, type) for name, type in zip(names, (weight, bias, weight, bias), strict=True)]
    all_units = 4 * num_hidden
    i2h = builder.let("i2h", layers.dense_add_bias(inputs, *params[:2], units=all_units, name=f"{name}i2h"))
    h2h = builder.let(
        "h2h", layers.dense_add_bias(TupleGetItem(states, 0), *params[2:], units=all_units, name=f"{name}h2h")
    )
    gates = builder.let("gates", i2h + h2h)
    slices = builder.let("slice_gates", split(gates, indices_or_sections=4, axis=1))
    in_gate = builder.let("in_gate", sigmoid(TupleGetItem(slices, 0)))
    forget_gate = builder.let("forget_gate", sigmoid(TupleGetItem(slices, 1)))
    in_transform = builder.let("in_transform", tanh(TupleGetItem(slices, 2)))
    out_gate = builder.let("out_gate", sigmoid(TupleGetItem(slices, 3)))
    next_c = builder.let("next_c", forget_gate * TupleGetItem(states, 1) + in_gate * in_transform)
    next_h = builder.let("next_h", out_gate * tanh(next_c))
    builder.ret(builder.let("ret", Tuple([next_h, Tuple([next_h, next_c])])))
    return Function([inputs, states, *params], builder.get())


def get_net(iterations: int, num_hidden: int, batch_size: int = 1, dtype: str = "float32") -> Function:
    """Returns the network of `iterations` cells, whose inputs are all called `data`."""
    builder = ScopeBuilder()
    state = TensorType((batch_size, num_hidden), dtype)
    weight = TensorType((4 * num_hidden, num_hidden), dtype)
    bias = TensorType((4 * num_hidden,), dtype)
    start = builder.let("zeros", zeros((batch_size, num_hidden), dtype))
    states = builder.let("init_states", Tuple([start, start]))
    out = start
    for step in range(iterations):
        params = [
            Var(f"{part}_{step}_{kind}", type)
            for part in ("i2h", "h2h")
            for kind, type in (("weight", weight), ("bias", bias))
        ]
        cell = lstm_cell(num_hidden, batch_size, dtype, f"lstm_{step}")
        called = builder.let(f"call_{step}", Call(cell, [Var("data", state), states, *params]))
        out = builder.let(f"out_{step}", TupleGetItem(called, 0))
        states = builder.let(f"states_{step}", TupleGetItem(called, 1))
    builder.ret(out)
    body = builder.get()
    return Function(free_vars(body), body)


def get_workload(iterations: int, num_hidden: int, batch_size: int = 1, dtype: str = "float32") -> Workload:
    """Returns the network as a module, and its parameters."""
    return create_workload(get_net(iterations, num_hidden, batch_size, dtype))
