"""Kernels of ops whose operands determine the elements they read, with named extents: every level agrees with relay.

A name of the result is bound by an unused input, as an op that names extents does before the kernel.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from support.levels import run_passes
from support.native_kernels import NativeKernel
from xdsl.dialects.builtin import StringAttr, UnitAttr
from xdsl.dialects.func import FuncOp

from xrelay.dialects.loop.signature import kernel_dims
from xrelay.dialects.shared.attribute_names import BINDS, PRIMITIVE
from xrelay.errors import InterpreterError
from xrelay.index_algebra.dims import evaluate
from xrelay.interpreters.loop import run_kernel
from xrelay.interpreters.relay import run_relay
from xrelay.interpreters.topi import run_topi_module
from xrelay.passes.infra.source import full_context, parse_module
from xrelay.passes.types.infer_type import infer_types

Array = NDArray[Any]
RANDOM = np.random.default_rng(5)
Sizes = Mapping[str, int]


def typed(*dims: int | str, dtype: str = "f32") -> str:
    """The text of a type: `typed("n", 8)`."""
    extents = "".join(f"{dim}x" if isinstance(dim, int) else "?x" for dim in dims)
    named = ", ".join(dim for dim in dims if isinstance(dim, str))
    return f"tensor<{extents}{dtype}{f', #relay.dims<{named}>' if named else ''}>"


@dataclass
class Kernel:
    """One op on arguments of `types` with results of type `results`."""

    op: str
    types: Sequence[str]
    results: Sequence[str]
    attributes: str = ""
    made: Sequence[str] = ()
    """Names of the results that no argument of the op has."""

    def __post_init__(self) -> None:
        bound = [typed(name) for name in self.made]
        arguments = ", ".join(f"%a{k}: {type}" for k, type in enumerate([*self.types, *bound]))
        operands = ", ".join(f"%a{k}" for k in range(len(self.types)))
        whole = self.results[0] if len(self.results) == 1 else f"tuple<{', '.join(self.results)}>"
        lines = [f"%r = relay.{self.op}({operands}) {self.attributes} : ({', '.join(self.types)}) -> {whole}"]
        names = ["%r"]
        if len(self.results) > 1:
            names = [f"%r{k}" for k in range(len(self.results))]
            lines += [
                f"{name} = relay.tuple_get_item(%r) {{index = {k}}} : ({whole}) -> {self.results[k]}"
                for k, name in enumerate(names)
            ]
        lines.append(f"func.return {', '.join(names)} : {', '.join(self.results)}")
        body = "\n".join(lines)
        text = f"func.func @main({arguments}) -> ({', '.join(self.results)}) {{\n{body}\n}}"
        self.relay = parse_module(full_context(), text, self.op)
        infer_types(self.relay)
        self.topi = self.relay.clone()
        (function,) = self.topi.ops
        assert isinstance(function, FuncOp)
        function.sym_name, function.sym_visibility = StringAttr("k"), StringAttr("private")
        function.attributes[PRIMITIVE] = UnitAttr()
        for op in function.walk():
            op.attributes.pop(BINDS, None)
        run_passes(self.topi, "convert-relay-to-topi")
        self.nests = self.topi.clone()
        run_passes(self.nests, "topi-expand-named,topi-inline-injective,convert-topi-to-loop")
        self.scheduled = self.nests.clone()
        run_passes(self.scheduled, "loop-assign-schedules,loop-apply-schedules")
        self._native: NativeKernel | None = None

    def check(self, sizes: Sizes, *inputs: Array, native: bool = False) -> list[Array]:
        """Returns relay's results; checks that all levels agree. `sizes` are those of all names."""
        arrays = [*inputs, *(np.zeros(sizes[name], np.float32) for name in self.made)]
        expected = list(run_relay(self.relay, arrays))
        for found, wanted in zip(run_topi_module(self.topi, "k", arrays), expected, strict=True):
            assert (found.dtype, found.shape) == (wanted.dtype, wanted.shape)
            np.testing.assert_array_equal(found, wanted)
        for form in (self.nests, self.scheduled):
            for found, wanted in zip(self.run(form, sizes, arrays, expected), expected, strict=True):
                np.testing.assert_array_equal(found, wanted)
        if native:
            for found, wanted in zip(self.natively(sizes, arrays, expected), expected, strict=True):
                np.testing.assert_array_equal(found, wanted)
        return expected

    def extents(self, function: FuncOp, sizes: Sizes) -> list[int]:
        return [evaluate(dim, sizes) for dim in kernel_dims(function)]

    def run(self, form: Any, sizes: Sizes, arrays: Sequence[Array], like: Sequence[Array]) -> list[Array]:
        (function,) = form.ops
        found = [np.full_like(each, 77) for each in like]
        run_kernel(function, [*arrays, *found, *self.extents(function, sizes)])
        return found

    def natively(self, sizes: Sizes, arrays: Sequence[Array], like: Sequence[Array]) -> list[Array]:
        (function,) = self.scheduled.ops
        assert isinstance(function, FuncOp)
        if self._native is None:
            self._native = NativeKernel(str(self.scheduled).replace("func.func private", "func.func"))
        found = [np.full_like(each, 77) for each in like]
        self._native(*arrays, *found, *self.extents(function, sizes))
        return found


