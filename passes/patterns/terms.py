"""Terms: the common form of graph nodes for pattern matching, for IR values and expressions.

`Terms` maps nodes of one kind to terms. Operators and the names of a module's functions are nodes too, which occur only
in calls.
"""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from typing import Final, Generic, Protocol, TypeAlias, TypeVar

from xdsl.ir import Attribute

from xrelay.dialects.relay.core.operator_value import Op

NodeT = TypeVar("NodeT", bound=Hashable)


@dataclass(frozen=True)
class OperatorTerm:
    """An operator."""

    op: Op


@dataclass(frozen=True)
class GlobalTerm:
    """The name of a function of the module."""

    name: str


@dataclass(frozen=True)
class VarTerm(Generic[NodeT]):
    """A variable: a parameter, or the result of a let of the IR with its value."""

    name: str
    bound: tuple[NodeT, ...] = ()


@dataclass(frozen=True)
class ConstantTerm:
    """A constant."""


@dataclass(frozen=True)
class CallTerm(Generic[NodeT]):
    """A call of an operator or a function."""

    op: NodeT
    args: tuple[NodeT, ...]


@dataclass(frozen=True)
class FunctionTerm(Generic[NodeT]):
    """A function as a value."""

    params: tuple[NodeT, ...]
    body: NodeT
    itself: tuple[NodeT, ...] = ()
    """The variable that refers to the function in its body, if it is recursive."""


@dataclass(frozen=True)
class TupleTerm(Generic[NodeT]):
    """A tuple."""

    fields: tuple[NodeT, ...]


@dataclass(frozen=True)
class FieldTerm(Generic[NodeT]):
    """A field of a tuple."""

    tuple: NodeT
    index: int


@dataclass(frozen=True)
class IfTerm(Generic[NodeT]):
    """An if."""

    cond: NodeT
    true_branch: NodeT
    false_branch: NodeT


@dataclass(frozen=True)
class LetTerm(Generic[NodeT]):
    """A let with its body."""

    var: NodeT
    value: NodeT
    body: NodeT


@dataclass(frozen=True)
class OtherTerm(Generic[NodeT]):
    """A node that only wildcards match."""

    name: str
    needs: tuple[NodeT, ...]


Term: TypeAlias = (
    OperatorTerm
    | GlobalTerm
    | VarTerm[NodeT]
    | ConstantTerm
    | CallTerm[NodeT]
    | FunctionTerm[NodeT]
    | TupleTerm[NodeT]
    | FieldTerm[NodeT]
    | IfTerm[NodeT]
    | LetTerm[NodeT]
    | OtherTerm[NodeT]
)
"""The term of a node."""


class Missing:
    """The marker for a missing attribute."""


MISSING: Final = Missing()


class Terms(Protocol[NodeT]):
    """Maps nodes of one kind to terms."""

    def of(self, node: NodeT) -> Term[NodeT]:
        """Returns the term of `node`."""
        ...

    def attribute(self, node: NodeT, name: str) -> object:
        """Returns the attribute `name` of an operator, a call or a function as a Python value, or `MISSING`."""
        ...

    def type(self, node: NodeT) -> Attribute | None:
        """Returns the type of `node`; None for unknown types and for operators."""
        ...

    def is_same(self, node: NodeT, expr: object) -> bool:
        """Returns whether `node` is `expr`, or an equal op on equal operands."""
        ...


def is_callable_name(term: Term[NodeT]) -> bool:
    """Returns whether the node is an operator or the name of a function, which are not values."""
    return isinstance(term, OperatorTerm | GlobalTerm)


def needs(terms: Terms[NodeT], node: NodeT) -> tuple[NodeT, ...]:
    """Returns the direct parts of `node`, in Relay's order."""
    match terms.of(node):
        case CallTerm(op, args):
            return args if is_callable_name(terms.of(op)) else (op, *args)
        case FunctionTerm(params, body, _):
            return (*params, body)
        case TupleTerm(found) | VarTerm(_, found) | OtherTerm(_, found):
            return found
        case FieldTerm(value, _):
            return (value,)
        case IfTerm(cond, true_branch, false_branch):
            return (cond, true_branch, false_branch)
        case LetTerm(var, value, body):
            return (value, var, body)
        case _:
            return ()
