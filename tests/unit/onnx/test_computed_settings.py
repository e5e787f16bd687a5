"""Settings that are inputs of the model, in the interpreter."""

from __future__ import annotations

import numpy as np
import pytest
from onnx import TensorProto, helper
from support.onnx_models import model, value

from xrelay.api.compile import compile
from xrelay.errors import ExecutionError, InterpreterError
from xrelay.frontend.onnx import import_onnx
from xrelay.interpreters.relay import run_relay

X = np.arange(6, dtype=np.float32).reshape(2, 3)


def test_repeats_that_are_computed() -> None:
    node = helper.make_node("Tile", ["x", "r"], ["y"])
    for shape in ((2, 3), ("n", 3)):
        inputs = [value("x", shape), value("r", (2,), TensorProto.INT64)]
        module = import_onnx(model([node], inputs, ["y"]))
        np.testing.assert_array_equal(run_relay(module, [X, np.array([2, 3])])[0], np.tile(X, (2, 3)))


@pytest.mark.parametrize("largest", [0, 1])
def test_a_k_that_is_computed(largest: int) -> None:
    node = helper.make_node("TopK", ["x", "k"], ["y", "i"], axis=-1, largest=largest)
    module = import_onnx(model([node], [value("x", (2, 3)), value("k", (1,), TensorProto.INT64)], ["y", "i"]))
    for k in range(4):
        values, places = run_relay(module, [X, np.array([k])])
        order = np.arange(3)[::-1] if largest else np.arange(3)
        np.testing.assert_array_equal(places, np.tile(order[:k], (2, 1)), strict=True)
        np.testing.assert_array_equal(values, X[:, order[:k]], strict=True)
    with pytest.raises(InterpreterError, match="k is 4, the axis has 3 elements"):
        run_relay(module, [X, np.array([4])])


@pytest.mark.parametrize(
    ("bounds", "axes", "expected"),
    [
        (([0, 1], [1, 9], [1, 1]), None, (slice(0, 1), slice(1, 9))),
        (([-1], [-9], [-2]), [1], (slice(None), slice(-1, None, -2))),
        (([1, 0], [3, 1]), [2, 0], (slice(0, 1), slice(None), slice(1, 3))),
    ],
)
@pytest.mark.parametrize("dtype", [np.int32, np.int64])
def test_bounds_that_are_computed(
    bounds: tuple[list[int], ...], axes: list[int] | None, expected: tuple[slice, ...], dtype: type
) -> None:
    x = np.arange(24, dtype=np.float32).reshape(2, 3, 4)
    kind = helper.np_dtype_to_tensor_dtype(np.dtype(dtype))
    names = ["starts", "ends", "steps"][: len(bounds)]
    inputs = ["x", "starts", "ends", "" if axes is None else "axes", *names[2:]]
    constants = {} if axes is None else {"axes": np.array(axes, dtype)}
    given = [value("x", ("n", 3, 4)), *(value(name, (len(bounds[0]),), kind) for name in names)]
    module = import_onnx(model([helper.make_node("Slice", inputs, ["y"])], given, ["y"], initializers=constants))
    (found,) = run_relay(module, [x, *(np.array(each, dtype) for each in bounds)])
    np.testing.assert_array_equal(found, x[expected])


@pytest.mark.grid(2)
@pytest.mark.parametrize("extents", [(2, 3), ("n", 3)])
@pytest.mark.parametrize("computed", [(), ("ends",), ("starts", "ends", "steps"), ("starts", "ends", "axes", "steps")])
def test_a_slice_that_begins_before_the_first_element_and_goes_backwards(
    extents: tuple[int | str, ...], computed: tuple[str, ...]
) -> None:
    """ONNX clamps the begin to the first element, numpy to the position before it."""
    bounds = {"starts": [-4, 2], "ends": [-9, 9], "axes": [0, 1], "steps": [-2, 1]}
    settings = {name: np.array(numbers, np.int32) for name, numbers in bounds.items()}
    given = [value("x", extents), *(value(name, (2,), TensorProto.INT32) for name in computed)]
    constants = {name: array for name, array in settings.items() if name not in computed}
    proto = model([helper.make_node("Slice", ["x", *bounds], ["y"])], given, ["y"], initializers=constants)
    inputs = [X, *(settings[name] for name in computed)]
    for found in (run_relay(import_onnx(proto), inputs)[0], compile(proto, cache=False, threads=1).run(inputs)[0]):
        np.testing.assert_array_equal(found, [[2]], strict=False)


