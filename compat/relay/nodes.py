"""The classes for kinds of expressions with Relay's interface: calls, constants, tuples, branches, bindings.

`Attrs` has the attributes of a call: `call.attrs.strides`, `dict(call.attrs)`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, cast

import numpy as np
from xdsl.dialects.builtin import FunctionType, LocationAttr, TupleType
from xdsl.dialects.func import CallOp
from xdsl.ir import Attribute, Operation, OpResult, Region, SSAValue

from xrelay.api.arrays import Tensor
from xrelay.dialects.relay.core.attribute_values import to_python
from xrelay.dialects.relay.core.op_base import RelayOp
from xrelay.dialects.relay.core.operator_value import Op
from xrelay.dialects.relay.structure.call import NamedCallOp, callee_name
from xrelay.dialects.relay.structure.constant import ConstantOp
from xrelay.dialects.relay.structure.function import InvokeOp
from xrelay.dialects.relay.structure.fused import FusedOp
from xrelay.dialects.relay.structure.scope import IfOp, LetOp
from xrelay.dialects.relay.structure.tuples import TupleGetItemOp, TupleOp
from xrelay.dialects.shared.types import IncompleteType, dims_in, is_complete
from xrelay.errors import InputError, XRelayError, did_you_mean
from xrelay.relay.expr import Expr, ExprLike, Var, as_value, call, const, tuple_of, view, views
from xrelay.relay.function import Function, attribute_of, invoke
from xrelay.relay.graph import LetScopeOp, free_variables, set_name, yields

__all__ = ["Attrs", "NoAttributeError", "Op"]


class NoAttributeError(XRelayError, AttributeError):
    """The op has no attribute of this name."""


class Attrs(Mapping[str, Any]):
    """The attributes of an op as Python values, by key or as Python attributes; None if unset.

    For a call of a function, they are the attributes of the call itself.
    """

    def __init__(self, op: Operation):
        is_operator = isinstance(op, RelayOp)
        names = op.get_irdl_definition().properties if is_operator else op.attributes
        self._op_name = op.relay_name() if is_operator else op.name
        self._values = {name: to_python((op.properties if is_operator else op.attributes).get(name)) for name in names}

    def __getitem__(self, name: str) -> Any:
        return self._values[name]

    def __getattr__(self, name: str) -> Any:
        values = self.__dict__.get("_values", {})
        if name in values:
            return values[name]
        hint = did_you_mean(name, values, f"it has: {', '.join(values) or 'none'}")
        raise NoAttributeError(f"{self.__dict__.get('_op_name')} has no attribute {name!r}", help=hint)

    def __iter__(self) -> Iterator[str]:
        return iter(self._values)

    def __len__(self) -> int:
        return len(self._values)

    def __repr__(self) -> str:
        return f"{self._op_name}({', '.join(f'{name}={value!r}' for name, value in self._values.items())})"


def op_of(expr: Expr) -> Operation:
    """Returns the op whose result `expr` is."""
    return cast(OpResult, expr.ssa_value).op


class GlobalVar(Expr):
    """The name of a function of a module; `gv(x)` calls it. Equal names are equal.

    `type` is the type of the function if it is known: then calls have its result type. Otherwise the module that
    contains the calls determines it. As a value it is a closure that calls the function, as Relay's `EtaExpand` makes
    it.
    """

    def __init__(self, name_hint: str, type: FunctionType | None = None):
        self.name_hint, self.function_type = name_hint, type

    @property
    def ssa_value(self) -> SSAValue:
        """A closure that calls the function. Raises `InputError` if its type is unknown or has named dimensions."""
        known = self.function_type
        if known is None or any(dims_in(type) for type in (*known.inputs, *known.outputs)):
            raise InputError(
                f"the function @{self.name_hint} can be called, but is not a value",
                help="IRModule.get_global_var returns it with its type; or wrap a call of it in relay.Function",
            )
        parameters = [Var(f"x{number}", type) for number, type in enumerate(known.inputs)]
        return Function(parameters, self(*parameters)).ssa_value

    @property
    def type(self) -> Attribute:
        """The type of the function; `!relay.incomplete` if it is unknown."""
        return IncompleteType() if self.function_type is None else self.function_type

    def __call__(self, *arguments: ExprLike) -> Expr:
        """Calls the function with `arguments`. Several results are returned as a tuple."""
        outputs: Sequence[Attribute] = [IncompleteType()]
        if self.function_type is not None:
            # The names of the callee's dimensions are not valid in the caller.
            outputs = [IncompleteType() if dims_in(type) else type for type in self.function_type.outputs]
        results = CallOp(self.name_hint, [as_value(argument) for argument in arguments], outputs).results
        return view(results[0]) if len(results) == 1 else tuple_of(list(results))

    def _key(self) -> object:
        return self.name_hint

    def __eq__(self, other: object) -> bool:
        return isinstance(other, GlobalVar) and self.name_hint == other.name_hint

    def __hash__(self) -> int:
        return hash(self.name_hint)

    def __str__(self) -> str:
        return f"@{self.name_hint}"

    __repr__ = __str__


@views(RelayOp, CallOp, NamedCallOp, InvokeOp, FusedOp)
class Call(Expr):
    """A call of an operator, a function or a closure (`op`) with `args`; `attrs` holds the attributes of the call."""

    def __init__(
        self,
        op: object,
        args: Sequence[ExprLike],
        attrs: Mapping[str, Any] | None = None,
        type_args: Sequence[object] | None = None,
        span: LocationAttr | None = None,
    ):
        """Creates a call of an `Op`, a `GlobalVar`, a `Function` or a function value, with the location `span`.

        Raises `InputError` if `op` cannot be called, and for type arguments, which functions do not have.
        """
        if type_args:
            raise InputError("functions here have no type parameters", help="omit type_args")
        given = {} if attrs is None else dict(attrs)
        if isinstance(op, Op):
            made = call(op.kind, *args, **given)
        elif not isinstance(op, Expr):
            raise InputError(f"{op!r} cannot be called", help="relay.op.get returns an operator")
        else:
            made = op(*args) if isinstance(op, GlobalVar) else invoke(op, *args)
            op_of(made).attributes.update({name: attribute_of(name, value) for name, value in given.items()})
        if span is not None:
            op_of(made).location = span
        super().__init__(made.ssa_value)

    def astuple(self) -> Expr:
        """Returns the call itself, which is the tuple."""
        return self

    @property
    def size(self) -> int:
        """The number of fields of the tuple that the call returns."""
        return len(self)

    @property
    def type_args(self) -> list[Attribute]:
        """Always empty: functions have no type parameters. For programs that pass them on to a new call."""
        return []

    @property
    def op(self) -> Op | Expr:
        """The callee: an `Op`, a `GlobalVar`, a `Function`, or the expression of a closure."""
        match op_of(self):
            case CallOp() | NamedCallOp() as op:
                types = [operand.type for operand in op.operands]
                return GlobalVar(callee_name(op), FunctionType.from_lists(types, list(op.result_types)))
            case InvokeOp() as op:
                return view(op.callee)
            case FusedOp() as op:
                return Function.of_fused(op)
            case op:
                return Op.of(cast("type[RelayOp]", type(op)))

    @property
    def args(self) -> list[Expr]:
        """The arguments."""
        op = op_of(self)
        values = op.arguments if isinstance(op, InvokeOp) else op.operands
        return [view(value) for value in values]

    @property
    def attrs(self) -> Attrs | None:
        """The operator's attributes. For a call of a function, the attributes of the call, or None."""
        op = op_of(self)
        return Attrs(op) if isinstance(op, RelayOp) or op.attributes else None


