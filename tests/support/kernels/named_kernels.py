"""Kernels with named dimensions, as relay text, and the sizes at which they are tested."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from xdsl.dialects.builtin import ModuleOp, StringAttr, UnitAttr
from xdsl.dialects.func import FuncOp

from support.examples import FACTOR
from xrelay.dialects.shared.attribute_names import PRIMITIVE
from xrelay.dialects.shared.dtypes import numpy_dtype
from xrelay.dialects.shared.types import shape_of
from xrelay.index_algebra.dims import evaluate, names_of
from xrelay.passes.infra.source import full_context, parse_module
from xrelay.passes.types.infer_type import infer_types

Sizes = Mapping[str, int]

COMMON: Sequence[int] = (5, 1, 0)


@dataclass(frozen=True)
class NamedKernel:
    """The `arguments` and `body` of a function, whose result is the last value that the body defines.

    `sizes` are combinations of sizes; if empty, each name takes each of the common sizes.
    """

    name: str
    arguments: str
    body: str
    sizes: Sequence[Sizes] = ()
    highest: int = 3
    """Integer inputs are in [0, highest)."""

    def relay(self) -> ModuleOp:
        """The typed program as `@main`."""
        *lines, last = self.body.strip().splitlines()
        text = "\n".join([*lines, last, f"func.return {last.split('=')[0].strip()} : !relay.incomplete"])
        module = parse_module(
            full_context(), f"func.func @main({self.arguments}) -> !relay.incomplete {{\n{text}\n}}", self.name
        )
        infer_types(module)
        module.verify()
        return module

    def kernel(self) -> ModuleOp:
        """The program as a kernel `@k`."""
        module = self.relay()
        for function in module.ops:
            assert isinstance(function, FuncOp)
            function.sym_name = StringAttr("k")
            function.sym_visibility = StringAttr("private")
            function.attributes[PRIMITIVE] = UnitAttr()
        return module

    def tried(self) -> list[Sizes]:
        """The sizes at which the kernel is tested."""
        if self.sizes:
            return list(self.sizes)
        (function,) = self.relay().ops
        assert isinstance(function, FuncOp)
        dims = [dim for type in function.function_type.inputs for dim in shape_of(type)]
        names = sorted(frozenset[str]().union(*map(names_of, dims)))
        rotations = [{name: COMMON[(first + k) % 3] for k, name in enumerate(names)} for first in (1, 2, 0)]
        equal = [dict.fromkeys(names, size) for size in (7, 1)]
        return [*rotations, *equal] if FACTOR > 1 else [*rotations[:2], equal[0]]

    def inputs(self, sizes: Sizes) -> list[NDArray[np.generic]]:
        """Random arrays of the arguments' types."""
        (function,) = self.relay().ops
        assert isinstance(function, FuncOp)
        random = np.random.default_rng(0)
        arrays: list[NDArray[np.generic]] = []
        for type in function.function_type.inputs:
            shape = tuple(evaluate(dim, sizes) for dim in shape_of(type))
            dtype = numpy_dtype(type.element_type)
            if dtype.kind == "f":
                arrays.append(random.uniform(-2, 2, shape).astype(dtype))
            else:
                arrays.append(random.integers(0, self.highest, shape).astype(dtype))
        return arrays


def tensor(*dims: int | str, dtype: str = "f32") -> str:
    """The text of a type: `tensor("n", 8)`."""
    extents = "".join(f"{dim}x" if isinstance(dim, int) else "?x" for dim in dims)
    named = [dim for dim in dims if isinstance(dim, str)]
    return f"tensor<{extents}{dtype}{', #relay.dims<' + ', '.join(named) + '>' if named else ''}>"


def op(name: str, operands: str, types: Sequence[str], attributes: str = "") -> str:
    """The text of an op with an unknown result type."""
    return f"%r = relay.{name}({operands}) {attributes} : ({', '.join(types)}) -> !relay.incomplete"


def simple(
    label: str,
    name: str,
    types: Sequence[str],
    attributes: str = "",
    sizes: Sequence[Sizes] = (),
    highest: int = 3,
) -> NamedKernel:
    """A kernel of one op on the arguments."""
    names = [f"%a{k}" for k in range(len(types))]
    arguments = ", ".join(f"{value}: {type}" for value, type in zip(names, types, strict=True))
    return NamedKernel(label, arguments, op(name, ", ".join(names), types, attributes), sizes, highest)


ENOUGH: Sequence[Sizes] = ({"n": 3, "m": 2, "k": 4}, {"n": 7, "m": 1, "k": 1}, {"n": 4, "m": 0, "k": 3})
"""Sizes such that the indices are less than the number of rows."""

N8, NM = tensor("n", 8), tensor("n", "m")
IMAGE = tensor("n", 3, "h", "w")
IMAGES: Sequence[Sizes] = ({"n": 2, "h": 7, "w": 5}, {"n": 1, "h": 3, "w": 3}, {"n": 0, "h": 4, "w": 6})
BROADCASTS: Sequence[Sizes] = tuple({"n": n, "m": m} for n, m in ((4, 1), (1, 4), (3, 3), (1, 1), (0, 1), (1, 0)))

