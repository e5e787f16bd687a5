"""`relay.analysis`: parts of a program, layers, call graphs, and the inputs and outputs of compilers' functions."""

from __future__ import annotations

import numpy as np
import pytest

from xrelay import relay
from xrelay.errors import InputError
from xrelay.ir import structural_equal
from xrelay.relay.analysis import CallGraph, count_layers, extract_intermdeiate_expr, get_calibration_data

rng = np.random.default_rng(5)


def conv(data: relay.Expr, weight: str) -> relay.Expr:
    return relay.nn.conv2d(data, relay.var(weight), kernel_size=(3, 3), padding=(1, 1), channels=1)


def net() -> list[relay.Expr]:
    """The expressions of a network, in the order of Relay's text; the last one is the network."""
    first = conv(relay.var("x", shape=(1, 1, 5, 1)), "w1")
    second = conv(first, "w2")
    total = relay.add(first, second)
    parts = relay.split(total, indices_or_sections=1, axis=0)
    return [first, second, total, parts.astuple(), parts[0], relay.add(parts[0], relay.const(1.0))]


# --- parts of a program -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("number", range(6))
def test_an_expression_by_its_number(number: int) -> None:
    found = extract_intermdeiate_expr(relay.IRModule.from_expr(net()[-1]), number)
    assert structural_equal(found, relay.IRModule.from_expr(net()[number]))


@pytest.mark.parametrize("number", [-1, 6])
def test_a_number_that_no_expression_has(number: int) -> None:
    with pytest.raises(InputError, match=f"@main has no expression {number}; help: its expressions are 0 to 5"):
        extract_intermdeiate_expr(relay.IRModule.from_expr(net()[-1]), number)


def test_functions_that_the_expression_calls_come_along() -> None:
    x, y = relay.var("x", shape=(4,)), relay.var("y", shape=(4,))
    mod = relay.IRModule({"f": relay.Function([x], relay.exp(x)), "g": relay.Function([y], relay.tanh(y))})
    z = relay.var("z", shape=(4,))
    mod["main"] = relay.Function([z], mod.get_global_var("g")(mod.get_global_var("f")(z)))
    found = extract_intermdeiate_expr(mod, 0)
    assert [var.name_hint for var in found.get_global_vars()] == ["f", "main"]


# --- layers -----------------------------------------------------------------------------------------------------------


def test_layers_side_by_side_count_once() -> None:
    *_, last = net()
    assert count_layers(last, ["nn.conv2d"]) == 2
    assert count_layers(relay.IRModule.from_expr(last), valid_ops=["nn.conv2d", "add"]) == 4
    assert count_layers(relay.Tuple([last, conv(last, "w3"), conv(last, "w4")]), ["nn.conv2d"]) == 3
    assert count_layers(last, ["nn.dense"]) == 0


def test_layers_of_a_long_network() -> None:
    x = relay.var("x", shape=(1, 1, 5, 1))
    for _ in range(1500):
        x = relay.nn.relu(x)
    assert count_layers(x, ["nn.relu"]) == 1500


def test_layers_need_a_main() -> None:
    with pytest.raises(InputError, match="no function @main"):
        count_layers(relay.IRModule({}), ["nn.relu"])


# --- call graphs ------------------------------------------------------------------------------------------------------


def calls() -> relay.IRModule:
    x, y, z = (relay.var(name, shape=(2, 3)) for name in "xyz")
    mod = relay.IRModule({"g0": relay.Function([x], x + x)})
    g0 = mod.get_global_var("g0")
    mod["g1"] = relay.Function([y], g0(y))
    mod["main"] = relay.Function([z], g0(z) * mod.get_global_var("g1")(z))
    return mod