@pytest.mark.parametrize("axes", [None, [-1], [2, 0]])
@pytest.mark.parametrize("mode", ["constant", "edge", "reflect"])
def test_pads_that_are_computed(mode: str, axes: list[int] | None) -> None:
    x, padded = np.arange(24, dtype=np.float32).reshape(2, 3, 4), [0, 1, 2] if axes is None else axes
    pads = np.array([[1, 0, 1][: len(padded)], [0, 1, 1][: len(padded)]])
    names = ["x", "p", "v" if mode == "constant" else "", "" if axes is None else "a"]
    given = [value("x", ("n", 3, 4)), value("p", (pads.size,), TensorProto.INT64)]
    inputs = [x, pads.reshape(-1)]
    if mode == "constant":
        given.append(value("v", (1,)))
        inputs.append(np.array([5], np.float32))
    constants = {} if axes is None else {"a": np.array(axes)}
    node = helper.make_node("Pad", names, ["y"], mode=mode)
    (found,) = run_relay(import_onnx(model([node], given, ["y"], initializers=constants, opset=18)), inputs)
    pairs = [(0, 0)] * 3
    for axis, before, after in zip(padded, *pads, strict=True):
        pairs[axis] = before, after
    options = {"constant_values": 5} if mode == "constant" else {}
    np.testing.assert_array_equal(found, np.pad(x, pairs, mode=mode, **options))  # type: ignore[call-overload]


@pytest.mark.parametrize("mode", ["constant", "edge", "reflect", "wrap"])
def test_pads_along_axes_that_are_computed(mode: str) -> None:
    x = np.arange(24, dtype=np.float32).reshape(2, 3, 4)
    given = [
        value("x", ("n", 3, 4)),
        *(value(name, shape, TensorProto.INT64) for name, shape in (("p", (4,)), ("a", (2,)))),
    ]
    module = import_onnx(
        model([helper.make_node("Pad", ["x", "p", "", "a"], ["y"], mode=mode)], given, ["y"], opset=19)
    )
    for axes, pads in (([0, 2], [1, 2, 0, 3]), ([-1, 1], [0, 2, 0, 0])):
        pairs = [(0, 0)] * 3
        for axis, before, after in zip(axes, pads[:2], pads[2:], strict=True):
            pairs[axis] = before, after
        (found,) = run_relay(module, [x, np.array(pads), np.array(axes)])
        np.testing.assert_array_equal(found, np.pad(x, pairs, mode=mode))  # type: ignore[call-overload]
    with pytest.raises(InterpreterError, match="3"):
        run_relay(module, [x, np.zeros(4, np.int64), np.array([0, 3])])


def test_pads_that_wrap_more_than_once() -> None:
    x = np.arange(6, dtype=np.float32).reshape(2, 3)
    given = [value("x", (2, "n")), value("p", (4,), TensorProto.INT64)]
    native = compile(
        model([helper.make_node("Pad", ["x", "p"], ["y"], mode="wrap")], given, ["y"], opset=19), cache=False
    )
    for pads in ([0, 7, 3, 1], [0, 0, 0, 0]):
        pairs = [(pads[0], pads[2]), (pads[1], pads[3])]
        np.testing.assert_array_equal(native.run([x, np.array(pads)])[0], np.pad(x, pairs, mode="wrap"))
    with pytest.raises(ExecutionError, match="elements to take"):
        native.run([np.zeros((2, 0), np.float32), np.array([0, 1, 0, 1])])


def test_pads_that_follow_from_shapes() -> None:
    nodes = [
        helper.make_node("Shape", ["x"], ["s"], end=1),
        helper.make_node("Sub", ["most", "s"], ["d"]),
        helper.make_node("Concat", ["zero", "d"], ["p"], axis=0),
        helper.make_node("Pad", ["x", "p", "v", "first"], ["y"]),
        helper.make_node("Shape", ["y"], ["r"], end=1),
        helper.make_node("Sub", ["r", "most"], ["a"]),
        helper.make_node("Unsqueeze", ["y", "a"], ["z"]),
    ]
    constants = {"most": np.array([5]), "zero": np.array([0]), "first": np.array([0])}
    given = [value("x", ("n", 2)), value("v", ())]
    module = import_onnx(model(nodes, given, ["z"], initializers=constants, opset=18))
    assert "tensor<5x2xf32>" in str(module)
    (found,) = run_relay(module, [np.ones((3, 2), np.float32), np.array(2, np.float32)])
    np.testing.assert_array_equal(found[0, :, 0], [1, 1, 1, 2, 2])
    with pytest.raises(InterpreterError, match=r"padding: -n \+ 5 >= 0 is -1"):
        run_relay(module, [np.ones((6, 2), np.float32), np.array(2, np.float32)])


def test_a_pad_value_that_is_computed_natively() -> None:
    node = helper.make_node("Pad", ["x", "p", "v"], ["y"])
    proto = model([node], [value("x", (2, 3)), value("v", (1,))], ["y"], initializers={"p": np.array([0, 1, 1, 0])})
    (found,) = compile(proto, cache=False).run([X, np.array([4], np.float32)])
    np.testing.assert_array_equal(found, np.pad(X, [(0, 1), (1, 0)], constant_values=4))


