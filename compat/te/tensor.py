"""Tensors: placeholders, and computes that define each element by an expression of the axes.

A = te.placeholder((64, 32), name="A")
k = te.reduce_axis((0, 32), name="k")
C = te.compute((64,), lambda i: te.sum(A[i, k], axis=k), name="C")
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from operator import index as integer
from typing import cast

from numpy.typing import DTypeLike

from xrelay.errors import InputError
from xrelay.index_algebra.dims import Dim, DimExpr, is_dim_name, symbol
from xrelay.te.expr import INDEX, IterVar, PrimExpr, Reduce, const, dtype_name


class Operation:
    """The producer of a tensor: its name, its axes and the tensors it reads."""

    def __init__(self, name: str, axis: Sequence[IterVar], reduce_axis: Sequence[IterVar] = (), tag: str = ""):
        self.name, self.tag = name, tag
        self.axis, self.reduce_axis = list(axis), list(reduce_axis)

    @property
    def input_tensors(self) -> list[Tensor]:
        """The distinct tensors that it reads."""
        return []

    def output(self, index: int = 0) -> Tensor:
        """Returns its only output. Raises `InputError` if `index` is not 0."""
        if index != 0:
            raise InputError(f"{self.name} has no output {index}", help="it has one output, number 0")
        return self.tensor

    tensor: Tensor
    """The tensor that it produces."""

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.name})"


class PlaceholderOp(Operation):
    """A tensor that is passed to the program."""


class ComputeOp(Operation):
    """A tensor whose element at the axes is `body`."""

    def __init__(self, name: str, axis: Sequence[IterVar], body: PrimExpr, tag: str):
        super().__init__(name, axis, body.axes if isinstance(body, Reduce) else (), tag)
        self.body = body
        self._inputs = dict.fromkeys(_checked_reads(self))

    @property
    def input_tensors(self) -> list[Tensor]:
        """The distinct tensors that the body reads."""
        return list(self._inputs)


class Tensor:
    """A tensor; in the expression of a compute, `A[i, j]` is an element."""

    def __init__(self, shape: Sequence[int], dtype: str, op: Operation):
        self.shape, self.dtype, self.op = tuple(shape), dtype, op

    @property
    def name(self) -> str:
        """The name of its producer."""
        return self.op.name

    @property
    def ndim(self) -> int:
        """The number of axes."""
        return len(self.shape)

    def __call__(self, *indices: object) -> PrimExpr:
        """Returns the element at indices."""
        if len(indices) != len(self.shape):
            raise InputError(f"{self.name} has {len(self.shape)} axes, got {len(indices)} indices",
                             help="write one index for each axis")  # fmt: skip
        return TensorRead(self, tuple(_index(self, item) for item in indices))

    def __getitem__(self, indices: object) -> PrimExpr:
        """Returns the element at indices."""
        return self(*cast("tuple[object, ...]", indices)) if isinstance(indices, tuple) else self(indices)

    def __iter__(self) -> None:
        """Raises `InputError`: a tensor is read at indices."""
        raise InputError(f"{self.name} is not a sequence", help="index it in a compute: A[i]")

    def __repr__(self) -> str:
        return f"Tensor({self.name}, shape={list(self.shape)}, dtype={self.dtype})"


class TensorRead(PrimExpr):
    """The element of a tensor at indices."""

    def __init__(self, tensor: Tensor, indices: tuple[PrimExpr, ...]):
        super().__init__(tensor.dtype, *indices)
        self.tensor, self.indices = tensor, indices


def _index(tensor: Tensor, item: object) -> PrimExpr:
    value = const(item) if isinstance(item, (PrimExpr, int)) else None
    if value is None or not value.dtype.startswith(("int", "uint")):
        raise InputError(
            f"{item!r} is not an index of {tensor.name}", help="indices are integers, and axes of a compute"
        )
    return value


def placeholder(shape: Sequence[int], dtype: DTypeLike = "float32", name: str = "placeholder") -> Tensor:
    """Returns a tensor that is passed to the program."""
    extents = _shape(shape)
    op = PlaceholderOp(name, [])
    op.tensor = Tensor(extents, dtype_name(dtype), op)
    return op.tensor


def reduce_axis(dom: Sequence[int], name: str = "rv") -> IterVar:
    """Returns a reduction axis with range `(0, extent)`. Raises `InputError` if it does not begin at 0."""
    begin, end = (0, dom) if isinstance(dom, int) else tuple(dom)
    (extent,) = _shape((end,))
    if begin != 0:
        raise InputError(
            f"reduction axis {name!r} runs from {begin}", help="axes start at 0; add the offset to the index"
        )
    return IterVar(name, extent, is_reduction=True)


def compute(shape: Sequence[int], fcompute: Callable[..., object], name: str = "compute", tag: str = "") -> Tensor:
    """Returns the tensor of `shape` whose element at `i, j, …` is `fcompute(i, j, …)`.

    Axes are named after the function's parameters. Raises `InputError` if the function takes another number of axes or
    does not return a scalar expression, and for a reduction inside another expression.
    """
    extents = _shape(shape)
    axes = [IterVar(axis, extent) for axis, extent in zip(_axis_names(fcompute, len(extents)), extents, strict=True)]
    result = fcompute(*axes)
    if not isinstance(result, (PrimExpr, int, float)):
        raise InputError(f"compute {name!r} returns {result!r}", help="return one scalar expression, such as A[i] + 1")
    op = ComputeOp(name, axes, const(result), tag)
    op.tensor = Tensor(extents, op.body.dtype, op)
    return op.tensor


def var(name: str = "tindex", dtype: DTypeLike = INDEX) -> Dim:
    """Returns the named dimension `name` for types of Relay, with arithmetic on extents: `(n, n + 1)`.

    Dimensions of one name are equal, whatever their `dtype`. Tensors of `te` have static extents and refuse it.
    """
    if not is_dim_name(name):
        raise InputError(f"a dimension cannot be called {name!r}", help="write a name such as n or batch_size")
    return symbol(name)


def size_var(name: str = "size", dtype: DTypeLike = INDEX) -> Dim:
    """Same as `var`: named dimensions are never negative."""
    return var(name, dtype)


def _shape(shape: Sequence[Dim]) -> tuple[int, ...]:
    try:
        extents = tuple(_number(extent) for extent in shape)
    except TypeError as error:
        raise InputError(f"the shape is {shape!r}", help="pass a sequence of integers such as (1, 3)") from error
    if any(extent < 0 for extent in extents):
        raise InputError(f"the shape is {shape!r}", help="extents are non-negative integers")
    return extents


def _axis_names(fcompute: Callable[..., object], count: int) -> list[str]:
    """Returns a name for each axis: that of the parameter, or `i0, i1, …` for `*indices`."""
    try:
        parameters = list(inspect.signature(fcompute).parameters.values())
    except (TypeError, ValueError) as error:
        raise InputError(
            f"{fcompute!r} is not a function of axes", help="write e.g. lambda i, j: A[i, j] + 1"
        ) from error
    variadic = any(one.kind is inspect.Parameter.VAR_POSITIONAL for one in parameters)
    names = [one.name for one in parameters if one.kind is inspect.Parameter.POSITIONAL_OR_KEYWORD]
    if not variadic and len(names) != count:
        raise InputError(f"the function of a compute takes {len(names)} axes, the shape has {count}",
                         help="write one parameter per axis, or *indices")  # fmt: skip
    return names[:count] + [f"i{number}" for number in range(len(names), count)]


def _checked_reads(op: ComputeOp) -> list[Tensor]:
    """Returns the tensors that the body reads. Raises `InputError` for foreign axes and nested reductions."""
    known = {*op.axis, *op.reduce_axis}
    found: list[Tensor] = []
    seen: set[PrimExpr] = set()
    stack: list[PrimExpr] = [op.body]
    while stack:
        expr = stack.pop()
        if expr in seen:
            continue
        seen.add(expr)
        if isinstance(expr, Reduce) and expr is not op.body:
            raise InputError(f"compute {op.name!r} uses a reduction inside an expression",
                             help="reduce in a separate compute and read its result")  # fmt: skip
        if isinstance(expr, IterVar) and expr not in known:
            raise InputError(f"compute {op.name!r} uses axis {expr.name!r}, which is not one of its own axes",
                             help="reduce over it: te.sum(…, axis=k)")  # fmt: skip
        if isinstance(expr, TensorRead):
            found.append(expr.tensor)
        stack.extend(reversed(expr.operands))
    return found


def _number(extent: Dim) -> int:
    if isinstance(extent, DimExpr):
        raise InputError(f"the extent '{extent}' is not static", help="pass an integer")
    return integer(extent)
