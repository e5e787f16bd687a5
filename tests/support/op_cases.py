"""One-op relay programs for tests that compare levels: every operator in its distinct forms."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray
from xdsl.dialects.builtin import ModuleOp, TupleType, UnitAttr
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Block, Region, SSAValue

from xrelay.dialects.relay.core.registry import get_relay_op
from xrelay.dialects.relay.structure.tuples import TupleGetItemOp, TupleOp
from xrelay.dialects.shared.dtypes import element_type
from xrelay.dialects.shared.types import tensor_type


@dataclass(frozen=True)
class OpCase:
    """An op, its operands' shapes and its attributes; `tupled` packs the operands into one tuple."""

    op: str
    shapes: Sequence[Sequence[int]]
    attributes: dict[str, Any] = field(default_factory=dict)
    dtype: str = "float32"
    tupled: bool = False
    positive: bool = False

    @property
    def id(self) -> str:
        """The name in the test report."""
        details = ",".join(f"{key}={value}" for key, value in self.attributes.items())
        return f"{self.op}{[list(shape) for shape in self.shapes]}{details}{self.dtype}".replace(" ", "")

    def inputs(self, seed: int = 0) -> list[NDArray[Any]]:
        """Seeded operands; floats in [-2, 2), or in [0.5, 2) if the op requires positive values."""
        rng = np.random.default_rng(seed)
        if self.dtype.startswith("float"):
            low = 0.5 if self.positive else -2.0
            return [rng.uniform(low, 2, shape).astype(self.dtype) for shape in self.shapes]
        return [rng.integers(1, 9, shape).astype(self.dtype) for shape in self.shapes]

    def module(self) -> ModuleOp:
        """A module whose `@main` is the op alone, marked as a kernel; a tuple result is returned field by field."""
        block = Block(arg_types=[tensor_type(shape, element_type(self.dtype)) for shape in self.shapes])
        operands: list[SSAValue] = list(block.args)
        if self.tupled:
            packed = TupleOp.call(*operands)
            block.add_op(packed)
            operands = [packed.result]
        op = get_relay_op(self.op).call(*operands, **self.attributes)
        block.add_op(op)
        results: list[SSAValue] = [op.results[0]]
        type = op.results[0].type
        if isinstance(type, TupleType):
            fields = [TupleGetItemOp.call(op.results[0], index=index) for index in range(len(type.types))]
            block.add_ops(fields)
            results = [item.result for item in fields]
        block.add_op(ReturnOp(*results))
        types = ([arg.type for arg in block.args], [value.type for value in results])
        function = FuncOp("main", types, Region(block))
        function.attributes["relay.primitive"] = UnitAttr()
        return ModuleOp([function])


