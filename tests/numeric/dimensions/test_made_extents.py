"""Extents of branches, loops and stacks that are computed at run time: every level with loops and native code agree."""

from __future__ import annotations

import numpy as np
import pytest
from support.levels import STEPS, assert_same, outputs, program, run_passes
from xdsl.dialects import memref
from xdsl.dialects.builtin import MemRefType
from xdsl.dialects.func import FuncOp
from xdsl.ir import Operation

import xrelay
from xrelay.errors import ExecutionError, InterpreterError
from xrelay.interpreters.loop.host_ops import Values, run_memory_op
from xrelay.passes.infra.verify import verify_module

X = np.linspace(-1, 1, 12, dtype=np.float32).reshape(3, 4)

EMPTY = program(
    "%x: tensor<2x0xf32>, %s: tensor<2xi64>",
    "%y",
    "%y = relay.dyn.reshape(%x, %s) : (tensor<2x0xf32>, tensor<2xi64>) -> U",
)


def test_what_has_no_elements_is_reshaped() -> None:
    """An extent of 0 in the shape is that of the data."""
    native = xrelay.compile(EMPTY, cache=False)
    for shape in ((5, 0), (0, 0)):
        inputs = [np.zeros((2, 0), np.float32), np.array(shape)]
        assert native.run(inputs)[0].shape == outputs(EMPTY, inputs)[0].shape
    with pytest.raises(ExecutionError, match=r"relay\.dyn\.reshape C3"):
        native.run([np.zeros((2, 0), np.float32), np.array((1, 3))])


