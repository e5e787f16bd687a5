"""The gradient rules of the nn family, each separately, against small changes of the operands."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import pytest
from numpy.typing import NDArray
from support.gradients import check_gradient
from xdsl.dialects.builtin import ModuleOp, TupleType
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Block, Region, SSAValue

from xrelay import relay
from xrelay.api.compile import compile
from xrelay.dialects.relay.core.op_base import RelayOp
from xrelay.dialects.relay.core.registry import get_relay_op
from xrelay.dialects.relay.gradients.builder import GradientBuilder
from xrelay.dialects.relay.structure.tuples import TupleOp
from xrelay.dialects.shared.dtypes import element_type, numpy_dtype
from xrelay.dialects.shared.types import element_type_of, shape_of, tensor_type
from xrelay.errors import PassError
from xrelay.index_algebra.dims import evaluate, symbol
from xrelay.interpreters.relay import apply_op, run_relay
from xrelay.passes.gradient.rule_table import gradient_rule

Array = NDArray[Any]
RNG = np.random.default_rng(11)
STEP = 1e-6


class Case(NamedTuple):
    """An operator, its operands and its attributes."""

    op: str
    operands: tuple[Array, ...]
    attributes: dict[str, Any]


def case(op: str, *operands: tuple[int, ...] | Array, **attributes: Any) -> Case:
    """Operands are given, or random of a shape, without two close elements."""
    arrays = [_apart(*each) if isinstance(each, tuple) else each for each in operands]
    return Case(op, tuple(arrays), attributes)


def _apart(*shape: int) -> Array:
    count = int(np.prod(shape, dtype=int))
    return ((RNG.permutation(count) + 0.5) / max(count, 1) * 2 - 1).reshape(shape)


def backward(name: str, shapes: list[Any], dtype: str, attributes: dict[str, Any]) -> tuple[ModuleOp, RelayOp]:
    """A module with the rule's output: its function takes the operands and the gradients of the results."""
    block = Block(arg_types=[tensor_type(shape, element_type(dtype)) for shape in shapes])
    operands = tuple(block.args)
    op = get_relay_op(name).call(*operands, **attributes)
    block.add_op(op)
    type = op.results[0].type
    fields = list(type.types) if isinstance(type, TupleType) else [type]
    given: list[SSAValue] = [block.insert_arg(field, len(block.args)) for field in fields]
    gradient = given[0]
    if isinstance(type, TupleType):
        gradient = TupleOp.call(*given)
        block.add_op(gradient)
        gradient = gradient.results[0]
    rule = gradient_rule(type_of(op))
    assert rule is not None
    emit = GradientBuilder(block, op)
    found = [
        emit.zeros_like(operands[at]) if each is None else each for at, each in enumerate(rule(op, gradient, emit))
    ]
    assert [each.type for each in found] == [each.type for each in operands]
    block.add_op(ReturnOp(*found))
    function = FuncOp("main", ([arg.type for arg in block.args], [each.type for each in found]), Region(block))
    return ModuleOp([function]), op


def type_of(op: RelayOp) -> type[RelayOp]:
    return type(op)


def results_of(case: Case, operands: list[Array]) -> list[Array]:
    found = apply_op(case.op, *operands, **case.attributes)
    return list(found) if isinstance(found, tuple) else [found]


def check(case: Case, *, native: bool = False) -> None:
    operands = [each.astype(np.float64) for each in case.operands]
    weights = [RNG.uniform(0.5, 1.5, each.shape) for each in results_of(case, operands)]
    module, _ = backward(case.op, [each.shape for each in operands], "float64", case.attributes)
    gradients = run_relay(module, [*operands, *weights])
    for number, (data, gradient) in enumerate(zip(operands, gradients, strict=True)):
        for _ in range(2):
            direction = RNG.uniform(-1, 1, data.shape)
            ends = []
            for way in (1, -1):
                moved = [*operands]
                moved[number] = data + way * STEP * direction
                rows = zip(results_of(case, moved), weights, strict=True)
                ends.append(sum(float(np.sum(result * weight)) for result, weight in rows))
            found = np.sum(gradient * direction)
            np.testing.assert_allclose(found, (ends[0] - ends[1]) / (2 * STEP), rtol=1e-5, atol=1e-6)
    if native:
        for found, wanted in zip(compile(module, cache=False).run([*operands, *weights]), gradients, strict=True):
            np.testing.assert_allclose(found, wanted, rtol=1e-10, atol=1e-10)


