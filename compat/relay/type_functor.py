"""`TypeFunctor`, `TypeVisitor` and `TypeMutator`: traverse a type with a method for each kind of type.

There are no methods for type variables, references and algebraic data types, which xrelay does not have. The functors
recurse, unlike those of expressions, because types have little depth.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import cast

from xdsl.dialects.builtin import FunctionType
from xdsl.dialects.builtin import TensorType as BuiltinTensorType
from xdsl.dialects.builtin import TupleType as BuiltinTupleType
from xdsl.ir import Attribute

from xrelay.dialects.shared.types import IncompleteType, function_type, tuple_type
from xrelay.errors import InputError
from xrelay.relay.type_views import FuncTypeView, TupleTypeView, TypeView, as_plain, type_view

_METHODS: tuple[tuple[type[Attribute], str], ...] = (
    (BuiltinTensorType, "visit_tensor_type"),
    (BuiltinTupleType, "visit_tuple_type"),
    (FunctionType, "visit_func_type"),
    (IncompleteType, "visit_incomplete_type"),
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
