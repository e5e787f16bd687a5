"""Relay's types under Relay's names: tensors, tuples and functions, their views, and functors on them.

Expressions, hooks and type classes return views of xDSL types, with Relay's `shape`, `dtype`, `fields`, `arg_types` and
`ret_type`. A view has the equality, hash, text and attributes of its type, and all functions of `relay` that take a
type accept it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from operator import index as integer
from typing import TypeAlias, cast

from numpy.typing import DTypeLike
from xdsl.dialects.builtin import FunctionType
from xdsl.dialects.builtin import TensorType as BuiltinTensorType
from xdsl.dialects.builtin import TupleType as BuiltinTupleType
from xdsl.ir import Attribute, TypeAttribute

from xrelay.dialects.shared.dtypes import element_type, numpy_dtype
from xrelay.dialects.shared.types import IncompleteType as BuiltinIncompleteType
from xrelay.dialects.shared.types import function_type, shape_of, tensor_type, tuple_type
from xrelay.errors import InputError, TensorTypeError
from xrelay.index_algebra.dims import ANY, Dim, DimExpr, Shape, is_dim_name, symbol


class TypeView:
    """A view of the xDSL type `plain`."""

    def __init__(self, plain: Attribute | TypeView):
        self.plain: Attribute = plain.plain if isinstance(plain, TypeView) else plain

    def __getattr__(self, name: str) -> object:
        """Returns an attribute of the xDSL type."""
        if name == "plain":  # not yet set when an instance is copied
            raise AttributeError(name)
        return getattr(self.plain, name)

    def __eq__(self, other: object) -> bool:
        return self.plain == plain_type(other)

    def __hash__(self) -> int:
        return hash(self.plain)

    def __str__(self) -> str:
        return str(self.plain)

    def __repr__(self) -> str:
        return f"<relay type {self.plain}>"


class TensorTypeView(TypeView):
    """A tensor type."""

    @property
    def shape(self) -> Shape:
        """The extents: numbers, expressions over names, or `relay.Any()`."""
        return shape_of(self.plain)

    @property
    def concrete_shape(self) -> tuple[int, ...]:
        """The shape if all extents are static. Raises `TensorTypeError` otherwise."""
        numbers = tuple(extent for extent in self.shape if isinstance(extent, int))
        if len(numbers) != len(self.shape):
            raise TensorTypeError(f"{self} has dynamic extents", help="read shape")
        return numbers

    @property
    def dtype(self) -> str:
        """The name of the element type, such as `float32`."""
        assert isinstance(self.plain, BuiltinTensorType), "made of a type of tensors"
        return numpy_dtype(self.plain.element_type).name


class TupleTypeView(TypeView):
    """A tuple type."""

    @property
    def fields(self) -> list[TypeView]:
        """The types of the fields."""
        assert isinstance(self.plain, BuiltinTupleType), "made of a type of tuples"
        return [type_view(field) for field in self.plain.types.data]


class FuncTypeView(TypeView):
    """A function type."""

    @property
    def arg_types(self) -> list[TypeView]:
        """The types of the parameters."""
        assert isinstance(self.plain, FunctionType), "made of a type of functions"
        return [type_view(each) for each in self.plain.inputs.data]

    @property
    def ret_type(self) -> TypeView:
        """The type of the result; a tuple if a function of a module has several results."""
        assert isinstance(self.plain, FunctionType), "made of a type of functions"
        results = self.plain.outputs.data
        return type_view(results[0] if len(results) == 1 else tuple_type(results))

    @property
    def type_params(self) -> list[TypeView]:
        """Always empty: functions are not polymorphic in types."""
        return []


_VIEWS: tuple[tuple[type[Attribute], Callable[[Attribute], TypeView]], ...] = (
    (BuiltinTensorType, TensorTypeView),
    (BuiltinTupleType, TupleTypeView),
    (FunctionType, FuncTypeView),
)


def type_view(type: Attribute | TypeView) -> TypeView:
    """Returns the view of a type; a view unchanged."""
    if isinstance(type, TypeView):
        return type
    return next((make for kind, make in _VIEWS if isinstance(type, kind)), TypeView)(type)


def plain_type(given: object) -> object:
    """Returns the xDSL type of a view; other objects unchanged."""
    return given.plain if isinstance(given, TypeView) else given


def as_plain(type: Attribute | TypeView) -> Attribute:
    """Returns the xDSL type of a type or a view."""
    return type.plain if isinstance(type, TypeView) else type


def as_plain_or_none(type: Attribute | TypeView | None) -> Attribute | None:
    """The same as `as_plain`, but accepts and returns None."""
    return None if type is None else as_plain(type)


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


_METHODS: tuple[tuple[type[Attribute], str], ...] = (
    (BuiltinTensorType, "visit_tensor_type"),
    (BuiltinTupleType, "visit_tuple_type"),
    (FunctionType, "visit_func_type"),
    (BuiltinIncompleteType, "visit_incomplete_type"),
)


class TypeFunctor:
    """Calls the method for the kind of a type. The methods of this class raise `NotImplementedError`."""

    def visit(self, typ: Attribute | TypeView) -> object:
        """Returns the result of the method for the kind of `typ`. Raises `InputError` for a type unknown to Relay."""
        view = type_view(typ)
        name = next((name for kind, name in _METHODS if isinstance(view.plain, kind)), None)
        if name is None:
            raise InputError(f"{view} is not a type of Relay", help="tensors, tuples and functions have methods")
        return cast("Callable[[TypeView], object]", getattr(self, name))(view)

    def visit_tensor_type(self, tt: TypeView) -> object:
        """Visits a tensor type."""
        raise NotImplementedError

    def visit_tuple_type(self, tt: TupleTypeView) -> object:
        """Visits a tuple type."""
        raise NotImplementedError

    def visit_func_type(self, ft: FuncTypeView) -> object:
        """Visits a function type."""
        raise NotImplementedError

    def visit_incomplete_type(self, it: TypeView) -> object:
        """Visits a type that is not inferred yet."""
        raise NotImplementedError


class TypeVisitor(TypeFunctor):
    """Visits a type and its components; returns nothing."""

    def visit_tensor_type(self, tt: TypeView) -> None:
        """Has no components to visit."""

    def visit_tuple_type(self, tt: TupleTypeView) -> None:
        """Visits the fields."""
        for field in tt.fields:
            self.visit(field)

    def visit_func_type(self, ft: FuncTypeView) -> None:
        """Visits the parameters and the result."""
        for each in (*ft.arg_types, ft.ret_type):
            self.visit(each)

    def visit_incomplete_type(self, it: TypeView) -> None:
        """Has no components to visit."""


class TypeMutator(TypeFunctor):
    """Rebuilds a type from its mapped components. If none changes, the result is equal to the type."""

    def visit_tensor_type(self, tt: TypeView) -> TypeView | Attribute:
        """Returns the same type."""
        return tt

    def visit_tuple_type(self, tt: TupleTypeView) -> TypeView | Attribute:
        """Returns a tuple of the mapped fields."""
        return type_view(tuple_type([self._made(field) for field in tt.fields]))

    def visit_func_type(self, ft: FuncTypeView) -> TypeView | Attribute:
        """Returns a function type of the mapped parameters and result."""
        return type_view(function_type([self._made(each) for each in ft.arg_types], [self._made(ft.ret_type)]))

    def visit_incomplete_type(self, it: TypeView) -> TypeView | Attribute:
        """Returns the same type."""
        return it

    def _made(self, typ: TypeView) -> Attribute:
        made = self.visit(typ)
        if not isinstance(made, TypeView | Attribute):
            raise InputError(
                f"{typ} became {made!r}, which is not a type", help="each method of a mutator returns a type"
            )
        return as_plain(made)