PRODUCTS = [
    case("nn.dense", (3, 4), (5, 4)),
    case("nn.dense", (4,), (5, 4)),
    case("nn.dense", (2, 3, 2, 4), (5, 4)),
    case("nn.dense", (0, 4), (5, 4)),
    *(
        case("nn.matmul", (4, 3) if a else (3, 4), (5, 4) if b else (4, 5), transpose_a=a, transpose_b=b)
        for a, b in np.ndindex(2, 2)
    ),
    *(
        case("nn.matmul", (2, 2, 4, 3) if a else (2, 2, 3, 4), (5, 4) if b else (4, 5), transpose_a=a, transpose_b=b)
        for a, b in np.ndindex(2, 2)
    ),
    *(
        case(
            "nn.batch_matmul",
            (2, 4, 3) if a else (2, 3, 4),
            (2, 5, 4) if b else (2, 4, 5),
            transpose_a=a,
            transpose_b=b,
        )
        for a, b in np.ndindex(2, 2)
    ),
    *(
        case(
            "nn.batch_matmul",
            (1, 4, 3) if a else (1, 3, 4),
            (2, 3, 5, 4) if b else (2, 3, 4, 5),
            transpose_a=a,
            transpose_b=b,
        )
        for a, b in np.ndindex(2, 2)
    ),
    case("nn.contrib_dense_pack", (2, 3, 4), (2, 4, 3), weight_layout="NC3n"),
    case("nn.contrib_dense_pack", (2, 4), (2, 4, 3), weight_layout="NC3n", units=5),
    case("nn.bias_add", (2, 3, 4), (3,)),
    case("nn.bias_add", (2, 3, 4), (4,), axis=-1),
]

STRIDED = {"strides": (2, 3), "padding": (1, 0, 2, 1), "dilation": (1, 2)}
CONVOLUTIONS = [
    case("nn.conv2d", (2, 3, 6, 7), (4, 3, 3, 2)),
    case("nn.conv2d", (1, 4, 7, 9), (6, 2, 3, 2), groups=2, **STRIDED),
    case("nn.conv2d", (1, 4, 8, 8), (4, 1, 1, 1), groups=4, strides=(3, 3)),
    case("nn.conv2d", (1, 6, 7, 3), (3, 2, 3, 4), data_layout="NHWC", kernel_layout="HWIO", **STRIDED),
    case("nn.conv2d", (1, 3, 6, 7), (4, 3, 3, 2), out_layout="NHWC", padding=1),
    case(
        "nn.conv2d", (1, 1, 5, 6, 2), (2, 1, 2, 2, 2, 2), data_layout="NCHW2c", kernel_layout="OIHW2i2o", strides=(2, 2)
    ),
    case("nn.conv2d", (0, 3, 6, 7), (4, 3, 3, 2)),
    case("nn.conv1d", (2, 3, 7), (4, 3, 3)),
    case("nn.conv1d", (1, 4, 9), (6, 2, 2), groups=2, strides=3, padding=(2, 1), dilation=2),
    case("nn.conv1d", (1, 8, 3), (3, 3, 4), data_layout="NWC", kernel_layout="WIO", out_layout="NCW", strides=2),
    case("nn.conv2d_backward_weight", (2, 4, 4, 6), (2, 3, 6, 7), kernel_size=(3, 2)),
    case("nn.conv2d_backward_weight", (1, 6, 4, 2), (1, 4, 6, 7), groups=2, kernel_size=(3, 2), **STRIDED),
    case(
        "nn.conv2d_backward_weight",
        (1, 3, 3, 4),
        (1, 2, 7, 8),
        kernel_size=2,
        strides=2,
        grad_layout="NCHW",
        kernel_layout="HWIO",
    ),
    case("nn.conv2d_transpose", (2, 3, 4, 5), (3, 4, 3, 2)),
    case("nn.conv2d_transpose", (1, 4, 4, 3), (4, 3, 3, 2), groups=2, output_padding=(1, 2), **STRIDED),
    case("nn.conv2d_transpose", (1, 4, 3, 4), (3, 2, 2, 4), data_layout="NHWC", kernel_layout="HWOI", strides=(2, 2)),
    case("nn.conv1d_transpose", (2, 4, 5), (4, 3, 3), groups=2, strides=3, padding=(2, 1), output_padding=(1,)),
    case("nn.conv1d_transpose", (1, 5, 4), (3, 2, 4), data_layout="NWC", kernel_layout="WOI", out_layout="NCW"),
    case("nn.conv3d", (2, 3, 3, 4, 5), (4, 3, 2, 3, 2)),
    case("nn.conv3d", (1, 4, 5, 4, 6), (4, 2, 2, 3, 2), groups=2, strides=(2, 3, 1), padding=(1, 0, 2, 0, 1, 1)),
    case("nn.conv3d", (1, 3, 5, 4, 2), (2, 3, 2, 2, 3), data_layout="NDHWC", kernel_layout="DHWIO", dilation=(1, 2, 1)),
    case("nn.conv3d_backward_weight", (1, 2, 2, 3, 3), (1, 3, 3, 4, 4), kernel_size=2),
    case("nn.conv3d_backward_weight", (1, 4, 3, 3, 3), (1, 2, 4, 4, 4), kernel_size=2, strides=2, padding=1, groups=2),
    case("nn.conv3d_transpose", (1, 4, 2, 3, 2), (4, 1, 2, 2, 3), groups=2, strides=2, output_padding=(1, 0, 1)),
]

