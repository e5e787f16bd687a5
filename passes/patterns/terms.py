"""What a node of a graph is, as patterns see it, whatever the nodes are: values of the IR or expressions.

`Terms` is the view that a kind of nodes gives of itself. Operators and the names of a module's functions are nodes too,
which only calls have.
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
    """A variable: a parameter, or what a let of the IR binds, with its value."""

    name: str
    bound: tuple[NodeT, ...] = ()


@dataclass(frozen=True)
class ConstantTerm:
    """A constant."""


@dataclass(frozen=True)
class CallTerm(Generic[NodeT]):
    """The call of an operator or a function."""

    op: NodeT
    args: tuple[NodeT, ...]


@dataclass(frozen=True)
class FunctionTerm(Generic[NodeT]):
    """A function as a value."""

    params: tuple[NodeT, ...]
    body: NodeT
    itself: tuple[NodeT, ...] = ()
    """The variable by which the body means the function, where it calls itself."""


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
    """A branch."""

    cond: NodeT
    true_branch: NodeT
    false_branch: NodeT


@dataclass(frozen=True)
class LetTerm(Generic[NodeT]):
    """A binding with its body."""

    var: NodeT
    value: NodeT
    body: NodeT


@dataclass(frozen=True)
class OtherTerm(Generic[NodeT]):
    """What only wildcards match."""

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
"""What a node is."""


class Missing:
    """What stands for an attribute that is not there."""


MISSING: Final = Missing()


class Terms(Protocol[NodeT]):
    """The view of nodes of one kind."""

    def of(self, node: NodeT) -> Term[NodeT]:
        """What `node` is."""
        ...

    def attribute(self, node: NodeT, name: str) -> object:
        """The attribute `name` of an operator, a call or a function as a Python value; `MISSING` for none."""
        ...

    def type(self, node: NodeT) -> Attribute | None:
        """The type of `node`; None where it is not known, and of operators."""
        ...

    def is_made_as(self, node: NodeT, expr: object) -> bool:
        """Whether `node` is `expr`, or an equal op on equal operands."""
        ...


def is_callable_name(term: Term[NodeT]) -> bool:
    """Whether the node is an operator or the name of a function, which is no value."""
    return isinstance(term, OperatorTerm | GlobalTerm)


def needs(terms: Terms[NodeT], node: NodeT) -> tuple[NodeT, ...]:
    """The nodes that `node` consists of, in the order in which Relay visits them."""
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


def operands(terms: Terms[NodeT], node: NodeT) -> tuple[NodeT, ...]:
    """As `needs`, of a call without what it calls."""
    term = terms.of(node)
    return term.args if isinstance(term, CallTerm) else needs(terms, node)
