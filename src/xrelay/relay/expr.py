"""Expressions: handles on SSA values that read like Python.

An expression stands for a value of an op that is in no block yet; `relay.Function` collects what its body needs and
copies it into a function, so expressions can be shared and used again. Inside xDSL's `ImplicitBuilder` the same calls
put their ops into the builder's block at once. The classes by kind of expression are in `nodes.py`.
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
from xrelay.dialects.relay.core.dtypes import element_type, numpy_dtype
from xrelay.dialects.relay.core.op_base import RelayOp
from xrelay.dialects.relay.core.types import IncompleteType, is_complete, shape_of
from xrelay.dialects.relay.ops.tensor_compare import GreaterEqualOp, GreaterOp, LessEqualOp, LessOp
from xrelay.dialects.relay.ops.tensor_elementwise import AddOp, CastOp, DivideOp, MultiplyOp, PowerOp, SubtractOp
from xrelay.dialects.relay.ops.tensor_unary import AbsOp, NegativeOp
from xrelay.dialects.relay.structure.constant import ConstantOp
from xrelay.dialects.relay.structure.function import InvokeOp
from xrelay.dialects.relay.structure.tuples import TupleGetItemOp, TupleOp, field_count
from xrelay.dialects.relay.structure.weights import Array
from xrelay.errors import InputError, with_article
from xrelay.index_algebra.dims import Shape
from xrelay.relay.copies import copy_into
from xrelay.relay.graph import VarBlock, detached, free_variables, variable_name
from xrelay.relay.type_views import TypeView, as_plain, plain_type, type_view
from xrelay.relay.types import Extent, tensor

_UNTYPED = "give its variables types, or infer those of a module: transform.InferType()(module)"

ExprLike: TypeAlias = "Expr | SSAValue | Operation | ArrayLike | Sequence[ExprLike]"
"""What stands for an expression: also values of xDSL, numbers and arrays (constants), sequences (tuples)."""

ExprT = TypeVar("ExprT", bound="Expr")


class LengthError(InputError, TypeError):
    """An expression has no length, for it is no tuple."""


class Expr:
    """An expression: `ssa_value` is the SSA value it stands for. Expressions of one value are equal."""

    # Without it numpy would take an expression for a number and apply `array * expression` element by element.
    __array_ufunc__ = None

    def __init__(self, value: SSAValue):
        self._ssa_value = value

    @property
    def ssa_value(self) -> SSAValue:
        """The SSA value."""
        return self._ssa_value

    @property
    def value(self) -> Any:
        """As `ssa_value`; of a let, as in Relay, the expression that it binds."""
        return self.ssa_value

    @property
    def type(self) -> Attribute:
        """The type known so far; `!relay.incomplete` where inference has to find it."""
        return self.ssa_value.type

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

    @property
    def checked_type(self) -> TypeView:
        """The type by Relay's names, known completely; `InputError` where inference has yet to find it."""
        if not is_complete(self.type):
            raise InputError(f"the expression has type {self.type}, which inference has not completed", help=_UNTYPED)
        return type_view(self.type)

    @property
    def span(self) -> LocationAttr | None:
        """The place in a source that it comes from; None for a variable."""
        return self.ssa_value.op.location if isinstance(self.ssa_value, OpResult) else None

    def same_as(self, other: object) -> bool:
        """Whether both stand for the same value."""
        return self == other

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Expr) and self._key() is other._key()

    def __hash__(self) -> int:
        return hash(self._key())

    def _key(self) -> object:
        """What makes two handles the same expression."""
        return self.ssa_value

    def __call__(self, *arguments: ExprLike) -> Expr:
        """The value at `arguments` of the function that the expression stands for; `InputError` for a tensor."""
        return invoke(self, *arguments)

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

    def astype(self, dtype: DTypeLike) -> Expr:
        """The expression cast to another element type."""
        return call(CastOp, self, dtype=element_type(dtype))

    # --- tuples ----------------------------------------------------------------------------------------------------

    def __getitem__(self, index: int) -> Expr:
        """Field `index` of a tuple; a negative one counts from the end where the number of fields is known."""
        try:
            number = integer(index)
        except TypeError as error:
            raise InputError(
                f"{index!r} is no index of a tuple's field", help="relay.split takes a tensor apart"
            ) from error
        count = field_count(self.ssa_value)
        return call(TupleGetItemOp, self, index=number + count if number < 0 and count is not None else number)

    def astuple(self) -> Expr:
        """The tuple itself: Relay's programs ask operators of several results for theirs."""
        return self

    def __iter__(self) -> Iterator[Expr]:
        """The fields of a tuple, whose type is known or which an operator gives that always has as many."""
        count = field_count(self.ssa_value)
        if count is None:
            raise InputError(f"an expression of type {self.type} has no fields to unpack", help="index it instead")
        return iter([self[index] for index in range(count)])

    def __len__(self) -> int:
        """How many fields a tuple has, as far as is known; `InputError`, which is a `TypeError` too, for a tensor."""
        count = field_count(self.ssa_value)
        if count is None:
            raise LengthError(f"an expression of type {self.type} has no fields to count", help="shape has the extents")
        return count

    def __bool__(self) -> bool:
        """An expression is something: `if not weight:` asks whether it is None."""
        return True

    @classmethod
    def of_value(cls, value: SSAValue) -> Expr:
        """The expression of this class that `value` is."""
        node = cls.__new__(cls)
        Expr.__init__(node, value)
        return node

    # --- text ------------------------------------------------------------------------------------------------------

    def astext(self, show_meta_data: bool = True) -> str:
        """The program that computes the expression from its free variables, as text."""
        return str(func_of("main", free_variables(self.ssa_value), [self.ssa_value]))

    def __str__(self) -> str:
        return self.astext() if isinstance(self.ssa_value, OpResult) else repr(self)

    def __repr__(self) -> str:
        return f"{self.ssa_value.name_hint or 'expression'} : {self.type}"