POOL = {"pool_size": (3, 2), "strides": (2, 2), "padding": (1, 0, 1, 1)}
POOLS = [
    *(case("nn.max_pool2d", (1, 2, 6, 7), ceil_mode=ceil, **POOL) for ceil in (False, True)),
    *(case("nn.avg_pool2d", (1, 2, 6, 7), count_include_pad=pad, ceil_mode=True, **POOL) for pad in (False, True)),
    case("nn.avg_pool2d", (1, 6, 7, 2), layout="NHWC", **POOL),
    case("nn.max_pool2d", (1, 2, 9, 7), dilation=(2, 1), out_layout="NHWC", **POOL),
    case("nn.max_pool1d", (1, 2, 7), pool_size=3, strides=2, padding=1, ceil_mode=True),
    case("nn.max_pool1d", (1, 9, 2), pool_size=2, dilation=2, padding=(1, 0), layout="NWC", out_layout="NCW"),
    *(case("nn.avg_pool1d", (1, 2, 7), pool_size=3, strides=2, padding=1, count_include_pad=p) for p in (False, True)),
    case("nn.avg_pool2d_grad", (1, 2, 4, 4), (1, 2, 6, 7), count_include_pad=True, ceil_mode=True, **POOL),
    case("nn.max_pool2d_grad", (1, 2, 4, 4), (1, 2, 6, 7), ceil_mode=True, **POOL),
    case("nn.max_pool2d_grad", (1, 2, 3, 4), (1, 6, 7, 2), layout="NHWC", out_layout="NCHW", **POOL),
    case("nn.max_pool2d_grad", (1, 1, 3, 3), (1, 1, 2, 2), pool_size=1, strides=2, padding=2),
    case(
        "nn.max_pool3d",
        (1, 2, 5, 4, 3),
        pool_size=(3, 2, 2),
        strides=(2, 1, 2),
        padding=(0, 0, 1, 1, 0, 0),
        ceil_mode=True,
    ),
    case("nn.max_pool3d", (1, 3, 4, 3, 2), pool_size=2, dilation=(2, 1, 1), layout="NDHWC", out_layout="NCDHW"),
    *(case("nn.avg_pool3d", (1, 2, 5, 4, 3), pool_size=3, strides=2, padding=1, count_include_pad=p) for p in (0, 1)),
    case(
        "nn.max_pool3d_grad",
        (1, 2, 2, 2, 2),
        (1, 2, 4, 3, 2),
        pool_size=2,
        strides=2,
        ceil_mode=True,
        padding=(0, 0, 1),
    ),
    case("nn.avg_pool3d_grad", (1, 1, 2, 2, 3), (1, 1, 4, 3, 4), pool_size=2, strides=(2, 2, 1), ceil_mode=True),
    *(case(f"nn.global_avg_pool{rank}d", (2, 3, *(4, 5, 2)[:rank])) for rank in (1, 2, 3)),
    case("nn.global_avg_pool2d", (2, 4, 5, 3), layout="NHWC", out_layout="NCHW"),
    *(case(f"nn.global_max_pool{rank}d", (2, 3, *(4, 5, 2)[:rank])) for rank in (1, 2, 3)),
    case("nn.adaptive_avg_pool2d", (2, 3, 6, 5), output_size=(1, 1)),
    case("nn.adaptive_avg_pool2d", (2, 3, 6, 5), output_size=(3, 5)),
    case("nn.adaptive_avg_pool2d", (2, 7, 5, 3), output_size=(3, 2), layout="NHWC", out_layout="NCHW"),
    case("nn.adaptive_avg_pool2d", (1, 2, 3, 4), output_size=(5, 6)),
    case("nn.adaptive_avg_pool1d", (2, 3, 7), output_size=(2,)),
    case("nn.adaptive_avg_pool3d", (1, 2, 3, 4, 5), output_size=(2, 2, 3)),
    case("nn.adaptive_max_pool1d", (2, 3, 7), output_size=(3,)),
    case("nn.adaptive_max_pool1d", (2, 3, 7)),
    case("nn.adaptive_max_pool2d", (2, 3, 6, 5), output_size=(3, 5)),
    case("nn.adaptive_max_pool2d", (2, 7, 5, 3), output_size=(3, 2), layout="NHWC", out_layout="NCHW"),
    case("nn.adaptive_max_pool2d", (1, 2, 3, 4), output_size=(5, 0)),
    case("nn.adaptive_max_pool3d", (1, 2, 3, 4, 5), output_size=(2, 2, 3)),
]

