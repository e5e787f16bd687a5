"""Expressions: handles on SSA values with Python operators.

An expression refers to a result of an op that is in no block. `relay.Function` copies the ops that its body needs into
a function, so expressions can be shared and reused. Inside xDSL's `ImplicitBuilder`, the same calls insert their ops
into the builder's block. `nodes.py` has the classes for the kinds of expressions.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from importlib import import_module
from operator import index as integer
from typing import Any, TypeAlias, TypeVar, cast

import numpy as np
from numpy.typing import ArrayLike, DTypeLike
from xdsl.dialects.builtin import FunctionType, LocationAttr, TensorType, TupleType
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Attribute, Block, Operation, OpResult, Region, SSAValue

from xrelay.api.arrays import as_numpy, in_32_bits
from xrelay.dialects.relay.core.attribute_values import AttributeValue
from xrelay.dialects.relay.core.op_base import RelayOp
from xrelay.dialects.relay.ops.tensor.arithmetic import AddOp, DivideOp, MultiplyOp, PowerOp, SubtractOp
from xrelay.dialects.relay.ops.tensor.cast import CastOp
from xrelay.dialects.relay.ops.tensor.compare import GreaterEqualOp, GreaterOp, LessEqualOp, LessOp
from xrelay.dialects.relay.ops.tensor.unary import AbsOp, NegativeOp
from xrelay.dialects.relay.structure.constant import ConstantOp
from xrelay.dialects.relay.structure.function import InvokeOp
from xrelay.dialects.relay.structure.tuples import TupleGetItemOp, TupleOp, field_count
from xrelay.dialects.relay.structure.weights import Array
from xrelay.dialects.shared.dtypes import element_type, numpy_dtype
from xrelay.dialects.shared.types import IncompleteType, is_complete, shape_of
from xrelay.errors import InputError, with_article
from xrelay.index_algebra.dims import Shape
from xrelay.relay.copies import copy_into
from xrelay.relay.graph import VarBlock, detach, free_variables, variable_name
from xrelay.relay.types import Extent, TypeView, as_plain, plain_type, tensor, type_view

_UNTYPED = "specify the types of its variables, or infer those of a module: transform.InferType()(module)"

ExprLike: TypeAlias = "Expr | SSAValue | Operation | ArrayLike | Sequence[ExprLike]"
"""Everything that converts to an expression: xDSL values, numbers and arrays (constants), sequences (tuples)."""

ExprT = TypeVar("ExprT", bound="Expr")


class LengthError(InputError, TypeError):
    """An expression that is not a tuple has no length."""


def _operator(op: type[RelayOp]) -> Callable[[Expr, ExprLike], Expr]:
    return lambda self, other: call(op, self, other)


def _reflected(op: type[RelayOp]) -> Callable[[Expr, ExprLike], Expr]:
    return lambda self, other: call(op, other, self)


class Expr:
    """An expression, a handle on `ssa_value`. Expressions of the same value are equal."""

    # Otherwise numpy would treat an expression as a scalar and apply `array * expression` to each element.
    __array_ufunc__ = None

    def __init__(self, value: SSAValue):
        self._ssa_value = value

    @property
    def ssa_value(self) -> SSAValue:
        """The SSA value of the expression."""
        return self._ssa_value

    @property
    def value(self) -> Any:
        """`ssa_value`; for a let, as in Relay, the expression that it binds."""
        return self.ssa_value

    @property
    def type(self) -> Attribute:
        """The type known so far; `!relay.incomplete` before inference."""
        return self.ssa_value.type

    @property
    def shape(self) -> Shape:
        """The shape. Raises `InputError` if the type is not a known tensor type."""
        return shape_of(self._tensor_type())

    @property
    def dtype(self) -> np.dtype:
        """The element type. Raises `InputError` if the type is not a known tensor type."""
        return numpy_dtype(self._tensor_type().element_type)

    def _tensor_type(self) -> TensorType[Attribute]:
        if not isinstance(self.type, TensorType):
            raise InputError(f"the expression has type {self.type}, not that of a tensor", help=_UNTYPED)
        return self.type

    @property
    def checked_type(self) -> TypeView:
        """The complete type with Relay's interface. Raises `InputError` if it is not yet inferred."""
        if not is_complete(self.type):
            raise InputError(f"the expression has type {self.type}, which inference has not completed", help=_UNTYPED)
        return type_view(self.type)

    @property
    def span(self) -> LocationAttr | None:
        """The source location; None for a variable."""
        return self.ssa_value.op.location if isinstance(self.ssa_value, OpResult) else None

    def same_as(self, other: object) -> bool:
        """Returns whether both refer to the same value."""
        return self == other

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Expr) and self._key() is other._key()

    def __hash__(self) -> int:
        return hash(self._key())

    def _key(self) -> object:
        """Returns the object whose identity defines equality of expressions."""
        return self.ssa_value

    def __call__(self, *arguments: ExprLike) -> Expr:
        """Calls the function that the expression evaluates to. Raises `InputError` for a tensor."""
        return invoke(self, *arguments)

    # --- operators -------------------------------------------------------------------------------------------------

    __add__, __radd__ = _operator(AddOp), _reflected(AddOp)
    __sub__, __rsub__ = _operator(SubtractOp), _reflected(SubtractOp)
    __mul__, __rmul__ = _operator(MultiplyOp), _reflected(MultiplyOp)
    __truediv__, __rtruediv__ = _operator(DivideOp), _reflected(DivideOp)
    __pow__, __rpow__ = _operator(PowerOp), _reflected(PowerOp)
    __lt__, __le__ = _operator(LessOp), _operator(LessEqualOp)
    __gt__, __ge__ = _operator(GreaterOp), _operator(GreaterEqualOp)

    def __abs__(self) -> Expr:
        return call(AbsOp, self)

    def __neg__(self) -> Expr:
        return call(NegativeOp, self)

    def astype(self, dtype: DTypeLike) -> Expr:
        """Returns the expression cast to another element type."""
        return call(CastOp, self, dtype=element_type(dtype))

    # --- tuples ----------------------------------------------------------------------------------------------------

    def __getitem__(self, index: int) -> Expr:
        """Returns field `index` of a tuple. A negative index counts from the end if the number of fields is known."""
        try:
            number = integer(index)
        except TypeError as error:
            raise InputError(
                f"{index!r} is not an index of a tuple's field", help="relay.split splits a tensor"
            ) from error
        count = field_count(self.ssa_value)
        return call(TupleGetItemOp, self, index=number + count if number < 0 and count is not None else number)

    def astuple(self) -> Expr:
        """Returns the tuple itself, for programs that convert the result of an operator with several results."""
        return self

    def __iter__(self) -> Iterator[Expr]:
        """Iterates over the fields of a tuple. Raises `InputError` if their number is unknown."""
        count = field_count(self.ssa_value)
        if count is None:
            raise InputError(f"an expression of type {self.type} has no fields to unpack", help="index it instead")
        return iter([self[index] for index in range(count)])

    def __len__(self) -> int:
        """Returns the number of fields of a tuple. Raises `LengthError`, also a `TypeError`, if it is not known."""
        count = field_count(self.ssa_value)
        if count is None:
            raise LengthError(f"an expression of type {self.type} has no fields to count", help="shape has the extents")
        return count

    def __bool__(self) -> bool:
        """Returns True, so that programs can test for a missing operand by `if not weight:`."""
        return True

    @classmethod
    def of_value(cls, value: SSAValue) -> Expr:
        """Returns the expression of this class for `value`."""
        node = cls.__new__(cls)
        Expr.__init__(node, value)
        return node

    # --- text ------------------------------------------------------------------------------------------------------

    def astext(self, show_meta_data: bool = True) -> str:
        """Returns the program that computes the expression from its free variables, as text."""
        return str(func_of("main", free_variables(self.ssa_value), [self.ssa_value]))

    def __str__(self) -> str:
        return self.astext() if isinstance(self.ssa_value, OpResult) else repr(self)

    def __repr__(self) -> str:
        return f"{self.ssa_value.name_hint or 'expression'} : {self.type}"


