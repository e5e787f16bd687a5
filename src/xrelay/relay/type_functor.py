"""`TypeFunctor`, `TypeVisitor` and `TypeMutator`: what goes through a type, a method for each kind of type.

Relay's methods for type variables, references and algebraic data types are not here, as those types are not. Types are
as deep as a person writes them, so these recurse, unlike the functors of expressions.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import cast

from xdsl.dialects.builtin import FunctionType
from xdsl.dialects.builtin import TensorType as BuiltinTensorType
from xdsl.dialects.builtin import TupleType as BuiltinTupleType
from xdsl.ir import Attribute

from xrelay.dialects.relay.core.types import IncompleteType, function_type, tuple_type
from xrelay.errors import InputError
from xrelay.relay.type_views import FuncTypeView, TupleTypeView, TypeView, as_plain, type_view

_METHODS: tuple[tuple[type[Attribute], str], ...] = (
    (BuiltinTensorType, "visit_tensor_type"),
    (BuiltinTupleType, "visit_tuple_type"),
    (FunctionType, "visit_func_type"),
    (IncompleteType, "visit_incomplete_type"),
)


class TypeFunctor:
    """Calls the method of a type's kind; those of this class raise `NotImplementedError`."""

    def visit(self, typ: Attribute | TypeView) -> object:
        """What the method of the kind of `typ` gives; `InputError` for a type that is none of Relay's."""
        view = type_view(typ)
        name = next((name for kind, name in _METHODS if isinstance(view.plain, kind)), None)
        if name is None:
            raise InputError(f"{view} is a type that is not Relay's", help="tensors, tuples and functions have methods")
        return cast("Callable[[TypeView], object]", getattr(self, name))(view)

    def visit_tensor_type(self, tt: TypeView) -> object:
        """For the type of tensors."""
        raise NotImplementedError

    def visit_tuple_type(self, tt: TupleTypeView) -> object:
        """For the type of tuples."""
        raise NotImplementedError

    def visit_func_type(self, ft: FuncTypeView) -> object:
        """For the type of functions."""
        raise NotImplementedError

    def visit_incomplete_type(self, it: TypeView) -> object:
        """For a type that is yet to be inferred."""
        raise NotImplementedError


class TypeVisitor(TypeFunctor):
    """Goes through a type and those in it, and gives nothing."""

    def visit_tensor_type(self, tt: TypeView) -> None:
        """Nothing is in it."""

    def visit_tuple_type(self, tt: TupleTypeView) -> None:
        """Goes through the fields."""
        for field in tt.fields:
            self.visit(field)

    def visit_func_type(self, ft: FuncTypeView) -> None:
        """Goes through the parameters and the result."""
        for each in (*ft.arg_types, ft.ret_type):
            self.visit(each)

    def visit_incomplete_type(self, it: TypeView) -> None:
        """Nothing is in it."""


class TypeMutator(TypeFunctor):
    """Makes a type anew of what its parts become; one whose parts stay is equal to what it was."""

    def visit_tensor_type(self, tt: TypeView) -> TypeView | Attribute:
        """The same type."""
        return tt

    def visit_tuple_type(self, tt: TupleTypeView) -> TypeView | Attribute:
        """A tuple of what the fields become."""
        return type_view(tuple_type([self._made(field) for field in tt.fields]))

    def visit_func_type(self, ft: FuncTypeView) -> TypeView | Attribute:
        """A function of what the types of the parameters and of the result become."""
        return type_view(function_type([self._made(each) for each in ft.arg_types], [self._made(ft.ret_type)]))

    def visit_incomplete_type(self, it: TypeView) -> TypeView | Attribute:
        """The same type."""
        return it

    def _made(self, typ: TypeView) -> Attribute:
        made = self.visit(typ)
        if not isinstance(made, TypeView | Attribute):
            raise InputError(f"{typ} became {made!r}, which is no type", help="each method of a mutator gives a type")
        return as_plain(made)