OTHERS = [
    *(case(op, (2, 3, 4), axis=axis) for op in ("nn.softmax", "nn.log_softmax", "nn.fast_softmax") for axis in (-1, 1)),
    case("nn.dropout", (2, 3)),
    *(
        case("nn.batch_norm", (2, 3, 4, 2), (3,), (3,), (3,), np.array([0.5, 1.0, 2.0]), scale=scale, center=center)
        for scale, center in ((True, True), (False, True), (True, False))
    ),
    case("nn.batch_norm", (2, 4, 3), (3,), (3,), (3,), np.array([0.5, 1.0, 2.0]), axis=-1, epsilon=0.1),
    case("nn.batch_flatten", (2, 3, 4)),
    case("nn.pad", (2, 3), (), pad_width=((1, 2), (0, 3))),
    case("nn.pad", (0, 3), (), pad_width=((1, 0), (0, 0))),
    case("layout_transform", (1, 4, 3, 2), src_layout="NCHW", dst_layout="NHWC"),
    case("layout_transform", (1, 5, 3, 2), src_layout="NCHW", dst_layout="NCHW4c"),
    case("sort", (3, 5), axis=0),
    case("sort", (2, 3, 4), is_ascend=False),
    case("topk", (3, 6), k=2, ret_type="values"),
    case("topk", (5, 2, 3), k=3, axis=0, is_ascend=True, dtype="float64"),
]


GRID = RNG.uniform(-1.7, 1.7, (2, 2, 3, 4))
GRIDS = [
    *(
        case("image.grid_sample", (2, 3, 4, 5), GRID, padding_mode=padding, align_corners=aligned)
        for padding in ("zeros", "border", "reflection")
        for aligned in (True, False)
    ),
    case("image.grid_sample", (2, 1, 1, 5), GRID, padding_mode="reflection"),
    case("image.grid_sample", (1, 2, 3, 4, 3), RNG.uniform(-1, 1, (1, 3, 2, 2, 2)), layout="NCDHW"),
    case("image.grid_sample", (2, 3, 4, 5), GRID, method="nearest", padding_mode="border"),
]


def name_of(case: Case) -> str:
    shapes = ",".join(str(list(each.shape)) for each in case.operands)
    return f"{case.op}{shapes}{case.attributes}".replace(" ", "")