OP_CASES = [
    *(OpCase(op, [(3, 5)]) for op in ("nn.relu", "sigmoid", "exp", "tanh", "negative", "nn.dropout")),
    OpCase("nn.relu", [()]),
    OpCase("nn.relu", [(2, 1, 7)], dtype="float64"),
    OpCase("sqrt", [(4, 4)], positive=True),
    OpCase("rsqrt", [(4, 4)], positive=True),
    OpCase("clip", [(4, 4)], {"a_min": -0.5, "a_max": 1.0}),
    *(OpCase(op, [(2, 3, 4), (3, 1)]) for op in ("add", "subtract", "multiply", "maximum", "minimum")),
    OpCase("divide", [(2, 3), (2, 3)], positive=True),
    OpCase("add", [(2, 3), ()]),
    OpCase("add", [(4,), (3, 4)], dtype="int32"),
    OpCase("cast", [(3, 4)], {"dtype": "int32"}),
    OpCase("cast", [(3, 4)], {"dtype": "float32"}, dtype="int64"),
    OpCase("cast", [(3, 4)], {"dtype": "float64"}),
    OpCase("cast", [(3, 4)], {"dtype": "bool"}),
    OpCase("nn.bias_add", [(2, 3, 4), (3,)]),
    OpCase("nn.bias_add", [(2, 3), (3,)], {"axis": -1}),
    OpCase("nn.batch_norm", [(2, 3, 4, 4), (3,), (3,), (3,), (3,)], {"epsilon": 1e-3}, positive=True),
    OpCase("nn.batch_norm", [(2, 4, 3), (3,), (3,), (3,), (3,)], {"axis": -1, "scale": False}, positive=True),
    OpCase("nn.lrn", [(1, 7, 3, 5)]),
    OpCase("nn.lrn", [(2, 6, 3, 2)], {"size": 4, "bias": 1.0, "alpha": 0.5, "beta": 0.4}),
    OpCase("nn.lrn", [(2, 3, 3, 8)], {"size": 3, "axis": -1, "alpha": 1.0}),
    OpCase("nn.lrn", [(2, 3, 2)], {"size": 2**40, "alpha": 1e12}),
    OpCase("sort", [(3, 17)]),
    OpCase("sort", [(5, 3)], {"axis": 0, "is_ascend": False}, dtype="uint8"),
    OpCase("argsort", [(3, 9)], {"is_ascend": False}),
    OpCase("argsort", [(2, 9, 2)], {"axis": 1, "dtype": "int64"}, dtype="int32"),
    OpCase("topk", [(3, 20)], {"k": 4}),
    OpCase("topk", [(4, 3)], {"k": 0, "axis": 0, "ret_type": "values", "is_ascend": True}),
    OpCase("topk", [(4, 5)], {"k": 2, "axis": -2, "ret_type": "indices", "dtype": "int64"}, dtype="int64"),
    OpCase("nn.dense", [(3, 8), (5, 8)]),
    OpCase("nn.matmul", [(2, 3, 8), (8, 5)]),
    OpCase("nn.matmul", [(8, 3), (5, 8)], {"transpose_a": True, "transpose_b": True}),
    OpCase("nn.batch_matmul", [(4, 3, 8), (4, 5, 8)]),
    OpCase("nn.batch_matmul", [(2, 1, 3, 8), (3, 8, 20)], {"transpose_b": False}),
    OpCase("nn.batch_matmul", [(2, 8, 3), (1, 8, 5)], {"transpose_a": True, "transpose_b": False}, dtype="int32"),
    OpCase("nn.softmax", [(3, 7)]),
    OpCase("nn.softmax", [(2, 3, 4)], {"axis": 1}),
    OpCase("nn.conv2d", [(1, 3, 8, 8), (4, 3, 3, 3)], {"padding": (1, 1)}),
    OpCase("nn.conv2d", [(2, 4, 9, 7), (6, 4, 3, 2)], {"strides": (2, 1), "padding": (1, 0, 2, 1)}),
    OpCase("nn.conv2d", [(1, 4, 8, 8), (8, 2, 3, 3)], {"groups": 2, "dilation": (2, 2), "padding": (2, 2)}),
    OpCase("nn.conv2d", [(1, 4, 6, 6), (4, 1, 3, 3)], {"groups": 4}),
    OpCase("nn.conv2d", [(1, 6, 6, 3), (3, 3, 3, 5)], {"data_layout": "NHWC", "kernel_layout": "HWIO"}),
    OpCase(
        "nn.conv2d",
        [(1, 2, 4, 3, 4), (3, 2, 3, 3, 4, 8)],
        {"data_layout": "NCHW4c", "kernel_layout": "OIHW4i8o", "out_layout": "NCHW8c", "padding": (1, 1)},
    ),
    OpCase("nn.max_pool2d", [(1, 2, 7, 7)], {"pool_size": (3, 3), "strides": (2, 2), "padding": (1, 1)}),
    OpCase("nn.max_pool2d", [(1, 2, 7, 7)], {"pool_size": (2, 2), "strides": (2, 2), "ceil_mode": True}),
    OpCase("nn.max_pool2d", [(1, 7, 7, 2)], {"pool_size": (2, 2), "strides": (2, 2), "layout": "NHWC"}),
    OpCase("nn.max_pool2d", [(1, 2, 7, 7, 4)], {"pool_size": (2, 2), "strides": (2, 2), "layout": "NCHW4c"}),
    OpCase("nn.avg_pool2d", [(1, 2, 7, 7)], {"pool_size": (3, 3), "strides": (2, 2), "padding": (1, 1)}),
    OpCase(
        "nn.avg_pool2d",
        [(1, 2, 7, 6)],
        {"pool_size": (3, 3), "strides": (2, 2), "padding": (1, 1), "count_include_pad": True, "ceil_mode": True},
    ),
    OpCase("nn.global_avg_pool2d", [(2, 3, 5, 4)]),
    OpCase("nn.global_avg_pool2d", [(2, 3, 5, 4, 4)], {"layout": "NCHW4c"}),
    OpCase("nn.batch_flatten", [(2, 3, 4)]),
    OpCase("reshape", [(2, 3, 4)], {"newshape": (4, -1)}),
    OpCase("reshape", [(6, 4)], {"newshape": (2, 3, 1, 4)}),
    OpCase("reshape", [(1, 1, 5)], {"newshape": (5, 1)}),
    OpCase("transpose", [(2, 3, 4)], {"axes": (2, 0, 1)}),
    OpCase("transpose", [(2, 3)]),
    OpCase("expand_dims", [(2, 3)], {"axis": 1}),
    OpCase("squeeze", [(2, 1, 3, 1)], {"axis": (1,)}),
    OpCase("concatenate", [(2, 3), (2, 1), (2, 4)], {"axis": 1}, tupled=True),
    OpCase("split", [(2, 6)], {"indices_or_sections": 3, "axis": 1}),
    OpCase("split", [(2, 6)], {"indices_or_sections": (1, 4), "axis": -1}),
    OpCase("layout_transform", [(1, 8, 3, 3)], {"src_layout": "NCHW", "dst_layout": "NCHW4c"}),
    OpCase("layout_transform", [(1, 2, 3, 3, 4)], {"src_layout": "NCHW4c", "dst_layout": "NHWC"}),
    OpCase("layout_transform", [(8, 4, 3, 3)], {"src_layout": "OIHW", "dst_layout": "OIHW2i4o"}),
    OpCase("mean", [(2, 3, 4)], {"axis": (1, 2)}),
    OpCase("mean", [(2, 3, 4)], {"axis": (1,), "keepdims": True}),
    OpCase("sum", [(2, 3, 4)], {"axis": (0,), "exclude": True}),
    OpCase("max", [(2, 3, 4)]),
    OpCase("min", [(2, 3, 4)], {"axis": (1,)}),
    OpCase("prod", [(2, 3)], {"axis": (1,), "keepdims": True}),
    OpCase("abs", [(3, 5)]),
    OpCase("abs", [(3, 5)], dtype="int32"),
    OpCase("erf", [(3, 5)]),
    OpCase("log", [(3, 5)], positive=True),
    OpCase("power", [(3, 5), (5,)], positive=True),
    *(OpCase(op, [(3, 5), (5,)]) for op in ("equal", "not_equal", "less", "less_equal", "greater", "greater_equal")),
    OpCase("sigmoid", [(3, 5)], dtype="float16"),
    OpCase("mean", [(2, 3, 4)], {"axis": (1,)}, dtype="int8"),
    OpCase("mean", [(2, 3, 4)], {"axis": (1,)}, dtype="uint64"),
    OpCase("nn.pad", [(2, 3), ()], {"pad_width": (1, 0, 2, 3)}),
    OpCase("nn.pad", [(2, 3), ()], {"pad_width": (1, 0, 2, 3), "pad_mode": "edge"}),
    OpCase("nn.pad", [(2, 3, 4), ()], {"pad_width": (0, 1, 2, 0, 3, 3), "pad_mode": "reflect"}),
]
