"""Results that are stored in their part of a buffer equal the interpreter's; kernels that would copy are gone."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from ml_dtypes import bfloat16
from numpy.typing import NDArray
from support.examples import examples
from support.levels import program

import xrelay
from xrelay.api.model import CompiledModel
from xrelay.interpreters.relay import run_relay

Array = NDArray[Any]
COPIES = re.compile("concat|split|slice|copy|reshape|dims")


class Lines:
    """The text of a program whose ops are separated by stop_fusion."""

    def __init__(self, **inputs: str):
        """Takes the types of the parameters by name."""
        self._types, self._lines = inputs, list[str]()

    def add(self, name: str, op: str, *operands: str, attributes: str = "") -> None:
        """Adds `%name = relay.op(operands) {attributes}` and a stop_fusion; `concatenate` gets a tuple of them."""
        fields = list(operands)
        if op == "concatenate":
            self._lines.append(f"%{name}_t = relay.tuple({self._uses(fields)}) : ({self._of(fields)}) -> U")
            fields = [f"{name}_t"]
        text = f" {{{attributes}}}" if attributes else ""
        self._lines.append(f"%{name}_w = relay.{op}({self._uses(fields)}){text} : ({self._of(fields)}) -> U")
        self._lines.append(f"%{name} = relay.annotation.stop_fusion(%{name}_w) : (U) -> U")

    def field(self, name: str, source: str, index: int) -> None:
        """Adds `%name`, the field of a tuple `%source_w`."""
        self._lines.append(f"%{name} = relay.tuple_get_item(%{source}_w) {{index = {index}}} : (U) -> U")

    def split(self, name: str, operand: str, at: int, axis: int) -> None:
        """Adds `%name_w`, a tuple of two."""
        self._lines.append(f"%{name}_w = relay.split(%{operand}) {{indices_or_sections = [{at}], axis = {axis}}} : "
                           f"({self._of([operand])}) -> U")  # fmt: skip

    def check(self, results: Sequence[str], *inputs: Sequence[Array], threads: int = 2) -> CompiledModel:
        """Returns the model; checks that it agrees with the interpreter for each of `inputs` and leaves them alone."""
        signature = ", ".join(f"%{name}: {type}" for name, type in self._types.items())
        module = program(signature, ", ".join(f"%{each}" for each in results), "\n".join(self._lines))
        model = xrelay.compile(module.clone(), cache=False, threads=threads)
        for arrays in inputs:
            kept = [each.copy() for each in arrays]
            expected = run_relay(module, [each.copy() for each in arrays])
            for found, wanted in zip(model.run(list(arrays)), expected, strict=True):
                np.testing.assert_allclose(found, wanted, rtol=1e-5, atol=1e-6)
            for before, after in zip(kept, arrays, strict=True):
                np.testing.assert_array_equal(before, after)
        return model

    def _uses(self, operands: Sequence[str]) -> str:
        return ", ".join(f"%{each}" for each in operands)

    def _of(self, operands: Sequence[str]) -> str:
        return ", ".join(self._types.get(each, "U") for each in operands)


def copying(model: CompiledModel) -> list[str]:
    """The kernels of a model that copy."""
    return [each.symbol for each in model.artifact.metadata.kernels if COPIES.search(each.symbol)]


def _normal(*shape: int, seed: int = 0) -> Array:
    return np.random.default_rng(seed).standard_normal(shape).astype(np.float32)


def _add_dense_layers(lines: Lines, count: int) -> None:
    """Adds layers from `%c0` on that each append a channel to all earlier ones."""
    for layer in range(1, count + 1):
        lines.add(f"m{layer}", "mean", f"c{layer - 1}", attributes="axis = array<i64: 1>, keepdims = true")
        lines.add(f"f{layer}", "exp", f"m{layer}")
        lines.add(f"c{layer}", "concatenate", f"c{layer - 1}", f"f{layer}", attributes="axis = 1")


def test_a_dense_block_concatenates_without_copies() -> None:
    """Each layer reads all earlier channels and appends some: nested parts, read while the next part is written."""
    lines = Lines(x="tensor<1x4x6x6xf32>")
    lines.add("c0", "tanh", "x")
    _add_dense_layers(lines, 5)
    lines.add("y", "negative", "c5")
    assert not copying(lines.check(["y"], [_normal(1, 4, 6, 6)], [np.full((1, 4, 6, 6), np.nan, np.float32)]))


def test_several_branches_of_one_input() -> None:
    """A kernel that selects among many operands does so by bisection."""
    lines = Lines(x="tensor<1x3x5xf32>")
    for number, op in enumerate(["tanh", "exp", "sin", "cos", "negative"]):
        lines.add(f"b{number}", op, "x")
    lines.add("c", "concatenate", "b0", "b1", "b2", "b3", "b4", attributes="axis = 1")
    lines.add("y", "tanh", "c")
    assert not copying(lines.check(["y"], [_normal(1, 3, 5)]))


def test_extents_that_a_run_tells() -> None:
    """Also with 0 elements, and with two equal names."""
    lines = Lines(x="tensor<?x3xf32, #relay.dims<n>>", y="tensor<?x3xf32, #relay.dims<m>>")
    lines.add("a", "tanh", "x")
    lines.add("b", "exp", "y")
    lines.add("c", "concatenate", "a", "b", "a", attributes="axis = 0")
    lines.add("d", "negative", "c")
    lines.add("e", "concatenate", "b", "c", attributes="axis = 0")
    lines.add("f", "sin", "e")
    sizes = [(0, 0), (1, 0), (0, 1), (2, 7), (5, 5), (64, 31)]
    model = lines.check(["d", "f"], *([_normal(n, 3), _normal(m, 3, seed=1)] for n, m in sizes))
    assert copying(model) == ["copy_part"]


def test_parts_stay_apart_when_buffers_have_got_their_places() -> None:
    """Copies are in one output, after their sources, as `m >= 0` proves for `m + 1` and `2 * m + 2`."""
    lines = Lines(x="tensor<?xf32, #relay.dims<m + 1>>", y="tensor<?xf32, #relay.dims<m>>")
    lines.add("a", "negative", "x")
    lines.add("b", "negative", "y")
    lines.add("e", "exp", "b")
    lines.add("c", "concatenate", "a", "a", attributes="axis = 0")
    lines.add("d", "concatenate", "c", "a", attributes="axis = 0")
    model = lines.check(["d", "e"], *([_normal(size + 1), _normal(size)] for size in (0, 1, 33)))
    assert copying(model) == ["copy_part"]


def test_nothing_is_copied_for_a_part_without_elements() -> None:
    """Of two arguments, only the nonempty one is copied, next to the computed part."""
    lines = Lines(x="tensor<0xf32>", y="tensor<5xf32>", z="tensor<3xf32>")
    lines.add("b", "exp", "y")
    lines.add("c", "concatenate", "b", "x", "z", attributes="axis = 0")
    lines.add("d", "sin", "c")
    model = lines.check(["d"], [_normal(0), _normal(5), _normal(3)])
    assert copying(model) == ["copy_part"]


def test_split_and_joined_again() -> None:
    """Slices are read in place; those that are concatenated again are copied, as they are already in another buffer."""
    lines = Lines(x="tensor<7x5xf32>")
    lines.add("a", "tanh", "x")
    lines.split("s", "a", 3, 0)
    lines.field("p", "s", 0)
    lines.field("q", "s", 1)
    lines.add("u", "exp", "p")
    lines.add("v", "sin", "q")
    lines.add("c", "concatenate", "v", "u", attributes="axis = 0")
    lines.add("y", "negative", "c")
    assert not copying(lines.check(["y"], [_normal(7, 5)]))
    lines.add("d", "concatenate", "q", "p", attributes="axis = 0")
    lines.add("z", "cos", "d")
    lines.check(["y", "z"], [_normal(7, 5)])


def test_what_is_returned_passed_in_or_constant_is_copied() -> None:
    """An operand that is an output, an input of the model, and a concatenation that is an output."""
    lines = Lines(x="tensor<2x4xf32>")
    lines.add("a", "tanh", "x")
    lines.add("b", "exp", "a")
    lines.add("c", "concatenate", "a", "b", "x", attributes="axis = 0")
    lines.add("d", "concatenate", "b", "b", attributes="axis = 0")
    model = lines.check(["a", "c", "d"], [_normal(2, 4)])
    out = [np.empty((2, 4), np.float32), np.empty((6, 4), np.float32), np.empty((4, 4), np.float32)]
    x = _normal(2, 4, seed=2)
    model.run([x], out=out)
    np.testing.assert_allclose(out[1], np.concatenate([np.tanh(x), np.exp(np.tanh(x)), x]), rtol=1e-5)


@pytest.mark.parametrize("dtype", ["f16", "f64", "i8", "i64", "i1", "bf16"])
def test_elements_of_other_sizes(dtype: str) -> None:
    """Parts begin at elements, whatever their size in bytes."""
    kinds = {"f16": np.float16, "f64": np.float64, "i8": np.int8, "i64": np.int64, "i1": np.bool_, "bf16": bfloat16}
    lines = Lines(x=f"tensor<3x5x{dtype}>", y=f"tensor<1x5x{dtype}>")
    lines.add("a", "reverse", "x", attributes="axis = 1")
    lines.add("b", "reverse", "y", attributes="axis = 1")
    lines.add("c", "concatenate", "a", "b", attributes="axis = 0")
    lines.add("z", "reverse", "c", attributes="axis = 0")
    x = np.arange(15).reshape(3, 5).astype(kinds[dtype])
    assert not copying(lines.check(["z"], [x, x[:1]]))


@pytest.mark.grid(4)
@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("batch", ["1", "2", "3", "?"])
def test_channels_of_several_images(batch: str, threads: int) -> None:
    """Strided parts, written by kernels of several kinds, also with a dynamic batch."""
    dims = ", #relay.dims<n>" if batch == "?" else ""
    lines = Lines(x=f"tensor<{batch}x3x7x9xf32{dims}>", w="tensor<5x3x3x3xf32>")
    lines.add("a", "nn.softmax", "x")
    lines.add("b", "nn.conv2d", "x", "w", attributes="padding = array<i64: 1, 1, 1, 1>")
    lines.add("p", "nn.max_pool2d", "x", attributes="pool_size = array<i64: 3, 3>, padding = array<i64: 1, 1, 1, 1>")
    lines.add("s", "cumsum", "p", attributes="axis = 2")
    lines.add("c", "concatenate", "a", "p", "s", attributes="axis = 1")
    lines.add("e", "exp", "p")
    lines.add("d", "concatenate", "c", "b", attributes="axis = 1")
    lines.add("y", "nn.avg_pool2d", "d", attributes="pool_size = array<i64: 2, 2>")
    sizes = [0, 1, 2, 5] if batch == "?" else [int(batch)]
    inputs = [[_normal(n, 3, 7, 9), _normal(5, 3, 3, 3, seed=1)] for n in sizes]
    lines.check(["y", "e"], *inputs, threads=threads)


def test_a_dense_block_of_several_images() -> None:
    """A strided part is read while the next part of another buffer is written; parts of other buffers are copied."""
    lines = Lines(x="tensor<3x4x5x8xf32>")
    lines.add("c0", "tanh", "x")
    _add_dense_layers(lines, 4)
    lines.add("y", "negative", "c4")
    lines.check(["y"], [_normal(3, 4, 5, 8)], [np.full((3, 4, 5, 8), np.nan, np.float32)])


def test_channels_are_read_where_they_lie() -> None:
    """Strided slices, also with a step among rows; one is a slice of a model input."""
    lines = Lines(x="tensor<2x6x8x16xf32>")
    lines.add("a", "tanh", "x")
    lines.split("s", "a", 2, 1)
    lines.field("p", "s", 0)
    lines.field("q", "s", 1)
    lines.add("u", "nn.softmax", "p")
    lines.add("v", "cumsum", "q", attributes="axis = 1")
    lines.add("r", "strided_slice", "x", attributes="begin = [0, 1, 1, 0], end = [2, 5, 8, 16], strides = [1, 2, 3, 1]")
    lines.add("z", "exp", "r")
    assert not copying(lines.check(["u", "v", "z"], [_normal(2, 6, 8, 16)]))


def test_short_runs_are_copied() -> None:
    """Parts with rows of fewer elements than a vector, and slices with a step among neighbours."""
    lines = Lines(x="tensor<20x15xf32>", y="tensor<20x16xf32>")
    lines.add("a", "tanh", "x")
    lines.add("b", "exp", "x")
    lines.add("c", "concatenate", "a", "b", attributes="axis = 1")
    lines.add("y1", "negative", "c")
    lines.add("s", "strided_slice", "y", attributes="begin = [0, 0], end = [20, 16], strides = [1, 2]")
    lines.add("t", "exp", "s")
    assert len(copying(lines.check(["y1", "t"], [_normal(20, 15), _normal(20, 16)]))) == 2
    lines = Lines(x="tensor<20x15xf32>", y="tensor<20x16xf32>")
    lines.add("a", "tanh", "y")
    lines.add("b", "nn.softmax", "y")
    lines.add("c", "concatenate", "a", "b", attributes="axis = 1")
    lines.add("d", "negative", "c")
    assert not copying(lines.check(["d"], [_normal(20, 15), _normal(20, 16)]))


@settings(max_examples=examples(8, more=4), deadline=None)
@given(data=st.data())
def test_random_graphs_of_joined_channels(data: st.DataObject) -> None:
    """As below, along the second axis of several images."""
    lines = Lines(x="tensor<2x3x16xf32>")
    channels = {"x": 3}
    for number in range(data.draw(st.integers(2, 9))):
        name, source = f"v{number}", data.draw(st.sampled_from(sorted(channels)))
        match data.draw(st.sampled_from(["tanh", "cumsum", "join", "join", "slice"])):
            case "join":
                other = data.draw(st.sampled_from(sorted(channels)))
                lines.add(name, "concatenate", source, other, attributes="axis = 1")
                channels[name] = channels[source] + channels[other]
            case "slice":
                first = data.draw(st.integers(0, channels[source] - 1))
                last, step = data.draw(st.integers(first + 1, channels[source])), data.draw(st.integers(1, 2))
                lines.add(name, "strided_slice", source, attributes=f"begin = [0, {first}, 0], end = [2, {last}, 16], "
                          f"strides = [1, {step}, 1]")  # fmt: skip
                channels[name] = -(-(last - first) // step)
            case "cumsum":
                lines.add(name, "cumsum", source, attributes="axis = 1")
                channels[name] = channels[source]
            case _:
                lines.add(name, "tanh", source)
                channels[name] = channels[source]
    names = [each for each in channels if each != "x"]
    results = data.draw(st.lists(st.sampled_from(names), min_size=1, max_size=3))
    lines.check(results, [_normal(2, 3, 16)])


@settings(max_examples=examples(8, more=4), deadline=None)
@given(data=st.data())
def test_random_graphs_of_joins_and_slices(data: st.DataObject) -> None:
    """Ops that concatenate, slice, reshape and compute on random earlier values; some of these are returned."""
    lines = Lines(x="tensor<4x6xf32>")
    shapes = {"x": (4, 6)}
    for number in range(data.draw(st.integers(2, 9))):
        name, source = f"v{number}", data.draw(st.sampled_from(sorted(shapes)))
        rows, columns = shapes[source]
        match data.draw(st.sampled_from(["tanh", "join", "join", "slice", "reshape"])):
            case "join":
                other = data.draw(st.sampled_from([each for each in sorted(shapes) if shapes[each][1] == columns]))
                lines.add(name, "concatenate", source, other, attributes="axis = 0")
                shapes[name] = (rows + shapes[other][0], columns)
            case "slice":
                first = data.draw(st.integers(0, rows - 1))
                last = data.draw(st.integers(first + 1, rows))
                lines.add(name, "strided_slice", source, attributes=f"begin = [{first}, 0], end = [{last}, {columns}]")
                shapes[name] = (last - first, columns)
            case "reshape" if rows % 2 == 0:
                lines.add(name, "reshape", source, attributes=f"newshape = [{rows // 2}, {columns * 2}]")
                shapes[name] = (rows // 2, columns * 2)
            case _:
                lines.add(name, "tanh", source)
                shapes[name] = shapes[source]
    names = [each for each in shapes if each != "x"]
    results = data.draw(st.lists(st.sampled_from(names), min_size=1, max_size=3))
    lines.check(results, [_normal(4, 6)])


def _check(signature: str, results: str, body: str, *inputs: Sequence[Array]) -> None:
    """As `Lines.check`, for a text in which `name := op(…) : types` is a separate kernel."""
    walls = r"\1_w = relay.\2\n\1 = relay.annotation.stop_fusion(\1_w) : (U) -> U"
    module = program(signature, results, re.sub(r"(%\w+) := (.*)", walls, body))
    model = xrelay.compile(module.clone(), cache=False, threads=1)
    for arrays in inputs:
        for _ in range(2):
            expected = run_relay(module, [each.copy() for each in arrays])
            for found, wanted in zip(model.run(list(arrays)), expected, strict=True):
                np.testing.assert_allclose(found, wanted, rtol=1e-5, atol=1e-6)


def test_an_iteration_joins_and_slices_what_it_carries() -> None:
    """The carried value is copied, as its buffers alternate; each iteration reads its own slice."""
    body = """
    %n = relay.constant dense<4> : tensor<i64>
    %a := tanh(%x) : (tensor<3x2xf32>) -> U
    %r = relay.loop(%i, %p : U = %a : U) to %n : tensor<i64> -> U {
      %e := tanh(%p) : (U) -> U
      %s := sin(%e) : (U) -> U
      %f = relay.tuple(%s, %e, %p, %s) : (U, U, U, U) -> U
      %u := concatenate(%f) {axis = 0} : (U) -> U
      %y := strided_slice(%u) {begin = [2, 0], end = [5, 2]} : (U) -> U
      %t = relay.tuple(%y) : (U) -> U
      relay.yield %t : U
    }
    %z = relay.tuple_get_item(%r) {index = 0} : (U) -> U
    """
    _check("%x: tensor<3x2xf32>", "%z, %a", body, [_normal(3, 2)])


def test_wholes_that_are_dynamic_buffers() -> None:
    """A buffer of data-dependent length is allocated once that is known, and returned or freed with its parts."""
    body = """
    %i := argwhere(%x) : (tensor<8xf32>) -> U
    %j := negative(%i) : (U) -> U
    %k := cumsum(%j) {axis = 0} : (U) -> U
    %t = relay.tuple(%j, %k, %i) : (U, U, U) -> U
    %c := concatenate(%t) {axis = 0} : (U) -> U
    %d := negative(%c) : (U) -> U
    """
    inputs = [[np.array(each, np.float32)] for each in ([0, 1, 0, 2, 3, 0, 0, 1], [0] * 8, [1] * 8)]
    _check("%x: tensor<8xf32>", "%d", body, *inputs)
    _check("%x: tensor<8xf32>", "%d, %c", body, *inputs)
