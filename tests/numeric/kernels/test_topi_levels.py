"""Chains of computes compute the same when inlined, lowered and scheduled."""

from __future__ import annotations

import numpy as np
from hypothesis import example, given, settings
from hypothesis import strategies as st
from support.examples import examples
from support.kernels.topi_levels import check, forms, module_of, tensor
from xdsl.dialects import arith, math
from xdsl.dialects.builtin import f32, i1, i8, i64
from xdsl.ir import Operation, SSAValue

from xrelay.dialects.topi import ComputeOp, Conv2dNchwcOp, SoftmaxOp
from xrelay.dialects.topi.build import Body, compute, variables
from xrelay.dialects.topi.shapes import shape_of
from xrelay.interpreters.topi import run_topi_module
from xrelay.passes.topi.inline_injective import inline_injective

RNG = np.random.default_rng(11)
BLOCK = 4


def scaled(x: SSAValue) -> ComputeOp:
    return compute(
        "scale",
        variables("i", shape_of(x)),
        [f32],
        lambda b: [b.times(b.read(x, *b.spatial), b.constant(0.5, f32))],
    )


def activated(x: SSAValue) -> ComputeOp:
    return compute("tanh", variables("i", shape_of(x)), [f32], lambda b: [b.add(math.TanhOp(b.read(x, *b.spatial)))])


def reversed_rows(x: SSAValue) -> ComputeOp:
    last = shape_of(x)[-1] - 1
    return compute(
        "reverse", variables("i", shape_of(x)), [f32], lambda b: [b.read(x, *b.spatial[:-1], b.spatial[-1] * -1 + last)]
    )


def transposed(x: SSAValue) -> ComputeOp:
    return compute("transpose", variables("i", shape_of(x)[::-1]), [f32], lambda b: [b.read(x, *b.spatial[::-1])])