def test_references_and_calls() -> None:
    mod = calls()
    graph = CallGraph(mod)
    assert graph.module is mod
    assert [graph.ref_count(name) for name in ("g0", "g1", "main")] == [2, 1, 0]
    assert [graph.global_call_count(mod.get_global_var(name)) for name in ("g0", "g1", "main")] == [0, 1, 2]
    assert not graph.is_recursive("g0")
    assert graph.print_var("g1") == "@g1: #refs = 1\n  calls @g0: 1"
    assert str(graph).splitlines()[0] == "@main: #refs = 0"
    with pytest.raises(InputError, match="the module has no function @g3; help: it has g0, g1, main"):
        graph.ref_count("g3")


def test_functions_that_call_each_other() -> None:
    i, k = relay.var("i", shape=(), dtype="int32"), relay.var("k", shape=(), dtype="int32")
    down = relay.GlobalVar("down")
    rest = relay.Call(down, [i - relay.const(1)]) + i
    mod = relay.IRModule(
        {"down": relay.Function([i], relay.If(relay.equal(i, relay.const(0)), i, rest), ret_type=i.type)}
    )
    mod["main"] = relay.Function([k], relay.Call(down, [k]))
    graph = CallGraph(mod)
    assert graph.is_recursive("down")
    assert not graph.is_recursive("main")
    assert graph.ref_count(down) == 2


# --- calibration ------------------------------------------------------------------------------------------------------


def partitioned() -> relay.IRModule:
    """Two functions for a compiler, the first with two results, and one without a compiler."""
    a, b, c, d, e = (relay.var(name, shape=(3, 3)) for name in "abcde")
    first = relay.Function([a, b], relay.Tuple([a + b, a - b])).with_attr("Compiler", "mine")
    second = relay.Function([c, d], c - d).with_attr("Compiler", "mine")
    mod = relay.IRModule({"g0": first, "g1": second, "own": relay.Function([e], relay.exp(e))})
    x, y, z = (relay.var(name, shape=(3, 3)) for name in "xyz")
    pair = mod.get_global_var("g0")(x, y)
    mod["main"] = relay.Function([x, y, z], mod.get_global_var("own")(mod.get_global_var("g1")(pair[0], z)))
    return mod


def test_what_functions_take_and_give() -> None:
    mod = partitioned()
    text = str(mod)
    x, y, z = (rng.random((3, 3), np.float32) for _ in range(3))
    data = get_calibration_data(mod, {"x": x, "y": y, "z": z})
    g0, g1 = mod.get_global_var("g0"), mod.get_global_var("g1")
    assert list(data) == [g0, g1]
    wanted = {g0: ([x, y], [x + y, x - y]), g1: ([x + y, z], [x + y - z])}
    for variable, (inputs, outputs) in wanted.items():
        for key, arrays in (("inputs", inputs), ("outputs", outputs)):
            assert len(data[variable][key]) == len(arrays)
            for found, array in zip(data[variable][key], arrays, strict=True):
                np.testing.assert_allclose(found.numpy(), array, rtol=1e-6, atol=1e-6)
    assert str(mod) == text


def test_a_module_without_such_functions() -> None:
    assert get_calibration_data(calls(), {"z": np.zeros((2, 3), np.float32)}) == {}
    with pytest.raises(InputError, match="no function @main with a body"):
        get_calibration_data(relay.IRModule({}), {})


def test_one_call_each_on_every_way() -> None:
    mod = partitioned()
    x, p = relay.var("x", shape=(3, 3)), relay.var("p", shape=(), dtype="bool")
    g1 = mod.get_global_var("g1")
    mod["main"] = relay.Function([x], g1(g1(x, x), x))
    with pytest.raises(InputError, match="@g1 is called twice"):
        get_calibration_data(mod, {"x": np.zeros((3, 3), np.float32)})
    mod["main"] = relay.Function([p, x], relay.If(p, x, g1(x, x)))
    with pytest.raises(InputError, match="@g1 is called conditionally"):
        get_calibration_data(relay.transform.ToBasicBlockNormalForm()(mod), {})