@pytest.mark.grid(3)
@pytest.mark.parametrize("case", [*PRODUCTS, *CONVOLUTIONS, *POOLS, *OTHERS, *GRIDS], ids=name_of)
def test_rules(case: Case) -> None:
    check(case)


@pytest.mark.parametrize("case", [CONVOLUTIONS[1], POOLS[1], OTHERS[7], GRIDS[2]], ids=name_of)
def test_native_code_has_the_same_gradients(case: Case) -> None:
    check(case, native=True)


def test_elements_before_others_get_the_gradient_of_equal_ones() -> None:
    module, _ = backward("nn.global_max_pool2d", [(1, 1, 2, 2)], "float32", {})
    (found,) = run_relay(module, [np.array([[[[1, 2], [2, 0]]]], np.float32), np.full((1, 1, 1, 1), 3, np.float32)])
    np.testing.assert_array_equal(found, [[[[0, 3], [0, 0]]]])


@pytest.mark.parametrize(
    ("op", "shapes", "attributes"),
    [
        ("nn.dense", [(3, 4), (5, 4)], {}),
        ("nn.matmul", [(3, 4), (4, 5)], {}),
        ("nn.batch_matmul", [(1, 3, 4), (2, 5, 4)], {}),
        ("nn.conv2d", [(1, 2, 4, 4), (3, 2, 2, 2)], {}),
        ("nn.conv2d_transpose", [(1, 2, 4, 4), (2, 3, 2, 2)], {}),
    ],
)
def test_gradients_of_halves_that_give_singles_are_halves(op: str, shapes: Any, attributes: dict[str, Any]) -> None:
    module, made = backward(op, shapes, "float16", {"out_dtype": "float32", **attributes})
    operands = [_apart(*shape).astype(np.float16) for shape in shapes]
    result = made.results[0].type
    ones = np.ones(
        [extent for extent in shape_of(result) if isinstance(extent, int)], numpy_dtype(element_type_of(result))
    )
    for found, given in zip(run_relay(module, [*operands, ones]), operands, strict=True):
        assert found.dtype == given.dtype
        assert found.any()


ABOVE_ZERO = np.array([[0.2, 0.5, 0.3], [0.1, 0.3, 0.6]])
PARTS = [
    case("nn.leaky_relu", (3, 4), alpha=0.1),
    case("nn.prelu", (2, 3, 4), (3,)),
    case("nn.elu", (3, 4), alpha=2.0),
    case("nn.selu", (3, 4)),
    case("nn.softplus", (3, 4)),
    case("nn.hard_swish", (3, 4)),
    case("nn.layer_norm", (2, 3, 4), (4,), (4,)),
    case("nn.layer_norm", (2, 3, 4), (3,), (3,), axis=1, scale=False),
    case("nn.group_norm", (2, 4, 3), (4,), (4,), num_groups=2),
    case("nn.instance_norm", (2, 3, 4), (3,), (3,)),
    case("nn.l2_normalize", (2, 3, 4), eps=1e-3, axis=(1,)),
    case("nn.cross_entropy", ABOVE_ZERO, ABOVE_ZERO[:, ::-1]),
    case("nn.cross_entropy_with_logits", (2, 3), ABOVE_ZERO),
    case("nn.nll_loss", (2, 3), np.array([2, 0]), np.array([0.5, 1.5, 1.0])),
]


@pytest.mark.grid(2)
@pytest.mark.parametrize("case", PARTS, ids=name_of)
def test_what_others_define_has_the_gradients_of_its_parts(case: Case) -> None:
    params = [relay.var(f"x{at}", shape=each.shape, dtype=str(each.dtype)) for at, each in enumerate(case.operands)]
    result = relay.op_function(case.op)(*params, **case.attributes)
    check_gradient(relay.Function(params, result), case.operands)


