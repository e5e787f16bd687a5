"""`relay-name-extents` preserves values, and an invalid shape is an error before and after it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from support.levels import outputs, run_passes

import xrelay
from xrelay.errors import ExecutionError, InterpreterError
from xrelay.interpreters.at_level import run_at_level
from xrelay.passes.infra.source import full_context, parse_module

Arrays = list[NDArray[Any]]
KERNELS = "relay-to-basic-block-normal-form,relay-fuse-ops,relay-outline-fused,convert-relay-to-topi"
DATA = "tensor<?x3xf32, #relay.dims<n>>"
LARGE = np.iinfo(np.int64)

SHAPES = f"({DATA}, tensor<2xi64>) -> !relay.incomplete"
SLICES = f"({DATA}, tensor<2xi64>, tensor<2xi64>, tensor<2xi64>) -> !relay.incomplete"
PADDING = f"({DATA}, tensor<2x2xi64>, tensor<f32>) -> !relay.incomplete"
TEXTS = {
    "reshape": ("%s: tensor<2xi64>", f"relay.dyn.reshape(%x, %s) : {SHAPES}"),
    "reshape_more": (
        "%s: tensor<3xi64>",
        f"relay.dyn.reshape(%x, %s) : ({DATA}, tensor<3xi64>) -> !relay.incomplete",
    ),
    "allowzero": ("%s: tensor<2xi64>", f"relay.dyn.reshape(%x, %s) {{allowzero = true}} : {SHAPES}"),
    "broadcast_to": ("%s: tensor<2xi64>", f"relay.dyn.broadcast_to(%x, %s) : {SHAPES}"),
    "broadcast_more": (
        "%s: tensor<3xi32>",
        f"relay.dyn.broadcast_to(%x, %s) : ({DATA}, tensor<3xi32>) -> !relay.incomplete",
    ),
    "collapse": ("%s: tensor<2xi64>", f"relay.collapse_sum_to(%x, %s) : {SHAPES}"),
    "collapse_more": (
        "%s: tensor<1xi32>",
        f"relay.collapse_sum_to(%x, %s) : ({DATA}, tensor<1xi32>) -> !relay.incomplete",
    ),
    "full": (
        "%f: tensor<f32>, %s: tensor<2xi64>",
        "relay.dyn.full(%f, %s) : (tensor<f32>, tensor<2xi64>) -> !relay.incomplete",
    ),
    "tile": ("%s: tensor<2xi64>", f"relay.dyn.tile(%x, %s) : {SHAPES}"),
    "tile_last": ("%s: tensor<1xi64>", f"relay.dyn.tile(%x, %s) : ({DATA}, tensor<1xi64>) -> !relay.incomplete"),
    "topk": (
        "%k: tensor<1xi64>",
        f'relay.dyn.topk(%x, %k) {{axis = 0, ret_type = "values"}} : ({DATA}, tensor<1xi64>) -> !relay.incomplete',
    ),
    "strided_slice": (
        "%b: tensor<2xi64>, %e: tensor<2xi64>, %s: tensor<2xi64>",
        f"relay.dyn.strided_slice(%x, %b, %e, %s) : {SLICES}",
    ),
    "pad": ("%w: tensor<2x2xi64>, %v: tensor<f32>", f"relay.dyn.nn.pad(%x, %w, %v) : {PADDING}"),
    "reflect": (
        "%w: tensor<2x2xi64>, %v: tensor<f32>",
        f'relay.dyn.nn.pad(%x, %w, %v) {{pad_mode = "reflect"}} : {PADDING}',
    ),
    "resize": (
        "%s: tensor<1xi32>, %c: tensor<1xf32>, %r: tensor<2xf32>",
        "relay.dyn.image.resize(%x, %s, %c, %r) {axes = [1]} : "
        f"({DATA}, tensor<1xi32>, tensor<1xf32>, tensor<2xf32>) -> !relay.incomplete",
    ),
    "arange_i64": (
        "%a: tensor<i64>, %b: tensor<i64>, %c: tensor<i64>",
        "relay.arange(%a, %b, %c) : (tensor<i64>, tensor<i64>, tensor<i64>) -> !relay.incomplete",
    ),
    "arange_i32": (
        "%a: tensor<i32>, %b: tensor<i32>, %c: tensor<i32>",
        "relay.arange(%a, %b, %c) : (tensor<i32>, tensor<i32>, tensor<i32>) -> !relay.incomplete",
    ),
    "arange_f32": (
        "%a: tensor<f32>, %b: tensor<f32>, %c: tensor<f32>",
        "relay.arange(%a, %b, %c) : (tensor<f32>, tensor<f32>, tensor<f32>) -> !relay.incomplete",
    ),
}


def integers(*numbers: Any) -> NDArray[Any]:
    return np.array(numbers, np.int64)


def scalars(dtype: Any, *numbers: Any) -> Arrays:
    return [np.array(number, dtype) for number in numbers]


def given() -> Iterator[tuple[str, int, Arrays]]:
    """Name of the text, rows of the data, operands; some of them are invalid."""
    for shape in ((3, 4), (0, -1), (-1, 2), (0, 0), (12, 1), (-1, -1), (5, 2), (-2, -6), (-1, 5)):
        yield "reshape", 4, [integers(*shape)]
    for more in ((2, 2, 3), (0, -1, 1), (4, 3, 0), (0, 0, 0)):
        yield "reshape_more", 4, [integers(*more)]
    for rows, shape in ((0, (0, 3)), (0, (0, -1)), (1, (-1, -1)), (0, (7, 0)), (0, (-1, 3)), (2, (0, 6))):
        yield "allowzero", rows, [integers(*shape)]
        yield "reshape", rows, [integers(*shape)]
    for rows, shape in ((2, (2, 3)), (2, (1, 1)), (1, (5, 3)), (2, (3, 3)), (0, (1, 3)), (1, (0, 1)), (2, (2, -3))):
        yield "broadcast_to", rows, [integers(*shape)]
        yield "broadcast_more", rows, [np.array((2, *shape), np.int32)]
    for rows, shape in ((2, (2, 3)), (2, (1, 3)), (2, (2, 1)), (1, (1, 1)), (0, (1, 3)), (0, (0, 1)), (3, (1, 1))):
        yield "collapse", rows, [integers(*shape)]
        yield "collapse_more", rows, [np.array(shape[1:], np.int32)]
    for rows, shape in ((2, (3, 3)), (2, (0, 3)), (1, (0, 3)), (1, (2, 3)), (0, (2, 3)), (2, (2, -1)), (2, (1, 0))):
        yield "collapse", rows, [integers(*shape)]
        yield "collapse_more", rows, [np.array(shape[1:], np.int32)]
    for shape in ((2, 3), (0, 5), (1, 1), (2, -1)):
        yield "full", 1, [np.array(1.5, np.float32), integers(*shape)]
        yield "tile", 2, [integers(*shape)]
        yield "tile_last", 2, [integers(shape[1])]
    for k in (0, 1, 3, 4, -1):
        yield "topk", 3, [integers(k)]
    far, end = LARGE.max, LARGE.min
    for rows, begin, stop, step in (
        (5, (0, 0), (far, far), (1, 1)),
        (5, (-1, -1), (end, end), (-1, -2)),
        (5, (1, 2), (-1, 0), (2, -1)),
        (5, (4, 0), (1, 2), (1, 1)),
        (0, (0, 1), (far, far), (1, 1)),
        (0, (-1, 1), (end, far), (-1, far)),
        (7, (9, -9), (-9, 9), (-3, 2)),
        (5, (5, 0), (end, 3), (end, 1)),
        (5, (0, 0), (5, 3), (0, 1)),
    ):
        yield "strided_slice", rows, [integers(*begin), integers(*stop), integers(*step)]
    for widths in ((0, 0, 0, 0), (1, 0, 2, 2), (0, 3, 1, 0), (4, 0, 0, 0), (1, -1, 0, 0)):
        for mode in ("pad", "reflect"):
            yield mode, 3, [integers(*widths).reshape(2, 2), np.array(7, np.float32)]
    yield "reflect", 0, [integers(0, 0, 1, 1).reshape(2, 2), np.array(7, np.float32)]
    for size in (0, 1, 5, -1):
        yield "resize", 2, [np.array([size], np.int32), np.zeros(1, np.float32), np.zeros(2, np.float32)]
    for bounds in ((0, 5, 1), (5, 0, -2), (0, 5, -1), (3, 3, 1), (-7, 8, 5), (0, 1, 0)):
        yield "arange_i64", 1, scalars(np.int64, *bounds)
        yield "arange_i32", 1, scalars(np.int32, *bounds)
        yield "arange_f32", 1, scalars(np.float32, *bounds)
    yield "arange_i64", 1, scalars(np.int64, far - 2, far, 2)
    yield "arange_i64", 1, scalars(np.int64, end, end + 9, 4)
    for bounds in ((0, 1, 0.1), (1, 10, 2.5), (0, np.inf, 1), (np.nan, 1, 1), (0, 1, -1e-3), (2, -1, -0.7)):
        yield "arange_f32", 1, scalars(np.float32, *bounds)


@pytest.mark.grid(3)
@pytest.mark.parametrize("name", TEXTS)
def test_extents_with_names_are_those_of_the_op(name: str) -> None:
    operands, call = TEXTS[name]
    text = (
        f"func.func @main(%x: {DATA}, {operands}) -> !relay.incomplete {{\n"
        f"  %y = {call}\n  func.return %y : !relay.incomplete\n}}"
    )
    module = parse_module(full_context(), text, f"{name}.mlir")
    run_passes(module, "relay-infer-type")
    named = module.clone()
    run_passes(named, "relay-name-extents")
    kernels = named.clone()
    run_passes(kernels, KERNELS)
    refused = 0
    for _, rows, arrays in (each for each in given() if each[0] == name):
        inputs = [np.arange(rows * 3, dtype=np.float32).reshape(rows, 3), *arrays]
        try:
            expected = outputs(module, inputs)
        except InterpreterError:
            refused += 1
            with pytest.raises(InterpreterError):
                outputs(named, inputs)
            continue
        for found in (outputs(named, inputs), run_at_level("topi", kernels, "main", inputs)):
            np.testing.assert_array_equal(found[0], expected[0])
            assert (found[0].dtype, found[0].shape) == (expected[0].dtype, expected[0].shape)
    assert refused


@pytest.mark.parametrize("numbers", [(4, 2, 1), (0, 6, 1), (1, 3, -1), (-1, 1, 1)])
def test_a_slice_by_sizes_takes_what_is_there(numbers: tuple[int, int, int]) -> None:
    call = f'relay.dyn.strided_slice(%x, %b, %e, %s) {{slice_mode = "size"}} : {SLICES}'
    text = f"func.func @main(%x: {DATA}, {TEXTS['strided_slice'][0]}) -> !relay.incomplete {{\n  %y = {call}\n"
    module = parse_module(full_context(), text + "  func.return %y : !relay.incomplete\n}", "sizes.mlir")
    run_passes(module, "relay-infer-type")
    inputs = [
        np.zeros((5, 3), np.float32),
        *(integers(number, other) for number, other in zip(numbers, (0, 3, 1), strict=True)),
    ]
    with pytest.raises(InterpreterError, match=r"\[relay.dyn.strided_slice C3\] axis 0 of extent 5 has not"):
        outputs(module, inputs)


@pytest.mark.parametrize(("data", "fits", "fails"), [("1x5", (5, 1), (0, 3, -1)), ("0", (0, 1), (2, -1))])
def test_a_shape_is_held_against_extents_that_are_known(data: str, fits: Sequence[int], fails: Sequence[int]) -> None:
    """The result type fixes the whole shape, whatever the operand's type."""
    types = f"tensor<{data}xf32>", "tensor<1xi64>"
    text = f"func.func @main(%x: {types[0]}, %s: {types[1]}) -> !relay.incomplete {{\n"
    text += f"  %y = relay.dyn.broadcast_to(%x, %s) : ({', '.join(types)}) -> !relay.incomplete\n"
    compiled = xrelay.compile(
        xrelay.parse(text + "  func.return %y : !relay.incomplete\n}"), opt_level=0, threads=1, cache=False
    )
    x = np.ones([int(extent) for extent in data.split("x")], np.float32)
    for extent in fits:
        np.testing.assert_array_equal(compiled.run([x, integers(extent)])[0], x)
    for extent in fails:
        with pytest.raises(ExecutionError, match=r"relay.dyn.broadcast_to.* is (broadcastable|-1)"):
            compiled.run([x, integers(extent)])
