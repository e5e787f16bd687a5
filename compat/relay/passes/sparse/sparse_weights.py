"""Sparse weights that are parameters, for `relay-dense-to-sparse` and similar passes."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from math import prod
from typing import TypeVar

import numpy as np
from xdsl.dialects.builtin import ArrayAttr, DictionaryAttr, FunctionType, ModuleOp, StringAttr, i32
from xdsl.dialects.func import CallOp, FuncOp
from xdsl.ir import Attribute, BlockArgument, SSAValue
from xdsl.pattern_rewriter import PatternRewriter

from xrelay.dialects.relay.core.attribute_values import ints
from xrelay.dialects.relay.core.op_base import RelayOp
from xrelay.dialects.relay.ops.nn.conv import Conv2DOp
from xrelay.dialects.relay.ops.nn.dense import DenseOp
from xrelay.dialects.relay.structure.weights import Array
from xrelay.dialects.shared.attribute_names import PRIMITIVE, VALUE_NAME
from xrelay.dialects.shared.locations import describe_location
from xrelay.dialects.shared.types import element_type_of, is_complete, shape_of, tensor_type
from xrelay.errors import ConstraintError, PassError
from xrelay.passes.graph.calls import functions_of
from xrelay.passes.graph.remarks import Remarks, report
from xrelay.passes.graph.rewriting import Emitter
from xrelay.passes.graph.scopes import is_graph
from xrelay.passes.infra.verify import walk_ops


def free_functions(module: ModuleOp) -> Iterator[FuncOp]:
    """Yields the functions whose parameters may change: those with a body, except kernels and called functions."""
    called = {op.callee.string_value() for op in walk_ops(module) if isinstance(op, CallOp)}
    for name, op in functions_of(module).items():
        if not op.is_declaration and PRIMITIVE not in op.attributes and name not in called and is_graph(op):
            yield op


class Parameters:
    """The parameters of one function. Parameters can be added, and replaced ones removed."""

    def __init__(self, function: FuncOp):
        self._function, self._block = function, function.body.block
        given = function.arg_attrs.data if function.arg_attrs is not None else None
        self._attributes = [{} if given is None else dict(given[index].data) for index in range(len(self._block.args))]
        self._added: dict[str, BlockArgument] = {}

    def name_of(self, value: SSAValue) -> str | None:
        """Returns the public name of a parameter, or None for any other value."""
        if not isinstance(value, BlockArgument) or value.owner is not self._block:
            return None
        name = self._attributes[value.index].get(VALUE_NAME)
        return name.data if isinstance(name, StringAttr) else value.name_hint

    def add(self, name: str, type: Attribute) -> BlockArgument:
        """Returns the parameter `name`, which the first call adds after all others."""
        if name not in self._added:
            argument = self._block.insert_arg(type, len(self._block.args))
            argument.name_hint = name if SSAValue.is_valid_name(name) else None
            self._attributes.append({VALUE_NAME: StringAttr(name)})
            self._added[name] = argument
        return self._added[name]

    def finish(self, replaced: Sequence[SSAValue]) -> None:
        """Removes those of `replaced` that have no use, and updates the signature."""
        for argument in dict.fromkeys(replaced):
            if isinstance(argument, BlockArgument) and argument.first_use is None and argument.block is self._block:
                del self._attributes[argument.index]
                self._block.erase_arg(argument)
        types = [argument.type for argument in self._block.args]
        self._function.function_type = FunctionType.from_lists(types, self._function.function_type.outputs.data)
        if any(self._attributes):
            self._function.arg_attrs = ArrayAttr([DictionaryAttr(dict(each)) for each in self._attributes])


KERNEL_LAYOUTS = {"NHWC": "HWIO", "NCHW": "OIHW"}
"""Layout of images → layout of the weights that can become sparse."""

Sizes = tuple[int, ...]
"""The extents of the three arrays (values, columns, row starts) in one list, as in Relay."""


def sizes_by_name(
    pass_name: str, names: Sequence[str], shapes: Sequence[str], counts: Sequence[int]
) -> dict[str, Sizes]:
    """Weight name → its sizes from `shapes`, texts such as `240x32x1x240x25`.

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


def _sizes(shape: str) -> Sizes | None:
    extents = shape.split("x")
    return tuple(map(int, extents)) if all(map(str.isdecimal, extents)) else None


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


LayerT = TypeVar("LayerT", bound=RelayOp)


def require_layout(pass_name: str, layout: str, kernel_size: int) -> None:
    """Raises `PassError` for a layout or a kernel size that sparse convolutions do not support."""
    if layout not in KERNEL_LAYOUTS:
        raise PassError(f"{pass_name}: the layout is {layout!r}, it must be NHWC or NCHW")
    if kernel_size < 1 or kernel_size % 2 == 0:
        raise PassError(f"{pass_name}: kernel-size is {kernel_size}, it must be odd")


def make_sparse(
    module: ModuleOp,
    pass_name: str,
    kind: type[LayerT],
    sizes: Mapping[str, Sizes],
    why_not: Callable[[LayerT], str | None],
    sparse: Callable[[LayerT, list[SSAValue]], RelayOp],
) -> None:
    """Replaces ops of `kind` whose second operand is a parameter in `sizes` by sparse ops; reports remarks.

    `sparse` returns the new op for an op and the arrays of its sparse weight. `why_not` returns the reason why an op
    cannot be replaced, or `None`. Raises `PassError` if the arrays do not match the op.
    """
    remarks = Remarks(pass_name)
    for function in free_functions(module):
        parameters, replaced = Parameters(function), list[SSAValue]()
        for op in [op for op in walk_ops(function) if isinstance(op, kind)]:
            weight = op.operands[1]
            name = parameters.name_of(weight)
            if name is None or name not in sizes:
                continue
            if (reason := why_not(op)) is not None:
                remarks.refused(op, reason)
                continue
            remarks.applied(op, f"its weight {name} is sparse now")
            replaced.append(weight)
            *values, columns, beginnings = sizes[name]
            arrays: list[SSAValue] = [
                parameters.add(f"{name}.data", tensor_type(values, element_type_of(weight.type))),
                parameters.add(f"{name}.indices", tensor_type((columns,), i32)),
                parameters.add(f"{name}.indptr", tensor_type((beginnings,), i32)),
            ]
            try:
                made = sparse(op, arrays)
            except ConstraintError as error:
                problem = f"{pass_name}: the sparse arrays of {name!r} do not match: {error.message}"
                raise PassError(problem, location=describe_location(op)) from error
            found, wanted = made.results[0].type, op.results[0].type
            if found != wanted:
                made.erase()
                problem = f"{pass_name}: with the sparse arrays of {name!r} the result is {found}, not {wanted}"
                raise PassError(problem, location=describe_location(op))
            emit = Emitter(PatternRewriter(op), op)
            emit.replace(emit.insert(made).results[0])
        if replaced:
            parameters.finish(replaced)
    report(remarks.all)