# Extents computed at run time: a branch chooses one of two, a loop appends, values are swapped, rows are stacked.
CHOOSING = program(
    "%c: tensor<i1>, %x: tensor<?x4xf32, #relay.dims<n>>",
    "%a, %b, %s",
    """
    %r = relay.if %c : tensor<i1> -> U {
      %p = relay.tuple(%x, %x) : (tensor<?x4xf32, #relay.dims<n>>, tensor<?x4xf32, #relay.dims<n>>) -> U
      %d = relay.concatenate(%p) {axis = 0} : (U) -> U
      %t = relay.tuple(%d, %d, %x) : (U, U, tensor<?x4xf32, #relay.dims<n>>) -> U
      relay.yield %t : U
    } else {
      %k = relay.constant dense<0.5> : tensor<3x4xf32>
      %t = relay.tuple(%x, %k, %x)
        : (tensor<?x4xf32, #relay.dims<n>>, tensor<3x4xf32>, tensor<?x4xf32, #relay.dims<n>>) -> U
      relay.yield %t : U
    }
    %a = relay.tuple_get_item(%r) {index = 0} : (U) -> U
    %b0 = relay.tuple_get_item(%r) {index = 1} : (U) -> U
    %b = relay.exp(%b0) : (U) -> U
    %s = relay.sum(%a) : (U) -> U
    """,
)
M, K = "tensor<?xf32, #relay.dims<m>>", "tensor<?xf32, #relay.dims<k>>"
APPENDING = program(
    "%n: tensor<i64>, %x: tensor<4xf32>, %y: tensor<?xf32, #relay.dims<w>>, %h: tensor<f32>",
    "%a, %b, %s, %i, %z",
    f"""
    %true = relay.constant dense<true> : tensor<i1>
    %g = relay.loop(%i0, %p : {M} = %x : tensor<4xf32>, %q : {K} = %y : tensor<?xf32, #relay.dims<w>>)
        to %n : tensor<i64> while %true : tensor<i1> -> U {{
      %t = relay.tuple(%p, %x) : ({M}, tensor<4xf32>) -> U
      %c = relay.concatenate(%t) {{axis = 0}} : (U) -> U
      %m = relay.sum(%c) : (U) -> U
      %go = relay.less(%m, %h) : (U, tensor<f32>) -> U
      %y1 = relay.exp(%y) : (tensor<?xf32, #relay.dims<w>>) -> U
      %e = relay.tuple(%go, %q, %c, %y1, %i0) : (U, {K}, U, U, tensor<i64>) -> U
      relay.yield %e : U
    }}
    %a = relay.tuple_get_item(%g) {{index = 0}} : (U) -> U
    %b = relay.tuple_get_item(%g) {{index = 1}} : (U) -> U
    %s = relay.tuple_get_item(%g) {{index = 2}} : (U) -> U
    %i = relay.tuple_get_item(%g) {{index = 3}} : (U) -> U
    %z = relay.sum(%a) : (U) -> U
    """,
)
# The first iteration determines the size of a row.
STACKING = program(
    "%n: tensor<i64>, %x: tensor<8xf32>, %s: tensor<2xi64>, %c: tensor<i1>",
    "%a, %r",
    """
    %g = relay.loop(%i, %p : U = %x : tensor<8xf32>) to %n : tensor<i64> while %c : tensor<i1> -> U {
      %v = relay.extents(%s) {relay.binds = #relay.bounds<p, q>} : (tensor<2xi64>) -> tensor<2xi64>
      %t = relay.dyn.reshape(%p, %v) : (U, tensor<2xi64>) -> U
      %e = relay.tanh(%p) : (U) -> U
      %y = relay.tuple(%c, %e, %t) : (tensor<i1>, U, U) -> U
      relay.yield %y : U
    }
    %a = relay.tuple_get_item(%g) {index = 0} : (U) -> U
    %r = relay.tuple_get_item(%g) {index = 1} : (U) -> U
    """,
)
# A branch in a loop and nested loops pass on varying values; a value of one size becomes one of another.
NESTING = program(
    "%n: tensor<i64>, %x: tensor<4xf32>",
    "%a, %b, %r, %s",
    f"""
    %two = relay.constant dense<2> : tensor<i64>
    %zero = relay.constant dense<0> : tensor<i64>
    %g = relay.loop(%i, %p : {M} = %x : tensor<4xf32>, %q : {K} = %x : tensor<4xf32>, %w : U = %x : tensor<4xf32>)
        to %n : tensor<i64> -> U {{
      %odd = relay.mod(%i, %two) : (tensor<i64>, tensor<i64>) -> U
      %c = relay.equal(%odd, %zero) : (U, tensor<i64>) -> U
      %p1 = relay.if %c : U -> U {{
        %t = relay.tuple(%q, %x) : ({K}, tensor<4xf32>) -> U
        %d = relay.concatenate(%t) {{axis = 0}} : (U) -> U
        relay.yield %d : U
      }} else {{
        relay.yield %p : {M}
      }}
      %h = relay.loop(%j, %v : tensor<?xf32, #relay.dims<l>> = %w : U) to %two : tensor<i64> -> U {{
        %u = relay.tuple(%v, %p) : (tensor<?xf32, #relay.dims<l>>, {M}) -> U
        %e = relay.concatenate(%u) {{axis = 0}} : (U) -> U
        %z = relay.tuple(%e) : (U) -> U
        relay.yield %z : U
      }}
      %long = relay.tuple_get_item(%h) {{index = 0}} : (U) -> U
      %s1 = relay.sum(%long) : (U) -> U
      %w1 = relay.tanh(%w) : (U) -> U
      %y = relay.tuple(%p1, %w, %w1, %s1) : (U, U, U, U) -> U
      relay.yield %y : U
    }}
    %a = relay.tuple_get_item(%g) {{index = 0}} : (U) -> U
    %b = relay.tuple_get_item(%g) {{index = 1}} : (U) -> U
    %r = relay.tuple_get_item(%g) {{index = 2}} : (U) -> U
    %s = relay.tuple_get_item(%g) {{index = 3}} : (U) -> U
    """,
)
# The carried and stacked value broadcasts to a size that the first iteration determines, and keeps it.
BROADCASTING = program(
    "%n: tensor<i64>, %x: tensor<?xf32, #relay.dims<w>>, %s: tensor<1xi64>",
    "%a, %r",
    f"""
    %h = relay.constant dense<0.5> : tensor<f32>
    %g = relay.loop(%i, %p : {M} = %x : tensor<?xf32, #relay.dims<w>>) to %n : tensor<i64> -> U {{
      %v = relay.extents(%s) {{relay.binds = #relay.bounds<e>}} : (tensor<1xi64>) -> tensor<1xi64>
      %f = relay.dyn.full(%h, %v) : (tensor<f32>, tensor<1xi64>) -> U
      %t = relay.add(%p, %f) : ({M}, U) -> U
      %y = relay.tuple(%t, %t) : (U, U) -> U
      relay.yield %y : U
    }}
    %a = relay.tuple_get_item(%g) {{index = 0}} : (U) -> U
    %r = relay.tuple_get_item(%g) {{index = 1}} : (U) -> U
    """,
)
SIZES = {
    "broadcasting": (BROADCASTING, [[np.array(n), X.reshape(-1)[:w], np.array([s])]
                                    for n, w, s in ((0, 4, 1), (1, 1, 4), (9, 4, 1), (3, 1, 1))]),
    "nesting": (NESTING, [[np.array(n), X[1]] for n in (0, 1, 2, 5)]),
    "stacking": (STACKING, [[np.array(n), X.reshape(-1)[:8], np.array(s), np.array(True)]
                            for n in (0, 1, 9) for s in ([2, 4], [8, 1])]),
    "choosing": (CHOOSING, [[np.array(c), np.full((n, 4), 0.5, np.float32)] for c in (True, False) for n in (0, 1, 7)]),
    "appending": (APPENDING, [[np.array(n), X[0], np.arange(w, dtype=np.float32), np.array(h, np.float32)]
                              for n, w, h in ((0, 3, 9), (1, 0, 9), (17, 1, 99), (3, 5, -9))]),
}  # fmt: skip


