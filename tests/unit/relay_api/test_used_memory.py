"""`AnnotateUsedMemory` from Python: live bytes at the calls of primitive functions, with Relay's counts."""

from __future__ import annotations

from typing import cast

import pytest
from xdsl.dialects.builtin import ModuleOp

from xrelay import relay, transform
from xrelay.dialects.relay.core.attribute_values import to_python
from xrelay.dialects.relay.structure.function import FnOp
from xrelay.dialects.shared.attribute_names import USED_MEMORY
from xrelay.errors import PassError
from xrelay.relay.expr import Expr
from xrelay.relay.function import Function

SIZE = 4 * 5 * 6


def primitive(expr: Expr) -> Function:
    return relay.Function(relay.analysis.free_vars(expr), expr).with_attr("Primitive", 1)


def halved(rows: int) -> Function:
    """A function from `rows` rows of 30 bytes to rows of 15."""
    parameter = relay.var("p", shape=(rows, 30), dtype="int8")
    return primitive(relay.strided_slice(parameter, begin=[0, 0], end=[rows, 15]))


def same() -> Function:
    return primitive(relay.nn.relu(relay.var("p", shape=(4, 5, 6), dtype="int8")))


def annotated(expr: Expr) -> tuple[object, list[object]]:
    """The bytes of inputs and results, and those of the closures in program order."""
    mod = transform.Sequential([transform.AnnotateUsedMemory()])(relay.IRModule.from_expr(expr))
    found = [to_python(op.attributes[USED_MEMORY]) for op in mod.walk() if isinstance(op, FnOp)]
    return cast(relay.IRModule, mod)["main"].attrs["io_used_memory"], found


def test_a_row_of_functions() -> None:
    x = relay.var("x", shape=(4, 5, 6), dtype="int8")
    y = relay.Call(same(), [relay.Call(same(), [x])])
    assert annotated(y) == (2 * SIZE, [[2 * SIZE], [2 * SIZE]])


def test_types_of_several_sizes() -> None:
    parameter = relay.var("p", shape=(2, 2), dtype="int16")
    x = relay.var("x", shape=(2, 2), dtype="int16")
    assert annotated(relay.Call(primitive(relay.cast(parameter, dtype="uint32")), [x])) == (24, [[24]])


def test_what_is_needed_later_counts() -> None:
    x = relay.var("x", shape=(4, 5, 6), dtype="int8")
    a, b = relay.Call(same(), [x]), relay.Call(same(), [x])
    c, d = relay.Call(same(), [b]), relay.Call(same(), [b])
    total, found = annotated(relay.concatenate([a, c, d], axis=2))
    assert total == 4 * SIZE
    assert found == [[2 * SIZE], [3 * SIZE], [3 * SIZE], [4 * SIZE]]


def test_each_call_of_one_function_counts() -> None:
    x = relay.var("x", shape=(4, 30), dtype="int8")
    function = halved(4)
    calls = [relay.Call(function, [x]) for _ in range(20)]
    total, found = annotated(relay.concatenate(calls, axis=1))
    assert total == 120 + 20 * 60
    assert found == [[120 + 60 * (call + 1) for call in range(20)]]


def test_direct_calls_need_a_normal_form() -> None:
    x = relay.var("x", shape=(4, 5, 6), dtype="int8")
    mod = relay.IRModule.from_expr(relay.Call(same(), [x]))
    with pytest.raises(PassError, match="not in A-normal form"):
        transform.AnnotateUsedMemory()(mod)


def test_open_extents_are_refused() -> None:
    x, parameter = (relay.var(name, shape=(4, relay.Any())) for name in "xp")
    with pytest.raises(PassError, match="AnnotateUsedMemory does not support dynamic shapes"):
        annotated(relay.Call(primitive(relay.nn.relu(parameter)), [x]))


def test_groups_are_annotated() -> None:
    x = relay.var("x", shape=(4, 5, 6))
    mod: ModuleOp = relay.IRModule.from_expr(relay.exp(x))
    mod = transform.Sequential([transform.FuseOps(), transform.AnnotateUsedMemory()])(mod)
    assert str(mod).count(USED_MEMORY) == 2