class Var(Expr):
    """A variable: a parameter of the functions whose bodies use it, or the variable of a let."""

    def __init__(self, name_hint: str, type_annotation: Attribute | TypeView | None = None):
        """Creates a variable of a type, or with a type to infer."""
        type = IncompleteType() if type_annotation is None else as_plain(type_annotation)
        super().__init__(VarBlock(name_hint, type).args[0])

    @property
    def name(self) -> str:
        """The name of the variable."""
        return cast(VarBlock, self.ssa_value.owner).name

    @property
    def name_hint(self) -> str:
        """The same as `name`."""
        return self.name

    @property
    def type_annotation(self) -> TypeView | None:
        """The type given at creation; None if it is to be inferred."""
        return None if isinstance(self.type, IncompleteType) else type_view(self.type)


_VIEWS: dict[type[Operation], Callable[[SSAValue], Expr]] = {}


def views(*kinds: type[Operation]) -> Callable[[type[ExprT]], type[ExprT]]:
    """Class decorator: makes the class the expression class for results of these ops."""

    def register(node: type[ExprT]) -> type[ExprT]:
        for kind in kinds:
            _VIEWS[kind] = node.of_value
        return node

    return register


def view(value: SSAValue) -> Expr:
    """Returns `value` as the expression of its kind: a variable, a call, a constant, a tuple and so on."""
    if variable_name(value) is not None:
        return Var.of_value(value)
    if not isinstance(value, OpResult):
        return Expr(value)
    make = next((_VIEWS[kind] for kind in type(value.op).__mro__ if kind in _VIEWS), Expr)
    return make(value)