def flattened(x: SSAValue) -> ComputeOp:
    rows, columns = shape_of(x)

    def body(b: Body) -> list[SSAValue]:
        at = b.spatial[0] * (rows * columns) + b.spatial[1]
        return [b.read(x, at // columns, at % columns)]

    return compute("reshape", {"i": 1, "j": rows * columns}, [f32], body)


def folded(x: SSAValue) -> ComputeOp:
    rows, columns = shape_of(x)
    width = next(d for d in (4, 3, 2, 1) if (rows * columns) % d == 0)

    def body(b: Body) -> list[SSAValue]:
        at = b.spatial[0] * width + b.spatial[1]
        return [b.read(x, at // columns, at % columns)]

    return compute("reshape", {"i": rows * columns // width, "j": width}, [f32], body)


def padded(x: SSAValue) -> ComputeOp:
    rows, columns = shape_of(x)

    def body(b: Body) -> list[SSAValue]:
        i, j = b.spatial
        inside = b.in_bounds([i - 1, j - 2], [rows, columns])
        return [b.guard(inside, f32, lambda: b.read(x, i - 1, j - 2), lambda: b.constant(3, f32))]

    return compute("pad", {"i": rows + 2, "j": columns + 3}, [f32], body)


def neighbours(x: SSAValue) -> ComputeOp:
    rows, columns = shape_of(x)

    def body(b: Body) -> list[SSAValue]:
        i, j = b.spatial
        return [b.minus(b.read(x, i, j), b.read(x, i * -1 + rows - 1, j))]

    return compute("difference", {"i": rows, "j": columns}, [f32], body)


def row_sums(x: SSAValue) -> ComputeOp:
    rows, columns = shape_of(x)
    taps = min(columns, 2)

    def body(b: Body) -> list[SSAValue]:
        value = b.read(x, b.spatial[0], b.spatial[1] + b.reduction[0])
        return [b.accumulate(b.accumulators[0], value)]

    return compute("sum", {"i": rows, "j": columns - taps + 1}, [f32], body, reduce={"k": taps}, init=[1])


STEPS = [scaled, activated, reversed_rows, transposed, flattened, folded, padded, neighbours, row_sums]


@settings(max_examples=examples(10, more=2), deadline=None)
@example([row_sums], (1, 1))
@given(
    st.lists(st.sampled_from(STEPS), min_size=1, max_size=6),
    st.tuples(st.integers(1, 5), st.integers(1, 6)),
)
def test_random_chains(steps: list, shape: tuple[int, int]) -> None:
    def build(args: list[SSAValue]) -> list[Operation]:
        ops: list[Operation] = []
        value = args[0]
        for step in steps:
            ops.append(step(value))
            value = ops[-1].results[0]
        return ops

    module = module_of([tensor(*shape, element=f32)], build)
    x = RNG.standard_normal(shape).astype(np.float32)
    results = [(form, actual) for form, (actual,) in forms(module, [x])]
    for form, actual in results[1:]:
        np.testing.assert_allclose(actual, results[0][1], rtol=1e-5, atol=1e-5, err_msg=form)


def test_a_long_chain_is_inlined_in_linear_time_and_depth() -> None:
    length = 600

    def build(args: list[SSAValue]) -> list[Operation]:
        ops: list[Operation] = []
        value = args[0]
        for _ in range(length):
            ops.append(neighbours(value) if len(ops) % 200 == 199 else scaled(value))
            value = ops[-1].results[0]
        return ops

    module = module_of([tensor(3, 4, element=f32)], build)
    x = RNG.standard_normal((3, 4)).astype(np.float32)
    before = run_topi_module(module, "f", [x])[0]
    inline_injective(next(iter(module.ops)).regions[0].block, 8)
    module.verify()
    computes = [op for op in module.walk() if isinstance(op, ComputeOp)]
    assert len(computes) == 1
    assert len(list(computes[0].walk())) < 12 * length
    np.testing.assert_allclose(run_topi_module(module, "f", [x])[0], before)


def test_convolution_with_prologue_and_epilogue() -> None:
    def build(args: list[SSAValue]) -> list[Operation]:
        x, w, bias, skip = args
        pre = compute(
            "relu_in",
            dict(zip(["n", "c", "h", "w", "ci"], shape_of(x), strict=True)),
            [f32],
            lambda b: [b.maximum(b.read(x, *b.spatial), b.constant(0, f32))],
        )
        conv = Conv2dNchwcOp(pre.results[0], w, tensor(1, 2, 5, 6, BLOCK, element=f32), padding=(1, 1, 1, 1))

        def epilogue(b: Body) -> list[SSAValue]:
            n, co, h, wi, ci = b.spatial
            shifted = b.plus(b.read(conv.results[0], 0, co, h, wi, ci), b.read(bias, co, ci))
            return [b.maximum(b.plus(shifted, b.read(skip, n, co, h, wi, ci)), b.constant(0, f32))]

        names = ["n", "co", "h", "w", "ci"]
        last = compute("add_relu", dict(zip(names, (1, 2, 5, 6, BLOCK), strict=True)), [f32], epilogue)
        return [pre, conv, last]

    shapes = [(1, 2, 5, 6, BLOCK), (2, 2, 3, 3, BLOCK, BLOCK), (2, BLOCK), (1, 2, 5, 6, BLOCK)]
    module = module_of([tensor(*shape, element=f32) for shape in shapes], build)
    inputs = [RNG.standard_normal(shape).astype(np.float32) for shape in shapes]
    check(module, inputs, run_topi_module(module, "f", inputs)[0])


def test_softmax_of_a_bias_sum() -> None:
    def build(args: list[SSAValue]) -> list[Operation]:
        x, bias = args
        total = compute(
            "bias", {"i": 4, "j": 20}, [f32], lambda b: [b.plus(b.read(x, *b.spatial), b.read(bias, b.spatial[1]))]
        )
        return [total, SoftmaxOp(total.results[0], 1, total.results[0].type)]

    module = module_of([tensor(4, 20, element=f32), tensor(20, element=f32)], build)
    inputs = [RNG.standard_normal(shape).astype(np.float32) for shape in ((4, 20), (20,))]
    check(module, inputs, run_topi_module(module, "f", inputs)[0])


def test_gather_at_every_level() -> None:
    def build(args: list[SSAValue]) -> list[Operation]:
        x, j = args

        def body(b: Body) -> list[SSAValue]:
            from xdsl.dialects.builtin import IndexType

            row = b.as_index(b.add(arith.IndexCastOp(b.read(j, b.spatial[0]), IndexType())))
            return [b.read(x, row, b.spatial[1])]

        return [compute("take", {"i": 3, "k": 20}, [f32], body)]

    module = module_of([tensor(5, 20, element=f32), tensor(3, element=i64)], build)
    x, j = RNG.standard_normal((5, 20)).astype(np.float32), np.array([4, 0, 2])
    check(module, [x, j], x[j])


def test_lanes_of_mixed_types() -> None:
    def build(args: list[SSAValue]) -> list[Operation]:
        x, k = args

        def body(b: Body) -> list[SSAValue]:
            value = b.add(arith.SIToFPOp(b.read(k, *b.spatial), f32))
            return [b.add(arith.CmpfOp(b.read(x, *b.spatial), value, "olt"))]

        return [compute("less", {"i": 2, "j": 70}, [i1], body)]

    module = module_of([tensor(2, 70, element=f32), tensor(2, 70, element=i8)], build)
    x, k = RNG.standard_normal((2, 70)).astype(np.float32) * 50, RNG.integers(-100, 100, (2, 70)).astype(np.int8)
    for form, (actual,) in forms(module, [x, k]):
        np.testing.assert_array_equal(actual, x < k, err_msg=form)
