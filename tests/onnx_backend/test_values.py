"""Nodes on difficult values: infinities, small values of f16, integers beyond 2^53, empty tensors.

The expected results are written down from ONNX's definitions; interpreter and native code are compared with them.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from onnx import helper
from support.onnx_models import model, value

from xrelay.api.compile import compile
from xrelay.errors import ModelImportError
from xrelay.frontend.onnx import import_onnx
from xrelay.interpreters.relay import run_relay

INF, NAN = np.inf, np.nan
F2, F4, I8 = np.float16, np.float32, np.int64


@dataclass(frozen=True)
class Case:
    """A node of `x`, further computed inputs and constant inputs, and the expected output."""

    op: str
    x: Any
    expected: Any
    inputs: dict[str, Any] = field(default_factory=dict)
    constants: dict[str, Any] = field(default_factory=dict)
    attributes: dict[str, Any] = field(default_factory=dict)
    opset: int = 18
    rtol: float = 1e-6

    @property
    def id(self) -> str:
        return f"{self.op}-{self.opset}-{np.asarray(self.x).dtype}-{np.asarray(self.x).shape}"


def softplus(x: float) -> float:
    return max(x, 0.0) + float(np.log1p(np.exp(-abs(x))))


LOGITS = np.array([[1e6, 1e6 + 1, 1e6 - 5]], F4)
LOG_SOFTMAX = (LOGITS - 1e6 - np.log(1 + np.e + np.exp(-5))).astype(F4)
TAIL = [-9.0, -15.0, -16.0, 0.0, 20.0]
DOUBLES = np.linspace(-4, 4, 9)
ERF = np.array([math.erf(x) for x in DOUBLES])
GELU = np.array([x / 2 * math.erfc(-x / math.sqrt(2)) for x in DOUBLES])
CASES = [
    Case("Erf", DOUBLES, ERF, rtol=1e-15),
    Case("Gelu", DOUBLES, GELU, opset=20, rtol=1e-11),
    Case("LogSoftmax", LOGITS, LOG_SOFTMAX),
    Case("LogSoftmax", LOGITS, LOG_SOFTMAX, opset=11),
    Case("LogSoftmax", F4([[-INF, 1, 1]]), F4([[-INF, -np.log(2), -np.log(2)]])),
    Case("LogSoftmax", F2([[0, 0, -30]]), F2([[-np.log(2), -np.log(2), -30 - np.log(2)]]), rtol=1e-3),
    Case(
        "ReduceLogSumExp",
        F4([[-INF, 1, 1], [INF, 1, 2], [-INF, -INF, -INF], [NAN, 1, 2], [INF, -INF, 0]]),
        F4([1 + np.log(2), INF, -INF, NAN, INF]),
        constants={"a": [1]},
        attributes={"keepdims": 0},
    ),
    Case("ReduceLogSumExp", np.zeros((2, 0), F4), F4([[-INF], [-INF]]), constants={"a": [1]}),
    Case("ReduceLogSumExp", F4([[3e38, 3e38]]), F4([[3e38]]), constants={"a": [1]}),
    Case("Softplus", F2([*TAIL, INF, -INF]), F2([*map(softplus, TAIL), INF, 0]), rtol=2e-3),
    Case("Softplus", F4([*TAIL, -20, -80, NAN]), F4([*map(softplus, [*TAIL, -20, -80]), NAN])),
    Case("Softplus", np.array([-40.0, -700.0]), np.array([softplus(-40), softplus(-700)])),
    Case("Mish", F2(TAIL), F2([x * np.tanh(softplus(x)) for x in TAIL]), rtol=2e-3),
    Case("Mish", F4([*TAIL, -30]), F4([x * np.tanh(softplus(x)) for x in (*TAIL, -30)]), rtol=1e-5),
    Case("Sigmoid", F2([-13, -16, INF, -INF]), F2([2.26e-6, 1.13e-7, 1, 0]), rtol=0.06),
    Case("PRelu", F4([-1, 0, 2, INF, NAN]), F4([-INF, 0, 2, INF, NAN]), inputs={"s": F4([INF])}),
    Case("PRelu", F4([-1, 0, 2, INF]), F4([INF, 0, 2, INF]), constants={"s": F4([-INF])}),
    Case("LeakyRelu", F4([-1, 0, 2, INF]), F4([-INF, 0, 2, INF]), attributes={"alpha": INF}),
    Case("Elu", F4([-1, 0, 2, INF]), F4([-INF, 0, 2, INF]), attributes={"alpha": INF}),
    Case("Flatten", np.zeros((0, 3, 2), F4), np.zeros((0, 2), F4), attributes={"axis": 2}),
    Case("Flatten", np.zeros((3, 0, 2), F4), np.zeros((1, 0), F4), attributes={"axis": 0}),
    Case("Flatten", np.zeros((3, 0), F4), np.zeros((3, 0), F4)),
    Case("Reshape", np.zeros((0, 3), F4), np.zeros((3, 0), F4), constants={"s": [3, 0]}, attributes={"allowzero": 1}),
    Case("MatMul", np.zeros((2, 3, 0), F4), np.zeros((2, 3, 4), F4), inputs={"b": np.zeros((0, 4), F4)}),
    Case("Clip", F2([-INF, -3, 5, INF]), F2([-INF, -3, 2, 2]), attributes={"max": 2.0}, opset=6),
    Case("Clip", F2([-INF, -3, 5, INF]), F2([-INF, -3, 5, INF]), opset=6),
    Case("Clip", F4([-3, 5]), F4([1, 1]), constants={"a": F4(2), "b": F4(1)}),
    Case("Clip", I8([2**62, -5]), I8([2**60 + 1, -3]), constants={"a": I8(-3), "b": I8(2**60 + 1)}),
    Case(
        "Clip",
        np.uint64([2**64 - 1, 0]),
        np.uint64([2**64 - 3, 7]),
        constants={"a": np.uint64(7), "b": np.uint64(2**64 - 3)},
    ),
    Case("Pad", np.uint64([1]), np.uint64([2**64 - 1, 1]), constants={"p": [1, 0], "v": np.uint64(2**64 - 1)}),
    Case("Pad", I8([1]), I8([1, 2**53 + 1]), constants={"p": [0, 1], "v": I8(2**53 + 1)}),
    Case("Pad", F4([1, 2, 3]), F4([3, 2, 1, 2, 3]), constants={"p": [2, 0]}, attributes={"mode": "reflect"}),
    Case("Pad", F4([1, 2, 3]), F4([1, 1, 2, 3, 3]), constants={"p": [1, 1]}, attributes={"mode": "edge"}),
    Case("ReduceMean", I8([[2, 5], [2**62, 2**62 - 1]]), I8([[3], [2**62 - 1]]), constants={"a": [1]}),
    Case("ReduceMean", np.int8([[127, 127], [-1, -2]]), np.int8([[127], [-1]]), constants={"a": [1]}),
    Case("ReduceMean", np.zeros((2, 0), F4), F4([[NAN], [NAN]]), constants={"a": [1]}),
    Case("ReduceMax", np.zeros((2, 0), F4), F4([[-INF], [-INF]]), constants={"a": [1]}),
    Case("ReduceMin", np.zeros((2, 0), np.int32), np.int32([[2**31 - 1]] * 2), constants={"a": [1]}),
    Case("ReduceL2", np.int32([[3, 4], [46341, 0]]), np.int32([[5], [46341]]), constants={"a": [1]}),
    Case("ReduceL2", F2([[300, 400]]), F2([[500]]), constants={"a": [1]}),
    Case("GlobalAveragePool", np.zeros((1, 2, 0, 3), F4), np.full((1, 2, 1, 1), NAN, F4)),
    Case("GlobalMaxPool", np.zeros((1, 2, 0, 3), F4), np.full((1, 2, 1, 1), -INF, F4)),
    Case("Pow", F4([-INF, -0.0, 4]), F4([INF, 0, 2]), constants={"e": F4(0.5)}),
    Case("Pow", F4([-INF, -0.0, 4]), F4([INF, 0, 2]), inputs={"e": F4(0.5)}),
    Case("Pow", I8([3, -7]), I8([3**37, (-7) ** 21]), constants={"e": I8([37, 21])}, rtol=0),
    Case("Pow", I8([3, -1, 3]), I8([3**37, -1, 1]), inputs={"e": np.uint64([37, 2**63 + 1, 0])}, rtol=0),
    Case("Pow", np.int32([46341, 5]), np.int32([46341**2 - 2**32, 0]), inputs={"e": I8([2, -1])}, rtol=0),
    Case("Pow", F2([-1, -2]), F2([-1, -8]), inputs={"e": np.int32([2**31 - 1, 3])}),
    Case("Pow", np.array([0.3]), np.array([0.3**0.5]), inputs={"e": F4(0.5)}, rtol=1e-15),
    Case("Pow", F4([2]), F4([2**0.1]), inputs={"e": np.array(0.1)}),
    Case("Pow", F4([-1]), F4([-1]), constants={"e": I8([2**31 - 1])}),
    Case("Mean", F2([60000]), F2([60000]), inputs={"a": F2([60000]), "b": F2([60000])}, rtol=1e-3),
    Case("Sum", F2([60000]), F2([30000]), inputs={"a": F2([60000]), "b": F2([-60000]), "c": F2([-30000])}, rtol=1e-3),
    Case("Expand", F4([[1], [2]]), np.zeros((2, 0), F4), constants={"s": [2, 0]}),
    Case("Tile", F4([[1, 2]]), np.zeros((0, 4), F4), constants={"r": [0, 2]}),
    Case("Softmax", np.zeros((2, 0), F4), np.zeros((2, 0), F4)),
    Case(
        "LRN",
        F4([2, -3]).reshape(1, 2, 1, 1),
        F4([-2, 3]).reshape(1, 2, 1, 1),
        attributes={"size": 1, "alpha": 0.0, "beta": 1.0, "bias": -1.0},
    ),
    Case(
        "LRN",
        F4([0, 2]).reshape(1, 2, 1, 1),
        F4([0, 2]).reshape(1, 2, 1, 1),
        attributes={"size": 1, "beta": 0.0, "bias": 0.0},
    ),
    Case("Slice", F4([1, 2, 3]), F4([1]), constants={"s": [-5], "e": [-9], "a": [0], "t": [-2]}),
    Case("Slice", F4([1, 2, 3]), F4([3, 1]), constants={"s": [9], "e": [-9], "a": [0], "t": [-2]}),
    Case("Where", [True, False], F4([[1, NAN], [1, INF]]), inputs={"a": F4(1), "b": F4([[NAN], [INF]])}),
    Case("Slice", F4([1, 2, 3]), np.zeros(0, F4), constants={"s": [2], "e": [1]}),
    Case("Split", F4([1, 2, 3]), np.zeros(0, F4), constants={"s": [0, 3]}),
]


def outputs_of(op: str) -> list[str]:
    return ["y", "rest"] if op == "Split" else ["y"]


@pytest.mark.grid(1)
@pytest.mark.parametrize("case", CASES, ids=lambda case: case.id)
def test_values(case: Case) -> None:
    arrays = [np.asarray(case.x), *map(np.asarray, case.inputs.values())]
    node = helper.make_node(
        case.op, ["x", *case.inputs, *case.constants], outputs_of(case.op), name="node", **case.attributes
    )
    infos = [
        value(name, array.shape, helper.np_dtype_to_tensor_dtype(array.dtype))
        for name, array in zip(["x", *case.inputs], arrays, strict=True)
    ]
    constants = {name: np.asarray(array) for name, array in case.constants.items()}
    proto = model([node], infos, ["y"], initializers=constants, opset=case.opset)
    expected = np.asarray(case.expected)
    for found in (run_relay(import_onnx(proto), arrays), compile(proto, cache=False, threads=1).run(arrays)):
        compare(found[0], expected, case.rtol)


def compare(found: NDArray[Any], expected: NDArray[Any], rtol: float) -> None:
    assert (found.dtype, found.shape) == (expected.dtype, expected.shape)
    if expected.dtype.kind in "iu":
        assert np.all(np.abs(found.astype(object) - expected.astype(object)) <= rtol * np.abs(expected.astype(object)))
    else:
        np.testing.assert_allclose(found, expected, rtol=rtol, atol=0)


@pytest.mark.parametrize(
    ("op", "outputs", "attributes", "words"),
    [
        ("Split", ["a", "b"], {"num_outputs": 3}, "'num_outputs' differs"),
        ("Concat", ["a"], {"axis": 4}, "'axis' has the illegal value 4"),
    ],
)
def test_refusals(op: str, outputs: list[str], attributes: dict[str, Any], words: str) -> None:
    node = helper.make_node(op, ["x"], outputs, name="node", **attributes)
    with pytest.raises(ModelImportError, match=words):
        import_onnx(model([node], [value("x", (4,))], outputs, opset=18))
