"""Type inference from Python: speed on long chains, and modules unchanged after an error."""

from __future__ import annotations

import pytest
from support.frames import frames_left
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
    for _ in range(1_000):
        value = relay.let("v", value)
    if backwards:
        value = relay.If(relay.const(True), value, relay.var("other", known))
    function = relay.Function(relay.analysis.free_vars(value), value)
    module = relay.Module.from_expr(function)
    with frames_left(500):
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


@pytest.mark.parametrize(
    ("layouts", "image", "weight"),
    [(("NCHW", "OIHW"), (1, 4, 8, 6), (6, 2, 3, 3)), (("NHWC", "HWIO"), (1, 8, 6, 4), (3, 3, 2, 6))],
)
def test_offsets_and_weight_of_a_deformable_convolution(
    layouts: tuple[str, str], image: tuple[int, ...], weight: tuple[int, ...]
) -> None:
    data, offset, kernel = relay.var("data", shape=image), relay.var("offset"), relay.var("kernel")
    call = relay.nn.deformable_conv2d(
        data, offset, kernel, padding=(1, 1), kernel_size=(3, 3), channels=6, groups=2, deformable_groups=4,
        data_layout=layouts[0], kernel_layout=layouts[1],
    )  # fmt: skip
    module = relay.Module.from_expr(relay.Function([data, offset, kernel], call))
    infer_types(module)
    channel = layouts[0].index("C")
    places = tuple(72 if axis == channel else extent for axis, extent in enumerate(image))
    result = tuple(6 if axis == channel else extent for axis, extent in enumerate(image))
    params = [param.checked_type for param in module["main"].params]
    assert params == [relay.TensorType(shape) for shape in (image, places, weight)]
    assert module["main"].ret_type == relay.TensorType(result)


DATA = relay.var("x", shape=(2, 3, 5))
VECTORS = [relay.var(name) for name in "ab"]
SCALED = {
    "layer_norm": (relay.nn.layer_norm(DATA, *VECTORS), 5),
    "instance_norm": (relay.nn.instance_norm(DATA, *VECTORS), 3),
    "group_norm": (relay.nn.group_norm(DATA, *VECTORS, 3), 3),
    "rms_norm": (relay.nn.rms_norm(DATA, VECTORS[0]), 5),
    "prelu": (relay.nn.prelu(DATA, VECTORS[0]), 3),
    "prelu along another axis": (relay.nn.prelu(DATA, VECTORS[0], axis=-1), 5),
}


@pytest.mark.parametrize("name", SCALED)
def test_vectors_along_an_axis_are_as_long_as_it(name: str) -> None:
    expr, extent = SCALED[name]
    module = relay.Module.from_expr(expr)
    infer_types(module)
    main = module.ops.first
    assert isinstance(main, FuncOp)
    assert {str(type) for type in main.function_type.inputs.data[1:]} == {f"tensor<{extent}xf32>"}


def test_an_axis_that_is_not_there_has_no_vectors() -> None:
    with pytest.raises(TypeInferenceError, match=r"\[relay.nn.prelu C1\] axis 9 is out of range for rank 3"):
        infer_types(relay.Module.from_expr(relay.nn.prelu(DATA, VECTORS[0], axis=9)))