class Var(Expr):
    """A variable: a parameter of the functions whose bodies use it, or what a let binds."""

    def __init__(self, name_hint: str, type_annotation: Attribute | TypeView | None = None):
        """A variable of a type; without one its type is to be inferred."""
        type = IncompleteType() if type_annotation is None else as_plain(type_annotation)
        super().__init__(VarBlock(name_hint, type).args[0])

    @property
    def name(self) -> str:
        """The name it was given."""
        return cast(VarBlock, self.ssa_value.owner).name

    @property
    def name_hint(self) -> str:
        """As `name`."""
        return self.name

    @property
    def type_annotation(self) -> TypeView | None:
        """The type it was given; None where it is to be inferred."""
        return None if isinstance(self.type, IncompleteType) else type_view(self.type)


_VIEWS: dict[type[Operation], Callable[[SSAValue], Expr]] = {}


def views(*kinds: type[Operation]) -> Callable[[type[ExprT]], type[ExprT]]:
    """Class decorator: results of ops of these classes are expressions of this class."""

    def register(node: type[ExprT]) -> type[ExprT]:
        for kind in kinds:
            _VIEWS[kind] = node.of_value
        return node

    return register


def view(value: SSAValue) -> Expr:
    """`value` as the expression it is: a variable, a call, a constant, a tuple and so on."""
    if variable_name(value) is not None:
        return Var.of_value(value)
    if not isinstance(value, OpResult):
        return Expr(value)
    make = next((_VIEWS[kind] for kind in type(value.op).__mro__ if kind in _VIEWS), Expr)
    return make(value)


def func_of(name: str, parameters: Sequence[SSAValue], results: Sequence[SSAValue]) -> FuncOp:
    """A `func.func` with arguments for variables that computes `results`, of copies."""
    block = block_for(parameters)
    copies = copy_into(block, results, dict(zip(parameters, block.args, strict=True)))
    block.add_op(detached(ReturnOp(*copies)))
    type = FunctionType.from_lists(list(block.arg_types), [copy.type for copy in copies])
    return FuncOp(name, type, Region(block))


def block_for(parameters: Sequence[SSAValue]) -> Block:
    """A block with an argument for every parameter."""
    block = Block(arg_types=[parameter.type for parameter in parameters])
    for parameter, argument in zip(parameters, block.args, strict=True):
        argument.name_hint = parameter.name_hint
    return block


def _is_text(name: object) -> bool:
    return isinstance(name, str) and bool(name)


class VariableError(InputError, ValueError):
    """A variable is given a type and a shape."""