class DynamicBuffers:
    """The buffers that the interpreter of the loop level has allocated and not freed."""

    def __init__(self) -> None:
        self.live: dict[int, np.ndarray] = {}

    def run(self, op: Operation, values: Values) -> bool:
        """Runs an op that allocates or frees buffers; a freed buffer must be allocated."""
        if isinstance(op, memref.DeallocOp):
            del self.live[id(self._whole(values[op.memref]))]
        done = run_memory_op(op, values)
        if isinstance(op, memref.AllocOp):
            whole = self._whole(values[op.memref])
            self.live[id(whole)] = whole
        return done

    @staticmethod
    def _whole(array: np.ndarray) -> np.ndarray:
        while isinstance(array.base, np.ndarray):
            array = array.base
        return array


@pytest.mark.grid(3)
@pytest.mark.parametrize("name", SIZES)
def test_native_code_and_loops_do_as_the_interpreter(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """After memory planning, each dynamic buffer is freed once or returned."""
    buffers = DynamicBuffers()
    monkeypatch.setattr("xrelay.interpreters.loop.module.run_memory_op", buffers.run)
    module, cases = SIZES[name]
    expected = [outputs(module, inputs) for inputs in cases]
    model, lowered = xrelay.compile(module.clone(), cache=False, threads=2), module.clone()
    for level, passes in STEPS:
        run_passes(lowered, passes)
        verify_module(lowered)
        for inputs, wanted in zip(cases, expected, strict=True) if level.startswith("loop") else ():
            buffers.live.clear()
            assert_same(outputs(lowered, inputs), wanted, level, 1e-5)
    (main,) = (op for op in lowered.ops if isinstance(op, FuncOp) and op.sym_name.data == "main")
    assert len(buffers.live) == sum(isinstance(type, MemRefType) for type in main.function_type.outputs)
    for inputs, wanted in zip(cases, expected, strict=True):
        assert_same(model.run(inputs), wanted, "native", 1e-5)


def test_a_value_that_is_no_extent_is_an_error_and_the_model_runs_on() -> None:
    module, cases = SIZES["stacking"]
    model = xrelay.compile(module.clone(), cache=False, threads=1)
    count, x, _, go = cases[-1]
    for sizes, message in (
        ([-2, -4], r":\d+: shape mismatch: \[relay\.extents C3\] element 0 is -2$"),
        ([3, 4], r"\(element 0 of relay\.extents at program\.mlir:4:7, .* is 8 == 12"),
    ):
        with pytest.raises(ExecutionError, match=message):
            model.run([count, x, np.array(sizes), go])
        assert_same(model.run(cases[-1]), outputs(module, cases[-1]), "native", 1e-5)


def test_arithmetic_on_extents_is_no_kernel() -> None:
    """A reshape is one kernel, however its shape is computed; numbers between kernels are stored in memory."""
    text = program(
        "%x: tensor<?x6xf32, #relay.dims<n>>, %s: tensor<2xi64>",
        "%y, %z",
        """
        %rest = relay.constant dense<-1> : tensor<1xi64>
        %parts = relay.tuple(%s, %rest) : (tensor<2xi64>, tensor<1xi64>) -> U
        %shape = relay.concatenate(%parts) : (U) -> U
        %y = relay.dyn.reshape(%x, %shape) : (tensor<?x6xf32, #relay.dims<n>>, U) -> U
        %count = relay.prod(%s) : (tensor<2xi64>) -> U
        %real = relay.cast(%count) {dtype = f32} : (U) -> U
        %z = relay.multiply(%x, %real) : (tensor<?x6xf32, #relay.dims<n>>, U) -> U
        """,
    )
    model = xrelay.compile(text, cache=False, threads=1)
    assert len(model.artifact.metadata.kernels) == 2
    for rows, sizes in ((2, [3, 2]), (2, [0, 2]), (1, [1, 6]), (5, [5, 0])):
        x = np.arange(6 * rows, dtype=np.float32).reshape(rows, 6)
        y, z = model(x, np.array(sizes))
        shape = [size or x.shape[at] for at, size in enumerate(sizes)]
        np.testing.assert_array_equal(y, x.reshape(*shape, -1))
        np.testing.assert_array_equal(z, x * np.float32(np.prod(sizes)))


def test_what_two_carried_values_have_to_be_is_asked_of_both() -> None:
    """Both extents have the same description, and each is checked."""
    text = program(
        "%n: tensor<i64>, %x: tensor<?xf32, #relay.dims<n>>, %y: tensor<?xf32, #relay.dims<m>>, %k: tensor<2xf32>",
        "%a, %b",
        """
        %r = relay.loop(%i, %a0 : tensor<?xf32, #relay.dims<p>> = %x : tensor<?xf32, #relay.dims<n>>,
                        %b0 : tensor<?xf32, #relay.dims<q>> = %y : tensor<?xf32, #relay.dims<m>>)
            to %n : tensor<i64> -> U {
          %as = relay.tuple(%a0, %k) : (tensor<?xf32, #relay.dims<p>>, tensor<2xf32>) -> U
          %bs = relay.tuple(%b0, %k) : (tensor<?xf32, #relay.dims<q>>, tensor<2xf32>) -> U
          %a1 = relay.stack(%as) {axis = 0} : (U) -> U
          %b1 = relay.stack(%bs) {axis = 0} : (U) -> U
          %a2 = relay.sum(%a1) {axis = [0]} : (U) -> U
          %b2 = relay.sum(%b1) {axis = [0]} : (U) -> U
          %t = relay.tuple(%a2, %b2) : (U, U) -> U
          relay.yield %t : U
        }
        %a = relay.tuple_get_item(%r) {index = 0} : (U) -> U
        %b = relay.tuple_get_item(%r) {index = 1} : (U) -> U
        """,
    )
    model = xrelay.compile(text, cache=False, threads=1)
    two, three = np.ones(2, np.float32), np.ones(3, np.float32)
    for x, y in ((three, two), (two, three)):
        with pytest.raises(ExecutionError, match=r"relay\.stack C\d\].* == 2 is 3 == 2$"):
            model.run([np.array(1), x, y, two])
    np.testing.assert_array_equal(model.run([np.array(2), two, two, two]), [[3, 3], [3, 3]])


# Rows broadcast to an extent from outside the loop, which the body and later ops read as well.
ROWS_AROUND = program(
    "%x: tensor<?x?xf32, #relay.dims<a, b>>, %s: tensor<?xf32, #relay.dims<c>>, %n: tensor<i64>",
    "%y, %z, %w",
    f"""
    %r = relay.loop(%k, %p : {M} = %s : tensor<?xf32, #relay.dims<c>>) to %n : tensor<i64> -> U {{
      %row = relay.take(%x, %k) {{axis = 0}} : (tensor<?x?xf32, #relay.dims<a, b>>, tensor<i64>) -> U
      %e = relay.exp(%row) : (U) -> U
      %t = relay.add(%p, %e) : ({M}, U) -> U
      %f = relay.tuple(%t, %t) : (U, U) -> U
      relay.yield %f : U
    }}
    %y = relay.tuple_get_item(%r) {{index = 0}} : (U) -> U
    %z = relay.tuple_get_item(%r) {{index = 1}} : (U) -> U
    %w = relay.negative(%x) : (tensor<?x?xf32, #relay.dims<a, b>>) -> U
    """,
)


def test_rows_that_broadcast_to_what_is_around() -> None:
    model = xrelay.compile(ROWS_AROUND, cache=False, threads=1)
    for wide, carried, count in ((2, 2, 3), (1, 4, 3), (4, 1, 3), (3, 3, 0), (4, 1, 0)):
        inputs = [X[:, :wide].copy(), np.ones(carried, np.float32), np.array(count)]
        assert_same(model.run(inputs), outputs(ROWS_AROUND, inputs), "native", 1e-5)


ROWS_OF_NONE = program(
    "%x: tensor<?x?xf32, #relay.dims<a, b>>, %s: tensor<?xf32, #relay.dims<c>>, %n: tensor<i64>",
    "%z",
    """
    %r = relay.loop(%k) to %n : tensor<i64> -> U {
      %row = relay.take(%x, %k) {axis = 0} : (tensor<?x?xf32, #relay.dims<a, b>>, tensor<i64>) -> U
      %t = relay.add(%s, %row) : (tensor<?xf32, #relay.dims<c>>, U) -> U
      %f = relay.tuple(%t) : (U) -> U
      relay.yield %f : U
    }
    %z = relay.tuple_get_item(%r) {index = 0} : (U) -> U
    """,
)


def test_rows_of_no_iteration_have_a_size() -> None:
    """Also if an iteration would broadcast the added rows; if their extents do not fit, it is an error."""
    model = xrelay.compile(ROWS_OF_NONE, cache=False, threads=1)
    for wide, other, count in ((4, 4, 2), (1, 4, 3), (4, 1, 0), (1, 4, 0)):
        inputs = [X[:, :wide].copy(), np.ones(other, np.float32), np.array(count)]
        assert_same(model.run(inputs), outputs(ROWS_OF_NONE, inputs), "native", 1e-5)
    inputs = [X, np.ones(3, np.float32), np.array(0)]
    with pytest.raises(ExecutionError, match="broadcastable"):
        model.run(inputs)
    with pytest.raises(InterpreterError, match=r"(4 and 3|3 and 4) do not broadcast"):
        outputs(ROWS_OF_NONE, inputs)