def integers(*values: Any) -> Array:
    return np.array(values, np.int64)


def ramp(*shape: int) -> Array:
    return np.arange(np.prod(shape, dtype=int), dtype=np.float32).reshape(shape)


def test_tiles() -> None:
    kernel = Kernel("dyn.tile", [typed("n", 3), typed(3, dtype="i64")], [typed("p", "q", "m")], made=("p", "q", "m"))
    for n, reps in [(2, (2, 1, 3)), (0, (1, 2, 1)), (1, (1, 7, 1)), (5, (0, 1, 2))]:
        p, q, m = reps[0], reps[1] * n, reps[2] * 3
        kernel.check({"n": n, "p": p, "q": q, "m": m}, ramp(n, 3), integers(*reps), native=n == 2)


SLICES = [
    ((0, 1), (7, 3), (1, 1)),
    ((-1, 2), (-99, -99), (-2, -1)),
    ((5, 0), (2, 99), (1, 2)),
    ((-99, -2), (99, 3), (3, 1)),
    ((99, -1), (0, 0), (-1, -3)),
    ((-99, 0), (-99, 3), (-1, 1)),
]


def taken(size: int, *bounds: int) -> tuple[int, int, int]:
    """First position, number of elements and step of a numpy slice."""
    first, stop, step = slice(*bounds).indices(size)
    number = len(range(first, stop, step))
    return (first if number else 0), number, step


SIZES = '{slice_mode = "size"}'


def test_slices_of_several_axes() -> None:
    numbers = typed(2, dtype="i64")
    types = [typed("n", 3, 2), numbers, numbers, numbers]
    kernel = Kernel("dyn.strided_slice", types, [typed("p", "q", 2)], SIZES, made=("p", "q"))
    for n in (7, 1, 0):
        for number, (begin, end, step) in enumerate(SLICES):
            rows = [taken(size, *each) for *each, size in zip(begin, end, step, (n, 3), strict=True)]
            sizes = {"n": n, "p": rows[0][1], "q": rows[1][1]}
            kernel.check(sizes, ramp(n, 3, 2), *map(integers, *rows), native=number < 4)


def test_slices_of_the_last_axis_in_i32() -> None:
    numbers = typed(2, dtype="i32")
    types = [typed(2, "n"), numbers, numbers, numbers]
    kernel = Kernel("dyn.strided_slice", types, [typed(2, "m")], SIZES, made=("m",))
    for n, begin, end, step in [(37, 3, 36, 1), (37, -1, -99, -1), (40, 2, 40, 3), (1, 0, 1, 1)]:
        first, number, step = taken(n, begin, end, step)
        told = (np.array(pair, np.int32) for pair in ((0, first), (2, number), (1, step)))
        kernel.check({"n": n, "m": number}, ramp(2, n), *told, native=True)


@pytest.mark.parametrize(("first", "step"), [(-1, 1), (5, 1), (3, 1), (1, -1), (0, -(1 << 63)), (4, 3)])
def test_slices_of_what_is_not_there(first: int, step: int) -> None:
    one = typed(1, dtype="i64")
    kernel = Kernel("dyn.strided_slice", [typed("n"), one, one, one], [typed("m")], SIZES, made=("m",))
    numbers = [
        np.array([each], np.uint64).astype(np.int64) if each > 0 else integers(each) for each in (first, 3, step)
    ]
    arrays = [ramp(5), *numbers, np.zeros(3, np.float32)]
    with pytest.raises(InterpreterError, match=r"\[relay.dyn.strided_slice C3\] axis 0 of extent 5 has not"):
        run_relay(kernel.relay, arrays)
    with pytest.raises(InterpreterError, match=r"is not in \[0, 5\)"):
        kernel.run(kernel.scheduled, {"n": 5, "m": 3}, arrays, [np.zeros(3, np.float32)])


@pytest.mark.parametrize("mode", ["constant", "edge", "reflect"])
def test_padding(mode: str) -> None:
    kernel = Kernel(
        "dyn.nn.pad",
        [typed("n", 3), typed(2, 2, dtype="i64"), typed()],
        [typed("p", "q")],
        f'{{pad_mode = "{mode}"}}',
        made=("p", "q"),
    )
    value = np.array(9, np.float32)

    def check(n: int, *widths: int, native: bool = False) -> None:
        p, q = n + widths[0] + widths[1], 3 + widths[2] + widths[3]
        kernel.check({"n": n, "p": p, "q": q}, ramp(n, 3), integers(*widths).reshape(2, 2), value, native=native)

    check(5, 1, 2, 2, 0, native=True)
    check(7, 0, 0, 0, 0)
    check(1, 0, 0, 2, 2, native=True)
    check(0, 0, 0, 1, 1)
    if mode != "reflect":
        check(3, 4, 5, 7, 9)


