"""Attributes and types with shared parts: sixty doubling levels take 2^60 steps without memoisation."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager, nullcontext
from types import MappingProxyType

import pytest
from pass_graphs import Graph
from xdsl.dialects.builtin import ArrayAttr, DictionaryAttr, FunctionType, ModuleOp, StringAttr, TupleType, f32
from xdsl.dialects.func import FuncOp
from xdsl.ir import Attribute, SSAValue

from xrelay.dialects.relay.structure.scope import LetOp
from xrelay.dialects.relay.structure.tuples import TupleGetItemOp, TupleOp
from xrelay.dialects.shared.types import tensor_type
from xrelay.errors import PassError
from xrelay.lowering.registry import ALL_PASSES, load_pass
from xrelay.passes.graph.op_keys import OpKeys
from xrelay.passes.infra.source import full_context, parse_module
from xrelay.passes.infra.verify import verify_module

PROGRAM = """
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %a = func.call @f(%x) : (tensor<4xf32>) -> tensor<4xf32>
  %y = relay.add(%a, %x) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %z = relay.add(%a, %x) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %w = relay.add(%y, %z) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  func.return %w : tensor<4xf32>
}
func.func private @f(%x: tensor<4xf32>) -> tensor<4xf32> {
  %y = relay.exp(%x) : (tensor<4xf32>) -> tensor<4xf32>
  func.return %y : tensor<4xf32>
}
"""


def shared(join: Callable[[Attribute], Attribute], leaf: Attribute) -> Attribute:
    for _ in range(60):
        leaf = join(leaf)
    return leaf


SHARED: dict[str, Callable[[], Attribute]] = {
    "array": lambda: shared(lambda part: ArrayAttr([part, part]), StringAttr("x")),
    "dictionary": lambda: shared(lambda part: DictionaryAttr({"a": part, "b": part}), StringAttr("x")),
    "tuple": lambda: shared(lambda part: TupleType((part, part)), tensor_type([2], f32)),
    "function": lambda: shared(lambda part: FunctionType.from_lists([part], [part]), tensor_type([2], f32)),
}


def refusal(name: str, also: Mapping[str, str] = MappingProxyType({})) -> AbstractContextManager[object]:
    """Expects the error of passes that require a normal form or a text."""
    said = {
        "relay-annotate-used-memory": "not in A-normal form",
        "relay-annotate-spans": "have more than 1000000 parts",
    } | dict(also)
    return pytest.raises(PassError, match=said[name]) if name in said else nullcontext()


@pytest.mark.parametrize("name", [name for name in ALL_PASSES if name.startswith("relay-")])
def test_passes_look_at_a_part_once(name: str) -> None:
    module = parse_module(full_context(), PROGRAM, "shared.mlir")
    attributes = {f"test.{kind}": made() for kind, made in SHARED.items()}
    module.attributes.update(attributes)
    for function in module.body.block.ops:
        assert isinstance(function, FuncOp)
        for op in (function, *function.body.block.ops):
            op.attributes.update(attributes)
    verify_module(module)
    with refusal(name):
        load_pass(name)().apply(full_context(), module)


@pytest.mark.parametrize("kind", SHARED)
def test_keys_of_equal_attributes_are_equal(kind: str) -> None:
    keys = OpKeys()
    one, other = SHARED[kind](), SHARED[kind]()
    assert keys.of_attributes({"a": one}) == keys.of_attributes({"a": other})
    assert keys.of_attributes({"a": one}) != keys.of_attributes({"a": StringAttr("x")})


def nested_tuples() -> ModuleOp:
    """Sixty nested tuples, each of one value twice."""
    graph = Graph(tensor_type([2], f32))
    value: SSAValue = graph.block.args[0]
    for _ in range(60):
        value = graph.add(TupleOp.call(value, value))
    value = graph.add(LetOp.call(value, variable="v"))
    for _ in range(60):
        value = graph.add(TupleGetItemOp.call(value, index=1))
    return ModuleOp([graph.function("main", value)])


def test_verification_looks_at_a_part_of_a_type_once() -> None:
    verify_module(nested_tuples())


@pytest.mark.parametrize("name", [name for name in ALL_PASSES if name.startswith("relay-")])
def test_passes_look_at_a_part_of_a_type_once(name: str) -> None:
    with refusal(name, {"relay-outline-fused": "more than 1000000 "}):
        load_pass(name)().apply(full_context(), nested_tuples())


def test_keys_tell_attributes_apart() -> None:
    keys = OpKeys()
    a, b = StringAttr("a"), StringAttr("b")
    found = [
        ArrayAttr([]), ArrayAttr([a]), ArrayAttr([a, b]), ArrayAttr([b, a]), ArrayAttr([ArrayAttr([a]), b]),
        DictionaryAttr({"a": a}), DictionaryAttr({"b": a}), DictionaryAttr({"a": b}), TupleType(()), TupleType((f32,)),
        FunctionType.from_lists([f32], []), FunctionType.from_lists([], [f32]), tensor_type([2], f32), a, f32,
    ]  # fmt: skip
    assert len({keys.of_attributes({"x": one}) for one in found}) == len(found)
    same = DictionaryAttr({"p": a, "q": b}), DictionaryAttr({"q": b, "p": a})
    assert keys.of_attributes({"x": same[0]}) == keys.of_attributes({"x": same[1]})