@views(ConstantOp)
class Constant(Expr):
    """A constant."""

    def __init__(self, data: object):
        """Creates the constant for an array or a number."""
        super().__init__(const(cast(Any, data)).ssa_value)

    @property
    def data(self) -> Tensor:
        """The value as a read-only numpy array; `numpy()` returns a writable copy."""
        array = cast(ConstantOp, op_of(self)).array
        copy = np.asarray(array).view(Tensor)
        copy.flags.writeable = False
        return copy


@views(TupleOp)
class Tuple(Expr):
    """A tuple of `fields`."""

    def __init__(self, fields: Sequence[ExprLike]):
        """Creates the tuple of `fields`."""
        super().__init__(tuple_of(fields).ssa_value)

    @property
    def fields(self) -> list[Expr]:
        """The fields of the tuple."""
        return [view(value) for value in op_of(self).operands]

    def __getitem__(self, index: int) -> Expr:
        """Returns the expression of field `index`. A negative index counts from the end."""
        try:
            return self.fields[index]
        except TypeError as error:
            raise InputError(f"{index!r} is not an index of a tuple's field") from error

    def __len__(self) -> int:
        return len(op_of(self).operands)


@views(TupleGetItemOp)
class TupleGetItem(Expr):
    """Field `index` of `tuple_value`."""

    def __init__(self, tuple_value: ExprLike, index: int):
        """Creates the access to a field of a tuple."""
        super().__init__(Expr(as_value(tuple_value))[index].ssa_value)

    @property
    def tuple_value(self) -> Expr:
        """The tuple."""
        return view(op_of(self).operands[0])

    @property
    def index(self) -> int:
        """The number of the field."""
        return cast(TupleGetItemOp, op_of(self)).index.value.data


