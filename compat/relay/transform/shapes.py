"""`ChangeBatch` and `FlexibleShapeDispatch`: other sizes of an axis of the program's parameters.

Native code accepts dynamic extents, but kernels for a known size are faster. So `FlexibleShapeDispatch` makes `@main`
test the size and call a copy for it.

    mod = transform.ChangeBatch({mod["main"].params[0]: 0}, batch_size=8)(mod)
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from xdsl.dialects.builtin import ModuleOp, TensorType, TupleType
from xdsl.ir import Attribute

from xrelay.dialects.shared.types import element_type_of, shape_of, tensor_type
from xrelay.errors import PassError
from xrelay.index_algebra.dims import Dim, symbol
from xrelay.passes.infra.pass_context import PassContext
from xrelay.passes.infra.pass_info import PassInfo
from xrelay.relay import operators
from xrelay.relay.binding import bind
from xrelay.relay.expr import Expr, Var, const
from xrelay.relay.function import Function
from xrelay.relay.module import IRModule
from xrelay.relay.nodes import GlobalVar, If, Tuple, TupleGetItem
from xrelay.relay.pass_api.named_passes import create_pass
from xrelay.relay.pass_api.passes import ModulePass

NAME = "ChangeBatch"

FALLBACK = "main_any"
"""The function for all other sizes."""

SIZE = "size"
"""The name of the dynamic extent."""


class ChangeBatch(ModulePass):
    """Sets the extent of parameters of `@main` along an axis to `batch_size`, and infers all types again.

    `data` maps parameters to axes. Parameters are names or variables; a variable counts by its name, because
    `mod["main"]` is a copy. Raises `PassError` for a parameter that `@main` does not have, an axis out of range, and a
    size below 1. Raises `TypeInferenceError` if an attribute holds the old extent, such as the shape of a `reshape`.
    """

    def __init__(self, data: Mapping[Var | str, int], batch_size: int = 16):
        super().__init__(PassInfo(0, NAME))
        self._axes = {key.name if isinstance(key, Var) else key: axis for key, axis in data.items()}
        if batch_size < 1:
            raise PassError(f"{NAME}: a batch of {batch_size} has no examples", help="pass a positive size")
        self._size = batch_size

    def transform(self, mod: ModuleOp, ctx: PassContext) -> ModuleOp:
        """Replaces `@main` of the module."""
        infer = create_pass("InferType")
        module = IRModule.of(infer(mod))
        main = module["main"]
        self._require_known(main)
        params = [self._changed(param) if param.name in self._axes else param for param in main.params]
        module["main"] = main.with_parts(params, _body_of(main, params))
        return infer(module)

    def _require_known(self, main: Function) -> None:
        names = [param.name for param in main.params]
        for name in self._axes:
            if name not in names:
                raise PassError(f"{NAME}: @main has no parameter {name!r}", help=f"it has {', '.join(names) or 'none'}")

    def _changed(self, param: Var) -> Var:
        """Returns a variable with the new extent. Raises `PassError` if the axis is out of range."""
        type, axis = param.checked_type.plain, self._axes[param.name]
        if not -_rank(type) <= axis < _rank(type):
            raise PassError(f"{NAME}: {param.name!r} is {type}, which has no axis {axis}")
        return _with_extent(param, axis, self._size)


@dataclass(frozen=True)
class FlexibleShapeDispatch:
    """Makes `@main` accept any extent of `axis`; for each size in `buckets` it calls a copy, `@main_5` and so on.

    Other sizes call `@main_any`, whose extent is dynamic. With `auto_pad`, sizes above the previous bucket and up to a
    bucket are padded to it with `pad_value`. `input_indices` are the parameters with the axis, by default the first.
    With `affects_output` the results have the axis too, and their padding is removed. As in Relay, the pass returns a
    new module, in which the dynamic extent is called `size`. Raises `PassError` if the buckets do not ascend from 1,
    if an index is out of range, or if a parameter does not have the axis.
    """

    buckets: Sequence[int]
    axis: int = 0
    auto_pad: bool = False
    pad_value: float = 0
    input_indices: Sequence[int] | None = None
    affects_output: bool = True

    def __call__(self, mod: ModuleOp) -> IRModule:
        """Returns the module with the dispatch."""
        infer = create_pass("InferType")
        module = IRModule.of(infer(mod))
        main = module["main"]
        chosen = self._dynamic_parameters(main)
        sizes = list(self.buckets)
        if not sizes or sizes[0] < 1 or any(low >= high for low, high in pairwise(sizes)):
            raise PassError(f"FlexibleShapeDispatch: buckets {sizes} do not ascend from 1")
        opened = [_with_extent(param, self.axis, symbol(SIZE)) if param in chosen else param for param in main.params]
        body = self._called(module, main, FALLBACK, symbol(SIZE), opened)
        size = operators.take(operators.shape_of(next(v for v in opened if v not in main.params)), const(self.axis))
        for index, bucket in enumerate(sizes):
            least = sizes[index - 1] if index else 0
            body = self._choice(module, main, bucket, least, size, opened, body)
        module["main"] = Function(opened, body)
        return IRModule.of(infer(module))

    def _dynamic_parameters(self, main: Function) -> list[Var]:
        """Returns the parameters whose extent becomes dynamic."""
        indices = [0] if self.input_indices is None else list(self.input_indices)
        for index in indices:
            if not 0 <= index < len(main.params):
                raise PassError(f"FlexibleShapeDispatch: @main has {len(main.params)} parameters, there is no #{index}")
            if not 0 <= self.axis < _rank(main.params[index].checked_type.plain):
                raise PassError(f"FlexibleShapeDispatch: parameter #{index} of @main has no axis {self.axis}")
        return [main.params[index] for index in indices]

    def _called(self, module: IRModule, main: Function, name: str, extent: Dim, given: Sequence[Expr]) -> Expr:
        """Adds a copy of `@main` for an extent to the module; returns a call of it."""
        chosen = self._dynamic_parameters(main)
        params = [_with_extent(param, self.axis, extent) if param in chosen else param for param in main.params]
        name_of = GlobalVar(name)
        module[name_of] = Function(params, _body_of(main, params))
        return name_of(*given)

    def _choice(
        self, module: IRModule, main: Function, bucket: int, least: int, size: Expr, opened: Sequence[Var], other: Expr
    ) -> Expr:
        """Returns a branch to the copy for a bucket if the size matches, else to `other`."""
        fitted = [new if new in main.params else self._fitted(new, bucket, size) for new in opened]
        result = self._called(module, main, f"main_{bucket}", bucket, fitted)
        if self.affects_output:
            # Without padding this keeps all elements, but gives both branches the same dynamic extent.
            result = _map_fields(result, main.body.checked_type.plain, lambda value, rank: self._cut(value, rank, size))
        if not self.auto_pad:
            return If(operators.equal(size, const(bucket, "int64")), result, other)
        fits = operators.less_equal(size, const(bucket, "int64"))
        return If(operators.logical_and(fits, operators.greater(size, const(least, "int64"))), result, other)

    def _fitted(self, value: Var, bucket: int, size: Expr) -> Expr:
        """Returns an input padded or reshaped to the size of the bucket."""
        shape = shape_of(value.checked_type.plain)
        wanted = [extent if isinstance(extent, int) else -1 for extent in shape]
        wanted[self.axis] = bucket
        if not self.auto_pad:
            return operators.reshape(value, wanted)
        missing = operators.reshape(operators.subtract(const(bucket, "int64"), size), [1])
        before, after = 2 * self.axis + 1, 2 * (len(shape) - self.axis) - 2
        zeros = [const(np.zeros(count, np.int64)) for count in (before, after)]
        widths = operators.concatenate([zeros[0], missing, *zeros[1 : 1 + bool(after)]], 0)
        padded = operators.nn.pad(value, operators.reshape(widths, [len(shape), 2]), self.pad_value)
        # The reshape states the extent before type inference, for the call. Inference would find it from the widths.
        return operators.reshape(padded, wanted)

    def _cut(self, value: Expr, rank: int, size: Expr) -> Expr:
        """Removes the padding from a result."""
        if rank <= self.axis:
            return value
        kept = operators.strided_slice(operators.shape_of(value), [0], [self.axis])
        end = operators.reshape(size, [1])
        end = operators.concatenate([kept, end], 0) if self.axis else end
        return operators.strided_slice(value, const(np.zeros(self.axis + 1, np.int64)), end)


def _map_fields(value: Expr, type: Attribute, change: Callable[[Expr, int], Expr]) -> Expr:
    """Applies `change` to a tensor, or to each field of a tuple of tensors."""
    if not isinstance(type, TupleType):
        return change(value, _rank(type))
    fields = [change(TupleGetItem(value, index), _rank(field)) for index, field in enumerate(type.types)]
    return Tuple(fields)


def _rank(type: Attribute) -> int:
    """Returns the rank of a tensor type, or 0 for any other type."""
    return len(shape_of(type)) if isinstance(type, TensorType) else 0


def _with_extent(param: Var, axis: int, extent: Dim) -> Var:
    """Returns a variable of the same name with another extent along an axis."""
    type = param.checked_type.plain
    shape = list(shape_of(type))
    shape[axis] = extent
    return Var(param.name_hint, tensor_type(shape, element_type_of(type)))


def _body_of(main: Function, params: Sequence[Var]) -> Expr:
    """Returns the body of `main` for other parameters."""
    return bind(main.body, dict(zip(main.params, params, strict=True)))
