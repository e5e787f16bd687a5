"""`relay.while_loop`: recursive functions, interpreted and compiled."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import xrelay
from xrelay import relay


def double_until(limit: int) -> relay.Function:
    """A function that doubles a tensor `limit` times, with a counter from 0."""
    counter, value = relay.var("i", relay.scalar_type("int32")), relay.var("value", shape=(2, 1), dtype="int32")

    def goes_on(i: Any, value: Any) -> Any:
        return i < relay.const(limit, "int32")

    def step(i: Any, value: Any) -> Any:
        return i + relay.const(1, "int32"), value * relay.const(2, "int32")

    loop = relay.while_loop(goes_on, [counter, value], step)
    return relay.Function([value], loop(relay.const(0, "int32"), value)[1])


@pytest.mark.parametrize("kind", ["debug", "graph"])
@pytest.mark.parametrize("times", [0, 5])
def test_a_loop_runs_as_long_as_its_condition_holds(kind: str, times: int) -> None:
    evaluated = relay.create_executor(kind).evaluate(double_until(times))
    assert evaluated(np.ones((2, 1), np.int32)).tolist() == [[2**times]] * 2


def test_variables_of_the_loop_have_the_names_and_types_that_were_given() -> None:
    x = relay.var("x", shape=(3,))

    def goes_on(a: Any, b: Any) -> Any:
        return relay.max(a) < b

    def step(a: Any, b: Any) -> Any:
        return a + b, b

    loop: Any = relay.loops.while_loop(goes_on, [x, relay.const(4.0)], step)
    assert [(each.name, each.type) for each in loop.value.params] == [("x", x.type), ("arg1", relay.TensorType(()))]
    mod: Any = relay.transform.InferType()(xrelay.IRModule.from_expr(relay.Function([x], loop(x, relay.const(4.0)))))
    assert mod["main"].ret_type == relay.TupleType([x.type, relay.TensorType(())])


@pytest.mark.parametrize("kind", ["debug", "graph", "vm"])
@pytest.mark.parametrize("inferred", [False, True])
def test_a_loop_may_grow_what_it_carries(kind: str, inferred: bool) -> None:
    counter, rows = relay.var("i", shape=(), dtype="int32"), relay.var("rows", shape=(relay.Any(), 1), dtype="int32")

    def goes_on(i: Any, rows: Any) -> Any:
        return i < relay.const(4, "int32")

    def step(i: Any, rows: Any) -> Any:
        return i + relay.const(1, "int32"), relay.concatenate([rows, relay.reshape(i, (1, 1))], axis=0)

    start = relay.var("start", shape=(), dtype="int32")
    loop: Any = relay.while_loop(goes_on, [counter, rows], step)
    grown = relay.Function([start], loop(start, relay.const([[7]], "int32"))[1])
    module = xrelay.IRModule.from_expr(grown)
    if inferred:
        module = relay.transform.InferType()(module)
    evaluated = relay.create_executor(kind, module).evaluate()
    assert np.asarray(evaluated(np.int32(1))).ravel().tolist() == [7, 1, 2, 3]
    assert np.asarray(evaluated(np.int32(4))).ravel().tolist() == [7]


def test_fields_of_one_type_have_extents_of_their_own() -> None:
    rows = relay.TensorType((relay.Any(), 1), "int32")
    both = relay.var("both", relay.TupleType([rows, rows]))
    joined = relay.Function([both], relay.concatenate([both[0], both[1]], axis=0))
    evaluated = relay.create_executor("graph", xrelay.IRModule.from_expr(joined)).evaluate()
    assert evaluated((np.ones((2, 1), np.int32), np.ones((3, 1), np.int32))).shape == (5, 1)