def func_of(name: str, parameters: Sequence[SSAValue], results: Sequence[SSAValue]) -> FuncOp:
    """Returns a `func.func` that computes `results` by copies of their ops, with `parameters` as its arguments."""
    block = block_for(parameters)
    copies = copy_into(block, results, dict(zip(parameters, block.args, strict=True)))
    block.add_op(detach(ReturnOp(*copies)))
    type = FunctionType.from_lists(list(block.arg_types), [copy.type for copy in copies])
    return FuncOp(name, type, Region(block))


def block_for(parameters: Sequence[SSAValue]) -> Block:
    """Returns a block with an argument for each parameter."""
    block = Block(arg_types=[parameter.type for parameter in parameters])
    for parameter, argument in zip(parameters, block.args, strict=True):
        argument.name_hint = parameter.name_hint
    return block


def _is_text(name: object) -> bool:
    return isinstance(name, str) and bool(name)


class VariableError(InputError, ValueError):
    """A variable with both a type and a shape."""


def var(
    name_hint: str,
    type_annotation: Attribute | TypeView | str | None = None,
    shape: Sequence[Extent] | None = None,
    dtype: DTypeLike = "float32",
) -> Var:
    """Returns a variable called `name_hint`, of the given type or of `shape` and `dtype`; else its type is inferred.

    A dtype name as type is the type of a scalar. Raises `VariableError`, also a `ValueError`, if both a type and a
    shape are given. Raises `InputError` for an invalid extent or type and for an empty name.
    """
    if not _is_text(name_hint):
        raise InputError(f"a variable cannot be called {name_hint!r}", help="its name is a string that is not empty")
    if type_annotation is not None and shape is not None:
        raise VariableError(f"variable {name_hint!r} has both a type and a shape", help="pass one of them")
    if shape is not None:
        return Var(name_hint, tensor(shape, dtype))
    if isinstance(type_annotation, str):
        return Var(name_hint, tensor((), type_annotation))
    return Var(name_hint, _as_type(name_hint, type_annotation))