def test_a_network_is_differentiated_twice() -> None:
    def network(x: relay.Expr, w: relay.Expr, v: relay.Expr) -> relay.Expr:
        y = relay.nn.max_pool2d(relay.tanh(relay.nn.conv2d(x, w, strides=2, padding=1)), pool_size=2, padding=1)
        y = relay.nn.dense(relay.nn.batch_flatten(relay.nn.avg_pool2d(y, pool_size=2)), v)
        return relay.nn.log_softmax(y)

    operands = [_apart(1, 2, 6, 6), _apart(3, 2, 3, 3), _apart(2, 27)]
    params = [relay.var(name, shape=each.shape, dtype="float64") for name, each in zip("xwv", operands, strict=True)]
    check_gradient(relay.Function(params, network(*params)), operands)
    once = relay.transform.gradient(relay.Function(params, network(*params)), mode="first_order")
    slope = relay.sum(relay.multiply(once.body[1][1], once.body[1][1]))
    check_gradient(relay.Function(once.params, slope), operands)


N, H = symbol("n"), symbol("h")


@pytest.mark.parametrize(
    ("op", "shapes", "attributes"),
    [
        ("nn.dense", [(N, 2, 4), (5, 4)], {}),
        ("nn.bias_add", [(N, 3, H), (3,)], {}),
        ("nn.conv2d", [(N, 2, H + 1, 4), (3, 2, 2, 2)], {"strides": (1, 2)}),
        ("nn.conv2d", [(N, 2, H + 3, 4), (3, 2, 2, 2)], {"strides": (2, 1)}),
        ("nn.conv2d", [(N, 2, H + 4, 2 * H), (3, 2, 2, 1)], {"strides": (3, 2), "padding": (1, 0, 2, 1)}),
        ("nn.conv3d", [(N, 2, H + 4, 2, 5), (3, 2, 3, 1, 2)], {"strides": (3, 1, 2)}),
        ("nn.conv1d", [(N, 2, H), (3, 2, 1)], {"strides": 2}),
        ("nn.avg_pool2d", [(N, 2, H + 1, 4)], {"pool_size": 2}),
        ("nn.global_avg_pool2d", [(N, 2, H + 1, 4)], {}),
        ("nn.global_max_pool2d", [(N, 2, H + 1, 4)], {}),
        ("nn.global_max_pool3d", [(2, 2, H, H + 1, 3)], {"layout": "NDHWC"}),
        ("nn.global_max_pool1d", [(N, 2, H)], {}),
        ("nn.batch_flatten", [(N, H, 3)], {}),
        ("nn.pad", [(N, H), ()], {"pad_width": (1, 0, 2, 3)}),
        ("nn.softmax", [(N, H)], {}),
    ],
)
def test_extents_with_names(op: str, shapes: list[Any], attributes: dict[str, Any]) -> None:
    for sizes in ({"n": 2, "h": 3}, {"n": 1, "h": 4}):
        check_sizes(op, shapes, attributes, sizes)


def check_sizes(op: str, shapes: list[Any], attributes: dict[str, Any], sizes: dict[str, int]) -> None:
    """The gradients at named extents equal those at the same static extents."""
    module, _ = backward(op, shapes, "float64", attributes)
    known = [tuple(evaluate(each, sizes) for each in shape) for shape in shapes]
    operands = [_apart(*shape) for shape in known]
    result = apply_op(op, *operands, **attributes)
    expected, _ = backward(op, known, "float64", attributes)
    inputs = [*operands, _apart(*result.shape)]
    for found, wanted in zip(run_relay(module, inputs), run_relay(expected, inputs), strict=True):
        np.testing.assert_allclose(found, wanted, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize(
    ("op", "shapes", "attributes", "reason"),
    [
        ("image.grid_sample", [(1, 2, 3, 4), (1, 2, 5, 6)], {"method": "bicubic"}, "its method is bicubic"),
        ("image.resize1d", [(1, 2, H)], {"size": (3,)}, "the extent h of its data is not known"),
        ("nn.conv2d_transpose", [(1, 2, 3, 4), (2, 3, 2, 2)], {"output_padding": (1, 0)}, "output_padding"),
        ("nn.adaptive_avg_pool2d", [(1, 2, H + 3, 4)], {"output_size": (2, 2)}, "of its data is not known"),
    ],
)
def test_what_has_no_gradient(op: str, shapes: list[Any], attributes: dict[str, Any], reason: str) -> None:
    with pytest.raises(PassError, match=f"{op} cannot be differentiated: .*{reason}"):
        backward(op, shapes, "float64", attributes)
