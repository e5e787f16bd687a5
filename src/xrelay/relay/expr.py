"""Expressions: handles on SSA values that read like Python.

An expression stands for a value of an op that is in no block yet; `relay.Function` collects what its body needs and
copies it into a function, so expressions can be shared and used again. Inside xDSL's `ImplicitBuilder` the same calls
put their ops into the builder's block at once.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from operator import index as integer
from typing import TypeAlias, cast

import numpy as np
from numpy.typing import ArrayLike, DTypeLike
from xdsl.dialects.builtin import TensorType, TupleType
from xdsl.ir import Attribute, Block, Operation, SSAValue

from xrelay.dialects.relay.core.attribute_values import AttributeValue
from xrelay.dialects.relay.core.dtypes import element_type, numpy_dtype
from xrelay.dialects.relay.core.op_base import RelayOp
from xrelay.dialects.relay.core.types import IncompleteType, shape_of, tensor_type
from xrelay.dialects.relay.ops.tensor_compare import GreaterEqualOp, GreaterOp, LessEqualOp, LessOp
from xrelay.dialects.relay.ops.tensor_elementwise import AddOp, DivideOp, MultiplyOp, PowerOp, SubtractOp
from xrelay.dialects.relay.ops.tensor_unary import AbsOp, NegativeOp
from xrelay.dialects.relay.structure.constant import ConstantOp
from xrelay.dialects.relay.structure.tuples import TupleGetItemOp, TupleOp
from xrelay.dialects.relay.structure.weights import Array
from xrelay.errors import InputError, with_article
from xrelay.index_algebra.dims import ANY, Dim, DimExpr, Shape, is_dim_name, symbol

_UNTYPED = "give its variables types, or infer those of a module: transform.InferType()(module)"

Extent: TypeAlias = "Dim | str | None"
"""A dimension as users write it: a number, an expression, a name, `relay.Any()`, or `None`, which means the same."""

ExprLike: TypeAlias = "Expr | SSAValue | Operation | ArrayLike | Sequence[ExprLike]"
"""What stands for an expression: also values of xDSL, numbers and arrays (constants), sequences (tuples)."""


class Expr:
    """An expression: `value` is the SSA value it stands for."""

    value: SSAValue

    # Without it numpy would take an expression for a number and apply `array * expression` element by element.
    __array_ufunc__ = None

    def __init__(self, value: SSAValue):
        self.value = value

    @property
    def type(self) -> Attribute:
        """The type known so far; `!relay.incomplete` where inference has to find it."""
        return self.value.type

    @property
    def shape(self) -> Shape:
        """The shape; `InputError` where the type is not a tensor that is known already."""
        if not isinstance(self.type, TensorType):
            raise InputError(f"the expression has type {self.type}, not that of a tensor", help=_UNTYPED)
        return shape_of(self.type)

    @property
    def dtype(self) -> np.dtype:
        """The element type; `InputError` where the type is not a tensor that is known already."""
        if not isinstance(self.type, TensorType):
            raise InputError(f"the expression has type {self.type}, not that of a tensor", help=_UNTYPED)
        return numpy_dtype(self.type.element_type)

    # --- operators -------------------------------------------------------------------------------------------------

    def __add__(self, other: ExprLike) -> Expr:
        return call(AddOp, self, other)

    def __radd__(self, other: ExprLike) -> Expr:
        return call(AddOp, other, self)

    def __sub__(self, other: ExprLike) -> Expr:
        return call(SubtractOp, self, other)

    def __rsub__(self, other: ExprLike) -> Expr:
        return call(SubtractOp, other, self)

    def __mul__(self, other: ExprLike) -> Expr:
        return call(MultiplyOp, self, other)

    def __rmul__(self, other: ExprLike) -> Expr:
        return call(MultiplyOp, other, self)

    def __truediv__(self, other: ExprLike) -> Expr:
        return call(DivideOp, self, other)

    def __rtruediv__(self, other: ExprLike) -> Expr:
        return call(DivideOp, other, self)

    def __pow__(self, other: ExprLike) -> Expr:
        return call(PowerOp, self, other)

    def __rpow__(self, other: ExprLike) -> Expr:
        return call(PowerOp, other, self)

    def __abs__(self) -> Expr:
        return call(AbsOp, self)

    def __neg__(self) -> Expr:
        return call(NegativeOp, self)

    def __lt__(self, other: ExprLike) -> Expr:
        return call(LessOp, self, other)

    def __le__(self, other: ExprLike) -> Expr:
        return call(LessEqualOp, self, other)

    def __gt__(self, other: ExprLike) -> Expr:
        return call(GreaterOp, self, other)

    def __ge__(self, other: ExprLike) -> Expr:
        return call(GreaterEqualOp, self, other)

    # --- tuples ----------------------------------------------------------------------------------------------------

    def __getitem__(self, index: int) -> Expr:
        """Field `index` of a tuple; a negative one counts from the end where the number of fields is known."""
        try:
            number = integer(index)
        except TypeError as error:
            raise InputError(
                f"{index!r} is no index of a tuple's field", help="relay.split takes a tensor apart"
            ) from error
        if number < 0 and isinstance(self.type, TupleType):
            number += len(self.type.types)
        return call(TupleGetItemOp, self, index=number)

    def __iter__(self) -> Iterator[Expr]:
        """The fields of a tuple whose type is known."""
        if not isinstance(self.type, TupleType):
            raise InputError(f"an expression of type {self.type} has no fields to unpack", help="index it instead")
        return iter([self[index] for index in range(len(self.type.types))])

    def __bool__(self) -> bool:
        """An expression is something: `if not weight:` asks whether it is None."""
        return True

    def __str__(self) -> str:
        return f"{self.value.name_hint or 'expression'} : {self.type}"

    __repr__ = __str__


def _is_text(name: object) -> bool:
    return isinstance(name, str) and bool(name)


class _VarBlock(Block):
    """The block of one argument in which a variable lives until a function binds it."""

    var: Var


class Var(Expr):
    """A variable: a parameter of the functions whose bodies use it."""

    name: str

    def __init__(self, name: str, type: Attribute):
        block = _VarBlock(arg_types=[type])
        block.var = self
        self.name = name
        super().__init__(block.args[0])
        set_name(self.value, name)


def set_name(value: SSAValue, name: str) -> None:
    """Give a value `name` as its name in the text, where it is one that the text can show."""
    if SSAValue.is_valid_name(name):
        value.name_hint = name


def var_of(value: SSAValue) -> Var | None:
    """The variable that `value` stands for."""
    owner = value.owner
    return owner.var if isinstance(owner, _VarBlock) else None


def Any() -> Dim:  # noqa: N802 (Relay's name)
    """The unknown extent, Relay's Any."""
    return ANY