def _as_type(name: str, given: object) -> Attribute | None:
    type = plain_type(given)
    if type is not None and not isinstance(type, Attribute):
        hint = "pass relay.TensorType(shape, dtype), or shape="
        raise InputError(f"variable {name!r} has the type {type!r}, which is not a type", help=hint)
    return type


def const(value: ArrayLike, dtype: DTypeLike | None = None, *, name: str = "constant") -> Expr:
    """Returns a constant. Without `dtype`, arrays keep theirs; Python floats are float32, integers int32 if they fit.

    An object with `numpy()` or `asnumpy()` is converted by it. Raises `InputError` if the value is neither a number nor
    an array of numbers, or does not fit `dtype`.
    """
    wanted = None if dtype is None else numpy_dtype(element_type(dtype))
    try:
        value = as_numpy(value)
        array: Array = np.asarray(value, wanted)
    except (ValueError, TypeError, OverflowError) as error:
        raise InputError(f"{value!r} is not a constant: {error}") from error
    if array.dtype.hasobject or array.dtype.kind in "USMm":
        kind = with_article(type(value).__name__)
        raise InputError(f"{kind} is neither an expression nor a number or array of them: {value!r}")
    if dtype is None and (isinstance(value, float) or not isinstance(value, (np.ndarray, np.generic))):
        array = in_32_bits(array)
    return view(ConstantOp.of(array, name).result)


def as_value(item: ExprLike, like: Attribute | None = None) -> SSAValue:
    """Returns the SSA value of an operand. Numbers become constants of the element type of `like`."""
    if isinstance(item, Expr):
        return item.ssa_value
    if isinstance(item, (SSAValue, Operation)):
        return SSAValue.get(item)
    if isinstance(item, (list, tuple)):
        parts = cast("Sequence[ExprLike]", item)
        if any(isinstance(part, (Expr, SSAValue, Operation)) for part in parts):
            return tuple_of(parts).ssa_value
    is_number = isinstance(item, (int, float))
    dtype = numpy_dtype(like.element_type) if is_number and isinstance(like, TensorType) else None
    if dtype is not None and dtype.kind in "iub" and isinstance(item, float):
        raise InputError(f"the number {item!r} is not of the tensor's dtype {dtype}", help="cast the tensor first")
    return const(cast(ArrayLike, item), dtype).ssa_value


def tuple_of(fields: Sequence[ExprLike]) -> Expr:
    """Returns the tuple of `fields`."""
    return view(TupleOp.call(*(as_value(item) for item in fields)).result)


def call(op: type[RelayOp], *operands: ExprLike, **attributes: AttributeValue) -> Expr:
    """Applies the operator to `operands`; returns the expression of its result. Raises `ConstraintError`."""
    tensors = (item for item in operands if isinstance(item, (Expr, SSAValue, Operation)))
    like = next((as_value(item).type for item in tensors), None)
    types = (own if (own := op.number_type(index)) is not None else like for index in range(len(operands)))
    values = [as_value(item, type) for item, type in zip(operands, types, strict=True)]
    return view(op.call(*values, **attributes).results[0])


def invoke(callee: ExprLike, *arguments: ExprLike) -> Expr:
    """Calls a function value with `arguments`. Raises `InputError` if the callee is a tensor or a tuple."""
    function = as_value(callee)
    type = function.type
    if isinstance(type, (TensorType, TupleType)):
        raise InputError(f"the expression has type {type}, not that of a function", help="only functions can be called")
    result: Attribute = type.outputs.data[0] if isinstance(type, FunctionType) else IncompleteType()
    return view(InvokeOp(function, [as_value(argument) for argument in arguments], result).result)


def __getattr__(name: str) -> Any:
    """Returns a class for a kind of expression, which Relay has here: `relay.expr.Call` is `relay.Call`."""
    if name not in _KINDS:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module("xrelay.relay.nodes"), name)


_KINDS = ("Call", "Constant", "GlobalVar", "If", "Let", "Tuple", "TupleGetItem", "TupleWrapper")
