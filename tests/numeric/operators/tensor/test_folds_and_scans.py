"""Folds with several accumulators, and scans: interpreted, as loops, scheduled and native, against numpy."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from support.kernels.topi_levels import forms, module_of, tensor
from support.native_kernels import SCF_PIPELINE, NativeKernel
from support.work import executed_lines
from xdsl.dialects import arith, memref
from xdsl.dialects.builtin import ModuleOp, f32, i64
from xdsl.ir import Attribute, SSAValue

from xrelay.dialects.shared.dtypes import element_type
from xrelay.dialects.topi import ComputeOp, ScanOp
from xrelay.dialects.topi.build import Body, compute, scan, variables
from xrelay.interpreters.topi import run_topi_module
from xrelay.lowering.topi_to_loop.convert_topi_to_loop import ConvertTopiToLoopPass
from xrelay.passes.infra.source import full_context
from xrelay.passes.topi.inline_injective import TopiInlineInjectivePass

Array = NDArray[Any]
NATIVE = ("topi-inline-injective", "convert-topi-to-loop", "loop-assign-schedules", "loop-apply-schedules")


def native(module: ModuleOp, inputs: Sequence[Array], like: Sequence[Array]) -> list[Array]:
    """The results of @f as compiled code; outputs are first filled with arbitrary values."""
    outputs = [np.full(array.shape, 77).astype(array.dtype) for array in like]
    NativeKernel(str(module), "f", [*NATIVE, *SCF_PIPELINE])(*inputs, *outputs)
    return outputs


def check(module: ModuleOp, inputs: Sequence[Array], expected: Sequence[Array], *, exact: bool = True) -> None:
    """Checks every form of @f, including native code, against `expected`."""
    found = [*forms(module, inputs), ("native", native(module, inputs, expected))]
    for form, results in found:
        for actual, wanted in zip(results, expected, strict=True):
            if exact:
                np.testing.assert_array_equal(actual, wanted, err_msg=form)
            else:
                np.testing.assert_allclose(actual, wanted, rtol=2e-5, atol=1e-6, err_msg=form)


# --- folds


def argmax(x: SSAValue, axis: int, shape: tuple[int, ...], element: Attribute, first: float) -> ComputeOp:
    """Value and index of the first maximum along an axis; NaN counts as the largest."""

    def fill(b: Body) -> list[SSAValue]:
        value = b.read(x, *b.spatial[:axis], b.reduction[0], *b.spatial[axis:])
        at = b.add(arith.IndexCastOp(b.index(b.reduction[0]), i64))
        best, place = b.accumulators
        if str(element).startswith("f"):
            larger = b.add(arith.CmpfOp(value, best, "ugt"))
            larger = b.add(arith.AndIOp(larger, b.add(arith.CmpfOp(best, best, "ord"))))
        else:
            larger = b.add(arith.CmpiOp(value, best, "ugt" if str(element).startswith("ui") else "sgt"))
        return [b.add(arith.SelectOp(larger, value, best)), b.add(arith.SelectOp(larger, at, place))]

    rest = shape[:axis] + shape[axis + 1 :]
    return compute("argmax", variables("i", rest), [element, i64], fill, reduce={"k": shape[axis]}, init=[first, 0])


def first_value(dtype: str) -> float:
    return -np.inf if dtype.startswith("f") else float(np.iinfo(dtype).min)


def ties(shape: tuple[int, ...], dtype: str) -> Array:
    """Few distinct numbers, so that many maxima are ties; some are NaN."""
    rng = np.random.default_rng(5)
    x = rng.integers(0, 4, shape).astype(dtype)
    if dtype.startswith("f"):
        x[rng.random(shape) < 0.05] = np.nan
    return x


@pytest.mark.grid(10)
@pytest.mark.parametrize("dtype", ["float32", "float64", "float16", "int8", "uint8", "int64"])
@pytest.mark.parametrize(("shape", "axis"), [((7, 13), 1), ((7, 13), 0), ((3, 5, 37), 1), ((1, 1), 0), ((101,), 0)])
def test_argmax_keeps_value_and_first_index(dtype: str, shape: tuple[int, ...], axis: int) -> None:
    element, first = element_type(dtype), first_value(dtype)
    module = module_of([tensor(*shape, element=element)], lambda args: [argmax(args[0], axis, shape, element, first)])
    x = ties(shape, dtype)
    check(module, [x], [x.max(axis), x.argmax(axis)])


def test_the_index_alone_costs_no_buffer_for_the_value() -> None:
    shape = (40, 100)

    def build(args: list[SSAValue]) -> list[Any]:
        op = argmax(args[0], 1, shape, f32, -np.inf)
        return [op, compute("copy", {"i": 40}, [i64], lambda b: [b.read(op.results[1], *b.spatial)])]

    module = module_of([tensor(*shape, element=f32)], build)
    x = ties(shape, "float32")
    check(module, [x], [x.argmax(1)])
    ConvertTopiToLoopPass().apply(full_context(), module)
    spaces = [str(op.memref.type.memory_space) for op in module.walk() if isinstance(op, memref.AllocOp)]
    assert sorted(spaces) == ['"local"', "none"]


def welford(x: SSAValue, rows: int, columns: int) -> ComputeOp:
    """Count, mean and sum of squared deviations, in one pass."""

    def fill(b: Body) -> list[SSAValue]:
        count, mean, squares = b.accumulators
        value = b.read(x, b.spatial[0], b.reduction[0])
        more = b.plus(count, b.constant(1, f32))
        delta = b.minus(value, mean)
        moved = b.plus(mean, b.divide(delta, more))
        return [more, moved, b.plus(squares, b.times(delta, b.minus(value, moved)))]

    return compute("welford", {"i": rows}, [f32, f32, f32], fill, reduce={"k": columns}, init=[0, 0, 0])


@pytest.mark.parametrize(("rows", "columns"), [(5, 17), (1, 1), (67, 3)])
def test_three_accumulators(rows: int, columns: int) -> None:
    module = module_of([tensor(rows, columns, element=f32)], lambda args: [welford(args[0], rows, columns)])
    x = np.random.default_rng(3).standard_normal((rows, columns)).astype(np.float32)
    expected = [np.full(rows, columns, np.float32), x.mean(1), x.var(1) * columns]
    check(module, [x], expected, exact=False)


def test_a_fold_over_nothing_is_its_first_value() -> None:
    module = module_of([tensor(3, 0, element=f32)], lambda args: [argmax(args[0], 1, (3, 0), f32, -np.inf)])
    check(module, [np.zeros((3, 0), np.float32)], [np.full(3, -np.inf, np.float32), np.zeros(3, np.int64)])


def test_two_reduction_axes_keep_their_order() -> None:
    shape = (6, 5, 4)

    def fill_of(x: SSAValue) -> Callable[[Body], list[SSAValue]]:
        def fill(b: Body) -> list[SSAValue]:
            value = b.read(x, *b.reduction, *b.spatial)
            at = b.add(arith.IndexCastOp(b.index(b.reduction[0] * 5 + b.reduction[1]), i64))
            larger = b.add(arith.CmpfOp(value, b.accumulators[0], "ogt"))
            return [b.add(arith.SelectOp(larger, new, b.accumulators[n])) for n, new in enumerate((value, at))]

        return fill

    def build(args: list[SSAValue]) -> list[ComputeOp]:
        reduce = {"k": 6, "l": 5}
        return [compute("argmax", {"i": 4}, [f32, i64], fill_of(args[0]), reduce=reduce, init=[-np.inf, 0])]

    x = np.random.default_rng(1).integers(0, 3, shape).astype(np.float32)
    flat = x.reshape(30, 4)
    check(module_of([tensor(*shape, element=f32)], build), [x], [flat.max(0), flat.argmax(0)])


@pytest.mark.parametrize(("rising", "count", "most"), [(False, 1_000_000, 10_000), (True, 5_000, 100 * 5_000)])
def test_a_million_elements_are_selected_from_in_few_lines(rising: bool, count: int, most: int) -> None:
    """Only an element larger than all before it is handled individually: a dozen of random ones, all ascending ones."""
    x = np.random.default_rng(0).standard_normal((1, count)).astype(np.float32)
    x = np.sort(x) if rising else x
    module = module_of([tensor(1, count, element=f32)], lambda args: [argmax(args[0], 1, (1, count), f32, -np.inf)])
    found: list[Array] = []
    lines = executed_lines(lambda: found.extend(run_topi_module(module, "f", [x])))
    assert lines < most
    value, index = found
    assert value == x.max()
    assert index == x.argmax()


# --- scans


def cumulative(
    kind: str, shape: tuple[int, ...], axis: int, element: Attribute, **flags: bool
) -> Callable[..., list[ScanOp]]:
    """A scan that sums, multiplies, takes the maximum, or computes `acc / 2 + x`."""

    def build(args: list[SSAValue]) -> list[ScanOp]:
        def fill(b: Body) -> list[SSAValue]:
            value, acc = b.read(args[0], *b.spatial), b.accumulators[0]
            match kind:
                case "sum":
                    return [b.plus(acc, value)]
                case "product":
                    return [b.times(acc, value)]
                case "largest":
                    return [b.maximum(acc, value)]
                case _:
                    return [b.plus(b.divide(acc, b.constant(2, element)), value)]

        first = {"sum": 0, "product": 1, "largest": 0}.get(kind, 1)
        return [scan(kind, variables("i", shape), axis, [element], fill, [first], **flags)]

    return build


def by_numpy(kind: str, x: Array, axis: int, reverse: bool = False, exclusive: bool = False) -> Array:
    """The definition of `cumulative`, step by step."""
    rows = np.moveaxis(x, axis, 0)
    rows = rows[::-1] if reverse else rows
    acc = np.full(rows.shape[1:], {"sum": 0, "product": 1, "largest": 0}.get(kind, 1), x.dtype)
    steps: list[Array] = []
    for row in rows:
        match kind:
            case "sum":
                after = acc + row
            case "product":
                after = acc * row
            case "largest":
                after = np.maximum(acc, row)
            case _:
                after = acc // 2 + row if x.dtype.kind in "iu" else acc / x.dtype.type(2) + row
        steps.append(acc if exclusive else after)
        acc = after
    result = np.stack(steps[::-1] if reverse else steps) if steps else rows.copy()
    return np.moveaxis(result, 0, axis).astype(x.dtype)


SHAPES = [
    ((7, 13), 1),
    ((7, 13), 0),
    ((3, 5, 37), 1),
    ((2, 3, 5, 7), 1),
    ((1, 1), 0),
    ((101,), 0),
    ((0, 3), 0),
    ((3, 0), 0),
]


@pytest.mark.grid(6)
@pytest.mark.parametrize("kind", ["sum", "product", "largest", "decaying"])
@pytest.mark.parametrize(("shape", "axis"), SHAPES)
def test_scans_along_each_axis(kind: str, shape: tuple[int, ...], axis: int) -> None:
    x = np.random.default_rng(2).uniform(-2, 2, shape).astype(np.float32)
    module = module_of([tensor(*shape, element=f32)], cumulative(kind, shape, axis, f32))
    check(module, [x], [by_numpy(kind, x, axis)])


@pytest.mark.grid(14)
@pytest.mark.parametrize("kind", ["sum", "decaying"])
@pytest.mark.parametrize("reverse", [False, True])
@pytest.mark.parametrize("exclusive", [False, True])
@pytest.mark.parametrize("dtype", ["float32", "float64", "float16", "int8", "uint8", "int32", "int64"])
def test_scans_of_each_type_both_ways(kind: str, reverse: bool, exclusive: bool, dtype: str) -> None:
    shape, element = (5, 11, 19), element_type(dtype)
    x = np.random.default_rng(2).integers(0, 5, shape).astype(dtype)
    module = module_of(
        [tensor(*shape, element=element)], cumulative(kind, shape, 1, element, reverse=reverse, exclusive=exclusive)
    )
    check(module, [x], [by_numpy(kind, x, 1, reverse, exclusive)])


def test_special_values_travel_along_the_scan() -> None:
    x = np.array([[1, np.inf, -np.inf, 2], [np.nan, 1, 2, 3], [-0.0, -0.0, 1, -np.inf]], np.float32)
    with np.errstate(invalid="ignore"):
        for kind in ("sum", "largest"):
            module = module_of([tensor(3, 4, element=f32)], cumulative(kind, (3, 4), 1, f32))
            check(module, [x], [by_numpy(kind, x, 1)])


@pytest.mark.parametrize("reverse", [False, True])
def test_several_values_are_carried_and_the_index_is_used(reverse: bool) -> None:
    """The running maximum and its position: the body uses the scan's own index as a value."""

    def build(args: list[SSAValue]) -> list[ScanOp]:
        def fill(b: Body) -> list[SSAValue]:
            value, (best, place) = b.read(args[0], *b.spatial), b.accumulators
            at = b.add(arith.IndexCastOp(b.index(b.spatial[1]), i64))
            larger = b.add(arith.CmpfOp(value, best, "ogt"))
            return [b.add(arith.SelectOp(larger, value, best)), b.add(arith.SelectOp(larger, at, place))]

        return [scan("cummax", {"i": 3, "k": 23}, 1, [f32, i64], fill, [-np.inf, -1], reverse=reverse)]

    x = np.random.default_rng(8).standard_normal((3, 23)).astype(np.float32)
    line = x[:, ::-1] if reverse else x
    places = np.array([[np.argmax(row[: k + 1]) for k in range(23)] for row in line])
    values = np.maximum.accumulate(line, 1)
    expected = [values[:, ::-1], 22 - places[:, ::-1]] if reverse else [values, places]
    check(module_of([tensor(3, 23, element=f32)], build), [x], expected)