def tensor(shape: Sequence[Extent], dtype: DTypeLike = "float32") -> Attribute:
    """The type of tensors of `shape`; a name in it is a named dimension."""
    try:
        extents = [] if isinstance(shape, str) else list(shape)
    except TypeError:
        extents = None
    if extents is None or isinstance(shape, str):
        raise InputError(f"the shape is {shape!r}", help="it is a sequence of extents, such as (1, 3)")
    return tensor_type([_dim(extent) for extent in extents], element_type(dtype))


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
        raise InputError(f"{extent!r} is no extent", help="it is a number from 0, a name, or relay.Any()")
    return number


def var(
    name: str,
    type_annotation: Attribute | None = None,
    *,
    shape: Sequence[Extent] | None = None,
    dtype: DTypeLike = "float32",
) -> Var:
    """A variable called `name`, of a given type or of `shape` and `dtype`; without them its type is to be inferred.

    Raises `InputError` where both a type and a shape are given, for an extent that is none, and without a name.
    """
    if not _is_text(name):
        raise InputError(f"a variable cannot be called {name!r}", help="its name is a text that is not empty")
    if type_annotation is not None and shape is not None:
        raise InputError(f"variable {name!r} is given a type and a shape", help="give one of them")
    if shape is not None:
        return Var(name, tensor(shape, dtype))
    return Var(name, IncompleteType() if type_annotation is None else type_annotation)


def const(value: ArrayLike, dtype: DTypeLike | None = None, *, name: str = "constant") -> Expr:
    """A constant. Without `dtype` arrays keep theirs; Python's floats are float32, its integers int32 where they fit.

    Raises `InputError` for what is neither a number nor an array of numbers, or does not fit `dtype`.
    """
    wanted = None if dtype is None else numpy_dtype(element_type(dtype))
    try:
        array: Array = np.asarray(value, wanted)
    except (ValueError, TypeError, OverflowError) as error:
        raise InputError(f"{value!r} is no constant: {error}") from error
    if array.dtype.hasobject or array.dtype.kind in "USMm":
        kind = with_article(type(value).__name__)
        raise InputError(f"{kind} is neither an expression nor a number or array of them: {value!r}")
    if dtype is None and not isinstance(value, (np.ndarray, np.generic)):
        array = _narrowed(array)
    return Expr(ConstantOp.of(array, name).result)


def _narrowed(array: Array) -> Array:
    """Python's numbers in 32 bits where they fit."""
    if array.dtype.kind == "f":
        return array.astype(np.float32)
    if array.dtype.kind != "i":
        return array
    limits = np.iinfo(np.int32)
    fits = array.size == 0 or (limits.min <= array.min() and array.max() <= limits.max)
    return array.astype(np.int32) if fits else array


def as_value(item: ExprLike, like: Attribute | None = None) -> SSAValue:
    """The SSA value of what stands for an expression; numbers become constants of the element type of `like`."""
    if isinstance(item, Expr):
        return item.value
    if isinstance(item, (SSAValue, Operation)):
        return SSAValue.get(item)
    if isinstance(item, (list, tuple)):
        parts = cast("Sequence[ExprLike]", item)
        if any(isinstance(part, (Expr, SSAValue, Operation)) for part in parts):
            return Tuple(parts).value
    is_number = isinstance(item, (int, float))
    dtype = numpy_dtype(like.element_type) if is_number and isinstance(like, TensorType) else None
    if dtype is not None and dtype.kind in "iub" and isinstance(item, float):
        raise InputError(f"the number {item!r} is not of dtype {dtype}, as the tensor is", help="cast the tensor first")
    return const(cast(ArrayLike, item), dtype).value


def Tuple(fields: Sequence[ExprLike]) -> Expr:  # noqa: N802 (Relay's name)
    """The tuple of `fields`."""
    return Expr(TupleOp.call(*(as_value(item) for item in fields)).result)


def call(op: type[RelayOp], *operands: ExprLike, **attributes: AttributeValue) -> Expr:
    """The operator on `operands`: the expression for its result. Raises `ConstraintError` where a rule is broken."""
    tensors = (item for item in operands if isinstance(item, (Expr, SSAValue, Operation)))
    like = next((as_value(item).type for item in tensors), None)
    return Expr(op.call(*(as_value(item, like) for item in operands), **attributes).results[0])