KERNELS: Sequence[NamedKernel] = (
    simple("relu", "nn.relu", [N8]),
    simple("add", "add", [NM, NM]),
    simple("add_column", "add", [NM, tensor("n", 1)]),
    simple("add_row", "multiply", [NM, tensor("m")]),
    simple("add_unproven", "add", [tensor("n", 2), tensor("m", 2)], sizes=BROADCASTS),
    simple("where", "where", [tensor("n", "m", dtype="i1"), NM, tensor("m")], highest=2),
    simple("sum", "sum", [NM], "{axis = [1]}"),
    simple("max_all", "max", [NM], sizes=[{"n": 3, "m": 2}, {"n": 1, "m": 1}, {"n": 7, "m": 5}]),
    simple("mean", "mean", [NM], "{axis = [0], keepdims = true}"),
    simple("argmax", "argmax", [NM], "{axis = [1]}", sizes=[{"n": 3, "m": 4}, {"n": 0, "m": 2}]),
    simple("transpose", "transpose", [tensor("n", 4, "m")], "{axes = [2, 0, 1]}"),
    simple("cumsum", "cumsum", [NM], "{axis = 1}"),
    simple("cumsum_first", "cumsum", [NM], "{axis = 0}"),
    simple("reverse", "reverse", [NM], "{axis = 1}"),
    simple("softmax", "nn.softmax", [NM], "{axis = 1}", sizes=[{"n": 3, "m": 4}, {"n": 1, "m": 1}, {"n": 0, "m": 3}]),
    simple("dense", "nn.dense", [tensor("n", "k"), tensor(4, "k")]),
    simple("matmul", "nn.matmul", [tensor("n", "k"), tensor("k", "m")]),
    simple("batch_matmul", "nn.batch_matmul", [tensor("b", "n", "k"), tensor("b", "m", "k")], "{transpose_b = true}"),
    simple("conv2d", "nn.conv2d", [IMAGE, tensor(4, 3, 3, 3)], "{padding = [1, 1]}", IMAGES),
    simple(
        "conv2d_strided",
        "nn.conv2d",
        [IMAGE, tensor(4, 3, 3, 3)],
        "{strides = [2, 2], padding = [1, 1]}",
        IMAGES,
    ),
    simple(
        "conv2d_transpose",
        "nn.conv2d_transpose",
        [IMAGE, tensor(3, 4, 3, 3)],
        "{strides = [3, 2], padding = [0, 1, 2, 1], output_padding = [1, 0], dilation = [2, 1]}",
        IMAGES,
    ),
    simple("max_pool2d", "nn.max_pool2d", [IMAGE], "{pool_size = [2, 2], strides = [2, 2]}", IMAGES),
    simple(
        "avg_pool2d",
        "nn.avg_pool2d",
        [IMAGE],
        "{pool_size = [3, 3], strides = [2, 2], padding = [1, 1]}",
        IMAGES,
    ),
    simple("global_avg_pool2d", "nn.global_avg_pool2d", [IMAGE], "", IMAGES),
    simple("pad", "nn.pad", [NM, tensor()], "{pad_width = [1, 2, 0, 3]}"),
    simple("tile", "tile", [NM], "{reps = [2, 3]}"),
    simple("take", "take", [tensor(6, "m"), tensor("n", dtype="i32")], "{axis = 0}", highest=6),
    simple("take_clip", "take", [NM, tensor("k", dtype="i32")], '{axis = 0, mode = "clip"}', highest=9,
           sizes=[{"n": 3, "m": 2, "k": 4}, {"n": 1, "m": 3, "k": 2}, {"n": 5, "m": 0, "k": 1}]),
    simple("gather", "gather", [tensor(4, "m"), tensor("n", "m", dtype="i64")], "{axis = 0}", highest=4),
    simple("topk", "topk", [tensor("n", 5)], '{k = 2, ret_type = "values"}'),
    simple("sort", "sort", [NM], "{axis = 1}"),
    simple("reshape_flat", "reshape", [tensor("n", 3, "m")], "{newshape = [-1]}"),
    simple("reshape_keep", "reshape", [tensor("n", "m", 6)], "{newshape = [0, 0, 2, 3]}"),
    simple("reshape_heads", "reshape", [tensor("n", "m", 6)], "{newshape = [-3, 3, 2]}"),
    simple("reshape_unflatten", "reshape", [tensor("3 * n", 4)], "{newshape = [3, -1, 2]}"),
    simple("reshape_mixed", "reshape", [tensor("n", 4, "m")], "{newshape = [2, -1]}"),
    simple("batch_flatten", "nn.batch_flatten", [tensor("n", 3, "m")]),
    simple("slice", "strided_slice", [tensor("n", 8)], "{begin = [1], end = [8], strides = [3], axes = [1]}",
           sizes=[{"n": n} for n in (0, 1, 6)]),
    simple("scatter", "scatter_elements", [tensor(6, "m"), tensor("n", "m", dtype="i64"), tensor("n", "m")],
           '{axis = 0, reduction = "add"}', highest=6),
    simple("one_hot", "one_hot", [tensor("n", dtype="i64"), tensor(), tensor()], "{depth = 4}", highest=6),
    simple("batch_norm_like", "nn.bias_add", [tensor("n", "m"), tensor("m")], "{axis = 1}"),
    simple("layer_norm", "nn.layer_norm", [NM, tensor("m"), tensor("m")], "{axis = -1}",
           sizes=[{"n": 3, "m": 4}, {"n": 0, "m": 2}, {"n": 1, "m": 1}]),
    simple("shape_of", "shape_of", [tensor("n", 4, "2 * n + 1")]),
    simple("ndarray_size", "ndarray_size", [tensor("n", 4, "m")]),
    simple("zeros_like", "zeros_like", [NM]),
    simple("lrn_wide", "nn.lrn", [NM], "{size = 4294967296, alpha = 1.0e09}"),
    simple("repeat", "repeat", [NM], "{repeats = 2, axis = 1}"),
    simple("take_flat", "take", [tensor(4, 3), tensor("n", "m", dtype="i32")], '{mode = "wrap"}', highest=20),
    simple("take_named", "take", [NM, tensor(4, dtype="i32")], '{axis = 0, mode = "raise"}', ENOUGH, highest=3),
    simple("scatter_nd", "scatter_nd", [NM, tensor(1, "k", dtype="i64"), tensor("k", "m")], '{mode = "add"}', ENOUGH),
    *(
        NamedKernel(
            name.replace(".", "_"),
            f"%a: {type}, %b: {tensor('m', 'n', 4)}",
            f"%s = relay.shape_of(%b) : ({tensor('m', 'n', 4)}) -> !relay.incomplete\n"
            f"%r = relay.{name}(%a, %s) : ({type}, !relay.incomplete) -> !relay.incomplete",
            sizes=[{"n": 3, "m": 2}, {"n": 1, "m": 1}],
        )
        for name, type in (
            ("dyn.reshape", tensor("n", 4, "m")),
            ("dyn.broadcast_to", tensor("n", 1)),
            ("dyn.full", tensor()),
        )
    ),
    NamedKernel(
        "concatenate",
        f"%a: {tensor('n', 2)}, %b: {tensor(3, 2)}, %c: {tensor('m', 2)}",
        f"%t = relay.tuple(%a, %b, %c) : ({tensor('n', 2)}, {tensor(3, 2)}, {tensor('m', 2)}) -> !relay.incomplete\n"
        "%r = relay.concatenate(%t) {axis = 0} : (!relay.incomplete) -> !relay.incomplete",
    ),
    NamedKernel(
        "split",
        f"%a: {tensor('2 * n', 'm')}",
        f"%t = relay.split(%a) {{indices_or_sections = 2, axis = 0}} : ({tensor('2 * n', 'm')}) -> !relay.incomplete\n"
        "%r = relay.tuple_get_item(%t) {index = 1} : (!relay.incomplete) -> !relay.incomplete",
    ),
    NamedKernel(
        "attention",
        f"%q: {tensor('b', 'n', 4)}, %k: {tensor('b', 'm', 4)}, %v: {tensor('b', 'm', 3)}",
        f"%s = relay.nn.batch_matmul(%q, %k) {{transpose_b = true}} : "
        f"({tensor('b', 'n', 4)}, {tensor('b', 'm', 4)}) -> !relay.incomplete\n"
        "%p = relay.nn.softmax(%s) {axis = -1} : (!relay.incomplete) -> !relay.incomplete\n"
        f"%r = relay.nn.batch_matmul(%p, %v) {{transpose_b = false}} : "
        f"(!relay.incomplete, {tensor('b', 'm', 3)}) -> !relay.incomplete",
        sizes=[{"b": 2, "n": 3, "m": 4}, {"b": 1, "n": 1, "m": 1}, {"b": 0, "n": 2, "m": 3}],
    ),
    NamedKernel(
        "chain",
        f"%a: {tensor('n', 'm', 4)}",
        f"%t = relay.transpose(%a) {{axes = [0, 2, 1]}} : ({tensor('n', 'm', 4)}) -> !relay.incomplete\n"
        "%f = relay.reshape(%t) {newshape = [-1]} : (!relay.incomplete) -> !relay.incomplete\n"
        "%g = relay.nn.relu(%f) : (!relay.incomplete) -> !relay.incomplete\n"
        "%r = relay.reshape(%g) {newshape = [4, -1]} : (!relay.incomplete) -> !relay.incomplete",
    ),
)  # fmt: skip