def test_an_index_variable_used_raw_is_that_of_the_reverse_scan() -> None:
    def build(args: list[SSAValue]) -> list[ScanOp]:
        def fill(b: Body) -> list[SSAValue]:
            return [b.plus(b.accumulators[0], b.read(args[0], *b.spatial))]

        op = scan("weighted", {"k": 9}, 0, [i64], fill, [0], reverse=True)
        block = op.body.block
        last = block.last_op
        assert last is not None
        cast = arith.IndexCastOp(op.scan_var, i64)
        total = arith.AddiOp(last.operands[0], cast.result)
        block.insert_ops_before([cast, total], last)
        last.operands[0] = total.result
        return [op]

    x = np.arange(9) ** 2
    check(module_of([tensor(9, element=i64)], build), [x], [np.cumsum((x + np.arange(9))[::-1])[::-1]])


def test_a_scan_is_read_by_an_elementwise_compute() -> None:
    shape = (4, 9, 21)

    def build(args: list[SSAValue]) -> list[Any]:
        (op,) = cumulative("sum", shape, 1, f32)(args)
        read = lambda b: [b.times(b.read(op.results[0], *b.spatial), b.constant(2, f32))]  # noqa: E731
        return [op, compute("double", variables("i", shape), [f32], read)]

    x = np.random.default_rng(4).standard_normal(shape).astype(np.float32)
    check(module_of([tensor(*shape, element=f32)], build), [x], [by_numpy("sum", x, 1) * 2])


def test_what_a_scan_reads_is_inlined_into_it() -> None:
    shape = (9, 21)

    def build(args: list[SSAValue]) -> list[Any]:
        negated: Callable[[Body], list[SSAValue]] = lambda b: [b.minus(b.constant(0, f32), b.read(args[0], *b.spatial))]  # noqa: E731
        first = compute("negate", variables("i", shape), [f32], negated)
        return [first, *cumulative("sum", shape, 0, f32)(first.results)]

    x = np.random.default_rng(4).standard_normal(shape).astype(np.float32)
    module = module_of([tensor(*shape, element=f32)], build)
    check(module, [x], [by_numpy("sum", -x, 0)])
    TopiInlineInjectivePass().apply(full_context(), module)
    assert not any(isinstance(op, ComputeOp) for op in module.walk())


def test_long_rows_run_on_several_threads() -> None:
    for shape, axis in (((300, 700), 0), ((300, 700), 1), ((2, 40, 30, 50), 1)):
        x = np.random.default_rng(4).standard_normal(shape).astype(np.float32)
        module = module_of([tensor(*shape, element=f32)], cumulative("sum", shape, axis, f32))
        np.testing.assert_array_equal(native(module, [x], [x])[0], by_numpy("sum", x, axis))
