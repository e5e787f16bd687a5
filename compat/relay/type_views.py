"""Types with Relay's interface: `shape`, `concrete_shape`, `dtype`, `fields`, `arg_types`, `ret_type`.

Expressions, hooks and type classes return views of xDSL types. A view has the equality, hash, text and attributes of
its type, and is accepted by all functions of `relay` that take a type.
"""

from __future__ import annotations

from collections.abc import Callable

from xdsl.dialects.builtin import FunctionType, TensorType, TupleType
from xdsl.ir import Attribute

from xrelay.dialects.shared.dtypes import numpy_dtype
from xrelay.dialects.shared.types import shape_of, tuple_type
from xrelay.errors import TensorTypeError
from xrelay.index_algebra.dims import Shape


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
        assert isinstance(self.plain, TensorType), "made of a type of tensors"
        return numpy_dtype(self.plain.element_type).name


class TupleTypeView(TypeView):
    """A tuple type."""

    @property
    def fields(self) -> list[TypeView]:
        """The types of the fields."""
        assert isinstance(self.plain, TupleType), "made of a type of tuples"
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
    (TensorType, TensorTypeView),
    (TupleType, TupleTypeView),
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