def at_axes(op: str, shape: tuple[int | str, ...], axes: list[int], x: np.ndarray) -> np.ndarray:
    """The result of the op at axes that are an input of the model."""
    given = [value("x", shape), value("a", (len(axes),), TensorProto.INT64)]
    module = import_onnx(model([helper.make_node(op, ["x", "a"], ["y"])], given, ["y"]))
    return run_relay(module, [x, np.array(axes, np.int64)])[0]


@pytest.mark.parametrize(("shape", "axes"), [((2, "n"), [0, -1]), ((2, 3), [2]), ((), [1, 0]), ((0, "n"), [1])])
def test_new_axes_that_are_computed(shape: tuple[int | str, ...], axes: list[int]) -> None:
    x = np.ones([3 if extent == "n" else int(extent) for extent in shape], np.float32)
    assert at_axes("Unsqueeze", shape, axes, x).shape == np.expand_dims(x, tuple(axes)).shape


@pytest.mark.parametrize("axes", [[0, -2], [2, 0], [2], []])
def test_axes_that_go_and_are_computed(axes: list[int]) -> None:
    x = np.arange(4, dtype=np.float32).reshape(1, 4, 1)
    if axes == [0, -2]:
        with pytest.raises(InterpreterError, match=r"shape \[1, 4, 1\] cannot be reshaped to \[1\]"):
            at_axes("Squeeze", (1, "n", 1), axes, x)
        return
    found = at_axes("Squeeze", (1, "n", 1), axes, x)
    np.testing.assert_array_equal(found, np.squeeze(x, tuple(axes)), strict=True)


@pytest.mark.parametrize(
    ("op", "axes"), [("Unsqueeze", [1, -4]), ("Unsqueeze", [5, 0]), ("Squeeze", [0, -3]), ("Squeeze", [0, 3])]
)
def test_axes_that_are_equal_or_none(op: str, axes: list[int]) -> None:
    with pytest.raises(InterpreterError):
        at_axes(op, (1, 3, 1), axes, np.ones((1, 3, 1), np.float32))


def test_slices_along_axes_that_are_computed() -> None:
    x = np.arange(24, dtype=np.float32).reshape(2, 3, 4)
    bounds = [value(name, (2,), TensorProto.INT64) for name in ("starts", "ends", "axes")]
    node = helper.make_node("Slice", ["x", "starts", "ends", "axes"], ["y"])
    module = import_onnx(model([node], [value("x", ("n", 3, 4)), *bounds], ["y"]))

    def found(*axes: int) -> np.ndarray:
        return run_relay(module, [x, np.array([1, 0]), np.array([3, 1]), np.array(axes)])[0]

    np.testing.assert_array_equal(found(2, 0), x[:1, :, 1:3])
    np.testing.assert_array_equal(found(-2, 2), x[:, 1:3, :1])
    with pytest.raises(InterpreterError, match="3"):
        found(3, 0)


def test_parts_that_are_computed() -> None:
    x = np.arange(12, dtype=np.float32).reshape(2, 6)
    node = helper.make_node("Split", ["x", "sizes"], ["a", "b", "c"], axis=-1)
    inputs = [value("x", (2, "n")), value("sizes", (3,), TensorProto.INT64)]
    module = import_onnx(model([node], inputs, ["a", "b", "c"]))
    for sizes in ([1, 3, 2], [0, 6, 0]):
        parts = np.split(x, np.cumsum(sizes)[:-1], axis=1)
        for part, wanted in zip(run_relay(module, [x, np.array(sizes)]), parts, strict=True):
            np.testing.assert_array_equal(part, wanted)
    for sizes in ([1, 3, 3], [7, -1, 0], [0, 0, 0]):
        with pytest.raises(InterpreterError, match=r"3 .* \[.*3\)"):
            run_relay(module, [x, np.array(sizes)])


@pytest.mark.parametrize("reverse", [0, 1])
def test_sums_along_an_axis_that_is_computed(reverse: int) -> None:
    x = np.arange(6, dtype=np.float32).reshape(2, 3)
    node = helper.make_node("CumSum", ["x", "axis"], ["y"], reverse=reverse)
    module = import_onnx(model([node], [value("x", (2, "n")), value("axis", (), TensorProto.INT64)], ["y"]))
    for axis in (0, 1, -1):
        wanted = np.flip(np.flip(x, axis).cumsum(axis), axis) if reverse else x.cumsum(axis)
        np.testing.assert_array_equal(run_relay(module, [x, np.array(axis)])[0], wanted)
    with pytest.raises(InterpreterError, match="2"):
        run_relay(module, [x, np.array(2)])


def test_a_number_has_no_axes_to_pad() -> None:
    node = helper.make_node("Pad", ["x", "p"], ["y"])
    proto = model([node], [value("x", ()), value("p", (0,), TensorProto.INT64)], ["y"])
    inputs = [np.array(3, np.float32), np.zeros(0, np.int64)]
    for found in (run_relay(import_onnx(proto), inputs)[0], compile(proto, cache=False, threads=1).run(inputs)[0]):
        np.testing.assert_array_equal(found, np.array(3, np.float32), strict=True)
