"""`relay.while_loop`: functions that call themselves, interpreted and compiled."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import xrelay
from xrelay import relay


def double_until(limit: int) -> relay.Function:
    """The function that doubles a tensor as often as `limit` says, with a counter from 0."""
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