@views(IfOp)
class If(Expr):
    """One of two values. Only the chosen branch is evaluated."""

    def __init__(self, cond: ExprLike, true_branch: ExprLike, false_branch: ExprLike):
        """Creates the value of `true_branch` if `cond` is true, else of `false_branch`."""
        chosen, other = as_value(true_branch), as_value(false_branch)
        type = other.type if isinstance(chosen.type, IncompleteType) else chosen.type
        if is_complete(chosen.type) and is_complete(other.type) and chosen.type != other.type:
            # Inference introduces a name for an extent in which the branches differ.
            type = IncompleteType()
        super().__init__(IfOp(as_value(cond), type, yields(chosen), yields(other)).result)

    @property
    def cond(self) -> Expr:
        """The condition."""
        return view(op_of(self).operands[0])

    @property
    def true_branch(self) -> Expr:
        """The value if the condition is true."""
        return _yielded(op_of(self).regions[0])

    @property
    def false_branch(self) -> Expr:
        """The value if the condition is false."""
        return _yielded(op_of(self).regions[1])


@views(LetScopeOp)
class Let(Expr):
    """`let var = value; body`: the value of `body` with `var` bound to `value`.

    If `value` is a function that uses `var`, the function is recursive.
    """

    def __init__(self, var: Var, value: ExprLike, body: ExprLike):
        """Binds a variable that is not bound elsewhere. Raises `InputError` for non-variables and unequal types."""
        _check_variable(var)
        # A function that already has a variable for itself keeps it.
        if isinstance(value, Function) and value.itself is None:
            bound = value.closure(var).ssa_value
        else:
            bound = as_value(value)
        if is_complete(var.type) and is_complete(bound.type) and var.type != bound.type:
            raise InputError(f"let {var.name!r} is {var.type}, its value {bound.type}", help="use one type for both")
        super().__init__(LetScopeOp(var.value, bound, as_value(body)).result)

    @property
    def var(self) -> Var:
        """The variable."""
        return cast(Var, view(op_of(self).operands[0]))

    @property
    def value(self) -> Expr:
        """The value bound to the variable."""
        return view(op_of(self).operands[1])

    @property
    def body(self) -> Expr:
        """The expression in which the variable is bound."""
        return view(op_of(self).operands[2])


def _check_variable(var: object) -> None:
    if not isinstance(var, Var):
        raise InputError(f"a let binds a variable, found {var!r}", help="relay.var creates one")


def parts(expr: Expr) -> list[Expr]:
    """Returns the subexpressions of `expr`, in Relay's order of visits."""
    match expr:
        case Call():
            op = expr.op
            return [op, *expr.args] if isinstance(op, Expr) else expr.args
        case Function():
            return [*expr.params, expr.body]
        case Tuple():
            return expr.fields
        case TupleGetItem():
            return [expr.tuple_value]
        case If():
            return [expr.cond, expr.true_branch, expr.false_branch]
        case Let():
            return [expr.var, expr.value, expr.body]
        case _:
            return []


def _yielded(region: Region) -> Expr:
    last = region.block.last_op
    if last is None or last.prev_op is not None:
        raise InputError("a branch computes its value inside", help="read the function from a module: mod['main']")
    return view(last.operands[0])


def let(name: str, value: ExprLike) -> Expr:
    """Binds `value` to a name, without a body: the following program uses the returned expression."""
    bound = as_value(value)
    op = LetOp.call(bound, variable=name)
    set_name(op.result, name)
    return view(op.result)


class _TupleWrapperType(type):
    """The metaclass of `TupleWrapper`, whose instances are calls that return a tuple."""

    def __call__(cls, tuple_value: ExprLike, size: int) -> Expr:
        """Returns the tuple itself, which can be unpacked and indexed. Raises `InputError` if its size differs."""
        tuple_expr = view(as_value(tuple_value))
        if is_complete(tuple_expr.type) and len(tuple_expr) != size:
            raise InputError(f"the tuple is {tuple_expr.type}, not one of {size} fields")
        return tuple_expr

    def __instancecheck__(cls, instance: object) -> bool:
        """Returns whether `instance` is a call of an operator that returns a tuple."""
        return isinstance(instance, Call) and isinstance(instance.type, TupleType)


class TupleWrapper(metaclass=_TupleWrapperType):
    """Relay's wrapper of operators with several results. Here it is the call itself."""


def post_order_visit(expr: Expr, fvisit: Callable[[Expr], object]) -> None:
    """Calls `fvisit` once for each subexpression of `expr`, in post-order; iterative."""
    done: set[Expr] = set()
    stack: list[tuple[Expr, bool]] = [(expr, False)]
    while stack:
        node, ready = stack.pop()
        if node in done:
            continue
        if ready:
            done.add(node)
            fvisit(node)
        else:
            stack.append((node, True))
            stack.extend((part, False) for part in reversed(parts(node)))


def free_vars(expr: Expr) -> list[Var]:
    """Returns the free variables of `expr` in depth-first order."""
    bound = set(expr.params) if isinstance(expr, Function) else set[Var]()
    root = expr.body if isinstance(expr, Function) else expr
    found = [view(value) for value in free_variables(root.ssa_value)]
    return [var for var in found if isinstance(var, Var) and var not in bound]
