"""Relay's types under Relay's names: tensors, tuples and functions."""

from __future__ import annotations

from collections.abc import Sequence
from operator import index as integer
from typing import TypeAlias, cast

from numpy.typing import DTypeLike
from xdsl.dialects.builtin import FunctionType
from xdsl.dialects.builtin import TensorType as BuiltinTensorType
from xdsl.dialects.builtin import TupleType as BuiltinTupleType
from xdsl.ir import Attribute, TypeAttribute

from xrelay.dialects.shared.dtypes import element_type
from xrelay.dialects.shared.types import IncompleteType as BuiltinIncompleteType
from xrelay.dialects.shared.types import tensor_type
from xrelay.errors import InputError
from xrelay.index_algebra.dims import ANY, Dim, DimExpr, is_dim_name, symbol
from xrelay.relay.type_views import FuncTypeView, TensorTypeView, TupleTypeView, TypeView, as_plain, plain_type

Extent: TypeAlias = "Dim | str | None"
"""A dimension in user code: a number, an expression, a name, `relay.Any()`, or None, which equals `relay.Any()`."""


def Any() -> Dim:  # noqa: N802 (Relay's name)
    """Returns the unknown extent, Relay's Any."""
    return ANY


def tensor(shape: Sequence[Extent], dtype: DTypeLike = "float32") -> Attribute:
    """Returns the tensor type of `shape`. A string in it is a named dimension."""
    try:
        extents = [] if isinstance(shape, str) else list(shape)
    except TypeError:
        extents = None
    if extents is None or isinstance(shape, str):
        raise InputError(f"the shape is {shape!r}", help="it is a sequence of extents, such as (1, 3)")
    return tensor_type([_dim(extent) for extent in extents], element_type(dtype))


def scalar_type(dtype: DTypeLike) -> TensorTypeView:
    """Returns the type of a scalar tensor."""
    return TensorTypeView(tensor((), dtype))


class _Kind(type):
    """The metaclass of classes that create xDSL types; `isinstance` tests whether a type is of the class's kind."""

    KIND: type[Attribute]

    def __instancecheck__(cls, instance: object) -> bool:
        return isinstance(plain_type(instance), cls.KIND)


class TensorType(metaclass=_Kind):
    """`TensorType(shape, dtype)`, the same as `tensor`. Tensor types are instances."""

    KIND = BuiltinTensorType

    def __new__(cls, shape: Sequence[Extent], dtype: DTypeLike = "float32") -> TensorTypeView:
        """Returns the tensor type of `shape`."""
        return TensorTypeView(tensor(shape, dtype))


class TupleType(metaclass=_Kind):
    """`TupleType(fields)`: the type of tuples with fields of these types. Tuple types are instances."""

    KIND = BuiltinTupleType

    def __new__(cls, fields: Sequence[Attribute | TypeView]) -> TupleTypeView:
        """Returns the tuple type of `fields`."""
        return TupleTypeView(BuiltinTupleType(tuple(cast(TypeAttribute, as_plain(field)) for field in fields)))


class FuncType(metaclass=_Kind):
    """`FuncType(arg_types, ret_type)`: the type of functions between these types. Function types are instances."""

    KIND = FunctionType

    def __new__(
        cls,
        arg_types: Sequence[Attribute | TypeView],
        ret_type: Attribute | TypeView,
        type_params: Sequence[object] = (),
    ) -> FuncTypeView:
        """Returns the function type. Raises `InputError` for type parameters, which are not supported."""
        if type_params:
            raise InputError("functions here have no type parameters", help="write the types, or infer them")
        return FuncTypeView(FunctionType.from_lists([as_plain(each) for each in arg_types], [as_plain(ret_type)]))


class IncompleteType(metaclass=_Kind):
    """`IncompleteType()`: the type of any kind that is not inferred yet. It is the only instance."""

    KIND = BuiltinIncompleteType

    def __new__(cls, kind: object = None) -> Attribute:
        """Returns the incomplete type."""
        return BuiltinIncompleteType()


def TypeVar(name: str, kind: object = None) -> Attribute:  # noqa: N802 (Relay's name)
    """Raises `InputError`: functions are not polymorphic in types, only in named dimensions."""
    raise InputError(
        f"type variables such as {name!r} are not supported",
        help="omit types to infer them, or name a dimension: relay.TensorType(('n', 4))",
    )


def _dim(extent: Extent) -> Dim:
    if extent is None or isinstance(extent, DimExpr):
        return ANY if extent is None else extent
    if isinstance(extent, str):
        if not is_dim_name(extent):
            raise InputError(f"a dimension cannot be called {extent!r}", help="write a name such as n or batch_size")
        return symbol(extent)
    try:
        number = integer(extent)
    except TypeError:
        number = -1
    if number < 0:
        raise InputError(f"{extent!r} is not an extent", help="it is a number from 0, a name, or relay.Any()")
    return number
