"""Type inference from Python: speed on long chains, and modules left alone when it fails."""

from __future__ import annotations

import pytest
from xdsl.dialects.func import FuncOp

from xrelay import relay
from xrelay.errors import TypeInferenceError
from xrelay.passes.infra.source import full_context, parse_module
from xrelay.passes.types.infer_type import infer_types


@pytest.mark.parametrize("backwards", [False, True])
def test_a_long_chain_is_no_recursion(backwards):
    known, unknown = relay.TensorType((7,)), None
    data = relay.var("data", unknown if backwards else known)
    value = data
    for _ in range(5_000):
        value = relay.let("v", value)
    if backwards:
        value = relay.If(relay.const(True), value, relay.var("other", known))
    function = relay.Function(relay.analysis.free_vars(value), value)
    module = relay.Module.from_expr(function)
    infer_types(module)
    func = module.ops.first
    assert isinstance(func, FuncOp)
    assert str(func.function_type.inputs.data[0]) == "tensor<7xf32>"
    assert str(func.function_type.outputs.data[0]) == "tensor<7xf32>"


def test_failure_leaves_the_module_alone():
    x, w = relay.var("x", shape=(1, 3, 8, 8)), relay.var("w")
    module = relay.Module.from_expr(relay.exp(relay.nn.conv2d(x, w)) + relay.var("y"))
    before = str(module)
    with pytest.raises(TypeInferenceError):
        infer_types(module)
    assert str(module) == before


def test_failure_leaves_what_ops_record_alone():
    text = """
      func.func @kept(%x: tensor<?xf32, #relay.dims<n>>, %y: tensor<?xf32, #relay.dims<m>>) -> !relay.incomplete {
        %0 = relay.add(%x, %y) : (tensor<?xf32, #relay.dims<n>>, tensor<?xf32, #relay.dims<m>>) -> !relay.incomplete
        %1 = relay.argwhere(%0) : (!relay.incomplete) -> !relay.incomplete
        func.return %1 : !relay.incomplete
      }
      func.func @refused(%x: tensor<?xf32, #relay.dims<n>>) -> tensor<4xf32> {
        %0 = relay.squeeze(%x) {axis = [0]} : (tensor<?xf32, #relay.dims<n>>) -> tensor<f32>
        %1 = relay.negative(%x) : (tensor<?xf32, #relay.dims<n>>) -> tensor<4xf32>
        %2 = relay.add(%0, %1) : (tensor<f32>, tensor<4xf32>) -> tensor<4xf32>
        func.return %2 : tensor<4xf32>
      }"""
    module = parse_module(full_context(), text, "recorded.mlir")
    before = str(module)
    with pytest.raises(TypeInferenceError, match="cannot hold here"):
        infer_types(module)
    assert str(module) == before