def var(
    name_hint: str,
    type_annotation: Attribute | TypeView | str | None = None,
    shape: Sequence[Extent] | None = None,
    dtype: DTypeLike = "float32",
) -> Var:
    """A variable called `name_hint`, of a given type or of `shape` and `dtype`; else its type is to be inferred.

    A type that is the name of a dtype is that of scalars. Raises `VariableError`, which is a `ValueError` too, where
    both a type and a shape are given, and `InputError` for an extent or a type that is none, and without a name.
    """
    if not _is_text(name_hint):
        raise InputError(f"a variable cannot be called {name_hint!r}", help="its name is a text that is not empty")
    if type_annotation is not None and shape is not None:
        raise VariableError(f"variable {name_hint!r} is given a type and a shape", help="give one of them")
    if shape is not None:
        return Var(name_hint, tensor(shape, dtype))
    if isinstance(type_annotation, str):
        return Var(name_hint, tensor((), type_annotation))
    return Var(name_hint, _as_type(name_hint, type_annotation))


def _as_type(name: str, given: object) -> Attribute | None:
    type = plain_type(given)
    if type is not None and not isinstance(type, Attribute):
        hint = "give relay.TensorType(shape, dtype), or shape="
        raise InputError(f"variable {name!r} has the type {type!r}, which is none", help=hint)
    return type


def const(value: ArrayLike, dtype: DTypeLike | None = None, *, name: str = "constant") -> Expr:
    """A constant. Without `dtype` arrays keep theirs; Python's floats are float32, its integers int32 where they fit.

    What has `numpy()` or `asnumpy()` is the array that this gives. Raises `InputError` for what is neither a number nor
    an array of numbers, or does not fit `dtype`.
    """
    wanted = None if dtype is None else numpy_dtype(element_type(dtype))
    try:
        value = as_numpy(value)
        array: Array = np.asarray(value, wanted)
    except (ValueError, TypeError, OverflowError) as error:
        raise InputError(f"{value!r} is no constant: {error}") from error
    if array.dtype.hasobject or array.dtype.kind in "USMm":
        kind = with_article(type(value).__name__)
        raise InputError(f"{kind} is neither an expression nor a number or array of them: {value!r}")
    if dtype is None and (isinstance(value, float) or not isinstance(value, (np.ndarray, np.generic))):
        array = in_32_bits(array)
    return view(ConstantOp.of(array, name).result)


def as_value(item: ExprLike, like: Attribute | None = None) -> SSAValue:
    """The SSA value of what stands for an expression; numbers become constants of the element type of `like`."""
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
        raise InputError(f"the number {item!r} is not of dtype {dtype}, as the tensor is", help="cast the tensor first")
    return const(cast(ArrayLike, item), dtype).ssa_value


def tuple_of(fields: Sequence[ExprLike]) -> Expr:
    """The tuple of `fields`."""
    return view(TupleOp.call(*(as_value(item) for item in fields)).result)


def call(op: type[RelayOp], *operands: ExprLike, **attributes: AttributeValue) -> Expr:
    """The operator on `operands`: the expression for its result. Raises `ConstraintError` where a rule is broken."""
    tensors = (item for item in operands if isinstance(item, (Expr, SSAValue, Operation)))
    like = next((as_value(item).type for item in tensors), None)
    types = (own if (own := op.number_type(index)) is not None else like for index in range(len(operands)))
    values = [as_value(item, type) for item, type in zip(operands, types, strict=True)]
    return view(op.call(*values, **attributes).results[0])


def invoke(callee: ExprLike, *arguments: ExprLike) -> Expr:
    """The value of a function at `arguments`; `InputError` for a tensor or a tuple, which is none."""
    function = as_value(callee)
    type = function.type
    if isinstance(type, (TensorType, TupleType)):
        raise InputError(f"the expression has type {type}, not that of a function", help="call functions alone")
    result: Attribute = type.outputs.data[0] if isinstance(type, FunctionType) else IncompleteType()
    return view(InvokeOp(function, [as_value(argument) for argument in arguments], result).result)


def __getattr__(name: str) -> Any:
    """The classes by kind of expression, which Relay has here: `relay.expr.Call` is `relay.Call`."""
    if name not in _KINDS:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module("xrelay.relay.nodes"), name)


_KINDS = ("Call", "Constant", "GlobalVar", "If", "Let", "Tuple", "TupleGetItem", "TupleWrapper")