@pytest.mark.parametrize(
    ("mode", "n", "widths"),
    [
        ("constant", 3, (-1, 2, 0, 0)),
        ("edge", 0, (1, 0, 0, 0)),
        ("reflect", 2, (0, 0, 0, 3)),
        ("reflect", 0, (0, 1, 0, 0)),
    ],
)
def test_padding_that_there_is_nothing_for(mode: str, n: int, widths: Sequence[int]) -> None:
    """Also for widths at the end, on which no read position depends."""
    kernel = Kernel(
        "dyn.nn.pad",
        [typed("n", 3), typed(2, 2, dtype="i64"), typed()],
        [typed("p", "q")],
        f'{{pad_mode = "{mode}"}}',
        made=("p", "q"),
    )
    sizes = {"n": n, "p": n + widths[0] + widths[1], "q": 3 + widths[2] + widths[3]}
    arrays = [ramp(n, 3), integers(*widths).reshape(2, 2), np.array(9, np.float32)]
    arrays += [np.zeros(sizes[name], np.float32) for name in kernel.made]
    like = [np.zeros((sizes["p"], sizes["q"]), np.float32)]
    with pytest.raises(InterpreterError, match=r"cannot pad|padded by"):
        run_relay(kernel.relay, arrays)
    with pytest.raises(InterpreterError, match=r"is not in \[0, "):
        kernel.run(kernel.scheduled, sizes, arrays, like)


@pytest.mark.parametrize("dtype", ["i64", "f32"])
def test_ranges(dtype: str) -> None:
    number = typed(dtype=dtype)
    kernel = Kernel("arange", [number, number, number], [typed("m", dtype=dtype)], made=("m",))
    for start, stop, step in [(3, 20, 2), (5, -6, -3), (0, 1, 1), (4, 4, 1)]:
        numbers = [np.array(each, np.int64 if dtype == "i64" else np.float32) for each in (start, stop, step)]
        kernel.check({"m": len(range(start, stop, step))}, *numbers, native=start == 3)


ROWS = [(19, 5), (1, 1), (0, 0), (8, 8), (33, 0), (40, 33), (9, 1)]
"""Lengths of rows, and the number of selected elements."""


def test_first_elements_of_rows() -> None:
    kernel = Kernel(
        "dyn.topk",
        [typed(3, "n"), typed(1, dtype="i64")],
        [typed(3, "k"), typed(3, "k", dtype="i64")],
        "{dtype = i64}",
        made=("k",),
    )
    for n, k in ROWS:
        x = RANDOM.integers(0, 9, (3, n)).astype(np.float32)
        x[:, 3::7] = np.nan
        kernel.check({"n": n, "k": k}, x, integers(k), native=True)


def test_orders_along_the_first_axis() -> None:
    kernel = Kernel("argsort", [typed("n", "m", dtype="i32")], [typed("n", "m", dtype="i32")], "{axis = 0}")
    for n, m in [(7, 2), (1, 3), (0, 2), (67, 1), (3, 0)]:
        kernel.check({"n": n, "m": m}, RANDOM.integers(-3, 3, (n, m)).astype(np.int32), native=True)


def test_places_in_rows() -> None:
    kernel = Kernel("searchsorted", [typed("n"), typed("m")], [typed("m", dtype="i32")], "{right = true}")
    for n, m in [(7, 5), (0, 3), (1, 2), (31, 0), (70_001, 7)]:
        x = np.sort(RANDOM.integers(0, 9, n).astype(np.float32))
        kernel.check({"n": n, "m": m}, x, RANDOM.integers(-1, 11, m).astype(np.float32), native=n != 7)


def test_different_elements() -> None:
    lists = [typed("n", dtype="i64"), *[typed("n", dtype="i32")] * 2, typed(1, dtype="i32"), typed("n", dtype="i32")]
    kernel = Kernel("unique", lists[:1], lists, "{is_sorted = false, return_counts = true}")
    for n in (0, 1, 9):
        kernel.check({"n": n}, RANDOM.integers(0, 6, n), native=True)


def test_ranks_of_rows() -> None:
    kernel = Kernel("rank_rows", [typed("n", "m", dtype="ui8")], [typed("n", dtype="i32")])
    for n, m in [(7, 2), (1, 3), (4, 0), (0, 2)]:
        kernel.check({"n": n, "m": m}, RANDOM.integers(0, 2, (n, m)).astype(np.uint8) * 200, native=n == 7)
