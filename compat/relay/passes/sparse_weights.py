"""Weights as block-sparse matrices, for `relay-dense-to-sparse` and similar passes."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import cast

import numpy as np
from xdsl.dialects.builtin import i32
from xdsl.ir import Attribute, SSAValue

from xrelay.dialects.relay.core.attribute_values import ints
from xrelay.dialects.relay.ops.nn.conv import Conv2DOp
from xrelay.dialects.relay.ops.nn.dense import DenseOp
from xrelay.dialects.relay.structure.weights import Array
from xrelay.dialects.shared.types import element_type_of, is_complete, shape_of, tensor_type
from xrelay.errors import PassError
from xrelay.relay.passes.parameters import Parameters

KERNEL_LAYOUTS = {"NHWC": "HWIO", "NCHW": "OIHW"}
"""Layout of images → layout of the weights that can become sparse."""

Sizes = tuple[int, ...]
"""The extents of the three arrays (values, columns, row starts) in one list, as in Relay."""


def sizes_by_name(
    pass_name: str, names: Sequence[str], shapes: Sequence[object], counts: Sequence[int]
) -> dict[str, Sizes]:
    """Weight name → its sizes from `shapes`, each a list of numbers or a text such as `240x32x1x240x25`.

    Raises `PassError` if there are more names than shapes or fewer, or if a number of extents is not in `counts`.
    """
    if len(names) != len(shapes):
        raise PassError(f"{pass_name}: {len(names)} weights and {len(shapes)} shapes are given")
    known = {name: _sizes(shape) for name, shape in zip(names, shapes, strict=True)}
    for name, sizes in known.items():
        if sizes is None or len(sizes) not in counts:
            wanted = " or ".join(map(str, counts))
            raise PassError(f"{pass_name}: the shape of {name!r} is not {wanted} extents, as 240x32x1x240x25")
    return {name: sizes for name, sizes in known.items() if sizes is not None}


def _sizes(shape: object) -> Sizes | None:
    is_list = isinstance(shape, list | tuple)
    texts = cast("Sequence[object]", shape) if is_list else str(shape).split("x")
    try:
        numbers = tuple(int(str(text)) for text in texts)
    except ValueError:
        return None
    return numbers if all(number >= 0 for number in numbers) else None


def add_sparse_parameters(parameters: Parameters, name: str, sizes: Sizes, element: Attribute) -> list[SSAValue]:
    """Adds the parameters that replace the weight `name`: values, columns and row starts."""
    *values, columns, beginnings = sizes
    return [
        parameters.add(f"{name}.data", tensor_type(values, element)),
        parameters.add(f"{name}.indices", tensor_type((columns,), i32)),
        parameters.add(f"{name}.indptr", tensor_type((beginnings,), i32)),
    ]


def why_no_sparse_dense(op: DenseOp) -> str | None:
    """The reason why `nn.sparse_dense` cannot replace a dense layer; `None` if it can."""
    types = [op.data.type, op.weight.type, op.result.type]
    if not all(map(is_complete, types)):
        return "its types are not known"
    if len(shape_of(op.data.type)) != 2:
        return "its data are not a matrix"
    return None if _has_own_type(types) else "its result has another element type"


def why_no_sparse_conv2d(op: Conv2DOp, layout: str, size: int) -> str | None:
    """The reason why `nn.sparse_conv2d` in `layout` with a kernel of `size` cannot replace `op`; `None` if it can."""
    types = [op.data.type, op.weight.type, op.result.type]
    if not all(map(is_complete, types)):
        return "its types are not known"
    data, weight, result = (str(each) for each in op.layouts)
    if (data, weight, result) != (layout, KERNEL_LAYOUTS[layout], layout):
        return f"its layouts are {data}, {weight} and {result}"
    kernel = op.extents_in(op.layouts[1], shape_of(op.weight.type))
    if (kernel["H"], kernel["W"]) != (size, size):
        return f"its kernel is {kernel['H']} by {kernel['W']}"
    if op.groups.value.data != 1 or {*ints(op.strides), *ints(op.dilation)} != {1}:
        return "it has groups, strides or a dilation"
    if set(ints(op.padding)) != {size // 2}:
        return "its padding changes the size of the image"
    return None if _has_own_type(types) else "its result has another element type"


def _has_own_type(types: Sequence[Attribute]) -> bool:
    return len({element_type_of(type) for type in types}) == 1


def weight_matrix(weight: Array, layout: str) -> Array:
    """The weight of a convolution as a matrix with a row for each output channel, as for `nn.sparse_conv2d`."""
    # The number of columns is explicit, because -1 is ambiguous if there are no rows.
    if layout == "NHWC":
        return weight.reshape(prod(weight.shape[:-1]), weight.shape[-1]).T
    return weight.reshape(weight.shape[0], prod(weight.shape[1:]))


def to_blocks(matrix: Array, blocksize: tuple[int, int]) -> tuple[Array, Array, Array] | None:
    """The nonzero blocks of a matrix, their columns, and the start of each row of blocks.

    Returns `None` if the size of the matrix is not a multiple of the size of the blocks.
    """
    high, wide = blocksize
    rows, columns = matrix.shape
    if high < 1 or wide < 1 or rows % high or columns % wide:
        return None
    blocks = matrix.reshape(rows // high, high, columns // wide, wide).swapaxes(1, 2)
    used = (blocks != 0).any(axis=(2, 3))
    beginnings = np.append(0, np.cumsum(used.sum(axis=1)))
    return np.ascontiguousarray(blocks[used]), np.nonzero(used)[1].astype(np.int32), beginnings.astype(np.int32)
